//! Laws of random numbers, in closed form: quantile, survival, mean, and the part of the mean that lies above a value.
//! Drawing is inversion (Devroye 1986, II.2) unless said otherwise, and allocates nothing.

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

/// A law on numbers that are not negative.
pub trait Law {
    /// Its mean.
    fn mean(&self) -> f64;
    /// The least x with P(X ≤ x) ≥ p, for p in [0, 1).
    fn quantile(&self, p: f64) -> f64;
    /// P(X > x).
    fn survival(&self, x: f64) -> f64;
    /// E[X; X > x]: the part of the mean that lies above x.
    fn above(&self, x: f64) -> f64;
    /// What two uniform numbers in [0, 1) give.
    fn draw(&self, [u, _]: [f64; 2]) -> f64 {
        self.quantile(u)
    }
}

/// Defines the choice among the laws, which is one itself.
macro_rules! laws {
    ($($Law:ident,)+) => {
        /// Any of the laws.
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

/// The share of the sum that the largest of all hold, who are a share `largest` of them: 0.8 for 0.15 says that 15 % have 80 %.
pub fn share_of_largest(law: &impl Law, largest: f64) -> f64 {
    let x = law.quantile(1.0 - largest);
    // Where many have the same value, so many of them belong to the largest.
    let these = largest - law.survival(x);
    (law.above(x) + x * these) / law.mean()
}

/// Values that are summed one by one; beyond, the sum over whole numbers is an integral (the midpoint rule).
const ONE_BY_ONE: u32 = 1000;

/// The mean of the nearest whole number, at least 1: the sum of P(N ≥ k).
pub fn mean_of_whole(law: &impl Law) -> f64 {
    let first: f64 = (2..=ONE_BY_ONE).map(|k| law.survival(f64::from(k) - 0.5)).sum();
    let rest = f64::from(ONE_BY_ONE) + 0.5;
    1.0 + first + law.above(rest) - rest * law.survival(rest)
}
