//! What goes out: new data, or by bytes from SND.NXT.

use net::Seq;
use units::Time;

use super::{Outgoing, Pending, Sender};
use crate::config::Tcp;
use crate::congestion::CongestionControl;
use crate::timestamp::timestamp;

impl Sender {
    /// The next segment to send, if there is one that may go now.
    #[inline]
    pub fn next_segment(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if self.tracking.is_some() || self.nxt != self.max || self.retransmit || self.wait_for_timer {
            return self.next_by_either(now, tcp);
        }
        // Most often: a whole segment of new data, or no room for it.
        if self.unsent < u64::from(self.smss) {
            let nothing = self.unsent == 0 && self.closing == self.fin_sent; // a receiver of data is always here
            return if nothing { None } else { self.next_by_bytes(now, tcp) };
        }
        let sent = self.max - self.una;
        let room = self.limit().saturating_sub(sent);
        if room < self.smss {
            return if sent > 0 { None } else { self.next_by_bytes(now, tcp) };
        }
        let outgoing = self.build_inline(now, self.max, self.smss, tcp);
        self.nxt = self.max;
        Some(outgoing)
    }

    #[inline(never)]
    fn next_by_either(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        match self.tracking {
            _ if self.wait_for_timer && self.timer != Time::NEVER => None,
            Some(_) => self.next_with_tracking(now, tcp),
            None => self.next_by_bytes(now, tcp),
        }
    }

    #[inline(never)] // so that what controllers compute stays out of the loop that asks
    fn next_with_tracking(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let mut tracking = self.tracking.take()?;
        if tracking.last_sent != Time::NEVER && self.una == self.max && self.unsent > 0 {
            self.restart_after_idle(&tracking, now, tcp);
        }
        tracking.held = false;
        let mut outgoing = if self.pending == Pending::Persist && self.retransmit {
            self.probe_by_board(&mut tracking, now, tcp)
        } else if tracking.pace_at > now {
            let waits = !self.all_out() || self.retransmit || self.nxt != self.max;
            tracking.held = waits || tracking.board.as_ref().is_some_and(|b| b.waits());
            None
        } else if tracking.board.is_some() {
            self.next_by_board(&mut tracking, now, tcp)
        } else {
            self.tracking = Some(tracking);
            let outgoing = self.next_by_bytes(now, tcp);
            let Some(taken) = self.tracking.take() else { return outgoing };
            tracking = taken;
            if outgoing.is_some_and(|o| !o.is_new) {
                tracking.undo.on_retransmit(tracking.timestamps.then(|| timestamp(now)));
            }
            outgoing
        };
        match &mut outgoing {
            Some(o) => {
                if o.len > 0 {
                    tracking.last_sent = now;
                }
                if tracking.pushes.is_some() {
                    tracking.push_as_linux(o, self.most_window);
                }
                if o.is_new && o.len < self.smss {
                    tracking.small = self.max;
                }
                if self.congestion.paces()
                    && let Some(rate) = self
                        .congestion
                        .pacing_rate(&self.window_by(tracking.board.as_ref()), self.rto.srtt(tcp))
                {
                    // Rates are of data, as cwnd is: headers do not count.
                    let size = units::Bytes(u64::from(o.len));
                    tracking.pace_at = tracking.pace_at.max(now) + rate.transmission_time(size);
                }
            }
            None => self.note_limit(&mut tracking),
        }
        self.tracking = Some(tracking);
        outgoing
    }

    /// What may be in flight, without scoreboard.
    #[inline]
    fn limit(&self) -> u32 {
        (self.cwnd as u32).saturating_add(self.inflation).min(self.rwnd)
    }

    #[inline(never)]
    fn next_by_bytes(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let mss = self.smss;
        if self.pending == Pending::Persist && self.retransmit {
            return Some(self.probe_window(now, tcp));
        }
        if self.retransmit {
            self.retransmit = false;
            return Some(self.build(now, self.una, mss.min(self.data_end() - self.una), tcp));
        }
        let sent = self.nxt - self.una;
        let room = self.limit().saturating_sub(sent);
        let again = if self.nxt.before(self.data_end()) { self.data_end() - self.nxt } else { 0 };
        let available = u64::from(again).saturating_add(self.unsent);
        if available == 0 {
            let fin_due = self.closing && (!self.fin_sent || self.nxt.before(self.max));
            return (fin_due && room > 0).then(|| self.build(now, self.nxt, 0, tcp));
        }
        let len = available.min(u64::from(mss)) as u32;
        // A segment is sent whole (RFC 9293 §3.8.6.2.1), unless nothing is out, or it goes out again, and a part is worth
        // it.
        if room < len {
            let part = sent == 0 && room > 0 && self.rwnd < len && (again > 0 || self.is_worth_it(room));
            if !part {
                self.persist(now, tcp);
                return None;
            }
            let outgoing = self.build(now, self.nxt, room, tcp);
            self.nxt = self.nxt + outgoing.len;
            return Some(outgoing);
        }
        let mut len = len;
        if let Some(tracking) = &self.tracking {
            len = self.within_record(tracking, len);
            let last = again == 0 && u64::from(len) == self.unsent;
            if len < mss && last && !self.closing && self.holds(tracking, tcp) {
                self.persist(now, tcp);
                return None;
            }
        }
        let outgoing = self.build(now, self.nxt, len, tcp);
        self.nxt = self.nxt + outgoing.len + u32::from(outgoing.fin);
        Some(outgoing)
    }

    #[inline(never)]
    pub(super) fn build(&mut self, now: Time, seq: Seq, len: u32, tcp: &Tcp) -> Outgoing {
        self.build_inline(now, seq, len, tcp)
    }

    #[inline(always)]
    fn build_inline(&mut self, now: Time, seq: Seq, len: u32, tcp: &Tcp) -> Outgoing {
        let end = seq + len;
        let resent = if seq.before(self.data_end()) { self.data_end() - seq } else { 0 };
        let new_bytes = len.saturating_sub(resent);
        if self.unsent != u64::MAX {
            self.unsent -= u64::from(new_bytes);
        }
        let is_new = seq == self.max;
        let data_end = self.data_end().max(end);
        let fin_fits = self.fin_sent || len == 0 || end - self.una < self.rwnd;
        let fin = self.closing && self.unsent == 0 && end == data_end && fin_fits;
        let push = len > 0 && self.pushes(seq, end);
        self.fin_sent |= fin;
        self.max = self.max.max(end + u32::from(fin));
        if len > 0 {
            self.segments += 1;
            if resent > 0 {
                self.stats.retransmitted_segments += 1;
                self.retransmitted_bytes += u64::from(len.min(resent));
            }
        }
        if self.tracking.is_some() {
            self.note_sent(now, len, is_new);
        }
        if is_new && self.timed.1 == Time::NEVER {
            self.timed = (seq, now);
        }
        if self.timer == Time::NEVER {
            (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        }
        if seq == self.nxt && len == 0 {
            self.nxt = self.max;
        }
        Outgoing { seq, len, fin, push, is_new, probe: false }
    }

    /// Notes when a segment went out, for controllers that measure.
    #[inline(never)]
    fn note_sent(&mut self, now: Time, len: u32, is_new: bool) {
        let max = self.max;
        let Some(tracking) = &mut self.tracking else { return };
        if tracking.board.is_none() && self.congestion.measures() {
            if is_new && len > 0 {
                tracking.sent.push_back((max, now, tracking.clock.delivered));
            } else {
                tracking.sent.clear(); // Karn: an ACK may be of either
            }
        }
    }

    /// Whether the last write, or a record, ended within (`seq`, `end`]: a write that waits is one with the next (RFC 9293
    /// §3.9.1, MUST-61).
    #[inline]
    pub(super) fn pushes(&self, seq: Seq, end: Seq) -> bool {
        let last = self.push.after(seq) && !self.push.after(end);
        last || self.tracking.as_ref().is_some_and(|m| !m.records.is_empty() && m.ends_record(seq, end))
    }

    /// Bytes of new data that the receiver's window lets go.
    pub(super) fn room_in_window(&self) -> u32 {
        self.rwnd.saturating_sub(self.max - self.una)
    }
}
