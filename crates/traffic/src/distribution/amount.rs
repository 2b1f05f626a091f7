//! Quantities that have a distribution: sizes, times and numbers.

use std::fmt::Debug;

use units::param::{Invalid, Json};
use units::{Bytes, Duration, Range, Read};

/// A quantity that can have a distribution.
pub trait Amount: Read + Copy + Debug + PartialEq + 'static {
    /// Rust type that stores the mean of the quantity. The mean need not be a whole number.
    type Mean: Read + Copy + Debug + PartialEq;
    /// Name of the quantity's definition in the JSON Schema.
    const NAME: &'static str;
    /// Range of values.
    const VALUES: Range;
    /// Range of means.
    const MEANS: Range;
    /// True if the quantity can have a geometric distribution, which is a distribution of whole
    /// numbers.
    const COUNTS: bool = false;

    /// Convert a number in the base unit to a value of the quantity. The result is `None` if the
    /// number is out of range.
    fn of(number: f64) -> Option<Self>;
}

/// Convert a value of the quantity to a number in its base unit.
pub fn base(amount: &impl Read) -> f64 {
    amount.number().unwrap_or(0.0)
}

impl Amount for Bytes {
    type Mean = Bytes;
    const NAME: &'static str = "size";
    const VALUES: Range = Range::between(1.0, 1e15);
    const MEANS: Range = Range::between(1.0, 1e12);

    fn of(number: f64) -> Option<Self> {
        (1.0..=1e15).contains(&number).then(|| Bytes(number.round() as u64))
    }
}

impl Amount for Duration {
    type Mean = Duration;
    const NAME: &'static str = "times";
    const VALUES: Range = Range::at_least(0.0);
    const MEANS: Range = Range::above(0.0);

    fn of(number: f64) -> Option<Self> {
        (0.0..=1e7).contains(&number).then(|| Duration::from_seconds(number))
    }
}

impl Amount for u64 {
    type Mean = f64;
    const NAME: &'static str = "count";
    const VALUES: Range = Range::between(1.0, 4e9);
    const MEANS: Range = Range::between(1.0, 4e9);
    const COUNTS: bool = true;

    fn of(number: f64) -> Option<Self> {
        ((1.0..=4e9).contains(&number) && number.fract() == 0.0).then_some(number as u64)
    }
}

/// A quantity of any type: a size, a time or a number. The type `Any` exists for the manual, which
/// describes the kinds of distributions once for sizes, times and numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Any {
    /// Size in bytes.
    Size(Bytes),
    /// Time span.
    Time(Duration),
    /// Number without a unit.
    Number(f64),
}

impl Read for Any {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.is_number() {
            return f64::read(value, path).map(Any::Number);
        }
        Bytes::read(value, path).map(Any::Size).or_else(|_| Duration::read(value, path).map(Any::Time))
    }
    fn write(&self) -> Json {
        match self {
            Any::Size(size) => size.write(),
            Any::Time(time) => time.write(),
            Any::Number(number) => number.write(),
        }
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [Bytes::schema(), Duration::schema(), f64::schema()]})
    }
    fn number(&self) -> Option<f64> {
        match self {
            Any::Size(size) => size.number(),
            Any::Time(time) => time.number(),
            Any::Number(number) => Some(*number),
        }
    }
}

impl Amount for Any {
    type Mean = Any;
    const NAME: &'static str = "any";
    const VALUES: Range = Range::at_least(0.0);
    const MEANS: Range = Range::above(0.0);
    const COUNTS: bool = true;

    fn of(number: f64) -> Option<Self> {
        Some(Any::Number(number))
    }
}
