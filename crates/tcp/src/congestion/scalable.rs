//! Scalable TCP, Kelly 2003 (`kelly2003scalable`): multiplicative increase and decrease.
//!
//! Below the legacy window it is standard TCP (§3.1 of the paper). The paper was not at hand; a and b are what
//! Linux's `tcp_scalable` says it recommends (0.01, 7/8). The legacy window of 16 is as later literature quotes
//! it; Linux has none, and adds at least a segment a window instead (`least_increase`).

use serde_json::json;
use units::param::Json;
use units::{Packets, Range, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased, decreased_in_segments,
};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::Window;

words! {
    /// Rounding of the decrease.
    pub enum ScalableRules {
        /// Congestion takes b of the window away, to the byte.
        Kelly2003 = "kelly2003",
        /// Congestion takes the whole segments in b of the window away, so that 23 segments become
        /// 21 (Linux, tcp_scalable_ssthresh).
        Linux = "linux",
    }
}

params! {
    /// Scalable TCP: every segment acknowledged adds a hundredth of a segment, congestion takes an
    /// eighth of the window, so that the time to recover does not depend on the window.
    pub struct Scalable: "scalable" {
        /// Segments added for each ACK (a).
        a: f64 = (0.01), in Range::between(0.0001, 1.0), from "kelly2003scalable §3";
        /// Part of the window that congestion takes away (b).
        b: f64 = (0.125), in Range::between(0.01, 0.9), from "kelly2003scalable §3";
        /// Window up to which it is standard TCP (lwnd).
        legacy_window: Packets = (Packets(16.0)), in Range::between(0.0, 1e6), from "kelly2003scalable §3.1";
        /// Least increase, in segments a round trip.
        least_increase: f64 = (0.0), in Range::between(0.0, 100.0), from "kelly2003scalable §3: none; Linux, tcp_scalable: 1";
        /// Rounding of the decrease.
        rules: ScalableRules = (ScalableRules::Kelly2003), in Range::ANY, from "kelly2003scalable §3; Linux, tcp_scalable: linux";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// What congestion avoidance counts.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "kelly2003scalable §3: per ACK";
    }
}

impl Control for Scalable {
    type State = ScalableState;
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::Sack; // made for windows of thousands of segments, which SACK alone repairs in a round trip

    fn begin(&self, _: &Window) -> Self::State {
        ScalableState::new(self)
    }

    fn in_linux() -> Json {
        json!({
            "slow_start": slow_start::in_linux(),
            "avoidance": "per-window",
            "legacy_window": "0 packets",
            "least_increase": 1.0,
            "rules": "linux",
        })
    }
}

/// State of Scalable TCP.
#[derive(Clone, Debug)]
pub struct ScalableState {
    params: Scalable,
    growth: Growth,
}

impl ScalableState {
    /// Before the first ACK.
    pub fn new(params: &Scalable) -> Self {
        ScalableState { params: params.clone(), growth: Growth::new(&params.slow_start, params.avoidance) }
    }

    fn is_legacy(&self, w: &Window) -> bool {
        w.cwnd <= self.params.legacy_window.0 * w.smss
    }
}

impl CongestionControl for ScalableState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            return w.cwnd;
        }
        let scaled = (self.params.a * w.cwnd / w.smss).max(self.params.least_increase);
        let alpha = if self.is_legacy(w) { 1.0 } else { scaled };
        self.growth.cwnd_on_ack(w, ack, alpha)
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let taken = if self.is_legacy(w) { 0.5 } else { self.params.b };
        if self.params.rules == ScalableRules::Linux {
            return decreased_in_segments(w, congestion, |cwnd| cwnd - (taken * cwnd as f64) as u64);
        }
        decreased(w, 1.0 - taken, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.left_slow_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack, linux, window};

    fn scalable() -> ScalableState {
        ScalableState::new(&defaults())
    }

    #[test]
    fn a_hundredth_up_an_eighth_down_beyond_16_segments() {
        let mut s = scalable();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(s.cwnd_on_ack(&w, &ack(1.0)), 100_010.0);
        assert_eq!(s.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 87.5 * MSS);
        let w = window(16.0, 5.0, 16.0);
        assert_eq!(s.cwnd_on_ack(&w, &ack(1.0)), 16_062.5);
        assert_eq!(s.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 8.0 * MSS);
    }

    /// tcp_scalable_ssthresh: cwnd - (cwnd >> 3), so that less than a segment is not taken away.
    #[test]
    fn linux_takes_whole_segments_away() {
        let params = linux();
        for (cwnd, left) in [(23.0, 21.0), (24.0, 21.0), (7.0, 7.0), (100.0, 88.0)] {
            let mut s = ScalableState::new(&params);
            let w = window(cwnd, 5.0, cwnd);
            assert_eq!(s.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), left * MSS);
        }
    }

    /// Recovery from a loss takes ln(8/7)/ln(1.01) = 13.4 round trips whatever the window: 13 or 14.
    #[test]
    fn the_time_to_recover_does_not_depend_on_the_window() {
        for cwnd in [200.0, 2000.0] {
            let mut sim = Sim::new(scalable(), Path::new(10_000_000_000, 100), cwnd, cwnd);
            sim.lose = Some(0);
            let mut back = None;
            let mut lost = None;
            sim.run(4.0, |sim| {
                if lost.is_none() && !sim.events.is_empty() {
                    lost = Some(sim.now.seconds());
                } else if lost.is_some() && back.is_none() && sim.segments() >= cwnd {
                    back = Some(sim.now.seconds());
                }
            });
            // One round trip of recovery, then 13.4 of growth.
            let rounds = (back.unwrap() - lost.unwrap()) / 0.1 - 1.0;
            assert!((13.0..15.0).contains(&rounds), "{rounds} at {cwnd}");
        }
    }
}
