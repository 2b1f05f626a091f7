//! TCP Vegas, Brakmo, O'Malley & Peterson 1994 (`brakmo1994vegas`) and Brakmo & Peterson 1995
//! (`brakmo1995vegas`): keeps a few segments queued at the bottleneck by comparing the rate it gets with the
//! rate it would get without a queue.
//!
//! The round trip compared is the least of a round, where the paper times one segment: delayed ACKs
//! would look like a queue. A loss halves the window as RFC 5681 asks; the paper's finer response and its
//! early retransmissions (§3.1) belong to loss recovery and are missing. §3.2 of the paper of 1994 was at
//! hand, and of §3.3 the rule of slow start: Expected, Actual, Diff, and α and β of two and four
//! segments are from there (the later paper's pair is said to be one and three). γ is Linux's
//! (`tcp_vegas`); what is left of cwnd when slow start ends was not found: here all of it.

use serde_json::json;
use units::param::{Invalid, Json, join};
use units::{Duration, Packets, Range, Read, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::Window;

words! {
    /// How a round trip is judged.
    pub enum Rules {
        /// Diff is what the actual rate lacks of the expected; in slow start cwnd grows in every other round trip, so that it is fixed
        /// in the one that is judged (§3.2, §3.3).
        Paper = "paper",
        /// Diff is what the expected rate exceeds the actual one by, in whole segments; slow start grows in each round trip and ends with what would
        /// queue nothing, and a segment; a round trip of less than three measurements is not
        /// judged. During a recovery cwnd opens as Reno's, and what was measured until its end is
        /// forgotten (tcp_vegas).
        Linux = "linux",
    }
}

params! {
    /// TCP Vegas: once a round trip cwnd grows by a segment if fewer than α of its segments seem to be
    /// queued, shrinks by one if more than β, and else stays.
    pub struct Vegas: "vegas", checked by check {
        /// Segments queued below which cwnd grows (α).
        alpha: Packets = (Packets(2.0)), in Range::between(0.0, 1e6), from "brakmo1994vegas §3.2: two";
        /// Segments queued above which cwnd shrinks (β).
        beta: Packets = (Packets(4.0)), in Range::between(0.0, 1e6), from "brakmo1994vegas §3.2: four";
        /// Segments queued above which slow start ends (γ).
        gamma: Packets = (Packets(1.0)), in Range::between(0.0, 1e6), from "brakmo1994vegas §3.3; Linux, tcp_vegas: 1";
        /// How a round trip is judged.
        rules: Rules = (Rules::Paper), in Range::ANY, from "brakmo1994vegas §3.2, §3.3; Linux, tcp_vegas";
        /// Slow start, where it opens cwnd.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
    }
}

impl Control for Vegas {
    type State = VegasState;

    fn begin(&self, _: &Window) -> Self::State {
        VegasState::new(self)
    }

    fn in_linux() -> Json {
        json!({"slow_start": slow_start::in_linux(), "rules": "linux"})
    }
}

fn check(p: &Vegas, path: &str) -> Result<(), Invalid> {
    if p.alpha <= p.beta {
        return Ok(());
    }
    let problem = format!("must not exceed beta ({})", p.beta);
    Err(Invalid::new(&join(path, "alpha"), &p.alpha.write(), problem))
}

/// Diff = (Expected − Actual)·BaseRTT: segments of the window that are queued (§3.2).
fn queued(w: &Window, base: Duration, rtt: Duration) -> f64 {
    let (base, rtt) = (base.seconds(), rtt.seconds());
    if rtt > 0.0 { w.cwnd / w.smss * (rtt - base).max(0.0) / rtt } else { 0.0 }
}

/// Reason for which no round trip is judged (doing_vegas_now of tcp_vegas).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paused {
    No,
    InRecovery,
    UntilNextRound,
}

/// State of Vegas.
#[derive(Clone, Debug)]
pub struct VegasState {
    params: Vegas,
    growth: Growth,
    /// BaseRTT.
    base: Duration,
    /// Least round trip of this round; `u64::MAX` ps: none.
    least: Duration,
    /// Round trips measured in this round.
    samples: u32,
    /// A recovery, or the round trip that was under way at its end, is to end before one is judged,
    /// by Linux's rules.
    paused: Paused,
    /// Slow start opens cwnd in every other round.
    opens: bool,
    leaves_slow_start: bool,
}

impl VegasState {
    /// Before the first ACK.
    pub fn new(params: &Vegas) -> Self {
        VegasState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, Avoidance::PerAck),
            base: Duration(u64::MAX),
            least: Duration(u64::MAX),
            samples: 0,
            paused: Paused::No,
            opens: true,
            leaves_slow_start: false,
        }
    }

    /// cwnd after an ACK, as tcp_vegas_cong_avoid has it.
    fn by_linux(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.in_recovery {
            return self.growth.cwnd_on_ack(w, ack, 1.0);
        }
        let slow_start = w.cwnd < w.ssthresh;
        if !ack.round || self.samples == 0 {
            return if slow_start { self.growth.slow_start(w, ack).0 } else { w.cwnd };
        }
        let (rtt, samples) = (self.least.seconds(), std::mem::take(&mut self.samples));
        self.least = Duration(u64::MAX);
        if samples <= 2 {
            return self.growth.cwnd_on_ack(w, ack, 1.0);
        }
        let base = self.base.seconds().max(1e-9);
        let cwnd = w.cwnd / w.smss;
        let diff = (cwnd * (rtt - base).max(0.0) / base).floor();
        if slow_start && diff > self.params.gamma.0 {
            self.leaves_slow_start = true;
            return w.cwnd.min(((cwnd * base / rtt).floor() + 1.0) * w.smss).max(2.0 * w.smss);
        }
        if slow_start {
            return self.growth.slow_start(w, ack).0;
        }
        if diff > self.params.beta.0 {
            self.leaves_slow_start = true;
            return (w.cwnd - w.smss).max(2.0 * w.smss);
        }
        if diff < self.params.alpha.0 { w.cwnd + w.smss } else { w.cwnd }
    }

    /// Discards the measurements from before the end of a recovery, and from before the next round trip
    /// begins (vegas_enable).
    fn pause(&mut self, ack: &Ack) {
        (self.samples, self.least) = (0, Duration(u64::MAX));
        self.paused = match ack.in_recovery {
            true => Paused::InRecovery,
            false if ack.round => Paused::No,
            false => Paused::UntilNextRound,
        };
    }

    /// Diff of the round that has ended.
    fn diff(&mut self, w: &Window) -> Option<f64> {
        let rtt = std::mem::replace(&mut self.least, Duration(u64::MAX));
        (rtt != Duration(u64::MAX)).then(|| queued(w, self.base, rtt))
    }
}

impl CongestionControl for VegasState {
    fn observe(&mut self, _: &Window, ack: &Ack) {
        let linux = self.params.rules == Rules::Linux;
        if linux && (self.paused != Paused::No || ack.in_recovery) {
            self.pause(ack);
        }
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if self.params.rules == Rules::Linux {
            return self.by_linux(w, ack);
        }
        let diff = if ack.round { self.diff(w) } else { None };
        let slow_start = w.cwnd < w.ssthresh;
        // §3.3: the comparison is valid of a round in which cwnd stayed fixed.
        let fixed = !self.opens;
        if ack.round && slow_start {
            self.opens = !self.opens;
        }
        match diff {
            _ if !ack.cwnd_limited => w.cwnd,
            Some(diff) if slow_start && fixed && diff > self.params.gamma.0 => {
                self.leaves_slow_start = true; // §3.3
                w.cwnd
            }
            _ if slow_start && self.opens => self.growth.slow_start(w, ack).0,
            _ if slow_start => w.cwnd,
            Some(diff) if diff < self.params.alpha.0 => w.cwnd + w.smss,
            Some(diff) if diff > self.params.beta.0 => {
                self.leaves_slow_start = true; // or cwnd would be below ssthresh, in slow start again
                (w.cwnd - w.smss).max(2.0 * w.smss)
            }
            _ => w.cwnd,
        }
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        decreased(w, 0.5, congestion)
    }

    fn ssthresh_on_ack(&mut self, w: &Window) -> Option<f64> {
        std::mem::take(&mut self.leaves_slow_start).then_some(w.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, linux, window};

    fn vegas() -> VegasState {
        VegasState::new(&defaults())
    }

    /// cwnd 20, BaseRTT 100 ms, RTT 125 ms: expected 200/s, actual 160/s, Diff = 40/s × 0.1 s = 4.
    #[test]
    fn diff_is_the_segments_queued() {
        let ms = Duration::from_millis;
        assert!((queued(&window(20.0, 1.0, 20.0), ms(100), ms(125)) - 4.0).abs() < 1e-12);
        assert_eq!(queued(&window(20.0, 1.0, 20.0), ms(100), ms(100)), 0.0);
    }

    /// §3.2: with a BaseRTT of 100 ms and segments of 1 KB, α = 30 KB/s and β = 60 KB/s are three and six
    /// extra buffers.
    #[test]
    fn the_papers_example_of_thresholds() {
        for (rate, buffers) in [(30_000.0, 3.0), (60_000.0, 6.0)] {
            let w = window(20.0, 1.0, 20.0);
            let expected = w.cwnd / 0.1;
            let rtt = Duration::from_seconds(w.cwnd / (expected - rate));
            assert!((queued(&w, Duration::from_millis(100), rtt) - buffers).abs() < 1e-6);
        }
    }

    /// §3.3: in the rounds in which cwnd grows nothing is compared, in those between it is.
    #[test]
    fn slow_start_compares_in_rounds_of_a_fixed_window() {
        let mut v = vegas();
        let w = window(20.0, 40.0, 20.0);
        v.observe(&w, &ack_at(0.0, 0.1, 1.0));
        v.diff(&w);
        for leaves in [None, Some(w.cwnd)] {
            let mut a = ack_at(1.0, 0.1 / 0.75, 1.0); // five segments queued
            v.observe(&w, &a);
            a.round = true;
            v.cwnd_on_ack(&w, &a);
            assert_eq!(v.ssthresh_on_ack(&w), leaves);
        }
    }

    /// tcp_vegas_state: Vegas is off in a recovery, where cwnd opens as Reno's, and begins anew at
    /// its end: the queue that was full before does not end the first round trip after it, however
    /// it was under way.
    #[test]
    fn linux_judges_the_first_round_trip_that_began_after_a_recovery() {
        let mut v = VegasState::new(&linux());
        let w = window(20.0, 40.0, 20.0);
        let ack = |v: &mut VegasState, rtt: f64, round: bool, in_recovery: bool| {
            let a = Ack { round, in_recovery, ..ack_at(1.0, rtt, 1.0) };
            v.on_ack(&w, &a, true)
        };
        for _ in 0..5 {
            ack(&mut v, 0.1, false, false);
        }
        let grown = (21.0 * MSS, None);
        for _ in 0..5 {
            assert_eq!(ack(&mut v, 0.2, true, true), grown); // ten segments queued
        }
        for _ in 0..5 {
            assert_eq!(ack(&mut v, 0.2, false, false), grown);
        }
        assert_eq!(ack(&mut v, 0.2, true, false), grown);
        for _ in 0..5 {
            assert_eq!(ack(&mut v, 0.2, false, false), grown);
        }
        let left = 11.0 * MSS; // what queues nothing, and a segment
        assert_eq!(ack(&mut v, 0.2, true, false), (left, Some(left)));
    }

    /// Once a round: +1 below α, −1 above β, else nothing. With cwnd 20 and 100 ms, Diff is 1, 3, 5.
    #[test]
    fn thresholds() {
        for (rtt, change) in [(0.1 / 0.95, 1.0), (0.1 / 0.85, 0.0), (0.1 / 0.75, -1.0)] {
            let mut v = vegas();
            let w = window(20.0, 10.0, 20.0);
            v.observe(&w, &ack_at(0.0, 0.1, 1.0));
            v.diff(&w);
            let mut a = ack_at(1.0, rtt, 1.0);
            v.observe(&w, &a);
            assert_eq!(v.cwnd_on_ack(&w, &a), w.cwnd, "not at the end of a round");
            a.round = true;
            assert_eq!(v.cwnd_on_ack(&w, &a), w.cwnd + change * MSS);
        }
    }

    /// A single flow settles with between α and β segments queued, after a slow start without loss.
    #[test]
    fn a_flow_keeps_two_to_four_segments_queued() {
        let path = Path { buffer: 100, ..Path::new(16_000_000, 50) }; // 100 packets and one in service
        let mut sim = Sim::new(vegas(), path, 2.0, f64::INFINITY);
        sim.run(10.0, |_| {});
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        let before = sim.delivered;
        sim.run(30.0, |sim| {
            let q = queued(&sim.window(), sim.controller.base, sim.rtt);
            (low, high) = (low.min(q), high.max(q));
        });
        assert!(sim.events.is_empty() && sim.ssthresh.is_finite());
        assert!(low >= 1.0 && high <= 5.0, "{low} {high}");
        assert!((sim.delivered - before) as f64 > 0.999 * 2e6 * 20.0);
    }

    #[test]
    fn slow_start_doubles_every_other_round() {
        let mut sim = Sim::new(vegas(), Path::new(1_000_000_000, 100), 4.0, f64::INFINITY);
        let mut seen = Vec::new();
        for round in 1..7 {
            sim.run(0.1 * f64::from(round) + 0.05, |_| {});
            seen.push(sim.segments().round());
        }
        assert_eq!(seen.last(), Some(&32.0), "{seen:?}");
    }
}
