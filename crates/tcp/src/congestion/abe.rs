//! Alternative Backoff with ECN, RFC 8511 (`rfc8511`): an ECN-Echo cuts the window less than a loss
//! does, because a mark comes from a short queue. A modifier of Reno or CUBIC, which do everything else.

use serde_json::json;
use units::param::Json;
use units::{Duration, Range, Rate, Time, choice, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased, defaults};
use crate::congestion::cubic::{Cubic, CubicState};
use crate::congestion::reno::{Reno, RenoState};
use crate::window::Window;

choice! {
    /// What ABE modifies.
    pub enum AbeOver {
        Reno(Reno),
        Cubic(Cubic),
    }
}

params! {
    /// Reno or CUBIC with a smaller cut on ECN-Echo than on loss.
    pub struct Abe: "abe" {
        /// What does everything else.
        over: AbeOver = (AbeOver::Reno(defaults())), in Range::ANY, from "rfc8511 §3";
        /// What an ECN-Echo leaves of the FlightSize (beta_ecn); absent: 0.8 over Reno, 0.85 over CUBIC.
        beta_ecn: Option<f64> = (None), in Range::between(0.5, 0.99), from "rfc8511 §3.1: 0.8; CUBIC benefits from 0.85";
    }
}

impl Control for Abe {
    type State = AbeState;

    fn begin(&self, _: &Window) -> Self::State {
        AbeState::new(self)
    }

    fn in_linux() -> Json {
        json!({"over": {"kind": "reno"}})
    }
}

#[derive(Clone, Debug)]
enum Inner {
    Reno(RenoState),
    Cubic(Box<CubicState>),
}

/// State of ABE: that of what it modifies.
#[derive(Clone, Debug)]
pub struct AbeState {
    inner: Inner,
    beta_ecn: f64,
}

impl AbeState {
    /// Before the first ACK.
    pub fn new(params: &Abe) -> Self {
        let (inner, usual) = match &params.over {
            AbeOver::Reno(p) => (Inner::Reno(RenoState::new(p)), 0.8),
            AbeOver::Cubic(p) => (Inner::Cubic(Box::new(CubicState::new(p))), 0.85),
        };
        AbeState { inner, beta_ecn: params.beta_ecn.unwrap_or(usual) }
    }

    fn inner(&mut self) -> &mut dyn CongestionControl {
        match &mut self.inner {
            Inner::Reno(c) => c,
            Inner::Cubic(c) => c.as_mut(),
        }
    }
}

impl CongestionControl for AbeState {
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        self.inner().cwnd_on_ack(w, ack)
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, now: Time) -> f64 {
        let usual = self.inner().ssthresh_on(w, congestion, now);
        match congestion {
            Congestion::Ecn => decreased(w, self.beta_ecn, congestion), // §3
            _ => usual,
        }
    }

    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.inner().observe(w, ack);
    }

    fn ssthresh_on_ack(&mut self, w: &Window) -> Option<f64> {
        self.inner().ssthresh_on_ack(w)
    }

    fn undo(&mut self, w: &Window) {
        self.inner().undo(w);
    }

    fn on_restart(&mut self, now: Time, idle: Duration) {
        self.inner().on_restart(now, idle);
    }

    fn paces(&self) -> bool {
        match &self.inner {
            Inner::Reno(c) => c.paces(),
            Inner::Cubic(c) => c.paces(),
        }
    }

    fn pacing_rate(&self, w: &Window, srtt: Duration) -> Option<Rate> {
        match &self.inner {
            Inner::Reno(c) => c.pacing_rate(w, srtt),
            Inner::Cubic(c) => c.pacing_rate(w, srtt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, window};

    fn cuts(over: AbeOver, beta_ecn: Option<f64>) -> (f64, f64) {
        let mut abe = AbeState::new(&Abe { over, beta_ecn });
        let w = window(100.0, 50.0, 100.0);
        let ecn = abe.ssthresh_on(&w, Congestion::Ecn, Time::ZERO) / MSS;
        assert_eq!(abe.cwnd_on(&w, Congestion::Ecn, Time::ZERO), None);
        (ecn, abe.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO) / MSS)
    }

    /// §3.1: 0.8 for Reno, 0.85 for CUBIC; losses cut as ever.
    #[test]
    fn marks_cut_less_than_losses() {
        assert_eq!(cuts(AbeOver::Reno(defaults()), None), (80.0, 50.0));
        assert_eq!(cuts(AbeOver::Cubic(defaults()), None), (85.0, 70.0));
        assert_eq!(cuts(AbeOver::Reno(defaults()), Some(0.7)), (70.0, 50.0));
    }
}
