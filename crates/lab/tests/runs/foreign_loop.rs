//! The example of an event loop outside of aqmlab, compared with the simulator.

#[allow(dead_code)] // the example's main function
#[path = "../../../tcp/examples/foreign_loop.rs"]
mod example;

use crate::common::{numbers, outcome};

/// The network of the example. The delay of the access links is negligible.
const SAME: &str = r#"
phase_breaking = { start = "0 s", delay = "0 s" }
network = { kind = "dumbbell", rate = "10 Mbit/s", delay = "20 ms",
            left_rate = "1000 Gbit/s", left_delay = "0 s", right_rate = "1000 Gbit/s", right_delay = "0 s",
            queue = { kind = "codel", limit = "1000 packets" } }
flows = [{ from = "left-0", to = "right-0", traffic = { kind = "bulk", size = "10 MB" } }]
tcp = { stack = "linux" }
"#;

#[test]
fn the_event_loop_of_the_example_gives_the_same_transfer_as_the_simulator() {
    let foreign = example::transfer().unwrap();
    let simulated = outcome(SAME, &[]);
    let of_flow = |column| numbers(&simulated, "flows", column)[0];
    assert_eq!(foreign.drops as f64, of_flow("dropped_packets"));
    assert_eq!(foreign.segments as f64, of_flow("segments_sent"));
    assert!((foreign.seconds - of_flow("completed_s")).abs() < 1e-3, "{}", foreign.seconds);
}
