//! What is sent, and what is to be sent again.

use net::Seq;
use units::Time;

use super::Scoreboard;
use super::segment::{
    APP_LIMITED, DeliveryClock, EVER_RETRANSMITTED, LOST, PUSHED, RETRANSMITTED, SACKED, Sent, TWICE,
};

impl Scoreboard {
    /// New data goes out.
    #[inline]
    pub fn on_sent(&mut self, start: Seq, end: Seq, at: Time, clock: &DeliveryClock, app_limited: bool) {
        let marks = if app_limited { APP_LIMITED } else { 0 };
        let sent = Sent { start, end, at, delivered: clock.delivered as u32, marks };
        self.outstanding += self.weight(&sent);
        self.segments.push_back(sent);
        if let Some(departures) = &mut self.departures {
            departures.push_back(clock.departure());
        }
        if let Some(send_order) = self.send_order() {
            send_order.push_back();
        }
    }

    /// The newest segment went out with PSH.
    pub fn on_pushed(&mut self) {
        if let Some(s) = self.segments.back_mut() {
            s.marks |= PUSHED;
        }
    }

    /// Whether the segment at `index` has PSH.
    pub fn is_pushed(&self, index: usize) -> bool {
        self.segments.get(index).is_some_and(|s| s.has(PUSHED))
    }

    /// What is to be sent again next: [start, end), at most `most` bytes; its place for [`Scoreboard::on_retransmitted`].
    pub fn next_lost(&mut self) -> Option<(usize, Seq, Seq)> {
        if self.lost == 0 {
            return None;
        }
        while let Some(s) = self.segments.get(self.first_lost) {
            if s.has(LOST) && !s.has(RETRANSMITTED) && !s.has(SACKED) {
                return Some((self.first_lost, s.start, s.end));
            }
            self.first_lost += 1;
        }
        None
    }

    /// The segment at `index` goes out again.
    pub fn on_retransmitted(&mut self, index: usize, at: Time, clock: &DeliveryClock) {
        let Some(s) = self.segments.get_mut(index) else { return };
        let (newly, plain) = (!s.has(RETRANSMITTED), s.is_plain());
        s.marks = (s.marks & !APP_LIMITED) | RETRANSMITTED | EVER_RETRANSMITTED;
        s.at = at;
        s.delivered = clock.delivered as u32;
        let s = *s;
        if plain {
            self.touch();
        }
        if let Some(departures) = &mut self.departures {
            departures[index] = clock.departure();
        }
        if let Some(send_order) = self.send_order.as_mut().filter(|_| !s.has(SACKED)) {
            send_order.remove(index);
            send_order.append(index);
        }
        if newly && s.has(LOST) {
            self.retransmitted += self.weight(&s);
        } else if newly {
            // A probe of what is not deemed lost: it is in flight once.
            self.segments[index].marks &= !RETRANSMITTED;
        }
    }

    /// The segment at `index`, which is not deemed lost, goes out again: it is in flight twice (RFC 6675 §4, SetPipe).
    pub fn on_retransmitted_early(&mut self, index: usize, at: Time, clock: &DeliveryClock) {
        self.on_retransmitted(index, at, clock);
        self.segments[index].marks |= TWICE;
        self.twice += self.weight(&self.segments[index]);
    }

    /// Index of the last segment.
    pub fn last_index(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }

    /// The first hole below what was SACKed that is neither deemed lost nor sent again.
    pub fn next_hole(&self) -> Option<(usize, Seq, Seq)> {
        let i = (self.first_open..self.top).find(|&i| !self.segments[i].has(SACKED | LOST | TWICE))?;
        Some((i, self.segments[i].start, self.segments[i].end))
    }

    /// The last segment that was not SACKed.
    pub fn last_not_sacked(&self) -> Option<(usize, Seq, Seq)> {
        let s = self.segments.iter().enumerate().rev().find(|(_, s)| !s.has(SACKED))?;
        Some((s.0, s.1.start, s.1.end))
    }
}
