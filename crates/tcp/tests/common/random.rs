//! Random parameters of an endpoint. The random choice covers all parameters in the schema, so that
//! new parameters are included.

use std::fmt;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tcp::Tcp;
use units::Read;
use units::param::join;

/// Random parameters, and the JSON from which they were read.
#[derive(Clone)]
pub struct RandomTcp {
    pub tcp: Tcp,
    pub from: Value,
}

impl fmt::Debug for RandomTcp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.from)
    }
}

/// Return the configuration of the tests. The number of cases is 10^4, or the value of the
/// environment variable PROPTEST_CASES. In `make nightly` the number of cases is 10^6.
pub fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 10_000 };
    ProptestConfig { cases, max_shrink_iters: 20_000, failure_persistence: None, ..default }
}

/// Return the possible values of a parameter: the words of a choice, the two values of a boolean,
/// or the names of kinds.
fn choices(schema: &Value) -> Vec<Value> {
    if schema["type"] == "boolean" {
        return vec![json!(true), json!(false)];
    }
    let names = [schema.get("const"), schema["properties"]["kind"].get("const")];
    let mut all: Vec<Value> = names.into_iter().flatten().filter(|n| n.is_string()).cloned().collect();
    for key in ["oneOf", "anyOf", "enum"] {
        for one in schema[key].as_array().into_iter().flatten() {
            all.extend(if one.is_string() { vec![one.clone()] } else { choices(one) });
        }
    }
    all.dedup();
    all
}

/// Return the keys of a table, if the schema describes a table. A schema with the key `kind` is
/// excluded.
fn table(schema: &Value) -> Option<&Map<String, Value>> {
    let options = schema["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
    let tables = std::iter::once(schema).chain(options).filter_map(|s| s["properties"].as_object());
    tables.into_iter().find(|keys| !keys.contains_key("kind"))
}

/// Return the path and the possible values of each parameter that has a list of possible values.
pub fn words() -> Vec<(String, Vec<Value>)> {
    fn of_table(keys: &Map<String, Value>, path: &str, all: &mut Vec<(String, Vec<Value>)>) {
        for (key, schema) in keys {
            let path = join(path, key);
            match table(schema) {
                Some(keys) => of_table(keys, &path, all),
                None => all.push((path, choices(schema))),
            }
        }
    }
    let (schema, mut all) = (Tcp::schema(), Vec::new());
    of_table(table(&schema).expect("TCP is a table"), "", &mut all);
    all.retain(|(_, choices)| choices.len() > 1);
    all
}

/// Set the value at a path.
fn put(map: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(map.insert(path.into(), value)),
        Some((table, key)) => {
            let table = map.entry(table).or_insert_with(|| json!({}));
            put(table.as_object_mut().expect("a table"), key, value);
        }
    }
}

/// The random parameters include every congestion control and every method of recovery.
#[test]
fn all_choices_are_drawn() {
    let words = words();
    let of = |key: &str| words.iter().find(|w| w.0 == key).map_or(0, |w| w.1.len());
    assert!(of("congestion") > 3 && of("recovery.method") == 5 && of("sack") == 2, "{words:?}");
}

fn ms(n: u64) -> Value {
    json!(format!("{n} ms"))
}

fn packets(n: u64) -> Value {
    json!(format!("{n} packets"))
}

/// Return a strategy for the parameters of one endpoint. When the test fails, proptest changes the
/// random parameters towards the defaults to find a simpler failing case.
pub fn parameters() -> impl Strategy<Value = RandomTcp> {
    let words = words();
    let chosen = prop::collection::vec(prop::option::of(0usize..1000), words.len());
    let sizes = (100u64..3000, prop_oneof![2u64..60, Just(400u64)], 1u64..20, 1u64..5, 1u64..4);
    let times = (1u64..500, 100u64..3000, 1u64..1000, 1000u64..60_000, 1u64..200);
    let more = (prop::option::of(1u64..40), 0u64..20, prop::bool::ANY, 0u64..200, 0u64..3000);
    (chosen, sizes, times, more).prop_map(move |(chosen, sizes, times, more)| {
        let mut map = Map::new();
        for ((key, choices), n) in words.iter().zip(chosen) {
            if let Some(n) = n {
                put(&mut map, key, choices[n % choices.len()].clone());
            }
        }
        let (mss, window, initial, dup, delayed) = sizes;
        put(&mut map, "mss", json!(format!("{mss} B")));
        put(&mut map, "receive_window", json!(format!("{} B", mss * window / 2)));
        if !map.contains_key("initial_window") {
            put(&mut map, "initial_window", packets(initial));
        }
        put(&mut map, "recovery.duplicate_acks", packets(dup));
        put(&mut map, "delayed_ack", packets(delayed));
        let (ack, first, min, max, tick) = times;
        put(&mut map, "ack.timeout", ms(ack));
        put(&mut map, "rto.initial", ms(first));
        put(&mut map, "rto.min", ms(min));
        put(&mut map, "rto.max", ms(max));
        put(&mut map, "rto.granularity", ms(tick));
        let (ssthresh, quick, wait, probe, msl) = more;
        if let Some(n) = ssthresh {
            put(&mut map, "cwnd.initial_ssthresh", packets(n));
        }
        put(&mut map, "ack.quick", packets(quick));
        put(&mut map, "recovery.max_ack_delay", ms(probe));
        put(&mut map, "connection.msl", ms(if wait { msl } else { 0 }));
        match Tcp::read(&Value::Object(map.clone()), "tcp") {
            Ok(tcp) => RandomTcp { tcp, from: Value::Object(map) },
            Err(e) => panic!("{e}: {map:?}"),
        }
    })
}
