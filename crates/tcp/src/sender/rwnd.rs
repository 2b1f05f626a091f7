//! The receiver's window.

use net::{Segment, Seq};
use units::Time;

use super::tcb::{Tcb, TimerPurpose};
use crate::config::Tcp;

impl Tcb {
    /// The window field of a segment that is acceptable (RFC 9293 §3.10.7.4, SND.WL1 and SND.WL2).
    pub fn set_window(&mut self, segment: &Segment) {
        self.rwnd = segment.window;
        self.max_window = self.max_window.max(segment.window);
        self.wl1 = segment.seq;
    }

    /// RFC 9293 §3.10.7.4, fifth check. A segment that `advances` SND.UNA sets the window even if data of the other
    /// side went out after it (Linux, tcp_may_update_window): the old window would reach too far from there. Returns whether a
    /// probed window has opened.
    #[inline]
    pub(super) fn update_window(&mut self, now: Time, segment: &Segment, advances: bool, tcp: &Tcp) -> bool {
        if segment.ack.before(self.una) || (segment.seq.before(self.wl1) && !advances) {
            return false;
        }
        self.rwnd = segment.window;
        self.wl1 = self.wl1.max(segment.seq);
        if self.rwnd == 0 || self.is_persisting() {
            self.expirations = 0;
        }
        self.max_window = self.max_window.max(segment.window);
        let opened = self.is_persisting() && (self.avoids_silly_window(self.rwnd) || self.all_sent());
        if opened {
            self.rto.end_back_off();
            let out = self.una != self.max; // what probed is a segment like others now
            let at = if out { now + self.rto.timeout(tcp) } else { Time::NEVER };
            (self.timer, self.timer_purpose) = (at, TimerPurpose::Rto);
        }
        if self.una == self.max {
            self.persist(now, tcp);
        }
        opened
    }

    /// Bytes of new data that the receiver's window lets go.
    pub(super) fn usable_window(&self) -> u32 {
        self.rwnd.saturating_sub(self.flight())
    }

    /// `max`, or the right edge of the window if a probe has passed it.
    pub fn within_window(&self) -> Seq {
        let edge = self.una + self.rwnd;
        if self.max.after(edge) { edge } else { self.max }
    }
}
