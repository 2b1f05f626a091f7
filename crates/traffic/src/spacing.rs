//! Distributions of the interval between two events: exponential, constant or uniform.

use units::{Duration, words};

words! {
    /// Distribution of the interval between two events, given its mean.
    pub enum Spacing {
        /// Exponential intervals, so that the events form a Poisson process.
        Exponential = "exponential",
        /// Equal intervals.
        Constant = "constant",
        /// Intervals that are uniformly distributed between 0 and twice the mean.
        Uniform = "uniform",
    }
}

impl Spacing {
    /// Return the interval that follows from a uniform random number in [0, 1), by inversion
    /// (Devroye 1986, II.2).
    pub fn draw(self, mean: Duration, u: f64) -> Duration {
        match self {
            Spacing::Constant => mean,
            Spacing::Uniform => Duration::from_seconds(2.0 * mean.seconds() * u),
            Spacing::Exponential => Duration::from_seconds(-mean.seconds() * libm::log1p(-u)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_follow_their_distribution() {
        let mean = Duration::from_millis(10);
        assert_eq!(Spacing::Constant.draw(mean, 0.9), mean);
        assert_eq!(Spacing::Exponential.draw(mean, 0.0), Duration::ZERO);
        assert_eq!(Spacing::Exponential.draw(Duration::ZERO, 0.7), Duration::ZERO);
        assert_eq!(Spacing::Uniform.draw(mean, 0.25), Duration::from_millis(5));
        let median = Spacing::Exponential.draw(mean, 0.5).seconds();
        assert!((median - 0.010 * std::f64::consts::LN_2).abs() < 1e-12, "{median}");
    }
}
