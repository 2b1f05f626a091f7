//! The receiving half: what has arrived, and when to say so.

use net::{Segment, Seq};
use units::Time;

use crate::config::{GapAck, Tcp};

/// What a receiver counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverStats {
    /// Segments with data.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Segments that brought nothing new.
    pub duplicate_segments: u64,
    /// Bytes that had arrived before.
    pub duplicate_bytes: u64,
}

/// The receive sequence space (RFC 9293 §3.3.1) and the delayed ACK. What every segment touches comes
/// first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Receiver {
    /// When a delayed ACK goes out; [`Time::NEVER`]: none is delayed.
    pub ack_at: Time,
    /// RCV.NXT.
    pub next: Seq,
    unacknowledged: u32,
    /// Where the other side's data ends, once its FIN arrived.
    fin: Option<Seq>,
    /// An ACK is to go out now.
    pub ack_now: bool,
    /// What waits behind a gap: disjoint ranges in order, each [start, end).
    waiting: Vec<(Seq, Seq)>,
    pub(crate) stats: ReceiverStats,
}

impl Receiver {
    /// Expects nothing yet.
    pub fn new() -> Self {
        Receiver { ack_at: Time::NEVER, ..Receiver::default() }
    }

    /// Whether any of `segment` lies in the receive window (RFC 9293 §3.10.7.4, first check).
    #[inline]
    pub fn accepts(&self, segment: &Segment, window: u32) -> bool {
        let offset = segment.seq.minus(self.next);
        let end = segment.end().minus(self.next);
        offset < window as i32 && (end > 0 || (offset == 0 && end == 0))
    }

    /// Takes in the data and FIN of an acceptable segment. Returns whether the other side's FIN has
    /// now been reached.
    #[inline]
    pub fn on_data(&mut self, now: Time, segment: &Segment, tcp: &Tcp) -> bool {
        let end = segment.seq + u32::from(segment.len);
        if segment.flags.has(net::Flags::FIN) {
            self.fin = Some(end);
        }
        if segment.len > 0 {
            self.count(segment);
            if self.waiting.is_empty() && segment.seq == self.next {
                self.next = end;
                self.delay_ack(now, tcp);
            } else {
                self.out_of_order(now, segment.seq, end, tcp);
            }
        }
        let done = self.fin == Some(self.next);
        if self.fin.is_some() {
            self.ack_now = true;
        }
        if done {
            self.next = self.next + 1;
            self.fin = None;
        }
        done
    }

    fn count(&mut self, segment: &Segment) {
        self.stats.segments += 1;
        self.stats.bytes += u64::from(segment.len);
    }

    /// A segment outside the window: it is answered, and counted if it is old data.
    pub fn on_unacceptable(&mut self, segment: &Segment) {
        self.ack_now = true;
        if segment.len > 0 && segment.seq.before(self.next) {
            self.count(segment);
            self.stats.duplicate_segments += 1;
            self.stats.duplicate_bytes += u64::from(segment.len);
        }
    }

    /// Data that is not simply the next: old, ahead, or filling a gap.
    fn out_of_order(&mut self, now: Time, start: Seq, end: Seq, tcp: &Tcp) {
        let before = self.received_in(start, end);
        self.stats.duplicate_bytes += u64::from(before);
        self.stats.duplicate_segments += u64::from(before == end - start);
        if !end.after(self.next) || start.after(self.next) {
            if end.after(self.next) {
                self.insert(start, end);
            }
            self.ack_now = true; // RFC 5681 §4.2: at once, so that the sender learns of the gap
            return;
        }
        self.next = end;
        let mut released = false;
        while let Some(&(s, e)) = self.waiting.first() {
            if s.after(self.next) {
                break;
            }
            released = true;
            self.next = self.next.max(e);
            self.waiting.remove(0);
        }
        let at_once = released || tcp.gap_ack == GapAck::Immediate;
        if at_once {
            self.ack_now = true;
        } else {
            self.delay_ack(now, tcp);
        }
    }

    fn delay_ack(&mut self, now: Time, tcp: &Tcp) {
        self.unacknowledged += 1;
        if self.unacknowledged >= tcp.delayed_ack.0 as u32 {
            self.ack_now = true;
        } else if self.ack_at == Time::NEVER {
            self.ack_at = now + tcp.delayed_ack_timeout;
        }
    }

    /// An ACK of everything received has gone out.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.unacknowledged = 0;
        self.ack_now = false;
        self.ack_at = Time::NEVER;
    }

    /// How many bytes of [start, end) had arrived before.
    fn received_in(&self, start: Seq, end: Seq) -> u32 {
        let overlap = |s: Seq, e: Seq| {
            let low = s.max(start);
            let high = if e.before(end) { e } else { end };
            if low.before(high) { high - low } else { 0 }
        };
        let old = if start.before(self.next) { overlap(start, self.next) } else { 0 };
        old + self.waiting.iter().map(|&(s, e)| overlap(s, e)).sum::<u32>()
    }

    /// Adds [start, end) to what waits, merging what touches.
    fn insert(&mut self, mut start: Seq, mut end: Seq) {
        let first = self.waiting.iter().position(|w| !w.1.before(start)).unwrap_or(self.waiting.len());
        let mut last = first;
        while last < self.waiting.len() && !self.waiting[last].0.after(end) {
            let (s, e) = self.waiting[last];
            start = if s.before(start) { s } else { start };
            end = end.max(e);
            last += 1;
        }
        self.waiting.splice(first..last, [(start, end)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Flags;
    use proptest::prelude::*;
    use units::Duration;

    fn segment(seq: u32, len: u16) -> Segment {
        Segment { seq: Seq(seq), len, flags: Flags::ACK, ..Segment::default() }
    }

    fn feed(r: &mut Receiver, segments: &[(u32, u16)], tcp: &Tcp) {
        for &(seq, len) in segments {
            r.on_data(Time::ZERO, &segment(seq, len), tcp);
        }
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_first_waits() {
        let tcp = Tcp::default();
        let mut r = Receiver::new();
        r.on_data(Time::ZERO, &segment(0, 100), &tcp);
        assert_eq!((r.ack_now, r.ack_at), (false, Time::ZERO + Duration::from_millis(200)));
        r.on_data(Time::ZERO, &segment(100, 100), &tcp);
        assert!(r.ack_now);
        r.on_ack_sent();
        assert_eq!((r.ack_now, r.ack_at), (false, Time::NEVER));
    }

    #[test]
    fn a_gap_is_reported_at_once_and_its_filling_too() {
        let tcp = Tcp::default();
        let mut r = Receiver::new();
        feed(&mut r, &[(100, 100)], &tcp);
        assert!(r.ack_now && r.next == Seq(0));
        r.on_ack_sent();
        feed(&mut r, &[(300, 100), (0, 100)], &tcp);
        assert!(r.ack_now && r.next == Seq(200));
    }

    /// A segment that fills only part of a gap: RFC 5681 says at once, ns-2 lets it wait.
    #[test]
    fn a_partly_filled_gap() {
        for (gap_ack, at_once) in [(GapAck::Immediate, true), (GapAck::WhenReleased, false)] {
            let tcp = Tcp { gap_ack, ..Tcp::default() };
            let mut r = Receiver::new();
            feed(&mut r, &[(200, 100)], &tcp);
            r.on_ack_sent();
            feed(&mut r, &[(0, 100)], &tcp);
            assert_eq!(r.ack_now, at_once);
        }
    }

    #[test]
    fn duplicates_are_counted_by_the_byte() {
        let tcp = Tcp::default();
        let mut r = Receiver::new();
        feed(&mut r, &[(0, 100), (50, 100), (0, 100), (300, 100), (250, 200)], &tcp);
        assert_eq!((r.stats.duplicate_segments, r.stats.duplicate_bytes), (1, 50 + 100 + 100));
    }

    #[test]
    fn the_fin_counts_when_everything_before_it_arrived() {
        let tcp = Tcp::default();
        let mut r = Receiver::new();
        let fin = Segment { flags: Flags::FIN | Flags::ACK, ..segment(100, 100) };
        assert!(!r.on_data(Time::ZERO, &fin, &tcp));
        assert!(r.on_data(Time::ZERO, &segment(0, 100), &tcp));
        assert_eq!(r.next, Seq(201));
    }

    proptest! {
        /// Any order, overlap and repetition of segments, with sequence numbers that wrap, ends with
        /// exactly the bytes that were sent.
        #[test]
        fn reassembly_is_the_union_of_what_arrived(
            base in prop::num::u32::ANY,
            pieces in prop::collection::vec((0u32..60, 1u16..20), 1..80),
        ) {
            let tcp = Tcp::default();
            let mut r = Receiver::new();
            r.next = Seq(base);
            let mut have = [false; 100];
            let (mut bytes, mut duplicates) = (0u64, 0u64);
            for (start, len) in pieces {
                for byte in &mut have[start as usize..start as usize + len as usize] {
                    duplicates += u64::from(*byte);
                    *byte = true;
                }
                bytes += u64::from(len);
                r.on_data(Time::ZERO, &segment(base.wrapping_add(start), len), &tcp);
            }
            let in_order = have.iter().take_while(|b| **b).count() as u32;
            prop_assert_eq!(r.next, Seq(base) + in_order);
            prop_assert_eq!((r.stats.bytes, r.stats.duplicate_bytes), (bytes, duplicates));
            let waiting: u32 = r.waiting.iter().map(|w| w.1 - w.0).sum();
            prop_assert_eq!((in_order + waiting) as usize, have.iter().filter(|b| **b).count());
            prop_assert!(r.waiting.windows(2).all(|w| w[0].1.before(w[1].0)));
        }
    }
}
