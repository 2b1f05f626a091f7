//! Simulated time in whole picoseconds, so that sums of times are exact and equal on every machine.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde_json::Value;

use crate::param::{Invalid, Read};
use crate::scaled::{Unit, format_scaled, parse_scaled, whole};

/// Picoseconds per second.
const SECOND: u64 = 1_000_000_000_000;

/// Time since the start of the run, in picoseconds (up to 213 days).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// Time span in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

impl Time {
    /// Start of a run.
    pub const ZERO: Time = Time(0);
    /// Time that is later than every event, which stands for a deadline that is not set.
    pub const NEVER: Time = Time(u64::MAX);

    /// Return the time since the start of the run, in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// Return the time span from `earlier` to `self`. If `earlier` is after `self`, the result is
    /// zero.
    pub fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// Empty time span.
    pub const ZERO: Duration = Duration(0);

    /// Create a time span of `s` seconds, rounded to the picosecond. Negative values become zero.
    #[inline]
    pub fn from_seconds(s: f64) -> Duration {
        let picoseconds = s * SECOND as f64;
        let whole = picoseconds as u64; // `f64::round` is a function call on processors without the instruction
        Duration(whole.saturating_add(u64::from(picoseconds - whole as f64 >= 0.5)))
    }

    /// Create a time span of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms * (SECOND / 1000))
    }

    /// Return the time span in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, d: Duration) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:.6} s", self.seconds())
    }
}

pub(crate) const TIME_UNITS: &[Unit] = &[
    ("s", SECOND),
    ("ms", SECOND / 1000),
    ("us", SECOND / 1_000_000),
    ("ns", 1000),
    ("min", 60 * SECOND),
    ("h", 3600 * SECOND),
];
/// Units in which a time span can be written, with the largest unit first.
const WRITE: &[Unit] = &[("s", SECOND), ("ms", SECOND / 1000), ("us", SECOND / 1_000_000), ("ns", 1000)];
/// Maximum span in seconds. The sum of two maximum time spans exceeds the range of the clock, so
/// the sum saturates. A saturated time is later than the end of every run.
const LONGEST: u64 = 10_000_000;

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&format_scaled(self.0, WRITE))
    }
}

impl Read for Duration {
    const UNIT: &'static str = "s";
    const EXAMPLE: &'static str = "20 ms";

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let time = parse_scaled(value, path, "a time", TIME_UNITS, Self::EXAMPLE)?;
        if !(0.0..=(LONGEST * SECOND) as f64).contains(&time.value()) {
            return Err(Invalid::new(path, value, "must be between 0 s and 10,000,000 s"));
        }
        whole(time, value, path, "picoseconds").map(Duration)
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }

    fn schema() -> Value {
        crate::param::unit_schema("time", TIME_UNITS, Self::EXAMPLE)
    }

    fn number(&self) -> Option<f64> {
        Some(self.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn durations_are_read_with_units() {
        let read = |s: &str| Duration::read(&json!(s), "t").unwrap();
        assert_eq!(read("20 ms"), Duration::from_millis(20));
        assert_eq!(read("0.5ms"), Duration(500_000_000));
        assert_eq!(read("2 min"), Duration::from_millis(120_000));
        assert_eq!(read("100 ns"), Duration(100_000));
        assert_eq!(read("9999999.123456789012 s"), Duration(9_999_999_123_456_789_012));
    }

    #[test]
    fn a_bare_number_and_a_negative_time_are_refused() {
        let bare = Duration::read(&json!(20), "link.delay").unwrap_err().to_string();
        assert!(bare.contains("link.delay") && bare.contains("unit") && bare.contains("20 ms"), "{bare}");
        let short = Duration::read(&json!("0.0001 ns"), "link.delay").unwrap_err().to_string();
        assert!(short.contains("whole number of picoseconds"), "{short}");
        let long = Duration::read(&json!("214 h"), "t").is_ok();
        assert!(long && Duration::read(&json!("1e8 s"), "t").is_err());
        let negative = Duration::read(&json!("-1 ms"), "link.delay").unwrap_err().to_string();
        assert!(negative.contains("between 0 s"), "{negative}");
    }

    #[test]
    fn writing_and_reading_are_inverse() {
        for d in [
            Duration(1_000),
            Duration(1),
            Duration(9_999_999_123_456_789_012),
            Duration::from_millis(21),
            Duration::from_seconds(112.5),
            Duration::ZERO,
        ] {
            assert_eq!(Duration::read(&d.write(), "d").unwrap(), d);
        }
    }
}
