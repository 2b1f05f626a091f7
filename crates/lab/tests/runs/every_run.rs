//! Properties of all runs.

use crate::common::{LINUX, TCP, TWO_DOWNLOADS, digest, numbers, outcome, scenario};
use lab::{Failure, Format, Outcome, Watch, read, run};
use proptest::prelude::*;

/// For each scenario in the file digests.txt, the result tables have the digest that the file
/// lists. A different digest means that results have changed, and CHANGELOG.md must explain this
/// change. The Python tests compare the digests of the release build with the file digests.txt.
#[test]
fn digests_are_unchanged() {
    let listed = include_str!("../digests.txt");
    let mut computed = String::new();
    for line in listed.lines() {
        let (_, changes) = line.split_once(' ').unwrap();
        let pairs: Vec<(&str, &str)> = changes.split(';').filter_map(|c| c.split_once('=')).collect();
        computed += &format!("{} {changes}\n", digest(&outcome(TWO_DOWNLOADS, &pairs)));
    }
    assert_eq!(computed, listed, "computed digests:\n{computed}");
}

#[test]
fn results_depend_on_the_seed_only() {
    let with = |seed| digest(&outcome(TWO_DOWNLOADS, &[("seed", seed)]));
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

/// Recording a series leaves the tables `flows` and `links` unchanged.
#[test]
fn series_leave_other_tables_unchanged() {
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

/// For every kind of queue, the series `delays` counts a packet when its transmission begins. A
/// queue that decides on the arrival of a packet computes the time of the transmission in advance.
/// A queue that stores packets cannot compute the time of a transmission in advance.
#[test]
fn delays_are_equal_for_queues_with_and_without_stored_packets() {
    let limit = r#"limit = "300 packets""#;
    let [mut on_arrival, mut stored, mut class] = [
        format!(r#"{{ kind = "drop_tail", {limit} }}"#),
        format!(r#"{{ kind = "drop_tail", drop_from = "front", {limit} }}"#),
        format!(r#"{{ kind = "priority", classes = [{{ queue = {{ kind = "drop_tail", {limit} }} }}] }}"#),
    ]
    .map(|queue| {
        let endless = [
            ("network.queue", queue.as_str()),
            ("flows.0.traffic", r#"{ kind = "bulk" }"#),
            ("duration", "\"3 s\""),
            ("record.series", r#"["delays", "waits", "packet_delays"]"#),
        ];
        outcome(TWO_DOWNLOADS, &endless)
    });
    let waiting = numbers(&on_arrival, "links", "waiting_packets");
    assert!(
        waiting.iter().any(|&n| n > 40.0),
        "at the end of the run, too few packets wait in the queue: {waiting:?}"
    );
    for outcome in [&on_arrival, &stored, &class] {
        let departed = numbers(outcome, "links", "departed_packets");
        assert_eq!(numbers(outcome, "delays", "packets"), departed);
        assert_eq!(numbers(outcome, "waits", "packets").iter().sum::<f64>(), departed.iter().sum::<f64>());
        let each = numbers(outcome, "packet_delays", "delay_s");
        assert_eq!(each.len() as f64, departed.iter().sum::<f64>());
        let longest = numbers(outcome, "delays", "longest_delay_s").into_iter().fold(0.0, f64::max);
        assert_eq!(each.into_iter().fold(0.0, f64::max), longest);
        assert!(numbers(outcome, "packet_delays", "time_s").is_sorted());
    }
    for name in ["delays", "packet_delays"] {
        let table =
            |o: &mut Outcome| o.tables.iter().position(|t| t.name == name).map(|i| o.tables.remove(i));
        let expected = table(&mut on_arrival);
        assert!(expected.is_some());
        assert_eq!(table(&mut stored), expected);
        assert_eq!(table(&mut class), expected);
    }
}

#[test]
fn flows_cross_the_links_of_their_data() {
    let of = |changes: &[(&str, &str)], links: &[&str]| {
        let links: Vec<String> = links.iter().map(|l| l.to_string()).collect();
        lab::crossing(&scenario(TWO_DOWNLOADS, changes).unwrap(), &links).unwrap()
    };
    let [forward, reverse] = of(&[], &["left>right"]);
    assert_eq!((forward[0].len(), reverse[0].len()), (2, 0));
    assert_eq!(of(&[], &["right>right-1"])[0][0].len(), 1);
    assert_eq!(of(&[], &["right>right-1", "right>right-0"]), [forward, reverse]);
    assert!(of(&[], &["right>left"])[0][0].is_empty(), "ACKs count as data");
    // Responses are data in the reverse direction.
    let requests = r#"{ kind = "request_response", request = "100 B", response = "5 kB", requests = 1 }"#;
    let [forward, reverse] = of(&[("flows.0.traffic", requests)], &["right>left"]);
    assert_eq!((forward[0].len(), reverse[0].len()), (0, 2));
}

#[test]
fn an_expanded_scenario_has_the_values_of_the_run() {
    let mut scenario = scenario(TWO_DOWNLOADS, &[("network.queue.limit", "\"50 ms\"")]).unwrap();
    let expanded = lab::expanded(&scenario).unwrap();
    assert_eq!(expanded["hosts"], serde_json::json!(["left-0", "right-0", "right-1"]));
    let link = &expanded["links"][0];
    assert_eq!((&link["name"], &link["limit_packets"]), (&"left>right".into(), &().into()));
    assert_eq!(link["limit_bytes"], link["rate_bps"].as_u64().unwrap() / 160);
    let flow = &expanded["flows"][1];
    assert_eq!(flow["forward"], serde_json::json!(["left-0>left", "left>right", "right>right-1"]));
    assert_eq!(flow["reverse"], serde_json::json!(["right-1>right", "right>left", "left>left-0"]));
    assert_eq!(expanded["tcp"][0]["sender"]["mss"], "1460 B");
    // The start times in the expanded scenario include the random offset, like the start times in
    // the table `flows`.
    scenario.seed = 5;
    let outcome = run(&scenario, &Watch::default()).unwrap();
    let of = |f: usize| lab::expanded(&scenario).unwrap()["flows"][f]["start_s"].as_f64().unwrap();
    assert_eq!(numbers(&outcome, "flows", "start_s"), [of(0), of(1)]);
    assert!(of(0) > 0.0 && of(0) != of(1));
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

/// A connection uses ECN only if both endpoints enable ECN (RFC 3168 §6.1.1).
#[test]
fn ecn_needs_both_endpoints() {
    for (sender, receiver, both) in
        [("rfc3168", "off", 0.0), ("off", "rfc3168", 0.0), ("rfc3168", "rfc3168", 1.0)]
    {
        let (sender, receiver) = (format!("\"{sender}\""), format!("\"{receiver}\""));
        let o =
            outcome(TWO_DOWNLOADS, &[("flows.0.tcp.ecn", &sender), ("flows.0.receiver_tcp.ecn", &receiver)]);
        assert_eq!(numbers(&o, "flows", "ecn"), [both; 2]);
    }
}

/// If the thresholds of an AQM are in bytes, its average queue length is in bytes, and the column
/// in packets is empty.
#[test]
fn the_average_queue_has_the_unit_of_the_thresholds() {
    for (thresholds, filled, empty) in [
        (r#"minth = "5 packets", maxth = "15 packets""#, "average_packets", "average_bytes"),
        (r#"minth = "5 kB", maxth = "15 kB""#, "average_bytes", "average_packets"),
    ] {
        let queue = format!(r#"{{ kind = "red", limit = "64 packets", {thresholds} }}"#);
        let series = [("record.series", r#"["queue"]"#), ("record.links", r#"["left>right"]"#)];
        let o = outcome(TWO_DOWNLOADS, &[&series[..], &[("network.queue", &*queue)]].concat());
        assert!(numbers(&o, "queue", filled).iter().all(|x| x.is_finite()), "{filled}");
        assert!(numbers(&o, "queue", empty).iter().all(|x| x.is_nan()), "{empty}");
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

/// With phase breaking, less than 2 % of the events of this symmetric network occur at the same
/// time as the previous event.
#[test]
fn phase_breaking_leaves_few_ties() {
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

/// Proptest strategy of queues of all kinds, with parameters that cause drops and marks.
fn any_kind() -> impl Strategy<Value = String> {
    let kinds = vec![
        r#"kind = "tc_red", max = "20 kB", burst = "20 packets""#,
        r#"kind = "tc_red", max = "20 kB", burst = "20 packets", arithmetic = "linux-2.4""#,
        r#"kind = "tc_pie", target = "1 ms", t_update = "1 ms""#,
        // With the decrement of tc, a bin of SFB that was once full drops nearly all packets for
        // hours. TCP would abort even a connection that may retransmit a segment 250 times.
        r#"kind = "tc_sfb", target = "2 packets", max = "4 packets", increment = 0.1, decrement = 0.02, rehash = "50 ms", warmup = "20 ms""#,
        r#"kind = "tc_pie", target = "1 ms", latency = "departure-rate", chance_by = "size""#,
        r#"kind = "adaptive_red", interval = "50 ms""#,
        r#"kind = "self_configuring_red", wq = 0.1"#,
        r#"kind = "nonlinear_red", wq = 0.1"#,
        r#"kind = "wred", wq = 0.1, precedences = [{ minth = "2 packets", maxth = "6 packets" }]"#,
        r#"kind = "rio", wq = 0.1, out_minth = "2 packets", out_maxth = "6 packets""#,
        r#"kind = "fred", minth = "2 packets", wq = 0.1"#,
        r#"kind = "sred", pmax = 1.0, zombies = 10"#,
        r#"kind = "threshold", threshold = "3 packets""#,
        r#"kind = "blue", freeze_time = "1 ms""#,
        r#"kind = "sfb", increment = 0.05, decrement = 0.05, bins = 3"#,
        r#"kind = "sfb", increment = 0.2, bins = 2, bin_size = "2 packets", rehash = "100 ms", warmup_after = "10 ms""#,
        r#"kind = "red_pd", target_rtt = "2 ms", lists = 2, regular = 1, minth = "1 packet", maxth = "4 packets", wq = 0.2"#,
        r#"kind = "rem", gamma = 0.1, target = "2 packets""#,
        r#"kind = "pi", a = 0.01, b = 0.009, qref = "3 packets""#,
        r#"kind = "pi", qref = "3 packets", max_rtt = "50 ms", min_flows = 20.0"#,
        r#"kind = "avq", virtual_buffer = "5 kB""#,
        r#"kind = "pie", max_burst = "15 ms", tosses = "accumulated""#,
        r#"kind = "pie_enhanced", max_burst = "15 ms", tail_drop = "9 kB""#,
        r#"kind = "pi2""#,
        r#"kind = "dualpi2", target = "5 ms""#,
        r#"kind = "dualpi2", target = "5 ms", sparing = "linux", scheduler = "ts-fifo", time_shift = "3 ms""#,
        r#"kind = "choke", minth = "1 packet", maxth = "6 packets", wq = 0.1"#,
        r#"kind = "codel", interval = "20 ms""#,
        r#"kind = "fq_codel", interval = "20 ms", flows = 3, packet_limit = "8 packets""#,
        r#"kind = "cobalt", target = "2 ms", interval = "20 ms", increment = 0.1"#,
        r#"kind = "fq_pie", target = "2 ms", max_burst = "15 ms", flows = 3, packet_limit = "8 packets""#,
        r#"kind = "fq_pie", rules = "linux", target = "2 ms", max_burst = "15 ms", flows = 3, packet_limit = "8 packets""#,
        r#"kind = "drop_tail", drop_from = "front""#,
        r#"kind = "red", wq = 0.1, drop_from = "random", mark_at = "head""#,
        r#"kind = "threshold", threshold = "3 packets", drop_from = "longest-flow", mark_at = "head""#,
        r#"kind = "pi", a = 0.01, b = 0.009, qref = "3 packets", mark_at = "head""#,
        r#"kind = "phb", ef_limit = "2 packets""#,
    ];
    let limit = prop_oneof![Just("5 packets"), Just("30 packets"), Just("20 kB"), Just("2 s")];
    (prop::sample::select(kinds), limit)
        .prop_map(|(kind, limit)| format!(r#"{{ {kind}, limit = "{limit}" }}"#))
}

/// Proptest strategy of schedulers and shapers that contain queues of all kinds. One class of each
/// scheduler is for datagrams, and some schedulers contain another scheduler.
fn any_scheduler() -> impl Strategy<Value = String> {
    // Each entry has the kind of the scheduler, the keys of its first class, and the keys of its
    // other class.
    let kinds = vec![
        ("priority", "", ""),
        ("wrr", r#"packets = 3, "#, ""),
        ("drr", r#"quantum = "3000 B", "#, ""),
        ("mdrr", r#"weight = 2, "#, ""),
        ("wfq", r#"weight = 3, "#, r#"weight = 1, "#),
        ("scfq", r#"weight = 3, "#, r#"weight = 1, "#),
        ("htb", r#"rate = "40 kbit/s", ceil = "1 Mbit/s", "#, r#"rate = "60 kbit/s", "#),
        ("cbq", r#"rate = "40 kbit/s", "#, r#"rate = "60 kbit/s", borrow = "bounded", "#),
    ];
    let flat = (prop::sample::select(kinds), any_kind(), any_kind()).prop_map(|((kind, one, rest), a, b)| {
        format!(
            r#"{{ kind = "{kind}", classes = [{{ {one}match = {{ protocol = "udp" }}, queue = {a} }}, {{ {rest}queue = {b} }}] }}"#
        )
    })
    .boxed();
    let shaped =
        (flat.clone(), prop::sample::select(vec!["100 kbit/s", "3 Mbit/s"])).prop_map(|(queue, rate)| {
            format!(r#"{{ kind = "tbf", rate = "{rate}", burst = "4 kB", queue = {queue} }}"#)
        });
    let nested = (flat.clone(), any_kind()).prop_map(|(queue, rest)| {
        format!(r#"{{ kind = "drr", classes = [{{ match = {{ dscp = "AF13" }}, queue = {queue} }}, {{ queue = {rest} }}] }}"#)
    });
    prop_oneof![3 => flat, 1 => shaped, 1 => nested, 1 => Just(r#"{ kind = "sfq", queues = 5 }"#.to_string())]
}

/// Changes that give a flow the key `arrivals`, so that the flow opens 100 connections per second.
const ARRIVALS: [(&str, &str); 4] = [
    ("flows.0.count", "1"),
    ("flows.0.arrivals", r#"{ interval = "10 ms", connections = 2000 }"#),
    ("flows.0.traffic.size", r#"{ kind = "exponential", mean = "3 kB" }"#),
    ("network.rate", "\"10 Mbit/s\""),
];

/// Each connection of a flow with `arrivals` is counted once in the totals and once in the series
/// `transfers`.
#[test]
fn connections_of_a_flow_with_arrivals_are_counted_once() {
    let changes = [&ARRIVALS[..], &[("record.series", r#"["transfers", "drops"]"#)]].concat();
    let o = outcome(TWO_DOWNLOADS, &changes);
    assert_eq!(numbers(&o, "connections", "opened"), [2000.0]);
    assert_eq!(numbers(&o, "connections", "completed"), [2000.0]);
    let acked = numbers(&o, "transfers", "acked_bytes");
    let total: f64 = acked.iter().sum();
    assert_eq!(acked.len(), 2000);
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [total]);
    assert_eq!(numbers(&o, "connections", "completed_bytes"), [total]);
    // The measured means are within six standard errors of the means of the configured
    // distributions.
    let assert_near = |mean: f64, expected: f64| {
        assert!((mean / expected - 1.0).abs() < 6.0 / 2000f64.sqrt(), "{mean} {expected}")
    };
    assert_near(total / 2000.0, 3000.0);
    let starts = numbers(&o, "transfers", "start_s");
    assert_near(starts.iter().fold(0.0, |a: f64, &b| a.max(b)) / 2000.0, 0.010);
    // The table `connections` agrees with the series `transfers`.
    let mut durations = numbers(&o, "transfers", "duration_s");
    durations.sort_by(f64::total_cmp);
    assert_near(numbers(&o, "connections", "mean_duration_s")[0], durations.iter().sum::<f64>() / 2000.0);
    for (column, rank) in [("median_duration_s", 1000), ("p90_duration_s", 1800), ("p99_duration_s", 1980)] {
        let (percentile, exact) = (numbers(&o, "connections", column)[0], durations[rank - 1]);
        assert!((percentile / exact - 1.0).abs() < 0.008, "{column} {percentile} {exact}");
    }
    assert_eq!(numbers(&o, "connections", "longest_duration_s"), [durations[1999]]);
    let drops = numbers(&o, "transfers", "dropped_packets").iter().sum::<f64>();
    assert_eq!(numbers(&o, "drops", "seq").len() as f64, drops + numbers(&o, "flows", "dropped_acks")[0]);
}

/// A run that ends during transfers also counts the open connections. An open connection has no
/// duration.
#[test]
fn open_connections_are_counted_at_the_end_of_the_run() {
    let changes = [
        &ARRIVALS[1..],
        &[
            ("duration", "\"5 s\""),
            ("record.series", r#"["transfers"]"#),
            ("flows.0.arrivals.interval", "\"1 ms\""),
        ],
    ]
    .concat();
    let o = outcome(TWO_DOWNLOADS, &changes);
    let opened = numbers(&o, "connections", "opened");
    let durations = numbers(&o, "transfers", "duration_s");
    assert_eq!(opened.len(), 2, "the two flows do not have separate arrivals");
    assert_eq!(durations.len() as f64, opened.iter().sum::<f64>());
    let completed = durations.iter().filter(|d| !d.is_nan()).count() as f64;
    assert_eq!(numbers(&o, "connections", "completed").iter().sum::<f64>(), completed);
    assert!(completed > 0.0 && durations.iter().any(|d| d.is_nan()));
    assert!(numbers(&o, "flows", "completed_s").iter().all(|t| t.is_nan()));
}

/// Another `[[flows]]` table does not change the arrival times and sizes of a flow (common random
/// numbers).
#[test]
fn arrivals_do_not_depend_on_other_flows() {
    let starts = |other_flow: &str| {
        let flows = format!(
            r#"[{other_flow}{{ name = "web", from = "left-0", to = "right-0", arrivals = {{ interval = "10 ms", connections = 50 }}, traffic = {{ kind = "bulk", size = {{ kind = "lognormal", mean = "2 kB" }} }} }}]"#
        );
        let o = outcome(TWO_DOWNLOADS, &[("flows", &flows), ("record.series", r#"["transfers"]"#)]);
        let mut starts: Vec<_> = numbers(&o, "transfers", "start_s")
            .into_iter()
            .zip(numbers(&o, "transfers", "acked_bytes"))
            .collect();
        starts.sort_by(|a, b| a.partial_cmp(b).unwrap());
        starts
    };
    let other = r#"{ name = "first", from = "left-0", to = "right-1", traffic = { kind = "bulk", size = "300 kB" } }, "#;
    assert_eq!(starts(""), starts(other));
}

/// The application writes a message of constant size in each interval. The ACK of the last message
/// arrives 30 intervals and one round trip after the start of the flow.
#[test]
fn messages_are_written_at_their_interval() {
    let o = outcome(
        TWO_DOWNLOADS,
        &[
            (
                "flows.0.traffic",
                r#"{ kind = "messages", size = "500 B", interval = "2 s", spacing = "constant", messages = 30 }"#,
            ),
            ("tcp.delayed_ack", "\"1 packet\""),
            ("phase_breaking", r#"{ start = "0 s", delay = "0 s" }"#),
        ],
    );
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [15_000.0; 2]);
    assert_eq!(numbers(&o, "flows", "segments_sent"), [30.0; 2]);
    // A message of 540 B crosses links of 10, 1.5 and 10 Mbit/s, and its ACK of 40 B crosses the
    // same links in the reverse direction. The propagation delay is 21 ms per direction. The
    // message of the second flow waits at the shared host and at the bottleneck, while the message
    // of the first flow is transmitted.
    let round_trip = 0.042 + (540.0 + 40.0) * 8.0 * (2.0 / 10e6 + 1.0 / 1.5e6);
    let completed = numbers(&o, "flows", "completed_s");
    assert!((completed[0] - 60.0 - round_trip).abs() < 1e-9, "{completed:?} {round_trip}");
    assert!(completed[1] > completed[0] && completed[1] < completed[0] + 540.0 * 8.0 / 1.5e6 + 1e-9);
}

/// With a row per `[[flows]]` table, each count is the sum over the flows of the table, and each
/// time is the latest time of these flows.
#[test]
fn rows_per_table_are_sums_of_the_flows() {
    let each = outcome(TWO_DOWNLOADS, &[]);
    let together = outcome(TWO_DOWNLOADS, &[("record.flows", "\"table\"")]);
    let max = |o, column| numbers(o, "flows", column).into_iter().fold(0.0, f64::max);
    for column in
        ["acked_bytes", "packets_sent", "dropped_packets", "marked_packets", "acks_sent", "received_bytes"]
    {
        assert_eq!(
            numbers(&together, "flows", column),
            [numbers(&each, "flows", column).iter().sum::<f64>()]
        );
    }
    for column in ["completed_s", "closed_s", "established_s"] {
        assert_eq!(numbers(&together, "flows", column), [max(&each, column)]);
    }
    assert_eq!(each.tables[1], together.tables[1]);
}

/// Impairments that are mild enough for every transfer to complete.
const IMPAIRMENTS: [&str; 14] = [
    r#"{ kind = "loss", probability = 0.05 }"#,
    r#"{ kind = "periodic_loss", every = 30, first = 7 }"#,
    r#"{ kind = "listed_loss", packets = [1, 2, 40] }"#,
    r#"{ kind = "gilbert_elliott", good_to_bad = 0.02, bad_to_good = 0.5 }"#,
    r#"{ kind = "bit_errors", rate = 5e-6 }"#,
    r#"{ kind = "corruption", probability = 0.05 }"#,
    r#"{ kind = "duplication", probability = 0.1 }"#,
    r#"{ kind = "duplication", probability = 0.05, delay = "30 ms" }"#,
    r#"{ kind = "reordering", probability = 0.1, delay = "15 ms" }"#,
    r#"{ kind = "jitter", mean = "3 ms" }"#,
    r#"{ kind = "jitter", mean = "3 ms", order = "any", distribution = "exponential" }"#,
    r#"{ kind = "delay_spikes", length = "300 ms", interval = "3 s", spacing = "exponential" }"#,
    r#"{ kind = "outage", length = "300 ms", interval = "2 s" }"#,
    r#"{ kind = "outage", start = "500 ms", length = "1 s" }"#,
];

/// Conditioners of a link, and conditioners of the reverse direction of the link.
const CONDITIONS: [[&str; 2]; 5] = [
    ["", ""],
    [r#"condition = [{ green = { dscp = "AF11" } }], "#, ""],
    [
        r#"condition = [{ match = { dscp = ["EF", "DF"] }, meter = { kind = "srtcm", cir = "200 kbit/s", cbs = "3 kB", ebs = "6 kB" }, green = { dscp = "AF11" }, yellow = { dscp = "AF12" }, red = { dscp = "AF13" } }], "#,
        "",
    ],
    [
        r#"condition = [{ match = { source = "n0" }, meter = { kind = "token_bucket", rate = "400 kbit/s", burst = "8 kB" }, red = "drop" }], "#,
        r#"condition = [{ match = { flows = "web" }, meter = { kind = "tswtcm", ctr = "100 kbit/s", ptr = "200 kbit/s" }, red = "drop" }], "#,
    ],
    [
        r#"condition = [{ match = { dscp = "EF" } }, { meter = { kind = "trtcm", pir = "1 Mbit/s", pbs = "9 kB", cir = "300 kbit/s", cbs = "5 kB", mode = "colour-aware" }, yellow = { dscp = "AF12" }, red = { dscp = "AF13" } }], "#,
        "",
    ],
];

/// Proptest strategy of lists of impairments. Three quarters of the lists are empty.
fn wire() -> impl Strategy<Value = String> {
    let impaired = prop::collection::vec(prop::sample::select(IMPAIRMENTS.to_vec()), 1..4);
    prop_oneof![3 => Just(Vec::new()), 1 => impaired].prop_map(|list| format!("[{}]", list.join(", ")))
}

/// Changes of the rate of a link that are mild enough for every transfer to complete.
const RATE_CHANGES: [&str; 4] = [
    r#"[{ at = "300 ms", rate = "0 bit/s" }, { at = "1 s", rate = "100 kbit/s" }, { at = "4 s", rate = "3 Mbit/s" }]"#,
    r#"{ kind = "schedule", changes = [{ at = "50 ms", rate = "70 kbit/s" }, { at = "80 ms", rate = "0 bit/s" }], repeat = "130 ms" }"#,
    r#"{ kind = "trace", opportunities = [0, 0, 1, 7, 20, 20, 20, 35, 90] }"#,
    r#"{ kind = "trace", opportunities = [11] }"#,
];

/// Proptest strategy of random networks. A network is a chain of routers with small buffers and
/// queues of all kinds, with some impairments, and with flows in both directions.
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
    let queue = prop_oneof![2 => queue, 3 => any_kind(), 2 => any_scheduler()];
    let rate_changes = prop_oneof![
        4 => Just(String::new()),
        1 => prop::sample::select(RATE_CHANGES.to_vec()).prop_map(|changes| format!(", rate_changes = {changes}")),
    ];
    let condition = prop::sample::select(CONDITIONS.to_vec());
    let link = (queue, 50u32..5000, 0u32..40_000, condition, wire(), wire(), rate_changes);
    let flow = (
        0usize..5,
        0usize..5,
        1u32..60_000,
        0u32..2_000_000,
        prop::sample::select([&TCP[..], &LINUX].concat()),
    );
    (prop::collection::vec(link, 4), prop::collection::vec(flow, 1..6), 0u64..1000).prop_map(|(links, flows, seed)| {
        let links: Vec<String> = links
            .into_iter()
            .enumerate()
            .map(|(i, (queue, kbits, us, [condition, reverse_condition], forward, reverse, rate_changes))| format!(
                r#"{{ {condition}from = "n{i}", to = "n{}", rate = "{kbits} kbit/s", delay = "{us} us", queue = {queue}, impairments = {forward}, reverse = {{ {reverse_condition}queue = {queue}, impairments = {reverse} }}{rate_changes} }}"#, i + 1
            ))
            .collect();
        let flows: Vec<String> = flows
            .into_iter()
            .filter(|f| f.0 != f.1)
            .chain([(0, 4, 10_000, 0, "ecn = \"rfc3168\"")])
            .map(|(a, b, size, start, tcp)| format!(
                r#"{{ from = "n{a}", to = "n{b}", start = "{start} us", dscp = {}, traffic = {{ kind = "bulk", size = "{size} B" }}, tcp = {{ {tcp} }} }}"#, [0, 46, 12, 14][size as usize % 4]
            ))
            .collect();
        // The voice call of the scenario has an end, because an endless call can prevent the SYN of
        // another flow from ever passing a queue. TCP retransmits the SYN every 60 s, which is a
        // multiple of the interval between packets of the call. The SYN would therefore arrive at a
        // full buffer of one packet each time (Floyd & Jacobson 1992). The distribution of sizes
        // has a light tail (shape 3). A buffer of one packet can drop a packet of every window. TCP
        // then never measures an RTT (Karn), and every second segment waits for a retransmission
        // timeout of 60 s (RFC 6298, 5.7).
        let other_flows = r#"{ name = "web", from = "n1", to = "n3", arrivals = { interval = "20 ms", connections = 40 },
            traffic = { kind = "bulk", size = { kind = "pareto", mean = "8 kB", shape = 3 } } },
            { name = "talk", from = "n3", to = "n0", arrivals = { interval = "300 ms", connections = 4 },
            traffic = { kind = "messages", size = { kind = "exponential", mean = "2 kB" }, interval = "100 ms", messages = 5 } },
            { name = "there", from = "n0", to = "n4", traffic = { kind = "poisson", rate = "40 kbit/s", payload = "100 B", ecn = "ect0", packets = 300 } },
            { name = "back", from = "n4", to = "n0", traffic = { kind = "on_off", rate = "100 kbit/s", on = "50 ms", off = "200 ms", payload = "1 kB", lasts = "10 s" } },
            { name = "hum", from = "n1", to = "n2", traffic = { kind = "voip", lasts = "20 s" } },
            { name = "beat", from = "n2", to = "n4", traffic = { kind = "cbr", rate = "30 kbit/s", payload = "300 B", ecn = "ect1", packets = 200 } },
            { name = "tape", from = "n4", to = "n1", traffic = { kind = "replay", trace = [[0, 1400], [0, 10], [0.02, 700], [3, 40], [3, 1400], [3, 1400]] } }"#
            .replace('\n', " ");
        format!("seed = {seed}\ntcp = {{ connection.retries = 250, connection.syn_retries = 100, connection.synack_retries = 100 }}\nnetwork = {{ kind = \"graph\", links = [{}] }}\nflows = [{}, {other_flows}]", links.join(", "), flows.join(", "))
    })
}

/// Return a proptest configuration with 300 cases, or with the number of cases in the environment
/// variable PROPTEST_CASES.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 300 };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(cases())]

    /// On random networks every transfer completes, and a repeated run has the same tables. The
    /// tables are also the same if the run simulates every hop. A run usually simulates no events
    /// for hops that only delay packets. Each run also checks its packet counters.
    #[test]
    fn every_transfer_completes_and_all_counters_agree(text in random_network()) {
        let scenario = read(&text, Format::Toml, &[]).unwrap();
        let first = run(&scenario, &Watch::default());
        prop_assert!(first.is_ok(), "{:?}\n{text}", first.err());
        let first = first.unwrap();
        for (acked, sent) in numbers(&first, "flows", "acked_bytes").iter().zip(numbers(&first, "flows", "bytes_sent")) {
            prop_assert!(*acked > 0.0 && sent >= *acked);
        }
        prop_assert_eq!(numbers(&first, "connections", "opened"), vec![40.0, 4.0]);
        prop_assert_eq!(numbers(&first, "connections", "completed"), vec![40.0, 4.0]);
        prop_assert_eq!(digest(&first), digest(&run(&scenario, &Watch::default()).unwrap()));

        // Only impairments and schedulers reorder datagrams. If a queue drops the original of a
        // duplicated datagram, a delayed duplicate can count as reordered. This test therefore
        // excludes scenarios with delayed duplicates. The test also excludes scenarios in which a
        // meter can assign packets of one flow to different classes.
        let remarked = text.contains("meter") && ["phb", "match = { dscp"].iter().any(|part| text.contains(part));
        if !remarked && !["reordering", "\"any\"", "30 ms"].iter().any(|part| text.contains(part)) {
            let reordered = numbers(&first, "datagrams", "reordered_packets");
            prop_assert_eq!(&reordered[1..], [0.0; 4]);
            // DualPI2 classifies a packet as L4S if an earlier queue marked the packet CE (RFC 9331
            // appendix B), so a marked packet can overtake unmarked packets.
            prop_assert!(reordered[0] == 0.0 || text.contains("dualpi2"));
        }
        if !text.contains("duplication") {
            prop_assert_eq!(numbers(&first, "datagrams", "duplicate_packets"), vec![0.0; 5]);
        }
        prop_assert_eq!(numbers(&first, "datagrams", "sent_packets")[0], 300.0);

        // If the series `queue` is recorded, every queue is sampled, so the run simulates every
        // hop.
        let every_hop = read(&format!("record = {{ series = [\"queue\"] }}\n{text}"), Format::Toml, &[]).unwrap();
        let every_hop = run(&every_hop, &Watch::default()).unwrap();
        // The test compares the tables as texts, because the jitter of a single packet is NaN,
        // which is not equal to NaN.
        let text = |o: &Outcome| o.tables[..first.tables.len()].iter().map(|t| format!("{t:?}")).collect::<Vec<_>>();
        prop_assert_eq!(text(&first), text(&every_hop));
        prop_assert!(every_hop.events >= first.events);
    }
}

/// Write the digests of random networks into a file. The environment variable NETWORKS sets the
/// number of networks, and DIGESTS sets the path of the file. `tools/slow-paths` runs this test
/// with two builds of the TCP senders and compares the two files of digests.
#[test]
#[ignore = "tools/slow-paths runs it"]
fn digests_of_random_networks() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    use std::io::Write;

    let number: usize = std::env::var("NETWORKS").expect("NETWORKS").parse().expect("a number of networks");
    let file = std::fs::File::create(std::env::var("DIGESTS").expect("DIGESTS")).unwrap();
    let mut file = std::io::BufWriter::new(file);
    let mut random = TestRunner::deterministic();
    for i in 0..number {
        let text = random_network().new_tree(&mut random).unwrap().current();
        let outcome = run(&read(&text, Format::Toml, &[]).unwrap(), &Watch::default());
        let digest = outcome.map_or_else(|failure| format!("{failure:?}"), |o| digest(&o));
        writeln!(file, "{i} {digest}").unwrap();
    }
}

/// The default spread of the starts is 10 times the longest round-trip time without queueing, at
/// most half of the duration. The path of this scenario has a round-trip time of 42 ms. The
/// scenario with one flow has a spread of 1 ms.
#[test]
fn the_spread_of_the_starts_follows_the_round_trip_time() {
    let spread = |changes: &[(&str, &str)]| {
        let run = outcome(&TWO_DOWNLOADS.replace("phase_breaking", "# phase_breaking"), changes);
        let starts = numbers(&run, "flows", "start_s");
        assert!(starts.iter().all(|&start| start < run.start_spread.seconds()), "{starts:?}");
        run.start_spread.seconds()
    };
    assert_eq!(spread(&[]), 0.42);
    assert_eq!(spread(&[("network.reverse.delay", "\"120 ms\"")]), 1.42);
    assert_eq!(spread(&[("duration", "\"400 ms\"")]), 0.2);
    assert_eq!(spread(&[("flows.0.count", "1")]), 1e-3);
    assert_eq!(spread(&[("phase_breaking.start", "\"30 ms\"")]), 0.03);
    assert_eq!(
        spread(&[
            ("network.delay", "\"0 s\""),
            ("network.left_delay", "\"0 s\""),
            ("network.right_delay", "\"0 s\"")
        ]),
        1e-3
    );
}

/// The series `flow_delays` divides the packets of each link among the `[[flows]]` tables. Only the
/// flows from right to left have data on the reverse link, and ACKs belong to their flow.
#[test]
fn delays_of_flows_add_up_to_the_delays_of_the_link() {
    let two = r#"[{ name = "up-{i}", count = 2, from = "left-0", to = "right-0", traffic = { kind = "bulk", size = "200 kB" } },
                  { name = "call", from = "left-0", to = "right-1", traffic = { kind = "cbr", rate = "64 kbit/s", payload = "160 B", lasts = "2 s" } }]"#;
    let run = outcome(TWO_DOWNLOADS, &[("flows", two), ("record.series", r#"["delays", "flow_delays"]"#)]);
    let column = |table, name| numbers(&run, table, name);
    let (packets, mean) = (column("flow_delays", "packets"), column("flow_delays", "mean_delay_s"));
    let rows = |name: &str| -> Vec<String> {
        let table = run.tables.iter().find(|t| t.name == "flow_delays").unwrap();
        match &table.columns.iter().find(|(n, _)| *n == name).unwrap().1 {
            lab::Column::Name(codes, names) => codes.iter().map(|&c| names[c as usize].clone()).collect(),
            _ => unreachable!(),
        }
    };
    let (links, flows) = (rows("link"), rows("flow"));
    let at = |link: &str| -> Vec<usize> { (0..links.len()).filter(|&i| links[i] == link).collect() };
    assert_eq!(at("left>right").iter().map(|&i| flows[i].as_str()).collect::<Vec<_>>(), ["up-{i}", "call"]);
    assert_eq!(at("right>left").iter().map(|&i| flows[i].as_str()).collect::<Vec<_>>(), ["up-{i}"]);
    let whole = run.tables.iter().find(|t| t.name == "delays").unwrap();
    let lab::Column::Name(codes, names) = &whole.columns[0].1 else { unreachable!() };
    for (i, &code) in codes.iter().enumerate() {
        let of_link = at(&names[code as usize]);
        let total: f64 = of_link.iter().map(|&k| packets[k]).sum();
        assert_eq!(total, column("delays", "packets")[i]);
        let sum: f64 = of_link.iter().map(|&k| packets[k] * mean[k]).sum();
        if total > 0.0 {
            assert!((sum / total - column("delays", "mean_delay_s")[i]).abs() < 1e-12);
        }
    }
}

/// A computed NaN is negative on x86-64 and positive on aarch64, so a table must not contain one.
#[test]
fn missing_values_have_the_same_bits_on_every_processor() {
    let lost = r#"
duration = "2 s"
network = { kind = "dumbbell", rate = "1 Mbit/s", delay = "5 ms", left_rate = "10 Mbit/s",
    left_delay = "1 ms", right_rate = "10 Mbit/s", right_delay = "1 ms", queue = "drop_tail",
    impairments = [{ kind = "loss", probability = 1.0 }] }
flows = [{ name = "f", from = "left-0", to = "right-0", traffic = { kind = "cbr", rate = "100 kbit/s" } }]
"#;
    let mean = numbers(&outcome(lost, &[]), "datagrams", "mean_delay_s");
    assert_eq!(mean[0].to_bits(), f64::NAN.to_bits());
}
