//! Runs over the TCP of this machine's kernel. A machine without TUN devices or without the right
//! to create a network namespace skips them and prints the reason. The bounds are wide, because a
//! busy machine delays packets.

#![cfg(target_os = "linux")]

use lab::{Column, Format, Outcome, Watch};
use queues::NoCustomAqms;
use testbed::{Error, Pace, Plan, Report};

const SCENARIO: &str = r#"
duration = "3 s"
warm_up = "1 s"
phase_breaking = { start = "0 s" }
network = { kind = "dumbbell", rate = "10 Mbit/s", delay = "10 ms", left_rate = "1 Gbit/s", left_delay = "0 s",
    right_rate = "1 Gbit/s", right_delay = "0 s", queue = { kind = "drop_tail", limit = "50 packets" } }
flows = [{ name = "download", from = "left-0", to = "right-0", traffic = { kind = "bulk" } }]
tcp = { stack = "linux" }
"#;

/// Run a scenario with changes. Return `None` if the kernel refuses what the hosts need.
fn outcome(changes: &[(&str, &str)], qdiscs: &[(String, String)]) -> Option<(Outcome, Report)> {
    let changes: Vec<_> = changes.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = lab::read(SCENARIO, Format::Toml, &changes).unwrap();
    let plan = Plan { pace: Pace::Real, qdiscs: qdiscs.to_vec(), captures: None };
    match testbed::run(&scenario, &Watch::default(), &NoCustomAqms, &plan) {
        Ok(result) => Some(result),
        Err(error @ Error::System { .. }) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn column(outcome: &Outcome, table: &str, name: &str) -> Vec<f64> {
    let table = outcome.tables.iter().find(|t| t.name == table).unwrap();
    match &table.columns.iter().find(|(n, _)| *n == name).unwrap().1 {
        Column::Float(values) => values.clone(),
        Column::Count(values) => values.iter().map(|&value| value as f64).collect(),
        Column::Name(..) => panic!("{name} has names"),
    }
}

#[test]
fn a_download_fills_the_link() {
    let Some((outcome, mut report)) = outcome(&[], &[]) else { return };
    let goodput = column(&outcome, "flows", "goodput_bps")[0];
    assert!((3e6..10e6).contains(&goodput), "{goodput}");
    let (packets, [median, longest]) = report.lateness.quantiles_s([0.5, 1.0]);
    assert!(packets > 1000 && (0.0..=longest).contains(&median), "{packets} {median} {longest}");
}

#[test]
fn a_transfer_has_its_milestones_and_closes() {
    let flows = r#"[{ name = "file", from = "left-0", to = "right-0", traffic = { kind = "bulk", size = "500 kB" } }]"#;
    let Some((outcome, _)) = outcome(&[("flows", flows), ("warm_up", "0 s")], &[]) else { return };
    let value = |name| column(&outcome, "flows", name)[0];
    let times = ["start_s", "established_s", "completed_s", "closed_s"].map(value);
    assert!(times.is_sorted() && times[3] < 3.0, "{times:?}");
    assert!(times[1] >= 0.02, "the handshake takes a round trip: {times:?}");
    assert_eq!(value("acked_bytes"), 500_000.0);
    assert_eq!(value("received_bytes") - value("duplicate_bytes"), 500_000.0);
}

#[test]
fn a_queue_discipline_of_the_kernel_is_the_queue_of_a_link() {
    let leaf = [("left>right".to_string(), "tc qdisc add dev DEV root pfifo limit 50".to_string())];
    let Some((outcome, _)) = outcome(&[], &leaf) else { return };
    let goodput = column(&outcome, "flows", "goodput_bps")[0];
    assert!((3e6..10e6).contains(&goodput), "{goodput}");
    let of_link = |name| column(&outcome, "links", name)[0];
    assert!(of_link("delivered_packets") > 500.0);
    assert!(of_link("utilization") > 0.3 && of_link("utilization") < 1.01);
}
