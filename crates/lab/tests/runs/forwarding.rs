//! Networks whose packets real hosts send. The hosts of these tests send what the flows of the
//! simulator send, so the tables of links and queues must be equal.

use lab::{Failure, Forwarding, Outcome, Table, forward};
use net::{Direction, Ecn, Segment, Seq};
use queues::NoCustomAqms;
use units::{Duration, Time};

use crate::common::{numbers, outcome, scenario};

const SHARED: &str = r#"
duration = "30 s"
warm_up = "5 s"
network = { kind = "dumbbell", rate = "1.5 Mbit/s", delay = "20 ms", right_hosts = 3,
    left_rate = "10 Mbit/s", left_delay = "0.5 ms", right_rate = "10 Mbit/s", right_delay = "0.5 ms",
    queue = { kind = "red", limit = "20 packets", minth = "5 packets", maxth = "15 packets" } }
phase_breaking = { start = "0 s" }
record = { series = ["queue", "delays", "drops"], interval = "10 ms", links = ["left>right"] }
"#;

/// Flows as pairs of a start and an interval in microseconds. Each packet has 1000 bytes, so an
/// interval of 8000 µs is a rate of 1 Mbit/s.
const FLOWS: [(u64, u64); 3] = [(3_001, 8_000), (4_417, 10_000), (6_233, 16_000)];

/// Return the flows: datagrams of the simulator, or connections of real hosts.
fn flows(simulated: bool) -> String {
    let flow = |(i, (start, interval)): (usize, &(u64, u64))| {
        let rate = 8_000_000_000 / interval;
        let traffic = match simulated {
            true => format!(r#"{{ kind = "cbr", rate = "{rate} bit/s" }}"#),
            false => r#"{ kind = "bulk" }"#.to_string(),
        };
        format!(
            r#"{{ name = "{i}", from = "left-0", to = "right-{i}", start = "{start} us", traffic = {traffic} }}"#
        )
    };
    format!("[{}]", FLOWS.iter().enumerate().map(flow).collect::<Vec<_>>().join(", "))
}

/// Send the packets of all flows in the order of time, each with `size` bytes, and count the
/// packets that arrived with the right bytes.
fn send_all(forwarding: &mut Forwarding, size: usize, arrived: &mut usize) -> Result<Time, Failure> {
    let at = |micros: u64| Time::ZERO + Duration(micros * 1_000_000);
    let (end, mut sent) = (30_000_000, [0u64; FLOWS.len()]);
    loop {
        let due = |i: usize| FLOWS[i].0 + FLOWS[i].1 * sent[i];
        let i = (0..FLOWS.len()).min_by_key(|&i| due(i)).unwrap();
        let micros = due(i);
        if micros > end {
            return Ok(at(end));
        }
        let connection = i as u32;
        let mut bytes = vec![i as u8; size];
        bytes[1..9].copy_from_slice(&sent[i].to_be_bytes());
        let segment = Segment { seq: Seq(sent[i] as u32 + 1), len: size as u16 - 28, ..Segment::default() };
        forwarding.send(at(micros), connection, Direction::Forward, Ecn::NotEct, segment, &bytes)?;
        sent[i] += 1;
        forwarding.departures(|departure| {
            assert!(departure.time <= at(micros) && departure.bytes.len() == size);
            assert_eq!(u32::from(departure.bytes[size - 1]), departure.connection);
            *arrived += 1;
        });
    }
}

fn table<'o>(outcome: &'o Outcome, name: &str) -> &'o Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap()
}

#[test]
fn the_network_treats_the_packets_of_real_hosts_like_those_of_the_simulator() {
    let impaired = r#"[{ kind = "loss", probability = 0.02 }, { kind = "duplication", probability = 0.01 }, { kind = "jitter", mean = "3 ms" }]"#;
    for (queue, impairments) in [
        ("{ kind = \"red\", limit = \"20 packets\", minth = \"5 packets\", maxth = \"15 packets\" }", "[]"),
        ("{ kind = \"codel\", limit = \"20 packets\" }", "[]"),
        ("{ kind = \"fq_codel\", limit = \"20 packets\" }", impaired),
        ("{ kind = \"drop_tail\", limit = \"20 packets\" }", impaired),
    ] {
        let [simulated, real] = [true, false].map(flows);
        let with = |flows| [("flows", flows), ("network.queue", queue), ("network.impairments", impairments)];
        let simulated = outcome(SHARED, &with(&*simulated));
        let mut arrived = 0;
        let real = forward(&scenario(SHARED, &with(&*real)).unwrap(), &NoCustomAqms, &[], |network| {
            send_all(network, 1000, &mut arrived)
        });
        let real = real.unwrap();
        let names = ["links", "queue", "delays", "drops"];
        for name in names.into_iter().chain((impairments != "[]").then_some("impairments")) {
            // A comparison of texts, because NaN, a missing value, is not equal to itself.
            let [left, right] = [&real, &simulated].map(|of| format!("{:?}", table(of, name)));
            assert!(left == right, "{queue}: the table {name} differs");
        }
        assert!(numbers(&real, "links", "dropped_packets").iter().sum::<f64>() > 100.0);
        assert!(arrived > 5000, "{arrived}");
    }
}

#[test]
fn the_links_count_the_headers_of_the_scenario() {
    let [simulated, real] = [true, false].map(flows);
    let simulated = outcome(SHARED, &[("flows", &simulated)]);
    let with = [("flows", &*real), ("tcp.wire.data_header", "\"140 B\"")];
    let mut arrived = 0;
    let real = forward(&scenario(SHARED, &with).unwrap(), &NoCustomAqms, &[], |network| {
        send_all(network, 900, &mut arrived)
    });
    let real = real.unwrap();
    for name in ["links", "queue", "delays"] {
        let [left, right] = [&real, &simulated].map(|of| format!("{:?}", table(of, name)));
        assert!(left == right, "the table {name} differs");
    }
}
