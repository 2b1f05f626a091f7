//! PIE, the basic scheme.
//!
//! Source: RFC 8033, Appendix A (`rfc8033`), line by line, with the latency from timestamps; marking as
//! its §5.1 has it. The delay is that of the packet that left the queue last, and 0 once that packet left it
//! empty: §4.2 has the probability decay while the queue is not congested, "current_qdelay == 0", which an
//! appendix that samples at departures alone would never see of a queue from which nothing departs. Linux has it so too.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Bytes, Duration, Probability, Range, Time, params, words};

use crate::law::{Configures, Place};
use crate::lazy::{Departures, Ticks};

words! {
    /// How the drops of one probability are spaced.
    pub enum Tosses {
        /// Each packet is dropped with the same probability.
        Independent = "independent",
        /// Derandomized: the probabilities of the packets since the last drop are summed up; below 0.85 none is dropped, from 8.5 on
        /// every packet is.
        Accumulated = "accumulated",
    }
}

params! {
    /// PIE (proportional integral controller enhanced) holds the queueing delay at a target. Every
    /// t_update the drop probability is changed by the delay's distance from the target and by its
    /// trend; small probabilities are changed in small steps. Packets are dropped at random on arrival, not
    /// during a burst that follows a calm, and not while the queue is nearly empty.
    pub struct Pie: "pie" {
        /// The delay that is held (QDELAY_REF).
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc8033 Appendix A: 15 ms";
        /// How long a burst is let pass (MAX_BURST).
        max_burst: Duration = (Duration::from_millis(150)), in Range::at_least(0.0), from "rfc8033 Appendix A: 150 ms";
        /// Time between two changes of the probability (T_UPDATE).
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "rfc8033 Appendix A: 15 ms";
        /// Weight of the delay's distance from the target, per second.
        alpha: f64 = (0.125), in Range::at_least(0.0), from "rfc8033 Appendix A: 1/8";
        /// Weight of the delay's change, per second.
        beta: f64 = (1.25), in Range::at_least(0.0), from "rfc8033 Appendix A: 1 + 1/4";
        /// Twice this may wait without a drop (MEAN_PKTSIZE).
        mean_packet_size: Bytes = (Bytes(1024)), in Range::between(1.0, 65535.0), from "rfc8033 §4.1 leaves it open; rfc8034 A.1.2: 1024 B";
        /// ECN-capable packets are marked below this probability and dropped above it (MAX_ECNTH).
        mark_below: Probability = (Probability(0.1)), in Range::ANY, from "rfc8033 §5.1: 10 %";
        /// How drops are spaced.
        tosses: Tosses = (Tosses::Independent), in Range::ANY, from "rfc8033 §4.1; §5.4 has accumulated";
    }
}

impl Configures for Pie {
    type Law = PieLaw;
    const COUNTS_ON_ORDER: bool = true;

    fn law(&self, place: Place) -> PieLaw {
        PieLaw { state: State::new(self), departures: Departures::default(), random: place.random }
    }
}

/// The controller of calculate_drop_prob().
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub alpha: f64,
    pub beta: f64,
    pub target: f64,
}

impl Control {
    /// The step p of the drop probability, scaled by how small it is (§4.2).
    pub fn step(&self, drop_prob: f64, current: f64, old: f64) -> f64 {
        let p = self.alpha * (current - self.target) + self.beta * (current - old);
        let scale = match drop_prob {
            x if x < 0.000_001 => 2048.0,
            x if x < 0.000_01 => 512.0,
            x if x < 0.000_1 => 128.0,
            x if x < 0.001 => 32.0,
            x if x < 0.01 => 8.0,
            x if x < 0.1 => 2.0,
            _ => 1.0,
        };
        p / scale
    }
}

/// Appendix B, drop_early(), its second half: whether to drop by what has accumulated (§5.4). Who drops begins it anew.
pub(crate) fn accumulate(accu_prob: &mut f64, drop_prob: f64, random: &mut Stream) -> bool {
    if drop_prob == 0.0 {
        *accu_prob = 0.0;
    }
    *accu_prob += drop_prob;
    if *accu_prob < 0.85 {
        return false;
    }
    if *accu_prob >= 8.5 {
        return true;
    }
    let lost = random.uniform() < drop_prob;
    if lost {
        *accu_prob = 0.0;
    }
    lost
}

/// The variables of Appendix A, apart from the packets.
#[derive(Clone, Debug)]
pub(crate) struct State {
    params: Pie,
    control: Control,
    burst_allowance: Duration,
    drop_prob: f64,
    accu_prob: f64,
    /// Delay of the packet that left last, in seconds, as is the next; 0: it left the queue empty.
    current_qdelay: f64,
    qdelay_old: f64,
    pub ticks: Ticks,
}

impl State {
    /// PIE that has seen nothing.
    pub fn new(params: &Pie) -> Self {
        State {
            control: Control { alpha: params.alpha, beta: params.beta, target: params.target.seconds() },
            burst_allowance: Duration::ZERO,
            drop_prob: 0.0,
            accu_prob: 0.0,
            current_qdelay: 0.0,
            qdelay_old: 0.0,
            ticks: Ticks::every(params.t_update),
            params: params.clone(),
        }
    }

    /// A packet found the buffer full: a drop (Appendix B, enque()).
    pub fn overflows(&mut self) {
        self.accu_prob = 0.0;
    }

    /// deque(): a packet left the queue after this delay, and left others there or none.
    pub fn departed(&mut self, delay: Duration, empties: bool) {
        self.current_qdelay = if empties { 0.0 } else { delay.seconds() };
    }

    /// calculate_drop_prob(): whether anything changed.
    pub fn calculate_drop_prob(&mut self) -> bool {
        let before = (self.drop_prob, self.qdelay_old, self.burst_allowance);
        self.drop_prob += self.control.step(self.drop_prob, self.current_qdelay, self.qdelay_old);
        if self.current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance = Duration(self.burst_allowance.0.saturating_sub(self.params.t_update.0));
        before != (self.drop_prob, self.qdelay_old, self.burst_allowance)
    }

    /// drop_early(): whether to drop.
    fn drop_early(&mut self, queued: u64, random: &mut Stream) -> bool {
        let low = self.qdelay_old < self.control.target / 2.0 && self.drop_prob < 0.2;
        if low || queued <= 2 * self.params.mean_packet_size.0 {
            return false;
        }
        match self.params.tosses {
            Tosses::Independent => random.uniform() < self.drop_prob,
            Tosses::Accumulated => accumulate(&mut self.accu_prob, self.drop_prob, random),
        }
    }

    /// enque(), for a packet that finds so many bytes.
    #[inline]
    pub fn judge(&mut self, queued: u64, random: &mut Stream) -> Verdict {
        let half = self.control.target / 2.0;
        if self.drop_prob == 0.0 && self.current_qdelay < half && self.qdelay_old < half {
            self.burst_allowance = self.params.max_burst;
        }
        if self.burst_allowance == Duration::ZERO && self.drop_early(queued, random) {
            self.accu_prob = 0.0;
            // §5.1
            return if self.drop_prob < self.params.mark_below.0 {
                Verdict::Signal(Why::Early)
            } else {
                Verdict::Drop(Why::Early)
            };
        }
        Verdict::Pass
    }
}

/// PIE on a first-in-first-out queue.
#[derive(Clone, Debug)]
pub struct PieLaw {
    state: State,
    departures: Departures,
    random: Stream,
}

impl PieLaw {
    /// deque(), for everything that left by `until`. What waited then waits here still: a packet that came later was
    /// not let in before this was done.
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            self.state.departed(d.at.since(d.entered), self.departures.is_empty());
        }
    }
}

impl Aqm for PieLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        while let Some(tick) = self.state.ticks.due(at.now) {
            self.depart(tick);
            if !self.state.calculate_drop_prob() && self.departures.is_empty() {
                self.state.ticks.pass_over(at.now);
            }
        }
        self.depart(at.now);
        self.state.judge(at.backlog.bytes, &mut self.random)
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.departures.add(packet, at, 0);
    }

    fn on_overflow(&mut self, _: Time) {
        self.state.overflows();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use units::Read;

    /// §4.2: while nothing waits p comes down by alpha QDELAY_REF, scaled, and by 2 % in every period, "a time
    /// constant around 50 * T_UPDATE". A delay that stayed as it was last would raise it.
    #[test]
    fn the_probability_decays_while_the_queue_is_empty() {
        let mut state = State::new(&Pie::read(&json!({}), "pie").unwrap());
        state.drop_prob = 0.5;
        state.departed(Duration::from_millis(30), false);
        state.calculate_drop_prob();
        assert!(state.drop_prob > 0.5, "a standing queue of twice the target");
        state.departed(Duration::from_millis(30), true);
        state.calculate_drop_prob();
        let mut expected = state.drop_prob;
        for _ in 0..50 {
            state.calculate_drop_prob();
            expected = (expected - 0.125 * 0.015) * 0.98;
            assert!((state.drop_prob - expected).abs() < 1e-12, "{} {expected}", state.drop_prob);
        }
        assert!(state.drop_prob < 0.5 * 0.98_f64.powi(50));
        let periods = (0..).take_while(|_| state.calculate_drop_prob()).count();
        assert!(state.drop_prob == 0.0 && periods < 200, "{} after {periods}", state.drop_prob);
    }
}
