//! Scalable TCP (`scalable`), Kelly 2003 (`kelly2003scalable`): multiplicative increase and
//! decrease.
//!
//! Up to the legacy window Scalable TCP behaves as standard TCP (Kelly 2003 §3.1). The paper Kelly
//! 2003 was not available for this implementation. The parameters a and b have the values that
//! Linux's `tcp_scalable` cites as the recommendation of Kelly 2003 (0.01, 7/8). The legacy window
//! of 16 segments is a value from later literature. Linux has no legacy window, but adds at least
//! one segment per round trip (`min_increase`).

use net::{Rule, rules};
use serde_json::json;
use units::param::{Json, Renamed};
use units::{Packets, Range, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased, decreased_in_segments,
};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

words! {
    /// Rounding of the decrease.
    pub enum ScalableRules {
        /// Congestion reduces the window by the fraction b, computed in bytes.
        Kelly2003 = "kelly2003",
        /// Congestion reduces the window by the fraction b, and the reduction is rounded down to
        /// whole segments: 23 segments become 21 (Linux, tcp_scalable_ssthresh).
        Linux = "linux",
    }
}

/// Former keys.
const RENAMED: &[Renamed] = &[Renamed::key("least_increase", "min_increase")];

params! {
    /// Scalable TCP. Each acknowledged segment adds a hundredth of a segment, and congestion
    /// reduces the window by an eighth. Because the increase and the decrease are proportional to
    /// the window, the time to recover from a loss does not depend on the window.
    pub struct Scalable: "scalable", renamed by RENAMED {
        /// Segments that each ACK adds to cwnd (a).
        a: f64 = (0.01), in Range::between(0.0001, 1.0), from "kelly2003scalable §3";
        /// Fraction by which congestion reduces the window (b).
        b: f64 = (0.125), in Range::between(0.01, 0.9), from "kelly2003scalable §3";
        /// Maximum window at which the control behaves as standard TCP (lwnd).
        legacy_window: Packets = (Packets(16.0)), in Range::between(0.0, 1e6), from "kelly2003scalable §3.1";
        /// Minimum increase of cwnd, in segments per round trip.
        min_increase: f64 = (0.0), in Range::between(0.0, 100.0), from "kelly2003scalable §3: none; Linux, tcp_scalable: 1";
        /// Rounding of the decrease.
        rules: ScalableRules = (ScalableRules::Kelly2003), in Range::ANY, from "kelly2003scalable §3; Linux, tcp_scalable: linux";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// Unit that congestion avoidance counts to increase cwnd: ACK, byte, or window of bytes.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "kelly2003scalable §3: per ACK";
    }
}

rules! {
    /// Above the legacy window, each acknowledged segment increases cwnd by the fraction a.
    INCREASE = "scalable-increase", from "kelly2003scalable §3";
    /// A loss or a mark reduces the window by the fraction b, or to half up to the legacy window.
    DECREASE = "scalable-decrease", from "kelly2003scalable §3, §3.1";
}

impl Control for Scalable {
    type State = ScalableState;
    const RULES: &'static [Rule] = RULES;
    /// Loss recovery by SACK, because cumulative ACKs repair only one loss per round trip in
    /// windows of thousands of segments.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::Sack;

    fn new_state(&self, _: &Window) -> Self::State {
        ScalableState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({
            "slow_start": slow_start::linux_defaults(),
            "avoidance": "per-window",
            "legacy_window": "0 packets",
            "min_increase": 1.0,
            "rules": "linux",
        })
    }
}

/// State of Scalable TCP in a connection.
#[derive(Clone, Debug)]
pub struct ScalableState {
    params: Scalable,
    growth: Growth,
}

impl ScalableState {
    /// Create the state of Scalable TCP in a connection before the first ACK of the connection.
    pub fn new(params: &Scalable) -> Self {
        ScalableState { params: params.clone(), growth: Growth::new(&params.slow_start, params.avoidance) }
    }

    /// Return true if cwnd is at most the legacy window.
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
        let increase = (self.params.a * w.cwnd / w.smss).max(self.params.min_increase);
        let alpha = if self.is_legacy(w) { 1.0 } else { increase };
        self.growth.cwnd_on_ack(w, ack, alpha)
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let decrease = if self.is_legacy(w) { 0.5 } else { self.params.b };
        if self.params.rules == ScalableRules::Linux {
            return decreased_in_segments(w, congestion, |cwnd| cwnd - (decrease * cwnd as f64) as u64);
        }
        decreased(w, 1.0 - decrease, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        let increase = (!self.is_legacy(window)).then_some(&INCREASE);
        self.growth.rule(window, after, increase)
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        (!matches!(congestion, Congestion::Timeout { .. })).then_some(&DECREASE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack, linux, window};
    use units::param::defaults;

    fn scalable() -> ScalableState {
        ScalableState::new(&defaults())
    }

    #[test]
    fn cwnd_grows_by_a_hundredth_and_shrinks_by_an_eighth_above_16_segments() {
        let mut s = scalable();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(s.cwnd_on_ack(&w, &ack(1.0)), 100_010.0);
        assert_eq!(s.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 87.5 * MSS);
        let w = window(16.0, 5.0, 16.0);
        assert_eq!(s.cwnd_on_ack(&w, &ack(1.0)), 16_062.5);
        assert_eq!(s.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 8.0 * MSS);
    }

    /// tcp_scalable_ssthresh reduces cwnd to cwnd - (cwnd >> 3), so a cwnd below 8 segments does
    /// not change.
    #[test]
    fn linux_reduces_cwnd_by_whole_segments() {
        let params = linux();
        for (cwnd, remaining) in [(23.0, 21.0), (24.0, 21.0), (7.0, 7.0), (100.0, 88.0)] {
            let mut s = ScalableState::new(&params);
            let w = window(cwnd, 5.0, cwnd);
            assert_eq!(s.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), remaining * MSS);
        }
    }

    /// Recovery from a loss takes ln(8/7)/ln(1.01) = 13.4 round trips, measured as 13 or 14 round
    /// trips, at any window.
    #[test]
    fn time_to_recover_does_not_depend_on_the_window() {
        for cwnd in [200.0, 2000.0] {
            let mut sim = Sim::new(scalable(), Path::new(10_000_000_000, 100), cwnd, cwnd);
            sim.drop_number = Some(0);
            let mut recovery_time = None;
            let mut loss_time = None;
            sim.run(4.0, |sim| {
                if loss_time.is_none() && !sim.events.is_empty() {
                    loss_time = Some(sim.now.seconds());
                } else if loss_time.is_some() && recovery_time.is_none() && sim.segments() >= cwnd {
                    recovery_time = Some(sim.now.seconds());
                }
            });
            // Loss recovery lasts one round trip, and the growth that follows lasts 13.4 round
            // trips.
            let rounds = (recovery_time.unwrap() - loss_time.unwrap()) / 0.1 - 1.0;
            assert!((13.0..15.0).contains(&rounds), "{rounds} at {cwnd}");
        }
    }
}
