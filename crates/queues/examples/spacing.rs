//! Write the packets that RED marks, out of 5000 packets that arrive at a constant average queue
//! length, with geometric and with uniform spacing.
//!
//! The program writes lines `spacing,packet` to standard output and follows §7 of Floyd & Jacobson
//! 1993 (`floyd1993red`). With a signal probability of 0.02 the geometric spacing marks about 100
//! packets, and so does the uniform spacing with a signal probability of 0.01.

use engine::Stream;
use net::{Aqm, Arrival, Backlog, Packet, Verdict};
use queues::red::Red;
use queues::{AqmParams, QueueContext};
use serde_json::json;
use units::{Depth, Rate, Read, Time};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |s| s.parse())?;
    println!("spacing,packet");
    for (spacing, p) in [("geometric", 0.02), ("uniform", 0.01)] {
        // The queue length is half-way between the thresholds of RED, where the signal probability
        // is half of maxp.
        let red = Red::read(&json!({"maxp": 2.0 * p, "wq": 1.0, "spacing": spacing}), "red")?;
        let context = QueueContext::new(Rate(10_000_000), Depth::Packets(100.0), Stream::new(seed, spacing));
        let mut aqm = red.aqm(context);
        let packet = Packet { size: 1000, ..Packet::default() };
        for i in 1..=5000 {
            let at = Arrival {
                now: Time(i * 800_000_000),
                backlog: Backlog { packets: 10, bytes: 10_000 },
                free_at: Time::NEVER,
            };
            if aqm.on_arrival(&packet, &at) != Verdict::Pass {
                println!("{spacing},{i}");
            }
        }
    }
    Ok(())
}
