//! Pareto, without and with an upper bound.

use super::Law;

/// P(X > x) = (least/x)^shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Pareto {
    mean: f64,
    least: f64,
    shape: f64,
}

impl Pareto {
    /// Its mean is shape/(shape − 1) of its least value.
    pub fn new(mean: f64, shape: f64) -> Self {
        Pareto { mean, least: mean * (shape - 1.0) / shape, shape }
    }

    /// Its least value.
    pub fn least(&self) -> f64 {
        self.least
    }
}

impl Law for Pareto {
    fn mean(&self) -> f64 {
        self.mean
    }
    fn quantile(&self, p: f64) -> f64 {
        self.least * libm::pow(1.0 - p, -1.0 / self.shape)
    }
    fn survival(&self, x: f64) -> f64 {
        libm::pow(self.least / x.max(self.least), self.shape)
    }
    fn above(&self, x: f64) -> f64 {
        self.mean * libm::pow(self.least / x.max(self.least), self.shape - 1.0)
    }
}

/// That of Pareto below an upper bound: what falls above it is drawn again.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedPareto {
    least: f64,
    most: f64,
    shape: f64,
    /// P(X > most) of the law without the bound.
    beyond: f64,
}

impl BoundedPareto {
    /// `most` is above `least`, which is above 0.
    pub fn new(least: f64, most: f64, shape: f64) -> Self {
        BoundedPareto { least, most, shape, beyond: libm::pow(least / most, shape) }
    }
}

impl Law for BoundedPareto {
    fn mean(&self) -> f64 {
        self.above(0.0)
    }
    fn quantile(&self, p: f64) -> f64 {
        let survival = 1.0 - p * (1.0 - self.beyond);
        (self.least * libm::pow(survival, -1.0 / self.shape)).min(self.most)
    }
    fn survival(&self, x: f64) -> f64 {
        let x = x.clamp(self.least, self.most);
        (libm::pow(self.least / x, self.shape) - self.beyond) / (1.0 - self.beyond)
    }
    /// The integral of shape least^shape t^−shape from x on: shape least^shape (most^r − x^r)/r with r = 1 − shape.
    fn above(&self, x: f64) -> f64 {
        let x = x.clamp(self.least, self.most);
        let (r, ratio) = (1.0 - self.shape, libm::log(self.most / x));
        let power = if r == 0.0 { ratio } else { libm::expm1(r * ratio) / r };
        self.shape * x * libm::pow(self.least / x, self.shape) * power / (1.0 - self.beyond)
    }
}
