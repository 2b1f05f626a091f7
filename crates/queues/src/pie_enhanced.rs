//! PIE with its optional enhancements.
//!
//! Source: RFC 8033, Appendix B (`rfc8033`), which the enhanced PIE follows line by line: the delay
//! from an estimate of the departure rate (§5.2), automatic activation (§5.3), derandomization
//! (§5.4) and the bound on the change of the probability (§5.5). At two points aqmlab interprets
//! the RFC. In a literal reading of Appendix B, the call that turns PIE on also turns PIE off
//! again, because the three conditions to turn PIE off are true at that time. The enhanced PIE
//! follows the comment in Appendix B ("if the queue has been idle for a while"): only a packet that
//! arrives at an idle link turns PIE off. In aqmlab a mark resets accu_prob_, as a drop does.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Bytes, Depth, Duration, Probability, Range, Time, params};

use crate::aqm::{AqmParams, QueueContext};
use crate::lazy::{Departures, Ticks};
use crate::pie::{Control, Drawn, Vars, accumulate};

/// Number of bytes that must depart for one measurement of the departure rate (DQ_THRESHOLD).
/// `WEIGHT` is the weight of one measurement in the moving average, 2^14 / 2^16.
const DQ_THRESHOLD: u64 = 1 << 14;
const WEIGHT: f64 = 0.25;

params! {
    /// PIE with the implementation choices that RFC 8033 suggests. The enhanced PIE computes the
    /// delay from the backlog and the departure rate instead of timestamps. The enhanced PIE is off
    /// until a third of the buffer is filled. If p is the drop probability, at least about 0.85/p
    /// and at most 8.5/p packets pass between two drops. If the drop probability is at least 10 %,
    /// each update raises it by at most 2 percentage points.
    pub struct PieEnhanced: "pie_enhanced" {
        /// Target queueing delay (QDELAY_REF).
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc8033 Appendix B: 15 ms";
        /// Duration of the burst that passes without drops after a quiet period (MAX_BURST).
        max_burst: Duration = (Duration::from_millis(150)), in Range::at_least(0.0), from "rfc8033 Appendix B: 150 ms";
        /// Time between two updates of the drop probability (T_UPDATE).
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "rfc8033 Appendix B: 15 ms";
        /// Integral gain of PIE in 1/s: each update adds alpha times the difference between the
        /// delay and the target to the drop probability.
        alpha: f64 = (0.125), in Range::at_least(0.0), from "rfc8033 Appendix B: 1/8";
        /// Proportional gain of PIE in 1/s: each update adds beta times the change of the delay
        /// since the previous update to the drop probability.
        beta: f64 = (1.25), in Range::at_least(0.0), from "rfc8033 Appendix B: 1 + 1/4";
        /// Mean packet size (MEAN_PKTSIZE). PIE never drops a packet while the number of waiting
        /// bytes is at most twice the mean packet size.
        mean_packet_size: Bytes = (Bytes(1024)), in Range::between(1.0, 65535.0), from "rfc8034 A.1.2: 1024 B; rfc8033 §4.1 has no value";
        /// Drop probability below which PIE marks ECN-capable packets instead of dropping them
        /// (MAX_ECNTH). When the drop probability reaches mark_below, ECN-capable packets are
        /// dropped like other packets.
        mark_below: Probability = (Probability(0.1)), in Range::ANY, from "rfc8033 Appendix B: 10 %";
        /// Maximum number of waiting bytes (TAIL_DROP). PIE turns on when the backlog reaches a
        /// third of tail_drop. By default tail_drop is equal to the limit of the buffer. If the
        /// limit of the buffer is in packets, the default of tail_drop is 1500 B times this limit.
        tail_drop: Option<Bytes> = (None), in Range::at_least(1.0), from "rfc8033 §5.3 has the tail drop threshold";
    }
}

impl AqmParams for PieEnhanced {
    type Aqm = PieEnhancedAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] =
        &[crate::pie::DECLARED, Declared { rules: RULES, variables: RateVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> PieEnhancedAqm {
        let limit = match context.limit {
            Depth::Packets(n) => (n * 1500.0) as u64,
            Depth::Bytes(n) => n as u64,
        };
        PieEnhancedAqm {
            tail_drop: self.tail_drop.map_or(limit, |b| b.0),
            control: Control { alpha: self.alpha, beta: self.beta, target: self.target.seconds() },
            params: self.clone(),
            active: false,
            vars: Vars::START,
            last_timestamp: Time::ZERO,
            measurement: None,
            avg_dq_time: 0.0,
            ticks: Ticks::every(self.t_update),
            found_idle: true,
            tail_dropped: false,
            departures: Departures::default(),
            random: context.random,
        }
    }
}

rules! {
    /// The packet would exceed the tail drop threshold of PIE.
    TAIL_DROP = "tail-drop", from "rfc8033 Appendix B";
}

variables! {
    /// Variables of the estimate of the departure rate.
    pub struct RateVariables {
        /// Average time in which 16 KiB depart (avg_dq_time), or 0 before the first measurement.
        avg_dq_time_s in "s", from "rfc8033 §5.2";
        /// 1 if PIE is active, otherwise 0.
        active in "0 or 1", from "rfc8033 §5.3";
    }
}

/// Current measurement of the departure rate.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    start: Time,
    /// Number of bytes that have departed since the start of the measurement (dq_count_).
    bytes: u64,
}

/// State of PIE with its enhancements.
#[derive(Clone, Debug)]
pub struct PieEnhancedAqm {
    params: PieEnhanced,
    tail_drop: u64,
    control: Control,
    active: bool,
    vars: Vars,
    last_timestamp: Time,
    measurement: Option<Measurement>,
    /// Average time in seconds that the departure of DQ_THRESHOLD bytes takes, or 0 before the
    /// first measurement.
    avg_dq_time: f64,
    ticks: Ticks,
    /// True if the packet that arrived last found the link idle.
    found_idle: bool,
    /// True if the packet that arrived last exceeded the tail drop threshold.
    tail_dropped: bool,
    departures: Departures,
    random: Stream,
}

impl PieEnhancedAqm {
    /// Process every departure up to the time `until` (deque()).
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            if let Some(m) = &mut self.measurement {
                m.bytes += u64::from(d.size);
                if m.bytes >= DQ_THRESHOLD {
                    let dq_time = d.at.since(m.start).seconds();
                    self.avg_dq_time = if self.avg_dq_time == 0.0 {
                        dq_time
                    } else {
                        dq_time * WEIGHT + self.avg_dq_time * (1.0 - WEIGHT)
                    };
                    self.measurement = None;
                }
            }
            if self.departures.backlog().bytes >= DQ_THRESHOLD && self.measurement.is_none() {
                self.measurement = Some(Measurement { start: d.at, bytes: 0 });
            }
        }
    }

    /// Update the drop probability (calculate_drop_prob()). Return true if the update changed a
    /// variable of the controller.
    fn calculate_drop_prob(&mut self, now: Time) -> bool {
        if !self.active {
            return false;
        }
        if now.since(self.last_timestamp) < self.params.t_update {
            return true;
        }
        let bytes = self.departures.backlog().bytes as f64;
        self.vars.current_qdelay = bytes * self.avg_dq_time / DQ_THRESHOLD as f64;
        let Vars { drop_prob, current_qdelay, qdelay_old, .. } = self.vars;
        let p = self.control.step(drop_prob, current_qdelay, qdelay_old);
        let p = if drop_prob >= 0.1 { p.min(0.02) } else { p };
        let half = self.control.target / 2.0;
        self.last_timestamp = now;
        self.vars.update(p, current_qdelay < half && qdelay_old < half, self.params.t_update)
    }

    /// Decide if a packet is to be dropped (drop_early()). Return `None` if the packet passes.
    fn drop_early(&mut self, queued: u64) -> Option<Drawn> {
        let low = self.vars.qdelay_old < self.control.target / 2.0 && self.vars.drop_prob < 0.2;
        if low || queued <= 2 * self.params.mean_packet_size.0 {
            return None;
        }
        accumulate(&mut self.vars.accu_prob, self.vars.drop_prob, &mut self.random)
    }

    /// Turn PIE on if `queued` is at least a third of the tail drop threshold. Turn PIE off if the
    /// packet arrived at an idle link and the delay and the drop probability are 0 (end of
    /// enque()).
    fn switch(&mut self, at: &Arrival, queued: u64) {
        if !self.active && queued >= self.tail_drop / 3 {
            self.active = true;
            self.vars.qdelay_old = 0.0;
            self.vars.drop_prob = 0.0;
            self.vars.accu_prob = 0.0;
            self.avg_dq_time = 0.0;
            self.last_timestamp = at.now;
            self.vars.burst_allowance = self.params.max_burst;
            self.measurement = Some(Measurement { start: at.now, bytes: 0 });
        }
        let calm =
            self.vars.drop_prob == 0.0 && self.vars.qdelay_old == 0.0 && self.vars.current_qdelay == 0.0;
        if calm && self.found_idle {
            self.active = false;
            self.measurement = None;
        }
    }
}

impl Aqm for PieEnhancedAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        self.found_idle = at.idle_since().is_some();
        self.tail_dropped = false;
        while let Some(tick) = self.ticks.due(at.now) {
            self.depart(tick);
            if !self.calculate_drop_prob(tick) && (self.departures.is_empty() || !self.active) {
                self.ticks.pass_over(at.now);
            }
        }
        self.depart(at.now);
        if at.backlog.bytes + u64::from(packet.size) > self.tail_drop {
            self.vars.accu_prob = 0.0;
            self.switch(at, at.backlog.bytes);
            self.tail_dropped = true;
            return Verdict::Drop(Why::Full);
        }
        let drawn = if self.active { self.drop_early(at.backlog.bytes) } else { None };
        if let Some(drawn) = drawn.filter(|_| self.vars.burst_allowance == Duration::ZERO) {
            (self.vars.accu_prob, self.vars.drawn) = (0.0, drawn);
            let signal = self.vars.drop_prob < self.params.mark_below.0;
            if !(signal && packet.ecn.is_capable()) {
                self.switch(at, at.backlog.bytes);
            }
            return if signal { Verdict::Signal(Why::Early) } else { Verdict::Drop(Why::Early) };
        }
        Verdict::Pass
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.switch(at, at.backlog.bytes + u64::from(packet.size));
        self.departures.add(packet, at, 0);
    }

    fn on_overflow(&mut self, _: Time) {
        self.vars.accu_prob = 0.0;
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.vars.explain(why, true, to);
        if self.tail_dropped {
            to.by(&TAIL_DROP);
        }
        to.with(RateVariables { avg_dq_time_s: self.avg_dq_time, active: f64::from(u8::from(self.active)) });
    }
}
