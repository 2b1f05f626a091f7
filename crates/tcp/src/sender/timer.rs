//! The timer: retransmission, probe, reordering; and what its expiry does.

use units::{Duration, Time, words};

use super::{Cut, Pending, Phase, Sender, Tracking};
use crate::config::{FrtoKind, Tcp};
use crate::congestion::{Congestion, CongestionControl};
use crate::recovery::frto::Frto;
use crate::recovery::reordering::ReorderingRules;
use crate::recovery::tlp;

words! {
    /// What retransmissions of a recovery do to the retransmission timer, which every ACK of new data restarts.
    pub enum FastRetransmitTimer {
        /// The fast retransmit restarts it, later ones do not (4.3BSD-Reno, ns-2).
        Restarts = "restarts",
        /// It runs on (RFC 6298 §5.1).
        RunsOn = "runs-on",
        /// Each of them restarts it (RFC 6675 §6 allows it).
        Each = "each-restarts",
        /// That of the first unacknowledged segment restarts it, and an ACK that SACKs something sent before that (Linux).
        First = "first-restarts",
    }
}

words! {
    /// What a timeout in the middle of a recovery does to ssthresh.
    pub enum TimeoutInRecovery {
        /// It lowers it again: a lost retransmission is a second sign of congestion (RFC 5681 §4.3).
        Cuts = "cuts",
        /// It leaves it as the recovery set it (Linux, tcp_enter_loss).
        Keeps = "keeps",
    }
}

words! {
    /// cwnd after a timeout.
    pub enum LossWindow {
        /// One segment (RFC 5681 §3.1).
        Segment = "segment",
        /// One segment more than is in flight: RACK does not deem lost what was sent within the last round trip (Linux).
        FlightAndSegment = "flight-and-segment",
    }
}

words! {
    /// From when the user timeout counts.
    pub enum UserTimeoutFrom {
        /// From when something was last acknowledged, or sent when nothing was out (RFC 5482 §1).
        Progress = "progress",
        /// From when it was first sent again (Linux).
        FirstRetransmission = "first-retransmission",
    }
}

/// A timer that should have expired while it stood behind another expires so soon.
const SOON: Duration = Duration::from_millis(1);

impl Sender {
    /// When the timer expires, or pacing lets the next segment go.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.tracking {
            Some(tracking) if tracking.held && !self.wait_for_timer => self.timer.min(tracking.pace_at),
            _ => self.timer,
        }
    }

    /// The timer expired. Returns `None` to give up; otherwise whether the window was cut.
    pub fn on_timer(&mut self, now: Time, tcp: &Tcp) -> Option<bool> {
        match self.pending {
            Pending::Rto => {}
            Pending::Persist if self.is_held() && self.is_worth_it(self.rwnd) => {
                self.end_longest_wait();
                return Some(false);
            }
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
                let Some(mut tracking) = self.tracking.take() else { return Some(false) };
                let mut cut = false;
                if self.pending == Pending::Probe {
                    // RFC 8985 §7.3: no probe without a round trip measured since the last.
                    tracking.probe_due = tracking.tlp.may_probe();
                    tracking.rto_from = now;
                    (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
                } else {
                    self.timer = Time::NEVER;
                    let next = self.find_losses(&mut tracking, now, tcp);
                    cut = self.enter_recovery(&mut tracking, self.una, now, tcp);
                    if cut {
                        // The SACK that the timer was set for counts now (Linux, tcp_rack_reo_timeout).
                        self.reduce_further(&mut tracking, f64::from(self.smss), false, tcp);
                    }
                    self.set_timer(&mut tracking, now, next, false, tcp);
                }
                self.tracking = Some(tracking);
                return Some(cut);
            }
        }
        if std::mem::take(&mut self.wait_for_timer) && self.una == self.max {
            self.timer = Time::NEVER;
            return Some(false);
        }
        self.expirations = self.expirations.saturating_add(1);
        if let (Some(tracking), 1) = (&mut self.tracking, self.expirations) {
            tracking.since = match tcp.user_timeout_from {
                UserTimeoutFrom::Progress => Time(now.0.saturating_sub(self.rto.timeout(tcp).0)),
                UserTimeoutFrom::FirstRetransmission => now,
            };
        }
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
            let window = self.at_cut(None, self.una, 0);
            self.cut(now, Congestion::Timeout { again: self.expirations > 1 }, window, tcp);
        }
        self.nxt = self.una;
        self.retransmit = self.rwnd == 0; // a window taken back is probed with what is out (RFC 9293 §3.8.6)
        self.timed.1 = Time::NEVER;
        self.rto.back_off();
        self.set_rto(now, tcp);
        if let Some(tracking) = &mut self.tracking {
            let begins = tracking.frto != Frto::Off || (!again && !in_recovery); // RFC 5682 §2.1: again, from step 1
            tracking.frto = if tcp.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        }
        Some(true)
    }

    fn on_timeout_by_board(&mut self, now: Time, tcp: &Tcp) {
        let Some(mut tracking) = self.tracking.take() else { return };
        let again = tracking.phase == Phase::Loss && self.una.before(self.recover);
        let keeps = tcp.timeout_in_recovery == TimeoutInRecovery::Keeps && self.una.before(self.recover);
        let cut_before = tracking.phase == Phase::Cwr || (tracking.phase == Phase::Recovery && keeps);
        let window = self.reordering_window(&tracking, tcp);
        if tcp.reordering == ReorderingRules::Linux && tracking.phase == Phase::Open {
            let sacked = tracking.board.as_ref().map_or(0, |b| b.sacked_segments());
            tracking.reordering.on_timeout(sacked, tcp.duplicate_acks.0 as u32);
        }
        if !again {
            let in_flight = tracking.board.as_ref().map_or(0, |b| b.counts().3);
            tracking.undo = tracking.undo.begin_again(&self.window(), in_flight);
        }
        let (cwnd, ssthresh) = (f64::from(self.smss), self.ssthresh);
        self.cut(
            now,
            Congestion::Timeout { again: self.expirations > 1 },
            self.at_cut(tracking.board.as_ref(), self.una, 0),
            tcp,
        );
        if cut_before {
            (self.cwnd, self.ssthresh) = (cwnd, ssthresh); // halved for this window of data already
        }
        let begins = tracking.frto != Frto::Off || (!again && tracking.phase != Phase::Recovery);
        tracking.frto = if tcp.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        tracking.phase = Phase::Loss;
        tracking.tlp.end = None;
        tracking.probe_due = false;
        match &mut tracking.board {
            Some(board) if tcp.rack => board.lose_on_timeout(now, window),
            Some(board) => board.lose_all(true),
            None => {}
        }
        if tcp.loss_window == LossWindow::FlightAndSegment && !self.congestion.rules_recovery() {
            self.cwnd += tracking.board.as_ref().map_or(0.0, |b| b.pipe() as f64);
        }
        self.timed.1 = Time::NEVER;
        self.retransmit = true;
        self.rto.back_off();
        tracking.rto_from = now;
        self.tracking = Some(tracking);
        self.pending = Pending::Rto;
        self.set_rto(now, tcp);
    }

    /// Whether data is out for longer than the user timeout.
    fn is_over(&self, now: Time, tcp: &Tcp) -> bool {
        self.user_timeout(tcp).is_some_and(|at| now >= at)
    }

    /// When the user timeout is over.
    fn user_timeout(&self, tcp: &Tcp) -> Option<Time> {
        Some(self.tracking.as_ref()?.since + tcp.user_timeout?)
    }

    /// The timeout, or what is left until the user timeout.
    fn set_rto(&mut self, now: Time, tcp: &Tcp) {
        let at = now + self.rto.timeout(tcp);
        self.timer = at.min(self.user_timeout(tcp).unwrap_or(Time::NEVER));
    }

    /// When the retransmission timer expires, whatever else the one timer is for now. While it is for something else Linux
    /// counts from when the first segment was last sent (tcp_rearm_rto), others from when the timer was last restarted.
    fn rto_expires(&self, tracking: &Tracking, now: Time, tcp: &Tcp) -> Time {
        let other = matches!(self.pending, Pending::Probe | Pending::Reorder);
        let first = tracking.board.as_ref().and_then(|b| b.first());
        let from = match first.filter(|_| other && tcp.fast_retransmit_timer == FastRetransmitTimer::First) {
            Some(first) => first.at,
            None => tracking.rto_from,
        };
        (from + self.rto.timeout(tcp)).max(now + SOON)
    }

    /// The retransmission timer begins again; the timer for reordering goes before it (RFC 8985 §8).
    pub(super) fn restart_rto(&mut self, tracking: &mut Tracking, now: Time, tcp: &Tcp) {
        tracking.rto_from = now;
        if self.pending != Pending::Reorder {
            (self.timer, self.pending) = (self.rto_expires(tracking, now, tcp), Pending::Rto);
        }
    }

    /// Sets the timer after an ACK, or where losses were looked for; `next`: when RACK would find more.
    pub(super) fn set_timer(
        &mut self,
        tracking: &mut Tracking,
        now: Time,
        next: Option<Time>,
        advanced: bool,
        tcp: &Tcp,
    ) {
        let Some(board) = &tracking.board else { return };
        if board.is_empty() {
            if self.pending != Pending::Persist {
                self.timer = Time::NEVER;
            }
            return;
        }
        if self.is_persisting() && !advanced {
            return;
        }
        if advanced {
            tracking.rto_from = now; // RFC 6298 §5.3
        }
        if let Some(next) = next {
            (self.timer, self.pending) = (next.max(now), Pending::Reorder);
        } else if advanced && self.may_probe(tracking, tcp) {
            self.set_probe(tracking, now, now + self.rto.timeout(tcp), tcp);
        } else {
            let repairs =
                self.pending == Pending::Probe && !matches!(tracking.phase, Phase::Open | Phase::Cwr);
            if advanced || self.timer == Time::NEVER || self.pending == Pending::Reorder || repairs {
                (self.timer, self.pending) = (self.rto_expires(tracking, now, tcp), Pending::Rto);
            }
        }
    }

    /// New data went out, of which the scoreboard knows. `runs`: the timer ran before.
    #[inline]
    pub(super) fn time_new_data(&mut self, tracking: &mut Tracking, runs: bool, now: Time, tcp: &Tcp) {
        if !runs {
            tracking.rto_from = now; // RFC 6298 §5.1
        }
        if tcp.tail_loss_probe && self.pending != Pending::Reorder && self.may_probe(tracking, tcp) {
            self.set_probe(tracking, now, self.rto_expires(tracking, now, tcp), tcp);
        }
    }

    /// Whether a probe may be scheduled (RFC 8985 §7.2).
    fn may_probe(&self, tracking: &Tracking, tcp: &Tcp) -> bool {
        tcp.tail_loss_probe && is_quiet(tracking) && tracking.tlp.end.is_none()
    }

    /// Schedules a probe: no later than the retransmission timer expires, whose place it takes (RFC 8985 §7.2).
    fn set_probe(&mut self, tracking: &Tracking, now: Time, rto_expires: Time, tcp: &Tcp) {
        let one = tracking.board.as_ref().is_some_and(|b| b.len() == 1);
        let delay = if one { tcp.tlp_max_ack_delay } else { tcp.tlp_slack };
        let probe = now + tlp::timeout(self.rto.srtt(tcp), delay);
        (self.timer, self.pending) = (probe.min(rto_expires), Pending::Probe);
    }
}

/// Neither a recovery is under way nor anything SACKed or lost.
fn is_quiet(tracking: &Tracking) -> bool {
    matches!(tracking.phase, Phase::Open | Phase::Cwr)
        && tracking.board.as_ref().is_some_and(|b| b.sacked_segments() == 0 && !b.any_lost())
}
