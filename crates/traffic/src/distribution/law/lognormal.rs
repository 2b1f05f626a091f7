//! The lognormal distribution, with or without bounds.

use std::f64::consts::TAU;

use super::Law;
use super::special::{normal_survival, normal_with_survival};

/// The lognormal distribution. Values outside the bounds are sampled again.
#[derive(Clone, Debug, PartialEq)]
pub struct LogNormal {
    /// Mean of the distribution without bounds: exp(µ + σ²/2).
    mean: f64,
    sigma: f64,
    bounds: [f64; 2],
    /// P(Z > z) at the two bounds, where Z is the standard normal variable of the distribution
    /// without bounds.
    survivals: [f64; 2],
}

impl LogNormal {
    /// Create a distribution. The argument `mean` is the mean of the distribution without bounds.
    pub fn new(mean: f64, sigma: f64, min: Option<f64>, max: Option<f64>) -> Self {
        let bounds = [min.unwrap_or(0.0), max.unwrap_or(f64::INFINITY)];
        let mut law = LogNormal { mean, sigma, bounds, survivals: [1.0, 0.0] };
        law.survivals = bounds.map(|x| normal_survival(law.z(x)));
        law
    }

    /// Return the probability that a value lies between `min` and `max` if values outside this
    /// range are not sampled again.
    pub fn inside(&self) -> f64 {
        self.survivals[0] - self.survivals[1]
    }

    fn is_whole(&self) -> bool {
        self.survivals == [1.0, 0.0]
    }

    /// Convert a value x of the lognormal distribution to the value z = (ln x − µ)/σ of the
    /// standard normal distribution. The mean is exp(µ + σ²/2).
    fn z(&self, x: f64) -> f64 {
        libm::log(x / self.mean) / self.sigma + self.sigma / 2.0
    }

    fn x(&self, z: f64) -> f64 {
        self.mean * libm::exp(self.sigma * z - self.sigma * self.sigma / 2.0)
    }
}

impl Law for LogNormal {
    fn mean(&self) -> f64 {
        if self.is_whole() { self.mean } else { self.above(0.0) }
    }
    fn quantile(&self, p: f64) -> f64 {
        let survival = self.survivals[0] - p * self.inside();
        self.x(normal_with_survival(survival)).clamp(self.bounds[0], self.bounds[1])
    }
    fn survival(&self, x: f64) -> f64 {
        let x = x.clamp(self.bounds[0], self.bounds[1]);
        (normal_survival(self.z(x)) - self.survivals[1]) / self.inside()
    }
    /// If a lognormal distribution is weighted by its values, the result is lognormal again: its
    /// normal variable Z has the mean σ instead of 0.
    fn above(&self, x: f64) -> f64 {
        let [z, max] =
            [x.clamp(self.bounds[0], self.bounds[1]), self.bounds[1]].map(|x| self.z(x) - self.sigma);
        self.mean * (normal_survival(z) - normal_survival(max)) / self.inside()
    }
    fn draw(&self, [u, v]: [f64; 2]) -> f64 {
        if !self.is_whole() {
            return self.quantile(u);
        }
        // Box & Muller 1958.
        let normal = libm::sqrt(-2.0 * libm::log1p(-u)) * libm::cos(TAU * v);
        self.x(normal)
    }
}
