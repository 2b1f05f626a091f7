//! PIE with the arithmetic of Linux and the parameters of `tc`.
//!
//! Source: sch_pie.c and pie.h of Linux 6.12, and tc-pie(8) (`tcpie8`) for the parameters. The
//! arithmetic is that of Linux, in integers: times in ticks of 64 ns, probabilities in shares of
//! 2^56 - 1.
//!
//! The PIE of Linux differs from RFC 8033, whose Appendix A is in `pie.rs` and B in
//! `pie_enhanced.rs`, in these points:
//! - Drops are spaced as in §5.4 of RFC 8033. The accumulated probability returns to 0 after a drop
//!   or after a random choice that passes the packet, but not after a mark that the sum of 8.5
//!   forced. After a forced mark every ECN-capable packet is marked until a drop or a random choice
//!   that passes a packet.
//! - The burst allowance is full from the beginning, and each departure reduces it by the time
//!   since the previous departure, instead of each period by its length.
//! - No packet is dropped while the current delay is below half the target (in RFC 8033 the
//!   previous delay), or while less than two MTU wait.
//! - ECN-capable packets are marked up to a drop probability of 10 %, inclusive.
//! - From 10 % on the probability rises by at most 2 % (§5.5), and by 2 % more if the delay is
//!   above 250 ms (200 ms in RFC 8034). The probability falls by 1/64 if the delay was 0 at two
//!   successive updates, unless packets wait although the last departure left an empty queue.
//!
//! Linux has a test that should limit the probability to 1, but this test only becomes true at 256.
//! The probability of an overloaded controller therefore exceeds 1, as in Linux. Packet sizes in
//! this file do not include the 14 B Ethernet header.
//!
//! Linux arms the timer of the first period half a second ahead when the queue is set up
//! (`pie_init`). This file assumes that the queue was set up long before the run, so the first
//! period ends one period after the run begins. Until the first packet arrives the variables have
//! their initial values, like those of an idle queue in Linux. A period is a whole number of ticks
//! of the kernel (`wheel_ticks`).

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Bytes, Depth, Duration, Range, Room, Time, params, words};

use crate::aqm::{AqmParams, QueueContext};
use crate::lazy::{Departures, Ticks};

words! {
    /// Effect of a packet's size on its signal probability.
    pub enum Chance {
        /// Every packet has the same probability.
        Packet = "packet",
        /// The probability is scaled by the packet size divided by the MTU, unless the packet is
        /// larger than the MTU.
        Size = "size",
    }
}

words! {
    /// Source of the queueing delay.
    pub enum Latency {
        /// Waiting time of the last packet that left the queue, or 0 if this departure left the
        /// queue empty.
        Timestamps = "timestamps",
        /// Backlog divided by the departure rate (Little's law). The departure rate is measured
        /// while at least 16 KiB wait.
        DepartureRate = "departure-rate",
    }
}

params! {
    /// PIE with the decisions of the Linux kernel and the parameters of `tc`. The AQM spaces its
    /// drops, exempts a burst of 150 ms after a quiet period, and raises its probability by at most
    /// 2 % per period. The default limit is that of tc-pie(8), 1000 packets.
    pub struct TcPie: "tc_pie" {
        /// Target queueing delay.
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "tcpie8: 15 ms";
        /// Time between two updates of the probability, as given to `tc` (tupdate). In Linux the
        /// actual time between two updates is longer, depending on `hz`.
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "tcpie8: 15 ms";
        /// Timer frequency of the kernel (HZ). Linux rounds t_update up to whole ticks, and its
        /// timer expires one tick late: 15 ms become 16 ms at 1000 Hz, 20 ms at 250 Hz and 30 ms at
        /// 100 Hz.
        hz: u64 = (1000), in Range::between(1.0, 10_000.0), from "sch_pie.c: usecs_to_jiffies; timer.c of Linux 6.12: calc_index";
        /// Weight of the delay's distance from the target in an update of the drop probability, in
        /// sixteenths of 1/s.
        alpha: u64 = (2), in Range::between(0.0, 32.0), from "tcpie8: 2";
        /// Weight of the delay's change since the previous update of the drop probability, in
        /// sixteenths of 1/s.
        beta: u64 = (20), in Range::between(0.0, 32.0), from "tcpie8: 20";
        /// Effect of a packet's size on its signal probability (bytemode).
        chance_by: Chance = (Chance::Packet), in Range::ANY, from "tcpie8: nobytemode";
        /// Source of the queueing delay (dq_rate_estimator).
        latency: Latency = (Latency::Timestamps), in Range::ANY, from "tcpie8: no_dq_rate_estimator";
        /// MTU of the link. No packet is dropped while less than two MTU wait.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "sch_pie.c: the MTU";
    }
}

impl AqmParams for TcPie {
    type Aqm = TcPieAqm;
    const COUNTS_ON_ORDER: bool = true;
    /// Default limit of tc-pie(8): 1000 packets.
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

/// Probability 1 (MAX_PROB), and the maximum of the random numbers that probabilities are compared
/// with.
const ONE: u64 = u64::MAX >> 8;
const TICKS_A_SECOND: u64 = ticks(Duration::from_millis(1000));
const MAX_BURST: Duration = Duration::from_millis(150);
/// Queueing delay above which the drop probability rises faster.
const LONG: u64 = ticks(Duration::from_millis(250));
/// Number of bytes in a measurement of the departure rate (QUEUE_THRESHOLD). `SCALE` is the number
/// of fractional bits of the rate.
const THRESHOLD: u64 = 1 << 14;
const SCALE: u32 = 8;

/// Return a time in ticks of 64 ns.
const fn ticks(time: Duration) -> u64 {
    (time.0 / 1000) >> 6
}

/// Return the number of ticks after which a periodic kernel timer expires that is set again for
/// `ticks` later (`calc_index` in timer.c of Linux 6.12). Level n of the timer wheel has slots of
/// 8^n ticks, and a timer enters the slot after that of its time.
const fn wheel_ticks(ticks: u64) -> u64 {
    let mut slot = 1;
    while ticks > 63 * slot {
        slot *= 8;
    }
    (ticks / slot + 1) * slot
}

/// Return the time between two updates in a kernel with `hz` ticks per second, which counts
/// microseconds.
pub(crate) fn period(t_update: Duration, hz: u64) -> Duration {
    const SECOND: u128 = 1_000_000_000_000;
    let microseconds = t_update.0 / 1_000_000;
    let ticks = (u128::from(microseconds) * u128::from(hz)).div_ceil(1_000_000) as u64;
    Duration((u128::from(wheel_ticks(ticks)) * SECOND / u128::from(hz)).min(u128::from(u64::MAX >> 1)) as u64)
}

/// Constant settings, in Linux's units.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub target: u64,
    pub max_burst: u64,
    pub alpha: u64,
    pub beta: u64,
    /// Maximum probability with which packets are marked.
    pub mark_up_to: u64,
    pub mtu: u64,
    pub chance_by: Chance,
    pub latency: Latency,
}

impl Settings {
    /// Return the settings that `tc` passes to the kernel for these times, and for weights in 1/s.
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

/// Return a probability as a share of [`ONE`], rounded down to whole per cent.
pub(crate) fn share(probability: f64) -> u64 {
    (ONE / 100) * (100.0 * probability) as u64
}

/// Variables of the controller (struct pie_vars), with times in ticks.
#[derive(Clone, Debug, Default, PartialEq)]
struct Vars {
    qdelay: u64,
    qdelay_old: u64,
    burst_time: u64,
    /// Time of the last departure, or of the start of the rate measurement.
    dq_tstamp: Option<u64>,
    prob: u64,
    accu_prob: u64,
    /// Bytes that departed during the rate measurement.
    dq_count: Option<u64>,
    /// Average departure rate in bytes per tick, times 2^SCALE.
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

/// Controller of PIE, without the packets.
#[derive(Clone, Debug)]
pub(crate) struct State {
    settings: Settings,
    vars: Vars,
    /// Value to which accu_prob is reset if the packet of a forced drop was marked instead.
    forced: Option<u64>,
    pub ticks: Ticks,
}

impl State {
    /// Create the initial state of PIE, which updates its probability once per period.
    pub fn new(settings: Settings, period: Duration) -> Self {
        let mut vars = Vars::default();
        vars.begin(settings.max_burst);
        State { settings, vars, forced: None, ticks: Ticks::every(period) }
    }

    /// Return true if a packet of this size that arrives at this backlog is to be dropped
    /// (pie_drop_early()).
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
            self.forced = Some(v.accu_prob);
            return true;
        }
        let lost = random.below(ONE + 1) < prob;
        if lost {
            v.accu_prob = 0;
        }
        lost
    }

    /// Return the verdict on a packet that arrives at this backlog. A signal resets the accumulated
    /// probability, which [`State::admitted`] restores if the signal became a mark of a forced
    /// drop.
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

    /// Record that the packet was admitted. If an admitted packet had a forced drop, it was marked
    /// instead.
    pub fn admitted(&mut self) {
        if let Some(accu_prob) = self.forced.take() {
            self.vars.accu_prob = accu_prob;
        }
    }

    /// Record a packet that arrived at a full buffer.
    pub fn overflows(&mut self) {
        (self.vars.accu_prob, self.forced) = (0, None);
    }

    /// Record that a packet that arrived at `entered` leaves the queue and leaves `backlog` behind
    /// (pie_process_dequeue()).
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

    /// Update the probability at the end of a period with this backlog
    /// (pie_calculate_probability()). Return true if the update changed a variable of the
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
    /// Return the delay by Little's law.
    fn little(&self, backlog: u64) -> u64 {
        match self.avg_dq_rate {
            0 => 0,
            rate => u64::from(((backlog as u32) << SCALE) / rate),
        }
    }

    /// Continue the measurement of the departure rate. Return the duration of the measurement if it
    /// ends now, else 0.
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

    /// Change the probability. Return false if the probability reached its upper bound.
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
    /// Process every departure of a packet up to the time `until`.
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            self.state.departs([d.entered, d.at], u64::from(d.size), self.departures.backlog().bytes);
        }
    }

    /// Return true if the buffer is too full for the packet. PIE does not decide on such a packet.
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

    /// Return a state with these probabilities, without burst allowance and with a delay at the
    /// target.
    fn pressed(prob: f64, accu_prob: f64) -> (State, Stream) {
        let mut state = aqm(json!({})).state;
        (state.vars.burst_time, state.vars.qdelay) = (0, state.settings.target);
        state.vars.prob = (prob * ONE as f64) as u64;
        state.vars.accu_prob = (accu_prob * ONE as f64) as u64;
        (state, Stream::new(2, "tosses"))
    }

    /// The expected values are PSCHED_NS2TICKS(15 ms) and alpha (MAX_PROB / PSCHED_TICKS_PER_SEC) /
    /// 16.
    #[test]
    fn the_settings_are_in_linux_units() {
        let settings = aqm(json!({})).state.settings;
        assert_eq!((settings.target, settings.max_burst, TICKS_A_SECOND), (234_375, 2_343_750, 15_625_000));
        assert_eq!((settings.alpha, settings.beta), (576_460_752, 5_764_607_522));
        let same = Settings::of(Duration::from_millis(15), MAX_BURST, [0.125, 1.25]);
        assert_eq!((same.alpha, same.beta, same.target), (settings.alpha, settings.beta, settings.target));
    }

    /// usecs_to_jiffies() rounds up, and calc_index() of timer.c puts a timer into the slot after
    /// its time.
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

    /// While the accumulated probability is below 0.85 no packet is dropped, and from 8.5 on every
    /// packet is dropped. A forced drop resets the accumulated probability, and a forced mark does
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

    /// ECN-capable packets are marked up to a drop probability of 10 %, inclusive. Packets pass
    /// while less than two MTU wait or the burst allowance lasts.
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

    /// The probability rises by at most 2 % per period, and by 4 % above 250 ms. With an empty
    /// queue the probability falls by 1/64 and by alpha times the target.
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
