//! Warnings about runs. A setting that is valid but probably unintended causes one warning, and an
//! ordinary setting causes no warning.

use crate::common::outcome;

/// Scenario with two downloads over a bottleneck with RED.
const TWO: &str = r#"
    duration = "20 s"
    [network]
    kind = "dumbbell"
    rate = "10 Mbit/s"
    delay = "10 ms"
    left_rate = "1 Gbit/s"
    left_delay = "1 ms"
    right_rate = "1 Gbit/s"
    right_delay = "1 ms"
    queue = { kind = "red", limit = "100 packets", minth = "10 packets", maxth = "30 packets" }
    [[flows]]
    name = "load-{i}"
    count = 2
    from = "left-0"
    to = "right-0"
    traffic = "bulk"
    tcp = { receive_window = "1 MB" }
"#;

/// Run the scenario with changes to its keys, and return the topic and the text of each warning.
fn warnings(changes: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    outcome(TWO, changes).warnings.into_iter().map(|w| (w.about, w.text)).collect()
}

/// Run the scenario with changes to its keys, and return the topic and the text of its only
/// warning.
fn only_warning(changes: &[(&str, &str)]) -> (&'static str, String) {
    let mut all = warnings(changes);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn an_ordinary_scenario_causes_no_warning() {
    assert_eq!(warnings(&[]), []);
    assert_eq!(warnings(&[("flows.0.tcp.ecn", "rfc3168")]), []);
    assert_eq!(warnings(&[("flows.0.tcp.stack", "linux")]), []);
}

#[test]
fn a_flow_that_starts_after_the_end_causes_a_warning() {
    let all = warnings(&[("flows.0.start", "5 min")]);
    assert_eq!(all[0].0, "late-start");
    assert!(all[0].1.contains("load-{i} starts at 300 s, and the run ends at 20 s"), "{all:?}");
}

#[test]
fn a_receive_window_that_limits_the_flow_causes_a_warning() {
    let all = warnings(&[("flows.0.tcp.receive_window", "8 kB")]);
    assert_eq!(all[0].0, "receive-window");
    assert!(all[0].1.contains("load-{i} (2 of 2)"), "{all:?}");
    assert_eq!(all[1].0, "no-congestion");
}

#[test]
fn a_run_that_ends_in_slow_start_causes_a_warning() {
    let all = warnings(&[("duration", "80 ms")]);
    assert_eq!(all[0].0, "slow-start");
    let bbr = only_warning(&[("duration", "80 ms"), ("flows.0.tcp.congestion", "bbr")]);
    assert_eq!(bbr.0, "no-congestion");
}

#[test]
fn ecn_without_a_marking_queue_causes_a_warning() {
    let (topic, text) = only_warning(&[("flows.0.tcp.ecn", "rfc3168"), ("network.queue", "drop_tail")]);
    assert_eq!(topic, "no-marks");
    assert!(text.contains("2 of 2 connections"), "{text}");
}

#[test]
fn a_buffer_below_two_packets_causes_a_warning() {
    for limit in ["1 packet", "2 kB"] {
        let queue = format!(r#"{{ kind = "drop_tail", limit = "{limit}" }}"#);
        assert_eq!(only_warning(&[("network.queue", &queue)]).0, "small-buffer", "{limit}");
    }
}

#[test]
fn dctcp_in_the_classic_queue_of_dualpi2_causes_a_warning() {
    let warning = only_warning(&[("network.queue", "dualpi2"), ("flows.0.tcp.congestion", "dctcp")]);
    assert_eq!(warning.0, "dctcp-in-classic-queue");
    assert_eq!(warnings(&[("network.queue", "dualpi2"), ("flows.0.tcp.congestion", "prague")]), []);
}

/// At 20 Mbit/s with a round-trip time of 104 ms, PI with the constants of its paper lets the
/// buffer overflow, and RED with its thresholds of 5 and 15 packets leaves the link idle.
#[test]
fn an_aqm_with_parameters_for_another_link_causes_a_warning() {
    let fast = |queue: &str| {
        warnings(&[
            ("network.rate", "20 Mbit/s"),
            ("network.delay", "50 ms"),
            ("duration", "20 s"),
            ("flows.0.count", "6"),
            ("network.queue", &format!(r#"{{ kind = "{queue}", limit = "167 packets" }}"#)),
        ])
    };
    let red = fast("red");
    assert_eq!(red[0].0, "aqm-parameters", "{red:?}");
    assert!(red[0].1.starts_with("red left left>right idle for "), "{red:?}");
    assert!(red[0].1.contains("use adaptive_red"), "{red:?}");
    let pi = fast("pi");
    assert_eq!(pi[0].0, "aqm-parameters", "{pi:?}");
    assert!(pi[0].1.contains("left>right overflowed 140 times, and pi signalled 3 packets"), "{pi:?}");
    for queue in ["codel", "pie", "drop_tail"] {
        assert_eq!(fast(queue), [], "{queue}");
    }
}

#[test]
fn classic_ecn_of_a_scalable_sender_causes_a_warning() {
    let prague = ("flows.0.tcp.congestion", "prague");
    let warning = only_warning(&[("network.queue", "dualpi2"), prague, ("tcp.ecn", "rfc3168")]);
    assert_eq!(warning.0, "classic-ecn-of-scalable-sender");
    assert!(warning.1.contains("connections of load-{i} (2 of 2)"), "{}", warning.1);
    assert_eq!(warnings(&[("network.queue", "dualpi2"), prague, ("tcp.ecn", "accurate")]), []);
}

#[test]
fn a_connection_that_loses_its_ecn_syn_and_falls_back_causes_a_warning() {
    let lossy = [
        ("network.impairments", r#"[{ kind = "listed_loss", packets = [1] }]"#),
        ("flows.0.count", "1"),
        ("flows.0.tcp.ecn", "rfc3168"),
    ];
    assert_eq!(warnings(&lossy), []);
    let mut fallback = lossy.to_vec();
    fallback.push(("flows.0.tcp.ecn.fallback", "true"));
    assert_eq!(only_warning(&fallback).0, "ecn-fallback");
}
