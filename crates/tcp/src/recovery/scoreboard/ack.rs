//! Effect of an ACK on the scoreboard.

use net::Seq;
use units::Time;

use super::Scoreboard;
use super::segment::{
    AckedSegments, COUNTED, Delivery, Departure, LOST, RETRANSMITTED, RttAmbiguity, SACKED, Sent, TWICE,
};
use crate::recovery::rack::sent_after;

impl Scoreboard {
    /// Process an ACK with its SACK blocks. `una` is SND.UNA before the ACK, and `max` is SND.MAX.
    #[inline]
    pub fn on_ack(
        &mut self,
        now: Time,
        una: Seq,
        ack: Seq,
        blocks: &[(Seq, Seq)],
        max: Seq,
        ambiguity: &RttAmbiguity,
    ) -> Delivery {
        let (mut d, mut n) = (Delivery::default(), 0);
        while let Some(s) = self.segments.front().copied() {
            if !s.end.after(ack) {
                if !s.has(SACKED) {
                    d.delivered += s.not_counted(s.end);
                    d.weight += self.weight(&s);
                    self.deliver_segment(now, 0, &s, &mut d, ambiguity);
                    if !s.was_retransmitted() && d.first_sent.is_none() {
                        d.first_sent = Some(s.at);
                    }
                }
                n += 1;
                self.remove_counts(&s);
                self.pop_front(&s);
                continue;
            }
            if s.start.before(ack) {
                // The ACK covers a part of the segment, so the rest remains.
                let before = self.weight(&s);
                self.segments[0].start = ack;
                let cut = before - self.weight(&self.segments[0]);
                d.delivered += s.not_counted(ack);
                d.weight += cut;
                self.outstanding -= cut;
                self.sacked -= if s.has(SACKED) { cut } else { 0 };
                self.remove_loss_counts(&s, cut);
            }
            break;
        }
        for index in [&mut self.first_lost, &mut self.first_open, &mut self.top] {
            *index = index.saturating_sub(n);
        }
        let acknowledged = d.last_valid;
        self.previous_count = if blocks.is_empty() {
            0
        } else {
            self.process_blocks(now, (una, ack, max), blocks, &mut d, ambiguity)
        };
        if let Some((sent, end)) = d.valid {
            self.rack.on_delivered(now, sent, end, acknowledged.or(d.last_valid).unwrap_or(sent));
        }
        d.late = self.rack.on_ack_end();
        d
    }

    /// Process all segments of an ACK together. The method applies to a cumulative ACK of whole
    /// segments without SACK blocks, while the scoreboard is [plain](Scoreboard::is_plain). If the
    /// scoreboard is not plain, if the ACK does not acknowledge whole segments, or if RACK may
    /// detect a loss among the remaining segments, change nothing and return `None`.
    #[inline]
    pub fn acknowledge(&mut self, now: Time, ack: Seq) -> Option<AckedSegments> {
        let first = *self.segments.front().filter(|_| self.touched == 0)?;
        if !self.rack.is_in_order(first.end) {
            return None;
        }
        let (mut last, mut n) = (first, 1);
        while last.end.before(ack) {
            last = *self.segments.get(n)?;
            n += 1;
        }
        let overtaken = |s: &Sent| self.send_order.is_some() && self.rack.has_overtaken(s.at, s.end);
        if last.end != ack || self.segments.get(n).is_some_and(overtaken) {
            return None;
        }
        let delivered = ack - first.start;
        let weight = u64::from(if self.unit > 0 { self.unit * n as u32 } else { delivered });
        let departure = self.departure(n - 1);
        self.rack.on_delivered(now, self.rack.tick(last.at), ack, last.at);
        self.rack.on_order(last.start, ack, false);
        self.outstanding -= weight;
        for _ in 0..n {
            self.segments.pop_front();
        }
        if let Some(departures) = &mut self.departures {
            departures.drain(..n);
        }
        (self.top, self.previous_count) = (0, 0);
        Some(AckedSegments { delivered, weight, first_sent: first.at, last, departure })
    }

    fn departure(&self, i: usize) -> Option<Departure> {
        self.departures.as_ref().map(|departures| departures[i])
    }

    /// Remove the first segment.
    fn pop_front(&mut self, first: &Sent) {
        self.segments.pop_front();
        if let Some(departures) = &mut self.departures {
            departures.pop_front();
        }
        if let Some(send_order) = self.send_order() {
            send_order.pop_front();
        }
        self.touched -= u32::from(!first.is_plain());
    }

    /// Process the SACK blocks of an ACK up to `ack`. Return the number of SACK blocks that the
    /// scoreboard stored as processed.
    fn process_blocks(
        &mut self,
        now: Time,
        (una, ack, max): (Seq, Seq, Seq),
        blocks: &[(Seq, Seq)],
        d: &mut Delivery,
        ambiguity: &RttAmbiguity,
    ) -> u8 {
        let echo = ambiguity.echo.filter(|_| !self.rack.linux_times);
        let ambiguity = &RttAmbiguity { echo, ..*ambiguity };
        let latest = una.max(ack);
        let previous = &self.previous_blocks[..usize::from(self.previous_count)];
        let (mut new, mut n) = ([(Seq(0), Seq(0)); 4], 0);
        for (i, &(start, end)) in blocks.iter().enumerate() {
            let here = previous.get(i) == Some(&(start, end)); // the usual case, except for the first block
            let known = i > 0 && (here || previous.contains(&(start, end)));
            if known || !start.before(end) || end.after(max) {
                continue;
            }
            if i == 0 && self.is_duplicate(start, end, ack, blocks) {
                d.dsack = true;
            } else if !start.before(latest) {
                (new[n], n) = ((start, end), n + 1);
            }
        }
        if self.send_order.is_some() {
            new[..n].sort_unstable_by_key(|block| block.0 - una); // RFC 8985 §6.2, step 3: in ascending order
        }
        for &(start, end) in &new[..n] {
            self.sack(now, start, end, d, ambiguity);
        }
        for (to, from) in self.previous_blocks.iter_mut().zip(blocks) {
            *to = *from;
        }
        blocks.len().min(4) as u8
    }

    /// Return true if the first block is a D-SACK (RFC 2883 §4): it lies below the cumulative
    /// acknowledgement, or within the second block.
    pub(super) fn is_duplicate(&self, start: Seq, end: Seq, ack: Seq, blocks: &[(Seq, Seq)]) -> bool {
        !end.after(ack) || blocks.get(1).is_some_and(|b| !start.before(b.0) && !end.after(b.1))
    }

    /// Process a D-SACK that reports `block`. Find the first segment in `block` that was SACKed and
    /// retransmitted, and return the distance in bytes from this segment to the highest delivered
    /// byte.
    pub fn late_by_duplicate(&mut self, block: (Seq, Seq)) -> u32 {
        let from = self.segments.partition_point(|s| s.start.before(block.0));
        let within = self.segments.range(from..).take_while(|s| !s.end.after(block.1));
        let copy = within.into_iter().find(|s| s.has(SACKED) && s.was_retransmitted()).map(|s| s.start);
        copy.map_or(0, |start| self.rack.late_by(start))
    }

    fn deliver_segment(&mut self, now: Time, i: usize, s: &Sent, d: &mut Delivery, ambiguity: &RttAmbiguity) {
        if !s.was_retransmitted() {
            d.last_sent = d.last_sent.max(Some(s.at));
            if !s.has(COUNTED) && d.original.is_none_or(|end| s.end.before(end)) {
                d.original = Some(s.end);
            }
        }
        if d.newest.is_none_or(|n| s.at > n.at || (s.at == n.at && s.end.after(n.end))) {
            (d.newest, d.departure) = (Some(*s), self.departure(i));
        }
        let ambiguous = s.was_retransmitted() && ambiguity.applies_to(now, s.at);
        if !ambiguous {
            let sent = (self.rack.tick(s.at), s.end);
            d.last_valid = Some(s.at);
            if d.valid.is_none_or(|v| sent_after(sent, v)) {
                d.valid = Some(sent);
            }
        }
        self.rack.on_order(s.start, s.end, s.was_retransmitted());
    }

    /// Return the part of a SACK block that the last ACK did not report.
    pub(super) fn exclude_previous(&self, mut start: Seq, mut end: Seq) -> (Seq, Seq) {
        for &(s, e) in &self.previous_blocks[..usize::from(self.previous_count)] {
            if !start.before(s) && start.before(e) {
                start = start.max(e);
            }
            if end.after(s) && !end.after(e) && !start.after(s) {
                end = s;
            }
        }
        (start, end)
    }

    fn sack(&mut self, now: Time, start: Seq, end: Seq, d: &mut Delivery, ambiguity: &RttAmbiguity) {
        let (start, end) = match self.previous_blocks[0] {
            (s, e) if self.previous_count > 0 && s == start && e.before(end) => (e, end), // the usual case: the block has grown
            _ => self.exclude_previous(start, end),
        };
        if !start.before(end) {
            return;
        }
        let from = match self.segments.get(self.top) {
            Some(s) if s.start == start => self.top, // the usual case: the next segment in sequence
            _ => self.segments.partition_point(|s| s.start.before(start)),
        };
        for i in from..self.segments.len() {
            let s = self.segments[i];
            if s.end.after(end) {
                break;
            }
            if s.has(SACKED) {
                continue;
            }
            let w = self.weight(&s);
            self.remove_loss_counts(&s, w);
            if s.is_plain() {
                self.touch();
            }
            self.segments[i].marks = (s.marks & !(LOST | RETRANSMITTED | TWICE)) | SACKED;
            if let Some(send_order) = &mut self.send_order {
                send_order.remove(i);
            }
            self.top = self.top.max(i + 1);
            self.sacked += w;
            self.sacked_segments += 1;
            d.delivered += s.not_counted(s.end);
            d.weight += w;
            d.sacked = true;
            self.deliver_segment(now, i, &s, d, ambiguity);
            if !s.was_retransmitted() {
                d.sacked_sent.get_or_insert(s.at);
            }
        }
    }

    fn remove_counts(&mut self, s: &Sent) {
        let w = self.weight(s);
        self.outstanding -= w;
        if s.has(SACKED) {
            self.sacked -= w;
            self.sacked_segments -= 1;
        }
        self.remove_loss_counts(s, w);
    }

    /// Subtract the size `w` of a segment from the totals of lost and retransmitted data.
    #[inline(always)]
    fn remove_loss_counts(&mut self, s: &Sent, w: u64) {
        if s.has(LOST) {
            self.lost -= w;
        }
        if s.has(RETRANSMITTED) {
            self.retransmitted -= w;
        }
        if s.has(TWICE) {
            self.twice -= w;
        }
    }
}
