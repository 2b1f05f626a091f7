//! Ramp: a template for a new AQM. The guide docs/how-to/add-a-queue.md shows where each line
//! belongs.
//!
//! Source: name the paper or RFC here, with its key in references.bib, and the section or equation
//! at each line that implements it. (The AQM of this template is made up.)

// crates/net/src/discipline.rs defines the input of an AQM (the packet and the queue at its
// arrival) and its output (the verdict). `average.rs` has averages with idle time, `spacing.rs`
// turns a probability into a verdict, and `lazy.rs` processes departures and ticks at arrivals.
use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Depth, Duration, Range, Read, Time, params};

use crate::aqm::{AqmParams, QueueContext, measure};

// The macro `params!` has the only definition of the parameters. The struct, the reader with its
// errors, the JSON Schema, the manual page (with these comments as its text) and the Python object
// are generated from this definition. Each parameter has a type with a unit, a default (or
// `required`), a range, and the source of the default. "my_queue" is the kind.
params! {
    /// Ramp signals arriving packets with a probability that rises linearly with the queue length,
    /// from 0 at `low` to 1 at `high`. A signal is followed by a pause without signals.
    pub struct MyQueue: "my_queue", checked by check {
        /// Queue length up to which no packet is signalled.
        low: Depth = (Depth::Packets(10.0)), in Range::at_least(0.0), from "made up";
        /// Queue length from which every packet is signalled.
        high: Depth = (Depth::Packets(50.0)), in Range::above(0.0), from "made up";
        /// Minimum time between two signals.
        pause: Duration = (Duration::from_millis(1)), in Range::at_least(0.0), from "made up";
    }
}

/// Refuse parameters that do not fit each other, which a range cannot express. A queue without such
/// parameters needs neither this function nor `checked by check`.
fn check(queue: &MyQueue, path: &str) -> Result<(), Invalid> {
    let path = join(path, "low");
    if !queue.low.counts_as(queue.high) {
        return Err(Invalid::new(&path, &queue.low.write(), "must have the unit of high")
            .remedy("write both in packets or both in bytes"));
    }
    if queue.low.amount() >= queue.high.amount() {
        return Err(Invalid::new(&path, &queue.low.write(), format!("must be below high ({})", queue.high))
            .remedy("lower low or raise high"));
    }
    Ok(())
}

/// State of one queue.
#[derive(Clone, Debug)]
pub struct MyQueueAqm {
    low: Depth,
    high: Depth,
    pause: Duration,
    /// Time at which the pause after the last signal ends.
    resumes: Time,
    random: Stream,
}

// Create the AQM from its parameters. `context` has the link's rate, the limit of the buffer, and the
// random stream of the queue. All random numbers must come from this stream, so that a run can be
// repeated.
impl AqmParams for MyQueue {
    type Aqm = MyQueueAqm;

    fn aqm(&self, context: QueueContext) -> MyQueueAqm {
        MyQueueAqm {
            low: self.low,
            high: self.high,
            pause: self.pause,
            resumes: Time::ZERO,
            random: context.random,
        }
    }
}

// The AQM only decides. The queue discipline around the AQM (`fifo.rs`) limits the buffer, marks a
// signalled packet if it is ECN-capable, and drops it otherwise. `Drop` is for packets that must be
// dropped even if they are ECN-capable. `on_admitted`, `on_overflow` and `average` are optional;
// see the trait.
impl Aqm for MyQueueAqm {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        let (low, high) = (self.low.amount(), self.high.amount());
        let queue = measure(at.backlog, self.low); // in the unit of low: packets or bytes
        if queue <= low || at.now < self.resumes {
            return Verdict::Pass;
        }
        let p = (queue - low) / (high - low);
        if p < 1.0 && self.random.uniform() >= p {
            return Verdict::Pass;
        }
        self.resumes = at.now + self.pause;
        Verdict::Signal(if p < 1.0 { Why::Early } else { Why::Threshold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Backlog;
    use serde_json::json;
    use units::Rate;

    fn aqm(change: serde_json::Value) -> MyQueueAqm {
        let random = Stream::new(1, "my_queue");
        let context = QueueContext::new(Rate(1_500_000), Depth::Packets(100.0), random);
        MyQueue::read(&change, "queue").unwrap().aqm(context)
    }

    /// Return the share of signalled arrivals, one per second, while `packets` packets wait.
    fn share(aqm: &mut MyQueueAqm, packets: u32) -> f64 {
        let signalled = (1..=10_000).filter(|&s| {
            let backlog = Backlog { packets, bytes: 0 };
            let at = Arrival { now: Time(s * 1_000_000_000_000), backlog, free_at: Time::NEVER };
            aqm.on_arrival(&Packet::default(), &at) != Verdict::Pass
        });
        signalled.count() as f64 / 10_000.0
    }

    #[test]
    fn the_signal_probability_rises_from_low_to_high() {
        for (packets, expected) in [(0, 0.0), (10, 0.0), (20, 0.25), (30, 0.5), (50, 1.0), (90, 1.0)] {
            assert!((share(&mut aqm(json!({})), packets) - expected).abs() < 0.02, "at {packets} packets");
        }
    }

    #[test]
    fn a_pause_follows_a_signal() {
        let mut aqm = aqm(json!({"pause": "1500 ms"}));
        assert!((share(&mut aqm, 50) - 0.5).abs() < 0.001);
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused() {
        let refused = |change| MyQueue::read(&change, "queue").unwrap_err().to_string();
        let e = refused(json!({"low": "50 packets"}));
        assert!(e.contains("queue.low: \"50 packets\" must be below high (50 packets)"), "{e}");
        assert!(refused(json!({"low": "1 kB"})).contains("must have the unit of high"));
    }
}
