//! The Pareto distribution, the bounded Pareto distribution, and the Lomax distribution.

use super::Law;

/// The Pareto distribution: P(X > x) = (min/x)^shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Pareto {
    mean: f64,
    min: f64,
    shape: f64,
}

impl Pareto {
    /// Create a Pareto distribution with mean = min · shape/(shape − 1).
    pub fn new(mean: f64, shape: f64) -> Self {
        Pareto { mean, min: mean * (shape - 1.0) / shape, shape }
    }

    /// Return the minimum.
    pub fn min(&self) -> f64 {
        self.min
    }
}

impl Law for Pareto {
    fn mean(&self) -> f64 {
        self.mean
    }
    fn quantile(&self, p: f64) -> f64 {
        self.min * libm::pow(1.0 - p, -1.0 / self.shape)
    }
    fn survival(&self, x: f64) -> f64 {
        libm::pow(self.min / x.max(self.min), self.shape)
    }
    fn above(&self, x: f64) -> f64 {
        self.mean * libm::pow(self.min / x.max(self.min), self.shape - 1.0)
    }
}

/// The bounded Pareto distribution, whose values have a maximum. Values above the maximum are
/// sampled again.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedPareto {
    min: f64,
    max: f64,
    shape: f64,
    /// P(X > max) of the Pareto distribution without a maximum, and its complement.
    beyond: f64,
    inside: f64,
}

impl BoundedPareto {
    /// Create a distribution. The argument `max` must be above `min`, and `min` must be above 0.
    pub fn new(min: f64, max: f64, shape: f64) -> Self {
        let inside = -libm::expm1(-shape * libm::log(max / min));
        BoundedPareto { min, max, shape, beyond: libm::pow(min / max, shape), inside }
    }
}

impl Law for BoundedPareto {
    fn mean(&self) -> f64 {
        self.above(0.0)
    }
    fn quantile(&self, p: f64) -> f64 {
        let survival = 1.0 - p * self.inside;
        (self.min * libm::pow(survival, -1.0 / self.shape)).min(self.max)
    }
    fn survival(&self, x: f64) -> f64 {
        let x = x.clamp(self.min, self.max);
        (libm::pow(self.min / x, self.shape) - self.beyond) / self.inside
    }
    /// The integral of shape · min^shape · t^−shape for t from x to `max` is equal to shape ·
    /// min^shape · (max^r − x^r)/r, where r = 1 − shape.
    fn above(&self, x: f64) -> f64 {
        let x = x.clamp(self.min, self.max);
        let (r, ratio) = (1.0 - self.shape, libm::log(self.max / x));
        let power = if r == 0.0 { ratio } else { libm::expm1(r * ratio) / r };
        self.shape * x * libm::pow(self.min / x, self.shape) * power / self.inside
    }
}

/// The Lomax distribution (Pareto distribution of the second kind): P(X > x) = (1 +
/// x/scale)^−shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Lomax {
    mean: f64,
    scale: f64,
    shape: f64,
}

impl Lomax {
    /// Create a Lomax distribution with mean = scale/(shape − 1).
    pub fn new(mean: f64, shape: f64) -> Self {
        Lomax { mean, scale: mean * (shape - 1.0), shape }
    }
}

impl Law for Lomax {
    fn mean(&self) -> f64 {
        self.mean
    }
    fn quantile(&self, p: f64) -> f64 {
        self.scale * libm::expm1(-libm::log1p(-p) / self.shape)
    }
    fn survival(&self, x: f64) -> f64 {
        libm::pow(1.0 + x.max(0.0) / self.scale, -self.shape)
    }
    /// The part of a Lomax distribution above x is a Lomax distribution again, and its scale is
    /// larger by x.
    fn above(&self, x: f64) -> f64 {
        let x = x.max(0.0);
        (x + (self.scale + x) / (self.shape - 1.0)) * self.survival(x)
    }
}
