//! PIE with the arithmetic of Linux and the parameters of `tc`.
//!
//! Source: sch_pie.c and pie.h of Linux 6.12 define the arithmetic, and tc-pie(8) (`tcpie8`)
//! defines the parameters. As in Linux, all computations use integers: times are in ticks of 64 ns,
//! and probabilities are in units of 1/(2^56 - 1).
//!
//! RFC 8033 has two variants of PIE: Appendix A is in `pie.rs`, and Appendix B is in
//! `pie_enhanced.rs`. The PIE of Linux differs from RFC 8033 in the following points:
//! - Drops are spaced by an accumulated probability, as in §5.4 of RFC 8033. The accumulated
//!   probability returns to 0 after a drop, or after a random choice to drop or mark the packet.
//!   The accumulated probability does not return to 0 after a mark that is forced because the
//!   accumulated probability has reached 8.5. After a forced mark, PIE also marks every following
//!   ECN-capable packet, until PIE drops a packet.
//! - The burst allowance is at its maximum from the beginning. Each departure reduces the burst
//!   allowance by the time since the previous departure. In RFC 8033 each period reduces the burst
//!   allowance by the length of the period.
//! - No packet is dropped while the current delay is below half the target. RFC 8033 compares the
//!   previous delay with half the target. No packet is dropped while less than two MTU wait.
//! - ECN-capable packets are marked while the drop probability is at most 10 %.
//! - While the drop probability is at least 10 %, each update raises it by at most 2 percentage
//!   points (§5.5). If the delay is above 250 ms, an update adds 2 percentage points more. In RFC
//!   8034 an update adds 2 percentage points more if the delay is above 200 ms instead of 250 ms.
//!   If the delay was 0 at two successive updates, the drop probability falls by 1/64, unless
//!   packets wait although the last departure left the queue empty.
//!
//! Linux has a test that should limit the drop probability to 1, but the test becomes true only
//! when the drop probability reaches 256. In an overloaded queue the drop probability therefore
//! exceeds 1, in Linux and in aqmlab. Packet sizes in aqmlab exclude the 14 B of the Ethernet
//! header, which Linux includes.
//!
//! When Linux creates the queue, it sets the timer of the first update to half a second later
//! (`pie_init`). The AQM `tc_pie` assumes that the queue was created long before the run begins, so
//! the first update comes one period after the beginning. The variables of the controller have
//! their initial values until the first packet arrives, as in an idle queue in Linux. The length of
//! a period is a whole number of ticks of the kernel (`wheel_ticks`).

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Verdict, Why};
use units::{Bytes, Depth, Duration, Range, Room, Time, params, words};

use crate::aqm::{AqmParams, QueueContext};
use crate::lazy::{Departures, Ticks};
use crate::pie::{Drawn, PieVariables};

words! {
    /// Effect of a packet's size on its signal probability.
    pub enum Chance {
        /// The drop probability does not depend on the packet size.
        Packet = "packet",
        /// If a packet is smaller than the MTU, the drop probability is multiplied by the packet
        /// size divided by the MTU.
        Size = "size",
    }
}

words! {
    /// Method that determines the queueing delay.
    pub enum Latency {
        /// Waiting time of the last packet that left the queue, or 0 if the queue became empty at
        /// that departure.
        Timestamps = "timestamps",
        /// Backlog divided by the departure rate (Little's law). Linux measures the departure rate
        /// while at least 16 KiB wait.
        DepartureRate = "departure-rate",
    }
}

params! {
    /// The AQM `tc_pie` makes the decisions of the PIE in the Linux kernel, and has the parameters
    /// of `tc`. PIE spaces its drops. PIE does not drop packets during a burst of 150 ms after a
    /// quiet period. From a drop probability of 10 % on, each update raises it by at most 2
    /// percentage points. The default limit is 1000 packets, as in tc-pie(8).
    pub struct TcPie: "tc_pie" {
        /// Target queueing delay.
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "tcpie8: 15 ms";
        /// Time between two updates of the drop probability, as a user gives it to `tc` (tupdate).
        /// In Linux the actual time between two updates is longer than t_update, and depends on
        /// `hz`.
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "tcpie8: 15 ms";
        /// Timer frequency of the kernel (HZ). Linux rounds t_update up to whole timer ticks, and
        /// its timer expires one tick late. A t_update of 15 ms becomes 16 ms at 1000 Hz, 20 ms at
        /// 250 Hz and 30 ms at 100 Hz.
        hz: u64 = (1000), in Range::between(1.0, 10_000.0), from "sch_pie.c: usecs_to_jiffies; timer.c of Linux 6.12: calc_index";
        /// Integral gain of PIE in units of 1/16 per second: each update adds alpha/16 times the
        /// difference between the delay and the target to the drop probability.
        alpha: u64 = (2), in Range::between(0.0, 32.0), from "tcpie8: 2";
        /// Proportional gain of PIE in units of 1/16 per second: each update adds beta/16 times the
        /// change of the delay since the previous update to the drop probability.
        beta: u64 = (20), in Range::between(0.0, 32.0), from "tcpie8: 20";
        /// Effect of a packet's size on its signal probability (bytemode).
        chance_by: Chance = (Chance::Packet), in Range::ANY, from "tcpie8: nobytemode";
        /// Method that determines the queueing delay (dq_rate_estimator).
        latency: Latency = (Latency::Timestamps), in Range::ANY, from "tcpie8: no_dq_rate_estimator";
        /// MTU of the link. PIE never drops a packet while less than two MTU wait.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "sch_pie.c: the MTU";
    }
}

impl AqmParams for TcPie {
    type Aqm = TcPieAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = &[crate::pie::DECLARED];
    /// Default limit of the buffer in tc-pie(8): 1000 packets.
    const LIMIT: Room = Room::Depth(Depth::Packets(1000.0));

    fn aqm(&self, context: QueueContext) -> TcPieAqm {
        let settings = Settings {
            target: ticks(self.target),
            max_burst: ticks(MAX_BURST),
            alpha: self.alpha * (ONE / TICKS_A_SECOND) / 16,
            beta: self.beta * (ONE / TICKS_A_SECOND) / 16,
            mark_up_to: ONE / 10,
            mtu: self.mtu.0,
            chance_by: self.chance_by,
            latency: self.latency,
        };
        TcPieAqm {
            limit: context.limit,
            state: State::new(settings, period(self.t_update, self.hz)),
            departures: Departures::default(),
            random: context.random,
        }
    }
}

/// Integer that stands for the probability 1 (MAX_PROB). Random numbers that are compared with
/// probabilities also lie between 0 and MAX_PROB.
const ONE: u64 = u64::MAX >> 8;
const TICKS_A_SECOND: u64 = ticks(Duration::from_millis(1000));
const MAX_BURST: Duration = Duration::from_millis(150);
/// Queueing delay above which each update raises the drop probability by 2 percentage points more.
const LONG: u64 = ticks(Duration::from_millis(250));
/// Number of bytes that must depart for one measurement of the departure rate (QUEUE_THRESHOLD).
/// `SCALE` is the number of fractional bits of the stored rate.
const THRESHOLD: u64 = 1 << 14;
const SCALE: u32 = 8;

/// Convert a time into ticks of 64 ns.
const fn ticks(time: Duration) -> u64 {
    (time.0 / 1000) >> 6
}

/// Return the number of ticks between two expiries of a periodic kernel timer. At each expiry the
/// timer is set again to `ticks` later, and the timer wheel delays it (`calc_index` in timer.c of
/// Linux 6.12). On level n of the timer wheel, time is divided into slots of 8^n ticks. A timer
/// expires one slot later than the slot that contains its expiry time.
const fn wheel_ticks(ticks: u64) -> u64 {
    let mut slot = 1;
    while ticks > 63 * slot {
        slot *= 8;
    }
    (ticks / slot + 1) * slot
}

/// Return the actual time between two updates in a kernel with `hz` ticks per second. The kernel
/// reads `t_update` in whole microseconds.
pub(crate) fn period(t_update: Duration, hz: u64) -> Duration {
    const SECOND: u128 = 1_000_000_000_000;
    let microseconds = t_update.0 / 1_000_000;
    let ticks = (u128::from(microseconds) * u128::from(hz)).div_ceil(1_000_000) as u64;
    Duration((u128::from(wheel_ticks(ticks)) * SECOND / u128::from(hz)).min(u128::from(u64::MAX >> 1)) as u64)
}

/// Constant settings of the controller, in the units of Linux.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub target: u64,
    pub max_burst: u64,
    pub alpha: u64,
    pub beta: u64,
    /// Maximum drop probability at which ECN-capable packets are marked instead of dropped.
    pub mark_up_to: u64,
    pub mtu: u64,
    pub chance_by: Chance,
    pub latency: Latency,
}

impl Settings {
    /// Convert these times, and these gains in 1/s, to the settings that `tc` passes to the kernel.
    pub fn of(target: Duration, max_burst: Duration, [alpha, beta]: [f64; 2]) -> Self {
        let weight = |hertz: f64| (hertz * (ONE / TICKS_A_SECOND) as f64) as u64;
        Settings {
            target: ticks(target),
            max_burst: ticks(max_burst),
            alpha: weight(alpha),
            beta: weight(beta),
            mark_up_to: ONE / 10,
            mtu: 1500,
            chance_by: Chance::Packet,
            latency: Latency::Timestamps,
        }
    }
}

/// Convert a probability to the integer that stands for it (see [`ONE`]), rounded down to whole per
/// cent.
pub(crate) fn share(probability: f64) -> u64 {
    (ONE / 100) * (100.0 * probability) as u64
}

/// Convert the integer that stands for a probability (see [`ONE`]) to a number, 1 for `ONE`.
fn probability(integer: u64) -> f64 {
    integer as f64 / ONE as f64
}

/// Variables of the controller (struct pie_vars). Times are in ticks of 64 ns.
#[derive(Clone, Debug, Default, PartialEq)]
struct Vars {
    qdelay: u64,
    qdelay_old: u64,
    burst_time: u64,
    /// Time of the last departure. If PIE measures the departure rate, the field has the start time
    /// of the measurement.
    dq_tstamp: Option<u64>,
    prob: u64,
    accu_prob: u64,
    /// Number of bytes that have departed since the start of the rate measurement.
    dq_count: Option<u64>,
    /// Average departure rate in bytes per tick, multiplied by 2^SCALE.
    avg_dq_rate: u32,
}

impl Vars {
    /// Reset the variables for a new burst (pie_vars_init()).
    fn begin(&mut self, max_burst: u64) {
        self.burst_time = max_burst;
        self.dq_tstamp = None;
        self.accu_prob = 0;
        self.dq_count = None;
        self.avg_dq_rate = 0;
    }
}

/// Controller of PIE, which does not store packets.
#[derive(Clone, Debug)]
pub(crate) struct State {
    settings: Settings,
    vars: Vars,
    /// Value of accu_prob before a forced drop. If the forced drop becomes a mark, accu_prob is
    /// restored to this value.
    forced: Option<u64>,
    /// Accumulated probability and random number of the last signal.
    drawn: Drawn,
    pub ticks: Ticks,
}

impl State {
    /// Create the initial state of PIE, which updates its drop probability once per `period`.
    pub fn new(settings: Settings, period: Duration) -> Self {
        let mut vars = Vars::default();
        vars.begin(settings.max_burst);
        State { settings, vars, forced: None, drawn: Drawn::NONE, ticks: Ticks::every(period) }
    }

    /// Return true if a packet is to be dropped (pie_drop_early()). The packet has `size` bytes and
    /// arrives while `backlog` bytes wait.
    fn drop_early(&mut self, backlog: u64, size: u64, random: &mut Stream) -> bool {
        let (v, s) = (&mut self.vars, &self.settings);
        let calm = v.qdelay < s.target / 2 && v.prob < ONE / 5;
        if v.burst_time > 0 || calm || backlog < 2 * s.mtu {
            return false;
        }
        let prob = match s.chance_by {
            Chance::Size if size <= s.mtu => size * (v.prob / s.mtu),
            _ => v.prob,
        };
        v.accu_prob = if prob == 0 { 0 } else { v.accu_prob.wrapping_add(prob) };
        if v.accu_prob < (ONE / 100) * 85 {
            return false;
        }
        if v.accu_prob >= (ONE / 2) * 17 {
            self.drawn = Drawn { accu_prob: probability(v.accu_prob), random: f64::NAN };
            self.forced = Some(v.accu_prob);
            return true;
        }
        let drawn = random.below(ONE + 1);
        let lost = drawn < prob;
        if lost {
            self.drawn = Drawn { accu_prob: probability(v.accu_prob), random: probability(drawn) };
            v.accu_prob = 0;
        }
        lost
    }

    /// Return the verdict on a packet that arrives while `backlog` bytes wait. A signal sets the
    /// accumulated probability to 0. If the signal is a forced drop that becomes a mark,
    /// [`State::admitted`] restores the accumulated probability.
    pub fn judge(&mut self, backlog: u64, size: u64, random: &mut Stream) -> Verdict {
        self.forced = None;
        if !self.drop_early(backlog, size, random) {
            return Verdict::Pass;
        }
        self.vars.accu_prob = 0;
        if self.vars.prob <= self.settings.mark_up_to {
            Verdict::Signal(Why::Early)
        } else {
            Verdict::Drop(Why::Early)
        }
    }

    /// Explain the decision on the last packet.
    pub fn explain(&self, why: Why, to: &mut Explanation) {
        let v = &self.vars;
        let Drawn { accu_prob, random } = self.drawn.explain(why, probability(v.accu_prob), to);
        let seconds = |ticks: u64| ticks as f64 / TICKS_A_SECOND as f64;
        to.with(PieVariables {
            qdelay_s: seconds(v.qdelay),
            qdelay_old_s: seconds(v.qdelay_old),
            drop_prob: probability(v.prob),
            burst_allowance_s: seconds(v.burst_time),
            accu_prob,
            random,
        });
    }

    /// Record that the queue admitted the packet. If PIE forced a drop and the queue admitted the
    /// packet nevertheless, the packet was marked.
    pub fn admitted(&mut self) {
        if let Some(accu_prob) = self.forced.take() {
            self.vars.accu_prob = accu_prob;
        }
    }

    /// Record a packet that arrived at a full buffer.
    pub fn overflows(&mut self) {
        (self.vars.accu_prob, self.forced) = (0, None);
    }

    /// Record that a packet leaves the queue (pie_process_dequeue()). The packet arrived at the
    /// time `entered`, and `backlog` bytes remain in the queue.
    pub fn departs(&mut self, [entered, now]: [Time; 2], size: u64, backlog: u64) {
        let at = |time: Time| ticks(time.since(Time::ZERO));
        let now = at(now);
        let v = &mut self.vars;
        let passed = match self.settings.latency {
            Latency::Timestamps => {
                v.qdelay = if backlog > 0 { now - at(entered) } else { 0 };
                v.dq_tstamp.replace(now).map_or(0, |before| u64::from((now - before) as u32))
            }
            Latency::DepartureRate => v.measure(now, size, backlog),
        };
        v.burst_time = v.burst_time.saturating_sub(passed);
    }

    /// Update the drop probability at the end of a period (pie_calculate_probability()). At the end
    /// of the period `backlog` bytes wait. Return true if the update changed a variable of the
    /// controller.
    pub fn calculate_probability(&mut self, backlog: u64) -> bool {
        let before = self.vars.clone();
        let (v, s) = (&mut self.vars, &self.settings);
        let (qdelay, qdelay_old) = match s.latency {
            Latency::Timestamps => (v.qdelay, v.qdelay_old),
            Latency::DepartureRate => {
                v.qdelay_old = v.qdelay;
                (v.little(backlog), v.qdelay)
            }
        };
        let rises = v.change(s, qdelay, qdelay_old);
        let decays = (qdelay != 0 || backlog == 0) && rises;
        if qdelay == 0 && qdelay_old == 0 && decays {
            v.prob -= v.prob / 64;
        }
        v.qdelay = qdelay;
        let low = v.qdelay < s.target / 2 && v.qdelay_old < s.target / 2;
        if low && v.prob == 0 && (s.latency == Latency::Timestamps || v.avg_dq_rate > 0) {
            v.begin(s.max_burst);
        }
        if s.latency == Latency::Timestamps {
            v.qdelay_old = qdelay;
        }
        before != self.vars
    }
}

impl Vars {
    /// Return the queueing delay by Little's law.
    fn little(&self, backlog: u64) -> u64 {
        match self.avg_dq_rate {
            0 => 0,
            rate => u64::from(((backlog as u32) << SCALE) / rate),
        }
    }

    /// Continue the measurement of the departure rate. Return the duration of the measurement if it
    /// ends at this departure, or 0 otherwise.
    fn measure(&mut self, now: u64, size: u64, backlog: u64) -> u64 {
        if backlog >= THRESHOLD && self.dq_count.is_none() {
            (self.dq_tstamp, self.dq_count) = (Some(now), Some(0));
        }
        let (Some(count), Some(begun)) = (self.dq_count, self.dq_tstamp) else { return 0 };
        let count = count + size;
        self.dq_count = Some(count);
        let time = u64::from((now - begun) as u32);
        if count < THRESHOLD || time == 0 {
            return 0;
        }
        let rate = ((count << SCALE) / time) as u32;
        self.avg_dq_rate = match self.avg_dq_rate {
            0 => rate,
            average => (average - (average >> 3)) + (rate >> 3),
        };
        (self.dq_tstamp, self.dq_count) =
            if backlog < THRESHOLD { (Some(begun), None) } else { (Some(now), Some(0)) };
        time
    }

    /// Change the drop probability by one update. Return false if the drop probability was limited
    /// to its maximum.
    fn change(&mut self, s: &Settings, qdelay: u64, qdelay_old: u64) -> bool {
        let (mut alpha, mut beta) = (s.alpha, s.beta);
        if self.prob < ONE / 10 {
            alpha >>= 1;
            beta >>= 1;
            let mut power = 100;
            while self.prob < ONE / power && power <= 1_000_000 {
                alpha >>= 2;
                beta >>= 2;
                power *= 10;
            }
        }
        let weighed = |weight: u64, less: u64| weight.wrapping_mul(qdelay.wrapping_sub(less)) as i64;
        let mut delta = weighed(alpha, s.target).wrapping_add(weighed(beta, qdelay_old));
        if delta > (ONE / 50) as i64 && self.prob >= ONE / 10 {
            delta = (ONE / 100 * 2) as i64;
        }
        if qdelay > LONG {
            delta = delta.wrapping_add((ONE / 50) as i64);
        }
        let before = self.prob;
        self.prob = before.wrapping_add(delta as u64);
        if delta > 0 && self.prob < before {
            self.prob = ONE;
            return false;
        }
        if delta <= 0 && self.prob > before {
            self.prob = 0;
        }
        true
    }
}

/// PIE on a first-in-first-out queue.
#[derive(Clone, Debug)]
pub struct TcPieAqm {
    limit: Depth,
    state: State,
    departures: Departures,
    random: Stream,
}

impl TcPieAqm {
    /// Process every departure up to the time `until`.
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            self.state.departs([d.entered, d.at], u64::from(d.size), self.departures.backlog().bytes);
        }
    }

    /// Return true if the buffer has no space for the packet. PIE does not decide on a packet that
    /// arrives at a full buffer.
    fn is_full(&self, packet: &Packet, at: &Arrival) -> bool {
        match self.limit {
            Depth::Packets(n) => f64::from(at.backlog.packets) >= n,
            Depth::Bytes(n) => (at.backlog.bytes + u64::from(packet.size)) as f64 > n,
        }
    }
}

impl Aqm for TcPieAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while let Some(tick) = self.state.ticks.due(at.now) {
            self.depart(tick);
            let backlog = self.departures.backlog().bytes;
            if !self.state.calculate_probability(backlog) && self.departures.is_empty() {
                self.state.ticks.pass_over(at.now);
            }
        }
        self.depart(at.now);
        if self.is_full(packet, at) {
            return Verdict::Pass;
        }
        self.state.judge(at.backlog.bytes, u64::from(packet.size), &mut self.random)
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.state.admitted();
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
    use units::{Rate, Read};

    fn aqm(change: serde_json::Value) -> TcPieAqm {
        let random = Stream::new(1, "pie");
        TcPie::read(&change, "pie").unwrap().aqm(QueueContext::new(
            Rate(10_000_000),
            Depth::Packets(1000.0),
            random,
        ))
    }

    /// Return a state with these probabilities, with a delay equal to the target, and without a
    /// burst allowance.
    fn pressed(prob: f64, accu_prob: f64) -> (State, Stream) {
        let mut state = aqm(json!({})).state;
        (state.vars.burst_time, state.vars.qdelay) = (0, state.settings.target);
        state.vars.prob = (prob * ONE as f64) as u64;
        state.vars.accu_prob = (accu_prob * ONE as f64) as u64;
        (state, Stream::new(2, "tosses"))
    }

    /// The expected target is PSCHED_NS2TICKS(15 ms), and the expected gain is alpha (MAX_PROB /
    /// PSCHED_TICKS_PER_SEC) / 16.
    #[test]
    fn the_settings_are_in_linux_units() {
        let settings = aqm(json!({})).state.settings;
        assert_eq!((settings.target, settings.max_burst, TICKS_A_SECOND), (234_375, 2_343_750, 15_625_000));
        assert_eq!((settings.alpha, settings.beta), (576_460_752, 5_764_607_522));
        let same = Settings::of(Duration::from_millis(15), MAX_BURST, [0.125, 1.25]);
        assert_eq!((same.alpha, same.beta, same.target), (settings.alpha, settings.beta, settings.target));
    }

    /// usecs_to_jiffies() rounds up to whole ticks, and calc_index() of timer.c puts a timer into
    /// the slot after that of its time.
    #[test]
    fn periods_are_whole_ticks_of_the_kernel() {
        for (t_update, hz, expected) in [
            (15, 1000, 16),
            (15, 300, 20),
            (15, 250, 20),
            (15, 100, 30),
            (63, 1000, 64),
            (64, 1000, 72),
            (600, 1000, 640),
        ] {
            let expected = Duration::from_millis(expected);
            assert_eq!(period(Duration::from_millis(t_update), hz), expected, "{t_update} ms at {hz}");
        }
    }

    /// PIE drops no packet while the accumulated probability is below 0.85, and drops every packet
    /// from 8.5 on. A forced drop sets the accumulated probability to 0, and a forced mark does
    /// not.
    #[test]
    fn the_accumulated_probability_spaces_the_drops() {
        let judged = |accu_prob| {
            let (mut state, mut random) = pressed(0.05, accu_prob);
            let verdict = state.judge(10_000, 1500, &mut random);
            (verdict, state)
        };
        assert_eq!(judged(0.79).0, Verdict::Pass);
        let (verdict, state) = judged(8.5);
        assert_eq!((verdict, state.vars.accu_prob), (Verdict::Signal(Why::Early), 0), "dropped");
        let (_, mut state) = judged(8.5);
        state.admitted();
        assert!(state.vars.accu_prob > 8 * ONE, "marked");
        let tossed = (0..1000).filter(|_| judged(2.0).0 != Verdict::Pass).count();
        assert!(tossed == 0 || tossed == 1000, "one draw, always the same");
    }

    /// ECN-capable packets are marked while the drop probability is at most 10 %. Packets pass
    /// while less than two MTU wait, and while the burst allowance is above 0.
    #[test]
    fn signals_are_marks_up_to_ten_per_cent_and_exempt_short_queues_and_bursts() {
        for (prob, verdict) in [(0.0999, Verdict::Signal(Why::Early)), (0.1001, Verdict::Drop(Why::Early))] {
            let (mut state, mut random) = pressed(prob, 9.0);
            assert_eq!(state.judge(2999, 1500, &mut random), Verdict::Pass);
            state.vars.burst_time = 1;
            assert_eq!(state.judge(3000, 1500, &mut random), Verdict::Pass);
            state.vars.burst_time = 0;
            assert_eq!(state.judge(3000, 1500, &mut random), verdict, "{prob}");
        }
    }

    /// Each update raises the drop probability by at most 2 percentage points, or by 4 if the delay
    /// is above 250 ms. If the queue is empty, an update subtracts alpha times the target from the
    /// drop probability, and then 1/64 of the remaining value.
    #[test]
    fn the_probability_rises_in_steps_and_decays() {
        let after = |delays: [u64; 2], backlog| {
            let (mut state, _) = pressed(0.5, 0.0);
            [state.vars.qdelay_old, state.vars.qdelay] = delays.map(|ms| ticks(Duration::from_millis(ms)));
            state.calculate_probability(backlog);
            state.vars.prob as f64 / ONE as f64
        };
        for (delays, backlog, expected) in [
            ([100, 200], 1500, 0.52),
            ([100, 251], 1500, 0.54),
            ([0, 0], 0, (0.5 - 0.125 * 0.015) * (1.0 - 1.0 / 64.0)),
            ([0, 0], 1500, 0.5 - 0.125 * 0.015),
        ] {
            assert!((after(delays, backlog) - expected).abs() < 1e-9, "{delays:?} {backlog}");
        }
    }
}
