//! Exponential and Weibull.

use super::Law;
use super::special::upper_gamma;

/// Without memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponential {
    /// Its mean.
    pub mean: f64,
}

impl Law for Exponential {
    fn mean(&self) -> f64 {
        self.mean
    }
    fn quantile(&self, p: f64) -> f64 {
        -self.mean * libm::log1p(-p)
    }
    fn survival(&self, x: f64) -> f64 {
        libm::exp(-x.max(0.0) / self.mean)
    }
    fn above(&self, x: f64) -> f64 {
        (self.mean + x.max(0.0)) * self.survival(x)
    }
}

/// P(X > x) = exp(−(x/scale)^shape).
#[derive(Clone, Debug, PartialEq)]
pub struct Weibull {
    mean: f64,
    scale: f64,
    shape: f64,
}

impl Weibull {
    /// Its mean is scale Γ(1 + 1/shape).
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
