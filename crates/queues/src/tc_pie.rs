//! PIE as Linux computes it and as `tc` sets it.
//!
//! Source: sch_pie.c and pie.h of Linux 6.12, and tc-pie(8) (`tcpie8`) for the parameters; the arithmetic is Linux's, in
//! integers: times in ticks of 64 ns, probabilities in shares of 2^56 - 1.
//!
//! What it does otherwise than RFC 8033, whose Appendix A is in `pie.rs` and B in `pie_enhanced.rs`:
//! - drops are spaced as §5.4 has it, but the accumulated probability goes back to 0 by a drop, or by a toss that was
//!   lost, and not by a mark that 8.5 forced: then every ECN-capable packet is marked until one of these comes;
//! - the burst allowance is there from the beginning and is used up by the time between departures, not by periods;
//! - nothing is dropped while the last delay, not the one before, is below half the target, or while less than two MTU wait;
//! - packets are marked up to 10 %, that included;
//! - the probability rises by 2 % at most once it is 10 % (§5.5), by 2 % more where the delay is above 250 ms
//!   (RFC 8034 has 200), and falls by 1/64 where it was 0 twice; not where packets wait, though the last left none;
//!
//! The probability is held to 1 by a test that comes true only at 256: a controller that is driven on goes beyond,
//! as in Linux. Sizes here are without the 14 B of Ethernet.
//!
//! Linux arms the timer of the first period when the queue is set up, half a second ahead
//! (`pie_init`). Here the queue was set up long before the run, so the first period ends one period
//! after the run begins. Until the first packet comes the variables have their initial values, as
//! those of an idle queue in Linux do. A period is a whole number of ticks of the kernel
//! (`wheel_ticks`).

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Bytes, Depth, Duration, Range, Room, Time, params, words};

use crate::law::{Configures, Place};
use crate::lazy::{Departures, Ticks};

words! {
    /// Effect of a packet's size on its chance to be signalled.
    pub enum Chance {
        /// Every packet has the same probability.
        Packet = "packet",
        /// The probability is multiplied by the packet's size over the MTU, unless the packet is
        /// larger.
        Size = "size",
    }
}

words! {
    /// How the queueing delay is known.
    pub enum Latency {
        /// By the time that the last packet waited; 0 if it left none.
        Timestamps = "timestamps",
        /// By Little's law: what waits over the departure rate, which is measured while 16 KiB wait.
        DepartureRate = "departure-rate",
    }
}

params! {
    /// PIE as Linux has it, with the parameters of `tc`: it spaces its drops, spares a burst of 150 ms after a calm, and raises
    /// its probability by 2 % a period at most. Decision by decision what the kernel does. Unless a limit is given, it is that of tc-pie(8), 1000 packets.
    pub struct TcPie: "tc_pie" {
        /// The delay that is held.
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "tcpie8: 15 ms";
        /// Time between two changes of the probability, as `tc` is given it (tupdate). It lasts
        /// longer in Linux, by the ticks of `hz`.
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "tcpie8: 15 ms";
        /// Ticks per second of the kernel (HZ). Linux rounds t_update up to whole ticks, and its
        /// timer fires one tick late: 15 ms last 16 ms at 1000, 20 ms at 250 and 30 ms at 100.
        hz: u64 = (1000), in Range::between(1.0, 10_000.0), from "sch_pie.c: usecs_to_jiffies; timer.c of Linux 6.12: calc_index";
        /// Weight of the delay's distance from the target, in sixteenths of 1/s.
        alpha: u64 = (2), in Range::between(0.0, 32.0), from "tcpie8: 2";
        /// Weight of the delay's change, in sixteenths of 1/s.
        beta: u64 = (20), in Range::between(0.0, 32.0), from "tcpie8: 20";
        /// Whether a packet up to an MTU is dropped in proportion to its size (bytemode).
        chance_by: Chance = (Chance::Packet), in Range::ANY, from "tcpie8: nobytemode";
        /// How the delay is known (dq_rate_estimator).
        latency: Latency = (Latency::Timestamps), in Range::ANY, from "tcpie8: no_dq_rate_estimator";
        /// While less than two of this wait nothing is dropped.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "sch_pie.c: the MTU";
    }
}

impl Configures for TcPie {
    type Law = TcPieLaw;
    const COUNTS_ON_ORDER: bool = true;
    /// tc-pie(8): 1000 packets.
    const LIMIT: Room = Room::Depth(Depth::Packets(1000.0));

    fn law(&self, place: Place) -> TcPieLaw {
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
        TcPieLaw {
            limit: place.limit,
            state: State::new(settings, period(self.t_update, self.hz)),
            departures: Departures::default(),
            random: place.random,
        }
    }
}

/// A probability of 1 (MAX_PROB), and the digits of the random number that one is compared with.
const ONE: u64 = u64::MAX >> 8;
const TICKS_A_SECOND: u64 = ticks(Duration::from_millis(1000));
const MAX_BURST: Duration = Duration::from_millis(150);
/// A delay above which the probability rises faster.
const LONG: u64 = ticks(Duration::from_millis(250));
/// Bytes of a measurement of the departure rate (QUEUE_THRESHOLD), and the binary digits of its fraction.
const THRESHOLD: u64 = 1 << 14;
const SCALE: u32 = 8;

/// In ticks of 64 ns, of nanoseconds.
const fn ticks(time: Duration) -> u64 {
    (time.0 / 1000) >> 6
}

/// Return the ticks of a kernel timer that fires at a multiple of its level's granularity and
/// is set again for `ticks` later (`calc_index` in timer.c of Linux 6.12): level n of the wheel has
/// slots of 8^n ticks, and a timer goes into the slot after the one of its time.
const fn wheel_ticks(ticks: u64) -> u64 {
    let mut slot = 1;
    while ticks > 63 * slot {
        slot *= 8;
    }
    (ticks / slot + 1) * slot
}

/// Return the time from one update to the next in a kernel with `hz` ticks per second, which counts
/// microseconds.
pub(crate) fn period(t_update: Duration, hz: u64) -> Duration {
    const SECOND: u128 = 1_000_000_000_000;
    let microseconds = t_update.0 / 1_000_000;
    let ticks = (u128::from(microseconds) * u128::from(hz)).div_ceil(1_000_000) as u64;
    Duration((u128::from(wheel_ticks(ticks)) * SECOND / u128::from(hz)).min(u128::from(u64::MAX >> 1)) as u64)
}

/// What of it does not change, in Linux's units.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub target: u64,
    pub max_burst: u64,
    pub alpha: u64,
    pub beta: u64,
    /// The largest probability with which packets are marked.
    pub mark_up_to: u64,
    pub mtu: u64,
    pub chance_by: Chance,
    pub latency: Latency,
}

impl Settings {
    /// What `tc` gives the kernel for these times and weights in 1/s.
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

/// A share of [`ONE`].
pub(crate) fn share(probability: f64) -> u64 {
    (ONE / 100) * (100.0 * probability) as u64
}

/// What changes (struct pie_vars); times in ticks.
#[derive(Clone, Debug, Default, PartialEq)]
struct Vars {
    qdelay: u64,
    qdelay_old: u64,
    burst_time: u64,
    /// The last departure, or where the measurement of the rate began.
    dq_tstamp: Option<u64>,
    prob: u64,
    accu_prob: u64,
    /// Bytes that departed in the measurement of the rate.
    dq_count: Option<u64>,
    /// Bytes a tick, times 2^SCALE.
    avg_dq_rate: u32,
}

impl Vars {
    /// pie_vars_init()
    fn begin(&mut self, max_burst: u64) {
        self.burst_time = max_burst;
        self.dq_tstamp = None;
        self.accu_prob = 0;
        self.dq_count = None;
        self.avg_dq_rate = 0;
    }
}

/// PIE's controller, apart from the packets.
#[derive(Clone, Debug)]
pub(crate) struct State {
    settings: Settings,
    vars: Vars,
    /// What accu_prob is again if the packet that it forced a drop of was marked.
    forced: Option<u64>,
    pub ticks: Ticks,
}

impl State {
    /// PIE that has seen nothing, and updates its probability once per period.
    pub fn new(settings: Settings, period: Duration) -> Self {
        let mut vars = Vars::default();
        vars.begin(settings.max_burst);
        State { settings, vars, forced: None, ticks: Ticks::every(period) }
    }

    /// pie_drop_early(), before what waits, for a packet of this size.
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

    /// What becomes of a packet before so much; a drop, and what is dropped because it cannot be marked, begins the
    /// accumulation anew ([`State::admitted`]).
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

    /// The packet was let in: if it was a forced drop, it was marked.
    pub fn admitted(&mut self) {
        if let Some(accu_prob) = self.forced.take() {
            self.vars.accu_prob = accu_prob;
        }
    }

    /// A packet found the buffer full.
    pub fn overflows(&mut self) {
        (self.vars.accu_prob, self.forced) = (0, None);
    }

    /// pie_process_dequeue(): a packet of this size that came at `entered` leaves, and leaves `backlog` behind.
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

    /// pie_calculate_probability() at the end of a period in which so much waits: whether anything changed.
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
    /// The delay by Little's law.
    fn little(&self, backlog: u64) -> u64 {
        match self.avg_dq_rate {
            0 => 0,
            rate => u64::from(((backlog as u32) << SCALE) / rate),
        }
    }

    /// The measurement of the departure rate: the time that one took which ends now, else 0.
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

    /// Changes the probability: false if it came to its upper bound.
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
pub struct TcPieLaw {
    limit: Depth,
    state: State,
    departures: Departures,
    random: Stream,
}

impl TcPieLaw {
    /// Everything that left by `until`.
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            self.state.departs([d.entered, d.at], u64::from(d.size), self.departures.backlog().bytes);
        }
    }

    /// Whether the packet finds no room; then it is not judged.
    fn is_full(&self, packet: &Packet, at: &Arrival) -> bool {
        match self.limit {
            Depth::Packets(n) => f64::from(at.backlog.packets) >= n,
            Depth::Bytes(n) => (at.backlog.bytes + u64::from(packet.size)) as f64 > n,
        }
    }
}

impl Aqm for TcPieLaw {
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

    fn law(change: serde_json::Value) -> TcPieLaw {
        let random = Stream::new(1, "pie");
        TcPie::read(&change, "pie").unwrap().law(Place::new(Rate(10_000_000), Depth::Packets(1000.0), random))
    }

    /// A state in which nothing is spared, with these shares of 1.
    fn pressed(prob: f64, accu_prob: f64) -> (State, Stream) {
        let mut state = law(json!({})).state;
        (state.vars.burst_time, state.vars.qdelay) = (0, state.settings.target);
        state.vars.prob = (prob * ONE as f64) as u64;
        state.vars.accu_prob = (accu_prob * ONE as f64) as u64;
        (state, Stream::new(2, "tosses"))
    }

    /// PSCHED_NS2TICKS(15 ms); alpha (MAX_PROB / PSCHED_TICKS_PER_SEC) / 16.
    #[test]
    fn the_settings_are_in_linux_units() {
        let settings = law(json!({})).state.settings;
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

    /// Below 0.85 none, from 8.5 on every one; a forced drop begins anew, a forced mark does not.
    #[test]
    fn what_accumulates_spaces_the_drops() {
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
        assert!(tossed == 0 || tossed == 1000, "one toss, always the same");
    }

    /// Up to 10 %, that included, by marks; nothing while less than two MTU wait, or the burst allowance lasts.
    #[test]
    fn what_is_marked_and_what_is_spared() {
        for (prob, verdict) in [(0.0999, Verdict::Signal(Why::Early)), (0.1001, Verdict::Drop(Why::Early))] {
            let (mut state, mut random) = pressed(prob, 9.0);
            assert_eq!(state.judge(2999, 1500, &mut random), Verdict::Pass);
            state.vars.burst_time = 1;
            assert_eq!(state.judge(3000, 1500, &mut random), Verdict::Pass);
            state.vars.burst_time = 0;
            assert_eq!(state.judge(3000, 1500, &mut random), verdict, "{prob}");
        }
    }

    /// By 2 % a period at most, by 4 above 250 ms; an empty queue's falls by 1/64 and by alpha times the target.
    #[test]
    fn the_probability_goes_up_in_steps_and_decays() {
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
