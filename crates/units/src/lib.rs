//! Quantities with their units, and the one definition of every parameter.
//!
//! No bare number crosses a boundary: a [`Time`] is not a [`Duration`], a [`Rate`] not a count of
//! [`Bytes`]. In a scenario each is a string with its unit (`"1.5 Mbit/s"`); kilo and mega are powers
//! of 1000, kibi and mebi of 1024. The module [`param`] turns a struct into its reader, its JSON
//! Schema and its manual page at once.

mod decimal;
pub mod file;
pub mod param;
mod quantity;
mod scaled;
mod time;

pub use param::{Invalid, Param, Params, Range, Read};
pub use quantity::{Bytes, Depth, Packets, Probability, Rate, RateOrNone, Room};
pub use time::{Duration, Time};
