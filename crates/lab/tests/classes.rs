//! What each class of a scheduler got, in whole runs.

mod common;

use common::{TWO_DOWNLOADS, numbers, outcome};
use lab::{Column, Outcome};

const COUNTS: [&str; 6] = [
    "arrived_packets",
    "arrived_bytes",
    "dropped_packets",
    "dropped_bytes",
    "marked_packets",
    "departed_packets",
];

fn places(outcome: &Outcome) -> Vec<String> {
    let table = outcome.tables.iter().find(|t| t.name == "classes").unwrap();
    match &table.columns.iter().find(|c| c.0 == "class").unwrap().1 {
        Column::Name(codes, names) => codes.iter().map(|&c| names[c as usize].clone()).collect(),
        _ => panic!("places hold numbers"),
    }
}

/// Two downloads, each a class: one marked by RED, the other cut short by Drop Tail, in a class of its own of two.
#[test]
fn classes_got_what_their_flows_sent_and_the_link_had() {
    let tail = r#"{ kind = "drop_tail", limit = "6 packets" }"#;
    let red = r#"{ kind = "red", minth = "3 packets", maxth = "20 packets", maxp = 0.5, wq = 0.1 }"#;
    let within = format!(
        r#"{{ kind = "wrr", classes = [{{ match = {{ protocol = "udp" }} }}, {{ queue = {tail} }}] }}"#
    );
    let queue = format!(
        r#"{{ kind = "drr", classes = [{{ match = {{ flows = "C0" }}, queue = {red} }}, {{ queue = {within} }}] }}"#
    );
    let run = outcome(TWO_DOWNLOADS, &[("network.queue", &queue)]);
    assert_eq!(places(&run), ["0", "1", "1.0", "1.1"]);
    let of = |table: &str, name: &str| numbers(&run, table, name);
    let bottleneck = of("links", "dropped_packets").iter().position(|&n| n > 0.0).unwrap();
    for name in COUNTS {
        let [first, second, none, all] = of("classes", name)[..] else { panic!() };
        assert_eq!((none, all), (0.0, second), "{name}");
        if name != "marked_packets" {
            assert!(second > 0.0, "{name}");
        }
        assert_eq!(first + second, of("links", name)[bottleneck], "{name}");
    }
    // Flows tell the same of the way of data.
    assert_eq!(of("classes", "marked_packets")[..2], of("flows", "marked_packets")[..]);
    assert_eq!(of("classes", "dropped_packets")[..2], of("flows", "dropped_packets")[..]);
    assert_eq!(of("classes", "arrived_packets")[..2], of("flows", "packets_sent")[..]);
    assert_eq!(of("classes", "waiting_packets"), [0.0; 4]);
    assert!(of("classes", "marked_packets")[0] > 10.0);
}

#[test]
fn without_a_scheduler_there_is_no_table_of_classes() {
    assert!(outcome(TWO_DOWNLOADS, &[]).tables.iter().all(|t| t.name != "classes"));
}
