//! Applications at both ends: requests and responses, probes, slow readers; data that goes both ways.

mod common;

use common::{TCP, digest, numbers, outcome, scenario};
use lab::Outcome;
use proptest::prelude::*;

/// One host on each side, links without waiting but at the bottleneck. A packet there takes 8 µs a byte.
const PATH: &str = r#"
    network = { kind = "dumbbell", rate = "1 Mbit/s", delay = "20 ms", left_rate = "1 Gbit/s", left_delay = "0 ms",
        right_rate = "1 Gbit/s", right_delay = "0 ms",
        queue = { kind = "drop_tail", limit = "100 packets" }, reverse = { queue = { kind = "drop_tail", limit = "100 packets" } } }
    phase_breaking = { start = "0 s", delay = "0 s" }
    flows = [{ name = "F", from = "left-0", to = "right-0", traffic = { kind = "request_response", request = "1000 B",
        response = "1200 B", requests = 1, server_time = "50 ms" } }]
"#;

/// The time that a packet of so many bytes takes from one host to the other when nothing else is there.
fn takes(bytes: f64) -> f64 {
    bytes * 8.0 * (1e-6 + 2.0 * 1e-9) + 0.020
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// SYN, SYN-ACK, request, the server's time, response: each is one packet with 40 bytes of headers.
#[test]
fn a_request_takes_what_its_packets_take() {
    let o = outcome(PATH, &[]);
    let expected = takes(40.0) + takes(40.0) + takes(1040.0) + 0.050 + takes(1240.0);
    near(numbers(&o, "exchanges", "mean_duration_s")[0], expected);
    near(numbers(&o, "exchanges", "responsiveness_rpm")[0], 60.0 / expected);
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [1000.0]);
    assert_eq!(numbers(&o, "replies", "acked_bytes"), [1200.0]);
    assert_eq!(numbers(&o, "replies", "received_bytes"), [1200.0]);
}

/// Every byte is accounted for both ways; who closes first is closed first, when the FIN of the other comes.
#[test]
fn a_loop_of_transactions_counts_its_requests() {
    for (closes, series) in [("client", "[\"requests\"]"), ("server", "[\"requests\", \"segments\"]")] {
        let o = outcome(
            PATH,
            &[
                ("flows.0.traffic.requests", "20"),
                ("flows.0.traffic.response", "{ kind = \"exponential\", mean = \"20 kB\" }"),
                ("flows.0.traffic.think_time", "30 ms"),
                ("flows.0.traffic.think_spacing", "uniform"),
                ("flows.0.traffic.closes", closes),
                ("record.series", series),
            ],
        );
        assert_eq!(numbers(&o, "exchanges", "requests"), [20.0]);
        assert_eq!(numbers(&o, "exchanges", "completed"), [20.0]);
        assert_eq!(numbers(&o, "exchanges", "unfinished"), [0.0]);
        assert_eq!(numbers(&o, "flows", "acked_bytes"), [20_000.0]);
        let responses = numbers(&o, "requests", "response_bytes");
        assert_eq!(numbers(&o, "replies", "acked_bytes"), [responses.iter().sum::<f64>()]);
        assert_eq!(numbers(&o, "exchanges", "response_bytes"), numbers(&o, "replies", "acked_bytes"));
        let (starts, ends) = (numbers(&o, "requests", "start_s"), numbers(&o, "requests", "completed_s"));
        let thinks: Vec<f64> = (1..20).map(|i| starts[i] - ends[i - 1]).collect();
        assert!(thinks.iter().all(|&t| (0.0..0.060).contains(&t)), "{thinks:?}");
        assert!(thinks.iter().any(|&t| t > 0.035) && thinks.iter().any(|&t| t < 0.025), "{thinks:?}");
        let (client, server) = (numbers(&o, "flows", "closed_s")[0], numbers(&o, "replies", "closed_s")[0]);
        assert_eq!(client < server, closes == "client", "{client} {server}");
        for table in ["flows", "replies"] {
            let (sent, received) =
                (numbers(&o, table, "segments_sent"), numbers(&o, table, "received_segments"));
            assert_eq!(sent, received);
        }
    }
}

/// What the client's end sends and receives is in a table, and so is what the server's end does; a flow whose server sends
/// nothing, and one that is not traced, are not in the latter.
#[test]
fn both_ends_are_recorded_where_both_send() {
    let flows = r#"[{ name = "F", from = "left-0", to = "right-0", traffic = { kind = "request_response", request = "1000 B",
            response = "30 kB", requests = 20 } },
        { name = "G", from = "left-0", to = "right-0", traffic = { kind = "bulk", size = "50 kB" } }]"#;
    let o = outcome(
        PATH,
        &[
            ("flows", flows),
            ("duration", "30 s"),
            ("network.reverse.queue.limit", "5 packets"),
            ("record.series", r#"["window", "segments", "rtt"]"#),
        ],
    );
    let names: Vec<&str> = o.tables.iter().map(|t| t.name).collect();
    let recorded = ["window", "reply_window", "segments", "reply_segments", "rtt", "reply_rtt"];
    assert!(names.ends_with(&recorded), "{names:?}");
    assert!(numbers(&o, "replies", "retransmitted_segments")[0] > 0.0);
    for (prefix, table) in [("", "flows"), ("reply_", "replies")] {
        let of = |series: &str, column: &str| numbers(&o, &format!("{prefix}{series}"), column);
        let flows = of("segments", "flow");
        for flow in 0..numbers(&o, table, "flow").len() {
            let sum = |column: &str, direction: f64| -> f64 {
                let (directions, values) = (of("segments", "direction"), of("segments", column));
                let rows =
                    (0..values.len()).filter(|&i| (flows[i], directions[i]) == (flow as f64, direction));
                rows.map(|i| values[i]).sum()
            };
            let told = |column: &str| numbers(&o, table, column)[flow];
            assert_eq!(sum("bytes", 0.0), told("bytes_sent"));
            assert_eq!(sum("resent", 0.0), told("retransmitted_segments"));
            let at_end = of("window", "flow").iter().rposition(|&f| f == flow as f64).unwrap();
            assert_eq!(of("window", "acked_bytes")[at_end], told("acked_bytes"));
        }
        let round_trips: Vec<f64> = of("rtt", "rtt_s").into_iter().filter(|rtt| !rtt.is_nan()).collect();
        assert!(round_trips.len() > 20 && round_trips.iter().all(|&rtt| rtt >= 0.040), "{round_trips:?}");
    }
    assert!(numbers(&o, "reply_segments", "flow").iter().all(|&flow| flow == 0.0));
    let one = outcome(
        PATH,
        &[("flows", flows), ("record.series", r#"["segments"]"#), ("record.traced", r#"["G"]"#)],
    );
    assert!(one.tables.iter().all(|table| table.name != "reply_segments"));
}

/// A receiver that reads at half of what the path carries: the window closes, is probed and opens, and the last byte is
/// read when the rate says.
#[test]
fn a_slow_reader_holds_its_sender_to_its_pace() {
    let o = outcome(
        PATH,
        &[
            (
                "flows.0.traffic",
                r#"{ kind = "bulk", size = "400 kB", read_rate = "100 kbit/s", read_chunk = "20 kB" }"#,
            ),
            ("tcp.receive_window", "16 kB"),
            ("tcp.rto.min", "200 ms"),
            ("record.series", r#"["segments"]"#),
        ],
    );
    assert_eq!(numbers(&o, "flows", "received_bytes"), numbers(&o, "flows", "acked_bytes"));
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [400_000.0]);
    // All but what the window holds is read by the time when the last byte is acknowledged.
    let time = numbers(&o, "flows", "completed_s")[0] - numbers(&o, "flows", "established_s")[0];
    let rate = 400_000.0 * 8.0 / time;
    assert!((rate / 100_000.0 - 1.0).abs() < 0.05, "{rate}");
    let (directions, windows) =
        (numbers(&o, "segments", "direction"), numbers(&o, "segments", "window_bytes"));
    let closed = directions.iter().zip(&windows).filter(|(d, w)| **d == 1.0 && **w == 0.0).count();
    assert!(closed > 0, "no window was closed");
    let bytes = numbers(&o, "segments", "bytes");
    let probes = directions.iter().zip(&bytes).filter(|(d, b)| **d == 0.0 && **b == 1.0).count();
    assert!(probes > 0, "no window was probed");
}

const PING: &str = r#"{ kind = "ping", pings = 50, interval = "100 ms" }"#;

/// Without load a ping takes what its two packets take, and none has to wait.
#[test]
fn a_ping_on_an_idle_path_measures_the_path() {
    for traffic in [PING, r#"{ kind = "ping", pings = 50 }"#] {
        let o = outcome(PATH, &[("flows.0.traffic", traffic), ("record.series", r#"["requests"]"#)]);
        let expected = 2.0 * takes(104.0);
        for column in ["mean_duration_s", "longest_duration_s"] {
            near(numbers(&o, "exchanges", column)[0], expected);
        }
        near(numbers(&o, "exchanges", "responsiveness_rpm")[0], 60.0 / expected);
        let starts = numbers(&o, "requests", "start_s");
        let apart = if traffic == PING { 0.1 } else { expected };
        starts.windows(2).for_each(|pair| near(pair[1] - pair[0], apart));
        assert_eq!(starts.len(), 50);
    }
}

/// Through a long queue a ping waits behind a download; where flows have queues of their own it hardly does.
#[test]
fn a_ping_beside_a_download_waits_in_its_queue() {
    let beside = |queue: &str| {
        let bulk = r#"{ name = "bulk", from = "left-0", to = "right-0", traffic = "bulk" }"#;
        let ping = format!(
            r#"{{ name = "ping", from = "left-0", to = "right-0", traffic = {PING}, start = "5 s" }}"#
        );
        let flows = format!("[{bulk}, {ping}]");
        let changes = [("flows", flows.as_str()), ("network.queue", queue), ("duration", "30 s")];
        numbers(&outcome(PATH, &changes), "exchanges", "median_duration_s")[0]
    };
    let long = beside(r#"{ kind = "drop_tail", limit = "50 packets" }"#);
    let fair = beside("fq_codel");
    assert!(long > 0.3, "{long}");
    assert!(fair < 2.0 * takes(104.0) + 3.0 * 0.012, "{fair}");
}

/// On a loaded connection a ping waits behind what the load has in the queue and in its sender.
#[test]
fn a_ping_on_a_loaded_connection_waits_behind_the_load() {
    let rpm = |load: &str, unsent: &str| {
        let traffic = format!(r#"{{ kind = "ping", load = "{load}", unsent = "{unsent}" }}"#);
        let o = outcome(
            PATH,
            &[("flows.0.traffic", &traffic), ("duration", "60 s"), ("tcp.receive_window", "64 kB")],
        );
        let (there, back) =
            (numbers(&o, "flows", "acked_bytes")[0], numbers(&o, "replies", "acked_bytes")[0]);
        let (more, less) = if load == "upload" { (there, back) } else { (back, there) };
        if load == "none" {
            assert!((there - back).abs() <= 64.0);
        } else {
            assert!(more * 8.0 / 60.0 > 0.85e6 && less < 100_000.0, "{more} {less}");
        }
        numbers(&o, "exchanges", "responsiveness_rpm")[0]
    };
    let idle = rpm("none", "16 KiB");
    assert!((idle - 60.0 / (2.0 * takes(104.0))).abs() < 1.0, "{idle}");
    for load in ["download", "upload"] {
        let (little, much) = (rpm(load, "4 KiB"), rpm(load, "64 KiB"));
        assert!(much < 0.8 * little && little < 0.2 * idle, "{much} {little} {idle}");
    }
}

/// A closed loop opens each connection a gap after the one before is closed: never two at once.
#[test]
fn a_closed_loop_has_one_connection_at_a_time() {
    let loops = [
        (
            "flows.0.arrivals",
            r#"{ after = "closing", interval = "25 ms", spacing = "uniform", connections = 40 }"#,
        ),
        ("flows.0.traffic.server_time", "0 s"),
        ("record.series", r#"["requests", "transfers"]"#),
    ];
    let o = outcome(PATH, &loops);
    assert_eq!(numbers(&o, "connections", "opened"), [40.0]);
    assert_eq!(numbers(&o, "exchanges", "completed"), [40.0]);
    assert_eq!(numbers(&o, "replies", "acked_bytes"), [40.0 * 1200.0]);
    let (starts, ends) = (numbers(&o, "requests", "start_s"), numbers(&o, "requests", "completed_s"));
    // Two FINs and the ACK of the second.
    let closing = 3.0 * takes(40.0);
    let gaps: Vec<f64> = (1..40).map(|i| starts[i] - ends[i - 1] - closing).collect();
    assert!(gaps.iter().all(|&g| (-1e-9..0.050).contains(&g)), "{gaps:?}");
    let mean = gaps.iter().sum::<f64>() / 39.0;
    assert!((mean - 0.025).abs() < 0.008, "{mean}");
}

/// Without time in between, the client opens the next connection when the one before is closed.
#[test]
fn a_closed_loop_may_have_no_time_between_connections() {
    let loops = [
        ("flows.0.arrivals", r#"{ after = "closing", interval = "0 s", connections = 4 }"#),
        ("flows.0.traffic.server_time", "0 s"),
        ("record.series", r#"["requests"]"#),
    ];
    let o = outcome(PATH, &loops);
    let (starts, ends) = (numbers(&o, "requests", "start_s"), numbers(&o, "requests", "completed_s"));
    let closing = 3.0 * takes(40.0);
    assert_eq!(starts.len(), 4);
    assert!((1..4).all(|i| (starts[i] - ends[i - 1] - closing).abs() < 1e-9), "{starts:?} {ends:?}");
}

/// A closed loop as netperf's TCP_CRR test runs it: the client reads until the server's FIN, closes
/// and connects at once. The rest of the closing takes no time from it: SYN, SYN-ACK, request and
/// response are all that a transaction has.
#[test]
fn a_closed_loop_goes_on_with_the_response() {
    for closes in ["server", "client"] {
        let o = outcome(
            PATH,
            &[
                (
                    "flows.0.arrivals",
                    r#"{ after = "response", interval = "1 us", spacing = "constant", connections = 40 }"#,
                ),
                ("flows.0.traffic.server_time", "0 s"),
                ("flows.0.traffic.closes", closes),
                ("record.series", r#"["requests", "transfers"]"#),
            ],
        );
        assert_eq!(numbers(&o, "connections", "opened"), [40.0]);
        assert_eq!(numbers(&o, "exchanges", "completed"), [40.0]);
        assert_eq!(numbers(&o, "replies", "acked_bytes"), [40.0 * 1200.0]);
        let starts = numbers(&o, "requests", "start_s");
        // A request is written when its connection is opened. What is left of the last closing
        // delays some packets a little.
        let takes = 1e-6 + takes(40.0) + takes(40.0) + takes(1040.0) + takes(1240.0);
        let gaps: Vec<f64> = starts.windows(2).map(|w| w[1] - w[0] - takes).collect();
        assert!(gaps.iter().all(|&g| (-1e-9..0.001).contains(&g)), "{closes}: {gaps:?}");
    }
}

/// A connection that is given up has no response: the loop goes on when it is closed.
#[test]
fn a_closed_loop_goes_on_when_a_connection_is_given_up() {
    let o = outcome(
        PATH,
        &[
            ("flows.0.arrivals", r#"{ after = "response", interval = "1 s", spacing = "constant" }"#),
            ("network.impairments", r#"[{ kind = "outage", start = "2.1 s", length = "10 s" }]"#),
            ("tcp.connection.retries", "1"),
            ("tcp.connection.syn_retries", "1"),
            ("duration", "60 s"),
        ],
    );
    let [opened, completed] = [("connections", "opened"), ("exchanges", "completed")]
        .map(|(table, column)| numbers(&o, table, column)[0]);
    assert!(opened > 30.0 && opened - completed >= 2.0 && completed > 30.0, "{opened} {completed}");
}

/// A run with data both ways is the same when it is repeated, and one flow's draws do not move when another is added.
#[test]
fn runs_with_data_both_ways_are_determined() {
    let random = [
        ("flows.0.traffic.request", r#"{ kind = "exponential", mean = "2 kB" }"#),
        ("flows.0.traffic.response", r#"{ kind = "pareto", mean = "20 kB" }"#),
        ("flows.0.traffic.server_spacing", "exponential"),
        ("flows.0.traffic.requests", "30"),
        ("record.series", r#"["requests"]"#),
    ];
    let o = outcome(PATH, &random);
    assert_eq!(digest(&o), digest(&outcome(PATH, &random)));
    assert_ne!(digest(&o), digest(&outcome(PATH, &[&random[..], &[("seed", "2")]].concat())));
    let sizes =
        |o: &Outcome| (numbers(o, "requests", "request_bytes"), numbers(o, "requests", "response_bytes"));
    let slower = outcome(PATH, &[&random[..], &[("network.rate", "300 kbit/s")]].concat());
    assert_eq!(sizes(&o), sizes(&slower));
}

/// Who has given up writes no more.
#[test]
fn a_connection_that_is_given_up_asks_nothing_more() {
    let o = outcome(
        PATH,
        &[
            ("flows.0.traffic", r#"{ kind = "ping", interval = "100 ms" }"#),
            ("network.impairments", r#"[{ kind = "outage", start = "2 s", length = "1000 s" }]"#),
            ("tcp.connection.retries", "3"),
            ("duration", "300 s"),
        ],
    );
    let (asked, left) = (numbers(&o, "exchanges", "requests")[0], numbers(&o, "exchanges", "unfinished")[0]);
    let closed = numbers(&o, "flows", "closed_s")[0];
    assert!(closed > 2.0 && closed < 100.0, "{closed}");
    let opened = numbers(&o, "flows", "established_s")[0];
    assert_eq!(asked, ((closed - opened) * 10.0).floor() + 1.0, "{closed}");
    assert_eq!(left, asked - 20.0);
}

/// As many requests as there are flows, whatever rows the tables have.
#[test]
fn tables_sum_flows_up() {
    let o = outcome(PATH, &[("flows.0.count", "3"), ("flows.0.name", "F{i}"), ("record.flows", "table")]);
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [3000.0]);
    assert_eq!(numbers(&o, "replies", "acked_bytes"), [3600.0]);
    assert_eq!(numbers(&o, "exchanges", "completed"), [1.0; 3]);
}

#[test]
fn what_means_nothing_or_never_ends_is_refused() {
    let refused = |traffic: &str| scenario(PATH, &[("flows.0.traffic", traffic)]).unwrap_err();
    let told = refused(r#"{ kind = "ping", interval = "1 s", load = "upload" }"#);
    assert!(told.contains("flows.0.traffic.interval: \"1 s\" cannot be used with a load"), "{told}");
    let told = refused("ping");
    assert!(told.contains("flows.0.traffic.pings: is absent, so the flow never ends"), "{told}");
    let arrivals = r#"{ after = "response", interval = "1 s" }"#;
    let bulk = [("flows.0.traffic", "bulk"), ("flows.0.arrivals", arrivals), ("duration", "9 s")];
    let told = scenario(PATH, &bulk).unwrap_err();
    assert!(told.contains("flows.0.arrivals.after: \"response\" needs traffic with responses"), "{told}");
    let told = refused(r#"{ kind = "request_response", request = "1 B", response = "1 B" }"#);
    assert!(told.contains("give the flow a number of requests"), "{told}");
}

/// 60 cases, or as many as PROPTEST_CASES says.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 60 };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

/// Data both ways over wires that lose, double and delay, with every kind of TCP and ECN.
fn random_run() -> impl Strategy<Value = String> {
    let traffic = prop_oneof![
        (1..40_000u32, 1..40_000u32, 1..6u32, 0..2u32).prop_map(|(request, response, n, closes)| {
            let closes = ["client", "server"][closes as usize];
            format!(
                r#"{{ kind = "request_response", request = "{request} B", response = "{response} B", requests = {n},
                closes = "{closes}", think_time = "20 ms", think_spacing = "uniform", server_time = "5 ms" }}"#
            )
            .replace('\n', " ")
        }),
        (1..3000u32, 1..20u32, 1..200u32).prop_map(|(size, n, interval)| format!(
            r#"{{ kind = "ping", size = "{size} B", pings = {n}, interval = "{interval} ms" }}"#
        )),
        (1..2000u32, 1..20u32, 0..3u32).prop_map(|(size, n, load)| {
            let load = ["none", "download", "upload"][load as usize];
            format!(r#"{{ kind = "ping", size = "{size} B", pings = {n}, load = "{load}", unsent = "5 kB" }}"#)
        }),
        (1..20_000u32, 1..6u32, 0..5usize, 0..2usize, 0..3u32).prop_map(|(size, objects, how, parse, parallel)| {
            let how = ["each", "persistent", "pipelined", "multiplexed", "session"][how];
            let parse = ["", r#", parse_time = "7 ms""#][parse];
            let parallel =
                if how == "each" && parallel > 0 { format!(", parallel = {parallel}") } else { String::new() };
            format!(
                r#"{{ kind = "web", pages = 2, sessions = 2, page_gap = {{ kind = "exponential", mean = "30 ms" }},
                objects = {{ kind = "geometric", mean = {objects} }}, object_gap = "3 ms", server_time = "2 ms", request = "{size} B",
                response = {{ kind = "pareto", mean = "{size}0 B" }}, connections = "{how}"{parse}{parallel} }}"#
            )
            .replace('\n', " ")
        }),
        (1..200_000u32, 1..5000u32).prop_map(|(size, chunk)| format!(
            r#"{{ kind = "bulk", size = "{size} B", read_rate = "300 kbit/s", read_chunk = "{chunk} B" }}"#
        )),
    ];
    let arrivals = prop_oneof![
        Just(""),
        Just(r#"arrivals = { interval = "200 ms", connections = 5 }, "#),
        Just(
            r#"arrivals = { interval = "50 ms", spacing = "uniform", after = "closing", connections = 5 }, "#
        ),
    ];
    let losses = (0..6u32, 0..6u32);
    (traffic, arrivals, losses, 0..TCP.len(), 0..3usize, 1..1000u32).prop_map(
        |(traffic, arrivals, (there, back), tcp, queue, seed)| {
            let queue = [
                r#"{ kind = "drop_tail", limit = "6 packets" }"#,
                r#"{ kind = "red", limit = "12 packets", minth = "2 packets", maxth = "6 packets", wq = 0.1 }"#,
                r#"{ kind = "fq_codel", packet_limit = "12 packets" }"#,
            ][queue];
            let arrivals = if traffic.contains("web") { "" } else { arrivals };
            let wire = |n: u32| {
                format!(
                    r#"[{{ kind = "loss", probability = {} }}, {{ kind = "duplication", probability = 0.02 }},
                    {{ kind = "jitter", mean = "3 ms" }}]"#,
                    f64::from(n) / 100.0
                )
            };
            format!(
                r#"seed = {seed}
                network = {{ kind = "dumbbell", rate = "1 Mbit/s", delay = "10 ms", left_rate = "10 Mbit/s", left_delay = "1 ms",
                    right_rate = "10 Mbit/s", right_delay = "1 ms", queue = {queue},
                    impairments = {}, reverse = {{ queue = {queue}, impairments = {} }} }}
                tcp = {{ connection.retries = 250, connection.syn_retries = 100, connection.synack_retries = 100, {} }}
                flows = [{{ name = "A", from = "left-0", to = "right-0", {arrivals}traffic = {traffic} }},
                    {{ name = "B", from = "left-0", to = "right-0", traffic = {{ kind = "bulk", size = "60 kB" }} }},
                    {{ name = "C", from = "right-0", to = "left-0", traffic = {{ kind = "bulk", size = "60 kB" }} }}]"#,
                wire(there), wire(back), TCP[tcp]
            )
            .lines().map(str::trim).collect::<Vec<_>>().join(" ")
            .replace(" network =", "\nnetwork =").replace(" tcp = {", "\ntcp = {").replace(" flows =", "\nflows =")
        },
    )
}

proptest! {
    #![proptest_config(cases())]

    /// Every byte that was asked for arrives, each run's books settle both ways (a run checks them), and it is the same twice.
    #[test]
    fn whatever_is_lost_every_byte_arrives_both_ways(text in random_run()) {
        let first = outcome(&text, &[]);
        let of = |table: &str, column: &str| numbers(&first, table, column);
        prop_assert!(of("flows", "completed_s").iter().all(|t| t.is_finite()), "{}", text);
        if ["request_response", "ping", "web"].iter().any(|kind| text.contains(kind)) {
            prop_assert_eq!(of("exchanges", "unfinished"), vec![0.0], "{}", text);
            prop_assert!(of("replies", "completed_s")[0].is_finite());
            if !text.contains("load = ") {
                prop_assert_eq!(of("exchanges", "request_bytes")[0], of("flows", "acked_bytes")[0]);
                prop_assert_eq!(of("exchanges", "response_bytes"), of("replies", "acked_bytes"));
            }
        }
        prop_assert_eq!(digest(&first), digest(&outcome(&text, &[])));
    }
}
