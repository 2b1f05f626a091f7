//! Marks over a whole run: those that queues made, and those that senders were told of (RFC 9768).

mod common;

use common::{TWO_DOWNLOADS, numbers, outcome};

const RED: &str = r#"{ kind = "red", limit = "200 packets", minth = "5 packets", maxth = "60 packets" }"#;
const STEP: &str = r#"{ kind = "threshold", limit = "200 packets", threshold = "5 packets" }"#;
const DUALPI2: &str = r#"{ kind = "dualpi2", limit = "200 packets" }"#;

/// Queues that mark, and TCPs.
const CASES: [(&str, &str); 5] = [
    (RED, r#"{ ecn = "accurate" }"#),
    (RED, r#"{ ecn.mode = "accurate", ecn.accurate_option = false, timestamps = true }"#),
    (STEP, r#"{ ecn = "accurate", congestion = "dctcp", recovery = "sack", sack = true }"#),
    (DUALPI2, r#"{ congestion = "prague", recovery = "sack", sack = true, timestamps = true }"#),
    (DUALPI2, r#"{ congestion = "prague", ecn.accurate_option = false }"#),
];

/// Two downloads whose data is marked and never lost: what each sender was told is what was marked of its packets.
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
        assert!(links.iter().sum::<f64>() < 3.0, "{queue} {tcp}: only what is not ECN-capable, {links:?}");
        let marked = numbers(&o, "flows", "marked_packets");
        assert!(marked.iter().all(|&n| n > 5.0), "{queue} {tcp}: {marked:?}");
        assert_eq!(numbers(&o, "flows", "delivered_ce"), marked, "{queue} {tcp}");
    }
}

#[test]
fn the_sender_knows_every_mark() {
    check("[]");
}

/// ACKs overtake each other on their way back.
#[test]
fn the_sender_knows_every_mark_by_reordered_acks() {
    check(r#"[{ kind = "reordering", probability = 0.2, delay = "20 ms" }]"#);
}

/// One ACK in three is lost.
#[test]
fn the_sender_knows_every_mark_though_acks_are_lost() {
    check(r#"[{ kind = "periodic_loss", every = 3, first = 40 }]"#);
}
