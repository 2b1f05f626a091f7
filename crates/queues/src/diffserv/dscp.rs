//! DiffServ codepoints and their names.
//!
//! Sources: RFC 2474 §4 (`rfc2474`): the default and the class selectors; RFC 2597 §6 (`rfc2597`):
//! assured forwarding; RFC 3246 §2.7 (`rfc3246`): expedited forwarding; RFC 4594 (`rfc4594`): the
//! codepoints of services; RFC 5865 (`rfc5865`): VOICE-ADMIT; RFC 8622 (`rfc8622`): lower effort.

use std::fmt;

use units::Read;
use units::param::{Invalid, Json, did_you_mean};

/// DiffServ codepoint: a name such as `"AF11"`, or its number, 0 to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dscp(pub u8);

/// Names of codepoints. If a codepoint has several names, the results contain the first of these
/// names.
const NAMES: [(&str, u8); 26] = [
    ("DF", 0b000_000),
    ("CS0", 0b000_000),
    ("LE", 0b000_001),
    ("CS1", 0b001_000),
    ("AF11", 0b001_010),
    ("AF12", 0b001_100),
    ("AF13", 0b001_110),
    ("CS2", 0b010_000),
    ("AF21", 0b010_010),
    ("AF22", 0b010_100),
    ("AF23", 0b010_110),
    ("CS3", 0b011_000),
    ("AF31", 0b011_010),
    ("AF32", 0b011_100),
    ("AF33", 0b011_110),
    ("CS4", 0b100_000),
    ("AF41", 0b100_010),
    ("AF42", 0b100_100),
    ("AF43", 0b100_110),
    ("CS5", 0b101_000),
    ("VOICE-ADMIT", 0b101_100),
    ("EF", 0b101_110),
    ("CS6", 0b110_000),
    ("CS7", 0b111_000),
    // Common names of the best-effort codepoint, which RFC 2474 §4.1 calls default.
    ("BE", 0b000_000),
    ("default", 0b000_000),
];

impl Dscp {
    /// Return the name of the codepoint, or `None` if it has no name.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(_, codepoint)| *codepoint == self.0).map(|(name, _)| *name)
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

impl Read for Dscp {
    const EXAMPLE: &'static str = "AF11";

    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if let Some(name) = value.as_str() {
            let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            let found = NAMES.iter().find(|(known, _)| *known == name);
            return found.map(|(_, dscp)| Dscp(*dscp)).ok_or_else(|| {
                Invalid::new(path, value, "is not a codepoint").remedy(did_you_mean(name, &known))
            });
        }
        match value.as_u64() {
            Some(dscp @ 0..=63) => Ok(Dscp(dscp as u8)),
            _ => Err(Invalid::new(path, value, "is not a codepoint")
                .remedy("write a name such as \"AF11\", or a number from 0 to 63")),
        }
    }

    fn write(&self) -> Json {
        self.name().map_or_else(|| Json::from(self.0), Json::from)
    }

    fn schema() -> Json {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        serde_json::json!({"anyOf": [
            {"type": "string", "enum": names}, {"type": "integer", "minimum": 0, "maximum": 63}
        ]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Json) -> Result<Dscp, String> {
        Dscp::read(&value, "flow.dscp").map_err(|e| e.to_string())
    }

    /// RFC 2474 §4.2.2: the first three bits of the codepoint CSn are the number n. RFC 2597 §6: in
    /// AFcp, c is the class and p is the drop precedence.
    #[test]
    fn names_follow_the_rules_of_the_rfcs() {
        for n in 0..8 {
            assert_eq!(read(json!(format!("CS{n}"))), Ok(Dscp(n << 3)));
        }
        for (class, precedence) in (1..5).flat_map(|c| (1..4).map(move |p| (c, p))) {
            let name = format!("AF{class}{precedence}");
            assert_eq!(read(json!(name)), Ok(Dscp(class << 3 | precedence << 1)));
        }
        for (name, dscp) in [("EF", 46), ("LE", 1), ("VOICE-ADMIT", 44), ("DF", 0)] {
            assert_eq!((read(json!(name)), Dscp(dscp).name()), (Ok(Dscp(dscp)), Some(name)));
        }
    }

    #[test]
    fn every_codepoint_is_written_as_it_is_read() {
        for dscp in (0..64).map(Dscp) {
            assert_eq!(read(dscp.write()), Ok(dscp));
        }
        assert_eq!((Dscp(10).write(), Dscp(11).write()), (json!("AF11"), json!(11)));
    }

    #[test]
    fn other_values_than_codepoints_are_refused() {
        for (value, says) in
            [(json!("AF14"), "did you mean AF1"), (json!(64), "0 to 63"), (json!(1.5), "0 to 63")]
        {
            let e = read(value).unwrap_err();
            assert!(e.starts_with("flow.dscp: ") && e.contains(says), "{e}");
        }
    }
}
