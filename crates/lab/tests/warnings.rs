//! What is legal and probably not meant is told, once; what is as it should be is not.

mod common;

use common::outcome;

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

fn about(changes: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    outcome(TWO, changes).warnings.into_iter().map(|w| (w.about, w.text)).collect()
}

fn only(changes: &[(&str, &str)]) -> (&'static str, String) {
    let mut all = about(changes);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn a_plain_scenario_has_none() {
    assert_eq!(about(&[]), []);
    assert_eq!(about(&[("flows.0.tcp.ecn", "rfc3168")]), []);
    assert_eq!(about(&[("flows.0.tcp.stack", "linux")]), []);
}

#[test]
fn a_flow_that_starts_after_the_end() {
    let found = about(&[("flows.0.start", "5 min")]);
    assert_eq!(found[0].0, "late-start");
    assert!(found[0].1.contains("load-{i} starts at 300 s, and the run ends at 20 s"), "{found:?}");
}

#[test]
fn a_receive_window_that_limits() {
    let found = about(&[("flows.0.tcp.receive_window", "8 kB")]);
    assert_eq!(found[0].0, "receive-window");
    assert!(found[0].1.contains("load-{i} (2 of 2)"), "{found:?}");
    assert_eq!(found[1].0, "no-congestion");
}

#[test]
fn a_run_that_ends_in_slow_start() {
    let found = about(&[("duration", "80 ms")]);
    assert_eq!(found[0].0, "slow-start");
    assert_eq!(about(&[("duration", "80 ms"), ("flows.0.tcp.congestion", "bbr")]).len(), 1); // no congestion
}

#[test]
fn ecn_where_nothing_marks() {
    let (about, text) = only(&[("flows.0.tcp.ecn", "rfc3168"), ("network.queue", "drop_tail")]);
    assert_eq!(about, "no-marks");
    assert!(text.contains("2 of 2 connections"), "{text}");
}

#[test]
fn a_buffer_below_two_packets() {
    for limit in ["1 packet", "2 kB"] {
        let queue = format!(r#"{{ kind = "drop_tail", limit = "{limit}" }}"#);
        assert_eq!(only(&[("network.queue", &queue)]).0, "small-buffer", "{limit}");
    }
}

#[test]
fn dctcp_in_the_classic_queue_of_dualpi2() {
    let found = only(&[("network.queue", "dualpi2"), ("flows.0.tcp.congestion", "dctcp")]);
    assert_eq!(found.0, "dctcp-in-classic-queue");
    assert_eq!(about(&[("network.queue", "dualpi2"), ("flows.0.tcp.congestion", "prague")]), []);
}

#[test]
fn a_connection_that_lost_its_ecn_with_its_syn() {
    let lossy = [
        ("network.impairments", r#"[{ kind = "listed_loss", packets = [1] }]"#),
        ("flows.0.count", "1"),
        ("flows.0.tcp.ecn", "rfc3168"),
    ];
    assert_eq!(about(&lossy), []);
    let mut falls_back = lossy.to_vec();
    falls_back.push(("flows.0.tcp.ecn.fallback", "true"));
    assert_eq!(only(&falls_back).0, "ecn-fallback");
}
