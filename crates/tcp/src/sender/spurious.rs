//! Retransmissions that were not needed: found by F-RTO, Eifel and D-SACK, and taken back.

use units::words;

use net::{Options, Seq};

use super::{Arriving, Cut, Phase, Sender, Tracking};
use crate::config::{FrtoKind, Tcp};
use crate::congestion::CongestionControl;
use crate::recovery::board::Delivery;
use crate::recovery::eifel::Undo;
use crate::recovery::frto::{self, Frto, SackedAck};

words! {
    /// Answers to a retransmission that was spurious.
    pub enum SpuriousResponse {
        /// The window is what is in flight, and a little more; ssthresh what was in flight, or as it was (RFC 4015).
        Eifel = "eifel",
        /// The window and ssthresh are as they were (Linux).
        Restore = "restore",
        /// Only what would be sent again for nothing is not.
        None = "none",
    }
}

impl Sender {
    pub(super) fn arm_undo(&mut self, tcp: &Tcp) {
        let window = self.window();
        if (tcp.eifel || tcp.frto != FrtoKind::Off)
            && let Some(tracking) = &mut self.tracking
        {
            tracking.undo = Undo::begin(&window);
        }
    }

    /// Tests whether the last retransmission was spurious: F-RTO and Eifel, without scoreboard. Returns
    /// whether the ACK is dealt with.
    #[inline(never)]
    pub(super) fn test_timeout(
        &mut self,
        ack: Seq,
        acked: Option<u32>,
        echo: bool,
        options: &Options,
        tcp: &Tcp,
    ) -> bool {
        let advances = acked.is_some();
        let Some(mut tracking) = self.tracking.take() else { return false };
        let can_send = self.unsent > 0 && self.room_in_window() > 0;
        let reply = options.timestamps.map(|t| t.1);
        let spurious = if tcp.eifel && advances && !echo && self.proves(&tracking, ack, reply) {
            true
        } else {
            let was = tracking.frto;
            let whole = was != Frto::Retransmitted || !ack.before(self.nxt); // all that was sent again
            match tracking.frto.on_ack(advances && whole, ack, self.recover, can_send) {
                frto::Verdict::Nothing => false,
                frto::Verdict::Lost => {
                    if was == Frto::SentNew {
                        // Step 3a: what was not acknowledged goes out again, three segments at first.
                        self.nxt = self.una;
                        self.inflation = 0;
                        self.cwnd = self.cwnd.max(3.0 * f64::from(self.smss));
                    }
                    false
                }
                frto::Verdict::SendNew => {
                    self.nxt = self.max;
                    // Step 2b: up to two new segments.
                    self.inflation = ((self.max - self.una) + 2 * self.smss).saturating_sub(self.cwnd as u32);
                    self.tracking = Some(tracking);
                    return true;
                }
                frto::Verdict::Spurious => true,
            }
        };
        if spurious {
            self.take_back(&mut tracking, acked.unwrap_or(0), tcp);
            self.nxt = self.max;
            self.duplicates.end();
            self.inflation = 0;
            self.retransmit = false;
        }
        self.tracking = Some(tracking);
        spurious
    }

    /// Whether the echo proves that the original arrived (RFC 3522 §3.2, step 5): not if everything is
    /// acknowledged, unless the receiver is known to send D-SACK.
    fn proves(&self, tracking: &Tracking, ack: Seq, reply: Option<u32>) -> bool {
        tracking.undo.original_arrived(reply) && (ack.before(self.max) || tracking.saw_dsack)
    }

    /// What the last recovery changed is taken back (RFC 4015 §3.2): the window as it was, but no burst.
    fn take_back(&mut self, tracking: &mut Tracking, acked: u32, tcp: &Tcp) {
        self.stats.undone += 1;
        if tcp.spurious_response != SpuriousResponse::None {
            let window = self.window();
            self.congestion.undo(&window);
            let restores = tcp.spurious_response == SpuriousResponse::Restore;
            let before = if restores { tracking.undo.ssthresh } else { tracking.undo.pipe_prev() };
            self.ssthresh = self.ssthresh.max(before);
            self.cwnd = match tcp.spurious_response {
                SpuriousResponse::Restore => self.cwnd.max(tracking.undo.cwnd),
                _ => {
                    let first = tcp.initial_window.bytes(window.smss);
                    (window.flight + f64::from(acked).min(first)).max(window.smss) // RFC 4015 §3.4
                }
            };
        }
        self.last_cut = Cut::None;
        self.recover = Seq(self.una.0.wrapping_sub(1));
        self.rto.end_back_off();
        tracking.undo.armed = false;
        tracking.frto = Frto::Off;
        tracking.phase = Phase::Open;
    }

    pub(super) fn was_spurious(
        &self,
        tracking: &mut Tracking,
        d: &Delivery,
        advanced: bool,
        options: &Options,
    ) -> bool {
        let by_dsack = d.dsack && tracking.undo.on_duplicate();
        tracking.saw_dsack |= d.dsack;
        by_dsack || (advanced && self.proves(tracking, self.una, options.timestamps.map(|t| t.1)))
    }

    pub(super) fn take_back_by_board(&mut self, tracking: &mut Tracking, acked: u32, tcp: &Tcp) {
        self.take_back(tracking, acked, tcp);
        if let Some(board) = &mut tracking.board {
            board.find_again();
        }
        self.retransmit = false;
    }

    /// F-RTO with SACK (RFC 5682 §3.1), and Linux's short cut: what was sent before the timeout, and only then, has arrived.
    pub(super) fn test_by_board(
        &mut self,
        tracking: &mut Tracking,
        d: &Delivery,
        arriving: &Arriving,
        advances: bool,
        tcp: &Tcp,
    ) {
        tracking.frto_may_send = 0;
        if tracking.frto == Frto::Off {
            return;
        }
        let Arriving { segment, options, .. } = arriving;
        let later = |seq: Seq| seq.after(self.recover);
        if tcp.frto == FrtoKind::Original && d.original.is_some_and(|end| !later(end)) {
            return self.take_back_by_board(tracking, d.delivered, tcp);
        }
        let was = tracking.frto;
        let verdict = tracking.frto.on_sacked_ack(SackedAck {
            advances,
            duplicate: d.sacked || (segment.len == 0 && segment.window == self.rwnd),
            delivers: d.delivered > 0,
            reaches_recover: !segment.ack.before(self.recover),
            passes_recover: later(segment.ack) || options.sack().iter().any(|block| later(block.1)),
            can_send: self.unsent > 0 && self.room_in_window() > 0,
        });
        let smss = f64::from(self.smss);
        match verdict {
            frto::Verdict::Nothing => {}
            frto::Verdict::SendNew => tracking.frto_may_send = 2,
            frto::Verdict::Lost if was == Frto::SentNew => self.cwnd = 3.0 * smss, // step 3a
            frto::Verdict::Lost => self.cwnd = self.cwnd.min(2.0 * smss),          // step 2a
            frto::Verdict::Spurious => self.take_back_by_board(tracking, d.delivered, tcp),
        }
    }
}
