//! Transmissions and retransmissions.

use net::Seq;
use units::Time;

use super::Scoreboard;
use super::segment::{
    APP_LIMITED, DeliveryClock, EVER_RETRANSMITTED, LOST, PUSHED, RETRANSMITTED, SACKED, Sent, TWICE,
};

impl Scoreboard {
    /// Record the transmission of new data.
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

    /// Record that the newest segment carried PSH.
    pub fn on_pushed(&mut self) {
        if let Some(s) = self.segments.back_mut() {
            s.marks |= PUSHED;
        }
    }

    /// Return true if the segment at `index` carries PSH.
    pub fn is_pushed(&self, index: usize) -> bool {
        self.segments.get(index).is_some_and(|s| s.has(PUSHED))
    }

    /// Return the next lost segment to retransmit: its index for [`Scoreboard::on_retransmitted`],
    /// and its range [start, end).
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

    /// Record the retransmission of the segment at `index`.
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
            // A segment that is not deemed lost, such as a tail loss probe, counts once in pipe.
            self.segments[index].marks &= !RETRANSMITTED;
        }
    }

    /// Record the retransmission of the segment at `index`, which is not deemed lost, so that two
    /// copies are in flight (RFC 6675 §4, SetPipe).
    pub fn on_retransmitted_early(&mut self, index: usize, at: Time, clock: &DeliveryClock) {
        self.on_retransmitted(index, at, clock);
        self.segments[index].marks |= TWICE;
        self.twice += self.weight(&self.segments[index]);
    }

    /// Return the index of the last segment.
    pub fn last_index(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }

    /// Return the first segment below the highest SACKed segment that is neither SACKed, lost nor
    /// retransmitted.
    pub fn next_hole(&self) -> Option<(usize, Seq, Seq)> {
        let i = (self.first_open..self.top).find(|&i| !self.segments[i].has(SACKED | LOST | TWICE))?;
        Some((i, self.segments[i].start, self.segments[i].end))
    }

    /// Return the last segment that is not SACKed.
    pub fn last_not_sacked(&self) -> Option<(usize, Seq, Seq)> {
        let s = self.segments.iter().enumerate().rev().find(|(_, s)| !s.has(SACKED))?;
        Some((s.0, s.1.start, s.1.end))
    }
}
