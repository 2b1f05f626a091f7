//! The receiving half: what has arrived, and when to say so.

use net::{Options, Segment, Seq};
use units::{Duration, Time};

use crate::config::{DelayedAckUnit, GapAck, Tcp, WindowScaling, WindowTuning};
use crate::sender::timestamp;
use crate::tuning::Tuning;

/// A coarse clock for the age of TS.Recent: 2^40 ps, 1.1 s.
fn age_clock(now: Time) -> u32 {
    (now.0 >> 40) as u32
}

/// 24 days (RFC 7323 §5.5) of that clock.
const MOST_AGE: u32 = (Duration::from_millis(24 * 86_400_000).0 >> 40) as u32;

/// ACKs of what is behind a gap that are never held back (TCP_FASTRETRANS_THRESH), the part of a round trip for which others are, and the longest time
/// (tcp_comp_sack_delay_ns).
const HELD_AFTER: u8 = 3;
const HELD_FOR: u64 = 20;
const HELD_AT_MOST: Duration = Duration::from_millis(1);

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

/// The same, as it is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    bytes: u64,
    duplicate_bytes: u64,
    segments: u32,
    duplicate_segments: u32,
}

/// What waits behind a gap, and what was said of it.
#[derive(Clone, Debug, Default)]
struct Behind {
    /// Disjoint ranges in order, each [start, end).
    ranges: Vec<(Seq, Seq)>,
    /// Starts of the ranges reported last, the latest first (RFC 2018 §4).
    reported: [Option<Seq>; 4],
    /// The range that the last segment went into.
    latest: Option<Seq>,
    /// ACKs that went out at once for the gap at `gap`, and those that are held back.
    gap: Seq,
    at_once: u8,
    held: u8,
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
    /// ACKs that go out at once, still.
    quick: u16,
    /// Largest segment received.
    largest: u16,
    behind: Option<Box<Behind>>,
    /// Bytes in order that the application has not read.
    pub unread: u32,
    /// The window's right edge as it was last advertised.
    edge: Seq,
    /// A duplicate to report (RFC 2883).
    duplicate: Option<(Seq, Seq)>,
    /// TS.Recent and Last.ACK.sent (RFC 7323 §4.3).
    pub ts_recent: u32,
    ts_recent_at: u32,
    last_ack: Seq,
    /// When data last arrived, in milliseconds; kept where there are quick ACKs.
    heard: u32,
    stats: Counts,
    /// How the window is found, where it is not what the parameters say.
    tuning: Option<Box<Tuning>>,
}

impl Receiver {
    /// Expects `next`, after a SYN or SYN-ACK that told the other side of [`Receiver::first_window`].
    pub fn new(next: Seq, tcp: &Tcp) -> Self {
        let quick = tcp.quick_ack.0 as u16;
        let edge = next + Self::first_window(tcp);
        let tuned = tcp.window_tuning == WindowTuning::Linux;
        let tuning = tuned.then(|| Box::new(Tuning::new(next, tcp)));
        Receiver { ack_at: Time::NEVER, next, edge, last_ack: next, quick, tuning, ..Receiver::default() }
    }

    /// The window that the parameters give before anything arrives.
    pub fn whole_window(tcp: &Tcp) -> u32 {
        match tcp.window_tuning {
            WindowTuning::Off => tcp.receive_window.0 as u32,
            WindowTuning::Linux => Tuning::first_window(tcp),
        }
    }

    /// Room for received data.
    pub fn buffer(&self, tcp: &Tcp) -> u32 {
        self.tuning.as_ref().map_or(tcp.receive_window.0 as u32, |t| t.window(self.unread))
    }

    /// What was read in a round trip, where the window is tuned.
    pub fn space(&self) -> Option<u32> {
        self.tuning.as_ref().map(|t| t.read())
    }

    /// A segment with data arrives, with a timestamp of ours or none. While the window grows the number of quick ACKs stays odd, and
    /// does not come to its end (Linux, tcp_grow_window).
    #[inline(never)]
    pub fn tune(&mut self, now: Time, len: u16, echo: Option<u32>, tcp: &Tcp) {
        let next = self.next;
        let Some(tuning) = &mut self.tuning else { return };
        if let Some(echo) = echo.filter(|&e| e != 0) {
            let since = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)));
            tuning.on_echo(echo, since, u32::from(len));
        }
        if tuning.on_data(now, u32::from(len), next) && tcp.quick_ack.0 > 0.0 {
            self.quick |= 1;
        }
    }

    /// The application has read all that it wants for now.
    pub fn on_read(&mut self, now: Time) {
        let to = Seq(self.next.0.wrapping_sub(self.unread));
        if let Some(tuning) = &mut self.tuning {
            tuning.on_read(now, to);
        }
    }

    /// The window that a SYN or SYN-ACK tells, which is never scaled (RFC 7323 §2.2).
    pub fn first_window(tcp: &Tcp) -> u32 {
        let buffer = Self::whole_window(tcp);
        if tcp.window_scaling == WindowScaling::Full { buffer } else { buffer.min(65_535) }
    }

    /// Whether any of `segment` lies in the receive window (RFC 9293 §3.10.7.4, first check).
    #[inline]
    pub fn accepts(&self, segment: &Segment, window: u32) -> bool {
        acceptable(self.next, segment, window)
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
            if tcp.quick_ack.0 > 0.0 {
                self.heard = timestamp(now);
            }
            if self.behind.is_none() && segment.seq == self.next {
                self.advance(end);
                self.delay_ack(now, segment.len, tcp);
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

    /// Data comes with a SYN, or a SYN-ACK, and is acknowledged at once. What answers a SYN tells the whole window behind
    /// its data (Linux, tcp_fastopen_create_child).
    pub fn on_syn_data(&mut self, len: u16, of_syn: bool) {
        if of_syn {
            self.edge = self.edge + u32::from(len);
        }
        if len > 0 {
            self.stats.segments += 1;
            self.stats.bytes += u64::from(len);
            self.advance(self.next + u32::from(len));
        }
    }

    fn advance(&mut self, to: Seq) {
        self.unread = self.unread.saturating_add(to - self.next);
        self.next = to;
    }

    fn count(&mut self, segment: &Segment) {
        self.stats.segments += 1;
        self.stats.bytes += u64::from(segment.len);
        self.largest = self.largest.max(segment.len);
    }

    /// A segment outside the window: it is answered, and counted if it is old data.
    pub fn on_unacceptable(&mut self, segment: &Segment, tcp: &Tcp) {
        self.ack_now = true;
        if segment.len > 0 && !segment.seq.after(self.next) {
            self.quicken(u16::MAX, tcp);
        }
        if segment.len > 0 && segment.seq.before(self.next) {
            self.count(segment);
            self.stats.duplicate_segments += 1;
            self.stats.duplicate_bytes += u64::from(segment.len);
            let end = segment.seq + u32::from(segment.len);
            let end = if end.after(self.next) { self.next } else { end };
            self.duplicate = Some((segment.seq, end));
        }
    }

    /// Data that is not simply the next: old, ahead, or filling a gap.
    #[inline(never)]
    fn out_of_order(&mut self, now: Time, start: Seq, end: Seq, tcp: &Tcp) {
        let before = self.received_in(start, end);
        self.stats.duplicate_bytes += u64::from(before);
        self.stats.duplicate_segments += u32::from(before == end - start);
        if before > 0 {
            self.duplicate = Some(self.first_duplicate(start, end));
        }
        if !end.after(self.next) || start.after(self.next) {
            if end.after(self.next) {
                self.insert(start, end);
                if self.holds_back(now, tcp) {
                    return;
                }
            } else {
                self.quicken(u16::MAX, tcp);
            }
            self.ack_now = true; // RFC 5681 §4.2: at once, so that the sender learns of the gap
            return;
        }
        self.advance(end);
        let mut released = false;
        if let Some(mut behind) = self.behind.take() {
            while let Some(&(s, e)) = behind.ranges.first() {
                if s.after(self.next) {
                    break;
                }
                released = true;
                self.advance(self.next.max(e));
                behind.ranges.remove(0);
            }
            behind.latest = None;
            self.behind = (!behind.ranges.is_empty()).then_some(behind);
        }
        let at_once = released || tcp.gap_ack == GapAck::Immediate;
        if at_once {
            self.ack_now = true;
        } else {
            self.delay_ack(now, (end - start) as u16, tcp);
        }
    }

    /// Whether the ACK of data behind a gap is held back, to go out with the next ones (Linux, __tcp_ack_snd_check).
    fn holds_back(&mut self, now: Time, tcp: &Tcp) -> bool {
        let most = tcp.compressed_acks.0 as u8;
        let rtt = self.tuning.as_ref().and_then(|t| t.rtt()).unwrap_or(Duration::ZERO);
        let Some(behind) = self.behind.as_mut().filter(|_| most > 0) else { return false };
        if behind.gap != self.next {
            (behind.gap, behind.at_once) = (self.next, 0);
        }
        if behind.at_once < HELD_AFTER {
            behind.at_once += 1;
            return false;
        }
        behind.held = behind.held.saturating_add(1);
        if self.quick > 0 || self.unacknowledged > 0 || behind.held > most || rtt == Duration::ZERO {
            return false;
        }
        let delay = Duration(rtt.0 / HELD_FOR).min(HELD_AT_MOST);
        if behind.held == 1 {
            self.ack_at = now + delay;
        }
        true
    }

    fn delay_ack(&mut self, now: Time, len: u16, tcp: &Tcp) {
        let n = tcp.delayed_ack.0 as u32;
        let due = match tcp.delayed_ack_unit {
            DelayedAckUnit::Segments => {
                self.unacknowledged += 1;
                self.unacknowledged >= n
            }
            DelayedAckUnit::FullSegments => {
                self.unacknowledged += u32::from(len);
                self.unacknowledged > (n - 1) * u32::from(self.largest.max(1))
            }
        };
        if due || self.quick > 0 {
            self.ack_now = true;
        } else if self.ack_at == Time::NEVER {
            self.ack_at = now + tcp.delayed_ack_timeout;
        }
    }

    /// An ACK of everything received has gone out.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        if self.unacknowledged > 0 || self.ack_now {
            self.quick = self.quick.saturating_sub(1);
        }
        self.unacknowledged = 0;
        self.ack_now = false;
        self.ack_at = Time::NEVER;
        self.last_ack = self.next;
        if let Some(behind) = &mut self.behind {
            behind.held = 0;
        }
    }

    /// Data goes out; soon after data came in, the conversation is interactive, and its ACKs can wait for
    /// it (Linux, tcp_event_data_sent).
    pub fn on_conversation(&mut self, now: Time, tcp: &Tcp) {
        let since = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(self.heard)));
        if self.quick > 0 && self.stats.segments > 0 && since < tcp.delayed_ack_timeout {
            self.quick = 0;
        }
    }

    /// The next ACKs of data go out at once: so many, as far as the parameters allow (Linux, tcp_incr_quickack).
    #[inline(never)]
    pub fn quicken(&mut self, most: u16, tcp: &Tcp) {
        self.quick = self.quick.max(most.min(tcp.quick_ack.0 as u16));
    }

    /// The time since data arrived last. After a pause longer than the timeout its sender may have a small window (Linux,
    /// tcp_event_data_recv).
    #[inline]
    pub fn pause(&self, now: Time) -> Option<Duration> {
        let since = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(self.heard)));
        (self.stats.segments > 0).then_some(since)
    }

    /// ACKs go out at once, or not, as the application wishes.
    pub fn set_quick(&mut self, on: bool) {
        self.quick = if on { u16::MAX } else { 0 };
        self.ack_now |= on && self.unacknowledged > 0;
    }

    /// Whether ACKs go out at once.
    pub fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// What it counted.
    pub fn stats(&self) -> ReceiverStats {
        let Counts { bytes, duplicate_bytes, segments, duplicate_segments } = self.stats;
        ReceiverStats {
            segments: u64::from(segments),
            bytes,
            duplicate_segments: u64::from(duplicate_segments),
            duplicate_bytes,
        }
    }

    /// Whether an ACK is delayed.
    pub fn owes_ack(&self) -> bool {
        self.unacknowledged > 0
    }

    /// Largest segment received.
    pub fn largest(&self) -> u16 {
        self.largest
    }

    /// The window to advertise, with a buffer of `buffer` bytes: never taken back (RFC 9293 §3.8.6),
    /// and opened by no less than a segment or half the buffer (§3.8.6.2.2).
    pub fn window(&mut self, buffer: u32, smss: u32) -> u32 {
        let free = buffer.saturating_sub(self.unread);
        let old = if self.edge.after(self.next) { self.edge - self.next } else { 0 };
        let window = if free >= old.saturating_add(smss.min(buffer / 2)) || free >= buffer {
            free.max(old)
        } else {
            old
        };
        self.edge = self.next + window;
        window
    }

    /// The window that was advertised last, as far as it is not used.
    pub fn advertised(&self) -> u32 {
        if self.edge.after(self.next) { self.edge - self.next } else { 0 }
    }

    /// The application reads up to `bytes`; whether the window has opened so far that the other side
    /// should be told. `most`: of which the window field can tell.
    pub fn read(&mut self, bytes: u32, buffer: u32, most: u32, smss: u32) -> (u32, bool) {
        let n = bytes.min(self.unread);
        self.unread -= n;
        let free = buffer.saturating_sub(self.unread).min(most);
        let told = self.advertised();
        (n, n > 0 && free >= 2 * told && free >= told + smss.min(buffer / 2))
    }

    /// PAWS (RFC 7323 §5.3, R1): whether a timestamp is from the past; of an idle time longer than 24 days nothing can be
    /// told (§5.5).
    pub fn is_stale(&self, now: Time, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0 && age_clock(now) - self.ts_recent_at <= MOST_AGE
    }

    /// A timestamp arrives with an acceptable segment (RFC 7323 §4.3; §5.3, R3).
    pub fn on_timestamp(&mut self, now: Time, value: u32, seq: Seq) {
        if !seq.after(self.last_ack) && !self.is_stale(now, value) {
            self.set_ts_recent(now, value);
        }
    }

    /// TS.Recent is this.
    pub fn set_ts_recent(&mut self, now: Time, value: u32) {
        (self.ts_recent, self.ts_recent_at) = (value, age_clock(now));
    }

    /// Adds the SACK blocks of an ACK (RFC 2018 §4): the latest first, then those reported before; ahead
    /// of them a duplicate (RFC 2883 §4), if `dsack`.
    pub fn report(&mut self, options: &mut Options, dsack: bool) {
        if let Some(block) = self.duplicate.take().filter(|_| dsack) {
            options.push_sack(block);
        }
        let Some(behind) = &mut self.behind else { return };
        let ranges = &behind.ranges;
        let containing = |seq: Seq| {
            let after = ranges[ranges.partition_point(|r| !r.1.after(seq))..].first().copied();
            after.filter(|r| !seq.before(r.0))
        };
        let mut blocks: [Option<(Seq, Seq)>; 4] = [None; 4];
        let mut n = 0;
        let candidates = [behind.latest].into_iter().chain(behind.reported).flatten();
        for block in candidates.filter_map(containing).chain(ranges.iter().copied()) {
            if n == 4 {
                break;
            }
            if !blocks[..n].contains(&Some(block)) {
                blocks[n] = Some(block);
                n += 1;
            }
        }
        for block in blocks.iter().flatten() {
            options.push_sack(*block);
        }
        behind.reported = blocks.map(|b| b.map(|b| b.0));
    }

    /// Bytes that the SACK option of an ACK takes with up to `most` blocks, padded.
    pub fn report_room(&self, most: usize, dsack: bool) -> u16 {
        let duplicate = usize::from(dsack && self.duplicate.is_some());
        let blocks = (self.ranges().len() + duplicate).min(most) as u16;
        if blocks == 0 { 0 } else { 4 + 8 * blocks }
    }

    /// Whether anything waits behind a gap, or a duplicate is to be reported.
    pub fn has_report(&self) -> bool {
        self.behind.is_some() || self.duplicate.is_some()
    }

    /// How many bytes of [start, end) had arrived before.
    fn received_in(&self, start: Seq, end: Seq) -> u32 {
        let overlap = |s: Seq, e: Seq| {
            let low = s.max(start);
            let high = if e.before(end) { e } else { end };
            if low.before(high) { high - low } else { 0 }
        };
        let old = if start.before(self.next) { overlap(start, self.next) } else { 0 };
        let met = self.ranges_after(start).iter().take_while(|r| r.0.before(end));
        old + met.map(|&(s, e)| overlap(s, e)).sum::<u32>()
    }

    /// The ranges that end after `start`.
    fn ranges_after(&self, start: Seq) -> &[(Seq, Seq)] {
        let ranges = self.ranges();
        match ranges.last() {
            Some(last) if last.1.after(start) => &ranges[ranges.partition_point(|r| !r.1.after(start))..],
            _ => &[], // most often, as segments come in order behind a gap
        }
    }

    fn ranges(&self) -> &[(Seq, Seq)] {
        self.behind.as_ref().map_or(&[], |b| &b.ranges)
    }

    /// The first range of [start, end) that had arrived before.
    fn first_duplicate(&self, start: Seq, end: Seq) -> (Seq, Seq) {
        let cut = |e: Seq| if e.before(end) { e } else { end };
        if start.before(self.next) {
            return (start, cut(self.next));
        }
        let first = self.ranges_after(start).first().filter(|r| r.0.before(end));
        first.map_or((start, end), |r| (r.0.max(start), cut(r.1)))
    }

    /// Adds [start, end) to what waits, merging what touches.
    fn insert(&mut self, mut start: Seq, mut end: Seq) {
        let behind = self.behind.get_or_insert_default();
        let ranges = &mut behind.ranges;
        behind.latest = Some(start);
        if let Some(newest) = ranges.last_mut().filter(|w| w.1 == start) {
            newest.1 = end; // the segment after the one that came last
            behind.latest = Some(newest.0);
            return;
        }
        let first = ranges.partition_point(|w| w.1.before(start));
        let mut last = first;
        while last < ranges.len() && !ranges[last].0.after(end) {
            let (s, e) = ranges[last];
            start = if s.before(start) { s } else { start };
            end = end.max(e);
            last += 1;
        }
        ranges.splice(first..last, [(start, end)]);
        behind.latest = Some(start);
    }
}

/// Whether any of `segment` lies in a window of `window` bytes from `next` (RFC 9293 §3.10.7.4, first
/// check).
#[inline]
pub fn acceptable(next: Seq, segment: &Segment, window: u32) -> bool {
    let offset = segment.seq.minus(next);
    let end = segment.end().minus(next);
    let empty = offset == 0 && end == 0;
    (i64::from(offset) < i64::from(window) && end > 0) || empty
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
    fn a_receiver_stays_small() {
        assert!(size_of::<Receiver>() <= 112, "{}", size_of::<Receiver>());
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_first_waits() {
        let tcp = Tcp::default();
        let mut r = Receiver::new(Seq(0), &tcp);
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
        let mut r = Receiver::new(Seq(0), &tcp);
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
            let mut r = Receiver::new(Seq(0), &tcp);
            feed(&mut r, &[(200, 100)], &tcp);
            r.on_ack_sent();
            feed(&mut r, &[(0, 100)], &tcp);
            assert_eq!(r.ack_now, at_once);
        }
    }

    #[test]
    fn duplicates_are_counted_by_the_byte() {
        let tcp = Tcp::default();
        let mut r = Receiver::new(Seq(0), &tcp);
        feed(&mut r, &[(0, 100), (50, 100), (0, 100), (300, 100), (250, 200)], &tcp);
        assert_eq!((r.stats.duplicate_segments, r.stats.duplicate_bytes), (1, 50 + 100 + 100));
    }

    #[test]
    fn the_fin_counts_when_everything_before_it_arrived() {
        let tcp = Tcp::default();
        let mut r = Receiver::new(Seq(0), &tcp);
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
            let mut r = Receiver::new(Seq(base), &tcp);
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
            let waiting: u32 = r.ranges().iter().map(|w| w.1 - w.0).sum();
            prop_assert_eq!((in_order + waiting) as usize, have.iter().filter(|b| **b).count());
            prop_assert!(r.ranges().windows(2).all(|w| w[0].1.before(w[1].0)));
        }
    }
}
