//! The geometric distribution on the whole numbers from 1 on.

use super::Law;

/// Number of trials up to and including the first success: P(N > n) = (1 − 1/mean)^n.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometric {
    mean: f64,
    /// Natural logarithm of the probability that a trial fails. This probability is 1 − 1/mean.
    log_another: f64,
}

impl Geometric {
    /// Create a geometric distribution with a mean of at least 1.
    pub fn new(mean: f64) -> Self {
        Geometric { mean, log_another: libm::log1p(-1.0 / mean) }
    }
}

impl Law for Geometric {
    fn mean(&self) -> f64 {
        self.mean
    }
    fn quantile(&self, p: f64) -> f64 {
        (libm::log1p(-p) / self.log_another).ceil().max(1.0)
    }
    fn survival(&self, x: f64) -> f64 {
        let n = x.max(0.0).floor();
        if n == 0.0 { 1.0 } else { libm::exp(n * self.log_another) }
    }
    /// A geometric distribution has no memory: the part above n is the same distribution, shifted
    /// by n.
    fn above(&self, x: f64) -> f64 {
        (x.max(0.0).floor() + self.mean) * self.survival(x)
    }
}
