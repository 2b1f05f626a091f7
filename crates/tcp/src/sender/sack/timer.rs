//! The timer of a sender with SACK, which serves retransmission, tail loss probes and RACK's
//! reordering window.

use units::{Duration, Time};

use super::SackSender;
use crate::config::{FastRetransmitTimer, FrtoKind, LossWindow, SackAfterTimeout, Tcp, TimeoutInRecovery};
use crate::congestion::{Congestion, CongestionControl};
use crate::recovery::frto::Frto;
use crate::recovery::reordering::ReorderingRules;
use crate::recovery::tlp;
use crate::sender::ca_state::CaState;
use crate::sender::tcb::{Tcb, TimerPurpose};

/// Minimum time for which the timer is set if the RTO has already expired.
const MIN_DELAY: Duration = Duration::from_millis(1);

impl SackSender {
    /// Process the expiry of the timer while it serves a tail loss probe.
    pub fn on_probe_timer(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) {
        if tcp.rto.fast_retransmit == FastRetransmitTimer::First && self.tlp.end.is_some() {
            // Linux, tcp_send_loss_probe: at most one tail loss probe is in flight, and the RTO
            // counts from the transmission of the first segment.
            (tcb.timer, tcb.timer_purpose) = (self.rto_expires(tcb, now, tcp), TimerPurpose::Rto);
            return;
        }
        // RFC 8985 §7.3: a probe requires a new round-trip time since the last probe.
        self.probe_due = self.tlp.may_probe();
        self.rto_from = now;
        tcb.restart_timer(now, tcp);
    }

    /// Process the expiry of RACK's reordering window, after which unSACKed segments are lost.
    /// Return true if cwnd was reduced.
    pub fn on_reordering_timer(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> bool {
        tcb.timer = Time::NEVER;
        let next = self.find_losses(tcb, now, tcp);
        let reduced = self.enter_recovery(tcb, tcb.una, now, tcp);
        if reduced {
            // The SACK for which the timer was set counts as one delivered segment (Linux,
            // tcp_rack_reo_timeout).
            self.reduce_further(tcb, f64::from(tcb.smss), false, tcp);
        }
        self.set_timer(tcb, now, next, false, tcp);
        reduced
    }

    /// Process the expiry of the retransmission timer.
    pub fn on_timeout(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) {
        let repeated = self.state == CaState::Loss && tcb.una.before(self.recovery_point);
        let keeps_ssthresh = tcp.details.timeout_in_recovery == TimeoutInRecovery::Keeps
            && tcb.una.before(self.recovery_point);
        let already_reduced =
            self.state == CaState::Cwr || (self.state == CaState::Recovery && keeps_ssthresh);
        let window = self.reordering_window(tcb, tcp);
        if tcp.recovery.reordering == ReorderingRules::Linux && self.state == CaState::Open {
            self.tracking
                .reordering
                .on_timeout(self.board.sacked_segments(), tcp.recovery.duplicate_acks.0 as u32);
        }
        if !repeated {
            self.arm_undo(tcb);
        }
        let before = tcb.windows();
        let (cwnd, ssthresh) = (f64::from(tcb.smss), tcb.ssthresh);
        self.reduce_cwnd(tcb, Congestion::Timeout { repeated: tcb.expirations > 1 }, (tcb.una, 0), now, tcp);
        if already_reduced {
            // the sender has already reduced cwnd in this window of data
            (tcb.cwnd, tcb.ssthresh) = (cwnd, ssthresh);
        }
        let begins = self.tracking.frto != Frto::Off || (!repeated && self.state != CaState::Recovery);
        self.tracking.frto =
            if tcp.recovery.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        self.state = CaState::Loss;
        self.tlp.end = None;
        self.probe_due = false;
        if tcp.recovery.rack {
            self.board.lose_on_timeout(now, window);
        } else {
            self.board.lose_all(tcp.details.sack_after_timeout == SackAfterTimeout::Forgotten);
        }
        if tcp.cwnd.loss_window == LossWindow::FlightAndSegment && !tcb.congestion.governs_recovery() {
            tcb.cwnd += self.board.pipe() as f64;
        }
        tcb.record_response(Congestion::Timeout { repeated: false }, before);
        tcb.retransmit = true;
        tcb.rto.back_off();
        self.rto_from = now;
        tcb.timer_purpose = TimerPurpose::Rto;
        tcb.set_rto(now, Some(&self.tracking), tcp);
    }

    /// Return the time at which the RTO expires, even while the timer serves a tail loss probe or
    /// RACK's reordering window. While the timer serves a tail loss probe or RACK's reordering
    /// window, Linux counts the RTO from the last transmission of the first segment
    /// (tcp_rearm_rto). While the timer serves retransmission, the RTO counts from the last restart
    /// of the timer.
    #[inline(always)]
    fn rto_expires(&self, tcb: &Tcb, now: Time, tcp: &Tcp) -> Time {
        let other = matches!(tcb.timer_purpose, TimerPurpose::Probe | TimerPurpose::Reorder);
        let first = self.board.first();
        let from = match first.filter(|_| other && tcp.rto.fast_retransmit == FastRetransmitTimer::First) {
            Some(first) => first.at,
            None => self.rto_from,
        };
        (from + tcb.rto.timeout(tcp)).max(now + MIN_DELAY)
    }

    /// Restart the retransmission timer, except while the timer serves RACK's reordering window
    /// (RFC 8985 §8).
    pub(super) fn restart_rto(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) {
        self.rto_from = now;
        if tcb.timer_purpose != TimerPurpose::Reorder {
            (tcb.timer, tcb.timer_purpose) = (self.rto_expires(tcb, now, tcp), TimerPurpose::Rto);
        }
    }

    /// Set the timer after an ACK or after loss detection. `next` is the time at which RACK would
    /// detect more losses without another ACK.
    #[inline(always)]
    pub(super) fn set_timer(
        &mut self,
        tcb: &mut Tcb,
        now: Time,
        next: Option<Time>,
        advanced: bool,
        tcp: &Tcp,
    ) {
        self.probe_set = Time::NEVER;
        if self.board.is_empty() {
            if tcb.timer_purpose != TimerPurpose::Persist {
                tcb.timer = Time::NEVER;
            }
            return;
        }
        if tcb.is_persisting() && !advanced {
            return;
        }
        if advanced {
            self.rto_from = now; // RFC 6298 §5.3: an ACK of new data restarts the RTO
        }
        if let Some(next) = next {
            (tcb.timer, tcb.timer_purpose) =
                ((next + tcp.recovery.timer_slack).max(now), TimerPurpose::Reorder);
        } else if advanced && self.may_probe(tcp) {
            self.set_probe(tcb, now, now + tcb.rto.timeout(tcp), tcp);
        } else {
            let repairs = tcb.timer_purpose == TimerPurpose::Probe
                && !matches!(self.state, CaState::Open | CaState::Cwr);
            if advanced || tcb.timer == Time::NEVER || tcb.timer_purpose == TimerPurpose::Reorder || repairs {
                (tcb.timer, tcb.timer_purpose) = (self.rto_expires(tcb, now, tcp), TimerPurpose::Rto);
            }
        }
    }

    /// Set the timer after new data was sent and added to the scoreboard. `runs` is true if the
    /// timer was running before the new data was sent.
    #[inline(always)]
    pub(super) fn time_new_data(&mut self, tcb: &mut Tcb, runs: bool, now: Time, tcp: &Tcp) {
        if !runs {
            self.rto_from = now; // RFC 6298 §5.1: the first data in flight starts the RTO
        }
        if self.probe_set == now && tcb.timer_purpose == TimerPurpose::Probe {
            debug_assert_eq!(tcb.timer, self.probe_time(tcb, now, self.probe_limit(tcb, now, tcp), tcp));
            return; // the time, the round-trip times and the first segment are unchanged
        }
        if tcp.recovery.tail_loss_probe && tcb.timer_purpose != TimerPurpose::Reorder && self.may_probe(tcp) {
            self.set_probe(tcb, now, self.probe_limit(tcb, now, tcp), tcp);
            self.probe_set = if self.board.len() > 1 { now } else { Time::NEVER };
        }
    }

    /// Return the time at which the RTO expires, because a tail loss probe after new data must not
    /// be later than this time. For a tail loss probe, Linux counts the RTO from the transmission
    /// of the first segment, and ignores an RTO that has already expired (tcp_schedule_loss_probe).
    fn probe_limit(&self, tcb: &Tcb, now: Time, tcp: &Tcp) -> Time {
        match self.board.first() {
            Some(first) if tcp.rto.fast_retransmit == FastRetransmitTimer::First => {
                let expires = first.at + tcb.rto.timeout(tcp);
                if expires > now { expires } else { Time::NEVER }
            }
            _ => self.rto_expires(tcb, now, tcp),
        }
    }

    /// Return true if a tail loss probe may be scheduled (RFC 8985 §7.2): outside recovery, without
    /// SACKed or lost segments, and without a probe in flight. While Linux reduces cwnd for a mark,
    /// SACKed segments do not prevent a tail loss probe, and Linux schedules the next probe while a
    /// probe is in flight (tcp_schedule_loss_probe).
    fn may_probe(&self, tcp: &Tcp) -> bool {
        if !tcp.recovery.tail_loss_probe {
            return false;
        }
        let nothing_missing = self.board.sacked_segments() == 0 && !self.board.any_lost();
        let linux = tcp.rto.fast_retransmit == FastRetransmitTimer::First;
        match self.state {
            CaState::Open => nothing_missing && (linux || self.tlp.end.is_none()),
            CaState::Cwr => linux || (nothing_missing && self.tlp.end.is_none()),
            _ => false,
        }
    }

    /// Set the timer for a tail loss probe.
    fn set_probe(&self, tcb: &mut Tcb, now: Time, rto_expires: Time, tcp: &Tcp) {
        (tcb.timer, tcb.timer_purpose) = (self.probe_time(tcb, now, rto_expires, tcp), TimerPurpose::Probe);
    }

    /// Return the time of a tail loss probe, which is not later than the expiry of the RTO that the
    /// probe replaces (RFC 8985 §7.2).
    fn probe_time(&self, tcb: &Tcb, now: Time, rto_expires: Time, tcp: &Tcp) -> Time {
        let delay = if self.board.len() == 1 { tcp.recovery.max_ack_delay } else { tcp.recovery.timer_slack };
        (now + tlp::timeout(tcb.rto.srtt(tcp), delay)).min(rto_expires)
    }
}
