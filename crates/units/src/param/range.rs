//! Range of a number.

use super::{Invalid, Json, Read};

/// Range of a parameter, which contains the allowed numbers in the base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: Option<(f64, bool)>,
    high: Option<(f64, bool)>,
    whole: bool,
}

impl Range {
    /// Range that contains all values of the type.
    pub const ANY: Range = Range { low: None, high: None, whole: false };
    /// Return the range `x >= low`.
    pub const fn at_least(low: f64) -> Range {
        Range { low: Some((low, true)), ..Range::ANY }
    }
    /// Return the range `x > low`.
    pub const fn above(low: f64) -> Range {
        Range { low: Some((low, false)), ..Range::ANY }
    }
    /// Return the range `low <= x <= high`.
    pub const fn between(low: f64, high: f64) -> Range {
        Range { low: Some((low, true)), high: Some((high, true)), whole: false }
    }
    /// Return the range `low < x <= high`.
    pub const fn above_to(low: f64, high: f64) -> Range {
        Range { low: Some((low, false)), high: Some((high, true)), whole: false }
    }
    /// Restrict the range to its whole numbers.
    pub const fn whole(mut self) -> Range {
        self.whole = true;
        self
    }

    /// Return true if the number `x` is in the range.
    pub fn contains(&self, x: f64) -> bool {
        self.low.is_none_or(|(l, closed)| x > l || (closed && x == l))
            && self.high.is_none_or(|(h, closed)| x < h || (closed && x == h))
            && (!self.whole || x.fract() == 0.0)
    }

    /// Describe the range in words with its unit, as in `above 0 s, at most 60 s`.
    pub fn describe(&self, unit: &str) -> String {
        let mut parts = Vec::new();
        if self.whole {
            parts.push("a whole number".to_string());
        }
        let with_unit = |x: f64| match unit {
            "" => x.to_string(),
            _ if x == 1.0 => format!("1 {}", unit.replace("packets", "packet").replace("bytes", "byte")),
            _ => format!("{x} {unit}"),
        };
        if let Some((l, closed)) = self.low {
            parts.push(format!("{} {}", if closed { "at least" } else { "above" }, with_unit(l)));
        }
        if let Some((h, closed)) = self.high {
            parts.push(format!("{} {}", if closed { "at most" } else { "below" }, with_unit(h)));
        }
        parts.join(", ")
    }

    /// Refuse the value at `path` if its number is outside the range. The error shows the value in
    /// the form that the scenario has (`written`).
    pub fn check<T: Read>(&self, value: &T, written: Option<&Json>, path: &str) -> Result<(), Invalid> {
        match value.number() {
            Some(x) if !self.contains(x) => {
                let written = written.cloned().unwrap_or_else(|| value.write());
                Err(Invalid::new(path, &written, format!("must be {}", self.describe(T::UNIT))))
            }
            _ => Ok(()),
        }
    }
}
