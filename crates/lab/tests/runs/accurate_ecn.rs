//! Tests of whole runs that compare the number of marks that queues set with the number of marks
//! that receivers report to senders (RFC 9768).

use crate::common::{TWO_DOWNLOADS, numbers, outcome};

const RED: &str = r#"{ kind = "red", limit = "200 packets", minth = "5 packets", maxth = "60 packets" }"#;
const STEP: &str = r#"{ kind = "threshold", limit = "200 packets", threshold = "5 packets" }"#;
const DUALPI2: &str = r#"{ kind = "dualpi2", limit = "200 packets" }"#;

/// Cases of these tests, each with a queue that marks packets, and with TCP parameters.
const CASES: [(&str, &str); 5] = [
    (RED, r#"{ ecn = "accurate" }"#),
    (RED, r#"{ ecn.mode = "accurate", ecn.accurate_option = false, timestamps = true }"#),
    (STEP, r#"{ ecn = "accurate", congestion = "dctcp", recovery = "sack", sack = true }"#),
    (DUALPI2, r#"{ congestion = "prague", recovery = "sack", sack = true, timestamps = true }"#),
    (DUALPI2, r#"{ congestion = "prague", ecn.accurate_option = false }"#),
];

/// Check that the receivers of two downloads report each mark to the sender. The data of the
/// downloads is marked, but not dropped.
fn check(impairments: &str) {
    for (queue, tcp) in CASES {
        let changes = [
            ("network.queue", queue),
            ("network.reverse.impairments", impairments),
            ("tcp", tcp),
            ("flows.0.tcp.receive_window", "\"65535 B\""),
        ];
        let o = outcome(TWO_DOWNLOADS, &changes);
        let links = numbers(&o, "links", "dropped_packets");
        assert!(
            links.iter().sum::<f64>() < 3.0,
            "{queue} {tcp}: ECN-capable packets were dropped: {links:?}"
        );
        let marked = numbers(&o, "flows", "marked_packets");
        assert!(marked.iter().all(|&n| n > 5.0), "{queue} {tcp}: {marked:?}");
        assert_eq!(numbers(&o, "flows", "delivered_ce"), marked, "{queue} {tcp}");
    }
}

#[test]
fn every_mark_is_reported_to_the_sender() {
    check("[]");
}

/// The wire in the reverse direction reorders ACKs.
#[test]
fn every_mark_is_reported_by_reordered_acks() {
    check(r#"[{ kind = "reordering", probability = 0.2, delay = "20 ms" }]"#);
}

/// The wire in the reverse direction loses every third ACK.
#[test]
fn every_mark_is_reported_if_acks_are_lost() {
    check(r#"[{ kind = "periodic_loss", every = 3, first = 40 }]"#);
}
