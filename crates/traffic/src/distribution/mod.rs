//! What is drawn: sizes, times and numbers, each always the same (`"7.2 kB"`, `"1 s"`, `5`) or drawn from a distribution
//! (`{ kind = "pareto", mean = "7.2 kB" }`). `family.rs` defines the kinds, `law/` says what they are.

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
    /// How many trials there are to the first success, from 1 on: P(N > n) = (1 − 1/mean)^n.
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
    /// A size, always the same or drawn: in whole bytes, at least one.
    mod size, Size of units::Bytes, mean units::Bytes;
    amount in Range::between(1.0, 1e15), mean in Range::between(1.0, 1e12)
}

family! {
    /// A span of time, always the same or drawn.
    mod times, Times of units::Duration, mean units::Duration;
    amount in Range::at_least(0.0), mean in Range::above(0.0)
}

family! {
    /// A number of things, always the same or drawn: the whole number nearest to what is drawn, at least 1.
    mod count, Count of u64, mean f64;
    amount in Range::between(1.0, 4e9), mean in Range::between(1.0, 4e9), and Geometric
}

family! {
    /// Any of the three: what the manual has in place of each.
    mod any, Distribution of super::amount::Any, mean super::amount::Any;
    amount in Range::at_least(0.0), mean in Range::above(0.0), and Geometric
}

/// The largest size that is drawn, in bytes, and the largest number.
const LARGEST: f64 = 1e15;
const MOST: f64 = 4e9;

impl Size {
    /// The size that two uniform numbers in [0, 1) give.
    pub fn draw(&self, uv: [f64; 2]) -> Bytes {
        self.constant().unwrap_or_else(|| Bytes(self.law.draw(uv).round().clamp(1.0, LARGEST) as u64))
    }

    /// Its mean, in bytes.
    pub fn mean(&self) -> f64 {
        self.law.mean()
    }

    /// The size that a share p of all do not exceed, in bytes.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p)
    }

    /// The share of all bytes that the largest have, who are a share `largest` of all.
    pub fn share_of_largest(&self, largest: f64) -> f64 {
        law::share_of_largest(&self.law, largest)
    }
}

impl Times {
    /// The time that two uniform numbers in [0, 1) give.
    pub fn draw(&self, uv: [f64; 2]) -> Duration {
        self.constant().unwrap_or_else(|| Duration::from_seconds(self.law.draw(uv)))
    }

    /// Its mean, in seconds.
    pub fn mean(&self) -> f64 {
        self.law.mean()
    }

    /// The time that a share p of all do not exceed, in seconds.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p)
    }
}

impl Count {
    /// The number that two uniform numbers in [0, 1) give.
    pub fn draw(&self, uv: [f64; 2]) -> u64 {
        self.constant().unwrap_or_else(|| self.law.draw(uv).round().clamp(1.0, MOST) as u64)
    }

    /// Its mean: of what is drawn, which is whole.
    pub fn mean(&self) -> f64 {
        law::mean_of_whole(&self.law)
    }

    /// The number that a share p of all do not exceed.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p).round().max(1.0)
    }
}

/// What the families mean, in JSON Schema. The manual has the first that has a kind, and so that of all.
pub fn definitions() -> [(&'static str, units::param::Json); 4] {
    [
        ("any", Distribution::definition()),
        ("size", Size::definition()),
        ("times", Times::definition()),
        ("count", Count::definition()),
    ]
}

/// The manual page of each kind.
pub fn pages() -> Vec<units::param::Json> {
    any::pages()
}

/// What a distribution is: mean, quantiles at some probabilities, and shares of the sum that the largest have who are such shares
/// of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// In bytes, seconds or a number; a number's is that of the whole one that is drawn.
    pub mean: f64,
    /// One a probability.
    pub quantiles: Vec<f64>,
    /// One a share.
    pub shares: Vec<f64>,
}

/// Describes a distribution of `what`, size, times or count, as a scenario writes it.
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
