//! What must hold of the keys of a distribution.

use units::Read;
use units::param::{Invalid, join};

use super::law::Between;

/// The greatest value is above the least.
pub fn rises<T: Read>(least: &T, most: &T, path: &str) -> Result<(), Invalid> {
    if least.number() < most.number() {
        return Ok(());
    }
    let problem = format!("must be above least, which is {}", least.write());
    Err(Invalid::new(&join(path, "most"), &most.write(), problem))
}

/// The least share of a law that its bounds may leave.
const ENOUGH: f64 = 1e-6;

/// The bounds leave enough of a law.
pub fn leaves_enough<T: Read>(inside: f64, mean: &T, path: &str) -> Result<(), Invalid> {
    if inside >= ENOUGH {
        return Ok(());
    }
    let problem = format!("leaves less than {ENOUGH} of all between least and most");
    Err(Invalid::new(&join(path, "mean"), &mean.write(), problem).remedy("set bounds around the mean"))
}

/// The least size is a byte or more; times and numbers may be any part of their unit.
pub fn is_whole<T: Read>(least: f64, mean: &T, path: &str) -> Result<(), Invalid> {
    if T::UNIT != "B" || least >= 1.0 {
        return Ok(());
    }
    let problem = format!("makes the least size {least:.3} B, less than a byte");
    Err(Invalid::new(&join(path, "mean"), &mean.write(), problem).remedy("raise the mean or the shape"))
}

/// The first value has a logarithm, if that is asked for.
pub fn can_be_logarithms<T: Read>(first: &T, between: Between, path: &str) -> Result<(), Invalid> {
    if between != Between::Log || first.number() > Some(0.0) {
        return Ok(());
    }
    let problem = "cannot be spread by logarithms, as the first value of cdf is 0";
    Err(Invalid::new(&join(path, "between"), &between.write(), problem).remedy("choose linear"))
}

/// A mixture has something to choose from.
pub fn has_parts(parts: usize, path: &str) -> Result<(), Invalid> {
    if parts > 0 {
        return Ok(());
    }
    Err(Invalid::at(&join(path, "parts"), "is empty").remedy("give at least one { weight, of }"))
}
