//! Checks of the parameters of a distribution.

use units::Read;
use units::param::{Invalid, join};

use super::law::Between;

/// Refuse a maximum that is not greater than the minimum.
pub fn rises<T: Read>(min: &T, max: &T, path: &str) -> Result<(), Invalid> {
    if min.number() < max.number() {
        return Ok(());
    }
    let problem = format!("must be above min, which is {}", min.write());
    Err(Invalid::new(&join(path, "max"), &max.write(), problem).remedy("raise max or lower min"))
}

/// Minimum probability of the values between the bounds of a distribution.
const ENOUGH: f64 = 1e-6;

/// Refuse bounds if the values between them have too little probability.
pub fn leaves_enough<T: Read>(inside: f64, mean: &T, path: &str) -> Result<(), Invalid> {
    if inside >= ENOUGH {
        return Ok(());
    }
    let problem = format!("leaves less than {ENOUGH} of the probability between min and max");
    Err(Invalid::new(&join(path, "mean"), &mean.write(), problem)
        .remedy("choose min and max on both sides of the mean"))
}

/// Refuse a minimum size of less than one byte. The minimum of a time may be a fraction of a
/// second, and the minimum of a number may be a fraction of 1.
pub fn is_whole<T: Read>(min: f64, mean: &T, path: &str) -> Result<(), Invalid> {
    if T::UNIT != "B" || min >= 1.0 {
        return Ok(());
    }
    let problem = format!("makes the minimum size {min:.3} B, which is less than one byte");
    Err(Invalid::new(&join(path, "mean"), &mean.write(), problem).remedy("raise the mean or the shape"))
}

/// Refuse interpolation on a logarithmic scale if the first value is 0.
pub fn can_be_logarithms<T: Read>(first: &T, between: Between, path: &str) -> Result<(), Invalid> {
    if between != Between::Log || first.number() > Some(0.0) {
        return Ok(());
    }
    let problem = "needs a first value of cdf above 0, because 0 has no logarithm";
    Err(Invalid::new(&join(path, "between"), &between.write(), problem).remedy("choose linear"))
}

/// Refuse an empty mixture.
pub fn has_parts(parts: usize, path: &str) -> Result<(), Invalid> {
    if parts > 0 {
        return Ok(());
    }
    Err(Invalid::at(&join(path, "parts"), "is empty").remedy("give at least one table { weight, of }"))
}
