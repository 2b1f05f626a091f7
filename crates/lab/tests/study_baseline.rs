//! The single download of Pentikousis & Badr: 112.5 s, no drop at limit 39 and drops at 38.

use lab::{Column, Format, Outcome, Watch, read, run};

fn scenario(limit: u32, header: u32) -> String {
    format!(
        r#"
        phase_breaking = {{ start = "0 s", delay = "0 s" }}
        network = {{ kind = "dumbbell", rate = "1.5 Mbit/s", delay = "20 ms", left_rate = "10 Mbit/s", left_delay = "0.5 ms",
            right_rate = "10 Mbit/s", right_delay = "0.5 ms",
            queue = {{ kind = "drop_tail", limit = "{limit} packets", limit_counts = "waiting-and-in-service" }} }}
        flows = [{{ from = "left-0", to = "right-0", traffic = {{ kind = "bulk", size = "20 MiB" }} }}]
        tcp = {{ receive_window = "64240 B", initial_window = "1 segment", slow_start_from = "second-ack", ssthresh_from = "window", fast_retransmit = "unguarded",
            delayed_ack_timeout = "100 ms", gap_ack = "when-released", recovery_exit = "deflate-and-open", rto_estimator = "jacobson1988", rto_initial = "3 s",
            rto_min = "200 ms", clock_granularity = "100 ms", header_on_data = "{header} B" }}
        "#
    )
}

fn outcome(limit: u32, header: u32) -> Outcome {
    let scenario = read(&scenario(limit, header), Format::Toml, &[]).unwrap();
    run(&scenario, &Watch::default()).unwrap()
}

fn number(outcome: &Outcome, table: &str, column: &str) -> f64 {
    let table = outcome.tables.iter().find(|t| t.name == table).unwrap();
    match &table.columns.iter().find(|c| c.0 == column).unwrap().1 {
        Column::Float(v) => v[0],
        Column::Count(v) => v[0] as f64,
        Column::Name(..) => panic!("not a number"),
    }
}

#[test]
fn limit_39_is_the_least_without_drops() {
    let without = outcome(39, 0);
    assert_eq!(number(&without, "flows", "dropped_packets"), 0.0);
    let completed = number(&without, "flows", "completed_s");
    assert!((completed - 112.5).abs() <= 0.25, "{completed}");
    assert_eq!(number(&without, "flows", "segments_sent"), 14365.0);
    let with = outcome(38, 0);
    assert!(number(&with, "flows", "dropped_packets") > 0.0);
}

/// With headers counted the link carries 1500 B a segment: 14 364 of them and one of 120 B take
/// 114.913 s; slow start adds the time in which the link idles.
#[test]
fn headers_cost_what_theory_says() {
    let completed = number(&outcome(39, 40), "flows", "completed_s");
    let link = (14_364.0 * 1500.0 + 120.0) * 8.0 / 1.5e6;
    assert!(completed > link && completed < link + 0.6, "{completed} {link}");
}
