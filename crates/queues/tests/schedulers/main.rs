//! Tests of the rules that all schedulers follow, and of the guarantees of each scheduler.

mod bench;
mod cbq;
mod delays;
mod htb;
mod leaves;
mod rates;
mod refusals;
mod trees;

use units::Rate;

/// Rate of the link in these tests.
const RATE: Rate = Rate(10_000_000);
