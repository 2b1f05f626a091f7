//! Random parameters of an endpoint, drawn from the schema, so that what is new is drawn too.

use std::fmt;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tcp::Tcp;
use units::Read;

/// Parameters, and the JSON they were read from.
#[derive(Clone)]
pub struct Drawn {
    pub tcp: Tcp,
    pub from: Value,
}

impl fmt::Debug for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.from)
    }
}

/// 10^4 cases, or as many as PROPTEST_CASES says; `make nightly` asks for 10^6.
pub fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 10_000 };
    ProptestConfig { cases, max_shrink_iters: 20_000, failure_persistence: None, ..default }
}

/// The values that a word or a yes-or-no may take, and the names of kinds.
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

/// Each parameter that is a choice, and its choices.
pub fn words() -> Vec<(String, Vec<Value>)> {
    let schema = Tcp::schema();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let all = properties.into_iter().map(|(k, s)| (k, choices(&s)));
    all.filter(|(_, c)| c.len() > 1).collect()
}

/// Every congestion control is drawn, and every recovery.
#[test]
fn the_choices_are_drawn() {
    let words = words();
    let of = |key: &str| words.iter().find(|w| w.0 == key).map_or(0, |w| w.1.len());
    assert!(of("congestion") > 3 && of("recovery") == 5 && of("sack") == 2, "{words:?}");
}

fn ms(n: u64) -> Value {
    json!(format!("{n} ms"))
}

fn packets(n: u64) -> Value {
    json!(format!("{n} packets"))
}

/// Parameters of one end; they shrink to the defaults.
pub fn parameters() -> impl Strategy<Value = Drawn> {
    let words = words();
    let chosen = prop::collection::vec(prop::option::of(0usize..1000), words.len());
    let sizes = (100u64..3000, prop_oneof![2u64..60, Just(400u64)], 1u64..20, 1u64..5, 1u64..4);
    let times = (1u64..500, 100u64..3000, 1u64..1000, 1000u64..60_000, 1u64..200);
    let more = (prop::option::of(1u64..40), 0u64..20, prop::bool::ANY, 0u64..200, 0u64..3000);
    (chosen, sizes, times, more).prop_map(move |(chosen, sizes, times, more)| {
        let mut map = Map::new();
        for ((key, choices), n) in words.iter().zip(chosen) {
            if let Some(n) = n {
                map.insert(key.clone(), choices[n % choices.len()].clone());
            }
        }
        let (mss, window, initial, dup, delayed) = sizes;
        map.insert("mss".into(), json!(format!("{mss} B")));
        map.insert("receive_window".into(), json!(format!("{} B", mss * window / 2)));
        if !map.contains_key("initial_window") {
            map.insert("initial_window".into(), packets(initial));
        }
        map.insert("duplicate_acks".into(), packets(dup));
        map.insert("delayed_ack".into(), packets(delayed));
        let (ack, first, least, most, tick) = times;
        map.insert("delayed_ack_timeout".into(), ms(ack));
        map.insert("rto_initial".into(), ms(first));
        map.insert("rto_min".into(), ms(least));
        map.insert("rto_max".into(), ms(most));
        map.insert("clock_granularity".into(), ms(tick));
        let (ssthresh, quick, wait, probe, msl) = more;
        if let Some(n) = ssthresh {
            map.insert("initial_ssthresh".into(), packets(n));
        }
        map.insert("quick_ack".into(), packets(quick));
        map.insert("tlp_max_ack_delay".into(), ms(probe));
        map.insert("msl".into(), ms(if wait { msl } else { 0 }));
        match Tcp::read(&Value::Object(map.clone()), "tcp") {
            Ok(tcp) => Drawn { tcp, from: Value::Object(map) },
            Err(e) => panic!("{e}: {map:?}"),
        }
    })
}
