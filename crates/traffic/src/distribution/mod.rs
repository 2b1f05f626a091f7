//! Random sizes, times and numbers. Each is either constant (`"7.2 kB"`, `"1 s"`, `5`) or drawn
//! from a distribution (`{ kind = "pareto", mean = "7.2 kB" }`). `family.rs` defines the keys of
//! the distributions, and `law/` computes with them.

mod amount;
mod check;
mod family;
pub mod law;
mod points;
#[cfg(test)]
mod tests;

pub use any::Distribution;
pub use count::Count;
pub use size::Size;
pub use times::Times;

use family::family;
use law::Law;
use units::{Bytes, Duration, Range, params};

params! {
    /// The geometric distribution, the number of trials up to the first success: P(N > n) = (1 −
    /// 1/mean)^n for n from 1 on.
    pub struct Geometric: "geometric" {
        /// Mean.
        mean: f64 = required, in Range::between(1.0, 4e9), from "";
    }
}

impl Geometric {
    fn law(&self) -> law::AnyLaw {
        law::Geometric::new(self.mean).into()
    }
}

family! {
    /// A size, constant or drawn: a whole number of bytes, at least 1.
    mod size, Size of units::Bytes, mean units::Bytes;
    amount in Range::between(1.0, 1e15), mean in Range::between(1.0, 1e12)
}

family! {
    /// A time span, constant or drawn.
    mod times, Times of units::Duration, mean units::Duration;
    amount in Range::at_least(0.0), mean in Range::above(0.0)
}

family! {
    /// A number of items, constant or drawn. A drawn value is rounded to the nearest whole number,
    /// at least 1.
    mod count, Count of u64, mean f64;
    amount in Range::between(1.0, 4e9), mean in Range::between(1.0, 4e9), and Geometric
}

family! {
    /// A size, a time or a number. The manual shows this family, because it describes the other
    /// three once.
    mod any, Distribution of super::amount::Any, mean super::amount::Any;
    amount in Range::at_least(0.0), mean in Range::above(0.0), and Geometric
}

/// Maximum size that is drawn, in bytes, and maximum number.
const MAX_SIZE: f64 = 1e15;
const MAX_COUNT: f64 = 4e9;

impl Size {
    /// Return the size for two uniform numbers in [0, 1).
    pub fn draw(&self, uv: [f64; 2]) -> Bytes {
        self.constant().unwrap_or_else(|| Bytes(self.law.draw(uv).round().clamp(1.0, MAX_SIZE) as u64))
    }

    /// Return the mean, in bytes.
    pub fn mean(&self) -> f64 {
        self.law.mean()
    }

    /// Return the size that a share p of the values does not exceed, in bytes.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p)
    }

    /// Return the share of all bytes that the largest values hold; `largest` is their share of the
    /// number of values.
    pub fn share_of_largest(&self, largest: f64) -> f64 {
        law::share_of_largest(&self.law, largest)
    }
}

impl Times {
    /// Return the time for two uniform numbers in [0, 1).
    pub fn draw(&self, uv: [f64; 2]) -> Duration {
        self.constant().unwrap_or_else(|| Duration::from_seconds(self.law.draw(uv)))
    }

    /// Return the mean, in seconds.
    pub fn mean(&self) -> f64 {
        self.law.mean()
    }

    /// Return the time that a share p of the values does not exceed, in seconds.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p)
    }
}

impl Count {
    /// Return the number for two uniform numbers in [0, 1).
    pub fn draw(&self, uv: [f64; 2]) -> u64 {
        self.constant().unwrap_or_else(|| self.law.draw(uv).round().clamp(1.0, MAX_COUNT) as u64)
    }

    /// Return the mean of the drawn numbers, which are whole.
    pub fn mean(&self) -> f64 {
        law::mean_of_whole(&self.law)
    }

    /// Return the number that a share p of the values does not exceed.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p).round().max(1.0)
    }
}

/// Return the JSON Schema of each family. The manual shows the first family that has a kind, and
/// `any` is first.
pub fn definitions() -> [(&'static str, units::param::Json); 4] {
    [
        ("any", Distribution::definition()),
        ("size", Size::definition()),
        ("times", Times::definition()),
        ("count", Count::definition()),
    ]
}

/// Return the manual page of each kind.
pub fn pages() -> Vec<units::param::Json> {
    any::pages()
}

/// Properties of a distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Mean in bytes or seconds, or of the whole numbers that are drawn.
    pub mean: f64,
    /// Quantile for each probability.
    pub quantiles: Vec<f64>,
    /// Share of the sum that the largest values hold, for each share of the number of values.
    pub shares: Vec<f64>,
}

/// Compute the properties of a distribution of `what` (size, times or count), as a scenario writes
/// it.
pub fn describe(
    what: &str,
    written: &units::param::Json,
    probabilities: &[f64],
    largest: &[f64],
) -> Result<Described, units::param::Invalid> {
    use units::Read;
    let (law, whole) = match what {
        "size" => (Size::read(written, what)?.law, false),
        "times" => (Times::read(written, what)?.law, false),
        _ => (Count::read(written, what)?.law, true),
    };
    let quantile = |&p: &f64| {
        let x = law.quantile(p);
        if whole { x.round().max(1.0) } else { x }
    };
    Ok(Described {
        mean: if whole { law::mean_of_whole(&law) } else { law.mean() },
        quantiles: probabilities.iter().map(quantile).collect(),
        shares: largest.iter().map(|&q| law::share_of_largest(&law, q)).collect(),
    })
}
