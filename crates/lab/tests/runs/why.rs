//! Properties of the series `why` and `why_cwnd`.

use std::collections::{BTreeSet, HashMap};

use crate::common::{LINUX, TCP, TWO_DOWNLOADS, numbers, outcome, try_outcome};
use lab::{Column, Outcome, Table};

/// Series of the test runs.
const SERIES: &str = r#"["drops", "marks", "why", "why_cwnd", "window"]"#;

/// Changes of the scenario TWO_DOWNLOADS: those of the digests, which contain every kind of queue,
/// and every set of TCP parameters with every congestion control.
fn cases() -> Vec<Vec<(String, String)>> {
    let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let listed = include_str!("../digests.txt").lines().map(|line| {
        let (_, changes) = line.split_once(' ').unwrap();
        let pairs: Vec<(&str, &str)> = changes.split(';').filter_map(|c| c.split_once('=')).collect();
        owned(&pairs)
    });
    let mut cases: Vec<Vec<(String, String)>> = listed.collect();
    let controls = [
        "abe",
        "bbr",
        "bbr3",
        "cubic",
        "dctcp",
        "highspeed",
        "htcp",
        "illinois",
        "ledbat",
        "prague",
        "reno",
        "scalable",
        "vegas",
        "westwood",
    ];
    for queue in ["drop_tail", r#"{ kind = "red", limit = "30 packets", above_maxth = "mark" }"#] {
        for tcp in TCP.iter().chain(&LINUX).filter(|tcp| !tcp.contains("3000 B")) {
            for control in controls {
                let tcp = match tcp.split_once(", congestion") {
                    Some((before, _)) => before,
                    None => tcp,
                };
                let tcp = format!(r#"{{ {tcp}, congestion = "{control}" }}"#);
                cases.push(owned(&[("network.queue", queue), ("tcp", &tcp)]));
            }
        }
    }
    cases
}

/// Wires that lose and damage packets.
const WIRES: &str =
    r#"[{ kind = "loss", probability = 0.002 }, { kind = "corruption", probability = 0.002 }]"#;

/// Queues of every kind, with small buffers and thresholds, so that most of their rules fire.
const QUEUES: &[&str] = &[
    r#"{ kind = "drop_tail", limit = "9 kB" }"#,
    r#"{ kind = "drop_tail", limit = "12 packets", drop_from = "front" }"#,
    r#"{ kind = "drop_tail", limit = "12 packets", drop_from = "longest-flow" }"#,
    r#"{ kind = "red", limit = "12 packets", minth = "3 packets", maxth = "9 packets", wq = 0.02, gentle = false }"#,
    r#"{ kind = "red", limit = "60 packets", minth = "3 packets", maxth = "9 packets", spacing = "wait", chance_by = "bytes" }"#,
    r#"{ kind = "red", limit = "60 packets", minth = "3 packets", maxth = "9 packets", mark_at = "head", ecn = "mark" }"#,
    r#"{ kind = "tc_red", max = "12 kB", limit = "18 kB" }"#,
    r#"{ kind = "adaptive_red", minth = "3 packets", maxth = "9 packets" }"#,
    r#"{ kind = "self_configuring_red", minth = "3 packets", maxth = "9 packets" }"#,
    r#"{ kind = "nonlinear_red", minth = "3 packets", maxth = "9 packets" }"#,
    r#"{ kind = "red_pd", minth = "3 packets", maxth = "9 packets" }"#,
    r#"{ kind = "wred", precedences = [{ minth = "3 packets", maxth = "9 packets" }] }"#,
    r#"{ kind = "rio", out_minth = "3 packets", out_maxth = "9 packets" }"#,
    r#"{ kind = "fred", limit = "20 packets", minth = "4 packets", maxth = "8 packets", wq = 0.1 }"#,
    r#"{ kind = "fred", limit = "60 packets", minth = "20 packets", maxth = "25 packets", wq = 0.5 }"#,
    r#"{ kind = "sred", limit = "24 packets", zombies = 20 }"#,
    r#"{ kind = "threshold", threshold = "6 packets" }"#,
    r#"{ kind = "blue", limit = "10 packets" }"#,
    r#"{ kind = "sfb", limit = "40 packets", bins = 4, increment = 0.1, bin_size = "6 packets" }"#,
    r#"{ kind = "sfb", limit = "40 packets", bins = 4, increment = 0.5, bin_size = "3 packets", penalty_rate = 1.0 }"#,
    r#"{ kind = "tc_sfb", target = "3 packets", max = "8 packets", increment = 0.02 }"#,
    r#"{ kind = "tc_sfb", target = "3 packets", max = "50 packets", increment = 0.3, penalty_rate = 1.0, penalty_burst = "1 packets" }"#,
    r#"{ kind = "rem", target = "5 packets", gamma = 0.05 }"#,
    r#"{ kind = "pi", qref = "5 packets", a = 1e-3, b = 0.9e-3 }"#,
    r#"{ kind = "avq", virtual_buffer = "9 kB" }"#,
    r#"{ kind = "pie" }"#,
    r#"{ kind = "pie", tosses = "accumulated", mark_below = 1.0 }"#,
    r#"{ kind = "pie_enhanced", limit = "30 packets" }"#,
    r#"{ kind = "pie_enhanced", limit = "60 packets", tail_drop = "12 kB" }"#,
    r#"{ kind = "tc_pie", limit = "30 packets" }"#,
    r#"{ kind = "pi2" }"#,
    r#"{ kind = "choke", limit = "20 packets", minth = "3 packets", maxth = "9 packets", wq = 0.02 }"#,
    r#"{ kind = "codel" }"#,
    r#"{ kind = "codel", ce_threshold = "8 ms" }"#,
    r#"{ kind = "fq_codel", packet_limit = "60 packets", flows = 3 }"#,
    r#"{ kind = "fq_codel", ce_threshold = "8 ms" }"#,
    r#"{ kind = "cobalt", limit = "12 packets" }"#,
    r#"{ kind = "fq_pie", flows = 3 }"#,
    r#"{ kind = "fq_pie", rules = "linux", packet_limit = "20 packets", flows = 3 }"#,
    r#"{ kind = "dualpi2" }"#,
    r#"{ kind = "dualpi2", choice = "random", coupling = 8.0, limit = "40 packets" }"#,
    r#"{ kind = "phb", limit = "30 packets" }"#,
    r#"{ kind = "sfq", limit = "20 packets" }"#,
    r#"{ kind = "tbf", rate = "1 Mbit/s", burst = "1400 B", queue = { kind = "codel" } }"#,
    r#"{ kind = "drr", classes = [{ match = { flows = ["mark"] }, queue = { kind = "red", minth = "3 packets", maxth = "9 packets" } }, { queue = { kind = "codel" } }] }"#,
];

/// Flows with and without ECN, a Scalable flow, and datagrams that take most of the link.
const FLOWS: &str = r#"[
    { name = "mark", from = "left-0", to = "right-0", traffic = "bulk" },
    { name = "drop", from = "left-0", to = "right-1", traffic = "bulk", tcp = { ecn = "off" }, dscp = "AF13" },
    { name = "l4s", from = "left-0", to = "right-1", traffic = "bulk", tcp = { congestion = "prague", ecn = "accurate" } },
    { name = "cbr", from = "left-0", to = "right-0", traffic = { kind = "cbr", rate = "1.3 Mbit/s" }, dscp = "AF13" },
    { name = "web", from = "left-0", to = "right-1", traffic = { kind = "bulk", size = "20 kB" }, arrivals = { interval = "300 ms" } },
]"#;

fn with_series(changes: &[(String, String)], series: &str) -> Option<Outcome> {
    let mut changes: Vec<(&str, &str)> = changes
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .filter(|(k, _)| *k != "record.series")
        .collect();
    changes.extend([("record.series", series), ("record.interval", "7 ms"), ("duration", "8 s")]);
    if crate::common::scenario(TWO_DOWNLOADS, &changes).is_err() {
        return None; // some controls refuse some parameters
    }
    try_outcome(TWO_DOWNLOADS, &changes).ok()
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|t| t.name == name).unwrap()
}

fn texts(table: &Table, column: &str) -> Vec<String> {
    match &table.columns.iter().find(|c| c.0 == column).unwrap().1 {
        Column::Name(codes, names) => codes.iter().map(|&code| names[code as usize].clone()).collect(),
        other => panic!("{other:?}"),
    }
}

/// Return the rows of a table as text, with these columns.
fn rows(outcome: &Outcome, table: &str, columns: &[&str]) -> Vec<String> {
    let columns: Vec<Vec<f64>> = columns.iter().map(|column| numbers(outcome, table, column)).collect();
    (0..columns[0].len()).map(|i| format!("{:?}", columns.iter().map(|c| c[i]).collect::<Vec<_>>())).collect()
}

/// Every drop and every mark has exactly one reason, and each reason belongs to a drop or a mark.
fn check_decisions(run: &Outcome) {
    let packet = ["time_s", "link", "flow", "reply", "seq", "bytes", "reason"];
    let mut expected = rows(run, "drops", &packet);
    let drops = expected.len();
    expected.extend(rows(run, "marks", &packet));
    let mut found = rows(run, "why", &packet);
    let signals = texts(table(run, "why"), "signal");
    assert_eq!(signals.iter().filter(|signal| *signal == "drop").count(), drops);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

/// Each change begins with the windows that the previous change of the sender left, and the sampled
/// windows are those after the last change. The window of a connection is the sum of its changes.
fn check_windows(run: &Outcome) {
    let column = |name: &str| numbers(run, "why_cwnd", name);
    let keys = rows(run, "why_cwnd", &["flow", "connection", "reply"]);
    let times = column("time_s");
    let [before, after] = ["before", "after"].map(|when| {
        let cwnd = column(&format!("cwnd_{when}_bytes"));
        let ssthresh = column(&format!("ssthresh_{when}_bytes"));
        cwnd.into_iter().zip(ssthresh).collect::<Vec<_>>()
    });
    let mut last: HashMap<&str, (f64, f64)> = HashMap::new();
    let mut of_flow: HashMap<u64, Vec<(f64, f64, f64)>> = HashMap::new();
    let (flows, replies) = (column("flow"), column("reply"));
    let rules = texts(table(run, "why_cwnd"), "rule");
    for i in 0..times.len() {
        let previous = last.insert(&keys[i], after[i]).unwrap_or((0.0, 0.0));
        assert_eq!(before[i], previous, "{} at {} by {}", keys[i], times[i], rules[i]);
        assert_ne!(before[i], after[i], "{} at {} by {}", keys[i], times[i], rules[i]);
        if replies[i] == 0.0 {
            of_flow.entry(flows[i] as u64).or_default().push((times[i], after[i].0, after[i].1));
        }
    }
    let [times, flows, cwnd, ssthresh] =
        ["time_s", "flow", "cwnd_bytes", "ssthresh_bytes"].map(|name| numbers(run, "window", name));
    for i in 0..times.len() {
        let Some(changes) = of_flow.get(&(flows[i] as u64)) else { continue };
        let at = changes.partition_point(|change| change.0 <= times[i]);
        let Some(&(time, cwnd_after, ssthresh_after)) = at.checked_sub(1).map(|last| &changes[last]) else {
            continue;
        };
        if time < times[i] {
            let as_stored = |x: f64| f64::from(x as f32);
            assert_eq!(
                (cwnd[i], ssthresh[i]),
                (as_stored(cwnd_after), as_stored(ssthresh_after)),
                "{}",
                times[i]
            );
        }
    }
}

#[test]
fn every_drop_mark_and_change_of_a_window_has_one_reason() {
    let mut rules: HashMap<String, usize> = HashMap::new();
    for changes in cases() {
        let Some(run) = with_series(&changes, SERIES) else { continue };
        println!("{changes:?}");
        check_decisions(&run);
        check_windows(&run);
        for name in ["why", "why_cwnd"] {
            for rule in texts(table(&run, name), "rule") {
                *rules.entry(rule).or_default() += 1;
            }
        }
    }
    assert!(rules.len() >= 55, "{} rules fired: {rules:?}", rules.len());
}

/// Every rule of every queue in `QUEUES` fires in at least one run, except the general rules.
#[test]
fn every_rule_of_every_queue_fires() {
    let mut fired: BTreeSet<String> = BTreeSet::new();
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    for queue in QUEUES {
        let changes: Vec<(String, String)> =
            [("network.queue", *queue), ("flows", FLOWS), ("network.impairments", WIRES)]
                .map(|(k, v)| (k.to_string(), v.to_string()))
                .to_vec();
        let run = with_series(&changes, SERIES).unwrap_or_else(|| panic!("{queue} was refused"));
        check_decisions(&run);
        check_windows(&run);
        let kind = queue.split('"').nth(1).unwrap();
        kinds.insert(kind);
        fired.extend(texts(table(&run, "why"), "rule").iter().map(|rule| format!("{kind} {rule}")));
    }
    let pages = lab::pages();
    let queues = pages["queues"].as_array().unwrap();
    let mut silent: Vec<String> = Vec::new();
    for page in queues {
        let kind = page["name"].as_str().unwrap();
        for rule in page["rules"].as_array().unwrap() {
            let rule = rule["name"].as_str().unwrap();
            // PIE accumulates a probability of 8.5 without a random drop once in about e^8 drops.
            let is_rare = rule == "accumulated";
            let runs = kind != "drop_tail" && kinds.contains(kind);
            if runs && !is_rare && !fired.contains(&format!("{kind} {rule}")) {
                silent.push(format!("{kind} {rule}"));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?}");
}

/// Datagrams have no windows, so only the flow with TCP has rows, and datagrams have sequence
/// numbers.
#[test]
fn datagrams_have_reasons_for_drops_only() {
    let flows = r#"[
        { name = "tcp", from = "left-0", to = "right-0", traffic = "bulk" },
        { name = "cbr", from = "left-0", to = "right-1", traffic = { kind = "cbr", rate = "1.3 Mbit/s" } },
    ]"#;
    let changes = [("flows", flows), ("network.queue", "drop_tail")];
    let changes = changes.map(|(k, v)| (k.to_string(), v.to_string())).to_vec();
    let run = with_series(&changes, SERIES).unwrap();
    check_decisions(&run);
    check_windows(&run);
    assert!(texts(table(&run, "why"), "flow").contains(&"cbr".to_string()));
    assert!(texts(table(&run, "why_cwnd"), "flow").iter().all(|flow| flow == "tcp"));
}

/// The series change no other table, with and without early delivery.
#[test]
fn reasons_leave_other_tables_unchanged() {
    for changes in cases().into_iter().step_by(3) {
        let Some(plain) = with_series(&changes, r#"["drops", "marks", "transfers"]"#) else { continue };
        let recorded =
            with_series(&changes, r#"["drops", "marks", "transfers", "why", "why_cwnd"]"#).unwrap();
        let text = |tables: &[Table]| format!("{tables:?}");
        assert_eq!(text(&plain.tables), text(&recorded.tables[..plain.tables.len()]), "{changes:?}");
        assert_eq!(plain.events, recorded.events, "{changes:?}");
    }
}

/// A row of RED has the variables of figure 2: the random number is below p_a, which follows from
/// p_b and the count.
#[test]
fn the_variables_of_red_explain_its_signals() {
    let queue = r#"{ kind = "red", limit = "60 packets", minth = "5 packets", maxth = "15 packets", maxp = 0.1, gentle = true }"#;
    let run = outcome(TWO_DOWNLOADS, &[("network.queue", queue), ("record.series", SERIES)]);
    let rules = texts(table(&run, "why"), "rule");
    let [avg, count, p_b, p_a, random] =
        ["avg", "count", "p_b", "p_a", "random"].map(|name| numbers(&run, "why", name));
    let signals: Vec<usize> = (0..rules.len()).filter(|&i| rules[i] == "random").collect();
    assert!(signals.len() > 10, "{}", signals.len());
    for i in signals {
        let expected =
            if avg[i] < 15.0 { 0.1 * (avg[i] - 5.0) / 10.0 } else { 0.1 + 0.9 * (avg[i] - 15.0) / 15.0 };
        assert!((p_b[i] - expected).abs() < 1e-12, "{} {expected}", p_b[i]);
        let spaced = p_b[i] / (1.0 - count[i] * p_b[i]);
        assert!(p_a[i] == 1.0 || (p_a[i] - spaced).abs() < 1e-9, "{} {spaced}", p_a[i]);
        assert!(random[i] < p_a[i]);
    }
}

/// Return the rules by which two bulk flows, with and without ECN, change their windows with CUBIC.
fn rules_of_cubic(arithmetic: &str, slow_start: &str) -> BTreeSet<String> {
    let tcp = format!(
        r#"{{ stack = "linux", ecn = "rfc3168", congestion = {{ kind = "cubic", arithmetic = "{arithmetic}", slow_start = {slow_start} }} }}"#
    );
    let flows = r#"[
        { from = "left-0", to = "right-0", traffic = "bulk" },
        { from = "left-0", to = "right-0", traffic = { kind = "bulk", size = "50 MB" }, tcp = { ecn = "off" }, start = "5 s" },
    ]"#;
    let changes = [
        ("network.queue", r#"{ kind = "codel", limit = "200 packets" }"#),
        ("network.rate", "50 Mbit/s"),
        ("network.delay", "40 ms"),
        ("network.left_rate", "1 Gbit/s"),
        ("network.right_rate", "1 Gbit/s"),
        ("tcp", tcp.as_str()),
        ("flows", flows),
        ("duration", "60 s"),
        ("record.series", SERIES),
    ];
    let run = outcome(TWO_DOWNLOADS, &changes);
    check_windows(&run);
    texts(table(&run, "why_cwnd"), "rule").into_iter().collect()
}

/// The two arithmetics make the same distinctions. Only Linux's arithmetic grows cwnd by a
/// twentieth before the first congestion. The growth at or above the curve is too slow for a row
/// within a minute.
#[test]
fn cubic_of_linux_has_the_rules_of_rfc_9438() {
    for (detect, exit) in [("train", "hystart-ack-train"), ("delay", "hystart-delay")] {
        let mut expected = BTreeSet::from([
            exit,
            "slow-start",
            "cubic-concave",
            "cubic-convex",
            "cubic-reno-friendly",
            "cubic-loss",
            "cubic-loss-fast-convergence",
            "cubic-mark",
            "cubic-mark-fast-convergence",
            "initial-window",
            "proportional-rate-reduction",
        ]);
        for arithmetic in ["rfc9438", "linux"] {
            let slow_start = format!(r#"{{ kind = "hybrid", detect = "{detect}" }}"#);
            let mut rules = rules_of_cubic(arithmetic, &slow_start);
            rules.remove("recovery-ends");
            assert_eq!(rules.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected, "{arithmetic}");
            expected.insert("cubic-before-congestion");
        }
    }
}

/// A pause of two seconds between two messages restarts cwnd, at the time of the first segment
/// after the pause.
#[test]
fn an_idle_time_has_its_rule() {
    let flows = r#"[{ from = "left-0", to = "right-0", traffic = { kind = "messages", size = "60 kB", interval = "2 s", messages = 3 } }]"#;
    for (restart, rule) in [("rfc5681", "idle-restart"), ("rfc2861", "idle-decay")] {
        let tcp = format!(r#"{{ cwnd.idle_restart = "{restart}" }}"#);
        let changes = [("flows", flows), ("tcp", tcp.as_str())];
        let changes = changes.map(|(k, v)| (k.to_string(), v.to_string())).to_vec();
        let run = with_series(&changes, SERIES).unwrap();
        check_windows(&run);
        let (rules, times) = (texts(table(&run, "why_cwnd"), "rule"), numbers(&run, "why_cwnd", "time_s"));
        let restarts: Vec<f64> = (0..rules.len()).filter(|&i| rules[i] == rule).map(|i| times[i]).collect();
        assert!(!restarts.is_empty(), "{rules:?}");
        for restart in restarts {
            let quiet = times.iter().all(|time| *time >= restart || *time < restart - 0.5);
            assert!(quiet, "cwnd changed in the half second before the restart at {restart}");
        }
    }
}
