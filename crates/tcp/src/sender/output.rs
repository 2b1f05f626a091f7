//! Construction of segments, pacing, and the records that senders with and without SACK store for
//! each segment.

use net::Seq;
use units::{Bytes, Time};

use super::outgoing::Outgoing;
use super::tcb::{Tcb, TimerPurpose};
use super::tracking::Tracking;
use crate::config::Tcp;
use crate::congestion::CongestionControl;
use crate::window::Window;

impl Tcb {
    /// Return true if a probe of the closed window is due.
    #[inline]
    pub(super) fn window_probe_due(&self) -> bool {
        self.timer_purpose == TimerPurpose::Persist && self.retransmit
    }

    /// Build a segment of `len` bytes, or a FIN without data.
    #[inline(always)]
    pub(super) fn build(
        &mut self,
        now: Time,
        seq: Seq,
        len: u32,
        tracking: Option<&Tracking>,
        tcp: &Tcp,
    ) -> Outgoing {
        let end = seq + len;
        let retransmitted = if seq.before(self.data_end()) { self.data_end() - seq } else { 0 };
        let new_bytes = len.saturating_sub(retransmitted);
        if self.unsent != u64::MAX {
            self.unsent -= u64::from(new_bytes);
        }
        let is_new = seq == self.max;
        let data_end = self.data_end().max(end);
        let fin_fits = self.fin_sent || len == 0 || end - self.una < self.rwnd;
        let fin = self.closing && self.unsent == 0 && end == data_end && fin_fits;
        let push = len > 0 && self.has_push(seq, end, tracking);
        self.fin_sent |= fin;
        self.max = self.max.max(end + u32::from(fin));
        if len > 0 {
            self.segments += 1;
            if retransmitted > 0 {
                self.stats.retransmitted_segments += 1;
                self.retransmitted_bytes += u64::from(len.min(retransmitted));
            }
        }
        if self.timer == Time::NEVER {
            (self.timer, self.timer_purpose) = (now + self.rto.timeout(tcp), TimerPurpose::Rto);
        }
        Outgoing { seq, len, fin, push, is_new, ..Outgoing::default() }
    }

    /// Build a segment of `len` bytes of new data that is not the last of the written data.
    #[inline(always)]
    pub(super) fn build_next(&mut self, now: Time, len: u32, tcp: &Tcp) -> Outgoing {
        let (seq, end) = (self.max, self.max + len);
        if self.unsent != u64::MAX {
            self.unsent -= u64::from(len);
        }
        self.max = end;
        self.segments += 1;
        if self.timer == Time::NEVER {
            self.restart_timer(now, tcp);
        }
        Outgoing { seq, len, push: self.has_push(seq, end, None), is_new: true, ..Outgoing::default() }
    }

    /// Return true if the last write or a record ends within (`seq`, `end`]. If the data of a write
    /// waits, the sender combines this data with the data of the next write (RFC 9293 §3.9.1,
    /// MUST-61).
    #[inline]
    fn has_push(&self, seq: Seq, end: Seq, tracking: Option<&Tracking>) -> bool {
        let last = self.write_end.after(seq) && !self.write_end.after(end);
        last || tracking.is_some_and(|m| !m.records.is_empty() && m.ends_record(seq, end))
    }

    /// Reduce cwnd after an idle time, and return true if pacing permits a segment now.
    #[inline]
    pub(super) fn prepare_to_send(&mut self, tracking: &Tracking, now: Time, tcp: &Tcp) -> bool {
        if tracking.last_sent != Time::NEVER && self.una == self.max && self.unsent > 0 {
            self.restart_after_idle(tracking, now, tcp);
        }
        self.pacing_holds = false;
        tracking.pace_at <= now
    }

    /// Record that a segment is sent, and set the segment's PSH flag if Linux's algorithm for PSH
    /// requires the flag.
    #[inline(always)]
    pub(super) fn record_sent(&self, tracking: &mut Tracking, outgoing: &mut Outgoing, now: Time) {
        if outgoing.len > 0 {
            tracking.last_sent = now;
        }
        if let Some(pushes) = tracking.push_state.as_mut().filter(|_| outgoing.is_new && outgoing.len > 0) {
            pushes.on_sent(outgoing, self.max_window);
            outgoing.push |= tracking.queue.as_ref().is_some_and(|queue| queue.pushes(self.max));
        }
        if outgoing.is_new && outgoing.len < self.smss {
            tracking.small_end = self.max;
        }
    }

    /// After a segment of `len` bytes, compute the time at which pacing permits the next segment,
    /// if the congestion controller paces segments.
    #[inline]
    pub(super) fn pace(&self, tracking: &mut Tracking, len: u32, window: &Window, now: Time, tcp: &Tcp) {
        if let Some(rate) = self.congestion.pacing_rate(window, self.rto.srtt(tcp)) {
            let len = match &mut tracking.queue {
                Some(queue) => queue.paced(len, self.max),
                None => len,
            };
            if len == 0 {
                return; // the other segments of the super-packet follow without delay
            }
            // A pacing rate counts bytes of payload, without headers, as cwnd does.
            tracking.pace_at = tracking.pace_at.max(now) + rate.transmission_time(Bytes(u64::from(len)));
        }
    }
}
