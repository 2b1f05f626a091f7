//! A window that is closed or too small: the persist timer and its probes (RFC 9293 §3.8.6.1).

use net::Seq;
use units::Time;

use super::outgoing::Outgoing;
use super::tcb::{Tcb, TimerPurpose};
use crate::config::{Tcp, WindowProbe};

impl Tcb {
    /// Whether a closed window is probed.
    #[inline]
    pub(super) fn is_persisting(&self) -> bool {
        self.timer_purpose == TimerPurpose::Persist && self.timer != Time::NEVER
    }

    /// Sets the persist timer: nothing is out, there is data, and the window is closed (RFC 9293 §3.8.6.1) or
    /// too small to be used yet (§3.8.6.2.1, the override timeout).
    #[inline(never)]
    pub(super) fn persist(&mut self, now: Time, tcp: &Tcp) {
        let waits = self.una == self.max && !self.all_sent() && self.timer == Time::NEVER;
        if waits && !self.avoids_silly_window(self.rwnd) {
            (self.timer, self.timer_purpose) = (now + self.rto.timeout(tcp), TimerPurpose::Persist);
        } else if waits && self.is_corked() {
            (self.timer, self.timer_purpose) = (now + self.cork_time(tcp), TimerPurpose::Persist);
        }
    }

    /// Whether a segment of this many bytes may go when nothing is out (RFC 9293 §3.8.6.2.1).
    pub(super) fn avoids_silly_window(&self, room: u32) -> bool {
        let whole = u64::from(room) >= self.unsent.min(u64::from(self.smss));
        room > 0 && (whole || room >= self.max_window.div_ceil(2))
    }

    /// Whether everything was sent that is to be sent.
    pub(super) fn all_sent(&self) -> bool {
        self.unsent == 0 && self.closing == self.fin_sent
    }

    /// The persist timer expired. Returns `None` to give up; otherwise that the window was not cut.
    pub(super) fn on_persist_timer(&mut self, now: Time, tcp: &Tcp) -> Option<bool> {
        self.wait_for_timer = false; // it has expired: who waits with a window of one segment (RFC 3168 §6.1.2) may send
        if self.una == self.max && self.is_corked() && self.avoids_silly_window(self.rwnd) {
            self.end_cork_time();
            return Some(false);
        }
        self.expirations = self.expirations.saturating_add(1);
        if u64::from(self.expirations) > tcp.connection.retries {
            return None; // probes that are answered go on for ever (RFC 9293 §3.8.6.1), others do not
        }
        self.rto.back_off();
        self.timer = now + self.rto.timeout(tcp);
        self.retransmit = true;
        Some(false)
    }

    /// A probe of the closed window (RFC 9293 §3.8.6.1), or what fits one that stays small. Its round trip is not timed.
    pub(super) fn probe_window(&mut self, now: Time, tcp: &Tcp) -> Outgoing {
        self.retransmit = false;
        if self.rwnd == 0 && tcp.details.zero_window_probe == WindowProbe::OldSequence {
            let seq = Seq(self.una.0.wrapping_sub(1));
            return Outgoing { seq, probe: true, ..Outgoing::default() };
        }
        let timer = self.timer;
        let there = u64::from(self.data_end().minus(self.una).max(0) as u32).saturating_add(self.unsent);
        let len = there.min(u64::from(self.rwnd.max(1))).min(u64::from(self.smss)) as u32;
        let mut outgoing = self.build(now, self.una, len, None, tcp);
        outgoing.probe = self.rwnd == 0;
        outgoing.push &= !outgoing.probe;
        self.timer = timer;
        outgoing
    }
}
