//! Properties that every kind of impairment must have. The tests read the kinds from the table of
//! impairments, so that each new kind is tested automatically.

use engine::Stream;
use impairments::{Impairment, Wire, Witness};
use net::{Explanation, Fate, Packet, Probe};
use serde_json::{Map, Value, json};
use units::{Duration, Read, Time};

const PACKETS: u32 = 300;

/// Return the example values that are tried for each key. Each kind of impairment is tested with
/// every combination of the example values that it accepts.
fn values() -> Vec<Value> {
    let mut values = vec![Value::Null, json!(0.3), json!(1), json!(3), json!("5 ms"), json!([2, 5, 9])];
    values.extend(["constant", "uniform", "exponential", "keep", "any"].map(Value::from));
    values
}

/// Return one impairment for each combination of example values that a kind accepts.
fn examples(kind: &str) -> Vec<Impairment> {
    let mut tables = vec![Map::from_iter([("kind".to_string(), Value::from(kind))])];
    for key in Impairment::keys_of(kind).unwrap() {
        let with = |table: &Map<String, Value>, value: Value| {
            let mut table = table.clone();
            if !value.is_null() {
                table.insert(key.to_string(), value);
            }
            table
        };
        // Remove a table only if the error is about the key that was just added. Other required
        // keys may still be missing in the table.
        let accepts = |table: &Map<String, Value>| {
            let error = Impairment::read(&Value::Object(table.clone()), "x").err();
            error.is_none_or(|e| !e.to_string().starts_with(&format!("x.{key}")) || !table.contains_key(*key))
        };
        tables = tables.iter().flat_map(|t| values().into_iter().map(|v| with(t, v))).collect();
        tables.retain(accepts);
    }
    tables.into_iter().filter_map(|table| Impairment::read(&Value::Object(table), "x").ok()).collect()
}

/// Record of the packets that the wire lost.
#[derive(Default)]
struct Lost(u64);

impl Probe for Lost {
    fn fate(&mut self, _: Time, fate: &Fate, _: Option<&Explanation>) {
        self.0 += u64::from(matches!(fate, Fate::Dropped(..)));
    }
}

impl Witness for Lost {
    fn copy(&mut self, packet: &Packet) -> Packet {
        *packet
    }
}

/// Send packets one millisecond apart, and return the number and the time of each packet that
/// leaves the wire.
fn leaving(impairment: &Impairment) -> Vec<(u32, Time)> {
    let mut wire = Wire::new(std::slice::from_ref(impairment), |_, _| Stream::new(1, "every kind"));
    let (mut lost, mut left) = (Lost::default(), Vec::new());
    let arrival = |n: u32| Time::ZERO + Duration::from_millis(u64::from(n));
    for n in 0..=PACKETS {
        let end = if n < PACKETS { arrival(n) } else { Time::NEVER };
        while wire.due() < end {
            let now = wire.due();
            let packet = wire.deliver(now).unwrap().packet;
            left.push((packet.segment.seq.0, now));
        }
        if n < PACKETS {
            let mut packet = Packet { size: 40 + (n % 1461) as u16, ..Packet::default() };
            packet.segment.seq.0 = n;
            wire.receive(end, packet, &mut lost);
        }
        wire.check().unwrap();
    }
    let counts = *wire.counts().next().unwrap();
    assert_eq!(counts.seen, u64::from(PACKETS));
    assert_eq!(counts.lost, lost.0);
    assert_eq!(counts.seen + counts.doubled, counts.lost + left.len() as u64);
    assert!(impairment.duplicates() || counts.doubled == 0, "{impairment:?} must declare DUPLICATES");
    assert!(left.is_sorted_by_key(|(_, at)| *at));
    assert!(left.iter().all(|(n, at)| *at >= arrival(*n)), "{impairment:?} delivers too early");
    left
}

#[test]
fn every_kind_conserves_packets_and_repeats_itself() {
    let undisturbed: Vec<_> =
        (0..PACKETS).map(|n| (n, Time::ZERO + Duration::from_millis(u64::from(n)))).collect();
    for page in Impairment::pages() {
        let kind = page["name"].as_str().unwrap();
        let examples = examples(kind);
        assert!(
            !examples.is_empty(),
            "{kind}: no combination of example values is accepted; add a value for each key of the kind to values()"
        );
        let mut acts = kind == "corruption"; // it changes neither the number nor the time of packets
        for impairment in examples {
            assert_eq!(impairment.name(), kind);
            assert_eq!(Impairment::read(&impairment.write(), "").unwrap(), impairment);
            let left = leaving(&impairment);
            assert_eq!(
                left,
                leaving(&impairment),
                "{impairment:?} gives different results in two runs with the same seed"
            );
            acts |= left != undisturbed;
        }
        assert!(acts, "{kind} has no effect on any packet with any of the example values");
    }
}
