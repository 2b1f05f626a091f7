//! The send window (SND.WND), which the receiver advertises.

use net::{Segment, Seq};
use units::Time;

use super::tcb::{Tcb, TimerPurpose};
use crate::config::Tcp;

impl Tcb {
    /// Set the send window from an acceptable segment (RFC 9293 §3.10.7.4, SND.WL1 and SND.WL2).
    pub fn set_window(&mut self, segment: &Segment) {
        self.rwnd = segment.window;
        self.max_window = self.max_window.max(segment.window);
        self.wl1 = segment.seq;
    }

    /// Update the send window from a segment (RFC 9293 §3.10.7.4, fifth check). Return true if the
    /// segment opens a send window that the sender has probed.
    ///
    /// If a segment advances SND.UNA (`advances`), it sets the send window even if a segment with
    /// later data has overtaken it (Linux, tcp_may_update_window). An unchanged window size would
    /// extend the send window too far beyond the new SND.UNA.
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
            // the data of the window probe is now in flight like any other segment
            let in_flight = self.una != self.max;
            let at = if in_flight { now + self.rto.timeout(tcp) } else { Time::NEVER };
            (self.timer, self.timer_purpose) = (at, TimerPurpose::Rto);
        }
        if self.una == self.max {
            self.persist(now, tcp);
        }
        opened
    }

    /// Return the number of bytes of new data that the send window permits.
    pub(super) fn usable_window(&self) -> u32 {
        self.rwnd.saturating_sub(self.flight())
    }

    /// Return SND.MAX, or the right edge of the send window if SND.MAX lies beyond this edge.
    pub fn within_window(&self) -> Seq {
        let edge = self.una + self.rwnd;
        if self.max.after(edge) { edge } else { self.max }
    }
}
