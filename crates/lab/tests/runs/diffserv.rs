//! Tests of codepoints and conditioners in whole runs.

use crate::common::{TWO_DOWNLOADS, numbers, outcome, scenario};
use lab::{Column, Outcome};

/// Changes that make the bottleneck fast enough for both flows. Flow C0 has the codepoint EF.
const WIDE: [(&str, &str); 3] = [
    ("network.rate", "\"8 Mbit/s\""),
    ("network.queue", r#"{ kind = "drop_tail", limit = "1000 packets" }"#),
    ("flows.0.dscp", "\"EF\""),
];

/// Return the changes [`WIDE`], followed by further changes.
fn with<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&WIDE[..], changes].concat()
}

/// Return a column of names.
fn texts(outcome: &Outcome, table: &str, column: &str) -> Vec<String> {
    let table = outcome.tables.iter().find(|t| t.name == table).unwrap();
    match &table.columns.iter().find(|c| c.0 == column).unwrap().1 {
        Column::Name(codes, names) => codes.iter().map(|&c| names[c as usize].clone()).collect(),
        _ => panic!("the column `{column}` has numbers"),
    }
}

/// Return the column `arrived_packets` of the table `conditioners`.
fn arrived(changes: &[(&str, &str)]) -> Vec<f64> {
    numbers(&outcome(TWO_DOWNLOADS, &with(changes)), "conditioners", "arrived_packets")
}

/// Both endpoints of a connection send packets with the codepoint of their flow. The keys `source`
/// and `destination` describe the packet, so the source of an ACK is the receiver of the data.
#[test]
fn data_and_acks_carry_the_codepoint_of_their_flow() {
    let all = outcome(
        TWO_DOWNLOADS,
        &with(&[
            ("network.condition", r#"[{ match = { dscp = "EF" } }]"#),
            (
                "network.reverse.condition",
                r#"[{ match = { source = "right-1" } }, { match = { dscp = 46, destination = "left-0" } }]"#,
            ),
        ]),
    );
    let forward: f64 = numbers(&all, "flows", "packets_sent").iter().sum();
    let [c0, c1] = numbers(&all, "flows", "acks_sent")[..] else { panic!() };
    // The receiver also sends a SYN-ACK and a FIN, which `acks_sent` does not count because they
    // are not pure ACKs.
    assert_eq!(
        numbers(&all, "conditioners", "arrived_packets"),
        [forward, 0.0, c1 + 2.0, c0 + 2.0, 0.0],
        "{:?}",
        texts(&all, "conditioners", "link")
    );
    assert_eq!(texts(&all, "conditioners", "rule"), ["0", "none", "0", "1", "none"]);
}

/// A conditioner before the bottleneck changes the codepoints of a flow, and a conditioner after
/// the bottleneck matches the new codepoints.
#[test]
fn a_later_conditioner_matches_the_new_codepoints() {
    let line = r#"
        network = { kind = "graph", links = [
            { from = "a", to = "b", rate = "2 Mbit/s", delay = "5 ms", condition = [
                { match = { flows = "f" }, meter = { kind = "token_bucket", rate = "1 Mbit/s", burst = "6 kB" },
                  green = { dscp = "AF21" }, red = { dscp = "AF23" } } ] },
            { from = "b", to = "c", rate = "9 Mbit/s", delay = "5 ms", condition = [
                { match = { dscp = "AF21" } }, { match = { dscp = "AF23" } } ] } ] }
        flows = [{ name = "f", from = "a", to = "c", traffic = { kind = "bulk", size = "500 kB" } }]
    "#;
    let run = outcome(line, &[]);
    let counts = numbers(&run, "conditioners", "arrived_packets");
    let [green, red, unmatched, later_green, later_red, later_unmatched] = counts[..] else {
        panic!("{counts:?}")
    };
    assert!(green > 50.0 && red > 50.0, "{counts:?}");
    assert_eq!([unmatched, later_green, later_red, later_unmatched], [0.0, green, red, 0.0]);
    assert_eq!(texts(&run, "conditioners", "action"), ["AF21", "AF23", "pass", "pass", "pass", "pass"]);
}

/// A conditioner without actions adds the table `conditioners` to the results. The other tables are
/// unchanged, even if the simulator would treat the link without its conditioner as a constant
/// delay.
#[test]
fn a_conditioner_that_only_counts_leaves_other_tables_unchanged() {
    let plain = outcome(TWO_DOWNLOADS, &[]);
    let counted =
        outcome(TWO_DOWNLOADS, &[("network.condition", "[{}]"), ("network.reverse.condition", "[{}]")]);
    assert_eq!(plain.tables[..], counted.tables[..2]);
    let at = |l| numbers(&counted, "links", "arrived_packets")[l];
    assert_eq!(numbers(&counted, "conditioners", "arrived_packets"), [at(0), 0.0, at(1), 0.0]);
}

/// A policer limits the rate of a flow. The green bytes conform to the rate and the burst of the
/// policer (RFC 2697 §3), and the other flow uses the rest of the link. Each drop is counted in its
/// flow, and the series `drops` states the reason of the drop.
#[test]
fn a_policer_limits_the_rate_of_a_flow() {
    let run = outcome(
        TWO_DOWNLOADS,
        &with(&[
            ("duration", "\"20 s\""),
            ("flows.0.traffic", r#"{ kind = "bulk" }"#),
            ("tcp.receive_window", "\"40 kB\""), // a small window, so the round-trip time stays short
            ("record.series", r#"["drops"]"#),
            (
                "network.condition",
                r#"[{ match = { flows = "C0" }, meter = { kind = "srtcm", cir = "1 Mbit/s", cbs = "15 kB", ebs = "0 B" }, red = "drop" }]"#,
            ),
        ]),
    );
    let bytes = numbers(&run, "conditioners", "arrived_bytes");
    assert!(bytes[0] <= 20.0 * 1e6 / 8.0 + 15_000.0, "{bytes:?}");
    assert_eq!(texts(&run, "conditioners", "colour"), ["green", "yellow", "red", "none"]);
    let dropped = numbers(&run, "conditioners", "dropped_packets");
    let of_flows = numbers(&run, "flows", "dropped_packets");
    let goodputs = numbers(&run, "flows", "goodput_bps");
    assert!(goodputs[0] > 2e5 && goodputs[0] < 1e6 && goodputs[1] > 6e6, "{goodputs:?}");
    assert!(dropped[2] > 20.0 && of_flows == [dropped[2], 0.0], "{dropped:?} {of_flows:?}");
    let reasons = texts(&run, "drops", "reason");
    assert!(reasons.len() as f64 == dropped[2] && reasons.iter().all(|r| r == "policed"));
    // A packet that the conditioner drops before the queue is not counted as an arrival at the
    // queue.
    assert_eq!(numbers(&run, "links", "dropped_packets")[0], 0.0);
    let passed: f64 = numbers(&run, "conditioners", "arrived_packets").iter().sum::<f64>() - dropped[2];
    assert_eq!(numbers(&run, "links", "arrived_packets")[0], passed);
}

/// A rule of a conditioner matches the packets of all connections of a flow with `arrivals`.
#[test]
fn rules_match_the_connections_of_flows_with_arrivals() {
    let arrivals = r#"{ interval = "50 ms", connections = 60 }"#;
    let flows = format!(
        r#"[{{ name = "a", from = "left-0", to = "right-0", arrivals = {arrivals}, traffic = {{ kind = "bulk", size = "9 kB" }}, dscp = "AF11" }},
            {{ name = "b", from = "left-0", to = "right-1", arrivals = {arrivals}, traffic = {{ kind = "bulk", size = "9 kB" }} }}]"#
    );
    let counts = arrived(&[
        ("flows", &flows.replace('\n', " ")),
        (
            "network.condition",
            r#"[{ match = { flows = "b", dscp = "DF" } }, { match = { flows = "a", dscp = "AF11" } }]"#,
        ),
    ]);
    assert!(counts[0] > 60.0 * 7.0 && counts[1] > 60.0 * 7.0 && counts[2] == 0.0, "{counts:?}");
}

/// An error about the key `condition` names the wrong key and the remedy.
#[test]
fn invalid_conditions_are_refused() {
    let refusal = |condition| scenario(TWO_DOWNLOADS, &[("network.condition", condition)]).unwrap_err();
    let e = refusal(r#"[{ match = { dscp = "EF" } }, { match = { flows = "C9" } }]"#);
    assert!(
        e.contains("network.condition.1.match.flows: \"C9\" is not the name of a flow; did you mean C0?"),
        "{e}"
    );
    assert!(refusal(r#"[{ match = { dscp = "AF5" } }]"#).contains("network.condition.0.match.dscp"));
    assert!(
        refusal(r#"[{ meter = { kind = "srtcm", cir = "1 Mbit/s" } }]"#).contains("meter.cbs: is missing")
    );
    assert!(refusal(r#"[{ mach = {} }]"#).contains("did you mean match?"));
}
