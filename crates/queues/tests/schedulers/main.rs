//! What every scheduler must do, and what each promises.

mod bench;
mod cbq;
mod delays;
mod htb;
mod leaves;
mod rates;
mod refusals;
mod trees;

use units::Rate;

/// The rate of the link in these tests.
const RATE: Rate = Rate(10_000_000);
