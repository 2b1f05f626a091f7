//! Tests of requests from a list, and of web pages, in whole runs.

use crate::common::{numbers, outcome, scenario};

/// Scenario with a path between one host on each side of a bottleneck. Packets wait only at the
/// bottleneck, which transmits a byte in 8 µs.
const PATH: &str = r#"
    network = { kind = "dumbbell", rate = "1 Mbit/s", delay = "20 ms", left_rate = "1 Gbit/s", left_delay = "0 ms",
        right_rate = "1 Gbit/s", right_delay = "0 ms",
        queue = { kind = "drop_tail", limit = "100 packets" }, reverse = { queue = { kind = "drop_tail", limit = "100 packets" } } }
    phase_breaking = { start = "0 s", delay = "0 s" }
    record = { series = ["requests"] }
    flows = [{ name = "F", from = "left-0", to = "right-0", traffic = { kind = "bulk" } }]
"#;

/// Return the one-way delay in seconds of a packet with `bytes` bytes, on a path without other
/// packets.
fn one_way_delay(bytes: f64) -> f64 {
    bytes * 8.0 * (1e-6 + 2.0 * 1e-9) + 0.020
}

/// Check that two lists of times are equal, apart from rounding errors.
fn assert_near(actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len(), "{actual:?} {expected:?}");
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() < 1e-9, "{actual:?} differ from {expected:?}");
    }
}

/// Temporary file with a list of requests. The file is removed when the `RequestList` is dropped.
struct RequestList(std::path::PathBuf);

impl RequestList {
    /// Write a list of requests into a new temporary file.
    fn new(name: &str, text: &str) -> Self {
        let file = std::env::temp_dir().join(format!("aqmlab-web-{}-{name}", std::process::id()));
        std::fs::write(&file, text).unwrap();
        RequestList(file)
    }

    /// Return a traffic model of kind `requests` with the list of requests. `keys` contains further
    /// keys of the traffic model.
    fn traffic(&self, keys: &str) -> String {
        format!("{{ kind = \"requests\", list = \"{}\"{keys} }}", self.0.display())
    }
}

impl Drop for RequestList {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// SYN, SYN-ACK, request and response are one packet each, and each packet has 40 bytes of headers.
/// By default, a request waits for the response to the previous request. With pipelining, the
/// client writes a request at its time in the list.
#[test]
fn requests_are_written_at_the_times_of_the_list() {
    let list = "0,0,0.5,1000,1200\n0,0,0.55,500,300\n0,0,2,100,200\n0,1,3,1000,1200\n";
    let file = RequestList::new("order", list);
    let open = 2.0 * one_way_delay(40.0);
    let first = open + one_way_delay(1040.0) + 0.050 + one_way_delay(1240.0);
    let run = |traffic: String| outcome(PATH, &[("flows.0.traffic", &traffic)]);
    let sequential = run(file.traffic(", server_time = \"50 ms\""));
    let next = 0.5 + first; // after the listed time of 0.55 s
    assert_near(&numbers(&sequential, "requests", "start_s"), &[0.5, next, 2.0, 3.0]);
    let serial = |request: f64, response: f64| one_way_delay(request) + 0.050 + one_way_delay(response);
    assert_near(
        &numbers(&sequential, "requests", "duration_s"),
        &[first, serial(540.0, 340.0), serial(140.0, 240.0), first],
    );
    assert_near(
        &numbers(&sequential, "requests", "opened_s"),
        &[0.5 + open, 0.5 + open, 0.5 + open, 3.0 + open],
    );
    assert_eq!(numbers(&sequential, "requests", "connection"), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(numbers(&sequential, "connections", "opened"), [2.0]);
    let pipelined = run(file.traffic(", server_time = \"50 ms\", order = \"pipelined\""));
    assert_near(&numbers(&pipelined, "requests", "start_s"), &[0.5, 0.55, 2.0, 3.0]);
    // The server receives both requests before it sends the first response. The server sends the
    // second response one server time after the first response.
    let second = 0.5 + first - one_way_delay(1240.0) + 0.050 + one_way_delay(340.0) - 0.55;
    assert_near(
        &numbers(&pipelined, "requests", "duration_s"),
        &[first, second, serial(140.0, 240.0), first],
    );
}

/// A request without a response at the end of the run also has a row in the series `requests`. A
/// flow whose list has no requests opens no connection.
#[test]
fn requests_without_a_response_have_rows() {
    let file = RequestList::new("unanswered", "0,0,0.2,500,300\n0,1,0.5,1000,9000000\n0,1,0.9,10,20\n");
    let changes = [
        ("flows.0.traffic", &*file.traffic("")),
        ("duration", "1 s"),
        ("flows.0.count", "2"),
        ("flows.0.name", "F{i}"),
    ];
    let o = outcome(PATH, &changes);
    let starts = numbers(&o, "requests", "start_s");
    assert_near(&starts, &[0.2, 0.5]);
    let completed = numbers(&o, "requests", "completed_s");
    assert!(completed[0] < 1.0 && completed[1].is_nan(), "{completed:?}");
    assert_eq!(numbers(&o, "requests", "response_bytes"), [300.0, 9e6]);
    assert_eq!(numbers(&o, "connections", "opened"), [2.0, 0.0]);
    assert_eq!(numbers(&o, "exchanges", "unfinished"), [1.0]);
}

/// The wire loses all packets. The row of the request states the number of timeouts of the SYN.
#[test]
fn a_request_whose_syn_is_lost_has_a_row_with_its_timeouts() {
    let file = RequestList::new("lost", "0,0,0.5,1000,100\n");
    let changes = [
        ("flows.0.traffic", &*file.traffic("")),
        ("duration", "20 s"),
        ("network.impairments", r#"[{ kind = "loss", probability = 1.0 }]"#),
    ];
    let o = outcome(PATH, &changes);
    assert!(numbers(&o, "requests", "opened_s")[0].is_nan());
    assert!(numbers(&o, "requests", "completed_s")[0].is_nan());
    assert_eq!(
        numbers(&o, "requests", "client_timeouts"),
        [4.0],
        "the client did not have timeouts after 1, 3, 7 and 15 s"
    );
}

#[test]
fn errors_name_the_key() {
    let e = |changes: &[(&str, &str)]| scenario(PATH, changes).unwrap_err();
    let file = RequestList::new("refused", "0,0,0.5,1000,100\n");
    let traffic = file.traffic("");
    let message =
        e(&[("flows.0.traffic", &traffic), ("flows.0.arrivals", "{ interval = \"1 s\", connections = 1 }")]);
    assert!(
        message.contains("flows.0.arrivals") && message.contains("which opens its own connections"),
        "{message}"
    );
    let message = e(&[("flows.0.traffic", r#"{ kind = "requests", list = "/nowhere" }"#)]);
    assert!(message.contains("flows.0.traffic.list: \"/nowhere\" cannot be read"), "{message}");
    let frozen =
        format!("{{ kind = \"requests\", list = {{ file = \"{}\", sha256 = \"00\" }} }}", file.0.display());
    let message = e(&[("flows.0.traffic", &frozen)]);
    assert!(
        message.contains("flows.0.traffic.list.sha256: \"00\" differs from the digest of the file"),
        "{message}"
    );
}

/// Two web pages with three objects each. All times and sizes are constant. The size of each
/// request is 500 B. The first response of a page has 1200 B, and each other response has 300 B.
const PAGES: &str = r#"{ kind = "web", pages = 2, sessions = 1, page_gap = "2 s", objects = 3, object_gap = "200 ms",
    request = "500 B", response = "300 B", main_response = "1200 B", server_time = "50 ms" }"#;

/// Run the scenario of the two web pages with changes to its keys.
fn pages(changes: &[(&str, &str)]) -> lab::Outcome {
    let traffic = [("flows.0.traffic", PAGES)];
    outcome(PATH, &[&traffic[..], changes].concat())
}

/// The client requests each object over a separate connection, at the time that the traffic model
/// sets. The next page begins two seconds after the previous page is complete.
#[test]
fn each_object_of_a_page_has_its_own_connection() {
    let o = pages(&[]);
    let open = 2.0 * one_way_delay(40.0);
    let object = |bytes: f64| open + one_way_delay(540.0) + 0.050 + one_way_delay(bytes);
    let (main, other) = (object(1240.0), object(340.0));
    let second = 2.4 + other + 2.0;
    assert_near(&numbers(&o, "requests", "start_s"), &[2.0, 2.2, 2.4, second, second + 0.2, second + 0.4]);
    assert_near(&numbers(&o, "requests", "duration_s"), &[main, other, other, main, other, other]);
    assert_eq!(numbers(&o, "requests", "connection"), [0.0, 1.0, 2.0, 1024.0, 1025.0, 1026.0]);
    assert_eq!(numbers(&o, "connections", "opened"), [6.0]);
}

/// With `page_gap_from = "start"`, the times at which the client writes requests do not depend on
/// the rate of the network.
#[test]
fn pages_with_gaps_between_starts_do_not_depend_on_the_network() {
    let times = |rate: &str| {
        let changes = [("flows.0.traffic.page_gap_from", "start"), ("network.rate", rate)];
        let mut starts = numbers(&pages(&changes), "requests", "start_s");
        starts.sort_by(f64::total_cmp);
        starts
    };
    assert_near(&times("1 Mbit/s"), &[2.0, 2.2, 2.4, 4.0, 4.2, 4.4]);
    assert_near(&times("30 kbit/s"), &[2.0, 2.2, 2.4, 4.0, 4.2, 4.4]);
}

/// The client requests at most `parallel` objects at a time. With `parse_time`, the other objects
/// of a page wait for the first object.
#[test]
fn objects_wait_for_parallel_requests_and_for_the_first_object() {
    let o = pages(&[("flows.0.traffic.parallel", "1"), ("flows.0.traffic.object_gap", "10 ms")]);
    let (starts, ends) = (numbers(&o, "requests", "start_s"), numbers(&o, "requests", "completed_s"));
    assert_near(&starts[..3], &[2.0, ends[0], ends[1]]);
    let o = pages(&[("flows.0.traffic.parse_time", "300 ms")]);
    let first = numbers(&o, "requests", "completed_s")[0] + 0.3;
    assert_near(&numbers(&o, "requests", "start_s")[..3], &[2.0, first, first + 0.2]);
}

/// The objects of a page share one connection. The client requests the objects one after the other,
/// pipelines the requests, or receives the objects multiplexed in frames.
#[test]
fn objects_of_a_page_share_one_connection() {
    let open = 2.0 * one_way_delay(40.0);
    let main = open + one_way_delay(540.0) + 0.050 + one_way_delay(1240.0);
    let with = |connections: &str, changes: &[(&str, &str)]| {
        pages(&[&[("flows.0.traffic.connections", connections)][..], changes].concat())
    };
    let o = with("persistent", &[]);
    let other = one_way_delay(540.0) + 0.050 + one_way_delay(340.0);
    assert_near(&numbers(&o, "requests", "duration_s")[..3], &[main, other, other]);
    assert_near(&numbers(&o, "requests", "start_s")[..3], &[2.0, 2.0 + main, 2.0 + main + other]);
    assert_eq!(numbers(&o, "requests", "connection"), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    // With `session`, both pages share one connection, which is idle during the gap between the
    // pages.
    let o = with("session", &[]);
    let second = 2.0 + main + 2.0 * other + 2.0;
    let again = one_way_delay(540.0) + 0.050 + one_way_delay(1240.0);
    assert_near(&numbers(&o, "requests", "duration_s"), &[main, other, other, again, other, other]);
    assert_near(&numbers(&o, "requests", "start_s")[3..4], &[second]);
    assert_eq!(numbers(&o, "requests", "connection"), [0.0; 6]);
    assert_eq!(numbers(&o, "connections", "opened"), [1.0]);
    // The key `main_server_time` sets the server time of the main object, and the server time of
    // the other objects is 0 s.
    let times = [("flows.0.traffic.server_time", "0 s"), ("flows.0.traffic.main_server_time", "80 ms")];
    let o = with("persistent", &times);
    let durations = [main + 0.030, other - 0.050, other - 0.050];
    assert_near(&numbers(&o, "requests", "duration_s"), &[durations, durations].concat());
    let o = with("pipelined", &[("flows.0.traffic.server_time", "0 s")]);
    assert_eq!(numbers(&o, "requests", "response_bytes")[..3], [1200.0, 300.0, 300.0]);
    assert_near(&numbers(&o, "requests", "start_s")[..3], &[2.0; 3]);
    // The main object is sent in three frames, and each other object in one frame. All other
    // objects of the page are therefore complete before the main object.
    let sizes = [("flows.0.traffic.main_response", "40000 B"), ("flows.0.traffic.response", "10000 B")];
    let o = with("multiplexed", &sizes);
    assert_eq!(numbers(&o, "requests", "response_bytes")[..3], [10000.0, 10000.0, 40000.0]);
    let o = with("multiplexed", &[&sizes[..], &[("flows.0.traffic.parse_time", "10 ms")]].concat());
    assert_eq!(numbers(&o, "requests", "response_bytes")[..3], [40000.0, 10000.0, 10000.0]);
}

/// The sizes of random pages do not depend on the use of connections or on earlier losses (common
/// random numbers).
#[test]
fn random_pages_are_equal_for_every_use_of_connections() {
    let random_pages = r#"{ kind = "web", pages = { kind = "geometric", mean = 3 }, sessions = 2, session_gap = "5 s",
        page_gap = { kind = "pareto", mean = "1 s", shape = 1.5 }, objects = { kind = "pareto", mean = 4, shape = 1.3 },
        object_gap = { kind = "exponential", mean = "20 ms" }, request = { kind = "uniform", min = "100 B", max = "900 B" },
        response = { kind = "lognormal", mean = "7 kB", sigma = 1.5 }, server_time = { kind = "exponential", mean = "5 ms" } }"#;
    let sizes = |connections: &str, added: &[(&str, &str)]| {
        let changes = [
            ("flows.0.traffic", random_pages),
            ("flows.0.traffic.connections", connections),
            ("flows.0.count", "3"),
            ("flows.0.name", "F{i}"),
        ];
        let o = outcome(PATH, &[&changes[..], added].concat());
        let of = |column| numbers(&o, "requests", column);
        let mut all: Vec<[u64; 3]> = (of("flow").iter().zip(of("request_bytes")).zip(of("response_bytes")))
            .map(|((flow, request), response)| [*flow as u64, request as u64, response as u64])
            .collect();
        all.sort_unstable();
        all
    };
    let each = sizes("each", &[]);
    assert!(each.len() > 10);
    for connections in ["persistent", "pipelined", "multiplexed", "session"] {
        assert_eq!(sizes(connections, &[]), each, "{connections}");
    }
    assert_eq!(sizes("each", &[("network.queue", r#"{ kind = "drop_tail", limit = "3 packets" }"#)]), each);
    assert_eq!(
        sizes("each", &[("flows.0.traffic.parallel", "2"), ("flows.0.traffic.parse_time", "1 ms")]),
        each
    );
}

/// If its connection is aborted, a page ends, and the next page begins.
#[test]
fn an_aborted_connection_ends_its_page() {
    for connections in ["each", "persistent"] {
        let o = pages(&[
            ("flows.0.traffic.connections", connections),
            ("network.impairments", r#"[{ kind = "loss", probability = 1.0 }]"#),
            ("tcp.connection.syn_retries", "2"),
            ("tcp.rto.initial", "1 s"),
        ]);
        let completed = numbers(&o, "requests", "completed_s");
        assert!(completed.iter().any(|t| t.is_nan()), "{completed:?}");
        assert!(numbers(&o, "requests", "connection").iter().any(|&c| c >= 1.0));
    }
}
