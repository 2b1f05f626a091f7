//! Tests of links that lose, damage, duplicate and delay packets, in whole runs.

use crate::common::{TWO_DOWNLOADS, numbers, outcome, scenario};
use lab::Outcome;

/// Return the sum of all values in a column.
fn sum(o: &Outcome, table: &str, column: &str) -> f64 {
    numbers(o, table, column).iter().sum()
}

/// Changes that reduce the scenario to a single download, over a queue that drops no packets.
const ONE_DOWNLOAD: [(&str, &str); 4] = [
    ("flows.0.count", "1"),
    ("flows.0.traffic.size", "\"200 kB\""),
    ("network.queue", r#"{ kind = "drop_tail", limit = "1000 packets" }"#),
    ("tcp.receive_window", "\"65535 B\""),
];

/// Run the single download with impairments of the bottleneck and with further changes.
fn with(impairments: &str, changes: &[(&str, &str)]) -> Outcome {
    outcome(TWO_DOWNLOADS, &[&ONE_DOWNLOAD[..], &[("network.impairments", impairments)], changes].concat())
}

/// The wire loses exactly the packets in the list. The series `drops` states the reason of each
/// loss, and the table `links` has the number of delivered packets.
#[test]
fn lost_packets_are_counted() {
    let series = [("record.series", r#"["drops"]"#)];
    let o = with(r#"[{ kind = "listed_loss", packets = [10, 20, 21] }]"#, &series);
    assert_eq!(numbers(&o, "impairments", "lost_packets"), [3.0]);
    assert_eq!(numbers(&o, "flows", "dropped_packets"), [3.0]);
    assert_eq!(numbers(&o, "drops", "reason"), [3.0; 3]); // the index of `loss`
    let (arrived, delivered) =
        (numbers(&o, "links", "arrived_packets")[0], numbers(&o, "links", "delivered_packets")[0]);
    assert_eq!((arrived - delivered, numbers(&o, "links", "dropped_packets")[0]), (3.0, 0.0));
    assert_eq!(numbers(&o, "impairments", "seen_packets"), [arrived]);
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [200_000.0]);
}

/// A corrupted packet crosses all links, and the receiving host discards the packet. A packet with
/// bit errors is discarded by the link on which the errors occurred.
#[test]
fn the_host_discards_corrupted_packets_and_the_link_packets_with_bit_errors() {
    for (impairment, by_link) in [("corruption\", probability", 0.0), ("bit_errors\", rate", 1.0)] {
        let rate = if by_link == 0.0 { "0.1" } else { "1e-5" };
        let o = with(&format!("[{{ kind = \"{impairment} = {rate} }}]"), &[]);
        let discarded = sum(&o, "impairments", "damaged_packets") + sum(&o, "impairments", "lost_packets");
        assert!(discarded > 5.0);
        assert_eq!(numbers(&o, "flows", "dropped_packets"), [discarded]);
        // The link right>right-0 delivers corrupted packets, but discards packets with bit errors.
        let arrived = numbers(&o, "links", "arrived_packets")[0];
        let delivered_to_host = numbers(&o, "links", "delivered_packets")[5];
        assert_eq!(arrived - delivered_to_host, by_link * discarded);
        assert_eq!(numbers(&o, "flows", "acked_bytes"), [200_000.0]);
    }
}

/// The wire duplicates packets, and the receiver counts duplicate segments although the sender
/// retransmits no segment.
#[test]
fn copies_arrive_as_duplicate_segments() {
    let o = with(r#"[{ kind = "duplication", probability = 0.2 }]"#, &[]);
    let doubled = sum(&o, "impairments", "doubled_packets");
    assert!(doubled > 10.0 && sum(&o, "flows", "dropped_packets") == 0.0);
    let (arrived, delivered) =
        (numbers(&o, "links", "arrived_packets")[0], numbers(&o, "links", "delivered_packets")[0]);
    assert_eq!(delivered - arrived, doubled);
    assert!(sum(&o, "flows", "duplicate_segments") >= doubled - 5.0);
}

/// The random numbers of an impairment do not change if the same link or another link has another
/// impairment.
#[test]
fn random_numbers_do_not_depend_on_other_impairments() {
    let lost = |others: &str, reverse: &str| {
        let list = format!(r#"[{{ kind = "loss", probability = 0.05 }}{others}]"#);
        let o = with(
            &list,
            &[
                ("network.reverse.impairments", reverse),
                ("duration", "\"100 s\""),
                ("record.series", r#"["drops"]"#),
            ],
        );
        numbers(&o, "drops", "seq")[..3].to_vec()
    };
    let alone = lost("", "[]");
    assert_eq!(alone, lost(r#", { kind = "corruption", probability = 0.0 }"#, "[]"));
    assert_eq!(alone, lost("", r#"[{ kind = "listed_loss", packets = [100] }]"#));
    assert_ne!(alone, lost(r#", { kind = "loss", probability = 0.2 }"#, "[]"));
}

/// All transfers complete with up to 20 % loss in both directions, for various parameters of TCP
/// and for every congestion control.
#[test]
fn transfers_complete_despite_losses_in_both_directions() {
    let mut variants: Vec<String> = crate::common::TCP.iter().map(|t| format!("{{ {t} }}")).collect();
    for control in [
        "reno",
        "cubic",
        "vegas",
        "westwood",
        "dctcp",
        "prague",
        "bbr",
        "bbr3",
        "ledbat",
        "htcp",
        "highspeed",
        "scalable",
        "illinois",
    ] {
        variants.push(format!(r#"{{ congestion = "{control}", sack = true, recovery = "sack" }}"#));
    }
    for tcp in &variants {
        for (rate, seed) in [("0.05", "1"), ("0.2", "2"), ("0.2", "3")] {
            let loss = format!(r#"[{{ kind = "loss", probability = {rate} }}]"#);
            let o = with(
                &loss,
                &[
                    ("network.reverse.impairments", &loss),
                    ("tcp", tcp),
                    ("tcp.connection.retries", "100"),
                    ("tcp.connection.syn_retries", "100"),
                    ("tcp.connection.synack_retries", "100"),
                    ("flows.0.traffic.size", "\"60 kB\""),
                    ("seed", seed),
                ],
            );
            assert_eq!(numbers(&o, "flows", "acked_bytes"), [60_000.0], "{tcp} {rate}");
            assert!(numbers(&o, "flows", "closed_s")[0].is_finite(), "{tcp} {rate}");
        }
    }
}

#[test]
fn invalid_impairments_are_refused() {
    let refusal = |list: &str| scenario(TWO_DOWNLOADS, &[("network.impairments", list)]).unwrap_err();
    for (list, expected) in [
        (r#"[{ kind = "los" }]"#, "network.impairments.0.kind: \"los\" is not known; did you mean loss?"),
        (r#"[{ kind = "loss" }]"#, "network.impairments.0.probability: is missing"),
        (
            r#"[{ kind = "loss", probability = 2 }]"#,
            "network.impairments.0.probability: 2 must be a number between",
        ),
        (r#"[{ kind = "periodic_loss", every = 0 }]"#, "network.impairments.0.every: 0 must be at least 1"),
        (
            r#"[{ kind = "outage", length = "1 s" }]"#,
            "network.impairments.0.start: is missing, and the key interval is missing too",
        ),
        (
            r#"[{ kind = "outage", length = "1 s", interval = "1 ns" }]"#,
            "interval: \"1 ns\" must be at least 0.001 s",
        ),
        (r#""loss""#, "network.impairments: \"loss\" must be a list"),
    ] {
        let message = refusal(list);
        assert!(message.contains(expected), "{list}\n  error:    {message}\n  expected: {expected}");
    }
    let many = format!("[{}]", [r#"{ kind = "duplication", probability = 1 }"#; 5].join(", "));
    assert!(refusal(&many).contains("has 5 impairments, and 5 of these impairments duplicate packets"));
}

/// A saturated link delivers the integral of its rate over time, except for the packet in
/// transmission. A link whose rate follows a trace uses every delivery opportunity of the trace.
/// The expected values were computed by hand: in 4 s the schedule delivers 1 Mbit, 0 Mbit, 2 Mbit
/// and 0 Mbit, one value per second. The total of 3 Mbit corresponds to 375 packets of 1000 B.
#[test]
fn a_link_with_rate_changes_delivers_the_integral_of_its_rate() {
    let schedule = r#"[{ at = "1 s", rate = "0 bit/s" }, { at = "2 s", rate = "2 Mbit/s" }, { at = "3 s", rate = "0.0 bit/s" }, { at = "5 s", rate = "1 bit/s" }]"#;
    let repeats =
        r#"{ kind = "schedule", changes = [{ at = "15 ms", rate = "0 bit/s" }], repeat = "20 ms" }"#;
    let trace = r#"{ kind = "trace", opportunities = [0, 4, 4, 16] }"#;
    for queue in ["drop_tail", "codel", "fq_codel"] {
        for (changes, packets) in [(schedule, 375), (repeats, 375), (trace, 1500)] {
            let text = format!(
                r#"duration = "4 s"
                network = {{ kind = "graph", links = [{{ from = "a", to = "b", rate = "1 Mbit/s", delay = "0 ms", queue = {{ kind = "{queue}", limit = "50 packets" }}, rate_changes = {changes} }}] }}
                phase_breaking = {{ start = "0 s", delay = "0 s" }}
                flows = [{{ from = "a", to = "b", traffic = {{ kind = "cbr", rate = "9 Mbit/s", payload = "972 B" }} }}]"#
            );
            let o = outcome(&text, &[]);
            let sent = numbers(&o, "links", "delivered_packets")[0];
            assert!((sent - f64::from(packets)).abs() <= 2.0, "{queue} {changes}: {sent}");
        }
    }
}
