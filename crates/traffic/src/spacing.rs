//! Times between events of a kind: evenly spaced, or those of a Poisson process.

use units::{Duration, words};

words! {
    /// How events are spaced, given their mean interval.
    pub enum Spacing {
        /// Exponentially distributed intervals: a Poisson process.
        Exponential = "exponential",
        /// Always the same interval.
        Constant = "constant",
    }
}

impl Spacing {
    /// The interval that a uniform number in [0, 1) gives (inversion, Devroye 1986, II.2).
    pub fn draw(self, mean: Duration, u: f64) -> Duration {
        match self {
            Spacing::Constant => mean,
            Spacing::Exponential => Duration::from_seconds(-mean.seconds() * libm::log1p(-u)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_law() {
        let mean = Duration::from_millis(10);
        assert_eq!(Spacing::Constant.draw(mean, 0.9), mean);
        assert_eq!(Spacing::Exponential.draw(mean, 0.0), Duration::ZERO);
        let median = Spacing::Exponential.draw(mean, 0.5).seconds();
        assert!((median - 0.010 * std::f64::consts::LN_2).abs() < 1e-12, "{median}");
    }
}
