//! Tests of the counts of scheduler classes in whole runs.

use crate::common::{TWO_DOWNLOADS, numbers, outcome};
use lab::{Column, Outcome};

const COUNTS: [&str; 6] = [
    "arrived_packets",
    "arrived_bytes",
    "dropped_packets",
    "dropped_bytes",
    "marked_packets",
    "departed_packets",
];

/// Return the name of the class in each row of the table `classes`.
fn class_names(outcome: &Outcome) -> Vec<String> {
    let table = outcome.tables.iter().find(|t| t.name == "classes").unwrap();
    match &table.columns.iter().find(|c| c.0 == "class").unwrap().1 {
        Column::Name(codes, names) => codes.iter().map(|&c| names[c as usize].clone()).collect(),
        _ => panic!("the column `class` has numbers"),
    }
}

/// Each of the two downloads has its own class in a scheduler. RED marks the packets of the first
/// class. The second class contains another scheduler, in which Drop Tail drops packets of one of
/// the two inner classes.
#[test]
fn the_counts_of_classes_equal_those_of_flows_and_links() {
    let tail = r#"{ kind = "drop_tail", limit = "6 packets" }"#;
    let red = r#"{ kind = "red", minth = "3 packets", maxth = "20 packets", maxp = 0.5, wq = 0.1 }"#;
    let within = format!(
        r#"{{ kind = "wrr", classes = [{{ match = {{ protocol = "udp" }} }}, {{ queue = {tail} }}] }}"#
    );
    let queue = format!(
        r#"{{ kind = "drr", classes = [{{ match = {{ flows = "C0" }}, queue = {red} }}, {{ queue = {within} }}] }}"#
    );
    let run = outcome(TWO_DOWNLOADS, &[("network.queue", &queue)]);
    assert_eq!(class_names(&run), ["0", "1", "1.0", "1.1"]);
    let of = |table: &str, name: &str| numbers(&run, table, name);
    let bottleneck = of("links", "dropped_packets").iter().position(|&n| n > 0.0).unwrap();
    for name in COUNTS {
        let [first, second, empty, full] = of("classes", name)[..] else { panic!() };
        assert_eq!((empty, full), (0.0, second), "{name}");
        if name != "marked_packets" {
            assert!(second > 0.0, "{name}");
        }
        assert_eq!(first + second, of("links", name)[bottleneck], "{name}");
    }
    // Both flows send data in the forward direction only, so the counts of the flows cover the same
    // packets as the counts of the classes.
    assert_eq!(of("classes", "marked_packets")[..2], of("flows", "marked_packets")[..]);
    assert_eq!(of("classes", "dropped_packets")[..2], of("flows", "dropped_packets")[..]);
    assert_eq!(of("classes", "arrived_packets")[..2], of("flows", "packets_sent")[..]);
    assert_eq!(of("classes", "waiting_packets"), [0.0; 4]);
    assert!(of("classes", "marked_packets")[0] > 10.0);
}

#[test]
fn a_run_without_schedulers_has_no_table_of_classes() {
    assert!(outcome(TWO_DOWNLOADS, &[]).tables.iter().all(|t| t.name != "classes"));
}
