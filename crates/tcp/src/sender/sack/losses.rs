//! Loss detection of a sender with SACK, and the transitions into and out of recovery.

use net::Seq;
use units::{Duration, Time};

use super::SackSender;
use super::reduction::reduces_in_proportion;
use crate::config::{MarkReductionEnds, SpuriousResponse, Tcp};
use crate::congestion::{Congestion, CongestionControl};
use crate::recovery::frto::Frto;
use crate::recovery::scoreboard::Delivery;
use crate::recovery::{RecoveryKind, fack, sack, tlp};
use crate::sender::arriving::ArrivingAck;
use crate::sender::ca_state::CaState;
use crate::sender::changes::{PROBE_REPAIRED, RECOVERED};
use crate::sender::tcb::Tcb;

/// Return true if an ACK with this ECE makes the current reduction permanent, even if the loss is
/// spurious (Linux, tcp_fastretrans_alert: prior_ssthresh = 0).
#[inline]
pub(super) fn keeps_reduction(echo: bool, tcp: &Tcp) -> bool {
    echo && tcp.recovery.spurious_response == SpuriousResponse::Restore
}

impl SackSender {
    /// Mark segments as lost (RFC 6675 §4, IsLost; RFC 8985 §6.2, step 5). Return the time at which
    /// RACK would detect more losses without another ACK.
    pub(super) fn find_losses(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Time> {
        if tcp.recovery.rack {
            if !self.board.is_overtaken() {
                return None;
            }
            let window = self.reordering_window(tcb, tcp);
            let (lost, next) = self.board.rack_detect_loss(now, window);
            self.lost_bytes += u64::from(lost);
            return next;
        }
        if self.board.sacked_segments() == 0 {
            return None;
        }
        let dup_thresh = self.tracking.reordering.segments();
        let board = &mut self.board;
        let limit = match tcp.recovery.method {
            RecoveryKind::Fack => fack::lost_before(board, dup_thresh, tcb.smss),
            _ => sack::lost_before(board, dup_thresh, tcb.smss),
        };
        if let Some(limit) = limit {
            self.lost_bytes += u64::from(board.lose_before(limit));
        }
        None
    }

    /// Return RACK.reo_wnd (RFC 8985 §6.2, step 4).
    pub(super) fn reordering_window(&self, tcb: &Tcb, tcp: &Tcp) -> Duration {
        self.board.rack.reordering_window(
            matches!(self.state, CaState::Recovery | CaState::Loss),
            self.board.sacked_segments(),
            self.tracking.reordering.segments(),
            self.tracking.min_rtt,
            tcb.rto.srtt(tcp),
        )
    }

    /// Leave a completed recovery, or a completed reduction for a mark (RFC 6675 §5,
    /// RecoveryPoint). If the ACK widened RACK's reordering window (`widened`), the recovery does
    /// not count towards the lifetime of the reordering window.
    #[inline(always)]
    pub(super) fn leave_recovery(&mut self, tcb: &mut Tcb, widened: bool, tcp: &Tcp) {
        let above = self.state == CaState::Cwr && tcp.details.ecn_reduction_ends == MarkReductionEnds::Above;
        let reached = tcb.una.after(self.recovery_point) || (!above && tcb.una == self.recovery_point);
        if !reached || self.state == CaState::Open {
            return;
        }
        // If the reduction for a mark was immediate, cwnd already has its final value. The end of a
        // reduction for a mark sets cwnd only if the reduction was proportional.
        let reduces = self.state == CaState::Recovery || reduces_in_proportion(tcb, tcp);
        if self.state != CaState::Loss && reduces && !tcb.congestion.governs_recovery() {
            let before = tcb.windows();
            tcb.cwnd = tcb.ssthresh;
            tcb.record(&RECOVERED, before, None);
        }
        if self.state != CaState::Cwr && !widened {
            self.board.rack.on_recovery_end();
        }
        self.state = CaState::Open;
        self.tracking.frto = Frto::Off;
    }

    /// Reduce cwnd for ECE, at most once per window of data and outside recovery (RFC 3168 §6.1.2).
    /// Return true if cwnd was reduced.
    #[inline(always)]
    pub(super) fn respond_to_mark(
        &mut self,
        tcb: &mut Tcb,
        delivery: &Delivery,
        arriving: &ArrivingAck,
        una: Seq,
        tcp: &Tcp,
    ) -> bool {
        let &ArrivingAck { now, segment, feedback, .. } = arriving;
        let responds = feedback.echo
            && self.state == CaState::Open
            && tcb.congestion.responds_to_mark(now, segment.ack.after(self.recovery_point));
        if responds {
            tcb.on_ecn_echo(Some(&self.tracking), segment.ack, delivery.delivered, feedback, tcp);
            if tcb.congestion.is_scalable() {
                let before = tcb.windows();
                self.reduce_cwnd(tcb, Congestion::Ecn, (una, 0), now, tcp);
                tcb.record_response(Congestion::Ecn, before);
            } else {
                self.reduce(tcb, CaState::Cwr, (Congestion::Ecn, una), now, tcp);
            }
        }
        responds
    }

    /// Reduce cwnd for a loss that a tail loss probe repaired, by the same factor as for any other
    /// loss (RFC 8985 §7.4.2). Return true if cwnd was reduced.
    #[inline(always)]
    pub(super) fn respond_to_repair(
        &mut self,
        tcb: &mut Tcb,
        probe: tlp::Verdict,
        una: Seq,
        now: Time,
        tcp: &Tcp,
    ) -> bool {
        let repaired = probe == tlp::Verdict::Repaired && self.state == CaState::Open;
        if repaired {
            let before = tcb.windows();
            self.reduce_cwnd(tcb, Congestion::FastRetransmit, (una, 0), now, tcp);
            tcb.record(&PROBE_REPAIRED, before, None);
            self.recovery_point = tcb.una;
        }
        repaired
    }

    /// Enter recovery if a segment is lost (RFC 6675 §5, step 4). `una` is SND.UNA before the ACK.
    /// Return true if cwnd was reduced.
    #[inline(always)]
    pub(super) fn enter_recovery(&mut self, tcb: &mut Tcb, una: Seq, now: Time, tcp: &Tcp) -> bool {
        self.board.any_lost()
            && !matches!(self.state, CaState::Recovery | CaState::Loss)
            && self.begin_recovery(tcb, una, now, tcp)
    }

    /// Enter recovery. Return true if cwnd was reduced.
    #[inline(never)]
    fn begin_recovery(&mut self, tcb: &mut Tcb, una: Seq, now: Time, tcp: &Tcp) -> bool {
        tcb.stats.fast_retransmits += 1;
        let already_reduced = self.state == CaState::Cwr;
        self.arm_undo(tcb);
        tcb.retransmit = true;
        if already_reduced {
            self.state = CaState::Recovery; // cwnd was already reduced for this congestion
            if tcp.details.ecn_reduction_ends == MarkReductionEnds::At {
                self.recovery_point = tcb.max;
            }
            if tcp.recovery.spurious_response == SpuriousResponse::Restore {
                self.tracking.undo.keep_reduction();
            }
            return false;
        }
        self.reduce(tcb, CaState::Recovery, (Congestion::FastRetransmit, una), now, tcp);
        true
    }
}
