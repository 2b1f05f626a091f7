//! What holds for every run.

mod common;

use common::{TWO_DOWNLOADS, digest, numbers, outcome, scenario};
use lab::{Failure, Format, Watch, read, run};
use proptest::prelude::*;

/// The digests of a few scenarios. A change here is a change of results: the changelog says why.
/// The Python tests hold the release build against the same file.
#[test]
fn digests_are_unchanged() {
    let listed = include_str!("digests.txt");
    let mut found = String::new();
    for line in listed.lines() {
        let (_, changes) = line.split_once(' ').unwrap();
        let pairs: Vec<(&str, &str)> = changes.split(';').filter_map(|c| c.split_once('=')).collect();
        found += &format!("{} {changes}\n", digest(&outcome(TWO_DOWNLOADS, &pairs)));
    }
    assert_eq!(found, listed, "found:\n{found}");
}

#[test]
fn the_seed_and_only_the_seed_decides() {
    let with = |seed| digest(&outcome(TWO_DOWNLOADS, &[("seed", seed)]));
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

/// Sampling looks and changes nothing: the tables of flows and links stay the same.
#[test]
fn sampling_changes_nothing() {
    let plain = outcome(TWO_DOWNLOADS, &[]);
    let sampled = outcome(
        TWO_DOWNLOADS,
        &[("record.interval", "7 ms"), ("record.series", r#"["queue", "window", "drops", "marks"]"#)],
    );
    assert_eq!(plain.tables[..], sampled.tables[..2]);
    assert_eq!(sampled.tables.len(), 6);
    let marks = numbers(&sampled, "marks", "time_s").len() as f64;
    assert_eq!(marks, numbers(&plain, "flows", "marked_packets").iter().sum::<f64>());
}

#[test]
fn ecn_marks_instead_of_dropping() {
    let changes = |ecn| {
        [
            ("flows.0.traffic.size", "\"8 MiB\""),
            ("tcp.ecn", ecn),
            ("network.queue.limit", "\"500 packets\""),
            ("tcp.receive_window", "\"65535 B\""),
        ]
    };
    let with = outcome(TWO_DOWNLOADS, &changes("\"rfc3168\""));
    let without = outcome(TWO_DOWNLOADS, &changes("\"off\""));
    let sum = |o, column| numbers(o, "flows", column).iter().sum::<f64>();
    assert!(sum(&with, "marked_packets") > 0.0 && sum(&with, "ecn_reductions") > 0.0);
    assert!(sum(&without, "marked_packets") == 0.0 && sum(&without, "dropped_packets") > 0.0);
    assert_eq!(sum(&with, "ecn"), 2.0);
}

/// ECN is used only if both ends want it (RFC 3168 §6.1.1).
#[test]
fn ecn_is_negotiated() {
    for (sender, receiver, both) in
        [("rfc3168", "off", 0.0), ("off", "rfc3168", 0.0), ("rfc3168", "rfc3168", 1.0)]
    {
        let (sender, receiver) = (format!("\"{sender}\""), format!("\"{receiver}\""));
        let o =
            outcome(TWO_DOWNLOADS, &[("flows.0.tcp.ecn", &sender), ("flows.0.receiver_tcp.ecn", &receiver)]);
        assert_eq!(numbers(&o, "flows", "ecn"), [both; 2]);
    }
}

#[test]
fn a_run_can_be_cancelled() {
    let endless = [("flows.0.traffic", r#"{ kind = "bulk" }"#), ("duration", "\"10000000 s\"")];
    let scenario = scenario(TWO_DOWNLOADS, &endless).unwrap();
    let watch = Watch::default();
    watch.cancel();
    assert_eq!(run(&scenario, &watch).unwrap_err(), Failure::Cancelled);
}

/// Phase breaking leaves few ties; without it most events of this symmetric network share their instant.
#[test]
fn ties_are_counted_and_broken() {
    let tie_share = |phase: &str| {
        let o = outcome(
            TWO_DOWNLOADS,
            &[
                ("phase_breaking.start", phase),
                ("phase_breaking.delay", phase),
                ("network.delay", "\"20 ms\""),
            ],
        );
        o.ties as f64 / o.events as f64
    };
    let broken = tie_share("\"1 ms\"");
    assert!(broken < 0.02, "{broken}");
}

/// A queue of any kind, dropping and marking where it may.
fn any_kind() -> impl Strategy<Value = String> {
    let kinds = vec![
        r#"kind = "tc_red", max = "20 kB", burst = "20 packets""#,
        r#"kind = "adaptive_red", interval = "50 ms""#,
        r#"kind = "self_configuring_red", wq = 0.1"#,
        r#"kind = "nonlinear_red", wq = 0.1"#,
        r#"kind = "wred", wq = 0.1, precedences = [{ minth = "2 packets", maxth = "6 packets" }]"#,
        r#"kind = "rio", wq = 0.1, out_minth = "2 packets", out_maxth = "6 packets""#,
        r#"kind = "fred", minth = "2 packets", wq = 0.1"#,
        r#"kind = "sred", pmax = 1.0, zombies = 10"#,
        r#"kind = "threshold", threshold = "3 packets""#,
        r#"kind = "blue", freeze_time = "1 ms""#,
        r#"kind = "sfb", increment = 0.05, bins = 3"#,
        r#"kind = "rem", gamma = 0.1, target = "2 packets""#,
        r#"kind = "pi", a = 0.01, b = 0.009, qref = "3 packets""#,
        r#"kind = "avq", virtual_buffer = "5 kB""#,
        r#"kind = "pie", max_burst = "15 ms""#,
        r#"kind = "pie_enhanced", max_burst = "15 ms", tail_drop = "9 kB""#,
        r#"kind = "pi2""#,
        r#"kind = "choke", minth = "1 packet", maxth = "6 packets", wq = 0.1"#,
        r#"kind = "codel", interval = "20 ms""#,
        r#"kind = "fq_codel", interval = "20 ms", flows = 3, packet_limit = "8 packets""#,
        r#"kind = "drop_tail", drop_from = "front""#,
        r#"kind = "red", wq = 0.1, drop_from = "random", mark_at = "head""#,
        r#"kind = "threshold", threshold = "3 packets", drop_from = "longest-flow", mark_at = "head""#,
        r#"kind = "pi", a = 0.01, b = 0.009, qref = "3 packets", mark_at = "head""#,
    ];
    let limit = prop_oneof![Just("5 packets"), Just("30 packets"), Just("20 kB")];
    (prop::sample::select(kinds), limit)
        .prop_map(|(kind, limit)| format!(r#"{{ {kind}, limit = "{limit}" }}"#))
}

/// A random network: a chain of routers with hosts, small buffers, any law, flows both ways.
fn random_network() -> impl Strategy<Value = String> {
    let queue = prop_oneof![
        (prop_oneof![1u32..40, Just(1000)], prop::bool::ANY).prop_map(|(limit, system)| {
            let counts = if system { "waiting-and-in-service" } else { "waiting" };
            format!(r#"{{ kind = "drop_tail", limit = "{limit} packets", limit_counts = "{counts}" }}"#)
        }),
        (1u32..40, 1u32..10, prop::sample::select(vec!["uniform", "geometric", "wait"]), prop::sample::select(vec!["mark", "drop"]), prop::bool::ANY)
            .prop_map(|(limit, minth, spacing, above, gentle)| format!(
                r#"{{ kind = "red", limit = "{limit} packets", minth = "{minth} packets", maxth = "{} packets", wq = 0.1, maxp = 0.3, spacing = "{spacing}", above_maxth = "{above}", gentle = {gentle} }}"#,
                minth * 3
            )),
    ];
    let queue = prop_oneof![2 => queue, 3 => any_kind()];
    let link = (queue, 50u32..5000, 0u32..40_000);
    let flow = (
        0usize..5,
        0usize..5,
        1u32..60_000,
        0u32..2_000_000,
        prop::bool::ANY,
        prop::sample::select(vec!["rfc6298", "jacobson1988"]),
    );
    (prop::collection::vec(link, 4), prop::collection::vec(flow, 1..6), 0u64..1000).prop_map(|(links, flows, seed)| {
        let links: Vec<String> = links
            .into_iter()
            .enumerate()
            .map(|(i, (queue, kbits, us))| format!(
                r#"{{ from = "n{i}", to = "n{}", rate = "{kbits} kbit/s", delay = "{us} us", queue = {queue}, reverse_queue = {queue} }}"#, i + 1
            ))
            .collect();
        let flows: Vec<String> = flows
            .into_iter()
            .filter(|f| f.0 != f.1)
            .chain([(0, 4, 10_000, 0, true, "rfc6298")])
            .map(|(a, b, size, start, ecn, rto)| format!(
                r#"{{ from = "n{a}", to = "n{b}", start = "{start} us", traffic = {{ kind = "bulk", size = "{size} B" }}, tcp = {{ ecn = "{}", rto_estimator = "{rto}" }} }}"#,
                if ecn { "rfc3168" } else { "off" }
            ))
            .collect();
        format!("seed = {seed}\nnetwork = {{ kind = \"graph\", links = [{}] }}\nflows = [{}]", links.join(", "), flows.join(", "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// On random networks every ledger balances (a run checks them all), every transfer ends with
    /// every byte acknowledged, the same run gives the same tables, and so does one that takes no
    /// hop for a mere delay.
    #[test]
    fn every_transfer_ends_and_every_ledger_balances(text in random_network()) {
        let scenario = read(&text, Format::Toml, &[]).unwrap();
        let first = run(&scenario, &Watch::default());
        prop_assert!(first.is_ok(), "{:?}\n{text}", first.err());
        let first = first.unwrap();
        for (acked, sent) in numbers(&first, "flows", "acked_bytes").iter().zip(numbers(&first, "flows", "bytes_sent")) {
            prop_assert!(*acked > 0.0 && sent >= *acked);
        }
        prop_assert_eq!(digest(&first), digest(&run(&scenario, &Watch::default()).unwrap()));

        // With every queue sampled no hop is passed over: each is simulated, and nothing changes.
        let every_hop = read(&format!("record = {{ series = [\"queue\"] }}\n{text}"), Format::Toml, &[]).unwrap();
        let every_hop = run(&every_hop, &Watch::default()).unwrap();
        prop_assert_eq!(&first.tables[..], &every_hop.tables[..2]);
        prop_assert!(every_hop.events >= first.events);
    }
}
