//! Measurement of reordering by a sender with SACK, from D-SACKs and from segments delivered out of
//! order.

use net::Seq;

use super::SackSender;
use crate::config::Tcp;
use crate::recovery::reordering::{ReorderingRules, SackedGrowth};
use crate::recovery::scoreboard::Delivery;
use crate::sender::ca_state::CaState;
use crate::sender::tcb::Tcb;

impl SackSender {
    /// Process the D-SACK `block` of an ACK with the acknowledgement number `ack`. Return true if
    /// the D-SACK widened RACK's reordering window.
    #[cold]
    pub(super) fn on_dsack(
        &mut self,
        tcb: &Tcb,
        delivery: &Delivery,
        block: (Seq, Seq),
        ack: Seq,
        tcp: &Tcp,
    ) -> bool {
        let board = &mut self.board;
        if tcp.recovery.reordering == ReorderingRules::Rfc8985 {
            return board.rack.on_dsack(ack.max(tcb.una), tcb.max);
        }
        let segments = (block.1 - block.0).div_ceil(tcb.smss);
        if !self.tracking.reordering.is_credible(segments, tcb.stats.retransmitted_segments) {
            return false;
        }
        let of_probe = segments == 1 && self.tlp.end == Some(block.1);
        if board.rack.reorderings > u16::from(delivery.late > 0) && !of_probe {
            board.rack.schedule_widening();
        }
        // tcp_sacktag_one: the receiver has both the original and the retransmission of a SACKed
        // segment.
        let late = board.late_by_duplicate(block);
        self.on_late(tcb, late, tcp);
        false
    }

    /// Return true if SACKed data increases cwnd as newly acknowledged data does.
    pub(super) fn grows_by_sacks(&self, tcp: &Tcp) -> bool {
        tcp.details.sacked_growth == SackedGrowth::Reordered
            && self.tracking.reordering.segments() > tcp.recovery.duplicate_acks.0 as u32
    }

    /// Record the late delivery of a segment that was sent only once. `bytes` is the distance from
    /// the segment to the highest delivered byte.
    #[cold]
    pub(super) fn on_late(&mut self, tcb: &Tcb, bytes: u32, tcp: &Tcp) {
        if tcp.recovery.reordering == ReorderingRules::Linux {
            self.tracking.reordering.on_late(bytes, tcb.smss, tcp.recovery.reordering_max.0 as u32);
        }
    }

    /// Record a spurious retransmission. `una` is SND.UNA before the ACK that revealed the
    /// reordering. In a recovery Linux measures the reordering of the hole (tcp_try_undo_partial),
    /// and after D-SACKs it extends the lifetime of RACK's reordering window (tcp_try_undo_dsack).
    #[cold]
    pub(super) fn on_spurious(&mut self, tcb: &Tcb, una: Seq, tcp: &Tcp) {
        if tcp.recovery.reordering != ReorderingRules::Linux || self.state != CaState::Recovery {
            return;
        }
        if tcb.una == una {
            self.board.rack.extend_persistence();
        } else if tcb.una.before(self.recovery_point) {
            let late = self.board.rack.late_by(una);
            self.on_late(tcb, late, tcp);
        }
    }
}
