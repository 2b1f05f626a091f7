//! PI2: a linear PI controller whose output is squared for Classic traffic.
//!
//! Source: De Schepper, Bondarenko, Tsang & Briscoe 2016 (`deschepper2016pi2`) and RFC 9332 §2.4
//! and Appendix A.1 (`rfc9332`), the base AQM without the second queue: the controller, the square,
//! the coupling to Scalable traffic, and the defaults. The queueing delay is the waiting time of
//! the packet at the head of the queue when the period ends. The limit of the Classic probability
//! (p_Cmax) and the overload policy, which RFC 9332 defines for the two queues together, are not
//! implemented.
//!
//! RFC 9332 was available, the paper on PI2 was not. The controller, the delay, the two random
//! numbers per Classic packet and the factor k agree with its authors' sch_dualpi2.c. That code
//! does not signal while less than two MTU wait, which is `min_backlog = "3000 B"` here.

use engine::Stream;
use net::{Aqm, Arrival, Ecn, Packet, Verdict, Why};
use units::{Bytes, Duration, Range, Time, params};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext};
use crate::lazy::{Departures, Ticks};

params! {
    /// PI2 controls the queueing delay at a target. The probability p' of PI2 is proportional to
    /// the signal rate that Scalable senders need. Scalable packets, which carry ECT(1) or CE, are
    /// marked with k p'. Classic packets are signalled with p' squared (if two random numbers are
    /// both below p'), because the rate of Reno and similar controls depends on the square root of
    /// the signal probability. The square replaces PIE's table of scale factors.
    pub struct Pi2: "pi2", renamed by FORMER_BACKLOG_KEY {
        /// Target queueing delay.
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc9332 Appendix A.1: 15 ms";
        /// Time between two updates of the probability (Tupdate).
        t_update: Duration = (Duration::from_millis(16)), in Range::at_least(1e-6), from "rfc9332 Appendix A.1: 16 ms";
        /// Integral gain in Hz (alpha).
        alpha: f64 = (0.16), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 0.16 Hz";
        /// Proportional gain in Hz (beta).
        beta: f64 = (3.2), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 3.2 Hz";
        /// Coupling factor (k): Scalable packets are marked with k times p', the root of the
        /// Classic probability.
        coupling: f64 = (2.0), in Range::at_least(0.0), from "rfc9332 Appendix A.1, §2.5.1: 2";
        /// Backlog below which no packet is signalled.
        min_backlog: Bytes = (Bytes(0)), in Range::at_least(0.0), from "rfc9332 Appendix A.1, figure 7: none; Linux has two MTU";
    }
}

impl AqmParams for Pi2 {
    type Aqm = Pi2Aqm;
    const COUNTS_ON_ORDER: bool = true;

    fn aqm(&self, context: QueueContext) -> Pi2Aqm {
        Pi2Aqm {
            params: self.clone(),
            probability: 0.0,
            previous: 0.0,
            ticks: Ticks::every(self.t_update),
            departures: Departures::default(),
            random: context.random,
        }
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
    ticks: Ticks,
    departures: Departures,
    random: Stream,
}

impl Pi2Aqm {
    /// Update the probability (dualpi2_update()). Return true if the update changed a variable of
    /// the controller.
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
        let signals = if matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.random.uniform() < self.params.coupling * self.probability
        } else {
            self.random.uniform().max(self.random.uniform()) < self.probability
        };
        if signals { Verdict::Signal(Why::Early) } else { Verdict::Pass }
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.departures.add(packet, at, 0);
    }
}
