//! The receiving half of an endpoint, which stores the received data and determines when ACKs are
//! sent.

mod acks;
pub mod choices;
pub mod parameters;
mod reassembly;
mod timestamps;
mod window;

use net::{Segment, Seq};
use units::{Duration, Time};

use crate::config::{Tcp, WindowTuning};
use crate::timestamp::timestamp;
use crate::tuning::Tuning;
use reassembly::OutOfOrderQueue;

/// Delay of the ACK of a SYN-ACK while the application is about to write (Linux, TCP_DELACK_MAX).
const HANDSHAKE_ACK_DELAY: Duration = Duration::from_millis(200);

/// Counts of received segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverStats {
    /// Number of segments with data.
    pub segments: u64,
    /// Bytes of data in all received segments.
    pub bytes: u64,
    /// Segments with data that contained no new data.
    pub duplicate_segments: u64,
    /// Bytes in received segments that had already arrived in earlier segments.
    pub duplicate_bytes: u64,
}

/// Counts of received segments, as [`Receiver`] stores them.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    bytes: u64,
    duplicate_bytes: u64,
    segments: u32,
    duplicate_segments: u32,
}

/// Receive sequence space (RFC 9293 §3.3.1) and delayed ACK. The fields that every segment uses
/// come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Receiver {
    /// Time at which the delayed ACK is sent; [`Time::NEVER`] if no ACK is delayed.
    pub ack_at: Time,
    /// RCV.NXT: the next sequence number expected.
    pub next: Seq,
    unacknowledged: u32,
    /// End of the other side's data, after its FIN arrived.
    fin: Option<Seq>,
    /// True if an ACK is due now.
    pub ack_now: bool,
    /// True if no data arrived and the application read no data since the window was advertised, so
    /// that the window is unchanged.
    pub window_current: bool,
    /// Number of segments that the receiver will still acknowledge at once (quick ACKs).
    quick: u16,
    /// Payload in bytes of the largest segment received.
    largest: u16,
    queue: Option<Box<OutOfOrderQueue>>,
    /// Bytes in order that the application has not read.
    pub unread: u32,
    /// Right edge of the window that was advertised last.
    edge: Seq,
    /// Range of duplicate data that the next ACK reports (RFC 2883).
    duplicate: Option<(Seq, Seq)>,
    /// TS.Recent (RFC 7323 §4.3).
    pub ts_recent: u32,
    ts_recent_at: u32,
    last_ack: Seq,
    /// Time in milliseconds at which data last arrived, if quick ACKs are enabled.
    data_at: u32,
    /// Window that the header of the last segment advertised.
    pub window_field: u32,
    stats: Counts,
    /// Tuning of the receive window, or `None` if the parameters set a fixed window.
    tuning: Option<Box<Tuning>>,
}

impl Receiver {
    /// Create a receiver that expects `next`, after a SYN or SYN-ACK that advertised
    /// [`Receiver::syn_window`].
    pub fn new(next: Seq, tcp: &Tcp) -> Self {
        let quick = tcp.ack.quick.0 as u16;
        let edge = next + Self::syn_window(tcp);
        let tuned = tcp.window.tuning == WindowTuning::Linux;
        let tuning = tuned.then(|| Box::new(Tuning::new(next, tcp)));
        Receiver { ack_at: Time::NEVER, next, edge, last_ack: next, quick, tuning, ..Receiver::default() }
    }

    /// Process the data and FIN of an acceptable segment. Return true if the other side's FIN is
    /// now in order.
    #[inline]
    pub fn on_data(&mut self, now: Time, segment: &Segment, tcp: &Tcp) -> bool {
        let end = segment.seq + u32::from(segment.len);
        let fin = segment.flags.has(net::Flags::FIN);
        self.window_current = false;
        if fin {
            self.fin = Some(end);
        }
        if segment.len > 0 {
            self.count(segment);
            if tcp.ack.quick.0 > 0.0 {
                self.data_at = timestamp(now);
            }
            if self.queue.is_none() && segment.seq == self.next {
                self.advance(end);
                self.delay_ack(now, segment.len, tcp);
            } else {
                self.on_out_of_order(now, segment.seq, end, fin, tcp);
            }
        } else if fin && segment.seq != self.next {
            self.on_out_of_order(now, segment.seq, end, fin, tcp);
        }
        let Some(fin) = self.fin else { return false };
        self.ack_now = true;
        let done = !self.next.before(fin);
        if done {
            self.next = fin + 1;
            self.fin = None;
        }
        done
    }

    /// Report [start, end) as a duplicate with the next ACK (RFC 2883).
    pub fn report_duplicate(&mut self, start: Seq, end: Seq) {
        self.duplicate = Some((start, end));
    }

    /// Delay the ACK of a SYN-ACK, because the application is about to write data that can carry
    /// it. The SYN-ACK counts as received data. The data that the application writes next therefore
    /// makes the connection interactive (Linux, tcp_rcv_synsent_state_process, tcp_finish_connect).
    pub fn postpone_handshake_ack(&mut self, now: Time, tcp: &Tcp) {
        self.ack_at = now + HANDSHAKE_ACK_DELAY;
        if tcp.ack.quick.0 > 0.0 {
            self.data_at = timestamp(now);
        }
    }

    /// Process the data of a SYN or SYN-ACK, which is acknowledged at once. The SYN-ACK advertises
    /// the whole window beyond the data of the SYN (Linux, tcp_fastopen_create_child).
    pub fn on_syn_data(&mut self, len: u16, of_syn: bool) {
        self.window_current = false;
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

    /// Advance RCV.NXT to `to`, which may cover a FIN. The application does not read the sequence
    /// number of a FIN.
    fn advance_over(&mut self, to: Seq) {
        let data = self.fin.filter(|fin| fin.before(to)).unwrap_or(to);
        if data.after(self.next) {
            self.advance(data);
        }
        self.next = to;
    }

    fn count(&mut self, segment: &Segment) {
        self.stats.segments += 1;
        self.stats.bytes += u64::from(segment.len);
        self.largest = self.largest.max(segment.len);
    }

    /// Send an ACK for a segment outside the window, and count the segment if it has old data.
    pub fn on_unacceptable(&mut self, segment: &Segment, tcp: &Tcp) {
        self.ack_now = true;
        if segment.len > 0 && !segment.seq.after(self.next) {
            self.enter_quick_ack(u16::MAX, tcp);
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

    /// Return the counts of received segments.
    pub fn stats(&self) -> ReceiverStats {
        let Counts { bytes, duplicate_bytes, segments, duplicate_segments } = self.stats;
        ReceiverStats {
            segments: u64::from(segments),
            bytes,
            duplicate_segments: u64::from(duplicate_segments),
            duplicate_bytes,
        }
    }

    /// Return the payload in bytes of the largest segment received.
    pub fn largest(&self) -> u16 {
        self.largest
    }
}

/// Return true if any part of `segment` lies in a window of `window` bytes from `next` (RFC 9293
/// §3.10.7.4, first check).
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
    use crate::config::GapAck;
    use net::{Flags, Options};
    use proptest::prelude::*;
    use units::Duration;

    fn segment(seq: u32, len: u16) -> Segment {
        Segment { seq: Seq(seq), len, flags: Flags::ACK, ..Segment::default() }
    }

    fn receive(r: &mut Receiver, segments: &[(u32, u16)], tcp: &Tcp) {
        for &(seq, len) in segments {
            r.on_data(Time::ZERO, &segment(seq, len), tcp);
        }
    }

    #[test]
    fn the_size_of_a_receiver_is_bounded() {
        assert!(size_of::<Receiver>() <= 112, "{}", size_of::<Receiver>());
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_first_ack_is_delayed() {
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
    fn a_gap_and_its_filling_are_acknowledged_at_once() {
        let tcp = Tcp::default();
        let mut r = Receiver::new(Seq(0), &tcp);
        receive(&mut r, &[(100, 100)], &tcp);
        assert!(r.ack_now && r.next == Seq(0));
        r.on_ack_sent();
        receive(&mut r, &[(300, 100), (0, 100)], &tcp);
        assert!(r.ack_now && r.next == Seq(200));
    }

    /// A segment fills a part of a gap. If a segment fills a part of a gap, RFC 5681 requires an
    /// immediate ACK, and ns-2 delays the ACK.
    #[test]
    fn the_choice_of_gap_decides_the_ack_of_a_partial_fill() {
        for (gap_ack, at_once) in [(GapAck::Immediate, true), (GapAck::WhenReleased, false)] {
            let mut tcp = Tcp::default();
            tcp.ack.gap = gap_ack;
            let mut r = Receiver::new(Seq(0), &tcp);
            receive(&mut r, &[(200, 100)], &tcp);
            r.on_ack_sent();
            receive(&mut r, &[(0, 100)], &tcp);
            assert_eq!(r.ack_now, at_once);
        }
    }

    #[test]
    fn duplicates_are_counted_by_the_byte() {
        let tcp = Tcp::default();
        let mut r = Receiver::new(Seq(0), &tcp);
        receive(&mut r, &[(0, 100), (50, 100), (0, 100), (300, 100), (250, 200)], &tcp);
        assert_eq!((r.stats.duplicate_segments, r.stats.duplicate_bytes), (1, 50 + 100 + 100));
    }

    #[test]
    fn a_fin_is_reached_when_all_data_before_it_has_arrived() {
        let tcp = Tcp::default();
        let mut r = Receiver::new(Seq(0), &tcp);
        let fin = Segment { flags: Flags::FIN | Flags::ACK, ..segment(100, 100) };
        assert!(!r.on_data(Time::ZERO, &fin, &tcp));
        assert!(r.on_data(Time::ZERO, &segment(0, 100), &tcp));
        assert_eq!(r.next, Seq(201));
    }

    proptest! {
        /// The SACK blocks of an ACK begin with the range of the last segment. The ranges of the
        /// previous ACK follow, and then all other ranges (RFC 2018 §4), whatever segments arrived
        /// between the two ACKs.
        #[test]
        fn a_report_begins_with_the_latest_range_and_the_last_report(
            pieces in prop::collection::vec((0u32..60, 1u16..6, any::<bool>()), 1..80),
        ) {
            let (tcp, base) = (Tcp::default(), Seq(u32::MAX - 20));
            let mut r = Receiver::new(base, &tcp);
            let (mut latest, mut last): (_, Vec<(Seq, Seq)>) = (None, Vec::new());
            for (start, len, reports) in pieces {
                let (next, start) = (r.next, base + start);
                r.on_data(Time::ZERO, &segment(start.0, len), &tcp);
                if start.after(next) {
                    latest = Some(start);
                } else if (start + u32::from(len)).after(next) {
                    latest = None;
                }
                if r.ranges().is_empty() {
                    last.clear();
                }
                if reports {
                    let within = |seq: Seq| r.ranges().iter().find(|w| !seq.before(w.0) && seq.before(w.1)).copied();
                    let first = latest.into_iter().chain(last.iter().map(|w| w.0)).filter_map(within);
                    let mut expected = Vec::new();
                    for range in first.chain(r.ranges().iter().copied()) {
                        if expected.len() < 4 && !expected.contains(&range) {
                            expected.push(range);
                        }
                    }
                    let mut options = Options::default();
                    r.report(&mut options, false);
                    prop_assert_eq!(options.sack(), &expected[..]);
                    last = expected;
                }
            }
        }

        /// Segments in any order, with overlaps, repetitions and wrapping sequence numbers, give
        /// exactly the bytes that were sent.
        #[test]
        fn reassembled_data_is_the_union_of_all_segments(
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
