//! The persist timer and its probes, for a send window that is closed or too small (RFC 9293
//! §3.8.6.1).

use net::Seq;
use units::Time;

use super::outgoing::Outgoing;
use super::tcb::{Tcb, TimerPurpose};
use crate::config::{Tcp, WindowProbe};

impl Tcb {
    /// Return true while the persist timer runs.
    #[inline]
    pub(super) fn is_persisting(&self) -> bool {
        self.timer_purpose == TimerPurpose::Persist && self.timer != Time::NEVER
    }

    /// Start the persist timer if no data is in flight, data waits, and the send window is closed
    /// (RFC 9293 §3.8.6.1) or too small for a segment (§3.8.6.2.1, the override timeout). The
    /// persist timer also starts if a corked segment waits.
    #[inline(never)]
    pub(super) fn persist(&mut self, now: Time, tcp: &Tcp) {
        let waits = self.una == self.max && !self.all_sent() && self.timer == Time::NEVER;
        if waits && !self.avoids_silly_window(self.rwnd) {
            (self.timer, self.timer_purpose) = (now + self.rto.timeout(tcp), TimerPurpose::Persist);
        } else if waits && self.is_corked() {
            (self.timer, self.timer_purpose) = (now + self.cork_time(tcp), TimerPurpose::Persist);
        }
    }

    /// Return true if sender silly window avoidance permits a segment of `usable` bytes while no
    /// data is in flight (RFC 9293 §3.8.6.2.1).
    pub(super) fn avoids_silly_window(&self, usable: u32) -> bool {
        let whole = u64::from(usable) >= self.unsent.min(u64::from(self.smss));
        usable > 0 && (whole || usable >= self.max_window.div_ceil(2))
    }

    /// Return true if the sender has sent all written data, and the FIN if the application has
    /// closed.
    pub(super) fn all_sent(&self) -> bool {
        self.unsent == 0 && self.closing == self.fin_sent
    }

    /// Process an expiry of the persist timer. Return `None` if the connection is aborted, and
    /// `Some(false)` otherwise. The value `false` means that the persist timer does not reduce
    /// cwnd.
    pub(super) fn on_persist_timer(&mut self, now: Time, tcp: &Tcp) -> Option<bool> {
        // the expiry also ends the wait of a sender with a cwnd of one segment after ECN-Echo (RFC
        // 3168 §6.1.2)
        self.wait_for_timer = false;
        if self.una == self.max && self.is_corked() && self.avoids_silly_window(self.rwnd) {
            self.end_cork_time();
            return Some(false);
        }
        self.expirations = self.expirations.saturating_add(1);
        if u64::from(self.expirations) > tcp.connection.retries {
            // the sender repeats answered probes without limit (RFC 9293 §3.8.6.1), and unanswered
            // probes at most `retries` times
            return None;
        }
        self.rto.back_off();
        self.timer = now + self.rto.timeout(tcp);
        self.retransmit = true;
        Some(false)
    }

    /// Build a window probe if the send window is zero (RFC 9293 §3.8.6.1). If the send window is
    /// larger than zero, build a data segment that fits into the send window. The sender does not
    /// measure the round-trip time of a window probe.
    pub(super) fn probe_window(&mut self, now: Time, tcp: &Tcp) -> Outgoing {
        self.retransmit = false;
        if self.rwnd == 0 && tcp.details.zero_window_probe == WindowProbe::OldSequence {
            let seq = Seq(self.una.0.wrapping_sub(1));
            return Outgoing { seq, probe: true, ..Outgoing::default() };
        }
        let timer = self.timer;
        let available = u64::from(self.data_end().minus(self.una).max(0) as u32).saturating_add(self.unsent);
        let len = available.min(u64::from(self.rwnd.max(1))).min(u64::from(self.smss)) as u32;
        let mut outgoing = self.build(now, self.una, len, None, tcp);
        outgoing.probe = self.rwnd == 0;
        outgoing.push &= !outgoing.probe;
        self.timer = timer;
        outgoing
    }
}
