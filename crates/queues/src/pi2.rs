//! PI2: a linear PI controller whose output is squared for Classic traffic.
//!
//! Source: De Schepper, Bondarenko, Tsang & Briscoe 2016 (`deschepper2016pi2`), and the base AQM of
//! RFC 9332 §2.4 and Appendix A.1 (`rfc9332`) without the second queue. The base AQM defines the
//! controller, the square, the coupling to Scalable traffic, and the defaults. The queueing delay
//! of an update is the waiting time of the packet that is at the head of the queue at the time of
//! the update. RFC 9332 also defines a limit of the Classic probability (p_Cmax) and an overload
//! policy, for the two queues together. The limit p_Cmax and the overload policy are not
//! implemented.
//!
//! RFC 9332 was available, the paper on PI2 was not. The controller, the delay, the two random
//! numbers per Classic packet and the factor k agree with sch_dualpi2.c, whose authors are those of
//! the paper. The code of sch_dualpi2.c does not signal while less than two MTU wait. In aqmlab the
//! parameter `min_backlog = "3000 B"` prevents signals while less than two MTU of 1500 B wait.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Ecn, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Bytes, Duration, Range, Time, params};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext};
use crate::lazy::{Departures, Ticks};

params! {
    /// PI2 controls the queueing delay at a target. PI2 computes a probability p', which is
    /// proportional to the signal rate that Scalable senders need. Scalable packets, which carry
    /// ECT(1) or CE, are marked with the probability k p'. Classic packets are signalled with the
    /// probability p' squared, because the rate of Reno and similar congestion controls depends on
    /// the square root of the signal probability. PI2 computes the square by a comparison of two
    /// random numbers with p'. The square replaces the table by which PIE scales its changes.
    pub struct Pi2: "pi2", renamed by FORMER_BACKLOG_KEY {
        /// Target queueing delay.
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc9332 Appendix A.1: 15 ms";
        /// Time between two updates of the probability (Tupdate).
        t_update: Duration = (Duration::from_millis(16)), in Range::at_least(1e-6), from "rfc9332 Appendix A.1: 16 ms";
        /// Integral gain in Hz (alpha).
        alpha: f64 = (0.16), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 0.16 Hz";
        /// Proportional gain in Hz (beta).
        beta: f64 = (3.2), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 3.2 Hz";
        /// Coupling factor (k): Scalable packets are marked with the probability k p', where p' is
        /// the square root of the Classic probability.
        coupling: f64 = (2.0), in Range::at_least(0.0), from "rfc9332 Appendix A.1, §2.5.1: 2";
        /// Number of waiting bytes below which PI2 does not signal any packet.
        min_backlog: Bytes = (Bytes(0)), in Range::at_least(0.0), from "rfc9332 Appendix A.1, figure 7, has no minimum; Linux has two MTU";
    }
}

impl AqmParams for Pi2 {
    type Aqm = Pi2Aqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: Pi2Variables::LIST }];

    fn aqm(&self, context: QueueContext) -> Pi2Aqm {
        Pi2Aqm {
            params: self.clone(),
            probability: 0.0,
            previous: 0.0,
            signal: (0.0, f64::NAN),
            scalable: false,
            ticks: Ticks::every(self.t_update),
            departures: Departures::default(),
            random: context.random,
        }
    }
}

rules! {
    /// The packet carries ECT(1) or CE, and the random number is below k p'.
    SCALABLE = "scalable", from "rfc9332 §2.1; deschepper2016pi2";
    /// The packet is Classic, and the maximum of two random numbers is below p'.
    CLASSIC = "classic", from "rfc9332 §2.1; deschepper2016pi2";
}

variables! {
    /// Variables of PI2.
    pub struct Pi2Variables {
        /// Base probability (p').
        p_base in "0..1", from "rfc9332 §2.1";
        /// Probability that was compared with the random number: k p' for a Scalable packet, p' for
        /// a Classic packet.
        p in "0..1", from "rfc9332 §2.1";
        /// Queueing delay at the last update of p'.
        qdelay_s in "s", from "rfc9332 Appendix A.1";
        /// Random number between 0 and 1: for a Classic packet, the maximum of two random numbers.
        random in "0..1", from "rfc9332 Appendix A.1";
    }
}

/// State of PI2.
#[derive(Clone, Debug)]
pub struct Pi2Aqm {
    params: Pi2,
    /// Base probability p'.
    probability: f64,
    /// Queueing delay at the previous update, in seconds.
    previous: f64,
    /// Probability and random number of the last signal. `scalable` is true if it signalled a
    /// Scalable packet.
    signal: (f64, f64),
    scalable: bool,
    ticks: Ticks,
    departures: Departures,
    random: Stream,
}

impl Pi2Aqm {
    /// Update the probability (dualpi2_update()). Return true if the probability or the delay
    /// differs from its previous value.
    fn update(&mut self, now: Time) -> bool {
        self.departures.remaining(now);
        let current = self.departures.head().map_or(0.0, |head| now.since(head.entered).seconds());
        let (p, target) = (&self.params, self.params.target.seconds());
        let probability =
            self.probability + p.alpha * (current - target) + p.beta * (current - self.previous);
        let probability = probability.clamp(0.0, 1.0);
        let changed = probability != self.probability || current != self.previous;
        (self.probability, self.previous) = (probability, current);
        changed
    }
}

impl Aqm for Pi2Aqm {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while let Some(tick) = self.ticks.due(at.now) {
            if !self.update(tick) && self.departures.is_empty() {
                self.ticks.pass_over(at.now);
            }
        }
        if at.backlog.bytes < self.params.min_backlog.0 {
            return Verdict::Pass;
        }
        let scalable = matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce);
        let (p, drawn) = if scalable {
            (self.params.coupling * self.probability, self.random.uniform())
        } else {
            (self.probability, self.random.uniform().max(self.random.uniform()))
        };
        if drawn < p {
            (self.signal, self.scalable) = ((p, drawn), scalable);
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let random = to.drawn(why, if self.scalable { &SCALABLE } else { &CLASSIC }, self.signal.1);
        let p = if random.is_nan() { f64::NAN } else { self.signal.0 };
        to.with(Pi2Variables { p_base: self.probability, p, qdelay_s: self.previous, random });
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.departures.add(packet, at, 0);
    }
}
