//! Requests that a list has, and pages of the web.

mod common;

use common::{numbers, outcome, scenario};

/// One host on each side, links without waiting but at the bottleneck: a packet there takes 8 µs a byte.
const PATH: &str = r#"
    network = { kind = "dumbbell", rate = "1 Mbit/s", delay = "20 ms", left_rate = "1 Gbit/s", left_delay = "0 ms",
        right_rate = "1 Gbit/s", right_delay = "0 ms",
        queue = { kind = "drop_tail", limit = "100 packets" }, reverse = { queue = { kind = "drop_tail", limit = "100 packets" } } }
    phase_breaking = { start = "0 s", delay = "0 s" }
    record = { series = ["requests"] }
    flows = [{ name = "F", from = "left-0", to = "right-0", traffic = { kind = "bulk" } }]
"#;

/// The time that a packet of so many bytes takes from one host to the other when nothing else is there.
fn takes(bytes: f64) -> f64 {
    bytes * 8.0 * (1e-6 + 2.0 * 1e-9) + 0.020
}

fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-9, "{found:?} are not {expected:?}");
    }
}

/// A file with a list, gone at the end.
struct Listed(std::path::PathBuf);

impl Listed {
    fn new(name: &str, text: &str) -> Self {
        let file = std::env::temp_dir().join(format!("aqmlab-web-{}-{name}", std::process::id()));
        std::fs::write(&file, text).unwrap();
        Listed(file)
    }

    fn traffic(&self, more: &str) -> String {
        format!("{{ kind = \"requests\", list = \"{}\"{more} }}", self.0.display())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// SYN, SYN-ACK, request, the server's time, response: each is one packet with 40 bytes of headers. In turn a request waits
/// for the response before it, in a pipeline it does not.
#[test]
fn requests_are_written_when_the_list_says() {
    let list = "0,0,0.5,1000,1200\n0,0,0.55,500,300\n0,0,2,100,200\n0,1,3,1000,1200\n";
    let file = Listed::new("order", list);
    let open = 2.0 * takes(40.0);
    let first = open + takes(1040.0) + 0.050 + takes(1240.0);
    let ask = |traffic: String| outcome(PATH, &[("flows.0.traffic", &traffic)]);
    let in_turn = ask(file.traffic(", server_time = \"50 ms\""));
    let next = 0.5 + first; // later than 0.55
    near(&numbers(&in_turn, "requests", "start_s"), &[0.5, next, 2.0, 3.0]);
    let serial = |request: f64, response: f64| takes(request) + 0.050 + takes(response);
    near(
        &numbers(&in_turn, "requests", "duration_s"),
        &[first, serial(540.0, 340.0), serial(140.0, 240.0), first],
    );
    near(&numbers(&in_turn, "requests", "opened_s"), &[0.5 + open, 0.5 + open, 0.5 + open, 3.0 + open]);
    assert_eq!(numbers(&in_turn, "requests", "connection"), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(numbers(&in_turn, "connections", "opened"), [2.0]);
    let pipelined = ask(file.traffic(", server_time = \"50 ms\", order = \"pipelined\""));
    near(&numbers(&pipelined, "requests", "start_s"), &[0.5, 0.55, 2.0, 3.0]);
    // The server has both requests before it has answered the first; its second answer is a server's time behind that.
    let second = 0.5 + first - takes(1240.0) + 0.050 + takes(340.0) - 0.55;
    near(&numbers(&pipelined, "requests", "duration_s"), &[first, second, serial(140.0, 240.0), first]);
}

/// What has no response at the end has a row too, and a list shorter than the flows leaves some without.
#[test]
fn unanswered_requests_are_told_at_the_end() {
    let file = Listed::new("unanswered", "0,0,0.2,500,300\n0,1,0.5,1000,9000000\n0,1,0.9,10,20\n");
    let changes = [
        ("flows.0.traffic", &*file.traffic("")),
        ("duration", "1 s"),
        ("flows.0.count", "2"),
        ("flows.0.name", "F{i}"),
    ];
    let o = outcome(PATH, &changes);
    let starts = numbers(&o, "requests", "start_s");
    near(&starts, &[0.2, 0.5]);
    let completed = numbers(&o, "requests", "completed_s");
    assert!(completed[0] < 1.0 && completed[1].is_nan(), "{completed:?}");
    assert_eq!(numbers(&o, "requests", "response_bytes"), [300.0, 9e6]);
    assert_eq!(numbers(&o, "connections", "opened"), [2.0, 0.0]);
    assert_eq!(numbers(&o, "exchanges", "unfinished"), [1.0]);
}

/// A server that is never reached: the request has a row that says how often its SYN was sent again.
#[test]
fn a_request_whose_syn_is_lost_is_told_with_its_timeouts() {
    let file = Listed::new("lost", "0,0,0.5,1000,100\n");
    let changes = [
        ("flows.0.traffic", &*file.traffic("")),
        ("duration", "20 s"),
        ("network.impairments", r#"[{ kind = "loss", probability = 1.0 }]"#),
    ];
    let o = outcome(PATH, &changes);
    assert!(numbers(&o, "requests", "opened_s")[0].is_nan());
    assert!(numbers(&o, "requests", "completed_s")[0].is_nan());
    assert_eq!(numbers(&o, "requests", "client_timeouts"), [4.0], "after 1, 3, 7 and 15 s");
}

#[test]
fn refusals_name_the_key() {
    let e = |changes: &[(&str, &str)]| scenario(PATH, changes).unwrap_err();
    let file = Listed::new("refused", "0,0,0.5,1000,100\n");
    let traffic = file.traffic("");
    let said =
        e(&[("flows.0.traffic", &traffic), ("flows.0.arrivals", "{ interval = \"1 s\", connections = 1 }")]);
    assert!(said.contains("flows.0.arrivals") && said.contains("which opens its own connections"), "{said}");
    let said = e(&[("flows.0.traffic", r#"{ kind = "requests", list = "/nowhere" }"#)]);
    assert!(said.contains("flows.0.traffic.list: \"/nowhere\" cannot be read"), "{said}");
    let frozen =
        format!("{{ kind = \"requests\", list = {{ file = \"{}\", sha256 = \"00\" }} }}", file.0.display());
    let said = e(&[("flows.0.traffic", &frozen)]);
    assert!(said.contains("flows.0.traffic.list.sha256: \"00\" differs from the file"), "{said}");
}

/// Two pages of three objects with constant times and sizes: a request is 500 B, an object 300 B or, the first, 1200 B.
const PAGES: &str = r#"{ kind = "web", pages = 2, sessions = 1, page_gap = "2 s", objects = 3, object_gap = "200 ms",
    request = "500 B", response = "300 B", main_response = "1200 B", server_time = "50 ms" }"#;

fn pages(changes: &[(&str, &str)]) -> lab::Outcome {
    let traffic = [("flows.0.traffic", PAGES)];
    outcome(PATH, &[&traffic[..], changes].concat())
}

/// A connection each: objects are asked for at their times, and the next page comes two seconds after this one is there.
#[test]
fn a_page_is_its_objects_each_over_a_connection() {
    let o = pages(&[]);
    let open = 2.0 * takes(40.0);
    let object = |bytes: f64| open + takes(540.0) + 0.050 + takes(bytes);
    let (main, other) = (object(1240.0), object(340.0));
    let second = 2.4 + other + 2.0;
    near(&numbers(&o, "requests", "start_s"), &[2.0, 2.2, 2.4, second, second + 0.2, second + 0.4]);
    near(&numbers(&o, "requests", "duration_s"), &[main, other, other, main, other, other]);
    assert_eq!(numbers(&o, "requests", "connection"), [0.0, 1.0, 2.0, 1024.0, 1025.0, 1026.0]);
    assert_eq!(numbers(&o, "connections", "opened"), [6.0]);
}

/// With pages counted from their starts the list is the same whatever the network does.
#[test]
fn pages_counted_from_their_starts_come_whatever_becomes_of_them() {
    let times = |rate: &str| {
        let changes = [("flows.0.traffic.page_gap_from", "start"), ("network.rate", rate)];
        let mut starts = numbers(&pages(&changes), "requests", "start_s");
        starts.sort_by(f64::total_cmp);
        starts
    };
    near(&times("1 Mbit/s"), &[2.0, 2.2, 2.4, 4.0, 4.2, 4.4]);
    near(&times("30 kbit/s"), &[2.0, 2.2, 2.4, 4.0, 4.2, 4.4]);
}

/// No more objects than `parallel` are under way, and those behind the first may wait for it.
#[test]
fn objects_wait_for_others_as_they_are_told() {
    let o = pages(&[("flows.0.traffic.parallel", "1"), ("flows.0.traffic.object_gap", "10 ms")]);
    let (starts, ends) = (numbers(&o, "requests", "start_s"), numbers(&o, "requests", "completed_s"));
    near(&starts[..3], &[2.0, ends[0], ends[1]]);
    let o = pages(&[("flows.0.traffic.parse_time", "300 ms")]);
    let first = numbers(&o, "requests", "completed_s")[0] + 0.3;
    near(&numbers(&o, "requests", "start_s")[..3], &[2.0, first, first + 0.2]);
}

/// Over one connection a page: in turn, in a pipeline, or a frame of each object in turn.
#[test]
fn a_page_over_one_connection() {
    let open = 2.0 * takes(40.0);
    let main = open + takes(540.0) + 0.050 + takes(1240.0);
    let with = |how: &str, more: &[(&str, &str)]| {
        pages(&[&[("flows.0.traffic.connections", how)][..], more].concat())
    };
    let o = with("persistent", &[]);
    let other = takes(540.0) + 0.050 + takes(340.0);
    near(&numbers(&o, "requests", "duration_s")[..3], &[main, other, other]);
    near(&numbers(&o, "requests", "start_s")[..3], &[2.0, 2.0 + main, 2.0 + main + other]);
    assert_eq!(numbers(&o, "requests", "connection"), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    // Over one connection for both pages, with the pause between them.
    let o = with("session", &[]);
    let second = 2.0 + main + 2.0 * other + 2.0;
    let again = takes(540.0) + 0.050 + takes(1240.0);
    near(&numbers(&o, "requests", "duration_s"), &[main, other, other, again, other, other]);
    near(&numbers(&o, "requests", "start_s")[3..4], &[second]);
    assert_eq!(numbers(&o, "requests", "connection"), [0.0; 6]);
    assert_eq!(numbers(&o, "connections", "opened"), [1.0]);
    // A main object that a program makes: the others have their own time, which is none here.
    let times = [("flows.0.traffic.server_time", "0 s"), ("flows.0.traffic.main_server_time", "80 ms")];
    let o = with("persistent", &times);
    let of = [main + 0.030, other - 0.050, other - 0.050];
    near(&numbers(&o, "requests", "duration_s"), &[of, of].concat());
    let o = with("pipelined", &[("flows.0.traffic.server_time", "0 s")]);
    assert_eq!(numbers(&o, "requests", "response_bytes")[..3], [1200.0, 300.0, 300.0]);
    near(&numbers(&o, "requests", "start_s")[..3], &[2.0; 3]);
    // The main object is three frames, of 1 and 0.5 rounds the others: these are there before it.
    let sizes = [("flows.0.traffic.main_response", "40000 B"), ("flows.0.traffic.response", "10000 B")];
    let o = with("multiplexed", &sizes);
    assert_eq!(numbers(&o, "requests", "response_bytes")[..3], [10000.0, 10000.0, 40000.0]);
    let o = with("multiplexed", &[&sizes[..], &[("flows.0.traffic.parse_time", "10 ms")]].concat());
    assert_eq!(numbers(&o, "requests", "response_bytes")[..3], [40000.0, 10000.0, 10000.0]);
}

/// Drawn pages are the same over every kind of connection, and whatever came before: common random numbers.
#[test]
fn the_same_pages_come_over_every_kind_of_connection() {
    let drawn = r#"{ kind = "web", pages = { kind = "geometric", mean = 3 }, sessions = 2, session_gap = "5 s",
        page_gap = { kind = "pareto", mean = "1 s", shape = 1.5 }, objects = { kind = "pareto", mean = 4, shape = 1.3 },
        object_gap = { kind = "exponential", mean = "20 ms" }, request = { kind = "uniform", least = "100 B", most = "900 B" },
        response = { kind = "lognormal", mean = "7 kB", sigma = 1.5 }, server_time = { kind = "exponential", mean = "5 ms" } }"#;
    let sizes = |how: &str, more: &[(&str, &str)]| {
        let changes = [
            ("flows.0.traffic", drawn),
            ("flows.0.traffic.connections", how),
            ("flows.0.count", "3"),
            ("flows.0.name", "F{i}"),
        ];
        let o = outcome(PATH, &[&changes[..], more].concat());
        let of = |column| numbers(&o, "requests", column);
        let mut all: Vec<[u64; 3]> = (of("flow").iter().zip(of("request_bytes")).zip(of("response_bytes")))
            .map(|((flow, request), response)| [*flow as u64, request as u64, response as u64])
            .collect();
        all.sort_unstable();
        all
    };
    let each = sizes("each", &[]);
    assert!(each.len() > 10);
    for how in ["persistent", "pipelined", "multiplexed", "session"] {
        assert_eq!(sizes(how, &[]), each, "{how}");
    }
    assert_eq!(sizes("each", &[("network.queue", r#"{ kind = "drop_tail", limit = "3 packets" }"#)]), each);
    assert_eq!(
        sizes("each", &[("flows.0.traffic.parallel", "2"), ("flows.0.traffic.parse_time", "1 ms")]),
        each
    );
}

/// A page whose connection gives up is over when that does, and the next one comes.
#[test]
fn lost_objects_end_their_page() {
    for how in ["each", "persistent"] {
        let o = pages(&[
            ("flows.0.traffic.connections", how),
            ("network.impairments", r#"[{ kind = "loss", probability = 1.0 }]"#),
            ("tcp.connection.syn_retries", "2"),
            ("tcp.rto.initial", "1 s"),
        ]);
        let completed = numbers(&o, "requests", "completed_s");
        assert!(completed.iter().any(|t| t.is_nan()), "{completed:?}");
        assert!(numbers(&o, "requests", "connection").iter().any(|&c| c >= 1.0));
    }
}
