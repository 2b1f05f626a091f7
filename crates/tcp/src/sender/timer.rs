//! Functions that set the retransmission timer and process its expiry.

use units::{Duration, Time};

use super::tcb::{Tcb, TimerPurpose};
use super::tracking::Tracking;
use super::{Kind, Sender};
use crate::config::{BackoffEnds, Tcp, UserTimeoutFrom};

impl Tcb {
    /// Send the next segment only after the retransmission timer expires, because cwnd is one
    /// segment and the receiver reports marks. If the receiver reports a new mark, the sender
    /// restarts the retransmission timer (RFC 3168 §6.1.2).
    #[cold]
    pub(super) fn wait_one_timeout(&mut self, now: Time, marked: bool, tcp: &Tcp) {
        if marked || self.timer == Time::NEVER {
            self.restart_timer(now, tcp);
        }
    }

    /// End the exponential backoff because new data is acknowledged, even without a new round-trip
    /// time (RFC 6298 §5.7).
    #[inline]
    pub(super) fn end_back_off_by_ack(&mut self, tcp: &Tcp) {
        if self.rto.doublings() > 0 && tcp.rto.backoff_ends == BackoffEnds::NewAck {
            self.rto.end_back_off();
        }
    }

    /// Restart the retransmission timer.
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Time, tcp: &Tcp) {
        (self.timer, self.timer_purpose) = (now + self.rto.timeout(tcp), TimerPurpose::Rto);
    }

    /// Restart the retransmission timer if data is in flight; otherwise stop it.
    #[inline]
    pub(super) fn restart_timer_if_in_flight(&mut self, now: Time, rto: Duration) {
        (self.timer, self.timer_purpose) =
            (if self.una == self.max { Time::NEVER } else { now + rto }, TimerPurpose::Rto);
    }

    /// Set the retransmission timer to the RTO, or to the end of the user timeout if the user
    /// timeout ends first.
    pub(super) fn set_rto(&mut self, now: Time, tracking: Option<&Tracking>, tcp: &Tcp) {
        let at = now + self.rto.timeout(tcp);
        self.timer = at.min(user_timeout(tracking, tcp).unwrap_or(Time::NEVER));
    }
}

impl Sender {
    /// Return the earlier of the timer's expiry and the time at which pacing permits the next
    /// segment.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.tcb.pacing_holds && !self.tcb.wait_for_timer { self.paced_deadline() } else { self.tcb.timer }
    }

    /// Return the deadline of a sender that pacing delays.
    #[inline(never)]
    fn paced_deadline(&self) -> Time {
        self.kind.tracking().map_or(self.tcb.timer, |tracking| self.tcb.timer.min(tracking.pace_at))
    }

    /// Process an expiry of the timer. Return `None` to abort the connection; otherwise return true
    /// if cwnd was reduced.
    pub fn on_timer(&mut self, now: Time, tcp: &Tcp) -> Option<bool> {
        let tcb = &mut self.tcb;
        match (tcb.timer_purpose, &mut self.kind) {
            (TimerPurpose::Persist, _) => return tcb.on_persist_timer(now, tcp),
            (TimerPurpose::Probe, Kind::Sack(sender)) => {
                sender.on_probe_timer(tcb, now, tcp);
                return Some(false);
            }
            (TimerPurpose::Reorder, Kind::Sack(sender)) => {
                return Some(sender.on_reordering_timer(tcb, now, tcp));
            }
            _ => {}
        }
        if std::mem::take(&mut tcb.wait_for_timer) && tcb.una == tcb.max {
            tcb.timer = Time::NEVER;
            return Some(false);
        }
        tcb.expirations = tcb.expirations.saturating_add(1);
        let mut tracking = self.kind.tracking_mut();
        if let (Some(tracking), 1) = (&mut tracking, tcb.expirations) {
            tracking.user_timeout_start = match tcp.connection.user_timeout_from {
                UserTimeoutFrom::Progress => Time(now.0.saturating_sub(tcb.rto.timeout(tcp).0)),
                UserTimeoutFrom::FirstRetransmission => now,
            };
        }
        let user_timeout_over = user_timeout(tracking.as_deref(), tcp).is_some_and(|at| now >= at);
        if u64::from(tcb.expirations) > tcp.connection.retries || user_timeout_over {
            return None;
        }
        tcb.stats.timeouts += 1;
        match &mut self.kind {
            Kind::Cumulative(sender) => sender.on_timeout(tcb, now, tcp),
            Kind::Sack(sender) => sender.on_timeout(tcb, now, tcp),
        }
        Some(true)
    }
}

/// Return the time at which the user timeout ends, if a user timeout is set and data is
/// unacknowledged.
fn user_timeout(tracking: Option<&Tracking>, tcp: &Tcp) -> Option<Time> {
    Some(tracking?.user_timeout_start + tcp.connection.user_timeout?)
}
