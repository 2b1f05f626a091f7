//! Ramp: a template for a law of your own. docs/how-to/add-a-queue.md says where each line goes.
//!
//! Source: name the paper or RFC here, with its key in references.bib, and the section or equation
//! beside each line that follows it. (This law is made up.)

// What a law sees and says is in crates/net/src/discipline.rs: the packet, the queue as the packet
// finds it, the verdict. What laws share is in `average.rs` (averages with idle time), `spacing.rs`
// (from a probability to a verdict) and `lazy.rs` (departures and ticks, made up for at arrivals).
use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Depth, Duration, Range, Read, Time, params};

use crate::law::{Configures, Place, measure};

// The one definition of the parameters: the struct, the reader with its errors, the JSON Schema, the
// manual page (the comments are its text) and the Python object are made from it. Each has a type with
// a unit, a default (or `required`), a range, and where the default is from. "my_queue" is the kind.
params! {
    /// Signals with a probability that rises linearly with the queue, from none at `low` to every packet
    /// at `high`, and after a signal none for a pause.
    pub struct MyQueue: "my_queue", checked by check {
        /// Queue up to which no packet is signalled.
        low: Depth = (Depth::Packets(10.0)), in Range::at_least(0.0), from "made up";
        /// Queue from which on every packet is signalled.
        high: Depth = (Depth::Packets(50.0)), in Range::above(0.0), from "made up";
        /// Time after a signal without another.
        pause: Duration = (Duration::from_millis(1)), in Range::at_least(0.0), from "made up";
    }
}

/// What a range cannot say: parameters that must fit each other. Without such leave it away, and
/// `checked by check` above.
fn check(queue: &MyQueue, path: &str) -> Result<(), Invalid> {
    let path = join(path, "low");
    if !queue.low.counts_as(queue.high) {
        return Err(Invalid::new(&path, &queue.low.write(), "must count what high counts")
            .remedy("give both in packets or both in bytes"));
    }
    if queue.low.amount() >= queue.high.amount() {
        return Err(Invalid::new(&path, &queue.low.write(), format!("must be below high ({})", queue.high))
            .remedy("lower low or raise high"));
    }
    Ok(())
}

/// The state of a queue under the law.
#[derive(Clone, Debug)]
pub struct MyQueueLaw {
    low: Depth,
    high: Depth,
    pause: Duration,
    /// When the pause after the last signal is over.
    resumes: Time,
    random: Stream,
}

// From parameters to a law. `place` has the link's rate, the limit of the buffer, and a random stream
// of the queue's own: everything random is drawn from it, so that a run can be repeated.
impl Configures for MyQueue {
    type Law = MyQueueLaw;

    fn law(&self, place: Place) -> MyQueueLaw {
        MyQueueLaw {
            low: self.low,
            high: self.high,
            pause: self.pause,
            resumes: Time::ZERO,
            random: place.random,
        }
    }
}

// The law only decides. The shell (`fifo.rs`) limits the buffer, marks an ECN-capable packet by which
// the law signals and drops another. `Drop` is for packets that must go even if ECN-capable.
// `on_admitted`, `on_overflow` and `average` may be added; see the trait.
impl Aqm for MyQueueLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        let (low, high) = (self.low.amount(), self.high.amount());
        let queue = measure(at.backlog, self.low); // in packets or in bytes, as low is given
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

    fn law(change: serde_json::Value) -> MyQueueLaw {
        let random = Stream::new(1, "my_queue");
        let place = Place::new(Rate(1_500_000), Depth::Packets(100.0), random);
        MyQueue::read(&change, "queue").unwrap().law(place)
    }

    /// The share of arrivals, one a second, that are signalled while so many packets wait.
    fn share(law: &mut MyQueueLaw, packets: u32) -> f64 {
        let signalled = (1..=10_000).filter(|&s| {
            let backlog = Backlog { packets, bytes: 0 };
            let at = Arrival { now: Time(s * 1_000_000_000_000), backlog, free_at: Time::NEVER };
            law.on_arrival(&Packet::default(), &at) != Verdict::Pass
        });
        signalled.count() as f64 / 10_000.0
    }

    #[test]
    fn the_share_of_signals_rises_from_low_to_high() {
        for (packets, expected) in [(0, 0.0), (10, 0.0), (20, 0.25), (30, 0.5), (50, 1.0), (90, 1.0)] {
            assert!((share(&mut law(json!({})), packets) - expected).abs() < 0.02, "at {packets} packets");
        }
    }

    #[test]
    fn a_pause_follows_a_signal() {
        let mut law = law(json!({"pause": "1500 ms"}));
        assert!((share(&mut law, 50) - 0.5).abs() < 0.001);
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused() {
        let refused = |change| MyQueue::read(&change, "queue").unwrap_err().to_string();
        let e = refused(json!({"low": "50 packets"}));
        assert!(e.contains("queue.low: \"50 packets\" must be below high (50 packets)"), "{e}");
        assert!(refused(json!({"low": "1 kB"})).contains("must count what high counts"));
    }
}
