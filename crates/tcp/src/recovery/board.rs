//! The scoreboard: every segment sent and not acknowledged, and what is known of it (RFC 6675 §3,
//! `rfc6675`; RFC 8985 §5.2, `rfc8985`). Counts are kept as they change, so that the amount in flight
//! (pipe) is known without a walk.

use std::collections::VecDeque;

use net::Seq;
use units::{Duration, Time};

use crate::recovery::by_time::ByTime;
use crate::recovery::rack::{Rack, sent_after};

/// Received out of order, as a SACK block said.
const SACKED: u8 = 1;
/// Deemed lost.
const LOST: u8 = 2;
/// A retransmission of it is in flight.
const RESENT: u8 = 4;
/// It was sent more than once.
const EVER_RESENT: u8 = 8;
/// The application had no more when it was sent.
const APP_LIMITED: u8 = 16;
/// It was SACKed before that was forgotten: its delivery is counted already.
const COUNTED: u8 = 32;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its first sequence number.
    pub start: Seq,
    /// One past its last.
    pub end: Seq,
    /// When it was last sent.
    pub at: Time,
    /// Bytes delivered by then, and when the last of them was.
    pub delivered: u64,
    /// When the last delivery before it was.
    pub delivered_at: Time,
    /// When the flight began that it belongs to.
    pub first_sent: Time,
    marks: u8,
}

impl Sent {
    fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }
    /// Bytes of it before `end` whose delivery is not counted yet.
    fn not_counted(&self, end: Seq) -> u32 {
        if self.has(SACKED | COUNTED) { 0 } else { end - self.start }
    }
    /// Whether it was sent more than once.
    pub fn resent(&self) -> bool {
        self.has(EVER_RESENT)
    }
    /// Whether the application had no more when it was sent.
    pub fn app_limited(&self) -> bool {
        self.has(APP_LIMITED)
    }
}

/// What an ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Bytes newly acknowledged or SACKed.
    pub delivered: u32,
    /// The same in units of flight.
    pub weight: u64,
    /// When the first of them that was sent only once, and acknowledged cumulatively, was sent.
    pub first_sent: Option<Time>,
    /// The same of those SACKed.
    pub sacked_sent: Option<Time>,
    /// The last sent of those delivered.
    pub newest: Option<Sent>,
    /// The same of those that RACK trusts (RFC 8985 §6.2, step 2): when it was sent, and its end.
    valid: Option<(Time, Seq)>,
    /// A segment sent only once was delivered.
    pub original: bool,
    /// Something was SACKed for the first time.
    pub sacked: bool,
    /// A D-SACK block: something arrived twice.
    pub dsack: bool,
    /// Segments fully acknowledged.
    pub segments: u32,
}

/// Delivery times against which a sample of the rate is taken.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Bytes delivered so far.
    pub delivered: u64,
    /// When the last of them was.
    pub delivered_at: Time,
    /// When the present flight began.
    pub first_sent: Time,
}

/// The scoreboard.
#[derive(Clone, Debug, Default)]
pub struct Board {
    segments: VecDeque<Sent>,
    /// What a segment counts for whatever its size; 0: its bytes.
    unit: u32,
    outstanding: u64,
    sacked: u64,
    lost: u64,
    resent: u64,
    sacked_segments: u32,
    /// Nothing before this index waits to be sent again.
    first_lost: usize,
    /// Everything before this index is SACKed or deemed lost.
    first_open: usize,
    /// Nothing from this index on is SACKed.
    top: usize,
    /// Blocks of the last ACK, that were walked already.
    walked: [(Seq, Seq); 4],
    walked_count: u8,
    /// RACK's state.
    pub rack: Rack,
    /// With RACK: what is neither SACKed, nor deemed lost and not sent again since, by the time when it was last sent.
    by_time: Option<Box<ByTime>>,
}

impl Board {
    /// An empty board. `unit`: what every segment counts for; 0: its bytes. `rack`: losses are found by time.
    pub fn new(unit: u32, rack: bool) -> Self {
        Board { unit, by_time: rack.then(Box::default), ..Board::default() }
    }

    fn weight(&self, sent: &Sent) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { sent.end - sent.start })
    }

    /// What a segment of `len` bytes counts for.
    pub fn weight_of(&self, len: u32) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { len })
    }

    /// What is in flight (pipe, RFC 6675 §4).
    pub fn pipe(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.resent
    }

    /// Segments out, SACKed, deemed lost, and sent again and not lost since.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        let count = |mark| self.segments.iter().filter(|s| s.has(mark)).count() as u32;
        (self.segments.len() as u32, self.sacked_segments, count(LOST), count(RESENT))
    }

    /// How many segments are out.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether nothing is out.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments SACKed.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Whether anything is deemed lost.
    pub fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Whether something deemed lost waits to be sent again.
    pub fn waits(&self) -> bool {
        self.lost > self.resent || (self.unit == 0 && self.lost != self.resent)
    }

    /// The SACKed segments, the highest first.
    pub fn sacked_from_the_top(&self) -> impl Iterator<Item = &Sent> {
        self.segments.range(..self.top).rev().filter(|s| s.has(SACKED))
    }

    /// One past the highest byte SACKed (snd.fack).
    pub fn forward_most(&self) -> Option<Seq> {
        self.sacked_from_the_top().next().map(|s| s.end)
    }

    /// When the first segment was last sent.
    pub fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// The last segment.
    pub fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }

    /// New data goes out.
    pub fn on_sent(&mut self, start: Seq, end: Seq, at: Time, clock: &Clock, app_limited: bool) {
        let marks = if app_limited { APP_LIMITED } else { 0 };
        let Clock { delivered, delivered_at, first_sent } = *clock;
        let sent = Sent { start, end, at, delivered, delivered_at, first_sent, marks };
        self.outstanding += self.weight(&sent);
        self.segments.push_back(sent);
        if let Some(by_time) = &mut self.by_time {
            by_time.push_back();
        }
    }

    /// What is to be sent again next: [start, end), at most `most` bytes; its place for [`Board::on_resent`].
    pub fn next_lost(&mut self) -> Option<(usize, Seq, Seq)> {
        if self.lost == 0 {
            return None;
        }
        while let Some(s) = self.segments.get(self.first_lost) {
            if s.has(LOST) && !s.has(RESENT) && !s.has(SACKED) {
                return Some((self.first_lost, s.start, s.end));
            }
            self.first_lost += 1;
        }
        None
    }

    /// The segment at `index` goes out again.
    pub fn on_resent(&mut self, index: usize, at: Time, clock: &Clock) {
        let Some(s) = self.segments.get_mut(index) else { return };
        let newly = !s.has(RESENT);
        s.marks = (s.marks & !APP_LIMITED) | RESENT | EVER_RESENT;
        s.at = at;
        (s.delivered, s.delivered_at, s.first_sent) = (clock.delivered, clock.delivered_at, clock.first_sent);
        let s = *s;
        if let Some(by_time) = self.by_time.as_mut().filter(|_| !s.has(SACKED)) {
            by_time.remove(index);
            by_time.append(index);
        }
        if newly && s.has(LOST) {
            self.resent += self.weight(&s);
        } else if newly {
            // A probe of what is not deemed lost: it is in flight once.
            self.segments[index].marks &= !RESENT;
        }
    }

    /// Index of the last segment.
    pub fn last_index(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }

    fn forget(&mut self, s: &Sent) {
        let w = self.weight(s);
        self.outstanding -= w;
        if s.has(SACKED) {
            self.sacked -= w;
            self.sacked_segments -= 1;
        }
        if s.has(LOST) {
            self.lost -= w;
        }
        if s.has(RESENT) {
            self.resent -= w;
        }
    }

    /// An ACK arrived with these SACK blocks; `una`: before it.
    pub fn on_ack(
        &mut self,
        now: Time,
        una: Seq,
        ack: Seq,
        blocks: &[(Seq, Seq)],
        max: Seq,
        min_rtt: Duration,
    ) -> Delivery {
        let mut d = Delivery::default();
        while let Some(s) = self.segments.front().copied() {
            if !s.end.after(ack) {
                if !s.has(SACKED) {
                    d.delivered += s.not_counted(s.end);
                    d.weight += self.weight(&s);
                    self.take(now, &s, &mut d, min_rtt);
                    if !s.resent() && d.first_sent.is_none() {
                        d.first_sent = Some(s.at);
                    }
                }
                d.segments += 1;
                self.forget(&s);
                self.segments.pop_front();
                if let Some(by_time) = &mut self.by_time {
                    by_time.pop_front();
                }
                for index in [&mut self.first_lost, &mut self.first_open, &mut self.top] {
                    *index = index.saturating_sub(1);
                }
                continue;
            }
            if s.start.before(ack) {
                // Part of a segment: the rest stays.
                let before = self.weight(&s);
                self.segments[0].start = ack;
                let cut = before - self.weight(&self.segments[0]);
                d.delivered += s.not_counted(ack);
                d.weight += cut;
                self.outstanding -= cut;
                self.sacked -= if s.has(SACKED) { cut } else { 0 };
                self.lost -= if s.has(LOST) { cut } else { 0 };
                self.resent -= if s.has(RESENT) { cut } else { 0 };
            }
            break;
        }
        let latest = una.max(ack);
        let mut order = [0, 1, 2, 3];
        let order = &mut order[..blocks.len().min(4)];
        if self.by_time.is_some() {
            order.sort_unstable_by_key(|&i| blocks[i].0 - una); // RFC 8985 §6.2, step 3: in ascending order
        }
        for &mut i in order {
            let (start, end) = blocks[i];
            if !start.before(end) || end.after(max) {
                continue;
            }
            if i == 0 && self.is_duplicate(start, end, latest, blocks) {
                d.dsack = true;
                continue;
            }
            if !start.before(latest) {
                self.sack(now, start, end, &mut d, min_rtt);
            }
        }
        if let Some((sent, end)) = d.valid {
            self.rack.on_delivered(now, sent, end);
        }
        self.walked_count = blocks.len().min(4) as u8;
        for (to, from) in self.walked.iter_mut().zip(blocks) {
            *to = *from;
        }
        d
    }

    /// Whether the first block is a D-SACK (RFC 2883 §4): below the acknowledgement, or within the second.
    fn is_duplicate(&self, start: Seq, end: Seq, ack: Seq, blocks: &[(Seq, Seq)]) -> bool {
        !end.after(ack) || blocks.get(1).is_some_and(|b| !start.before(b.0) && !end.after(b.1))
    }

    fn take(&mut self, now: Time, s: &Sent, d: &mut Delivery, min_rtt: Duration) {
        d.original |= !s.resent();
        if d.newest.is_none_or(|n| s.at > n.at || (s.at == n.at && s.end.after(n.end))) {
            d.newest = Some(*s);
        }
        let ambiguous = s.resent() && now.since(s.at) < min_rtt; // the ACK may be of an earlier transmission
        if !ambiguous && d.valid.is_none_or(|v| sent_after((s.at, s.end), v)) {
            d.valid = Some((s.at, s.end));
        }
        self.rack.on_order(s.end, s.resent());
    }

    fn sack(&mut self, now: Time, mut start: Seq, mut end: Seq, d: &mut Delivery, min_rtt: Duration) {
        for &(s, e) in &self.walked[..usize::from(self.walked_count)] {
            if !start.before(s) && start.before(e) {
                start = start.max(e);
            }
            if end.after(s) && !end.after(e) && !start.after(s) {
                end = s;
            }
        }
        if !start.before(end) {
            return;
        }
        let from = self.segments.partition_point(|s| s.start.before(start));
        for i in from..self.segments.len() {
            let s = self.segments[i];
            if s.end.after(end) {
                break;
            }
            if s.has(SACKED) {
                continue;
            }
            let w = self.weight(&s);
            if s.has(LOST) {
                self.lost -= w;
            }
            if s.has(RESENT) {
                self.resent -= w;
            }
            self.segments[i].marks = (s.marks & !(LOST | RESENT)) | SACKED;
            if let Some(by_time) = &mut self.by_time {
                by_time.remove(i);
            }
            self.top = self.top.max(i + 1);
            self.sacked += w;
            self.sacked_segments += 1;
            d.delivered += s.not_counted(s.end);
            d.weight += w;
            d.sacked = true;
            self.take(now, &s, d, min_rtt);
            if !s.resent() {
                d.sacked_sent = Some(s.at);
            }
        }
    }

    fn lose(&mut self, i: usize) -> u32 {
        let s = self.segments[i];
        let w = self.weight(&s);
        if !s.has(LOST) {
            self.lost += w;
        }
        if s.has(RESENT) {
            self.resent -= w;
        }
        self.segments[i].marks = (s.marks | LOST) & !RESENT;
        if let Some(by_time) = &mut self.by_time {
            by_time.remove(i);
        }
        self.first_lost = self.first_lost.min(i);
        s.end - s.start
    }

    /// Everything not SACKed and never retransmitted that starts before `limit` is lost. Returns the bytes newly lost.
    pub fn lose_before(&mut self, limit: Seq) -> u32 {
        let mut bytes = 0;
        while let Some(s) = self.segments.get(self.first_open).filter(|s| s.start.before(limit)) {
            if !s.has(SACKED | LOST) {
                bytes += self.lose(self.first_open);
            }
            self.first_open += 1;
        }
        bytes
    }

    /// RACK_detect_loss (RFC 8985 §6.2, step 5): the bytes newly lost, and when all that may be reordered still would be.
    pub fn lose_by_time(&mut self, now: Time, reordering_window: Duration) -> (u32, Option<Time>) {
        let (mut bytes, mut all_due) = (0, None);
        let mut next = self.by_time.as_ref().and_then(|b| b.first());
        while let Some(i) = next {
            let s = self.segments[i];
            if self.rack.is_later(s.at) {
                break; // what follows was sent later still
            }
            next = self.by_time.as_ref().and_then(|b| b.later(i));
            match self.rack.lost_at(s.at, s.end, reordering_window) {
                Some(at) if at > now => all_due = Some(at), // later than those before it
                Some(_) => bytes += self.lose(i),
                None => {}
            }
        }
        (bytes, all_due)
    }

    /// The timer expired, with RACK (RFC 8985 §6.3): lost is the first segment, and what was sent a round trip and the
    /// reordering window ago. Where the receiver went back on its word, everything is ([`Board::lose_all`]).
    pub fn lose_on_timeout(&mut self, now: Time, reordering_window: Duration) {
        if self.segments.front().is_some_and(|s| s.has(SACKED)) {
            return self.lose_all(true);
        }
        for i in 0..self.segments.len() {
            let s = &self.segments[i];
            if !s.has(SACKED) && (i == 0 || self.rack.is_old(now, s.at, reordering_window)) {
                self.lose(i);
            }
        }
    }

    /// The timer expired: everything not SACKed is lost (RFC 6298 §5.4). If the first
    /// segment was SACKed the receiver went back on its word, and no SACK counts any more (RFC 2018 §8).
    ///
    /// `forget`: nothing that was SACKed before counts (RFC 6675 §5.1).
    pub fn lose_all(&mut self, forget: bool) {
        if forget || self.segments.front().is_some_and(|s| s.has(SACKED)) {
            for s in &mut self.segments {
                if s.has(SACKED) {
                    s.marks = (s.marks & !SACKED) | COUNTED;
                }
            }
            (self.sacked, self.sacked_segments, self.walked_count, self.top) = (0, 0, 0, 0);
        }
        for i in 0..self.segments.len() {
            if !self.segments[i].has(SACKED) {
                self.lose(i);
            }
        }
    }

    /// The first hole below what was SACKed that is neither deemed lost nor sent again.
    pub fn next_hole(&self) -> Option<(usize, Seq, Seq)> {
        let i = (self.first_open..self.top).find(|&i| !self.segments[i].has(SACKED | LOST))?;
        Some((i, self.segments[i].start, self.segments[i].end))
    }

    /// The last segment that was not SACKed.
    pub fn last_not_sacked(&self) -> Option<(usize, Seq, Seq)> {
        let s = self.segments.iter().enumerate().rev().find(|(_, s)| !s.has(SACKED))?;
        Some((s.0, s.1.start, s.1.end))
    }

    /// A segment is deemed lost.
    pub fn lose_at(&mut self, i: usize) {
        if self.segments.get(i).is_some_and(|s| !s.has(SACKED | LOST)) {
            self.lose(i);
        }
    }

    /// What was deemed lost was not.
    pub fn find_again(&mut self) {
        for s in &mut self.segments {
            s.marks &= !(LOST | RESENT);
        }
        (self.lost, self.resent, self.first_open) = (0, 0, 0);
        if let Some(by_time) = &mut self.by_time {
            let sent = self.segments.iter().enumerate().filter(|(_, s)| !s.has(SACKED));
            let mut sent: Vec<_> = sent.map(|(i, s)| (s.at, i)).collect();
            sent.sort_unstable();
            for (_, i) in sent {
                by_time.remove(i);
                by_time.append(i);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RACK_detect_loss as RFC 8985 §6.2 has it, over every segment.
    fn lose_one_by_one(board: &mut Board, now: Time, window: Duration) -> (u32, Option<Time>) {
        let (mut bytes, mut all_due) = (0, None);
        for i in 0..board.segments.len() {
            let s = board.segments[i];
            if s.has(SACKED) || (s.has(LOST) && !s.has(RESENT)) {
                continue;
            }
            if let Some(at) = board.rack.lost_at(s.at, s.end, window) {
                if at <= now {
                    bytes += board.lose(i);
                } else {
                    all_due = all_due.max(Some(at));
                }
            }
        }
        (bytes, all_due)
    }

    /// [`Board::lose_before`] over every segment.
    fn lose_each_before(board: &mut Board, limit: Seq) -> u32 {
        let due = |s: &Sent| s.start.before(limit) && !s.has(SACKED | LOST);
        (0..board.segments.len()).map(|i| if due(&board.segments[i]) { board.lose(i) } else { 0 }).sum()
    }

    proptest! {
        /// Whatever is sent, resent, SACKed, acknowledged and taken back: what is kept from ACK to ACK finds the same losses
        /// and holes as looking at every segment.
        #[test]
        fn losses_are_those_of_a_walk_over_every_segment(
            rack in any::<bool>(),
            steps in prop::collection::vec((0u8..10, 0u32..30, 0u32..6, 0u64..4), 1..150),
        ) {
            let clock = Clock { delivered: 0, delivered_at: Time(0), first_sent: Time(0) };
            let mut board = Board::new(0, rack);
            let (mut now, mut una, mut max) = (Time(100), Seq(u32::MAX - 50), Seq(u32::MAX - 50));
            for (step, a, b, t) in steps {
                now = Time(now.0 + t);
                match step {
                    0..=2 => {
                        for _ in 0..b {
                            board.on_sent(max, max + 10, now, &clock, false);
                            max = max + 10;
                        }
                    }
                    3 | 4 => {
                        for _ in 0..=b {
                            if let Some((i, ..)) = board.next_lost() {
                                board.on_resent(i, now, &clock);
                            }
                        }
                    }
                    5 if !board.is_empty() => board.on_resent(board.last_index(), now, &clock),
                    6 if a == 0 => board.lose_all(b == 0),
                    6 if a == 1 => board.find_again(),
                    6 if a == 2 => board.lose_on_timeout(now, Duration(t)),
                    _ => {
                        let out = max - una;
                        let ack = una + (if step == 7 { 5 * b } else { 0 }).min(out);
                        let start = una + 10 * a;
                        let blocks = [(start, start + 10 * (b + 1))];
                        board.on_ack(now, una, ack, &blocks, max, Duration(3));
                        una = ack;
                    }
                }
                let mut literal = board.clone();
                let sacked = board.segments.iter().rev().filter(|s| s.has(SACKED)).map(|s| s.start);
                prop_assert!(board.sacked_from_the_top().map(|s| s.start).eq(sacked));
                if rack {
                    let expected = lose_one_by_one(&mut literal, now, Duration(t));
                    prop_assert_eq!(board.lose_by_time(now, Duration(t)), expected);
                } else {
                    let limit = una + 7 * a;
                    prop_assert_eq!(board.lose_before(limit), lose_each_before(&mut literal, limit));
                    let top = board.segments.iter().rposition(|s| s.has(SACKED)).unwrap_or(0);
                    let hole = (0..top).find(|&i| !board.segments[i].has(SACKED | LOST));
                    prop_assert_eq!(board.next_hole().map(|(i, ..)| i), hole);
                    if let Some(hole) = hole.filter(|_| b == 0) {
                        board.lose_at(hole);
                        literal.lose_at(hole);
                    }
                }
                let marks = |b: &Board| b.segments.iter().map(|s| s.marks).collect::<Vec<_>>();
                prop_assert_eq!(marks(&board), marks(&literal));
                prop_assert_eq!((board.pipe(), board.first_lost), (literal.pipe(), literal.first_lost));
            }
        }
    }

    /// RFC 8985 §6.2, step 2, "in ascending order of Segment.xmit_ts": RACK.rtt is that of the segment sent last, here
    /// the first, that was sent again.
    #[test]
    fn the_round_trip_is_of_the_segment_sent_last() {
        let clock = Clock { delivered: 0, delivered_at: Time(0), first_sent: Time(0) };
        let mut board = Board::new(0, true);
        for i in 0..2 {
            board.on_sent(Seq(i * 10), Seq((i + 1) * 10), Time(0), &clock, false);
        }
        board.lose_at(0);
        board.on_resent(0, Time(100), &clock);
        board.on_ack(Time(210), Seq(0), Seq(20), &[], Seq(20), Duration(90));
        assert_eq!(board.rack.rtt, Duration(110));
    }

    /// What was SACKed before a timeout, and is forgotten with it, is delivered once.
    #[test]
    fn nothing_is_delivered_twice() {
        for forget in [false, true] {
            let clock = Clock { delivered: 0, delivered_at: Time(0), first_sent: Time(0) };
            let mut board = Board::new(1000, false);
            for i in 0..3 {
                board.on_sent(Seq(i * 1000), Seq((i + 1) * 1000), Time(1), &clock, false);
            }
            let mut on_ack = |ack, blocks: &[(Seq, Seq)], times_out| {
                if times_out {
                    board.lose_all(forget);
                }
                board.on_ack(Time(2), Seq(0), Seq(ack), blocks, Seq(3000), Duration::from_millis(1)).delivered
            };
            assert_eq!(on_ack(0, &[(Seq(1000), Seq(2000))], false), 1000);
            assert_eq!(on_ack(0, &[(Seq(1000), Seq(3000))], true), 1000);
            // The second segment in part, then the rest.
            assert_eq!((on_ack(1500, &[], true), on_ack(3000, &[], false)), (1000, 0));
        }
    }
}
