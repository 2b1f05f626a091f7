//! Quantities with units, and the single definition of every parameter.
//!
//! Each quantity has its own type: a [`Time`] is not a [`Duration`], and a [`Rate`] is not a count
//! of [`Bytes`]. In a scenario each quantity is a string with its unit (`"1.5 Mbit/s"`). Kilo and
//! mega are powers of 1000, kibi and mebi are powers of 1024. The module [`param`] turns a struct
//! into its reader, its JSON Schema and its manual page.

mod decimal;
pub mod file;
pub mod param;
mod quantity;
mod scaled;
mod time;

pub use param::{Invalid, Param, Params, Range, Read};
pub use quantity::{Bytes, Depth, Packets, Probability, Rate, RateOrNone, Room};
pub use time::{Duration, Time};
