//! The exponential distribution and the Weibull distribution.

use super::Law;
use super::special::upper_gamma;

/// The exponential distribution. Values above the cap are replaced by the cap.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponential {
    /// Mean of the distribution, before the cap applies.
    pub mean: f64,
    /// Maximum of a value, which is infinite without a cap.
    pub cap: f64,
}

impl Exponential {
    /// Return P(X > x) of the distribution without a cap.
    fn uncapped(&self, x: f64) -> f64 {
        libm::exp(-x / self.mean)
    }
}

impl Law for Exponential {
    fn mean(&self) -> f64 {
        self.above(0.0)
    }
    fn quantile(&self, p: f64) -> f64 {
        (-self.mean * libm::log1p(-p)).min(self.cap)
    }
    fn survival(&self, x: f64) -> f64 {
        if x < self.cap { self.uncapped(x.max(0.0)) } else { 0.0 }
    }
    /// Because of the cap, the part of the mean above x is smaller by mean · P(X > cap).
    fn above(&self, x: f64) -> f64 {
        let x = x.max(0.0);
        if x < self.cap {
            (self.mean + x) * self.uncapped(x) - self.mean * self.uncapped(self.cap)
        } else {
            0.0
        }
    }
}

/// The Weibull distribution: P(X > x) = exp(−(x/scale)^shape).
#[derive(Clone, Debug, PartialEq)]
pub struct Weibull {
    mean: f64,
    scale: f64,
    shape: f64,
}

impl Weibull {
    /// Create a Weibull distribution with mean = scale · Γ(1 + 1/shape).
    pub fn new(mean: f64, shape: f64) -> Self {
        Weibull { mean, scale: mean / libm::tgamma(1.0 + 1.0 / shape), shape }
    }

    fn exponent(&self, x: f64) -> f64 {
        libm::pow(x.max(0.0) / self.scale, self.shape)
    }
}

impl Law for Weibull {
    fn mean(&self) -> f64 {
        self.mean
    }
    fn quantile(&self, p: f64) -> f64 {
        self.scale * libm::pow(-libm::log1p(-p), 1.0 / self.shape)
    }
    fn survival(&self, x: f64) -> f64 {
        libm::exp(-self.exponent(x))
    }
    fn above(&self, x: f64) -> f64 {
        self.mean * upper_gamma(1.0 + 1.0 / self.shape, self.exponent(x))
    }
}
