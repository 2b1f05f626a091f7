//! The constant distribution and the uniform distribution.

use super::Law;

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant(pub f64);

impl Law for Constant {
    fn mean(&self) -> f64 {
        self.0
    }
    fn quantile(&self, _: f64) -> f64 {
        self.0
    }
    fn survival(&self, x: f64) -> f64 {
        if x < self.0 { 1.0 } else { 0.0 }
    }
    fn above(&self, x: f64) -> f64 {
        if x < self.0 { self.0 } else { 0.0 }
    }
}

/// The uniform distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniform {
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

impl Law for Uniform {
    fn mean(&self) -> f64 {
        (self.min + self.max) / 2.0
    }
    fn quantile(&self, p: f64) -> f64 {
        self.min + (self.max - self.min) * p
    }
    fn survival(&self, x: f64) -> f64 {
        ((self.max - x) / (self.max - self.min)).clamp(0.0, 1.0)
    }
    fn above(&self, x: f64) -> f64 {
        let x = x.clamp(self.min, self.max);
        (self.max * self.max - x * x) / (2.0 * (self.max - self.min))
    }
}
