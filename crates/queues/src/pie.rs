//! PIE, the basic scheme.
//!
//! Source: RFC 8033, Appendix A (`rfc8033`), line by line, with the latency from timestamps; marking as
//! its §5.1 has it. Delays are those of the packet that left the queue last, so that nothing changes
//! while nothing leaves: as the pseudo-code has it, an idle queue keeps its last delay.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Bytes, Duration, Probability, Range, Time, params};

use crate::law::{Configures, Place};
use crate::lazy::{Departures, Ticks};

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
        mean_packet_size: Bytes = (Bytes(1024)), in Range::between(1.0, 65535.0), from "rfc8033 §4.1 leaves it open; 1024 B is Linux's least";
        /// ECN-capable packets are marked below this probability and dropped above it (MAX_ECNTH).
        mark_below: Probability = (Probability(0.1)), in Range::ANY, from "rfc8033 §5.1: 10 %";
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

/// The variables of Appendix A, apart from the packets.
#[derive(Clone, Debug)]
pub(crate) struct State {
    params: Pie,
    control: Control,
    burst_allowance: Duration,
    drop_prob: f64,
    /// Delay of the packet that left last, in seconds, as is the next.
    pub current_qdelay: f64,
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
            current_qdelay: 0.0,
            qdelay_old: 0.0,
            ticks: Ticks::every(params.t_update),
            params: params.clone(),
        }
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
        random.uniform() < self.drop_prob
    }

    /// enque(), for a packet that finds so many bytes.
    #[inline]
    pub fn judge(&mut self, queued: u64, random: &mut Stream) -> Verdict {
        let half = self.control.target / 2.0;
        if self.drop_prob == 0.0 && self.current_qdelay < half && self.qdelay_old < half {
            self.burst_allowance = self.params.max_burst;
        }
        if self.burst_allowance == Duration::ZERO && self.drop_early(queued, random) {
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
    /// deque(): the latency of everything that left by `until`.
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            self.state.current_qdelay = d.at.since(d.entered).seconds();
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
}
