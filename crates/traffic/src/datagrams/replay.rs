//! Datagrams from a trace.

use engine::Stream;
use units::file::{lines, read_text};
use units::param::{Invalid, Json};
use units::{Bytes, Duration, Range, Read, params};

use super::emitter::{Common, Datagrams, Field, Gaps, HEADERS};

params! {
    /// Datagrams from a trace, which gives the time and the payload of each packet. The sender
    /// ignores losses.
    pub struct Replay: "replay" {
        /// Trace of the packets, in order of time: the name of a text file, or a list of pairs such
        /// as [[0.1, 500], …]. Each line of the file, or each pair of the list, has a time in
        /// seconds since the start of the flow and a payload in bytes. In a trace file, the text
        /// after # is a comment. File names are relative to the folder in which aqmlab runs.
        trace: Trace = required, in Range::ANY, from "";
        /// Size of the IP and UDP headers of each packet.
        headers: Bytes = (HEADERS), in Range::between(1.0, 1000.0), from "rfc791 §3.1, rfc768: 20 B and 8 B";
        /// ECN field of each packet.
        ecn: Field = (Field::NotEct), in Range::ANY, from "rfc3168 §5";
    }
}

impl Datagrams for Replay {
    fn common(&self) -> Common {
        let packets = self.trace.packets();
        let payloads = packets.iter().map(|&(_, payload)| payload);
        Common {
            payloads: payloads.fold([u16::MAX, 0], |[least, largest], p| [least.min(p), largest.max(p)]),
            headers: self.headers.0 as u16,
            ecn: self.ecn.ecn(),
            packets: Some(packets.len() as u64),
            lasts: None,
        }
    }

    fn gaps(&self, _: Stream) -> Box<dyn Gaps> {
        Box::new(Played { packets: self.trace.packets().to_vec(), next: 0 })
    }
}

/// A trace of packets, and the number of packets that were already sent.
#[derive(Debug)]
struct Played {
    packets: Vec<(Duration, u16)>,
    next: usize,
}

impl Gaps for Played {
    fn next_packet(&mut self) -> Option<(Duration, u16)> {
        let &(time, payload) = self.packets.get(self.next)?;
        let before = self.next.checked_sub(1).map_or(Duration::ZERO, |last| self.packets[last].0);
        self.next += 1;
        Some((Duration(time.0 - before.0), payload))
    }
}

/// Trace of at least one packet: the times and payloads of its packets, in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace(Vec<(Duration, u16)>);

/// Maximum payload in bytes, and maximum time in seconds, of a packet in a trace.
const MAX_SIZE: f64 = 60_000.0;
const MAX_TIME: f64 = 1e7;

impl Trace {
    fn of(pairs: impl Iterator<Item = Result<[f64; 2], String>>) -> Result<Self, String> {
        let mut packets: Vec<(Duration, u16)> = Vec::new();
        for pair in pairs {
            let [time, payload] = pair?;
            if !(0.0..=MAX_TIME).contains(&time) {
                return Err(format!("the time {time} must be between 0 and {MAX_TIME} s"));
            }
            if !(1.0..=MAX_SIZE).contains(&payload) || payload.fract() != 0.0 {
                return Err(format!(
                    "the payload {payload} must be a whole number between 1 and {MAX_SIZE} B"
                ));
            }
            let time = Duration::from_seconds(time);
            if packets.last().is_some_and(|last| time < last.0) {
                return Err(format!(
                    "the time {} s is before the time of the previous packet",
                    time.seconds()
                ));
            }
            packets.push((time, payload as u16));
        }
        if packets.is_empty() { Err("it is empty".into()) } else { Ok(Trace(packets)) }
    }

    /// Return the times and payloads of the packets in the trace.
    pub fn packets(&self) -> &[(Duration, u16)] {
        &self.0
    }
}

fn line((number, line): (usize, &str)) -> Result<[f64; 2], String> {
    let wrong = || format!("line {number} is not a time and a payload");
    let mut words = line.split_whitespace().map(|word| word.parse::<f64>().map_err(|_| wrong()));
    match (words.next(), words.next(), words.next()) {
        (Some(time), Some(payload), None) => Ok([time?, payload?]),
        _ => Err(wrong()),
    }
}

impl Read for Trace {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if let Some(name) = value.as_str() {
            let text = read_text(name, path)?;
            return Trace::of(lines(&text).map(line))
                .map_err(|e| Invalid::new(path, value, format!("is not a trace: {e}")));
        }
        let list = value
            .as_array()
            .ok_or_else(|| Invalid::new(path, value, "must be the name of a file or a list"))?;
        let pair = |(i, pair): (usize, &Json)| match pair.as_array().map(Vec::as_slice) {
            Some([a, b]) => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => Ok([a, b]),
                _ => Err(format!("element {i} is not a pair of numbers")),
            },
            _ => Err(format!("element {i} is not a pair of numbers")),
        };
        Trace::of(list.iter().enumerate().map(pair))
            .map_err(|e| Invalid::at(path, format!("is not a trace: {e}")))
    }
    fn write(&self) -> Json {
        self.0.iter().map(|(time, payload)| serde_json::json!([time.seconds(), payload])).collect()
    }
    fn schema() -> Json {
        let pair =
            serde_json::json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2});
        serde_json::json!({"anyOf": [{"type": "string"}, {"type": "array", "items": pair}]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn traces_are_read_from_text_and_lists() {
        let text = "# made by hand\n0 100\n\n 0.5\t1400 # the second\n0.5 40\n";
        let trace = Trace::of(lines(text).map(line)).unwrap();
        assert_eq!(trace, Trace::read(&json!([[0, 100], [0.5, 1400], [0.5, 40]]), "").unwrap());
        assert_eq!(Trace::read(&trace.write(), "").unwrap(), trace);
    }

    #[test]
    fn an_error_in_a_trace_names_its_line() {
        let e = |text: &str| Trace::of(lines(text).map(line)).unwrap_err();
        assert!(e("0 100\n1").contains("line 2 is not"));
        assert!(e("0 100 7").contains("line 1 is not"));
        assert!(e("nan 100").contains("NaN must be between"));
        assert!(e("1 100\n0.5 100").contains("before the time of the previous"));
        assert!(e("1 0").contains("payload 0"));
        assert!(e("1 1e99").contains("payload"));
        assert!(e("# nothing\n").contains("is empty"));
        let e = |v| Trace::read(&v, "x").unwrap_err().to_string();
        assert!(e(json!([[1, 2, 3]])).contains("x: is not a trace: element 0"));
        assert!(e(json!("/nowhere/at/all")).contains("cannot be read"));
        assert!(e(json!("/")).contains("instead of a file"));
        assert!(e(json!(3)).contains("the name of a file or a list"));
    }
}
