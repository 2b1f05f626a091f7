//! Flows of datagrams, with counts of the packets sent and received.
//!
//! A datagram stores its number, counted from 1, in the field of the TCP sequence number. The
//! fields of the TCP acknowledgement number and window contain the time at which the datagram was
//! sent.

use net::{Count, Ecn, Label, Packet, Segment, Seq};
use traffic::Emitter;
use units::{Duration, Time};

use crate::histogram::Histogram;

/// Flow of datagrams.
#[derive(Debug)]
pub struct Datagrams {
    /// Index of the flow.
    pub flow: u32,
    /// First hop of the route of the flow's datagrams.
    pub first_hop: u32,
    /// Time at which the flow begins.
    pub start: Time,
    emitter: Emitter,
    /// Payload of the flow's next datagram in bytes.
    next: u16,
    /// Packets and bytes sent.
    pub sent: Count,
    /// Counts and one-way delays of the received datagrams.
    pub received: Received,
    /// Counts of the flow at the end of the warm-up.
    pub warm_up: WarmUpCounts,
}

/// Counts of a flow of datagrams at the end of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarmUpCounts {
    /// Packets and bytes sent.
    pub sent: Count,
    /// Number of the flow's datagrams in the network, without duplicates.
    pub in_network: u64,
    /// Number of dropped packets.
    pub dropped: u64,
}

/// Received datagrams of a flow.
#[derive(Debug, Default)]
pub struct Received {
    /// Number and bytes of the received datagrams, including duplicates.
    pub all: Count,
    /// Payload of the received datagrams in bytes, without duplicates.
    pub payload: u64,
    /// Number of duplicates: datagrams that had already arrived.
    pub copies: u64,
    /// Number of reordered datagrams: another datagram that was sent later arrived earlier (RFC
    /// 4737 §3.3). Duplicates are not counted.
    pub reordered: u64,
    /// Number of received datagrams with a CE mark.
    pub marked: u64,
    /// One-way delays of the received datagrams, from sending to arrival.
    pub delays: Histogram,
    /// Interarrival jitter in picoseconds (RFC 3550 §6.4.1).
    pub jitter: f64,
    last_delay: Option<Duration>,
    numbers: ReceivedNumbers,
}

/// Bitmap of the latest datagram numbers: a bit is set if the datagram with this number has
/// arrived.
#[derive(Debug)]
struct ReceivedNumbers {
    /// Largest datagram number that has arrived, plus one.
    next: Seq,
    bits: [u64; ReceivedNumbers::WORDS],
}

impl Default for ReceivedNumbers {
    fn default() -> Self {
        ReceivedNumbers { next: Seq(1), bits: [0; ReceivedNumbers::WORDS] }
    }
}

/// Order of a received datagram relative to the datagrams that arrived before: new, late, or a
/// duplicate.
#[derive(Debug, PartialEq, Eq)]
enum ArrivalOrder {
    New,
    Late,
    Copy,
}

impl ReceivedNumbers {
    const WORDS: usize = 64;
    /// Number of datagram numbers in the bitmap. The bitmap covers the latest numbers of the flow.
    /// A datagram with an older number is classified as late, even if the datagram is a duplicate.
    const REACH: u32 = 64 * ReceivedNumbers::WORDS as u32;

    fn bit(&mut self, number: Seq) -> (&mut u64, u64) {
        let index = number.0 % Self::REACH;
        (&mut self.bits[(index / 64) as usize], 1 << (index % 64))
    }

    /// Return true if the bitmap covers a datagram number, and the datagram with this number has
    /// arrived.
    fn has(&mut self, number: Seq) -> bool {
        let known = number.before(self.next) && self.next - number <= Self::REACH;
        let (word, bit) = self.bit(number);
        known && *word & bit != 0
    }

    fn add(&mut self, number: Seq) -> ArrivalOrder {
        let order = if !number.before(self.next) {
            // The datagrams with the skipped numbers have not arrived, so their bits are cleared.
            let between = (number - self.next).min(Self::REACH);
            for i in 0..between {
                let (word, bit) = self.bit(Seq(number.0.wrapping_sub(1 + i)));
                *word &= !bit;
            }
            self.next = number + 1;
            ArrivalOrder::New
        } else if self.next - number > Self::REACH {
            return ArrivalOrder::Late;
        } else {
            let (word, bit) = self.bit(number);
            if *word & bit != 0 { ArrivalOrder::Copy } else { ArrivalOrder::Late }
        };
        let (word, bit) = self.bit(number);
        *word |= bit;
        order
    }
}

impl Datagrams {
    /// Return a flow that begins at the time `start`, and the time of the flow's first datagram.
    /// The time of the first datagram is `None` if the flow has no datagrams.
    pub fn new(flow: u32, first_hop: u32, start: Time, mut emitter: Emitter) -> (Self, Option<Time>) {
        let first = emitter.next_packet();
        let next = first.map_or(0, |(_, payload)| payload);
        let (sent, received, warm_up) = (Count::default(), Received::default(), WarmUpCounts::default());
        let stream = Datagrams { flow, first_hop, start, emitter, next, sent, received, warm_up };
        (stream, first.map(|(gap, _)| start + gap))
    }

    /// Return true if the flow ends after a number of datagrams or at a certain time. A run without
    /// a duration waits for the end of each flow that ends, but not for endless flows.
    pub fn ends(&self) -> bool {
        self.emitter.ends()
    }

    /// Return the minimum and the maximum size of the flow's packets in bytes.
    pub fn sizes(&self) -> (u16, u16) {
        self.emitter.sizes()
    }

    /// Return the share of the flow's datagrams that were already sent, between 0 and 1.
    pub fn share_done(&self) -> f64 {
        self.emitter.share_done()
    }

    /// End the warm-up. `in_network` is the number of the flow's datagrams in the network, and
    /// `dropped` is the number of dropped datagrams.
    pub fn end_warm_up(&mut self, in_network: u64, dropped: u64) {
        self.warm_up = WarmUpCounts { sent: self.sent, in_network, dropped };
        self.received.end_warm_up();
    }

    /// Return the datagram that the flow in the connection slot `s` sends now. Also return the time
    /// of the flow's next datagram, or `None` after the last datagram.
    pub fn emit(&mut self, now: Time, s: u32) -> (Packet, Option<Time>) {
        let number = Seq(1) + self.sent.packets as u32;
        let segment = Segment {
            seq: number,
            ack: Seq((now.0 >> 32) as u32),
            window: now.0 as u32,
            len: self.next,
            ..Segment::default()
        };
        let size = self.next + self.emitter.headers();
        let packet = Packet {
            connection: s,
            size,
            ecn: self.emitter.ecn(),
            label: Label::default(),
            hop: 0,
            options: 0,
            segment,
        };
        self.sent.add(&packet);
        let next = self.emitter.next_packet();
        self.next = next.map_or(0, |(_, payload)| payload);
        (packet, next.map(|(gap, _)| now + gap))
    }
}

impl Received {
    /// Return true if the bitmap shows that the datagram with the number `number` has arrived.
    pub fn has(&mut self, number: u32) -> bool {
        self.numbers.has(Seq(number))
    }

    /// Reset the counts at the end of the warm-up. The smoothed jitter and the bitmap of datagram
    /// numbers remain unchanged.
    fn end_warm_up(&mut self) {
        let before = std::mem::take(self);
        let (jitter, last_delay, numbers) = (before.jitter, before.last_delay, before.numbers);
        *self = Received { jitter, last_delay, numbers, ..Received::default() };
    }

    /// Count a datagram that arrives at the receiver at the time `now`.
    pub fn add(&mut self, now: Time, packet: &Packet) {
        self.all.add(packet);
        self.marked += u64::from(packet.ecn == Ecn::Ce);
        match self.numbers.add(packet.segment.seq) {
            ArrivalOrder::Copy => {
                self.copies += 1;
                return;
            }
            ArrivalOrder::Late => self.reordered += 1,
            ArrivalOrder::New => {}
        }
        self.payload += u64::from(packet.segment.len);
        let sent = Time(u64::from(packet.segment.ack.0) << 32 | u64::from(packet.segment.window));
        let delay = now.since(sent);
        self.delays.add(delay);
        if let Some(last) = self.last_delay.replace(delay) {
            // J += (|D| − J)/16.
            self.jitter += (delay.0.abs_diff(last.0) as f64 - self.jitter) / 16.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_new_late_or_copies() {
        use ArrivalOrder::{Copy, Late, New};
        let mut numbers = ReceivedNumbers::default();
        for (number, order) in [
            (1, New),
            (2, New),
            (2, Copy),
            (5, New),
            (3, Late),
            (3, Copy),
            (4, Late),
            (6, New),
            (1, Copy),
            (5000, New),
            (4999, Late),
            (4999, Copy),
            (6, Late),
            (905, Late),
            (905, Copy),
            (904, Late),
            (9097, New),
            (5001, Late),
            (5002, Late),
        ] {
            assert_eq!(numbers.add(Seq(number)), order, "{number}");
        }
    }

    /// The expected jitter of the delays 10, 12, 9 and 9 ms was computed by hand from RFC 3550.
    #[test]
    fn jitter_is_smoothed_as_in_rfc_3550() {
        let mut received = Received::default();
        for (i, delay) in [10, 12, 9, 9].into_iter().enumerate() {
            let sent = Time::ZERO + Duration::from_millis(20 * i as u64 + 5000);
            let mut packet = Packet::default();
            packet.segment.seq = Seq(i as u32 + 1);
            packet.segment.ack = Seq((sent.0 >> 32) as u32);
            packet.segment.window = sent.0 as u32;
            received.add(sent + Duration::from_millis(delay), &packet);
        }
        let expected = ((2.0 / 16.0 * 15.0 / 16.0) + 3.0 / 16.0) * 15.0 / 16.0;
        assert!((received.jitter / 1e9 - expected).abs() < 1e-12);
        assert_eq!((received.reordered, received.copies, received.delays.count()), (0, 0, 4));
    }
}
