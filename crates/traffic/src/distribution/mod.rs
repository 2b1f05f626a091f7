//! Random quantities: sizes, times and numbers. In a scenario, a size, a time or a number is either
//! constant (`"7.2 kB"`, `"1 s"`, `5`) or sampled from a distribution (`{ kind = "pareto", mean =
//! "7.2 kB" }`). The module `kinds.rs` defines the keys of the distributions, and the modules in
//! `law/` do the calculations.

mod amount;
mod check;
mod kinds;
pub mod law;
mod points;
#[cfg(test)]
mod tests;

use amount::{Amount, Any};
use kinds::{Constant, Kind};
use law::Law;
use units::param::{Invalid, Json, reference};
use units::{Bytes, Duration, Range, Read};

/// A size that is constant or sampled: a whole number of bytes, at least 1.
pub type Size = Quantity<Bytes>;

/// A time span that is constant or sampled from a distribution.
pub type Times = Quantity<Duration>;

/// A number of objects, pages or sessions that is constant or sampled from a distribution. A
/// sampled number is rounded to the nearest whole number, at least 1.
pub type Count = Quantity<u64>;

/// A quantity of any type: a size, a time or a number. The manual describes each distribution once,
/// for a quantity of any type, instead of separately for sizes, times and numbers.
pub type Distribution = Quantity<Any>;

/// A quantity that is constant or sampled from a distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity<A: Amount> {
    kind: Kind<A>,
    law: law::AnyLaw,
}

impl<A: Amount> Quantity<A> {
    /// Return a constant.
    pub fn fixed(value: A) -> Self {
        Kind::Constant(Constant { value }).into()
    }

    /// Return the value of the quantity, or `None` if it is not constant.
    pub fn constant(&self) -> Option<A> {
        if let Kind::Constant(constant) = &self.kind { Some(constant.value) } else { None }
    }

    /// Return the JSON Schema of the quantity. The JSON Schema has a name, so that it can refer to
    /// itself: a mixture contains other quantities of the same type.
    pub fn definition() -> Json {
        serde_json::json!({"anyOf": [A::schema(), Kind::<A>::schema()]})
    }
}

impl<A: Amount> From<Kind<A>> for Quantity<A> {
    fn from(kind: Kind<A>) -> Self {
        let law = kind.law();
        Quantity { kind, law }
    }
}

impl<A: Amount> Read for Quantity<A> {
    const UNIT: &'static str = A::UNIT;
    const EXAMPLE: &'static str = A::EXAMPLE;

    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.is_object() {
            return Kind::read(value, path).map(Into::into);
        }
        let amount = A::read(value, path)?;
        let values: Range = A::VALUES;
        values.check(&amount, Some(value), path)?;
        Ok(Quantity::fixed(amount))
    }

    fn write(&self) -> Json {
        self.constant().map_or_else(|| self.kind.write(), |value| value.write())
    }

    fn schema() -> Json {
        reference(A::NAME)
    }

    fn number(&self) -> Option<f64> {
        self.constant().and_then(|value| value.number())
    }
}

/// Maximum of a sampled size in bytes, and maximum of a sampled number.
const MAX_SIZE: f64 = 1e15;
const MAX_COUNT: f64 = 4e9;

impl Size {
    /// Return the size that follows from two uniform random numbers in [0, 1).
    pub fn draw(&self, uv: [f64; 2]) -> Bytes {
        self.constant().unwrap_or_else(|| Bytes(self.law.draw(uv).round().clamp(1.0, MAX_SIZE) as u64))
    }

    /// Return the mean size, in bytes.
    pub fn mean(&self) -> f64 {
        self.law.mean()
    }

    /// Return the p-quantile of the size, in bytes: a fraction p of the sizes does not exceed it.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p)
    }

    /// Return the fraction of all bytes that the largest sizes contribute. The argument `largest`
    /// is the fraction of all values that count as the largest.
    pub fn share_of_largest(&self, largest: f64) -> f64 {
        law::share_of_largest(&self.law, largest)
    }
}

impl Times {
    /// Compute a random time from two uniform random numbers in [0, 1).
    pub fn draw(&self, uv: [f64; 2]) -> Duration {
        self.constant().unwrap_or_else(|| Duration::from_seconds(self.law.draw(uv)))
    }

    /// Return the mean time, in seconds.
    pub fn mean(&self) -> f64 {
        self.law.mean()
    }

    /// Return the p-quantile of the time, in seconds: a fraction p of the times does not exceed it.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p)
    }
}

impl Count {
    /// Return the number that follows from two uniform random numbers in [0, 1).
    pub fn draw(&self, uv: [f64; 2]) -> u64 {
        self.constant().unwrap_or_else(|| self.law.draw(uv).round().clamp(1.0, MAX_COUNT) as u64)
    }

    /// Return the mean of the sampled numbers, which are whole numbers.
    pub fn mean(&self) -> f64 {
        law::mean_of_whole(&self.law)
    }

    /// Return the p-quantile of the number: a fraction p of the numbers does not exceed it.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p).round().max(1.0)
    }
}

/// Return the JSON Schema of each quantity. If several quantities have the same kind of
/// distribution, the manual shows the page of the first one. The first quantity in the list is
/// `any`.
pub fn definitions() -> [(&'static str, Json); 4] {
    [
        (Any::NAME, Distribution::definition()),
        (Bytes::NAME, Size::definition()),
        (Duration::NAME, Times::definition()),
        (u64::NAME, Count::definition()),
    ]
}

/// Return the manual page of each kind of distribution.
pub fn pages() -> Vec<Json> {
    Kind::<Any>::pages()
}

/// Properties of a distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Mean of the values: in bytes for sizes, in seconds for times, and without a unit for
    /// numbers.
    pub mean: f64,
    /// Quantile for each probability.
    pub quantiles: Vec<f64>,
    /// Fraction of the sum of all values that comes from the largest values, for several fractions
    /// of the number of values.
    pub shares: Vec<f64>,
}

/// Compute the properties of a distribution. The argument `what` is size, times or count, and the
/// distribution is written as in a scenario.
pub fn describe(
    what: &str,
    written: &Json,
    probabilities: &[f64],
    largest: &[f64],
) -> Result<Described, Invalid> {
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
