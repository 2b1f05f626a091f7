//! Tests of links whose two directions have different parameters, and of hosts with different
//! access links.

use crate::common::{digest, numbers, outcome, scenario};

/// Return a dumbbell with flows in both directions. `keys` are further keys of the network.
fn dumbbell(keys: &str) -> String {
    format!(
        r#"
        network = {{ kind = "dumbbell", rate = "20 Mbit/s", delay = "10 ms", queue = {{ kind = "codel" }},
            left_hosts = 2, right_hosts = 2, {keys} }}
        flows = [{{ name = "down{{i}}", count = 2, from = "left-{{i}}", to = "right-{{i}}", traffic = {{ kind = "bulk", size = "1 MB" }} }},
            {{ name = "up", from = "right-0", to = "left-0", traffic = {{ kind = "bulk", size = "200 kB" }} }}]
        "#
    )
}

const ACCESS: &str =
    r#"left_rate = "1 Gbit/s", left_delay = "1 ms", right_rate = "1 Gbit/s", right_delay = "1 ms""#;

/// Return the scenario of [`dumbbell`], in which a graph of one-way links replaces the network.
fn graph(links: &[(&str, &str, &str, &str, &str)]) -> String {
    let link = |(from, to, rate, delay, keys): &(&str, &str, &str, &str, &str)| {
        format!(
            r#"{{ from = "{from}", to = "{to}", rate = "{rate}", delay = "{delay}", directions = "one", {keys} }}"#
        )
    };
    let links: Vec<String> = links.iter().map(link).collect();
    let text = dumbbell(ACCESS);
    let flows = text.split("flows = ").nth(1).unwrap();
    format!("network = {{ kind = \"graph\", links = [{}] }}\nflows = {flows}", links.join(", "))
}

/// Queue that is long enough to drop no packet in these scenarios.
const AMPLE: &str = r#"queue = { kind = "drop_tail", limit = "100000 packets" }"#;

/// A dumbbell with the key `reverse` has the same results as a graph in which two one-way links
/// form the bottleneck.
#[test]
fn the_reverse_direction_has_its_own_rate_delay_queue_and_impairments() {
    let reverse = r#"reverse = { rate = "2 Mbit/s", delay = "30 ms", queue = { kind = "pie" }, impairments = [{ kind = "loss", probability = 0.01 }] }"#;
    let dumbbell_outcome = outcome(&dumbbell(&format!("{reverse}, {ACCESS}")), &[]);
    let reverse_keys = r#"queue = { kind = "pie" }, impairments = [{ kind = "loss", probability = 0.01 }]"#;
    let host = |a, b| [(a, b, "1 Gbit/s", "1 ms", AMPLE), (b, a, "1 Gbit/s", "1 ms", AMPLE)];
    let mut links = vec![
        ("left", "right", "20 Mbit/s", "10 ms", r#"queue = { kind = "codel" }"#),
        ("right", "left", "2 Mbit/s", "30 ms", reverse_keys),
    ];
    links.extend(["left-0", "left-1"].into_iter().flat_map(|a| host(a, "left")));
    links.extend(["right-0", "right-1"].into_iter().flat_map(|a| host(a, "right")));
    assert_eq!(digest(&dumbbell_outcome), digest(&outcome(&graph(&links), &[])));
    let [bytes, busy] =
        ["departed_bytes", "busy_s"].map(|column| numbers(&dumbbell_outcome, "links", column));
    for (l, bps) in [(0, 20e6), (1, 2e6)] {
        assert!((busy[l] - 8.0 * bytes[l] / bps).abs() < 1e-9, "link {l}");
    }
}

/// A link of a graph with the key `reverse` has the same results as two one-way links.
#[test]
fn a_link_of_a_graph_accepts_a_reverse_direction() {
    let flow = r#"flows = [{ from = "a", to = "b", traffic = { kind = "bulk", size = "300 kB" } }]"#;
    let with =
        |links: &str| outcome(&format!("network = {{ kind = \"graph\", links = [{links}] }}\n{flow}"), &[]);
    let one = with(
        r#"{ from = "a", to = "b", rate = "20 Mbit/s", delay = "1 ms", reverse = { rate = "100 kbit/s", queue = { kind = "drop_tail", limit = "9 packets" } } }"#,
    );
    let two = with(
        r#"{ from = "a", to = "b", rate = "20 Mbit/s", delay = "1 ms", directions = "one" },
           { from = "b", to = "a", rate = "100 kbit/s", delay = "1 ms", directions = "one", queue = { kind = "drop_tail", limit = "9 packets" } }"#,
    );
    assert_eq!(digest(&one), digest(&two));
    assert!(
        numbers(&one, "links", "dropped_packets")[1] > 0.0,
        "the slow reverse direction does not drop ACKs"
    );
}

#[test]
fn hosts_accept_lists_of_rates_and_delays() {
    let lists = r#"left_rate = ["1 Gbit/s", "30 Mbit/s"], left_delay = ["1 ms", "1 ms"], right_rate = ["10 Mbit/s", "5 Mbit/s"], right_delay = ["3 ms", "40 ms"]"#;
    let listed = outcome(&dumbbell(lists), &[]);
    let spread = r#"left_rate = ["1 Gbit/s", "30 Mbit/s"], left_delay = "1 ms", right_rate = ["10 Mbit/s", "5 Mbit/s"], right_delay = { first = "3 ms", last = "40 ms" }"#;
    assert_eq!(digest(&listed), digest(&outcome(&dumbbell(spread), &[])));
    let [bytes, busy] = ["departed_bytes", "busy_s"].map(|column| numbers(&listed, "links", column));
    for (l, bps) in [(2, 1e9), (4, 30e6), (6, 10e6), (8, 5e6)] {
        let transmission = 8.0 * bytes[l] / bps;
        assert!(bytes[l] > 0.0 && (busy[l] - transmission).abs() < 1e-6 * transmission, "link {l}");
    }
    // The handshake takes one round trip over the bottleneck and the access links of the hosts
    // left-1 and right-1.
    let start = numbers(&listed, "flows", "start_s")[1];
    let handshake = numbers(&listed, "flows", "established_s")[1] - start;
    assert!(handshake > 0.102 && handshake < 0.110, "{handshake}");
}

/// A scenario with `reverse` and with lists is unchanged after it is written and read again.
#[test]
fn reverse_and_lists_survive_writing_and_reading() {
    let keys = r#"reverse = { rate = "2 Mbit/s" }, left_rate = "1 Gbit/s", left_delay = ["1 ms", "2 ms"], right_rate = ["1 Gbit/s", "2 Gbit/s"], right_delay = "1 ms""#;
    let first = scenario(&dumbbell(keys), &[]).unwrap();
    let text = lab::write(&first);
    let again = lab::read(&text.to_string(), lab::Format::Json, &[]).unwrap();
    assert_eq!(first, again);
    let network = &serde_json::from_str::<serde_json::Value>(&text.to_string()).unwrap()["network"];
    assert_eq!(network["reverse"]["rate"], "2 Mbit/s");
    assert!(network["reverse"]["delay"].is_null());
    assert_eq!(network["left_delay"], serde_json::json!(["1 ms", "2 ms"]));
}
