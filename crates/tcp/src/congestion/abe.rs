//! Alternative Backoff with ECN (ABE), RFC 8511 (`rfc8511`).
//!
//! An ECN-Echo reduces the window less than a loss does, because a mark comes from a short queue.
//! ABE modifies the response of Reno or CUBIC to an ECN-Echo. Reno or CUBIC determines every other
//! change of the window.

use net::{Rule, rules};
use serde_json::json;
use units::param::Json;
use units::{Duration, Range, Rate, Time, choice, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::cubic::{Cubic, CubicState};
use crate::congestion::reno::{Reno, RenoState};
use crate::window::{Window, Windows};
use units::param::defaults;

choice! {
    /// Congestion control that ABE modifies.
    pub enum AbeOver {
        Reno(Reno),
        Cubic(Cubic),
    }
}

params! {
    /// Reno or CUBIC with a smaller reduction of the window after an ECN-Echo than after a loss.
    pub struct Abe: "abe" {
        /// Congestion control that governs everything except the response to an ECN-Echo.
        over: AbeOver = (AbeOver::Reno(defaults())), in Range::ANY, from "rfc8511 §3";
        /// Factor (beta_ecn) by which the FlightSize is multiplied after an ECN-Echo to compute
        /// ssthresh. If absent, the factor is 0.8 for Reno and 0.85 for CUBIC.
        beta_ecn: Option<f64> = (None), in Range::between(0.5, 0.99), from "rfc8511 §3.1: 0.8, and 0.85 for CUBIC";
    }
}

rules! {
    /// A mark multiplies the window by beta_ecn, which is larger than the factor of a loss.
    MARK = "abe-mark", from "rfc8511 §3";
}

impl Control for Abe {
    type State = AbeState;
    const RULES: &'static [Rule] = RULES;

    fn new_state(&self, _: &Window) -> Self::State {
        AbeState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({"over": {"kind": "reno"}})
    }
}

/// State of the congestion control (Reno or CUBIC) whose response to marks ABE changes.
#[derive(Clone, Debug)]
enum BaseState {
    Reno(RenoState),
    Cubic(Box<CubicState>),
}

/// State of ABE in a connection.
#[derive(Clone, Debug)]
pub struct AbeState {
    base: BaseState,
    beta_ecn: f64,
}

impl AbeState {
    /// Create the state of ABE in a connection before the first ACK of the connection.
    pub fn new(params: &Abe) -> Self {
        let (base, default_beta) = match &params.over {
            AbeOver::Reno(p) => (BaseState::Reno(RenoState::new(p)), 0.8),
            AbeOver::Cubic(p) => (BaseState::Cubic(Box::new(CubicState::new(p))), 0.85),
        };
        AbeState { base, beta_ecn: params.beta_ecn.unwrap_or(default_beta) }
    }

    /// Return the control that ABE modifies.
    fn base_ref(&self) -> &dyn CongestionControl {
        match &self.base {
            BaseState::Reno(c) => c,
            BaseState::Cubic(c) => c.as_ref(),
        }
    }

    /// Return the control that ABE modifies, for a change of its state.
    fn base(&mut self) -> &mut dyn CongestionControl {
        match &mut self.base {
            BaseState::Reno(c) => c,
            BaseState::Cubic(c) => c.as_mut(),
        }
    }
}

impl CongestionControl for AbeState {
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        self.base().cwnd_on_ack(w, ack)
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, now: Time) -> f64 {
        let ssthresh = self.base().ssthresh_on_congestion(w, congestion, now);
        match congestion {
            Congestion::Ecn => decreased(w, self.beta_ecn, congestion), // RFC 8511 §3
            _ => ssthresh,
        }
    }

    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.base().observe(w, ack);
    }

    fn ssthresh_on_ack(&mut self, w: &Window) -> Option<f64> {
        self.base().ssthresh_on_ack(w)
    }

    fn undo(&mut self, w: &Window) {
        self.base().undo(w);
    }

    fn on_restart(&mut self, now: Time, idle: Duration) {
        self.base().on_restart(now, idle);
    }

    fn paces(&self) -> bool {
        match &self.base {
            BaseState::Reno(c) => c.paces(),
            BaseState::Cubic(c) => c.paces(),
        }
    }

    fn pacing_rate(&self, w: &Window, srtt: Duration) -> Option<Rate> {
        match &self.base {
            BaseState::Reno(c) => c.pacing_rate(w, srtt),
            BaseState::Cubic(c) => c.pacing_rate(w, srtt),
        }
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        self.base_ref().rule_of_ack(window, after)
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        match congestion {
            Congestion::Ecn => Some(&MARK),
            _ => self.base_ref().rule_of_congestion(congestion),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, window};

    /// Return two values of ssthresh, in segments, for 100 segments in flight: after an ECN-Echo,
    /// and after a loss.
    fn ssthresh_after(over: AbeOver, beta_ecn: Option<f64>) -> (f64, f64) {
        let mut abe = AbeState::new(&Abe { over, beta_ecn });
        let w = window(100.0, 50.0, 100.0);
        let ecn = abe.ssthresh_on_congestion(&w, Congestion::Ecn, Time::ZERO) / MSS;
        assert_eq!(abe.cwnd_on_congestion(&w, Congestion::Ecn, Time::ZERO), None);
        (ecn, abe.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO) / MSS)
    }

    /// RFC 8511 §3.1: the factor is 0.8 for Reno and 0.85 for CUBIC. ABE does not change the
    /// response to a loss.
    #[test]
    fn marks_reduce_the_window_less_than_losses() {
        assert_eq!(ssthresh_after(AbeOver::Reno(defaults()), None), (80.0, 50.0));
        assert_eq!(ssthresh_after(AbeOver::Cubic(defaults()), None), (85.0, 70.0));
        assert_eq!(ssthresh_after(AbeOver::Reno(defaults()), Some(0.7)), (70.0, 50.0));
    }
}
