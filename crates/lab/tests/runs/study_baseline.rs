//! The tests simulate the single download of Pentikousis & Badr. The download takes 112.5 s. A
//! limit of 39 packets causes no drops, and a limit of 38 packets causes drops.

use crate::common::{numbers, outcome};

const STUDY: &str = r#"
    phase_breaking = { start = "0 s", delay = "0 s" }
    network = { kind = "dumbbell", rate = "1.5 Mbit/s", delay = "20 ms", left_rate = "10 Mbit/s", left_delay = "0.5 ms",
        right_rate = "10 Mbit/s", right_delay = "0.5 ms",
        queue = { kind = "drop_tail", limit = "39 packets", limit_counts = "waiting-and-in-service" } }
    flows = [{ from = "left-0", to = "right-0", traffic = { kind = "bulk", size = "20 MiB" } }]
    tcp = { receive_window = "64240 B", initial_window = "1 segment", cwnd.slow_start_from = "second-ack", cwnd.ssthresh_from = "window",
        recovery.fast_retransmit = "unguarded", recovery.exit = "deflate-and-open", ack.timeout = "100 ms", ack.gap = "when-released",
        rto.estimator = "jacobson1988", rto.initial = "3 s", rto.min = "200 ms", rto.granularity = "100 ms", wire.data_header = "0 B" }
"#;

#[test]
fn limit_39_is_the_minimum_without_drops() {
    let at_39 = outcome(STUDY, &[]);
    assert_eq!(numbers(&at_39, "flows", "dropped_packets"), [0.0]);
    let completed = numbers(&at_39, "flows", "completed_s")[0];
    assert!((completed - 112.5).abs() <= 0.25, "{completed}");
    assert_eq!(numbers(&at_39, "flows", "segments_sent"), [14365.0]);
    let at_38 = outcome(STUDY, &[("network.queue.limit", "38 packets")]);
    assert!(numbers(&at_38, "flows", "dropped_packets")[0] > 0.0);
}

/// The link transmits 1500 B per segment if the segments have headers. The transmission of 14 364
/// segments of 1500 B and of one segment of 120 B takes 114.913 s. During slow start the link is
/// idle for part of the time, so the download takes longer.
#[test]
fn headers_add_their_transmission_time() {
    let completed = numbers(&outcome(STUDY, &[("tcp.wire.data_header", "40 B")]), "flows", "completed_s")[0];
    let link = (14_364.0 * 1500.0 + 120.0) * 8.0 / 1.5e6;
    assert!(completed > link && completed < link + 0.6, "{completed} {link}");
}
