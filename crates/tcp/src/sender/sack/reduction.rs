//! The window comes down, with scoreboard: at once, or by proportional rate reduction.

use net::Seq;
use units::Time;

use super::SackSender;
use crate::config::{RateReduction, SsthreshFrom, Tcp};
use crate::congestion::{Congestion, CongestionControl};
use crate::recovery::prr::Prr;
use crate::sender::ca_state::CaState;
use crate::sender::tcb::Tcb;

impl SackSender {
    /// Cuts the window. `una`: SND.UNA before the ACK at hand; `limited`: bytes that limited transmit let go.
    #[cold]
    pub(super) fn reduce_cwnd(
        &mut self,
        tcb: &mut Tcb,
        congestion: Congestion,
        (una, limited): (Seq, u32),
        now: Time,
        tcp: &Tcp,
    ) {
        tcb.reduce_cwnd(now, congestion, tcb.window_at_reduction(self.window(tcb), una, limited), tcp);
        self.recovery_point = tcb.max;
    }

    /// The window comes down, at once or in proportion. `una`: SND.UNA before the ACK at hand.
    pub(super) fn reduce(
        &mut self,
        tcb: &mut Tcb,
        state: CaState,
        (congestion, una): (Congestion, Seq),
        now: Time,
        tcp: &Tcp,
    ) {
        let before = tcb.cwnd;
        let limited = std::mem::take(&mut self.limited_transmit);
        self.reduce_cwnd(tcb, congestion, (una, limited), now, tcp);
        self.state = state;
        self.tlp.end = None; // the reduction covers what a probe may have repaired (Linux, tcp_init_cwnd_reduction)
        if reduces_in_proportion(tcb, tcp) {
            let flight = f64::from(tcb.max - una);
            self.prr = Prr::begin(if tcp.cwnd.ssthresh_from == SsthreshFrom::Cwnd { before } else { flight });
            tcb.cwnd = before;
        }
    }

    /// So much was delivered in a reduction.
    pub(super) fn reduce_further(&mut self, tcb: &mut Tcb, delivered: f64, safe: bool, tcp: &Tcp) {
        if reduces_in_proportion(tcb, tcp) {
            let (pipe, smss) = (self.pipe(), f64::from(tcb.smss));
            tcb.cwnd = self.prr.cwnd(delivered, pipe, tcb.ssthresh, smss, tcp.recovery.prr_bound, safe);
        }
    }
}

/// Whether a reduction lasts, by proportional rate reduction.
pub(super) fn reduces_in_proportion(tcb: &Tcb, tcp: &Tcp) -> bool {
    tcp.recovery.reduction == RateReduction::Prr && !tcb.congestion.governs_recovery()
}
