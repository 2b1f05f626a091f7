//! Detection of spurious retransmissions by a sender with SACK: F-RTO (RFC 5682 §3.1), Eifel and
//! D-SACK.

use net::{Options, Seq};

use super::SackSender;
use super::losses::keeps_reduction;
use crate::config::{FrtoKind, Tcp};
use crate::recovery::frto::{self, Frto, SackedAck};
use crate::recovery::scoreboard::Delivery;
use crate::sender::arriving::ArrivingAck;
use crate::sender::ca_state::CaState;
use crate::sender::changes::TIMEOUT_GENUINE;
use crate::sender::tcb::Tcb;

impl SackSender {
    /// Return true if an ACK proves that the last retransmission was spurious, by a D-SACK or by
    /// the timestamp of the original (RFC 3522 §3.2, step 5). If the ACK acknowledges all data, the
    /// timestamp proves that the retransmission was spurious only if the receiver has sent D-SACKs
    /// before.
    fn was_spurious(&mut self, tcb: &Tcb, delivery: &Delivery, advanced: bool, options: &Options) -> bool {
        let by_dsack = delivery.dsack && self.tracking.undo.on_duplicate();
        self.saw_dsack |= delivery.dsack;
        let proves = advanced && (tcb.una.before(tcb.max) || self.saw_dsack);
        by_dsack || (proves && self.tracking.undo.original_arrived(options.timestamps.map(|t| t.1)))
    }

    /// Undo the last reduction of cwnd if the ACK proves that the retransmission was spurious (RFC
    /// 4015 §3). If the ACK has ECE, the reduction is not undone (RFC 4015 §3.1, step 1). For an
    /// ACK with ECE, Linux nevertheless marks the lost segments as not lost. `una` is SND.UNA
    /// before the ACK.
    #[inline(always)]
    pub(super) fn undo_spurious(
        &mut self,
        tcb: &mut Tcb,
        delivery: &Delivery,
        arriving: &ArrivingAck,
        una: Seq,
        tcp: &Tcp,
    ) {
        let echo = arriving.feedback.echo;
        let keeps = keeps_reduction(echo, tcp);
        if keeps {
            self.tracking.undo.keep_reduction();
        }
        let tests = tcp.recovery.eifel && (!echo || keeps);
        if tests && self.was_spurious(tcb, delivery, tcb.una != una, arriving.options) {
            self.on_spurious(tcb, una, tcp);
            self.undo_reduction(tcb, delivery.delivered, tcp);
        }
    }

    /// Undo the last reduction, and mark all segments as not lost.
    pub(super) fn undo_reduction(&mut self, tcb: &mut Tcb, acked: u32, tcp: &Tcp) {
        let window = self.window(tcb);
        tcb.undo_reduction(&mut self.tracking, &window, acked, tcp);
        self.recovery_point = Seq(tcb.una.0.wrapping_sub(1));
        self.state = CaState::Open;
        self.board.undo_losses();
    }

    /// Apply F-RTO to an ACK that arrives after a timeout. Linux also detects a spurious timeout if
    /// an ACK delivers a segment that was sent before the timeout and not retransmitted afterwards.
    pub(super) fn test_timeout(
        &mut self,
        tcb: &mut Tcb,
        delivery: &Delivery,
        arriving: &ArrivingAck,
        advances: bool,
        tcp: &Tcp,
    ) {
        self.frto_may_send = 0;
        if self.tracking.frto == Frto::Off {
            return;
        }
        let ArrivingAck { segment, options, .. } = arriving;
        let later = |seq: Seq| seq.after(self.recovery_point);
        if tcp.recovery.frto == FrtoKind::Original && delivery.original.is_some_and(|end| !later(end)) {
            return self.undo_reduction(tcb, delivery.delivered, tcp);
        }
        let was = self.tracking.frto;
        let verdict = self.tracking.frto.on_sacked_ack(SackedAck {
            advances,
            duplicate: delivery.sacked || (segment.len == 0 && segment.window == tcb.rwnd),
            delivers: delivery.delivered > 0,
            reaches_recover: !segment.ack.before(self.recovery_point),
            passes_recover: later(segment.ack) || options.sack().iter().any(|block| later(block.1)),
            can_send: tcb.unsent > 0 && tcb.usable_window() > 0,
        });
        let (smss, before) = (f64::from(tcb.smss), tcb.windows());
        match verdict {
            frto::Verdict::Nothing => {}
            frto::Verdict::SendNew => self.frto_may_send = 2,
            // In step 3a of RFC 5682 §3.1, cwnd becomes three segments.
            frto::Verdict::Lost if was == Frto::SentNew => tcb.cwnd = 3.0 * smss,
            // In step 2a of RFC 5682 §3.1, cwnd becomes at most two segments.
            frto::Verdict::Lost => tcb.cwnd = tcb.cwnd.min(2.0 * smss),
            frto::Verdict::Spurious => return self.undo_reduction(tcb, delivery.delivered, tcp),
        }
        tcb.record(&TIMEOUT_GENUINE, before, None);
    }
}
