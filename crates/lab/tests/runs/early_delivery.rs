//! Tests of early delivery, an optimization in which an endpoint receives a packet before the
//! simulation reaches the arrival time of the packet. Early delivery changes only the number of
//! events.

use crate::common::TCP;
use lab::{Failure, Format, Outcome, Watch, read, run};
use proptest::prelude::*;

const QUEUES: [&str; 8] = [
    r#"{ kind = "drop_tail", limit = "7 packets" }"#,
    r#"{ kind = "drop_tail", limit = "1000 packets" }"#,
    r#"{ kind = "drop_tail", limit = "9 kB" }"#,
    r#"{ kind = "drop_tail", drop_from = "front", limit = "12 packets" }"#,
    r#"{ kind = "red", limit = "40 packets", minth = "3 packets", maxth = "9 packets", wq = 0.1, maxp = 0.3 }"#,
    r#"{ kind = "pie", limit = "60 packets" }"#,
    r#"{ kind = "codel", limit = "60 packets" }"#,
    r#"{ kind = "drr", classes = [{ queue = { kind = "drop_tail", limit = "20 packets" } }] }"#,
];

/// Queues of the access links. Some queues of access links drop packets of the host that they
/// serve.
const ACCESS: [&str; 4] = [
    r#"{ kind = "drop_tail", limit = "100000 packets" }"#,
    r#"{ kind = "drop_tail", limit = "5 packets" }"#,
    r#"{ kind = "red", limit = "20 packets", minth = "3 packets", maxth = "9 packets", wq = 0.1, maxp = 0.3 }"#,
    r#"{ kind = "codel", limit = "30 packets" }"#,
];

const WIRES: [&str; 4] = [
    "[]",
    r#"[{ kind = "loss", probability = 0.05 }]"#,
    r#"[{ kind = "bit_errors", rate = 1e-5 }]"#,
    r#"[{ kind = "jitter", mean = "3 ms" }]"#,
];

/// Strategy of random dumbbells. Most hosts have a single flow, and TCP aborts some of the
/// connections.
fn random_dumbbell() -> impl Strategy<Value = String> {
    let pick = |of: &'static [&'static str]| prop::sample::select(of);
    let network = (pick(&QUEUES), pick(&QUEUES), pick(&ACCESS), pick(&WIRES), 200u32..20_000, 0u32..30_000);
    let access = (500u32..50_000, 500u32..50_000, 0u32..20_000);
    let control = prop::sample::select(vec![
        "",
        "congestion = \"cubic\"\n",
        "congestion = \"bbr\"\n",
        "congestion = \"vegas\"\n",
    ]);
    let flow = (1u32..80_000, 0u32..1_000_000, pick(&TCP), control, any::<bool>());
    let flows = prop::collection::vec(flow, 1..6);
    let duration = prop_oneof![Just(None), (1u32..4000).prop_map(Some)];
    (network, access, flows, duration, 0u64..1000, 0usize..8).prop_map(|(network, access, flows, duration, seed, shared)| {
        let (queue, reverse, hosts, wire, kbits, us) = network;
        let (left, right, delay) = access;
        let n = flows.len();
        let flows: Vec<String> = flows
            .into_iter()
            .enumerate()
            .map(|(i, (size, start, tcp, control, aborts))| {
                let control = if tcp.contains("rack") || control != "congestion = \"bbr\"\n" { control } else { "" };
                let control = control.trim_end();
                let comma = if control.is_empty() { "" } else { ", " };
                let retries = if aborts { "connection.retries = 3, connection.syn_retries = 2" } else { "connection.retries = 250, connection.syn_retries = 100" };
                let (from, to) = if shared == 0 { (0, i / 2) } else { (i, i) };
                format!(r#"{{ from = "left-{from}", to = "right-{to}", start = "{start} us", traffic = {{ kind = "bulk", size = "{size} B" }}, tcp = {{ {tcp}, {retries}{comma}{control} }} }}"#)
            })
            .collect();
        let duration = duration.map_or(String::new(), |ms| format!("duration = \"{ms} ms\"\n"));
        format!(
            r#"seed = {seed}
{duration}flows = [{}]
[network]
kind = "dumbbell"
rate = "{kbits} kbit/s"
delay = "{us} us"
queue = {queue}
reverse = {{ queue = {reverse} }}
access_queue = {hosts}
impairments = {wire}
left_hosts = {n}
left_rate = "{left} kbit/s"
left_delay = "{delay} us"
right_hosts = {n}
right_rate = "{right} kbit/s"
right_delay = {{ first = "1 ms", last = "{delay} us" }}
"#,
            flows.join(", ")
        )
    })
}

/// Return a proptest configuration with 300 cases, or with the number of cases in the environment
/// variable PROPTEST_CASES.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 300 };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

/// Run the scenario `text` and return the result of the run.
fn outcome_of(text: &str) -> Result<Outcome, Failure> {
    run(&read(text, Format::Toml, &[]).unwrap(), &Watch::default())
}

/// Series that a run can record with early delivery.
const RECORDED: &str = r#""drops", "marks", "delays", "waits", "packet_delays", "flow_delays", "transfers", "requests", "why", "why_cwnd""#;

/// If each host has a single flow, early delivery saves about half of the events, with and without
/// series of links. A run that records the series `window` delivers no packets early.
#[test]
fn early_delivery_saves_events_for_hosts_with_one_flow() {
    let text = r#"
        duration = "5 s"
        flows = [{ count = 2, from = "left-{i}", to = "right-{i}", traffic = "bulk" }]
        network = { kind = "dumbbell", rate = "5 Mbit/s", delay = "5 ms", queue = { kind = "drop_tail", limit = "20 packets" },
            left_hosts = 2, left_rate = "50 Mbit/s", left_delay = "3 ms", right_hosts = 2, right_rate = "50 Mbit/s", right_delay = "3 ms" }
    "#;
    let events =
        |record: &str| outcome_of(&format!("record.series = [{record}]\n{text}")).unwrap().events as f64;
    assert_eq!(events(RECORDED), events(""));
    assert!(events("") < 0.6 * events("\"window\""), "{} of {}", events(""), events("\"window\""));
}

proptest! {
    #![proptest_config(cases())]

    /// In a run that records the series `window`, the arrival of each packet at its host is an
    /// event. All tables except `window` are equal to the tables of a run with early delivery.
    #[test]
    fn early_delivery_leaves_tables_unchanged(text in random_dumbbell()) {
        let recording = |more: &str| {
            outcome_of(&format!("record = {{ series = [{RECORDED}{more}], interval = \"10 s\" }}\n{text}"))
        };
        let early = recording("");
        let by_event = recording(", \"window\"");
        match (early, by_event) {
            (Ok(early), Ok(by_event)) => {
                let text_of = |o: &Outcome| o.tables[..early.tables.len()].iter().map(|t| format!("{t:?}")).collect::<Vec<_>>();
                prop_assert_eq!(early.end, by_event.end, "{}", text);
                prop_assert_eq!(text_of(&early), text_of(&by_event), "{}", text);
                prop_assert!(early.events <= by_event.events);
            }
            (early, by_event) => prop_assert_eq!(early.err(), by_event.err(), "{}", text),
        }
    }
}

/// Shortly before the end of the run, the run also checks its packet counters. Early delivery stops
/// at the time of each check, so that the counters of the queue agree with the packets at the
/// bottleneck.
#[test]
fn early_delivery_stops_at_a_check_of_the_counters() {
    let run_for = |ms: u32| {
        outcome_of(&format!(
            "duration = '{ms} ms'\n\
             network = {{ kind = 'dumbbell', rate = '20 Mbit/s', delay = '100 ms', left_rate = '1 Gbit/s',\n\
             left_delay = '1 ms', right_rate = '1 Gbit/s', right_delay = '1 ms',\n\
             queue = {{ kind = 'drop_tail', limit = '1000 packets' }} }}\n\
             flows = [{{ from = 'left-0', to = 'right-0', traffic = 'bulk' }}]\n\
             tcp = {{ receive_window = '10 MB' }}"
        ))
    };
    for ms in (2000..4500).step_by(23) {
        let outcome = run_for(ms);
        assert!(outcome.is_ok(), "{ms} ms: {:?}", outcome.err());
    }
}
