//! Data behind a gap, and the SACK blocks that report it (RFC 2018, RFC 2883).

use net::{Options, Seq};
use units::Time;

use super::Receiver;
use crate::config::{GapAck, Tcp};

/// Data behind a gap, and the SACK blocks that reported it.
#[derive(Clone, Debug, Default)]
pub(super) struct OutOfOrderQueue {
    /// Disjoint ranges [start, end) of the data behind a gap, in ascending order.
    ranges: Vec<(Seq, Seq)>,
    /// Ranges that the SACK blocks of the last ACK reported, the latest range first (RFC 2018 §4).
    /// `intact` is true while all ranges of the last report still exist, and `report_current` is
    /// true while the next ACK reports the same ranges.
    reported: [(Seq, Seq); 4],
    count: u8,
    intact: bool,
    report_current: bool,
    /// Start of the range that contains the last segment.
    latest: Option<Seq>,
    /// Start of the gap for which the receiver counts the immediate and the compressed ACKs.
    pub gap: Seq,
    pub at_once: u8,
    pub compressed: u8,
    /// Compressed ACK that is sent before the ACK of the last segment.
    earlier: Option<EarlierAck>,
}

/// Compressed ACK that becomes due when a segment arrives, and that does not report this segment.
#[derive(Clone, Copy, Debug)]
struct EarlierAck {
    blocks: [(Seq, Seq); 4],
    count: u8,
    /// True if the receiver sends an ACK of the last segment immediately after the compressed ACK.
    followed: bool,
}

/// Number of SACK blocks that Linux expects to fit into an ACK (TCP_SACK_BLOCKS_EXPECTED).
const BLOCKS_EXPECTED: usize = 2;

impl Receiver {
    /// Process old data, data behind a gap, or data that fills a gap. If `fin` is true, a FIN
    /// follows the data. A FIN occupies a sequence number, so SACK blocks report it like data (RFC
    /// 2018 §3; Linux, tcp_data_queue_ofo).
    #[inline(never)]
    pub(super) fn on_out_of_order(&mut self, now: Time, start: Seq, end: Seq, fin: bool, tcp: &Tcp) {
        let (data, end) = (end, end + u32::from(fin));
        let releases =
            self.queue.as_ref().is_some_and(|b| b.compressed > 0) && self.release_compressed_ack(start, end);
        if self.extend_last_range(start, end) {
            self.ack_out_of_order(now, releases, tcp);
            return;
        }
        let before = self.received_in(start, data);
        self.stats.duplicate_bytes += u64::from(before);
        self.stats.duplicate_segments += u32::from(before > 0 && before == data - start);
        if self.received_in(start, end) > 0 {
            self.duplicate = Some(self.first_duplicate(start, end));
        }
        if !end.after(self.next) || start.after(self.next) {
            if end.after(self.next) {
                self.insert(start, end);
                self.ack_out_of_order(now, releases, tcp);
            } else {
                self.enter_quick_ack(u16::MAX, tcp);
                self.ack_now = true;
            }
            return;
        }
        self.advance_over(end);
        let mut released = false;
        if let Some(mut queue) = self.queue.take() {
            while let Some(&(s, e)) = queue.ranges.first() {
                if s.after(self.next) {
                    break;
                }
                released = true;
                self.advance_over(self.next.max(e));
                queue.ranges.remove(0);
            }
            (queue.latest, queue.intact, queue.report_current, queue.earlier) = (None, false, false, None);
            self.queue = (!queue.ranges.is_empty()).then_some(queue);
        }
        let at_once = released || tcp.ack.gap == GapAck::Immediate;
        if at_once {
            self.ack_now = true;
        } else {
            self.delay_ack(now, (data - start) as u16, tcp);
        }
    }

    /// Acknowledge data behind a gap. An immediate ACK lets the sender detect the gap (RFC 5681
    /// §4.2). The SACK blocks of a compressed ACK must include the data. `releases` is true if the
    /// receiver sends a compressed ACK before the ACK of the new data.
    #[inline]
    fn ack_out_of_order(&mut self, now: Time, releases: bool, tcp: &Tcp) {
        let holds = self.compresses_ack(now, tcp);
        self.ack_now |= !holds;
        if (holds | releases)
            && let Some(queue) = &mut self.queue
        {
            if !queue.report_current {
                queue.update_report();
            }
            if let Some(earlier) = queue.earlier.as_mut().filter(|_| releases) {
                (earlier.followed, self.ack_now) = (self.ack_now, true);
            }
        }
    }

    /// Send the compressed ACK now if [start, end) changes a SACK block that might not fit into the
    /// next ACK (Linux, tcp_sack_new_ofo_skb). Only the first two SACK blocks are expected to fit.
    /// Return true if the compressed ACK is due.
    #[inline(never)]
    fn release_compressed_ack(&mut self, start: Seq, end: Seq) -> bool {
        let Some(queue) = self.queue.as_mut().filter(|_| start.after(self.next)) else { return false };
        let blocks = &queue.reported[..usize::from(queue.count)];
        let touched = blocks.iter().position(|b| !start.after(b.1) && !b.0.after(end));
        let releases = touched.unwrap_or(blocks.len()) >= BLOCKS_EXPECTED;
        if releases {
            let (blocks, count) = (queue.reported, queue.count);
            queue.earlier = Some(EarlierAck { blocks, count, followed: false });
            queue.compressed = 0;
        }
        releases
    }

    /// Return the number of bytes of [start, end) that had arrived before.
    #[inline]
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

    /// Return the ranges that end after `start`.
    #[inline]
    fn ranges_after(&self, start: Seq) -> &[(Seq, Seq)] {
        let ranges = self.ranges();
        match ranges.last() {
            Some(last) if last.1.after(start) => &ranges[ranges.partition_point(|r| !r.1.after(start))..],
            _ => &[], // the usual case: segments behind a gap arrive in order
        }
    }

    #[inline]
    pub(super) fn ranges(&self) -> &[(Seq, Seq)] {
        self.queue.as_ref().map_or(&[], |b| &b.ranges)
    }

    /// Return the first part of [start, end) that had arrived before.
    #[inline]
    fn first_duplicate(&self, start: Seq, end: Seq) -> (Seq, Seq) {
        let cut = |e: Seq| if e.before(end) { e } else { end };
        if start.before(self.next) {
            return (start, cut(self.next));
        }
        let first = self.ranges_after(start).first().filter(|r| r.0.before(end));
        first.map_or((start, end), |r| (r.0.max(start), cut(r.1)))
    }

    /// Append [start, end) to the last range if the last range ends at `start`, which is the usual
    /// case behind a gap. Return true if [start, end) was appended.
    #[inline]
    fn extend_last_range(&mut self, start: Seq, end: Seq) -> bool {
        let Some(queue) = &mut self.queue else { return false };
        let Some(newest) = queue.ranges.last_mut().filter(|w| w.1 == start) else { return false };
        newest.1 = end;
        queue.latest = Some(newest.0);
        queue.intact &= queue.reported[0].0 == newest.0;
        queue.report_current &= queue.intact;
        queue.reported[0].1 = end; // valid if the report is current
        true
    }

    /// Insert [start, end), and merge adjacent ranges.
    #[inline]
    fn insert(&mut self, mut start: Seq, mut end: Seq) {
        let queue = self.queue.get_or_insert_default();
        let ranges = &mut queue.ranges;
        queue.latest = Some(start);
        if ranges.last().is_none_or(|w| w.1.before(start)) {
            queue.report_current = false;
            ranges.push((start, end));
            return;
        }
        (queue.intact, queue.report_current) = (false, false);
        let first = ranges.partition_point(|w| w.1.before(start));
        let mut last = first;
        while last < ranges.len() && !ranges[last].0.after(end) {
            let (s, e) = ranges[last];
            start = if s.before(start) { s } else { start };
            end = end.max(e);
            last += 1;
        }
        ranges.splice(first..last, [(start, end)]);
        queue.latest = Some(start);
    }

    /// Write the SACK blocks of an ACK (RFC 2018 §4): first the block with the last segment, then
    /// the blocks that the previous ACK reported. If `dsack` is true, the block of a duplicate
    /// precedes all other SACK blocks (RFC 2883 §4).
    pub fn report(&mut self, options: &mut Options, dsack: bool) {
        if let Some(queue) = &self.queue
            && let Some(earlier) = &queue.earlier
        {
            options.push_sacks(&earlier.blocks[..usize::from(earlier.count)]);
            return;
        }
        if let Some(block) = self.duplicate.take().filter(|_| dsack) {
            options.push_sack(block);
        }
        let Some(queue) = &mut self.queue else { return };
        if !queue.report_current {
            queue.update_report();
        }
        options.push_sacks(&queue.reported[..usize::from(queue.count)]);
    }

    /// Return the padded size of the SACK option of an ACK with up to `max` blocks, in bytes.
    pub fn report_len(&self, max: usize, dsack: bool) -> u16 {
        let duplicate = usize::from(dsack && self.duplicate.is_some());
        let blocks = (self.ranges().len() + duplicate).min(max) as u16;
        if blocks == 0 { 0 } else { 4 + 8 * blocks }
    }

    /// Return true if there is data behind a gap or a duplicate to report.
    #[inline]
    pub fn has_report(&self) -> bool {
        self.queue.is_some() || self.duplicate.is_some()
    }
}

impl OutOfOrderQueue {
    /// Record that an ACK was sent. For a compressed ACK that had become due, return
    /// `Some(followed)`, where `followed` is true if the receiver sends another ACK immediately
    /// afterwards. For every other ACK, return `None`.
    #[inline]
    pub(super) fn on_ack_sent(&mut self) -> Option<bool> {
        let earlier = self.earlier.take();
        if earlier.is_none() {
            self.compressed = 0;
        }
        earlier.map(|e| e.followed)
    }

    /// Compute the SACK blocks of the next ACK.
    fn update_report(&mut self) {
        let ranges = &self.ranges;
        if let Some(&newest) = ranges.last()
            && self.intact
            && self.latest == Some(newest.0)
            && (self.count == 4 || usize::from(self.count) + 1 == ranges.len())
        {
            // In the usual case a new range lies above all other ranges.
            self.reported.rotate_right(1);
            (self.reported[0], self.count, self.report_current) = (newest, (self.count + 1).min(4), true);
            return;
        }
        let containing = |seq: Seq| {
            let after = ranges[ranges.partition_point(|r| !r.1.after(seq))..].first().copied();
            after.filter(|r| !seq.before(r.0))
        };
        let mut within = [self.latest; 5];
        for (seq, block) in within[1..].iter_mut().zip(&self.reported[..usize::from(self.count)]) {
            *seq = Some(block.0);
        }
        let (mut blocks, mut n) = ([(Seq(0), Seq(0)); 4], 0);
        let mut add = |block| {
            if n < 4 && !blocks[..n].contains(&block) {
                (blocks[n], n) = (block, n + 1);
            }
            n < 4
        };
        for seq in within.into_iter().flatten() {
            if let Some(range) = containing(seq) {
                add(range);
            }
        }
        for range in ranges {
            if !add(*range) {
                break;
            }
        }
        (self.reported, self.count, self.intact, self.report_current) = (blocks, n as u8, true, true);
    }
}
