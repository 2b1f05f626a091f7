//! Runs with a warm-up. Each count of a run with a warm-up equals the count of the whole run, minus
//! the count of a run that ends at the end of the warm-up.

use std::collections::BTreeMap;

use crate::common::{TWO_DOWNLOADS, numbers, outcome, scenario, try_outcome};
use lab::{Column, Failure, Outcome, Table};
use proptest::prelude::*;

/// Scenario with various kinds of traffic over one bottleneck.
const MIXED: &str = r#"
    phase_breaking = { start = "1 ms" }
    flows = [
        { name = "bulk{i}", count = 2, from = "left-{i}", to = "right-{i}", traffic = { kind = "bulk" } },
        { name = "short", from = "left-2", to = "right-2", traffic = { kind = "bulk", size = { kind = "pareto", mean = "30 kB" } },
          arrivals = { interval = "150 ms", connections = 40 } },
        { name = "ping", from = "right-3", to = "left-3", traffic = { kind = "ping", load = "download" } },
        { name = "ask", from = "left-4", to = "right-4", traffic = { kind = "request_response", request = "500 B",
          response = { kind = "exponential", mean = "20 kB" }, requests = 1000, think_time = "20 ms" } },
        { name = "data", from = "left-5", to = "right-5", traffic = { kind = "poisson", rate = "300 kbit/s", payload = "500 B" } },
    ]
    [network]
    kind = "dumbbell"
    rate = "3 Mbit/s"
    delay = "20 ms"
    queue = { kind = "red", limit = "64 packets", minth = "20 packets", maxth = "60 packets" }
    left_hosts = 6
    left_rate = "10 Mbit/s"
    left_delay = "0.5 ms"
    right_hosts = 6
    right_rate = "10 Mbit/s"
    right_delay = "3 ms"
    condition = [{ match = { protocol = "udp" }, meter = { kind = "token_bucket", rate = "250 kbit/s", burst = "2 kB" }, red = "drop" }]
"#;

const QUEUES: [&str; 7] = [
    r#"{ kind = "drop_tail", limit = "30 packets" }"#,
    r#"{ kind = "drop_tail", drop_from = "front", limit = "12 packets" }"#,
    r#"{ kind = "red", limit = "40 packets", minth = "3 packets", maxth = "9 packets", wq = 0.1, maxp = 0.3 }"#,
    r#"{ kind = "pie", limit = "60 packets" }"#,
    r#"{ kind = "codel", limit = "60 packets" }"#,
    r#"{ kind = "fq_codel", limit = "60 packets" }"#,
    r#"{ kind = "drr", classes = [{ match = { protocol = "udp" }, queue = { kind = "drop_tail", limit = "20 packets" } }, {}] }"#,
];

/// Columns that contain states or times instead of counts.
const STATES: [&str; 7] =
    ["ecn", "waiting_packets", "start_s", "established_s", "completed_s", "closed_s", "jitter_s"];
/// Suffixes of the columns that contain means, percentiles and rates. The test skips the columns
/// with these suffixes, because the mean over a part of a run is not the difference of two means.
const DERIVED: [&str; 4] = ["_delay_s", "_duration_s", "_bps", "_rpm"];

/// Return the values of a column as texts.
fn texts(column: &Column) -> Vec<String> {
    match column {
        Column::Name(codes, names) => codes.iter().map(|&c| names[c as usize].clone()).collect(),
        Column::Count(counts) => counts.iter().map(ToString::to_string).collect(),
        Column::Float(numbers) => numbers.iter().map(|x| format!("{x:e}")).collect(),
    }
}

/// Return the numbers in each row of a table. The names in the row are the key of the row.
fn rows(table: &Table) -> BTreeMap<Vec<String>, BTreeMap<&'static str, f64>> {
    let names: Vec<Vec<String>> = table
        .columns
        .iter()
        .filter(|(_, column)| matches!(column, Column::Name(..)))
        .map(|(_, column)| texts(column))
        .collect();
    let n = names[0].len();
    let key = |i: usize| names.iter().map(|column| column[i].clone()).collect::<Vec<_>>();
    let row = |i: usize| {
        let number = |(name, column): &(&'static str, Column)| match column {
            Column::Count(counts) => Some((*name, counts[i] as f64)),
            Column::Float(numbers) => Some((*name, numbers[i])),
            Column::Name(..) => None,
        };
        table.columns.iter().filter_map(number).collect()
    };
    (0..n).map(|i| (key(i), row(i))).collect()
}

/// Return the table with the name `name`.
fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|t| t.name == name).unwrap()
}

/// Return the results of three runs: a run without a warm-up, a run that ends after `ms`
/// milliseconds, and a run with a warm-up of `ms` milliseconds.
fn three_runs(text: &str, changes: &[(&str, &str)], ms: u32) -> [Outcome; 3] {
    let time = format!("\"{ms} ms\"");
    let with = |added: &[(&str, &str)]| outcome(text, &[changes, added].concat());
    [with(&[]), with(&[("duration", &time)]), with(&[("warm_up", &time)])]
}

/// Check that each count of the run with the warm-up is the count of the whole run, minus the count
/// of the run that ends at the end of the warm-up.
fn check_differences([whole, cut, warm]: &[Outcome; 3]) {
    for name in ["flows", "links", "replies", "classes", "conditioners", "impairments", "datagrams"] {
        let Some(of_whole) = whole.tables.iter().find(|t| t.name == name) else { continue };
        let [of_whole, of_cut, of_warm] = [rows(of_whole), rows(table(cut, name)), rows(table(warm, name))];
        assert_eq!(of_whole.len(), of_warm.len());
        for (key, row) in &of_warm {
            for (&column, &value) in row {
                let derived = DERIVED.iter().any(|end| column.ends_with(end));
                let [all, before] = [of_whole[key][column], of_cut[key][column]];
                if STATES.contains(&column) {
                    let undefined = column == "jitter_s" && row["received_packets"] < 2.0;
                    assert!(
                        undefined || value == all || value.is_nan() && all.is_nan(),
                        "{name} {key:?} {column}"
                    );
                } else if column == "busy_s" {
                    assert!((value - (all - before)).abs() < 1e-9, "{name} {key:?} {column}");
                } else if column == "lost_packets" {
                    // The run that ends early counts the packets in the network as lost. A longer
                    // run does not count a packet as lost if the packet arrives later.
                    assert!(value >= all - before && value <= all, "{name} {key:?} {column}");
                } else if !derived && column != "utilization" {
                    assert_eq!(value, all - before, "{name} {key:?} {column}");
                }
            }
        }
    }
}

/// Return the rows of a series whose time is at least `from_s`, sorted as texts. The rows are
/// sorted because two runs can report drops in a different order, if a queue stores packets.
fn rows_since(outcome: &Outcome, name: &str, time: &str, from_s: f64) -> Vec<Vec<String>> {
    let times = numbers(outcome, name, time);
    let columns: Vec<Vec<String>> = table(outcome, name).columns.iter().map(|(_, c)| texts(c)).collect();
    let row = |i: usize| columns.iter().map(|column| column[i].clone()).collect::<Vec<_>>();
    let mut rows: Vec<_> = (0..times.len()).filter(|&i| times[i] >= from_s).map(row).collect();
    rows.sort();
    rows
}

#[test]
fn counts_after_a_warm_up_are_differences_with_every_queue() {
    for (i, queue) in QUEUES.into_iter().enumerate() {
        let changes = [
            ("network.queue", queue),
            ("duration", "\"5 s\""),
            ("tcp.ecn", "\"rfc3168\""),
            ("record.interval", "\"7 ms\""),
            (
                "record.series",
                r#"["queue", "window", "delays", "waits", "drops", "marks", "transfers", "requests", "segments", "rtt"]"#,
            ),
            (
                "network.impairments",
                if i % 2 == 0 {
                    "[]"
                } else {
                    r#"[{ kind = "loss", probability = 0.01 }, { kind = "duplication", probability = 0.01 }, { kind = "jitter", mean = "1 ms" }]"#
                },
            ),
        ];
        let runs = three_runs(MIXED, &changes, 2003);
        check_differences(&runs);
        let [whole, cut, warm] = &runs;
        for name in ["queue", "window", "drops", "segments", "rtt"] {
            assert_eq!(
                rows_since(warm, name, "time_s", 0.0),
                rows_since(whole, name, "time_s", 2.003),
                "{name}"
            );
        }
        assert_eq!(
            rows_since(warm, "transfers", "start_s", 0.0),
            rows_since(whole, "transfers", "start_s", 2.003)
        );
        let [bins, before, after] = [whole, cut, warm].map(|o| histogram(table(o, "waits")));
        for (bin, n) in &bins {
            let difference = n - before.get(bin).unwrap_or(&0.0);
            assert_eq!(after.get(bin).unwrap_or(&0.0), &difference, "{queue} {bin:?}");
        }
        let departed = numbers(warm, "links", "departed_packets");
        assert_eq!(numbers(warm, "delays", "packets"), departed);
        let busiest = numbers(warm, "links", "utilization").into_iter().fold(0.0, f64::max);
        assert!(busiest > 0.4 && busiest <= 1.0, "{busiest}");
    }
}

/// Return the number of packets in each row of the table `waits`, by link and bucket.
fn histogram(table: &Table) -> BTreeMap<[String; 2], f64> {
    let [links, waits, packets] = [0, 1, 2].map(|i| texts(&table.columns[i].1));
    let row = |i: usize| ([links[i].clone(), waits[i].clone()], packets[i].parse().unwrap());
    (0..links.len()).map(row).collect()
}

/// Only transfers and requests that begin after the warm-up are counted.
#[test]
fn transfers_and_requests_that_begin_during_the_warm_up_are_not_counted() {
    let changes = [("duration", "\"6 s\""), ("record.series", r#"["transfers", "requests"]"#)];
    let [whole, cut, warm] = three_runs(MIXED, &changes, 2500);
    let since = |name| {
        let starts = numbers(&whole, name, "start_s");
        starts.iter().filter(|&&s| s >= 2.5).count()
    };
    assert_eq!(numbers(&warm, "transfers", "start_s").len(), since("transfers"));
    assert_eq!(numbers(&warm, "requests", "start_s").len(), since("requests"));
    let opened = |o: &Outcome| numbers(o, "connections", "opened")[0];
    assert_eq!(opened(&warm), opened(&whole) - opened(&cut));
    assert_eq!(numbers(&warm, "transfers", "start_s").len() as f64, opened(&warm));
    let completed = numbers(&warm, "transfers", "completed_s").iter().filter(|t| !t.is_nan()).count();
    assert_eq!(numbers(&warm, "connections", "completed"), [completed as f64]);
    let sum = |o: &Outcome, column| numbers(o, "exchanges", column).iter().sum::<f64>();
    assert_eq!(sum(&warm, "requests"), since("requests") as f64);
    assert_eq!(
        sum(&warm, "completed"),
        numbers(&warm, "requests", "duration_s").iter().filter(|t| !t.is_nan()).count() as f64
    );
    assert!(sum(&warm, "requests") < sum(&whole, "requests"));
}

/// The timeouts of a request exclude the timeouts of its connection during the warm-up.
#[test]
fn timeouts_of_requests_exclude_the_warm_up() {
    let lossy = r#"[{ kind = "loss", probability = 0.2 }]"#;
    let changes =
        [("duration", "\"60 s\""), ("network.impairments", lossy), ("record.series", r#"["requests"]"#)];
    let [whole, _, warm] = three_runs(MIXED, &changes, 30_000);
    // The flow `ask` has a single connection, so its responses arrive in the order of its requests.
    let timeouts = |o: &Outcome, from_s: f64, to_s: f64| {
        let (flows, starts) = (texts(&table(o, "requests").columns[0].1), numbers(o, "requests", "start_s"));
        let counts = numbers(o, "requests", "server_timeouts");
        let selected =
            (0..flows.len()).filter(|&i| flows[i] == "ask" && starts[i] >= from_s && starts[i] < to_s);
        selected.map(|i| counts[i]).collect::<Vec<f64>>()
    };
    let before = timeouts(&whole, 0.0, 30.0).last().copied().unwrap();
    let after: Vec<f64> = timeouts(&whole, 30.0, 60.0).iter().map(|n| n - before).collect();
    assert!(before > 0.0 && after.last() > Some(&0.0));
    assert_eq!(timeouts(&warm, 0.0, 60.0), after);
}

/// The goodput is computed over the time after the warm-up.
#[test]
fn goodput_excludes_the_warm_up() {
    let [whole, cut, warm] = three_runs(MIXED, &[("duration", "\"5 s\"")], 2000);
    let acked = |o: &Outcome| numbers(o, "flows", "acked_bytes")[0];
    let goodput = numbers(&warm, "flows", "goodput_bps")[0];
    assert!((goodput - 8.0 * (acked(&whole) - acked(&cut)) / 3.0).abs() < 1e-6 * goodput);
    // A flow that completed during the warm-up has a goodput of 0.
    let changes = [("duration", "\"60 s\""), ("flows.0.traffic.size", "\"50 kB\"")];
    let [_, _, warm] = three_runs(TWO_DOWNLOADS, &changes, 50_000);
    assert_eq!(numbers(&warm, "flows", "goodput_bps"), [0.0, 0.0]);
    assert_eq!(numbers(&warm, "flows", "acked_bytes"), [0.0, 0.0]);
}

/// The column `lost_packets` counts the packets that were in the network at the end of the warm-up
/// and did not arrive later.
#[test]
fn datagrams_in_the_network_at_the_end_of_the_warm_up_are_not_lost() {
    let changes = [("duration", "\"5 s\"")];
    let [whole, cut, warm] = three_runs(MIXED, &changes, 2000);
    let of = |o: &Outcome, column| numbers(o, "datagrams", column)[0];
    assert!(
        of(&cut, "lost_packets") > of(&cut, "dropped_packets"),
        "no packet was in the network at the end of the warm-up"
    );
    assert_eq!(of(&warm, "lost_packets"), of(&whole, "lost_packets") - of(&cut, "dropped_packets"));
}

#[test]
fn counts_after_a_warm_up_are_differences_without_series() {
    for rows in ["\"flow\"", "\"table\""] {
        let runs = three_runs(MIXED, &[("duration", "\"4 s\""), ("record.flows", rows)], 1700);
        check_differences(&runs);
    }
}

/// The warm-up must be shorter than the run. A run without `duration` ends with its last
/// connection, so the run compares the warm-up with its own length only at the end.
#[test]
fn a_warm_up_as_long_as_the_run_is_refused() {
    let refused = |changes: &[(&str, &str)]| scenario(TWO_DOWNLOADS, changes).unwrap_err();
    assert_eq!(
        refused(&[("duration", "\"3 s\""), ("warm_up", "\"3 s\"")]),
        "warm_up: \"3 s\" must be shorter than the run, whose duration is 3 s; shorten the warm-up, or lengthen duration"
    );
    assert!(
        refused(&[("time_limit", "\"3 s\""), ("warm_up", "\"4 s\"")]).contains("whose time_limit is 3 s")
    );
    assert!(refused(&[("warm_up", "\"-1 s\"")]).contains("warm_up: \"-1 s\" must be"));
    let failure = try_outcome(TWO_DOWNLOADS, &[("warm_up", "\"100 s\"")]).unwrap_err();
    assert!(matches!(failure, Failure::Invalid(_)));
    let text = failure.to_string();
    assert!(
        text.starts_with("warm_up: \"100 s\" is not shorter than the run, whose last connection"),
        "{text}"
    );
    let warm = outcome(TWO_DOWNLOADS, &[("warm_up", "\"2 s\"")]);
    let whole = outcome(TWO_DOWNLOADS, &[]);
    assert_eq!(warm.end, whole.end);
    assert!(numbers(&warm, "flows", "acked_bytes") < numbers(&whole, "flows", "acked_bytes"));
}

/// The warm-up ends after all downloads, at a time at which the run has no more events.
#[test]
fn a_warm_up_can_end_after_the_last_event() {
    let changes = [("duration", "\"600 s\""), ("warm_up", "\"500 s\"")];
    let o = outcome(TWO_DOWNLOADS, &changes);
    assert_eq!(o.end.seconds(), 600.0);
    assert!(numbers(&o, "links", "arrived_packets").iter().all(|&n| n == 0.0));
    assert!(numbers(&o, "links", "busy_s").iter().all(|&s| s == 0.0));
}

#[test]
fn samples_of_the_warm_up_take_no_memory() {
    let changes = [
        ("duration", "\"100000 s\""),
        ("record.series", r#"["queue"]"#),
        ("record.interval", "\"1 ms\""),
        ("warm_up", "\"99999 s\""),
    ];
    assert!(scenario(TWO_DOWNLOADS, &changes[..3]).unwrap_err().contains("record.interval"));
    scenario(TWO_DOWNLOADS, &changes).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The warm-up ends at a random time, and some of the runs use the optimization of early
    /// delivery.
    #[test]
    fn counts_after_a_warm_up_of_any_length_are_differences(
        seed in 0u64..1000, us in 1u32..3_000_000, queue in prop::sample::select(&QUEUES[..]), tables in any::<bool>(),
    ) {
        let (seed, time) = (seed.to_string(), format!("\"{us} us\""));
        let rows = if tables { "\"table\"" } else { "\"flow\"" };
        let changes = [("seed", seed.as_str()), ("network.queue", queue), ("record.flows", rows), ("duration", "\"3001 ms\"")];
        let of = |added: &[(&str, &str)]| outcome(MIXED, &[&changes, added].concat());
        check_differences(&[of(&[]), of(&[("duration", &time)]), of(&[("warm_up", &time)])]);
        let of = |added: &[(&str, &str)]| outcome(TWO_DOWNLOADS, &[&changes, added].concat());
        check_differences(&[of(&[]), of(&[("duration", &time)]), of(&[("warm_up", &time)])]);
    }
}
