//! Mixtures of distributions.

use super::{AnyLaw, Law};

/// A mixture of distributions, each of which has a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture(Vec<Part>);

/// A component of a mixture, with the interval of uniform random numbers for which this component
/// is chosen.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    from: f64,
    share: f64,
    law: AnyLaw,
}

impl Mixture {
    /// Create a mixture from distributions and their weights. The weights need not add up to 1.
    pub fn new(laws: Vec<(f64, AnyLaw)>) -> Self {
        let sum: f64 = laws.iter().map(|(weight, _)| weight).sum();
        let mut from = 0.0;
        let part = |(weight, law)| {
            let part = Part { from, share: weight / sum, law };
            from += part.share;
            part
        };
        Mixture(laws.into_iter().map(part).collect())
    }

    fn sum(&self, of: impl Fn(&AnyLaw) -> f64) -> f64 {
        self.0.iter().map(|part| part.share * of(&part.law)).sum()
    }
}

impl Law for Mixture {
    fn mean(&self) -> f64 {
        self.sum(Law::mean)
    }
    /// Find the value at which the survival function of the mixture falls to 1 − p, by a search
    /// between the minimum and the maximum of the components' quantiles.
    fn quantile(&self, p: f64) -> f64 {
        let each = || self.0.iter().map(|part| part.law.quantile(p));
        let (mut low, mut high) = (each().fold(f64::INFINITY, f64::min), each().fold(0.0, f64::max));
        if self.survival(low) <= 1.0 - p {
            return low;
        }
        loop {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                return high;
            }
            if self.survival(middle) <= 1.0 - p {
                high = middle;
            } else {
                low = middle;
            }
        }
    }
    fn survival(&self, x: f64) -> f64 {
        self.sum(|law| law.survival(x))
    }
    fn above(&self, x: f64) -> f64 {
        self.sum(|law| law.above(x))
    }
    /// The first random number selects the component of the mixture. Within the interval of the
    /// selected component, the first random number is uniformly distributed, so the relative
    /// position in this interval serves as a further random number (Devroye 1986, II.4).
    fn draw(&self, [u, v]: [f64; 2]) -> f64 {
        let part = self.0.iter().rfind(|part| u >= part.from).unwrap_or(&self.0[0]);
        let within = ((u - part.from) / part.share).min(1.0 - f64::EPSILON);
        part.law.draw([within, v])
    }
}
