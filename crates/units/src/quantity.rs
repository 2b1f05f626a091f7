//! Rates, sizes and counts, which are read from strings with units and written to such strings.

use std::fmt;

use serde_json::Value;

use crate::param::{Invalid, Read, unit_schema};
use crate::scaled::{Unit, format_scaled, parse_scaled, split, whole};
use crate::time::{Duration, TIME_UNITS};

/// Data rate in bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// Size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// Number of packets or segments. An average may be fractional.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Packets(pub f64);

/// Length of a queue, in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Depth {
    /// Number of packets. An average may be fractional.
    Packets(f64),
    /// Number of bytes on the wire.
    Bytes(f64),
}

impl Depth {
    /// Return the queue length as a number without its unit (packets or bytes).
    pub fn amount(self) -> f64 {
        match self {
            Depth::Packets(n) | Depth::Bytes(n) => n,
        }
    }

    /// Return a length of `n` in the unit of `self`, which is packets or bytes.
    pub fn like(self, n: f64) -> Depth {
        match self {
            Depth::Packets(_) => Depth::Packets(n),
            Depth::Bytes(_) => Depth::Bytes(n),
        }
    }

    /// Return true if two lengths have the same unit.
    pub fn counts_as(self, other: Depth) -> bool {
        matches!(self, Depth::Packets(_)) == matches!(other, Depth::Packets(_))
    }
}

/// Limit of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Room {
    /// Number of packets or bytes.
    Depth(Depth),
    /// Limit as a time. The limit in bytes is the number of bytes that the link can send during
    /// this time.
    Time(Duration),
}

impl Room {
    /// Return the limit in packets or bytes, for a link with the given rate.
    pub fn at(self, rate: Rate) -> Depth {
        match self {
            Room::Depth(depth) => depth,
            Room::Time(time) => Depth::Bytes((rate.0 as f64 * time.seconds() / 8.0).floor().max(1.0)),
        }
    }
}

/// Probability or weight between 0 and 1. All other kinds of numbers in a scenario need a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(pub f64);

impl Rate {
    /// Return the time that the transmission of `size` takes at this rate, rounded to the
    /// picosecond.
    pub fn transmission_time(self, size: Bytes) -> Duration {
        let bits_ps = u128::from(size.0) * 8 * 1_000_000_000_000;
        let rate = u128::from(self.0);
        Duration(((bits_ps + rate / 2) / rate) as u64)
    }
}

const RATE_UNITS: &[Unit] =
    &[("bit/s", 1), ("kbit/s", 1000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
const RATE_WRITE: &[Unit] =
    &[("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1000), ("bit/s", 1)];

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&format_scaled(self.0, RATE_WRITE))
    }
}

impl Read for Rate {
    const UNIT: &'static str = "bit/s";
    const EXAMPLE: &'static str = "1.5 Mbit/s";

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let r = parse_scaled(value, path, "a rate", RATE_UNITS, Self::EXAMPLE)?;
        if !(1.0..=1e13).contains(&r.value()) {
            return Err(Invalid::new(path, value, "must be between 1 bit/s and 10,000 Gbit/s"));
        }
        whole(r, value, path, "bit/s").map(Rate)
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }

    fn schema() -> Value {
        unit_schema("rate", RATE_UNITS, Self::EXAMPLE)
    }

    fn number(&self) -> Option<f64> {
        Some(self.0 as f64)
    }
}

/// Rate that may be 0 bit/s, so that the link sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateOrNone(pub Rate);

impl Read for RateOrNone {
    const UNIT: &'static str = Rate::UNIT;
    const EXAMPLE: &'static str = Rate::EXAMPLE;

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        match parse_scaled(value, path, "a rate", RATE_UNITS, Self::EXAMPLE)?.whole() {
            Some(0) => Ok(RateOrNone(Rate(0))),
            _ => Rate::read(value, path).map(RateOrNone),
        }
    }

    fn write(&self) -> Value {
        self.0.write()
    }

    fn schema() -> Value {
        Rate::schema()
    }

    fn number(&self) -> Option<f64> {
        self.0.number()
    }
}

const BYTE_UNITS: &[Unit] = &[
    ("B", 1),
    ("byte", 1),
    ("bytes", 1),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (unit, scale) in [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("GB", 1_000_000_000), ("MB", 1_000_000)]
        {
            if self.0 >= scale && self.0.is_multiple_of(scale) {
                return write!(f, "{} {unit}", self.0 / scale);
            }
        }
        write!(f, "{} B", self.0)
    }
}

impl Read for Bytes {
    const UNIT: &'static str = "B";
    const EXAMPLE: &'static str = "1500 B";

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let b = parse_scaled(value, path, "a size", BYTE_UNITS, Self::EXAMPLE)?;
        match b.whole() {
            Some(bytes) if bytes <= 9_000_000_000_000_000 => Ok(Bytes(bytes)),
            _ => {
                Err(Invalid::new(path, value, "must be a whole number of bytes between 0 B and 9,000,000 GB"))
            }
        }
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }

    fn schema() -> Value {
        unit_schema("size", BYTE_UNITS, Self::EXAMPLE)
    }

    fn number(&self) -> Option<f64> {
        Some(self.0 as f64)
    }
}

const PACKET_UNITS: &[Unit] = &[("packets", 1), ("packet", 1), ("segments", 1), ("segment", 1)];

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} packet{}", self.0, if self.0 == 1.0 { "" } else { "s" })
    }
}

impl Read for Packets {
    const UNIT: &'static str = "packets";
    const EXAMPLE: &'static str = "64 packets";

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let n = parse_scaled(value, path, "a number of packets", PACKET_UNITS, Self::EXAMPLE)?.value();
        if !(0.0..=4e9).contains(&n) {
            return Err(Invalid::new(path, value, "must be between 0 and 4,000,000,000 packets"));
        }
        Ok(Packets(n))
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }

    fn schema() -> Value {
        unit_schema("count", PACKET_UNITS, Self::EXAMPLE)
    }

    fn number(&self) -> Option<f64> {
        Some(self.0)
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Depth::Packets(n) => Packets(*n).fmt(f),
            Depth::Bytes(n) => write!(f, "{n} B"),
        }
    }
}

impl Read for Depth {
    const UNIT: &'static str = "packets or bytes";
    const EXAMPLE: &'static str = "64 packets";

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let units = [PACKET_UNITS, BYTE_UNITS].concat();
        let n = parse_scaled(value, path, "a number of packets or bytes", &units, Self::EXAMPLE)?.value();
        if !(0.0..=9e15).contains(&n) {
            return Err(Invalid::new(path, value, "must be between 0 and 9e15 packets or bytes"));
        }
        let text = value.as_str().unwrap_or_default().trim_end();
        let packets = PACKET_UNITS.iter().any(|u| text.ends_with(u.0));
        Ok(if packets { Depth::Packets(n) } else { Depth::Bytes(n) })
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }

    fn schema() -> Value {
        unit_schema("packets or bytes", &[PACKET_UNITS, BYTE_UNITS].concat(), Self::EXAMPLE)
    }

    fn number(&self) -> Option<f64> {
        Some(self.amount())
    }
}

impl Read for Room {
    const UNIT: &'static str = Depth::UNIT;
    const EXAMPLE: &'static str = "64 packets";

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let units = [PACKET_UNITS, BYTE_UNITS, TIME_UNITS].concat();
        parse_scaled(value, path, "a number of packets or bytes, or a time", &units, Self::EXAMPLE)?;
        let (_, unit) = split(value.as_str().unwrap_or_default());
        if !TIME_UNITS.iter().any(|u| u.0 == unit) {
            return Depth::read(value, path).map(Room::Depth);
        }
        match Duration::read(value, path)? {
            Duration::ZERO => Err(Invalid::new(path, value, "must be above 0 s")),
            time => Ok(Room::Time(time)),
        }
    }

    fn write(&self) -> Value {
        match self {
            Room::Depth(depth) => depth.write(),
            Room::Time(time) => time.write(),
        }
    }

    fn schema() -> Value {
        let units = [PACKET_UNITS, BYTE_UNITS, TIME_UNITS].concat();
        unit_schema("packets, bytes or a time", &units, Self::EXAMPLE)
    }

    /// Return the number of packets or bytes. If the limit is a time, return `None`, because the
    /// range of times is checked separately.
    fn number(&self) -> Option<f64> {
        match self {
            Room::Depth(depth) => depth.number(),
            Room::Time(_) => None,
        }
    }
}

impl Read for Probability {
    const UNIT: &'static str = "";
    const EXAMPLE: &'static str = "0.1";

    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        match value.as_f64() {
            Some(p) if (0.0..=1.0).contains(&p) => Ok(Probability(p)),
            _ => {
                Err(Invalid::new(path, value, "must be a number between 0 and 1").remedy("write 2 % as 0.02"))
            }
        }
    }

    fn write(&self) -> Value {
        serde_json::json!(self.0)
    }

    fn schema() -> Value {
        serde_json::json!({"type": "number", "minimum": 0, "maximum": 1})
    }

    fn number(&self) -> Option<f64> {
        Some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rates_sizes_and_counts_are_read() {
        assert_eq!(Rate::read(&json!("1.5 Mbit/s"), "r").unwrap(), Rate(1_500_000));
        assert_eq!(Bytes::read(&json!("20 MiB"), "b").unwrap(), Bytes(20_971_520));
        assert_eq!(Bytes::read(&json!("20 MB"), "b").unwrap(), Bytes(20_000_000));
        assert_eq!(Packets::read(&json!("2.5 packets"), "p").unwrap(), Packets(2.5));
    }

    #[test]
    fn missing_and_wrong_units_are_refused() {
        let e = Rate::read(&json!("1.5"), "bottleneck.rate").unwrap_err().to_string();
        assert!(e.contains("bottleneck.rate") && e.contains("lacks its unit") && e.contains("Mbit/s"), "{e}");
        let e = Rate::read(&json!("1.5 MB/s"), "rate").unwrap_err().to_string();
        assert!(e.contains("MB/s"), "{e}");
        assert!(Rate::read(&json!("1e999 bit/s"), "rate").is_err());
        assert!(Rate::read(&json!(["x"]), "rate").is_err());
        for half in ["1e Mbit/s", "5. Mbit/s", "1__5 Mbit/s", "_1 Mbit/s", "1_ Mbit/s", "e Mbit/s"] {
            let e = Rate::read(&json!(half), "rate").unwrap_err().to_string();
            assert!(e.contains("is not a rate"), "{e}");
        }
        assert!(Bytes::read(&json!("0.5 B"), "b").is_err());
        assert!(Probability::read(&json!(1.5), "p").is_err());
    }

    #[test]
    fn decimal_numbers_are_exact_and_never_rounded() {
        assert_eq!(Bytes::read(&json!("4.1 MB"), "b").unwrap(), Bytes(4_100_000));
        assert_eq!(Depth::read(&json!("4.1 MB"), "b").unwrap(), Depth::Bytes(4_100_000.0));
        assert_eq!(Rate::read(&json!("0.0081 Gbit/s"), "r").unwrap(), Rate(8_100_000));
        assert_eq!(Bytes::read(&json!("0.5 KiB"), "b").unwrap(), Bytes(512));
        for rate in ["1.5 bit/s", "1.2345 kbit/s", "1.9999999999 Gbit/s", "1000.0000000001 kbit/s"] {
            let e = Rate::read(&json!(rate), "rate").unwrap_err().to_string();
            assert!(e.contains(rate) && e.contains("whole number of bit/s"), "{e}");
        }
        assert!(Bytes::read(&json!("1.0001 kB"), "b").is_err());
        assert!(RateOrNone::read(&json!("0.1 bit/s"), "r").is_err());
    }

    #[test]
    fn written_quantities_read_back_unchanged() {
        for r in [1_500_000, 10_000_000, 1, 1_234_567_891, 56_000] {
            assert_eq!(Rate::read(&Rate(r).write(), "r").unwrap(), Rate(r));
        }
        for b in [0, 1, 1460, 20_971_520, 20_000_000, 1 << 40] {
            assert_eq!(Bytes::read(&Bytes(b).write(), "b").unwrap(), Bytes(b));
        }
    }

    #[test]
    fn a_depth_counts_packets_or_bytes() {
        let read = |s: &str| Depth::read(&json!(s), "d").unwrap();
        assert_eq!(read("64 packets"), Depth::Packets(64.0));
        assert_eq!(read("1 packet"), Depth::Packets(1.0));
        assert_eq!(read("20 kB"), Depth::Bytes(20_000.0));
        for depth in [Depth::Packets(2.5), Depth::Bytes(20_000.0), Depth::Bytes(0.5)] {
            assert_eq!(Depth::read(&depth.write(), "d").unwrap(), depth);
        }
        let room = |s: &str| Room::read(&json!(s), "d").unwrap();
        assert_eq!(room("64 packets"), Room::Depth(Depth::Packets(64.0)));
        assert_eq!(room("1e4 B"), Room::Depth(Depth::Bytes(10_000.0)));
        assert_eq!(room("250 ms"), Room::Time(Duration::from_millis(250)));
        assert_eq!(room("1e-3 s").at(Rate(1_000_000)), Depth::Bytes(125.0));
        assert_eq!(room("250 ms").at(Rate(10_000_000)), Depth::Bytes(312_500.0));
        for s in ["64 packets", "20 kB", "250 ms", "2 s"] {
            assert_eq!(Room::read(&room(s).write(), "d").unwrap(), room(s));
        }
        assert!(Room::read(&json!("0 s"), "d").is_err() && Room::read(&json!("5 seconds"), "d").is_err());
        let e = Depth::read(&json!("64"), "queue.limit").unwrap_err().to_string();
        assert!(e.contains("queue.limit") && e.contains("lacks its unit"), "{e}");
    }

    #[test]
    fn transmission_time_is_exact() {
        assert_eq!(Rate(1_500_000).transmission_time(Bytes(1500)), Duration::from_millis(8));
        assert_eq!(Rate(10_000_000_000).transmission_time(Bytes(1)), Duration(800));
    }
}
