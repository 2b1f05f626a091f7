//! Ramp: a template for a new AQM. The guide docs/how-to/add-a-queue.md shows the place of each
//! line.
//!
//! Source: name the paper or RFC here, with its key in references.bib. At each line that implements
//! a section or an equation, name that section or equation. (The AQM of this template is an
//! invented example.)

// The file crates/net/src/discipline.rs defines the input of an AQM (the packet, and the queue at
// the packet's arrival) and its output (the verdict). The file `average.rs` computes averages that
// decay during idle time, `spacing.rs` converts a probability into a verdict, and `lazy.rs`
// processes departures and timer ticks at the next arrival.
use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::param::{Invalid, join};
use units::{Depth, Duration, Range, Read, Time, params};

use crate::aqm::{AqmParams, QueueContext, measure};

// The macro `params!` is the only place that defines the parameters. The macro generates the
// struct, the reader with its errors, the JSON Schema, the manual page (whose text is these
// comments) and the Python object. Each parameter has a type with a unit, a default (or
// `required`), a range, and the source of the default. "my_queue" is the name of this kind of queue
// in a scenario.
params! {
    /// Ramp signals arriving packets with a probability that rises linearly with the queue length,
    /// from 0 at `low` to 1 at `high`. After a signal follows a pause, in which no packet is
    /// signalled.
    pub struct MyQueue: "my_queue", checked by check {
        /// Maximum queue length at which no packet is signalled.
        low: Depth = (Depth::Packets(10.0)), in Range::at_least(0.0), from "made up";
        /// Minimum queue length at which every packet is signalled.
        high: Depth = (Depth::Packets(50.0)), in Range::above(0.0), from "made up";
        /// Minimum time between two signals.
        pause: Duration = (Duration::from_millis(1)), in Range::at_least(0.0), from "made up";
    }
}

/// Refuse combinations of parameters that are not valid. The range of a single parameter cannot
/// express a condition on several parameters. If a queue has no condition on several parameters,
/// delete the function `check` and the words `checked by check` above.
fn check(queue: &MyQueue, path: &str) -> Result<(), Invalid> {
    let path = join(path, "low");
    if !queue.low.counts_as(queue.high) {
        return Err(Invalid::new(&path, &queue.low.write(), "must have the unit of high")
            .remedy("write low and high both in packets or both in bytes"));
    }
    if queue.low.amount() >= queue.high.amount() {
        return Err(Invalid::new(&path, &queue.low.write(), format!("must be below high ({})", queue.high))
            .remedy("lower low or raise high"));
    }
    Ok(())
}

// The series `why` explains each drop and each mark by a rule and by variables of the queue. The
// macros `rules!` and `variables!` declare them once, with their sources. The columns of the series
// and the reference are generated from these declarations.
rules! {
    /// The random number is below the signal probability p.
    RANDOM = "random", from "made up";
    /// The queue length is at least `high`.
    HIGH = "high", from "made up";
}

variables! {
    /// Variables of Ramp.
    pub struct MyQueueVariables {
        /// Signal probability of the packet.
        p in "0..1", from "made up";
        /// Random number between 0 and 1 that was compared with p.
        random in "0..1", from "made up";
    }
}

/// State of one queue.
#[derive(Clone, Debug)]
pub struct MyQueueAqm {
    low: Depth,
    high: Depth,
    pause: Duration,
    /// Time at which the pause after the last signal ends.
    resumes: Time,
    /// Signal probability and random number of the last signal.
    signal: MyQueueVariables,
    random: Stream,
}

// Create the AQM from its parameters. `context` has the rate of the link, the limit of the buffer,
// and the random stream of the queue. Take all random numbers from this stream, so that a run can
// be repeated.
impl AqmParams for MyQueue {
    type Aqm = MyQueueAqm;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: MyQueueVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> MyQueueAqm {
        MyQueueAqm {
            low: self.low,
            high: self.high,
            pause: self.pause,
            resumes: Time::ZERO,
            signal: MyQueueVariables { p: f64::NAN, random: f64::NAN },
            random: context.random,
        }
    }
}

// The AQM only decides. The queue discipline around the AQM (`fifo.rs`) limits the buffer. The
// queue discipline marks a signalled packet if the packet is ECN-capable, and drops the packet
// otherwise. The verdict `Drop` is for packets that are dropped even if they are ECN-capable. The
// functions `on_admitted`, `on_overflow` and `average` are optional (see the trait `Aqm`).
impl Aqm for MyQueueAqm {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        let (low, high) = (self.low.amount(), self.high.amount());
        let queue = measure(at.backlog, self.low); // in the unit of low: packets or bytes
        if queue <= low || at.now < self.resumes {
            return Verdict::Pass;
        }
        let p = (queue - low) / (high - low);
        let random = if p < 1.0 { self.random.uniform() } else { f64::NAN };
        if random >= p {
            return Verdict::Pass;
        }
        self.signal = MyQueueVariables { p, random };
        self.resumes = at.now + self.pause;
        Verdict::Signal(if p < 1.0 { Why::Early } else { Why::Threshold })
    }

    // Explain the last verdict. The simulator calls this function only for drops and marks, and
    // only while a series records explanations. If the buffer was full (`Why::Full`), the AQM did
    // not signal the packet.
    fn explain(&self, why: Why, to: &mut Explanation) {
        match why {
            Why::Early => to.by(&RANDOM).with(self.signal),
            Why::Threshold => to.by(&HIGH).with(self.signal),
            _ => to,
        };
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

    /// Return the share of packets that the AQM signals. One packet arrives per second, and
    /// `packets` packets wait at each arrival.
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
