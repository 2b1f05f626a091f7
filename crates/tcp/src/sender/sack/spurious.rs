//! Retransmissions that were not needed, with scoreboard: F-RTO (RFC 5682 §3.1), Eifel and D-SACK.

use net::{Options, Seq};

use super::SackSender;
use super::losses::keeps_reduction;
use crate::config::{FrtoKind, Tcp};
use crate::recovery::frto::{self, Frto, SackedAck};
use crate::recovery::scoreboard::Delivery;
use crate::sender::arriving::ArrivingAck;
use crate::sender::ca_state::CaState;
use crate::sender::tcb::Tcb;

impl SackSender {
    /// Whether an ACK proves that the last retransmission was for nothing: by D-SACKs, or by an echo of the original (RFC 3522 §3.2,
    /// step 5), but if everything is acknowledged only where the receiver is known to send D-SACK.
    fn was_spurious(&mut self, tcb: &Tcb, d: &Delivery, advanced: bool, options: &Options) -> bool {
        let by_dsack = d.dsack && self.tracking.undo.on_duplicate();
        self.saw_dsack |= d.dsack;
        let proves = advanced && (tcb.una.before(tcb.max) || self.saw_dsack);
        by_dsack || (proves && self.tracking.undo.original_arrived(options.timestamps.map(|t| t.1)))
    }

    /// Undo the last recovery if the ACK proves it spurious (RFC 4015 §3). Under ECE the RFC does not
    /// (§3.1, step 1); Linux takes back the losses and keeps the reduction. `una`: SND.UNA before the ACK.
    #[inline(always)]
    pub(super) fn undo_spurious(
        &mut self,
        tcb: &mut Tcb,
        d: &Delivery,
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
        if tests && self.was_spurious(tcb, d, tcb.una != una, arriving.options) {
            self.on_spurious(tcb, una, tcp);
            self.undo_reduction(tcb, d.delivered, tcp);
        }
    }

    /// What the last recovery changed is taken back, and nothing is lost any more.
    pub(super) fn undo_reduction(&mut self, tcb: &mut Tcb, acked: u32, tcp: &Tcp) {
        let window = self.window(tcb);
        tcb.undo_reduction(&mut self.tracking, &window, acked, tcp);
        self.recovery_point = Seq(tcb.una.0.wrapping_sub(1));
        self.state = CaState::Open;
        self.board.find_again();
    }

    /// F-RTO, and Linux's short cut: what was sent before the timeout, and only then, has arrived.
    pub(super) fn test_timeout(
        &mut self,
        tcb: &mut Tcb,
        d: &Delivery,
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
        if tcp.recovery.frto == FrtoKind::Original && d.original.is_some_and(|end| !later(end)) {
            return self.undo_reduction(tcb, d.delivered, tcp);
        }
        let was = self.tracking.frto;
        let verdict = self.tracking.frto.on_sacked_ack(SackedAck {
            advances,
            duplicate: d.sacked || (segment.len == 0 && segment.window == tcb.rwnd),
            delivers: d.delivered > 0,
            reaches_recover: !segment.ack.before(self.recovery_point),
            passes_recover: later(segment.ack) || options.sack().iter().any(|block| later(block.1)),
            can_send: tcb.unsent > 0 && tcb.usable_window() > 0,
        });
        let smss = f64::from(tcb.smss);
        match verdict {
            frto::Verdict::Nothing => {}
            frto::Verdict::SendNew => self.frto_may_send = 2,
            frto::Verdict::Lost if was == Frto::SentNew => tcb.cwnd = 3.0 * smss, // step 3a
            frto::Verdict::Lost => tcb.cwnd = tcb.cwnd.min(2.0 * smss),           // step 2a
            frto::Verdict::Spurious => self.undo_reduction(tcb, d.delivered, tcp),
        }
    }
}
