//! Segments deemed lost.

use net::Seq;
use units::{Duration, Time};

use super::Scoreboard;
use super::segment::{COUNTED, LOST, RETRANSMITTED, SACKED, TWICE};

impl Scoreboard {
    pub(super) fn lose(&mut self, i: usize) -> u32 {
        let s = self.segments[i];
        let w = self.weight(&s);
        if !s.has(LOST) {
            self.lost += w;
        }
        if s.has(RETRANSMITTED) {
            self.retransmitted -= w;
        }
        if s.has(TWICE) {
            self.twice -= w;
        }
        if s.is_plain() {
            self.touch();
        }
        self.segments[i].marks = (s.marks | LOST) & !(RETRANSMITTED | TWICE);
        if let Some(send_order) = &mut self.send_order {
            send_order.remove(i);
        }
        self.first_lost = self.first_lost.min(i);
        s.end - s.start
    }

    /// Deem the original transmission of a segment lost. If the segment was retransmitted before
    /// its loss was detected, the retransmission remains in flight.
    pub(super) fn lose_first(&mut self, i: usize) -> u32 {
        let twice = self.segments[i].has(TWICE);
        let bytes = self.lose(i);
        if twice {
            self.segments[i].marks |= RETRANSMITTED;
            self.retransmitted += self.weight(&self.segments[i]);
        }
        bytes
    }

    /// Deem every segment lost that starts before `limit`, is not SACKed and was not retransmitted.
    /// Return the number of bytes that are newly deemed lost.
    pub fn lose_before(&mut self, limit: Seq) -> u32 {
        let mut bytes = 0;
        while let Some(s) = self.segments.get(self.first_open).filter(|s| s.start.before(limit)) {
            if !s.has(SACKED | LOST) {
                bytes += self.lose_first(self.first_open);
            }
            self.first_open += 1;
        }
        bytes
    }

    /// Return true if any segment may be lost because it was sent before the delivered segment that
    /// was sent last.
    #[inline]
    pub fn is_overtaken(&self) -> bool {
        let Some(send_order) = &self.send_order else { return false };
        if self.touched == 0 {
            return self.segments.front().is_some_and(|s| self.rack.has_overtaken(s.at, s.end));
        }
        send_order.first().is_some_and(|i| !self.rack.is_sent_later(self.segments[i].at))
    }

    /// Detect losses by time: RACK_detect_loss (RFC 8985 §6.2, step 5). Return the number of bytes
    /// that are newly deemed lost. Also return the time at which all segments that may be reordered
    /// would count as lost.
    pub fn rack_detect_loss(&mut self, now: Time, reordering_window: Duration) -> (u32, Option<Time>) {
        let (mut bytes, mut all_due) = (0, None);
        if !self.is_overtaken() {
            return (0, None);
        }
        self.touch(); // the list must exist even if no segment is lost yet
        let mut next = self.send_order().and_then(|b| b.first());
        while let Some(i) = next {
            let s = self.segments[i];
            if self.rack.is_sent_later(s.at) {
                break; // all following segments were sent later
            }
            next = self.send_order().and_then(|b| b.later(i));
            match self.rack.lost_at(s.at, s.end, reordering_window) {
                Some(at) if at > now => all_due = Some(at), // later than the time of every segment before
                Some(_) => bytes += self.lose(i),
                None => {}
            }
        }
        self.touched -= 1;
        (bytes, all_due)
    }

    /// Detect losses at the retransmission timeout, with RACK (RFC 8985 §6.3): the first segment is
    /// lost, and so is every segment whose age is at least a round-trip time plus the reordering
    /// window. If the receiver has reneged, all segments are lost ([`Scoreboard::lose_all`]).
    pub fn lose_on_timeout(&mut self, now: Time, reordering_window: Duration) {
        if self.segments.front().is_some_and(|s| s.has(SACKED)) {
            return self.lose_all(true);
        }
        for i in 0..self.segments.len() {
            let s = &self.segments[i];
            if !s.has(SACKED) && (i == 0 || self.rack.is_overdue(now, s.at, reordering_window)) {
                self.lose(i);
            }
        }
    }

    /// Deem every segment lost that is not SACKed, because the retransmission timer expired (RFC
    /// 6298 §5.4). If the first segment is SACKed, the receiver has reneged, and every SACK is
    /// discarded (RFC 2018 §8).
    ///
    /// `forget` is true if every SACK is discarded even though the receiver has not reneged (RFC
    /// 6675 §5.1).
    pub fn lose_all(&mut self, forget: bool) {
        if forget || self.segments.front().is_some_and(|s| s.has(SACKED)) {
            for s in &mut self.segments {
                if s.has(SACKED) {
                    s.marks = (s.marks & !SACKED) | COUNTED;
                }
            }
            (self.sacked, self.sacked_segments, self.previous_count, self.top) = (0, 0, 0, 0);
        }
        for i in 0..self.segments.len() {
            if !self.segments[i].has(SACKED) {
                self.lose(i);
            }
        }
    }

    /// Deem the segment at index `i` lost, if it is not SACKed.
    pub fn lose_at(&mut self, i: usize) {
        if self.segments.get(i).is_some_and(|s| !s.has(SACKED | LOST)) {
            self.lose(i);
        }
    }

    /// Clear the flags of all lost and retransmitted segments, because no segment was lost.
    pub fn undo_losses(&mut self) {
        for s in &mut self.segments {
            s.marks &= !(LOST | RETRANSMITTED | TWICE);
        }
        (self.lost, self.retransmitted, self.twice, self.first_open) = (0, 0, 0, 0);
        self.touched = self.segments.iter().filter(|s| !s.is_plain()).count() as u32;
        if let Some(send_order) = self.send_order.as_mut().filter(|_| self.touched > 0) {
            let sent = self.segments.iter().enumerate().filter(|(_, s)| !s.has(SACKED));
            let mut sent: Vec<_> = sent.map(|(i, s)| (s.at, i)).collect();
            sent.sort_unstable();
            for (_, i) in sent {
                send_order.remove(i);
                send_order.append(i);
            }
        }
    }
}
