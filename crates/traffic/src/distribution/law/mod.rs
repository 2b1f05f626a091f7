//! Probability distributions in closed form. Each distribution has a quantile function, a survival
//! function, a mean, and the part of the mean above a value. Unless stated otherwise, values are
//! sampled by inversion of the distribution function (Devroye 1986, II.2). Sampling a value does
//! not allocate memory.

mod bounded;
mod empirical;
mod geometric;
mod light;
mod lognormal;
mod mixture;
mod pareto;
pub(super) mod special;

pub use bounded::{Constant, Uniform};
pub use empirical::{Between, Empirical};
pub use geometric::Geometric;
pub use light::{Exponential, Weibull};
pub use lognormal::LogNormal;
pub use mixture::Mixture;
pub use pareto::{BoundedPareto, Lomax, Pareto};

/// A probability distribution of non-negative numbers.
pub trait Law {
    /// Return the mean.
    fn mean(&self) -> f64;
    /// Return the p-quantile: the minimum x with P(X ≤ x) ≥ p, for p in [0, 1).
    fn quantile(&self, p: f64) -> f64;
    /// Return the survival function at x, which is P(X > x).
    fn survival(&self, x: f64) -> f64;
    /// Return the part of the mean above x, which is E[X; X > x].
    fn above(&self, x: f64) -> f64;
    /// Return the value that follows from two uniform random numbers in [0, 1).
    fn draw(&self, [u, _]: [f64; 2]) -> f64 {
        self.quantile(u)
    }
}

/// Define the enum of all distributions, which also implements the trait of a distribution.
macro_rules! laws {
    ($($Law:ident,)+) => {
        /// One of the distributions.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyLaw { $(#[allow(missing_docs)] $Law($Law),)+ }

        $(impl From<$Law> for AnyLaw {
            fn from(law: $Law) -> AnyLaw {
                AnyLaw::$Law(law)
            }
        })+

        impl Law for AnyLaw {
            fn mean(&self) -> f64 {
                match self { $(AnyLaw::$Law(law) => law.mean(),)+ }
            }
            fn quantile(&self, p: f64) -> f64 {
                match self { $(AnyLaw::$Law(law) => law.quantile(p),)+ }
            }
            fn survival(&self, x: f64) -> f64 {
                match self { $(AnyLaw::$Law(law) => law.survival(x),)+ }
            }
            fn above(&self, x: f64) -> f64 {
                match self { $(AnyLaw::$Law(law) => law.above(x),)+ }
            }
            fn draw(&self, uv: [f64; 2]) -> f64 {
                match self { $(AnyLaw::$Law(law) => law.draw(uv),)+ }
            }
        }
    };
}

laws! {
    Constant,
    Uniform,
    Exponential,
    Weibull,
    LogNormal,
    Pareto,
    BoundedPareto,
    Lomax,
    Geometric,
    Empirical,
    Mixture,
}

/// Return the fraction of the sum of all values that comes from the largest values. The argument
/// `largest` is the fraction of all values that count as the largest. For example, the result 0.8
/// for `largest` = 0.15 means that the largest 15 % of the values contribute 80 % of the sum.
pub fn share_of_largest(law: &impl Law, largest: f64) -> f64 {
    let x = law.quantile(1.0 - largest);
    // If many values are equal to the quantile x, the largest values include only a part of the
    // values that are equal to x.
    let these = largest - law.survival(x);
    (law.above(x) + x * these) / law.mean()
}

/// Number of terms that are summed one by one. An integral, computed by the midpoint rule, replaces
/// the sum of all further terms.
const ONE_BY_ONE: u32 = 1000;

/// Return the mean of the value N after rounding to a whole number of at least 1. The mean is the
/// sum of P(N ≥ k) over k.
pub fn mean_of_whole(law: &impl Law) -> f64 {
    let first: f64 = (2..=ONE_BY_ONE).map(|k| law.survival(f64::from(k) - 0.5)).sum();
    let rest = f64::from(ONE_BY_ONE) + 0.5;
    1.0 + first + law.above(rest) - rest * law.survival(rest)
}
