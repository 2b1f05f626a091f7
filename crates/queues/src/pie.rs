//! PIE, the basic scheme.
//!
//! Source: RFC 8033, Appendix A (`rfc8033`), which PIE follows line by line, with delays from
//! timestamps, and §5.1 for marking. The queueing delay is the waiting time of the last packet that
//! left the queue, or 0 if the queue became empty at that departure. According to §4.2 of RFC 8033
//! the drop probability decays while the queue is not congested, "current_qdelay == 0". If an empty
//! queue kept its last delay, the delay would not reach 0, because no packet departs. Linux also
//! sets the delay of an empty queue to 0.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Bytes, Duration, Probability, Range, Time, params, words};

use crate::aqm::{AqmParams, QueueContext};
use crate::lazy::{Departures, Ticks};

words! {
    /// Distribution of the number of packets between two drops at a constant drop probability.
    pub enum Tosses {
        /// PIE drops each packet with the same probability, independently of the other packets.
        Independent = "independent",
        /// Derandomized: PIE adds up the drop probabilities of the packets since the last drop. PIE
        /// drops no packet while the sum of the drop probabilities is below 0.85, and drops every
        /// packet while the sum is at least 8.5.
        Accumulated = "accumulated",
    }
}

params! {
    /// PIE (proportional integral controller enhanced) controls the queueing delay at a target. PIE
    /// changes the drop probability periodically, with the period t_update. The change is computed
    /// from the difference between the delay and the target, and from the change of the delay.
    /// While the drop probability is small, its changes are scaled down. PIE drops arriving packets
    /// at random. PIE does not drop packets during a burst after a quiet period, or while the queue
    /// is nearly empty.
    pub struct Pie: "pie" {
        /// Target queueing delay (QDELAY_REF).
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc8033 Appendix A: 15 ms";
        /// Duration of the burst that passes without drops after a quiet period (MAX_BURST).
        max_burst: Duration = (Duration::from_millis(150)), in Range::at_least(0.0), from "rfc8033 Appendix A: 150 ms";
        /// Time between two updates of the drop probability (T_UPDATE).
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "rfc8033 Appendix A: 15 ms";
        /// Integral gain of PIE in 1/s: each update adds alpha times the difference between the
        /// delay and the target to the drop probability.
        alpha: f64 = (0.125), in Range::at_least(0.0), from "rfc8033 Appendix A: 1/8";
        /// Proportional gain of PIE in 1/s: each update adds beta times the change of the delay
        /// since the previous update to the drop probability.
        beta: f64 = (1.25), in Range::at_least(0.0), from "rfc8033 Appendix A: 1 + 1/4";
        /// Mean packet size (MEAN_PKTSIZE). PIE never drops a packet while the number of waiting
        /// bytes is at most twice the mean packet size.
        mean_packet_size: Bytes = (Bytes(1024)), in Range::between(1.0, 65535.0), from "rfc8034 A.1.2: 1024 B; rfc8033 §4.1 has no value";
        /// Drop probability below which PIE marks ECN-capable packets instead of dropping them
        /// (MAX_ECNTH). When the drop probability reaches mark_below, ECN-capable packets are
        /// dropped like other packets.
        mark_below: Probability = (Probability(0.1)), in Range::ANY, from "rfc8033 §5.1: 10 %";
        /// Distribution of the number of packets between two drops at a constant drop probability.
        tosses: Tosses = (Tosses::Independent), in Range::ANY, from "rfc8033 §4.1 has independent drops; §5.4 has accumulated probabilities";
    }
}

impl AqmParams for Pie {
    type Aqm = PieAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = &[DECLARED];

    fn aqm(&self, context: QueueContext) -> PieAqm {
        PieAqm { state: State::new(self), departures: Departures::default(), random: context.random }
    }
}

rules! {
    /// The random number is below the drop probability.
    RANDOM = "random", from "rfc8033 §4.1";
    /// The sum of the drop probabilities since the last drop is at least 8.5.
    ACCUMULATED = "accumulated", from "rfc8033 §5.4";
}

variables! {
    /// Variables of PIE.
    pub struct PieVariables {
        /// Estimated queueing delay (current_qdelay).
        qdelay_s in "s", from "rfc8033 §4.2";
        /// Estimated queueing delay at the previous update (qdelay_old).
        qdelay_old_s in "s", from "rfc8033 §4.2";
        /// Drop probability (drop_prob).
        drop_prob in "0..1", from "rfc8033 §4.2";
        /// Remaining burst allowance (burst_allowance).
        burst_allowance_s in "s", from "rfc8033 §4.4";
        /// Sum of the drop probabilities since the last drop, including this packet (accu_prob).
        accu_prob in "", from "rfc8033 §5.4";
        /// Random number between 0 and 1 that was compared with the drop probability.
        random in "0..1", from "rfc8033 §4.1";
    }
}

/// Rules and variables of PIE.
pub(crate) const DECLARED: Declared = Declared { rules: RULES, variables: PieVariables::LIST };

/// Accumulated probability and random number of a drop. The random number is NaN if the
/// accumulated probability alone caused the drop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub accu_prob: f64,
    pub random: f64,
}

impl Drawn {
    /// Value before the first drop.
    pub const NONE: Drawn = Drawn { accu_prob: f64::NAN, random: f64::NAN };

    /// Set the rule of the explanation. If the buffer was full (`why`), the packet was not drawn:
    /// return the current accumulated probability and no random number.
    pub fn explain(self, why: Why, accu_prob: f64, to: &mut Explanation) -> Drawn {
        if why == Why::Full {
            return Drawn { accu_prob, random: f64::NAN };
        }
        to.by(if self.random.is_nan() { &ACCUMULATED } else { &RANDOM });
        self
    }
}

/// Proportional-integral controller that calculate_drop_prob() uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub alpha: f64,
    pub beta: f64,
    pub target: f64,
}

impl Control {
    /// Return the change p of the drop probability, which is scaled down while the drop probability
    /// is small (§4.2).
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

/// Decide by the accumulated probability if the packet is to be dropped (§5.4; Appendix B, second
/// half of drop_early()). Return `None` if the packet passes. After a drop the caller resets the
/// accumulated probability.
pub(crate) fn accumulate(accu_prob: &mut f64, drop_prob: f64, random: &mut Stream) -> Option<Drawn> {
    if drop_prob == 0.0 {
        *accu_prob = 0.0;
    }
    *accu_prob += drop_prob;
    if *accu_prob < 0.85 {
        return None;
    }
    if *accu_prob >= 8.5 {
        return Some(Drawn { accu_prob: *accu_prob, random: f64::NAN });
    }
    let drawn = random.uniform();
    (drawn < drop_prob).then(|| Drawn { accu_prob: std::mem::take(accu_prob), random: drawn })
}

/// Variables that the controllers in Appendices A and B have in common.
#[derive(Clone, Debug)]
pub(crate) struct Vars {
    pub burst_allowance: Duration,
    pub drop_prob: f64,
    pub accu_prob: f64,
    /// Accumulated probability and random number of the last signal.
    pub drawn: Drawn,
    /// Estimated queueing delay in seconds. `qdelay_old` is the delay at the previous update.
    pub current_qdelay: f64,
    pub qdelay_old: f64,
}

impl Vars {
    /// Variables before the first packet.
    pub const START: Vars = Vars {
        burst_allowance: Duration::ZERO,
        drop_prob: 0.0,
        accu_prob: 0.0,
        drawn: Drawn::NONE,
        current_qdelay: 0.0,
        qdelay_old: 0.0,
    };

    /// Finish an update of the drop probability, whose change is `p` (end of
    /// calculate_drop_prob()). If `decays` is true, the drop probability also decays by 2 %. Return
    /// true if the update changed a variable.
    pub fn update(&mut self, p: f64, decays: bool, t_update: Duration) -> bool {
        let before = (self.drop_prob, self.qdelay_old, self.burst_allowance);
        self.drop_prob += p;
        if decays {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance = Duration(self.burst_allowance.0.saturating_sub(t_update.0));
        before != (self.drop_prob, self.qdelay_old, self.burst_allowance)
    }

    /// Explain the decision on the last packet. `accumulates` is true if PIE accumulates
    /// probabilities.
    pub fn explain(&self, why: Why, accumulates: bool, to: &mut Explanation) {
        let sum = if accumulates { self.accu_prob } else { f64::NAN };
        let Drawn { accu_prob, random } = self.drawn.explain(why, sum, to);
        to.with(PieVariables {
            qdelay_s: self.current_qdelay,
            qdelay_old_s: self.qdelay_old,
            drop_prob: self.drop_prob,
            burst_allowance_s: self.burst_allowance.seconds(),
            accu_prob,
            random,
        });
    }
}

/// Variables of the controller in Appendix A, without the packets. The estimated queueing delay is
/// the waiting time of the last packet that left the queue, or 0 if the queue became empty at that
/// departure.
#[derive(Clone, Debug)]
pub(crate) struct State {
    params: Pie,
    control: Control,
    vars: Vars,
    pub ticks: Ticks,
}

impl State {
    /// Create the initial state of PIE.
    pub fn new(params: &Pie) -> Self {
        State {
            control: Control { alpha: params.alpha, beta: params.beta, target: params.target.seconds() },
            vars: Vars::START,
            ticks: Ticks::every(params.t_update),
            params: params.clone(),
        }
    }

    /// Record the drop of a packet at a full buffer (Appendix B, enque()).
    pub fn overflows(&mut self) {
        self.vars.accu_prob = 0.0;
    }

    /// Record that a packet left the queue after a waiting time of `delay` (deque()). `empties` is
    /// true if the queue became empty.
    pub fn departed(&mut self, delay: Duration, empties: bool) {
        self.vars.current_qdelay = if empties { 0.0 } else { delay.seconds() };
    }

    /// Update the drop probability (calculate_drop_prob()). Return true if the update changed a
    /// variable of the controller.
    pub fn calculate_drop_prob(&mut self) -> bool {
        let Vars { drop_prob, current_qdelay, qdelay_old, .. } = self.vars;
        let p = self.control.step(drop_prob, current_qdelay, qdelay_old);
        self.vars.update(p, current_qdelay == 0.0 && qdelay_old == 0.0, self.params.t_update)
    }

    /// Decide if a packet is to be dropped (drop_early()). Return `None` if the packet passes.
    fn drop_early(&mut self, queued: u64, random: &mut Stream) -> Option<Drawn> {
        let low = self.vars.qdelay_old < self.control.target / 2.0 && self.vars.drop_prob < 0.2;
        if low || queued <= 2 * self.params.mean_packet_size.0 {
            return None;
        }
        match self.params.tosses {
            Tosses::Independent => {
                let drawn = random.uniform();
                (drawn < self.vars.drop_prob).then_some(Drawn { accu_prob: f64::NAN, random: drawn })
            }
            Tosses::Accumulated => accumulate(&mut self.vars.accu_prob, self.vars.drop_prob, random),
        }
    }

    /// Return the verdict on a packet that arrives while `queued` bytes wait (enque()).
    #[inline]
    pub fn judge(&mut self, queued: u64, random: &mut Stream) -> Verdict {
        let half = self.control.target / 2.0;
        if self.vars.drop_prob == 0.0 && self.vars.current_qdelay < half && self.vars.qdelay_old < half {
            self.vars.burst_allowance = self.params.max_burst;
        }
        if self.vars.burst_allowance == Duration::ZERO
            && let Some(drawn) = self.drop_early(queued, random)
        {
            (self.vars.accu_prob, self.vars.drawn) = (0.0, drawn);
            // RFC 8033 §5.1 defines marking instead of dropping.
            return if self.vars.drop_prob < self.params.mark_below.0 {
                Verdict::Signal(Why::Early)
            } else {
                Verdict::Drop(Why::Early)
            };
        }
        Verdict::Pass
    }

    /// Explain the decision on the last packet.
    pub fn explain(&self, why: Why, to: &mut Explanation) {
        self.vars.explain(why, matches!(self.params.tosses, Tosses::Accumulated), to);
    }
}

/// PIE on a first-in-first-out queue.
#[derive(Clone, Debug)]
pub struct PieAqm {
    state: State,
    departures: Departures,
    random: Stream,
}

impl PieAqm {
    /// Process every departure up to the time `until` (deque()). The packets that remain in
    /// `departures` are exactly those that wait at the time `until`, because packets that arrive
    /// later are admitted after this call.
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            self.state.departed(d.at.since(d.entered), self.departures.is_empty());
        }
    }
}

impl Aqm for PieAqm {
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

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.state.explain(why, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use units::Read;

    #[test]
    fn a_drop_at_a_full_buffer_has_an_accumulated_probability_only_if_pie_accumulates() {
        for (tosses, sum) in [("independent", f64::NAN), ("accumulated", 0.25)] {
            let mut state = State::new(&Pie::read(&json!({"tosses": tosses}), "pie").unwrap());
            state.vars.accu_prob = 0.25;
            let mut explanation = Explanation::of(Why::Full);
            state.explain(Why::Full, &mut explanation);
            let (_, value) = explanation.values().iter().find(|(v, _)| v.name == "accu_prob").unwrap();
            assert_eq!(value.to_bits(), sum.to_bits(), "{tosses}");
        }
    }

    /// §4.2 of RFC 8033: while the queue is empty, the drop probability falls in every period by 2
    /// %, "a time constant around 50 * T_UPDATE", and by the scaled alpha QDELAY_REF. If the delay
    /// did not become 0 when the queue becomes empty, the drop probability would rise.
    #[test]
    fn the_probability_decays_while_the_queue_is_empty() {
        let mut state = State::new(&Pie::read(&json!({}), "pie").unwrap());
        state.vars.drop_prob = 0.5;
        state.departed(Duration::from_millis(30), false);
        state.calculate_drop_prob();
        assert!(state.vars.drop_prob > 0.5, "a standing queue of twice the target");
        state.departed(Duration::from_millis(30), true);
        state.calculate_drop_prob();
        let mut expected = state.vars.drop_prob;
        for _ in 0..50 {
            state.calculate_drop_prob();
            expected = (expected - 0.125 * 0.015) * 0.98;
            assert!((state.vars.drop_prob - expected).abs() < 1e-12, "{} {expected}", state.vars.drop_prob);
        }
        assert!(state.vars.drop_prob < 0.5 * 0.98_f64.powi(50));
        let periods = (0..).take_while(|_| state.calculate_drop_prob()).count();
        assert!(state.vars.drop_prob == 0.0 && periods < 200, "{} after {periods}", state.vars.drop_prob);
    }
}
