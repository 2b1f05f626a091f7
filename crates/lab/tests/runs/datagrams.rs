//! Tests of datagrams without TCP in whole runs.

use crate::common::{TWO_DOWNLOADS, numbers, outcome, scenario};
use lab::Outcome;

/// Run a single flow of datagrams over three links. The rates of the links are 10, 1.5 and 10
/// Mbit/s, and their delays are 0.5, 20 and 0.5 ms.
fn single_flow(traffic: &str, changes: &[(&str, &str)]) -> Outcome {
    let flows = format!(r#"[{{ name = "D", from = "left-0", to = "right-0", traffic = {traffic} }}]"#);
    let no_offsets = r#"{ start = "0 s", delay = "0 s" }"#;
    outcome(TWO_DOWNLOADS, &[&[("flows", &*flows), ("phase_breaking", no_offsets)], changes].concat())
}

/// Return the value of a column in the only row of the table `datagrams`.
fn value(o: &Outcome, column: &str) -> f64 {
    numbers(o, "datagrams", column)[0]
}

/// The voice call sends a packet of 132 B every 20 ms. The delay of each packet is the sum of its
/// transmission times and propagation delays, accurate to a picosecond.
#[test]
fn packets_of_a_call_have_the_delay_of_the_idle_path() {
    let o = single_flow(r#"{ kind = "voip", packets = 100 }"#, &[]);
    let delay = 0.021 + 132.0 * 8.0 * (2.0 / 10e6 + 1.0 / 1.5e6);
    assert_eq!((value(&o, "sent_packets"), value(&o, "sent_bytes")), (100.0, 13_200.0));
    assert_eq!((value(&o, "received_packets"), value(&o, "received_bytes")), (100.0, 10_400.0));
    for column in ["mean_delay_s", "shortest_delay_s", "longest_delay_s"] {
        assert!((value(&o, column) - delay).abs() < 1e-11, "{column}");
    }
    for column in ["lost_packets", "dropped_packets", "jitter_s", "reordered_packets", "duplicate_packets"] {
        assert_eq!(value(&o, column), 0.0, "{column}");
    }
    let end = 99.0 * 0.020 + delay;
    assert!(
        (o.end.seconds() - end).abs() < 1e-11,
        "the run does not end with the arrival of the last packet"
    );
    assert!((value(&o, "goodput_bps") / (10_400.0 * 8.0 / end) - 1.0).abs() < 1e-9);
    assert!(numbers(&o, "flows", "acked_bytes").is_empty());
}

/// A flow sends at a constant rate, which is above the rate of the link. The queue drops the excess
/// packets, and the receiver receives data at the rate of the link.
#[test]
fn the_queue_drops_the_excess_of_a_constant_rate() {
    let queue =
        [("network.queue", r#"{ kind = "drop_tail", limit = "10 packets" }"#), ("duration", "\"100 s\"")];
    let o = single_flow(r#"{ kind = "cbr", rate = "3 Mbit/s" }"#, &queue);
    assert!((value(&o, "sent_packets") - 37_500.0).abs() <= 1.0);
    assert!((value(&o, "received_packets") - 18_750.0).abs() <= 12.0);
    // Maximum delay: 10 waiting packets and the packet in service are transmitted, each of 1000 B
    // at 1.5 Mbit/s.
    let full = 0.021 + 8000.0 * (2.0 / 10e6 + 11.0 / 1.5e6);
    assert!(
        value(&o, "longest_delay_s") <= full + 0.0081 / 1.5
            && value(&o, "longest_delay_s") > full - 0.0081 / 1.5
    );
    let links = numbers(&o, "links", "dropped_packets");
    assert_eq!(links.iter().sum::<f64>(), value(&o, "dropped_packets"));
    // All packets that were neither delivered nor dropped are in the network: at most 11 at the
    // bottleneck, 4 in propagation behind the bottleneck, and 3 on the first link.
    assert!((value(&o, "lost_packets") - value(&o, "dropped_packets")) <= 18.0);
}

/// Linux schedules the first update of PIE's drop probability half a second after the creation of
/// the queue (pie_init). The first update is therefore long before any traffic. A flow that starts
/// at the beginning of the run therefore loses the same packets as a flow that starts 125 update
/// periods of 16 ms later.
#[test]
fn linux_pie_drops_packets_of_a_flow_that_starts_with_the_run() {
    for kind in [r#"kind = "tc_pie""#, r#"kind = "fq_pie", rules = "linux""#] {
        let drops = |start: &str, duration: &str| {
            let queue = format!(r#"{{ {kind}, limit = "1000 packets" }}"#);
            let more = [
                ("network.queue", &*queue),
                ("flows.0.start", start),
                ("duration", duration),
                ("record.series", r#"["drops"]"#),
            ];
            numbers(&single_flow(r#"{ kind = "cbr", rate = "3 Mbit/s" }"#, &more), "drops", "time_s")
        };
        let [first, later] = [drops("\"0 s\"", "\"1 s\""), drops("\"2 s\"", "\"3 s\"")];
        assert!(first.first().is_some_and(|&t| t < 0.45), "{kind}: {first:?}");
        assert_eq!(first.len(), later.len(), "{kind}");
        let equal = first.iter().zip(&later).all(|(a, b)| (b - a - 2.0).abs() < 1e-9);
        assert!(equal, "{kind}: {first:?} {later:?}");
    }
}

/// In an M/D/1 queue, the mean waiting time is ρ/(2(1 − ρ)) transmission times
/// (Pollaczek–Khinchine).
#[test]
fn poisson_packets_have_the_waiting_time_of_an_m_d_1_queue() {
    let queue = [
        ("network.queue", r#"{ kind = "drop_tail", limit = "100000 packets" }"#),
        ("network.left_rate", "\"10 Gbit/s\""),
    ];
    for rho in [0.5, 0.8] {
        let rate = format!("{} kbit/s", 1500.0 * rho);
        let o = single_flow(&format!(r#"{{ kind = "poisson", rate = "{rate}", packets = 300000 }}"#), &queue);
        let service = 8000.0 / 1.5e6;
        let fixed = 0.021 + 8000.0 / 10e9 + 8000.0 / 10e6 + service;
        let waits = (value(&o, "mean_delay_s") - fixed) / service;
        let theory = rho / (2.0 * (1.0 - rho));
        assert!((waits / theory - 1.0).abs() < 0.03, "{waits} {theory}");
    }
}

/// The queue marks packets with an ECT codepoint, and drops packets without an ECT codepoint.
#[test]
fn ect_packets_are_marked_and_others_are_dropped() {
    for (ecn, marked) in [("ect0", true), ("ect1", true), ("not-ect", false)] {
        let o = single_flow(
            &format!(r#"{{ kind = "cbr", rate = "1.52 Mbit/s", ecn = "{ecn}", lasts = "20 s" }}"#),
            &[],
        );
        assert_eq!(
            (value(&o, "marked_packets") > 0.0, value(&o, "dropped_packets") > 0.0),
            (marked, !marked),
            "{ecn}"
        );
    }
}

/// The table `datagrams` counts duplicated, reordered, damaged and lost packets separately.
#[test]
fn impairments_are_counted_separately() {
    let wire = |list: &str| {
        single_flow(
            r#"{ kind = "cbr", rate = "1 Mbit/s", packets = 2000 }"#,
            &[("network.impairments", list)],
        )
    };
    let o = wire(r#"[{ kind = "duplication", probability = 0.1, delay = "20 ms" }]"#);
    let doubled = numbers(&o, "impairments", "doubled_packets")[0];
    assert!(doubled > 100.0);
    assert_eq!(
        (value(&o, "duplicate_packets"), value(&o, "lost_packets"), value(&o, "reordered_packets")),
        (doubled, 0.0, 0.0)
    );
    let o = wire(r#"[{ kind = "reordering", probability = 0.1, delay = "12 ms" }]"#);
    let late = value(&o, "reordered_packets");
    assert!(late > 100.0 && late <= numbers(&o, "impairments", "held_packets")[0]);
    let o = wire(r#"[{ kind = "corruption", probability = 0.1 }]"#);
    assert_eq!(value(&o, "lost_packets"), numbers(&o, "impairments", "damaged_packets")[0]);
    let o = wire(r#"[{ kind = "gilbert_elliott", good_to_bad = 0.01, bad_to_good = 0.3 }]"#);
    assert_eq!(value(&o, "lost_packets"), numbers(&o, "impairments", "lost_packets")[0]);
    let o = wire(r#"[{ kind = "jitter", mean = "4 ms" }]"#);
    assert!(value(&o, "jitter_s") > 1e-3 && value(&o, "reordered_packets") == 0.0);
}

/// The run ends with its TCP flows, and does not wait for an endless flow of datagrams. The table
/// `flows` has no row for a flow of datagrams.
#[test]
fn a_run_does_not_wait_for_an_endless_flow_of_datagrams() {
    let flows = r#"[{ name = "hum", from = "left-0", to = "right-1", traffic = "voip" },
        { name = "C{i}", count = 2, from = "left-0", to = "right-{i}", traffic = { kind = "bulk", size = "300 kB" } },
        { name = "web", from = "left-0", to = "right-0", arrivals = { interval = "50 ms", connections = 20 }, traffic = { kind = "bulk", size = "5 kB" } }]"#
        .replace('\n', " ");
    for rows in ["flow", "table"] {
        let o = outcome(TWO_DOWNLOADS, &[("flows", &flows), ("record.flows", &format!("\"{rows}\""))]);
        let n = if rows == "flow" { 3 } else { 2 };
        assert_eq!(numbers(&o, "flows", "acked_bytes").len(), n);
        assert_eq!(numbers(&o, "flows", "acked_bytes").iter().sum::<f64>(), 700_000.0);
        assert!((value(&o, "sent_packets") - o.end.seconds() / 0.02).abs() <= 2.0);
    }
}

/// A flow of datagrams needs a route in the forward direction only.
#[test]
fn datagrams_need_no_reverse_route() {
    let text = r#"
        network = { kind = "graph", links = [{ from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms", directions = "one" }] }
        flows = [{ from = "a", to = "b", traffic = { kind = "replay", trace = [[0, 100], [1.5, 1000]] } }]
    "#;
    let o = outcome(text, &[]);
    assert_eq!((value(&o, "received_packets"), value(&o, "received_bytes")), (2.0, 1100.0));
}

#[test]
fn invalid_flows_of_datagrams_are_refused() {
    let refusal = |flow: &str| {
        scenario(TWO_DOWNLOADS, &[("flows", &format!(r#"[{{ from = "left-0", to = "right-0", {flow} }}]"#))])
            .unwrap_err()
    };
    for (flow, expected) in [
        (r#"traffic = "voip""#, "flows: are endless streams of datagrams"),
        (r#"traffic = "cbr""#, "flows.0.traffic.rate: is missing"),
        (
            r#"traffic = { kind = "voip", packets = 1 }, tcp = { sack = true }"#,
            "flows.0.tcp: cannot be used in a flow of datagrams",
        ),
        (
            r#"traffic = { kind = "voip", packets = 1 }, arrivals = { interval = "1 s" }"#,
            "flows.0.arrivals: cannot be used in a flow of datagrams",
        ),
        (
            r#"traffic = { kind = "cbr", rate = "1 Mbit/s", payload = "70 kB" }"#,
            "flows.0.traffic.payload: \"70 kB\" must be",
        ),
        (
            r#"traffic = { kind = "replay", trace = "/nowhere" }"#,
            "flows.0.traffic.trace: \"/nowhere\" cannot be read",
        ),
        (
            r#"traffic = { kind = "replay", trace = [[1, 100], [0, 100]] }"#,
            "flows.0.traffic.trace: is not a trace: the time 0 s is before",
        ),
    ] {
        let message = refusal(flow);
        assert!(message.contains(expected), "{flow}\n  error:    {message}\n  expected: {expected}");
    }
}
