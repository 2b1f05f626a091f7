//! TCP Vegas (`vegas`), Brakmo, O'Malley & Peterson 1994 (`brakmo1994vegas`) and Brakmo & Peterson
//! 1995 (`brakmo1995vegas`): maintains a few queued segments at the bottleneck.
//!
//! Vegas compares its actual rate with the rate that it expects without a queue. Brakmo & Peterson
//! measure one segment per round. This implementation uses the minimum round-trip time of a round,
//! because Vegas would interpret the delay of a delayed ACK as a queue. A loss halves the window as
//! RFC 5681 requires. The smaller reduction and the early retransmissions of Brakmo 1994 §3.1
//! belong to loss recovery and are not implemented.
//!
//! Only §3.2 of Brakmo 1994, and the rule of slow start in §3.3 of Brakmo 1994, were available for
//! this implementation. Expected, Actual, Diff, α of two segments and β of four segments follow
//! Brakmo 1994. The later paper on Vegas reportedly uses α = 1 and β = 3. γ is the value of Linux
//! (`tcp_vegas`). A source for cwnd after slow start was not available, so the end of slow start
//! does not change cwnd.

use net::{Rule, rules};
use serde_json::json;
use units::param::{Invalid, Json, join};
use units::{Duration, Packets, Range, Read, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

words! {
    /// Rules for the evaluation of a round trip.
    pub enum Rules {
        /// Diff is the expected rate minus the actual rate, multiplied by BaseRTT. In slow start,
        /// round trips with a growing cwnd and round trips with a constant cwnd alternate. Only
        /// round trips with a constant cwnd are evaluated (Brakmo 1994 §3.2, §3.3).
        Paper = "paper",
        /// Diff is the rate difference multiplied by the measured round-trip time, in whole
        /// segments. cwnd grows in each round trip of slow start. At the end of slow start, cwnd is
        /// one segment more than the largest window that leaves the queue empty. A round trip with
        /// fewer than three measurements is not evaluated. During loss recovery cwnd grows as in
        /// Reno, and measurements before the end of loss recovery are discarded (tcp_vegas).
        Linux = "linux",
    }
}

params! {
    /// TCP Vegas. Once per round trip Vegas estimates the number of its queued segments. If fewer
    /// than α segments are queued, cwnd grows by one segment. If more than β segments are queued,
    /// cwnd shrinks by one segment. With α to β queued segments, cwnd does not change.
    pub struct Vegas: "vegas", checked by check {
        /// Number of queued segments below which cwnd grows (α).
        alpha: Packets = (Packets(2.0)), in Range::between(0.0, 1e6), from "brakmo1994vegas §3.2: two";
        /// Number of queued segments above which cwnd shrinks (β).
        beta: Packets = (Packets(4.0)), in Range::between(0.0, 1e6), from "brakmo1994vegas §3.2: four";
        /// Number of queued segments above which slow start ends (γ).
        gamma: Packets = (Packets(1.0)), in Range::between(0.0, 1e6), from "brakmo1994vegas §3.3; Linux, tcp_vegas: 1";
        /// Rules for the evaluation of a round trip.
        rules: Rules = (Rules::Paper), in Range::ANY, from "brakmo1994vegas §3.2, §3.3; Linux, tcp_vegas";
        /// Slow start, which applies in the round trips in which cwnd grows.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
    }
}

rules! {
    /// Fewer than α segments wait at the bottleneck, so cwnd grows by one segment.
    INCREASE = "vegas-increase", from "brakmo1994vegas §3.2";
    /// More than β segments wait at the bottleneck, so cwnd falls by one segment.
    DECREASE = "vegas-decrease", from "brakmo1994vegas §3.2";
    /// More than γ segments wait at the bottleneck, so slow start ends and cwnd falls to the
    /// bandwidth-delay product (Linux).
    EXIT = "vegas-exit", from "brakmo1994vegas §3.3; Linux, tcp_vegas_cong_avoid";
}

impl Control for Vegas {
    type State = VegasState;
    const RULES: &'static [Rule] = RULES;

    fn new_state(&self, _: &Window) -> Self::State {
        VegasState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({"slow_start": slow_start::linux_defaults(), "rules": "linux"})
    }
}

/// Check that alpha is at most beta.
fn check(p: &Vegas, path: &str) -> Result<(), Invalid> {
    if p.alpha <= p.beta {
        return Ok(());
    }
    let problem = format!("must not exceed beta ({})", p.beta);
    Err(Invalid::new(&join(path, "alpha"), &p.alpha.write(), problem))
}

/// Return Diff = (Expected − Actual)·BaseRTT, the number of segments of the window that are queued
/// (Brakmo 1994 §3.2).
fn queued_segments(w: &Window, base_rtt: Duration, rtt: Duration) -> f64 {
    let (base_rtt, rtt) = (base_rtt.seconds(), rtt.seconds());
    if rtt > 0.0 { w.cwnd / w.smss * (rtt - base_rtt).max(0.0) / rtt } else { 0.0 }
}

/// Reason for which round trips are not evaluated (doing_vegas_now of tcp_vegas).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paused {
    No,
    InRecovery,
    UntilNextRound,
}

/// State of Vegas in a connection.
#[derive(Clone, Debug)]
pub struct VegasState {
    params: Vegas,
    growth: Growth,
    /// Minimum round-trip time of the connection (BaseRTT).
    base_rtt: Duration,
    /// Minimum round-trip time of this round; `u64::MAX` ps before the first measurement.
    round_min_rtt: Duration,
    /// Number of round-trip times that were measured in this round.
    samples: u32,
    /// Event that Linux's rules require before the next evaluation: the end of loss recovery, or
    /// the end of the round trip in which loss recovery ended.
    paused: Paused,
    /// True if slow start increases cwnd in the current round. Rounds with and without an increase
    /// alternate.
    grows_this_round: bool,
    /// True from the end of slow start until the sender sets ssthresh to cwnd.
    exits_slow_start: bool,
}

impl VegasState {
    /// Create the state of Vegas in a connection before the first ACK of the connection.
    pub fn new(params: &Vegas) -> Self {
        VegasState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, Avoidance::PerAck),
            base_rtt: Duration(u64::MAX),
            round_min_rtt: Duration(u64::MAX),
            samples: 0,
            paused: Paused::No,
            grows_this_round: true,
            exits_slow_start: false,
        }
    }

    /// Return cwnd after an ACK by Linux's rules (tcp_vegas_cong_avoid).
    fn cwnd_by_linux(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.in_recovery {
            return self.growth.cwnd_on_ack(w, ack, 1.0);
        }
        let slow_start = w.cwnd < w.ssthresh;
        if !ack.round || self.samples == 0 {
            return if slow_start { self.growth.slow_start(w, ack).0 } else { w.cwnd };
        }
        let (rtt, samples) = (self.round_min_rtt.seconds(), std::mem::take(&mut self.samples));
        self.round_min_rtt = Duration(u64::MAX);
        if samples <= 2 {
            return self.growth.cwnd_on_ack(w, ack, 1.0);
        }
        let base_rtt = self.base_rtt.seconds().max(1e-9);
        let cwnd = w.cwnd / w.smss;
        let diff = (cwnd * (rtt - base_rtt).max(0.0) / base_rtt).floor();
        if slow_start && diff > self.params.gamma.0 {
            self.exits_slow_start = true;
            return w.cwnd.min(((cwnd * base_rtt / rtt).floor() + 1.0) * w.smss).max(2.0 * w.smss);
        }
        if slow_start {
            return self.growth.slow_start(w, ack).0;
        }
        if diff > self.params.beta.0 {
            self.exits_slow_start = true;
            return (w.cwnd - w.smss).max(2.0 * w.smss);
        }
        if diff < self.params.alpha.0 { w.cwnd + w.smss } else { w.cwnd }
    }

    /// Discard the measurements made during loss recovery and before the next round trip
    /// (vegas_enable).
    fn pause(&mut self, ack: &Ack) {
        (self.samples, self.round_min_rtt) = (0, Duration(u64::MAX));
        self.paused = match ack.in_recovery {
            true => Paused::InRecovery,
            false if ack.round => Paused::No,
            false => Paused::UntilNextRound,
        };
    }

    /// Return Diff of the round that has ended.
    fn diff(&mut self, w: &Window) -> Option<f64> {
        let rtt = std::mem::replace(&mut self.round_min_rtt, Duration(u64::MAX));
        (rtt != Duration(u64::MAX)).then(|| queued_segments(w, self.base_rtt, rtt))
    }
}

impl CongestionControl for VegasState {
    fn observe(&mut self, _: &Window, ack: &Ack) {
        let linux = self.params.rules == Rules::Linux;
        if linux && (self.paused != Paused::No || ack.in_recovery) {
            self.pause(ack);
        }
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.round_min_rtt = self.round_min_rtt.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if self.params.rules == Rules::Linux {
            return self.cwnd_by_linux(w, ack);
        }
        let diff = if ack.round { self.diff(w) } else { None };
        let slow_start = w.cwnd < w.ssthresh;
        // Brakmo 1994 §3.3: the comparison is valid only in a round with a constant cwnd.
        let cwnd_was_fixed = !self.grows_this_round;
        if ack.round && slow_start {
            self.grows_this_round = !self.grows_this_round;
        }
        match diff {
            _ if !ack.cwnd_limited => w.cwnd,
            Some(diff) if slow_start && cwnd_was_fixed && diff > self.params.gamma.0 => {
                self.exits_slow_start = true; // Brakmo 1994 §3.3
                w.cwnd
            }
            _ if slow_start && self.grows_this_round => self.growth.slow_start(w, ack).0,
            _ if slow_start => w.cwnd,
            Some(diff) if diff < self.params.alpha.0 => w.cwnd + w.smss,
            Some(diff) if diff > self.params.beta.0 => {
                // if slow start did not end, cwnd would fall below ssthresh and slow start would
                // resume
                self.exits_slow_start = true;
                (w.cwnd - w.smss).max(2.0 * w.smss)
            }
            _ => w.cwnd,
        }
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        decreased(w, 0.5, congestion)
    }

    fn ssthresh_on_ack(&mut self, w: &Window) -> Option<f64> {
        std::mem::take(&mut self.exits_slow_start).then_some(w.cwnd)
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        match after[0] - window.cwnd {
            change if change < 0.0 && window.cwnd < window.ssthresh => &EXIT,
            change if change < 0.0 => &DECREASE,
            change if change == window.smss => self.growth.rule(window, after, Some(&INCREASE)),
            _ => self.growth.rule(window, after, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, linux, window};
    use units::param::defaults;

    fn vegas() -> VegasState {
        VegasState::new(&defaults())
    }

    /// With cwnd 20, BaseRTT 100 ms and RTT 125 ms, the expected rate is 200/s, the actual rate
    /// 160/s, and Diff is 40/s × 0.1 s = 4.
    #[test]
    fn diff_is_the_number_of_queued_segments() {
        let ms = Duration::from_millis;
        assert!((queued_segments(&window(20.0, 1.0, 20.0), ms(100), ms(125)) - 4.0).abs() < 1e-12);
        assert_eq!(queued_segments(&window(20.0, 1.0, 20.0), ms(100), ms(100)), 0.0);
    }

    /// Brakmo 1994 §3.2: with a BaseRTT of 100 ms and segments of 1 KB, α = 30 KB/s and β = 60 KB/s
    /// are three and six extra buffers.
    #[test]
    fn thresholds_match_the_example_of_the_paper() {
        for (rate, buffers) in [(30_000.0, 3.0), (60_000.0, 6.0)] {
            let w = window(20.0, 1.0, 20.0);
            let expected = w.cwnd / 0.1;
            let rtt = Duration::from_seconds(w.cwnd / (expected - rate));
            assert!((queued_segments(&w, Duration::from_millis(100), rtt) - buffers).abs() < 1e-6);
        }
    }

    /// Brakmo 1994 §3.3: rates are compared only in rounds in which cwnd does not grow.
    #[test]
    fn slow_start_compares_rates_in_rounds_of_constant_cwnd() {
        let mut v = vegas();
        let w = window(20.0, 40.0, 20.0);
        v.observe(&w, &ack_at(0.0, 0.1, 1.0));
        v.diff(&w);
        for exit in [None, Some(w.cwnd)] {
            let mut a = ack_at(1.0, 0.1 / 0.75, 1.0); // five segments are queued
            v.observe(&w, &a);
            a.round = true;
            v.cwnd_on_ack(&w, &a);
            assert_eq!(v.ssthresh_on_ack(&w), exit);
        }
    }

    /// tcp_vegas_state: Vegas is disabled during loss recovery, in which cwnd grows as in Reno.
    /// Vegas restarts when loss recovery ends. A queue that built up during loss recovery does not
    /// end slow start in the round trip that is in progress when loss recovery ends.
    #[test]
    fn linux_evaluates_the_first_round_trip_that_began_after_recovery() {
        let mut v = VegasState::new(&linux());
        let w = window(20.0, 40.0, 20.0);
        let ack = |v: &mut VegasState, rtt: f64, round: bool, in_recovery: bool| {
            let a = Ack { round, in_recovery, ..ack_at(1.0, rtt, 1.0) };
            v.on_ack(&w, &a, true)
        };
        for _ in 0..5 {
            ack(&mut v, 0.1, false, false);
        }
        let increased = (21.0 * MSS, None);
        for _ in 0..5 {
            assert_eq!(ack(&mut v, 0.2, true, true), increased); // ten segments are queued
        }
        for _ in 0..5 {
            assert_eq!(ack(&mut v, 0.2, false, false), increased);
        }
        assert_eq!(ack(&mut v, 0.2, true, false), increased);
        for _ in 0..5 {
            assert_eq!(ack(&mut v, 0.2, false, false), increased);
        }
        let after = 11.0 * MSS; // the window of an empty queue, and one segment
        assert_eq!(ack(&mut v, 0.2, true, false), (after, Some(after)));
    }

    /// Once per round, cwnd grows by one segment if Diff is below α, and shrinks by one segment if
    /// Diff is above β. In this test cwnd is 20 segments, BaseRTT is 100 ms, and the values of Diff
    /// are 1, 3 and 5.
    #[test]
    fn cwnd_changes_by_one_segment_outside_the_thresholds() {
        for (rtt, change) in [(0.1 / 0.95, 1.0), (0.1 / 0.85, 0.0), (0.1 / 0.75, -1.0)] {
            let mut v = vegas();
            let w = window(20.0, 10.0, 20.0);
            v.observe(&w, &ack_at(0.0, 0.1, 1.0));
            v.diff(&w);
            let mut a = ack_at(1.0, rtt, 1.0);
            v.observe(&w, &a);
            assert_eq!(v.cwnd_on_ack(&w, &a), w.cwnd, "cwnd changes only at the end of a round");
            a.round = true;
            assert_eq!(v.cwnd_on_ack(&w, &a), w.cwnd + change * MSS);
        }
    }

    /// A flow alone reaches a queue of α to β segments, after a slow start without loss.
    #[test]
    fn flow_keeps_two_to_four_segments_queued() {
        // the buffer limit includes the packet in transmission
        let path = Path { buffer: 100, ..Path::new(16_000_000, 50) };
        let mut sim = Sim::new(vegas(), path, 2.0, f64::INFINITY);
        sim.run(10.0, |_| {});
        let (mut min, mut max) = (f64::INFINITY, 0.0f64);
        let before = sim.delivered;
        sim.run(30.0, |sim| {
            let q = queued_segments(&sim.window(), sim.controller.base_rtt, sim.rtt);
            (min, max) = (min.min(q), max.max(q));
        });
        assert!(sim.events.is_empty() && sim.ssthresh.is_finite());
        assert!(min >= 1.0 && max <= 5.0, "{min} {max}");
        assert!((sim.delivered - before) as f64 > 0.999 * 2e6 * 20.0);
    }

    #[test]
    fn slow_start_doubles_cwnd_every_other_round() {
        let mut sim = Sim::new(vegas(), Path::new(1_000_000_000, 100), 4.0, f64::INFINITY);
        let mut segments = Vec::new();
        for round in 1..7 {
            sim.run(0.1 * f64::from(round) + 0.05, |_| {});
            segments.push(sim.segments().round());
        }
        assert_eq!(segments.last(), Some(&32.0), "{segments:?}");
    }
}
