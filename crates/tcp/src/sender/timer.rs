//! The timer: retransmission, probe, reordering; and what its expiry does.

use units::{Duration, Time};

use super::{Cut, More, Pending, Phase, Sender};
use crate::config::{FrtoKind, Tcp};
use crate::congestion::Congestion;
use crate::recovery::eifel::Undo;
use crate::recovery::frto::Frto;
use crate::recovery::tlp::{self, Tlp};

impl Sender {
    /// When the timer expires, or pacing lets the next segment go.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.more {
            Some(more) if more.held && !self.wait_for_timer => self.timer.min(more.pace_at),
            _ => self.timer,
        }
    }

    /// The timer expired. Returns `None` to give up; otherwise whether the window was cut.
    pub fn on_timer(&mut self, now: Time, tcp: &Tcp) -> Option<bool> {
        match self.pending {
            Pending::Rto => {}
            Pending::Persist => {
                self.expirations = self.expirations.saturating_add(1);
                if u64::from(self.expirations) > tcp.retries {
                    return None; // probes that are answered go on for ever (RFC 9293 §3.8.6.1), others do not
                }
                self.rto.back_off();
                self.timer = now + self.rto.timeout(tcp);
                self.retransmit = true;
                return Some(false);
            }
            Pending::Probe | Pending::Reorder => {
                let Some(mut more) = self.more.take() else { return Some(false) };
                let mut cut = false;
                if self.pending == Pending::Probe {
                    more.probe_due = true;
                    (self.timer, self.pending) = (self.rto_at(&more, now, tcp), Pending::Rto);
                } else {
                    self.timer = Time::NEVER;
                    let next = self.find_losses(&mut more, now, tcp);
                    cut = self.enter_recovery(&mut more, now, tcp);
                    if cut {
                        // The SACK that the timer was set for counts now (Linux, tcp_rack_reo_timeout).
                        self.reduce_further(&mut more, f64::from(self.smss), false, tcp);
                    }
                    self.set_timer(&mut more, now, next, false, tcp);
                }
                self.more = Some(more);
                return Some(cut);
            }
        }
        if std::mem::take(&mut self.wait_for_timer) && self.una == self.max {
            self.timer = Time::NEVER;
            return Some(false);
        }
        self.expirations = self.expirations.saturating_add(1);
        if u64::from(self.expirations) > tcp.retries || self.is_over(now, tcp) {
            return None;
        }
        self.stats.timeouts += 1;
        if self.board().is_some() {
            self.on_timeout_by_board(now, tcp);
            return Some(true);
        }
        let in_recovery = self.duplicates.end();
        self.inflation = 0;
        let in_same_window = !self.una.after(self.recover);
        let again = self.last_cut == Cut::Timeout && in_same_window;
        if !again {
            self.arm_undo(tcp);
        }
        if self.last_cut == Cut::Ecn && in_same_window {
            // ssthresh was halved for this window of data already.
            (self.cwnd, self.last_cut, self.recover) = (f64::from(self.smss), Cut::Timeout, self.max);
        } else {
            self.cut(now, Congestion::Timeout { again }, tcp);
        }
        self.nxt = self.una;
        self.retransmit = self.rwnd == 0; // a window taken back is probed with what is out (RFC 9293 §3.8.6)
        self.timed.1 = Time::NEVER;
        self.rto.back_off();
        self.set_rto(now, tcp);
        if let Some(more) = &mut self.more {
            let begins = more.frto != Frto::Off || (!again && !in_recovery); // RFC 5682 §2.1: again, from step 1
            more.frto = if tcp.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        }
        Some(true)
    }

    fn on_timeout_by_board(&mut self, now: Time, tcp: &Tcp) {
        let Some(mut more) = self.more.take() else { return };
        let again = more.phase == Phase::Loss && self.una.before(self.recover);
        let cut_before = more.phase == Phase::Cwr;
        let window = self.reordering_window(&more, tcp);
        if !again {
            more.undo = Undo::begin(&self.window());
        }
        let (cwnd, ssthresh) = (f64::from(self.smss), self.ssthresh);
        self.cut(now, Congestion::Timeout { again }, tcp);
        if cut_before {
            (self.cwnd, self.ssthresh) = (cwnd, ssthresh); // halved for this window of data already
        }
        let begins = more.frto != Frto::Off || (!again && more.phase != Phase::Recovery);
        more.frto = if tcp.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        more.phase = Phase::Loss;
        more.tlp = Tlp::default();
        more.probe_due = false;
        match &mut more.board {
            Some(board) if tcp.rack => board.lose_on_timeout(now, window),
            Some(board) => board.lose_all(true),
            None => {}
        }
        self.timed.1 = Time::NEVER;
        self.retransmit = true;
        self.rto.back_off();
        (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        self.more = Some(more);
    }

    /// Whether data is out for longer than the user timeout.
    fn is_over(&self, now: Time, tcp: &Tcp) -> bool {
        match (tcp.user_timeout, &self.more) {
            (Some(most), Some(more)) => now >= more.since + most,
            _ => false,
        }
    }

    /// The timeout, or what is left until the user timeout.
    fn set_rto(&mut self, now: Time, tcp: &Tcp) {
        let at = now + self.rto.timeout(tcp);
        self.timer = match (tcp.user_timeout, &self.more) {
            (Some(most), Some(more)) => at.min(more.since + most),
            _ => at,
        };
    }

    /// When the retransmission timer would expire, counted from when the first segment was sent.
    fn rto_at(&self, more: &More, now: Time, tcp: &Tcp) -> Time {
        let sent = more.board.as_ref().and_then(|b| b.first()).map_or(now, |s| s.at);
        (sent + self.rto.timeout(tcp)).max(now + Duration::from_millis(1))
    }

    /// Sets the timer after an ACK or when a segment went out.
    pub(super) fn set_timer(
        &mut self,
        more: &mut More,
        now: Time,
        next: Option<Time>,
        advanced: bool,
        tcp: &Tcp,
    ) {
        let Some(board) = &more.board else { return };
        if board.is_empty() {
            if self.pending != Pending::Persist {
                self.timer = Time::NEVER;
            }
            return;
        }
        if self.is_persisting() && !advanced {
            return;
        }
        if let Some(next) = next {
            (self.timer, self.pending) = (next.max(now), Pending::Reorder);
            return;
        }
        let restart = advanced || self.timer == Time::NEVER || self.pending != Pending::Rto;
        if restart {
            let at = if advanced { now + self.rto.timeout(tcp) } else { self.rto_at(more, now, tcp) };
            (self.timer, self.pending) = (at, Pending::Rto);
        }
        let quiet = matches!(more.phase, Phase::Open | Phase::Cwr)
            && board.sacked_segments() == 0
            && !board.any_lost();
        if tcp.tail_loss_probe && quiet && more.tlp.end.is_none() && restart {
            let probe = now
                + tlp::timeout(
                    self.rto.srtt(tcp),
                    if board.len() == 1 { tcp.tlp_max_ack_delay } else { tlp::SLACK },
                );
            // RFC 8985 §7.2: no later than the retransmission timer, whose place it takes then.
            (self.timer, self.pending) = (probe.min(self.timer), Pending::Probe);
        }
    }
}
