//! The table of congestion controls: how a scenario names them and how they are built.

use units::{Duration, Rate, Time, choice};

use crate::config::Tcp;
use crate::congestion::abe::{Abe, AbeState};
use crate::congestion::cubic::{Cubic, CubicState};
use crate::congestion::dctcp::{Dctcp, DctcpState};
use crate::congestion::reno::{Reno, RenoState};
use crate::congestion::{Ack, Congestion, CongestionControl};
use crate::sender::Window;

choice! {
    /// The congestion controls.
    pub enum Algorithm {
        Reno(Reno),
        Abe(Abe),
        Cubic(Cubic),
        Dctcp(Dctcp),
    }
}

impl Default for Algorithm {
    fn default() -> Self {
        Algorithm::Reno(super::defaults())
    }
}

/// The controller of a connection. Reno's state is here, that of the larger ones in a box.
#[derive(Clone, Debug)]
pub enum Controller {
    /// RFC 5681.
    Reno(RenoState),
    /// RFC 8511.
    Abe(Box<AbeState>),
    /// RFC 9438.
    Cubic(Box<CubicState>),
    /// RFC 8257.
    Dctcp(Box<DctcpState>),
}

impl Controller {
    /// The controller that the parameters of an endpoint name, before its first ACK.
    pub fn new(tcp: &Tcp) -> Self {
        match &tcp.congestion {
            Algorithm::Reno(p) => Controller::Reno(RenoState::new(p, tcp.ssthresh_from)),
            Algorithm::Abe(p) => Controller::Abe(Box::new(AbeState::new(p, tcp.ssthresh_from))),
            Algorithm::Cubic(p) => Controller::Cubic(Box::new(CubicState::new(p))),
            Algorithm::Dctcp(p) => Controller::Dctcp(Box::new(DctcpState::new(p))),
        }
    }
}

/// The same call, whichever controller it is.
macro_rules! each {
    ($controller:expr, $c:ident => $call:expr) => {
        match $controller {
            Controller::Reno($c) => $call,
            Controller::Abe($c) => $call,
            Controller::Cubic($c) => $call,
            Controller::Dctcp($c) => $call,
        }
    };
}

impl CongestionControl for Controller {
    #[inline]
    fn cwnd_on_ack(&mut self, window: &Window, ack: &Ack) -> f64 {
        each!(self, c => c.cwnd_on_ack(window, ack))
    }

    fn ssthresh_on(&mut self, window: &Window, congestion: Congestion, now: Time) -> f64 {
        each!(self, c => c.ssthresh_on(window, congestion, now))
    }

    fn cwnd_on(&mut self, window: &Window, congestion: Congestion, now: Time) -> Option<f64> {
        each!(self, c => c.cwnd_on(window, congestion, now))
    }

    #[inline]
    fn observe(&mut self, window: &Window, ack: &Ack) {
        each!(self, c => c.observe(window, ack));
    }

    #[inline]
    fn ssthresh_on_ack(&mut self, window: &Window) -> Option<f64> {
        each!(self, c => c.ssthresh_on_ack(window))
    }

    fn undo(&mut self, window: &Window) {
        each!(self, c => c.undo(window));
    }

    fn on_restart(&mut self, now: Time, idle: Duration) {
        each!(self, c => c.on_restart(now, idle));
    }

    #[inline]
    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        each!(self, c => c.pacing_rate(window, srtt))
    }

    #[inline]
    fn rules_recovery(&self) -> bool {
        each!(self, c => c.rules_recovery())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_small() {
        assert!(size_of::<Controller>() <= 16, "{}", size_of::<Controller>());
    }
}
