//! Allocations of runs. In steady state, packets cause no memory allocations, for every variant of
//! TCP. If the duration of a run doubles, each additional lost segment may cause about one more
//! allocation, because the receiver stores the data after the lost segment. The list of segments in
//! flight also grows, in steps.

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

/// Run the scenario for `seconds` seconds, and return the result and the number of memory
/// allocations.
fn run_counting_allocations(changes: &[(String, String)], seconds: u32) -> (Outcome, u64) {
    let mut changes = changes.to_vec();
    changes.push(("duration".into(), format!("{seconds} s")));
    let scenario = read(DUMBBELL, Format::Toml, &changes).unwrap_or_else(|e| panic!("{e}"));
    let mut outcome = None;
    let counted = allocation_counter::measure(|| outcome = Some(run(&scenario, &Watch::default()).unwrap()));
    (outcome.unwrap(), counted.count_total)
}

#[test]
fn packets_cause_no_allocations_in_any_variant() {
    let variants: toml::Table = include_str!("../../../benches/variants.toml").parse().unwrap();
    for (name, changes) in &variants {
        let value = |v: &toml::Value| v.as_str().unwrap().to_string();
        let changes: Vec<_> =
            changes.as_table().unwrap().iter().map(|(k, v)| (k.clone(), value(v))).collect();
        let [(short, before), (long, after)] = [10, 20].map(|s| run_counting_allocations(&changes, s));
        let increase = |table, column| {
            let [a, b]: [f64; 2] = [&short, &long].map(|o| numbers(o, table, column).iter().sum());
            b - a
        };
        let (packets, lost) = (increase("flows", "packets_sent"), increase("links", "dropped_packets"));
        println!("{name}: {} allocations for {packets} packets, of which {lost} were lost", after - before);
        assert!(packets > 20_000.0, "{name}: the longer run sent only {packets} packets more");
        assert!((after - before) as f64 <= 100.0 + lost, "{name}: {} allocations", after - before);
    }
}
