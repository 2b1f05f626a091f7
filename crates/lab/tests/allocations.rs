//! Nothing is allocated a packet in steady state, whichever the variant of TCP: a run twice as long allocates
//! no more than about once for each loss more, for what waits behind the gap. What is in flight grows in steps.

mod common;

use common::numbers;
use lab::{Format, Outcome, Watch, read, run};

const DUMBBELL: &str = r#"
    network = { kind = "dumbbell", rate = "50 Mbit/s", delay = "5 ms", left_hosts = 10, right_hosts = 10,
        left_rate = "1 Gbit/s", left_delay = "1 ms", right_rate = "1 Gbit/s", right_delay = { first = "1 ms", last = "20 ms" },
        queue = { kind = "drop_tail", limit = "150 packets" } }
    flows = [{ count = 10, from = "left-{i}", to = "right-{i}", traffic = "bulk" }]
    tcp = { receive_window = "10 MB" }
"#;

/// A run of so many seconds: what came of it, and how often it allocated.
fn allocations(changes: &[(String, String)], seconds: u32) -> (Outcome, u64) {
    let mut changes = changes.to_vec();
    changes.push(("duration".into(), format!("{seconds} s")));
    let scenario = read(DUMBBELL, Format::Toml, &changes).unwrap_or_else(|e| panic!("{e}"));
    let mut outcome = None;
    let counted = allocation_counter::measure(|| outcome = Some(run(&scenario, &Watch::default()).unwrap()));
    (outcome.unwrap(), counted.count_total)
}

#[test]
fn no_variant_allocates_a_packet() {
    let variants: toml::Table = include_str!("../../../benches/variants.toml").parse().unwrap();
    for (name, changes) in &variants {
        let value = |v: &toml::Value| v.as_str().unwrap().to_string();
        let changes: Vec<_> =
            changes.as_table().unwrap().iter().map(|(k, v)| (k.clone(), value(v))).collect();
        let [(short, before), (long, after)] = [10, 20].map(|s| allocations(&changes, s));
        let more = |table, column| {
            let [a, b]: [f64; 2] = [&short, &long].map(|o| numbers(o, table, column).iter().sum());
            b - a
        };
        let (packets, lost) = (more("flows", "packets_sent"), more("links", "dropped_packets"));
        println!("{name}: {} allocations for {packets} packets, {lost} lost", after - before);
        assert!(packets > 20_000.0, "{name}: {packets}");
        assert!((after - before) as f64 <= 100.0 + lost, "{name}");
    }
}
