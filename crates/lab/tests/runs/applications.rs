//! Tests of applications at both endpoints in whole runs: requests and responses, pings, slow
//! readers, and data in both directions.

use crate::common::{TCP, digest, numbers, outcome, scenario};
use lab::Outcome;
use proptest::prelude::*;

/// Scenario with a path between one host on each side of a bottleneck. Packets wait only at the
/// bottleneck, which transmits a byte in 8 µs.
const PATH: &str = r#"
    network = { kind = "dumbbell", rate = "1 Mbit/s", delay = "20 ms", left_rate = "1 Gbit/s", left_delay = "0 ms",
        right_rate = "1 Gbit/s", right_delay = "0 ms",
        queue = { kind = "drop_tail", limit = "100 packets" }, reverse = { queue = { kind = "drop_tail", limit = "100 packets" } } }
    phase_breaking = { start = "0 s", delay = "0 s" }
    flows = [{ name = "F", from = "left-0", to = "right-0", traffic = { kind = "request_response", request = "1000 B",
        response = "1200 B", requests = 1, server_time = "50 ms" } }]
"#;

/// Return the one-way delay in seconds of a packet with `bytes` bytes, on a path without other
/// packets.
fn one_way_delay(bytes: f64) -> f64 {
    bytes * 8.0 * (1e-6 + 2.0 * 1e-9) + 0.020
}

/// Check that two times are equal, apart from rounding errors.
fn assert_near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-9, "{actual} differs from {expected}");
}

/// The duration of a request is the sum of the delays of SYN, SYN-ACK, request and response, plus
/// the server time. SYN, SYN-ACK, request and response are one packet each, and each packet has 40
/// bytes of headers.
#[test]
fn a_request_lasts_as_long_as_its_packets_and_the_server_time() {
    let o = outcome(PATH, &[]);
    let expected =
        one_way_delay(40.0) + one_way_delay(40.0) + one_way_delay(1040.0) + 0.050 + one_way_delay(1240.0);
    assert_near(numbers(&o, "exchanges", "mean_duration_s")[0], expected);
    assert_near(numbers(&o, "exchanges", "responsiveness_rpm")[0], 60.0 / expected);
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [1000.0]);
    assert_eq!(numbers(&o, "replies", "acked_bytes"), [1200.0]);
    assert_eq!(numbers(&o, "replies", "received_bytes"), [1200.0]);
}

/// The number of bytes in the table `exchanges` equals the number of bytes in `flows` and
/// `replies`. The endpoint that sends the first FIN also closes first, because the FIN of the other
/// endpoint arrives later.
#[test]
fn a_series_of_transactions_is_counted_in_both_directions() {
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
        let think_times: Vec<f64> = (1..20).map(|i| starts[i] - ends[i - 1]).collect();
        assert!(think_times.iter().all(|&t| (0.0..0.060).contains(&t)), "{think_times:?}");
        assert!(think_times.iter().any(|&t| t > 0.035), "{think_times:?}");
        assert!(think_times.iter().any(|&t| t < 0.025), "{think_times:?}");
        let (client, server) = (numbers(&o, "flows", "closed_s")[0], numbers(&o, "replies", "closed_s")[0]);
        assert_eq!(client < server, closes == "client", "{client} {server}");
        for table in ["flows", "replies"] {
            let (sent, received) =
                (numbers(&o, table, "segments_sent"), numbers(&o, table, "received_segments"));
            assert_eq!(sent, received);
        }
    }
}

/// Each series has one table for the clients and one table for the servers. The table for the
/// servers excludes flows whose server sends no data, and flows that are not traced.
#[test]
fn both_endpoints_are_recorded_if_both_send_data() {
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
            let total = |column: &str| numbers(&o, table, column)[flow];
            assert_eq!(sum("bytes", 0.0), total("bytes_sent"));
            assert_eq!(sum("resent", 0.0), total("retransmitted_segments"));
            let last_row = of("window", "flow").iter().rposition(|&f| f == flow as f64).unwrap();
            assert_eq!(of("window", "acked_bytes")[last_row], total("acked_bytes"));
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

/// The receiver reads data at a tenth of the rate of the path. The receive window closes, and the
/// sender sends zero-window probes. The duration of the transfer is the time that the receiver
/// needs to read the data.
#[test]
fn a_slow_reader_limits_the_rate_of_the_sender() {
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
    // When the sender receives the last ACK, all data except the content of the receive buffer has
    // been read.
    let time = numbers(&o, "flows", "completed_s")[0] - numbers(&o, "flows", "established_s")[0];
    let rate = 400_000.0 * 8.0 / time;
    assert!((rate / 100_000.0 - 1.0).abs() < 0.05, "{rate}");
    let (directions, windows) =
        (numbers(&o, "segments", "direction"), numbers(&o, "segments", "window_bytes"));
    let closed = directions.iter().zip(&windows).filter(|(d, w)| **d == 1.0 && **w == 0.0).count();
    assert!(closed > 0, "the receiver never closed its window");
    let bytes = numbers(&o, "segments", "bytes");
    let probes = directions.iter().zip(&bytes).filter(|(d, b)| **d == 0.0 && **b == 1.0).count();
    assert!(probes > 0, "the sender never probed the window");
}

const PING: &str = r#"{ kind = "ping", pings = 50, interval = "100 ms" }"#;

/// Without load, the duration of a ping is the sum of the delays of its two packets, and no ping
/// waits.
#[test]
fn a_ping_measures_the_delay_of_an_idle_path() {
    for traffic in [PING, r#"{ kind = "ping", pings = 50 }"#] {
        let o = outcome(PATH, &[("flows.0.traffic", traffic), ("record.series", r#"["requests"]"#)]);
        let expected = 2.0 * one_way_delay(104.0);
        for column in ["mean_duration_s", "longest_duration_s"] {
            assert_near(numbers(&o, "exchanges", column)[0], expected);
        }
        assert_near(numbers(&o, "exchanges", "responsiveness_rpm")[0], 60.0 / expected);
        let starts = numbers(&o, "requests", "start_s");
        let interval = if traffic == PING { 0.1 } else { expected };
        starts.windows(2).for_each(|pair| assert_near(pair[1] - pair[0], interval));
        assert_eq!(starts.len(), 50);
    }
}

/// In a long shared queue, a ping waits behind the packets of a download. If each flow has its own
/// queue, a ping waits for at most a few packets.
#[test]
fn a_ping_waits_behind_a_download_in_a_shared_queue() {
    let ping_time = |queue: &str| {
        let bulk = r#"{ name = "bulk", from = "left-0", to = "right-0", traffic = "bulk" }"#;
        let ping = format!(
            r#"{{ name = "ping", from = "left-0", to = "right-0", traffic = {PING}, start = "5 s" }}"#
        );
        let flows = format!("[{bulk}, {ping}]");
        let changes = [("flows", flows.as_str()), ("network.queue", queue), ("duration", "30 s")];
        numbers(&outcome(PATH, &changes), "exchanges", "median_duration_s")[0]
    };
    let shared = ping_time(r#"{ kind = "drop_tail", limit = "50 packets" }"#);
    let fair = ping_time("fq_codel");
    assert!(shared > 0.3, "{shared}");
    assert!(fair < 2.0 * one_way_delay(104.0) + 3.0 * 0.012, "{fair}");
}

/// On a loaded connection, a ping waits behind the data of the load, in the queue and in the
/// sender.
#[test]
fn a_ping_on_a_loaded_connection_waits_behind_the_load() {
    let rpm = |load: &str, unsent: &str| {
        let traffic = format!(r#"{{ kind = "ping", load = "{load}", unsent = "{unsent}" }}"#);
        let o = outcome(
            PATH,
            &[("flows.0.traffic", &traffic), ("duration", "60 s"), ("tcp.receive_window", "64 kB")],
        );
        let (forward, reverse) =
            (numbers(&o, "flows", "acked_bytes")[0], numbers(&o, "replies", "acked_bytes")[0]);
        let (loaded, idle) = if load == "upload" { (forward, reverse) } else { (reverse, forward) };
        if load == "none" {
            assert!((forward - reverse).abs() <= 64.0);
        } else {
            assert!(loaded * 8.0 / 60.0 > 0.85e6 && idle < 100_000.0, "{loaded} {idle}");
        }
        numbers(&o, "exchanges", "responsiveness_rpm")[0]
    };
    let idle = rpm("none", "16 KiB");
    assert!((idle - 60.0 / (2.0 * one_way_delay(104.0))).abs() < 1.0, "{idle}");
    for load in ["download", "upload"] {
        let (small, large) = (rpm(load, "4 KiB"), rpm(load, "64 KiB"));
        assert!(large < 0.8 * small && small < 0.2 * idle, "{large} {small} {idle}");
    }
}

/// A closed loop has at most one open connection: each connection opens one interval after the
/// previous connection closed.
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
    // The close of a connection takes three packets: two FINs and the ACK of the second FIN.
    let closing = 3.0 * one_way_delay(40.0);
    let gaps: Vec<f64> = (1..40).map(|i| starts[i] - ends[i - 1] - closing).collect();
    assert!(gaps.iter().all(|&g| (-1e-9..0.050).contains(&g)), "{gaps:?}");
    let mean = gaps.iter().sum::<f64>() / 39.0;
    assert!((mean - 0.025).abs() < 0.008, "{mean}");
}

/// With an interval of 0 s, the client opens the next connection at the time at which the previous
/// connection is closed.
#[test]
fn a_closed_loop_accepts_an_interval_of_zero() {
    let loops = [
        ("flows.0.arrivals", r#"{ after = "closing", interval = "0 s", connections = 4 }"#),
        ("flows.0.traffic.server_time", "0 s"),
        ("record.series", r#"["requests"]"#),
    ];
    let o = outcome(PATH, &loops);
    let (starts, ends) = (numbers(&o, "requests", "start_s"), numbers(&o, "requests", "completed_s"));
    let closing = 3.0 * one_way_delay(40.0);
    assert_eq!(starts.len(), 4);
    assert!((1..4).all(|i| (starts[i] - ends[i - 1] - closing).abs() < 1e-9), "{starts:?} {ends:?}");
}

/// The test imitates the closed loop of netperf's TCP_CRR test. The client reads until the FIN of
/// the server arrives, closes the connection, and immediately opens the next connection. The client
/// does not wait until the close is complete, so a transaction takes the time of SYN, SYN-ACK,
/// request and response.
#[test]
fn a_closed_loop_after_responses_does_not_wait_for_the_closing() {
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
        // The client writes the request when it opens the connection. The last packets of the
        // previous connection delay some packets of the next connection a little.
        let transaction =
            1e-6 + one_way_delay(40.0) + one_way_delay(40.0) + one_way_delay(1040.0) + one_way_delay(1240.0);
        let gaps: Vec<f64> = starts.windows(2).map(|w| w[1] - w[0] - transaction).collect();
        assert!(gaps.iter().all(|&g| (-1e-9..0.001).contains(&g)), "{closes}: {gaps:?}");
    }
}

/// A connection that TCP aborts receives no response. The closed loop opens the next connection
/// when TCP has aborted the previous connection.
#[test]
fn a_closed_loop_continues_after_an_aborted_connection() {
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

/// A repeated run with data in both directions has the same tables. The sizes of requests and
/// responses do not depend on the rate of the network.
#[test]
fn runs_with_data_in_both_directions_are_deterministic() {
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

/// After TCP has aborted the connection, the application writes no more requests.
#[test]
fn an_aborted_connection_has_no_more_requests() {
    let o = outcome(
        PATH,
        &[
            ("flows.0.traffic", r#"{ kind = "ping", interval = "100 ms" }"#),
            ("network.impairments", r#"[{ kind = "outage", start = "2 s", length = "1000 s" }]"#),
            ("tcp.connection.retries", "3"),
            ("duration", "300 s"),
        ],
    );
    let (requests, unfinished) =
        (numbers(&o, "exchanges", "requests")[0], numbers(&o, "exchanges", "unfinished")[0]);
    let closed = numbers(&o, "flows", "closed_s")[0];
    assert!(closed > 2.0 && closed < 100.0, "{closed}");
    let opened = numbers(&o, "flows", "established_s")[0];
    assert_eq!(requests, ((closed - opened) * 10.0).floor() + 1.0, "{closed}");
    assert_eq!(unfinished, requests - 20.0);
}

/// If `record.flows` is `table`, the result tables `flows` and `replies` contain sums over the
/// flows of a `[[flows]]` table, but the result table `exchanges` contains one row per flow.
#[test]
fn rows_per_table_are_sums_of_the_flows() {
    let o = outcome(PATH, &[("flows.0.count", "3"), ("flows.0.name", "F{i}"), ("record.flows", "table")]);
    assert_eq!(numbers(&o, "flows", "acked_bytes"), [3000.0]);
    assert_eq!(numbers(&o, "replies", "acked_bytes"), [3600.0]);
    assert_eq!(numbers(&o, "exchanges", "completed"), [1.0; 3]);
}

#[test]
fn contradictory_or_endless_traffic_is_refused() {
    let refused = |traffic: &str| scenario(PATH, &[("flows.0.traffic", traffic)]).unwrap_err();
    let message = refused(r#"{ kind = "ping", interval = "1 s", load = "upload" }"#);
    assert!(message.contains("flows.0.traffic.interval: \"1 s\" cannot be used with a load"), "{message}");
    let message = refused("ping");
    assert!(message.contains("flows.0.traffic.pings: is absent, so the flow never ends"), "{message}");
    let arrivals = r#"{ after = "response", interval = "1 s" }"#;
    let bulk = [("flows.0.traffic", "bulk"), ("flows.0.arrivals", arrivals), ("duration", "9 s")];
    let message = scenario(PATH, &bulk).unwrap_err();
    assert!(
        message.contains("flows.0.arrivals.after: \"response\" needs traffic with responses"),
        "{message}"
    );
    let message = refused(r#"{ kind = "request_response", request = "1 B", response = "1 B" }"#);
    assert!(message.contains("give the flow a number of requests"), "{message}");
}

/// Return a proptest configuration with 60 cases, or with the number of cases in the environment
/// variable PROPTEST_CASES.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 60 };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

/// Proptest strategy of scenarios with data in both directions. The wires lose, duplicate and delay
/// packets, and the parameters of TCP and ECN vary.
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
        (1..20_000u32, 1..6u32, 0..5usize, 0..2usize, 0..3u32).prop_map(|(size, objects, reuse, parse, parallel)| {
            let reuse = ["each", "persistent", "pipelined", "multiplexed", "session"][reuse];
            let parse = ["", r#", parse_time = "7 ms""#][parse];
            let parallel =
                if reuse == "each" && parallel > 0 { format!(", parallel = {parallel}") } else { String::new() };
            format!(
                r#"{{ kind = "web", pages = 2, sessions = 2, page_gap = {{ kind = "exponential", mean = "30 ms" }},
                objects = {{ kind = "geometric", mean = {objects} }}, object_gap = "3 ms", server_time = "2 ms", request = "{size} B",
                response = {{ kind = "pareto", mean = "{size}0 B" }}, connections = "{reuse}"{parse}{parallel} }}"#
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
        |(traffic, arrivals, (forward, reverse), tcp, queue, seed)| {
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
                wire(forward), wire(reverse), TCP[tcp]
            )
            .lines().map(str::trim).collect::<Vec<_>>().join(" ")
            .replace(" network =", "\nnetwork =").replace(" tcp = {", "\ntcp = {").replace(" flows =", "\nflows =")
        },
    )
}

proptest! {
    #![proptest_config(cases())]

    /// Every requested byte arrives despite losses, and a repeated run has the same tables. Each
    /// run also checks the packet counters of both directions.
    #[test]
    fn every_byte_arrives_in_both_directions_despite_losses(text in random_run()) {
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
