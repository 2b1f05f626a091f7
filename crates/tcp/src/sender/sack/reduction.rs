//! Reduction of cwnd by a sender with SACK: immediate, or by Proportional Rate Reduction (PRR).

use net::Seq;
use units::Time;

use super::SackSender;
use crate::config::{RateReduction, SsthreshFrom, Tcp};
use crate::congestion::{Congestion, CongestionControl};
use crate::recovery::prr::Prr;
use crate::sender::ca_state::CaState;
use crate::sender::changes::PROPORTIONAL;
use crate::sender::tcb::Tcb;

impl SackSender {
    /// Reduce cwnd and ssthresh, and set RecoveryPoint. `una` is SND.UNA before the ACK.
    /// `limited_transmit` is the number of bytes that limited transmit has sent.
    #[cold]
    pub(super) fn reduce_cwnd(
        &mut self,
        tcb: &mut Tcb,
        congestion: Congestion,
        (una, limited_transmit): (Seq, u32),
        now: Time,
        tcp: &Tcp,
    ) {
        tcb.reduce_cwnd(
            now,
            congestion,
            tcb.window_at_reduction(self.window(tcb), una, limited_transmit),
            tcp,
        );
        self.recovery_point = tcb.max;
    }

    /// Reduce ssthresh, and cwnd either immediately or by PRR. `una` is SND.UNA before the ACK.
    pub(super) fn reduce(
        &mut self,
        tcb: &mut Tcb,
        state: CaState,
        (congestion, una): (Congestion, Seq),
        now: Time,
        tcp: &Tcp,
    ) {
        let (windows, before) = (tcb.windows(), tcb.cwnd);
        let limited_transmit = std::mem::take(&mut self.limited_transmit);
        self.reduce_cwnd(tcb, congestion, (una, limited_transmit), now, tcp);
        self.state = state;
        // the reduction also counts as the response to a loss that a tail loss probe repaired
        // (Linux, tcp_init_cwnd_reduction)
        self.tlp.end = None;
        if reduces_in_proportion(tcb, tcp) {
            let flight = f64::from(tcb.max - una);
            self.prr = Prr::begin(if tcp.cwnd.ssthresh_from == SsthreshFrom::Cwnd { before } else { flight });
            tcb.cwnd = before;
        }
        tcb.record_response(congestion, windows);
    }

    /// Continue a reduction by PRR after an ACK that delivers `delivered` bytes.
    pub(super) fn reduce_further(&mut self, tcb: &mut Tcb, delivered: f64, safe: bool, tcp: &Tcp) {
        if reduces_in_proportion(tcb, tcp) {
            let (pipe, smss, before) = (self.pipe(), f64::from(tcb.smss), tcb.windows());
            tcb.cwnd = self.prr.cwnd(delivered, pipe, tcb.ssthresh, smss, tcp.recovery.prr_bound, safe);
            tcb.record(&PROPORTIONAL, before, None);
        }
    }
}

/// Return true if cwnd is reduced by PRR.
pub(super) fn reduces_in_proportion(tcb: &Tcb, tcp: &Tcp) -> bool {
    tcp.recovery.reduction == RateReduction::Prr && !tcb.congestion.governs_recovery()
}
