//! Errors of invalid scenarios. Each error names the field, the value and the bound, and no invalid
//! scenario causes a panic.

use crate::common::{TWO_DOWNLOADS, scenario, try_outcome};
use lab::{Failure, Format, read};
use proptest::prelude::*;

/// Return the error of a scenario in which one key has a changed value.
fn refusal(key: &str, value: &str) -> String {
    scenario(TWO_DOWNLOADS, &[(key, value)]).expect_err("the scenario is accepted")
}

#[test]
fn every_error_names_field_value_and_bound() {
    for (key, value, expected) in [
        (
            "network.queue.minth",
            "\"60 packets\"",
            "network.queue.minth: \"60 packets\" must be below maxth (60 packets)",
        ),
        ("network.delay", "\"-1 ms\"", "network.delay: \"-1 ms\" must be between 0 s"),
        ("format", "2", "format: 2 must be at most 1, the format of this version of aqmlab; install a later"),
        ("format", "0", "format: 0 must be"),
        ("network.delay", "20", "network.delay: 20 must be a time with its unit"),
        ("network.dealy", "\"1 ms\"", "network.dealy: is not a known key; did you mean delay?"),
        ("network.queue.maxp", "1.5", "network.queue.maxp: 1.5 must be a number between 0 and 1"),
        ("network.queue.limit", "\"0 packets\"", "network.queue.limit: \"0 packets\" must be a whole number"),
        ("network.queue.kind", "\"rde\"", "network.queue.kind: \"rde\" is not known; did you mean red?"),
        ("network.kind", "\"ring\"", "network.kind"),
        ("flows.0.to", "\"right-7\"", "flows.0.to: \"right-7\" is not a node of the network"),
        ("flows.0.to", "\"left-0\"", "names the same host as the key from"),
        ("flows.1.to", "\"x\"", "flows.1: does not exist: the list has 1 element; count from 0"),
        ("flows", "[]", "flows: is empty"),
        ("flows.0.name", "\"C\"", "flows.0.name: \"C\" is also the name of a flow"),
        ("flows.0.traffic.size", "\"0 B\"", "flows.0.traffic.size: \"0 B\" must be at least 1 B"),
        ("flows.0.tcp.mss", "\"9 MB\"", "flows.0.tcp.mss: \"9 MB\" must be at least 1 B, at most 65495 B"),
        ("flows.0.tcp.rto.min", "\"90 s\"", "flows.0.tcp.rto.min: \"90 s\" must not exceed max"),
        (
            "flows.0.receiver_tcp.ecn",
            "\"on\"",
            "flows.0.receiver_tcp.ecn.mode: \"on\" is not one of the choices; known: off",
        ),
        (
            "record.series",
            "[\"queues\"]",
            "record.series.0: \"queues\" is not one of the choices; did you mean queue?",
        ),
        (
            "network.reverse_queue",
            "{ kind = \"codel\" }",
            "network.reverse_queue: is now reverse.queue; write reverse = { queue = … }",
        ),
        (
            "network.queue.least_backlog",
            "\"1 packet\"",
            "network.queue.least_backlog: is now min_backlog; write min_backlog = \"1 packet\"",
        ),
        (
            "flows.0.traffic.size",
            r#"{ kind = "bounded_pareto", least = "1 kB", max = "1 MB" }"#,
            "flows.0.traffic.size.least: is now min; write min = \"1 kB\"",
        ),
        (
            "flows.0.traffic.size",
            r#"{ kind = "uniform", min = "1 kB", most = "1 MB" }"#,
            "flows.0.traffic.size.most: is now max; write max = \"1 MB\"",
        ),
        ("network.reverse_impairments", "[]", "network.reverse_impairments: is now reverse.impairments"),
        ("network.reverse_rate_changes", "[]", "network.reverse_rate_changes: is now reverse.rate_changes"),
        ("network.reverse_condition", "[]", "network.reverse_condition: is now reverse.condition"),
        (
            "network",
            r#"{ kind = "graph", links = [{ from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms", reverse_queue = "codel" }] }"#,
            "network.links.0.reverse_queue: is now reverse.queue; write reverse = { queue = … }",
        ),
        (
            "network",
            r#"{ kind = "graph", links = [{ from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms", directions = "one", reverse = { rate = "2 Mbit/s" } }] }"#,
            "network.links.0.reverse: cannot be used in a link with directions = \"one\"; leave out the key reverse or the key directions",
        ),
        ("network.reverse", "{ rate = \"2\" }", "network.reverse.rate: \"2\""),
        ("network.reverse", "{ delay = \"-1 ms\" }", "network.reverse.delay: \"-1 ms\" must be"),
        (
            "network.right_delay",
            "[\"1 ms\", \"2 ms\", \"3 ms\"]",
            "network.right_delay: has 3 entries, and right_hosts is 2; give one value per host, or one value for all hosts",
        ),
        ("network.left_rate", "[]", "network.left_rate: has 0 entries, and left_hosts is 1"),
        ("network.left_rate", "[\"fast\"]", "network.left_rate.0: \"fast\""),
        ("network.right_delay", "[\"1 ms\", \"-2 ms\"]", "network.right_delay.1: \"-2 ms\""),
        (
            "record.series",
            "[\"carried\"]",
            "record.series.0: \"carried\" was removed, because all tables exclude the warm-up; set warm_up",
        ),
        (
            "record.links",
            "[\"left>rigth\"]",
            "record.links.0: \"left>rigth\" is not a link of the network; did you mean left>right?",
        ),
        ("flows.0.arrivals", "{ }", "flows.0.arrivals.interval: is missing"),
        (
            "flows.0.arrivals",
            "{ interval = \"0 s\" }",
            "flows.0.arrivals.interval: \"0 s\" must be above 0 s if it counts from the opening of the previous connection; use a longer interval, after = \"response\" or after = \"closing\"",
        ),
        (
            "flows.0.arrivals",
            "{ interval = \"1 s\" }",
            "flows.0.arrivals.connections: is absent, so the flow never ends, and the scenario has no duration; give the flow a number of connections",
        ),
        (
            "flows.0.traffic",
            "{ kind = \"messages\", size = \"1 kB\", interval = \"1 s\" }",
            "flows.0.traffic.messages: is absent, so the flow never ends",
        ),
        (
            "flows.0.traffic.size",
            "{ kind = \"pareto\", mean = \"7 kB\", shape = 1 }",
            "flows.0.traffic.size.shape: 1 must be above 1",
        ),
        (
            "flows.0.traffic.size",
            "{ kind = \"normal\" }",
            "flows.0.traffic.size.kind: \"normal\" is not known",
        ),
        (
            "record.flows",
            "\"flows\"",
            "record.flows: \"flows\" is not one of the choices; did you mean flow?",
        ),
        ("record.interval", "\"0 s\"", "record.interval: \"0 s\" must be above 0 s"),
        ("duration", "1979-05-27", "is a date, but no key accepts a date"),
        ("network..rate", "1", "is not a valid path of keys"),
        (
            "network.queue",
            "12",
            "network.queue: 12 must be a table of keys and values; write for example \"red\"",
        ),
        (
            "network.condition",
            "[{ }, { green = \"drop\" }]",
            "network.condition.1: never applies, because rule 0 has no match and takes all packets; move that rule to the end",
        ),
        ("tcp.pacing", "1", "tcp.pacing: is not a known key; known: stack, congestion, sack"),
        ("network.rate", "1500000", "write for example \"1.5 Mbit/s\""),
        ("tcp.mss", "1460", "write for example \"1460 B\""),
        ("flows.0.name", "5", "flows.0.name: 5 must be a text; put the value in quotes"),
        (
            "flows",
            "{ }",
            "flows: {} must be a list; put the value in brackets, or write [[flows]] instead of [flows]",
        ),
        ("seed", "99999999999999999999", "must be at most 9223372036854775807"),
        ("phase_breaking", "false", "must be a table of keys and values; its keys are start, delay"),
        (
            "tcp.recovery",
            "\"sack\"",
            "flows.0.tcp.recovery.method: \"sack\" needs SACK, and sack is false; set sack = true",
        ),
        ("tcp.receive_window", "\"100 B\"", "must be at least mss (1460 B)"),
    ] {
        let message = refusal(key, value);
        assert!(message.contains(expected), "{key} = {value}\n  error:    {message}\n  expected: {expected}");
    }
}

#[test]
fn syntax_errors_name_line_and_column() {
    let e = read("network = {", Format::Toml, &[]).unwrap_err().to_string();
    assert!(e.starts_with("not valid TOML, line 1, column 12: ") && !e.contains('|'), "{e}");
    let e = read("seed = 1\n\"a.b\" = 2", Format::Toml, &[]).unwrap_err().to_string();
    assert!(e.starts_with("\"a.b\": is not a known key"), "{e}");
    let e = read("seed = 1\nx", Format::Toml, &[]).unwrap_err().to_string();
    assert!(e.starts_with("not valid TOML, line 2, column "), "{e}");
    let e = read(
        "network = { kind = \"graph\", links = [] }\nflows = [{ from = \"a\", to = \"b\", traffic = { kind = \"bulk\", size = \"1 B\" } }]",
        Format::Toml,
        &[],
    );
    assert!(e.unwrap_err().to_string().starts_with("network.links: is empty"));
    let e = read("{\"a\": ", Format::Json, &[]).unwrap_err().to_string();
    assert!(e.contains("not valid JSON") && e.contains("line 1"), "{e}");
    let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
    assert!(
        read(&deep, Format::Json, &[]).is_err() && read(&format!("x={deep}"), Format::Toml, &[]).is_err()
    );
}

#[test]
fn a_flow_without_a_reverse_route_is_refused() {
    let text = r#"
        network = { kind = "graph", links = [{ from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms", directions = "one" }] }
        flows = [{ from = "a", to = "b", traffic = { kind = "bulk", size = "1 MB" } }]
    "#;
    let e = scenario(text, &[]).unwrap_err();
    assert!(e.contains("flows.0: no route leads from b to a"), "{e}");
    let twice = [(
        "network.links",
        r#"[{ from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms" }, { from = "b", to = "a", rate = "1 Mbit/s", delay = "1 ms" }]"#,
    )];
    assert!(
        scenario(text, &twice).unwrap_err().contains("network.links.1: describes a second link from b to a")
    );
}

#[test]
fn an_endless_flow_without_a_duration_is_refused() {
    let e = scenario(TWO_DOWNLOADS, &[("flows.0.traffic", "{ kind = \"bulk\" }")]).unwrap_err();
    assert!(e.contains("flows.0.traffic.size: is absent") && e.contains("duration"), "{e}");
    let late = try_outcome(TWO_DOWNLOADS, &[("time_limit", "1 s")]);
    assert!(matches!(&late, Err(Failure::Stalled(what)) if what.contains("2 of 2 flows")), "{late:?}");
}

const WORDS: [&str; 12] = [
    "\"red\"",
    "\"-3 ms\"",
    "\"1e400 packets\"",
    "[]",
    "{}",
    "0",
    "-1",
    "nan",
    "\"\"",
    "true",
    "\"🦀 B\"",
    "[[[1]]]",
];
const KEYS: [&str; 14] = [
    "network",
    "network.kind",
    "network.queue",
    "network.queue.limit",
    "network.queue.maxp",
    "network.right_hosts",
    "flows",
    "flows.0",
    "flows.0.count",
    "flows.0.tcp",
    "flows.0.traffic.size",
    "tcp.initial_window",
    "record",
    "seed",
];

proptest! {
    /// The reader returns a scenario, or an error of one line, for a document with arbitrary
    /// values.
    #[test]
    fn no_document_causes_a_panic(changes in prop::collection::vec((0..KEYS.len(), 0..WORDS.len()), 1..4)) {
        let changes: Vec<_> = changes.into_iter().map(|(k, w)| (KEYS[k], WORDS[w])).collect();
        if let Err(message) = scenario(TWO_DOWNLOADS, &changes) {
            prop_assert!(!message.is_empty() && !message.contains('\n'));
        }
    }

    #[test]
    fn no_text_causes_a_panic(text in ".{0,200}") {
        let _ = read(&text, Format::Toml, &[]);
        let _ = read(&text, Format::Json, &[]);
    }
}
