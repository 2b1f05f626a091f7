//! Applications at both ends: requests and responses, probes, slow readers; data that goes both ways.

mod common;

use common::{numbers, outcome};

/// One host on each side, links without waiting but at the bottleneck. A packet there takes 8 µs a byte.
const PATH: &str = r#"
    network = { kind = "dumbbell", rate = "1 Mbit/s", delay = "20 ms", left_rate = "1 Gbit/s", left_delay = "0 ms",
        right_rate = "1 Gbit/s", right_delay = "0 ms",
        queue = { kind = "drop_tail", limit = "100 packets" }, reverse_queue = { kind = "drop_tail", limit = "100 packets" } }
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
            let (sent, received) = (numbers(&o, table, "segments_sent"), numbers(&o, table, "received_segments"));
            assert_eq!(sent, received);
        }
    }
}
