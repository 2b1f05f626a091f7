//! What an ACK tells of reordering, with scoreboard: D-SACKs, and what came late.

use net::Seq;

use super::{Phase, Sender, Tracking};
use crate::config::Tcp;
use crate::recovery::board::Delivery;
use crate::recovery::reordering::{ReorderingRules, SackedGrowth, WithoutSack};

impl Sender {
    /// A D-SACK came, in this block of an ACK up to `ack`. Returns whether it has widened RACK's window.
    #[cold]
    pub(super) fn on_dsack(
        &mut self,
        tracking: &mut Tracking,
        d: &Delivery,
        block: (Seq, Seq),
        ack: Seq,
        tcp: &Tcp,
    ) -> bool {
        let Some(board) = &mut tracking.board else { return false };
        if tcp.reordering == ReorderingRules::Rfc8985 {
            return board.rack.on_dsack(ack.max(self.una), self.max);
        }
        let segments = (block.1 - block.0).div_ceil(self.smss);
        if !tracking.reordering.is_credible(segments, self.stats.retransmitted_segments) {
            return false;
        }
        let of_probe = segments == 1 && tracking.tlp.end == Some(block.1);
        if board.rack.reorderings > u16::from(d.late > 0) && !of_probe {
            board.rack.widens_next();
        }
        // tcp_sacktag_one: what was SACKed and had been sent again came both times.
        let late = board.late_by_copy(block);
        self.on_late(tracking, late, tcp);
        false
    }

    /// A duplicate ACK came, without SACK: Linux counts a segment as delivered, but for the one that is missing.
    pub(super) fn count_duplicate(&mut self, tcp: &Tcp) {
        if tcp.without_sack == WithoutSack::Left {
            return;
        }
        let out = (self.max - self.una).div_ceil(self.smss.max(1));
        let over = self.duplicates.limit(out.saturating_sub(1));
        let Some(tracking) = &mut self.tracking else { return };
        if !over {
            tracking.clock.delivered += u64::from(self.smss);
        } else if tcp.reordering == ReorderingRules::Linux {
            tracking.reordering.on_more_duplicates(out, tcp.reordering_max.0 as u32);
        }
    }

    /// Of so many bytes that an ACK acknowledges, without SACK, those that no duplicate told of.
    pub(super) fn untold(&mut self, acked: u32, tcp: &Tcp) -> u32 {
        if tcp.without_sack == WithoutSack::Left || self.duplicates.count() == 0 {
            return acked;
        }
        (self.duplicates.acknowledged(acked.div_ceil(self.smss.max(1))) * self.smss).min(acked)
    }

    /// Whether what is SACKed opens cwnd, as an ACK of new data does.
    pub(super) fn grows_by_sacks(&self, tcp: &Tcp) -> bool {
        tcp.sacked_growth == SackedGrowth::Reordered
            && self.reordering_degree(tcp) > tcp.duplicate_acks.0 as u64
    }

    /// Something that was sent once came so many bytes behind the highest delivered.
    #[cold]
    pub(super) fn on_late(&mut self, tracking: &mut Tracking, bytes: u32, tcp: &Tcp) {
        if tcp.reordering == ReorderingRules::Linux {
            tracking.reordering.on_late(bytes, self.smss, tcp.reordering_max.0 as u32);
        }
    }

    /// A retransmission was for nothing. `una`: SND.UNA before the ACK that tells so. In a recovery Linux counts by how much
    /// the hole was late (tcp_try_undo_partial), and keeps RACK's window for longer after D-SACKs (tcp_try_undo_dsack).
    #[cold]
    pub(super) fn on_spurious(&mut self, tracking: &mut Tracking, una: Seq, tcp: &Tcp) {
        let Some(board) = tracking.board.as_mut().filter(|_| tcp.reordering == ReorderingRules::Linux) else {
            return;
        };
        if tracking.phase == Phase::Recovery && self.una == una {
            board.rack.persists();
        } else if tracking.phase == Phase::Recovery && self.una.before(self.recover) {
            let late = board.rack.late_by(una);
            self.on_late(tracking, late, tcp);
        }
    }
}
