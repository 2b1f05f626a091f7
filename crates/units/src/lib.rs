//! Quantities with units, and the definitions of all parameters.
//!
//! Each quantity has its own Rust type: a [`Time`] is not a [`Duration`], and a [`Rate`] is not a
//! number of [`Bytes`]. In a scenario, a quantity is a string that contains its unit (`"1.5
//! Mbit/s"`). The prefixes kilo and mega are powers of 1000, and the prefixes kibi and mebi are
//! powers of 1024. From the definition of a struct, the module [`param`] derives its reader, its
//! JSON Schema and its manual page.

mod decimal;
pub mod file;
pub mod param;
mod quantity;
mod scaled;
mod time;

pub use param::{Invalid, Param, Params, Range, Read};
pub use quantity::{Bytes, Depth, Packets, Probability, Rate, RateOrNone, Room};
pub use time::{Duration, Time};
