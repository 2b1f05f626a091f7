//! Endpoints of real hosts, as their packets show them. The network sees each packet when its
//! sender sends it and when it leaves the network, so it knows what each host has sent, received
//! and acknowledged, without the help of the host.

use net::{Flags, Segment, Seq};
use units::{Duration, Time};

use crate::sender_state::SenderState;
use crate::slot::Slot;
use crate::totals::{ConnectionTotals, Counts};

/// State of an endpoint that only the kernel of its host knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelState {
    /// Expirations of the retransmission timer.
    pub timeouts: u32,
    /// Data packets that the peer reported as marked.
    pub delivered_ce: u32,
    /// Congestion window in bytes.
    pub cwnd: f64,
    /// Slow-start threshold in bytes, or infinity.
    pub ssthresh: f64,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Smoothed round-trip time, if the kernel has measured one.
    pub srtt: Option<Duration>,
    /// Delivery rate in bytes per second, if the kernel has measured it.
    pub delivery_rate: Option<u64>,
}

/// Endpoint of a connection between real hosts.
#[derive(Clone, Debug)]
pub struct RealEnd {
    /// SND.UNA.
    una: Seq,
    /// Sequence number after the last one that was sent, or `None` before the SYN.
    max: Option<Seq>,
    /// Sequence number after the FIN, if the FIN was sent.
    fin: Option<Seq>,
    /// RCV.NXT, or `None` before the SYN of the peer.
    next: Option<Seq>,
    /// Received data beyond RCV.NXT, as ranges in ascending order.
    beyond: Vec<[Seq; 2]>,
    /// Sequence number of the peer's FIN, if it arrived.
    peer_fin: Option<Seq>,
    /// True after the FIN of the peer and all data before it arrived.
    peer_closed: bool,
    /// True if the SYN of this side offered ECN (RFC 3168 §6.1.1).
    offers_ecn: bool,
    /// Bytes that the application has written.
    written: u64,
    /// True after the application closed this side.
    closing: bool,
    /// True after this side or its peer reset the connection.
    reset: bool,
    /// Times at which the connection was established, all data was acknowledged, and this side was
    /// closed.
    milestones: [Time; 3],
    /// Counts of the data that this side sent and received.
    counts: Counts,
    /// Last state that the kernel reported.
    kernel: KernelState,
}

impl Default for RealEnd {
    fn default() -> Self {
        RealEnd {
            una: Seq(0),
            max: None,
            fin: None,
            next: None,
            beyond: Vec::new(),
            peer_fin: None,
            peer_closed: false,
            offers_ecn: false,
            written: 0,
            closing: false,
            reset: false,
            milestones: [Time::NEVER; 3],
            counts: Counts::default(),
            kernel: KernelState::default(),
        }
    }
}

impl RealEnd {
    /// Record a segment that the host sends.
    pub fn sent(&mut self, now: Time, segment: &Segment) {
        let (flags, len) = (segment.flags, u64::from(segment.len));
        self.counts.packets_sent += 1;
        if flags.has(Flags::RST) {
            return self.end(now);
        }
        if flags.has(Flags::SYN) {
            self.una = segment.seq;
            self.offers_ecn = flags.has(Flags::ECE);
        }
        let max = *self.max.get_or_insert(segment.seq);
        if len > 0 {
            self.counts.segments_sent += 1;
            self.counts.bytes_sent += len;
            let again = u64::from(max.minus(segment.seq).max(0) as u32).min(len);
            self.counts.retransmitted_bytes += again;
            self.counts.retransmitted_segments += u64::from(again > 0);
            // A sender that reduced cwnd because of ECN sets CWR once (RFC 3168 §6.1.2).
            self.counts.ecn_reductions += u64::from(flags.has(Flags::CWR) && again == 0);
        } else if !flags.has(Flags::SYN) && !flags.has(Flags::FIN) {
            self.counts.acks_sent += 1;
        }
        self.max = Some(max.max(segment.end()));
        if flags.has(Flags::FIN) {
            self.fin = Some(segment.end());
        }
    }

    /// Record a segment of the peer that reaches this host.
    pub fn arrived(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return self.end(now);
        }
        if flags.has(Flags::SYN) {
            self.next.get_or_insert(segment.seq + 1);
            let accepts = flags.has(Flags::ECE) && !flags.has(Flags::CWR);
            self.counts.ecn = u64::from(self.offers_ecn && accepts && flags.has(Flags::ACK));
        }
        if flags.has(Flags::ACK) {
            self.acknowledged(now, segment.ack);
        }
        self.receive(segment);
        self.finish(now);
    }

    /// Record an acknowledgement number that arrived.
    fn acknowledged(&mut self, now: Time, ack: Seq) {
        let Some(max) = self.max else { return };
        if !ack.after(self.una) || ack.after(max) {
            return;
        }
        let mut bytes = ack - self.una;
        self.una = ack;
        if self.milestones[0] == Time::NEVER {
            self.milestones[0] = now;
            bytes -= 1; // the SYN
        }
        if self.fin == Some(ack) {
            bytes = bytes.saturating_sub(1);
        }
        self.counts.acked_bytes += u64::from(bytes);
    }

    /// Record the data and the FIN of a segment that arrived.
    fn receive(&mut self, segment: &Segment) {
        let Some(next) = self.next else { return };
        let start = if segment.flags.has(Flags::SYN) { segment.seq + 1 } else { segment.seq };
        let end = start + u32::from(segment.len);
        let len = u64::from(segment.len);
        if len > 0 {
            let before = self.held(next);
            self.hold(start, end);
            let after = self.held(next);
            let known = len - (after - before).min(len);
            self.counts.received_segments += 1;
            self.counts.received_bytes += len;
            self.counts.duplicate_bytes += known;
            self.counts.duplicate_segments += u64::from(known == len);
        }
        if segment.flags.has(Flags::FIN) {
            self.peer_fin = Some(end);
        }
        if self.peer_fin.is_some() && self.peer_fin == self.next && !self.peer_closed {
            self.next = self.next.map(|next| next + 1);
            self.peer_closed = true;
        }
    }

    /// Return the number of received bytes since `from`.
    fn held(&self, from: Seq) -> u64 {
        let in_order = self.next.map_or(0, |next| next - from);
        u64::from(in_order) + self.beyond.iter().map(|[start, end]| u64::from(*end - *start)).sum::<u64>()
    }

    /// Add a range to the received data.
    fn hold(&mut self, start: Seq, end: Seq) {
        let Some(next) = &mut self.next else { return };
        let (mut start, mut end) = (start.max(*next), end);
        if !end.after(start) {
            return;
        }
        self.beyond.retain(|[from, to]| {
            let apart = from.after(end) || start.after(*to);
            if !apart {
                start = if from.before(start) { *from } else { start };
                end = end.max(*to);
            }
            apart
        });
        if start == *next {
            *next = end;
            return;
        }
        let at = self.beyond.iter().position(|[from, _]| from.after(start)).unwrap_or(self.beyond.len());
        self.beyond.insert(at, [start, end]);
    }

    /// Record what the application wrote, and whether it closed this side.
    pub fn wrote(&mut self, bytes: u64, closed: bool) {
        self.written = self.written.saturating_add(bytes);
        self.closing |= closed;
    }

    /// Return the state of the sender.
    pub fn state(&self) -> SenderState {
        let KernelState { cwnd, ssthresh, rto, delivery_rate, .. } = self.kernel;
        let flight = self.max.map_or(0, |max| max.minus(self.una).max(0));
        SenderState {
            acked: self.counts.acked_bytes,
            cwnd,
            ssthresh,
            flight: f64::from(flight),
            rto,
            delivery_rate,
        }
    }

    /// Record the state that the kernel reported.
    pub fn measured(&mut self, kernel: KernelState) {
        self.kernel = kernel;
        self.counts.timeouts = u64::from(kernel.timeouts);
        self.counts.delivered_ce = u64::from(kernel.delivered_ce);
    }

    /// Record that the connection was reset or given up.
    pub fn end(&mut self, now: Time) {
        self.reset = true;
        self.milestones[2] = self.milestones[2].min(now);
    }

    /// Record the milestones that are reached at the arrival of a segment, as the simulator does.
    fn finish(&mut self, now: Time) {
        let established = self.milestones[0] != Time::NEVER;
        let complete = established && self.closing && self.counts.acked_bytes >= self.written;
        if complete && self.milestones[1] == Time::NEVER {
            self.milestones[1] = now;
        }
        let acknowledged = self.fin.is_some_and(|fin| !self.una.before(fin));
        if acknowledged && self.peer_closed && self.milestones[2] == Time::NEVER {
            self.milestones[2] = now;
        }
    }

    /// Return true if this side is closed.
    pub fn is_closed(&self) -> bool {
        self.milestones[2] != Time::NEVER
    }

    /// Return true if this side or its peer reset the connection.
    pub fn is_reset(&self) -> bool {
        self.reset
    }

    /// Return the time at which the connection was established.
    pub fn established(&self) -> Time {
        self.milestones[0]
    }

    /// Return the number of expirations of the retransmission timer.
    pub fn timeouts(&self) -> u32 {
        self.counts.timeouts as u32
    }
}

/// Return the counts of a connection between real hosts, for the data of the direction with the
/// index `direction`.
pub fn totals(slot: &Slot, direction: usize, [sender, receiver]: [&RealEnd; 2]) -> ConnectionTotals {
    let counts = Counts {
        received_segments: receiver.counts.received_segments,
        received_bytes: receiver.counts.received_bytes,
        duplicate_segments: receiver.counts.duplicate_segments,
        duplicate_bytes: receiver.counts.duplicate_bytes,
        acks_sent: receiver.counts.acks_sent,
        dropped_packets: u64::from(slot.counters.dropped[direction]),
        marked_packets: u64::from(slot.counters.marked[direction]),
        dropped_acks: u64::from(slot.counters.dropped[1 - direction]),
        ..sender.counts
    };
    ConnectionTotals { connections: 1, start: slot.start, milestones: sender.milestones, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn segment(seq: u32, len: u16, flags: Flags) -> Segment {
        Segment { seq: Seq(seq), len, flags, ..Segment::default() }
    }

    fn ack(number: u32, flags: Flags) -> Segment {
        Segment { ack: Seq(number), ..segment(500, 0, flags | Flags::ACK) }
    }

    #[test]
    fn a_transfer_has_its_milestones_and_counts() {
        let mut end = RealEnd::default();
        end.wrote(2000, true);
        end.sent(at(0), &segment(u32::MAX, 0, Flags::SYN | Flags::ECE | Flags::CWR));
        end.arrived(at(10), &Segment { seq: Seq(499), ..ack(0, Flags::SYN | Flags::ECE) });
        end.sent(at(10), &segment(0, 1000, Flags::ACK));
        end.sent(at(10), &segment(1000, 1000, Flags::ACK | Flags::FIN));
        end.arrived(at(20), &ack(1000, Flags::default()));
        end.sent(at(220), &segment(1000, 1000, Flags::ACK | Flags::FIN));
        end.arrived(at(230), &ack(2001, Flags::FIN));
        assert_eq!(end.milestones, [at(10), at(230), at(230)]);
        let counts = end.counts;
        assert_eq!((counts.acked_bytes, counts.bytes_sent, counts.segments_sent), (2000, 3000, 3));
        assert_eq!((counts.retransmitted_segments, counts.retransmitted_bytes, counts.ecn), (1, 1000, 1));
        assert_eq!((counts.packets_sent, counts.acks_sent), (4, 0));
        assert!(end.is_closed() && !end.is_reset());
    }

    #[test]
    fn a_fin_before_missing_data_closes_the_peer_when_the_data_arrives() {
        let mut end = RealEnd::default();
        end.arrived(at(0), &segment(0, 0, Flags::SYN));
        end.arrived(at(1), &segment(101, 100, Flags::ACK | Flags::FIN));
        assert!(!end.peer_closed);
        end.arrived(at(2), &segment(1, 100, Flags::ACK));
        assert!(end.peer_closed);
        assert_eq!(end.next, Some(Seq(202)));
        end.arrived(at(3), &segment(101, 100, Flags::ACK | Flags::FIN));
        assert_eq!(end.next, Some(Seq(202)));
    }

    #[test]
    fn data_that_arrives_again_is_duplicate() {
        let mut end = RealEnd::default();
        end.arrived(at(0), &segment(u32::MAX - 100, 0, Flags::SYN));
        let base = u32::MAX - 99;
        let arrivals = [(100, 100), (300, 100), (150, 100), (0, 100), (300, 100), (50, 350), (400, 10)];
        for (from, len) in arrivals {
            end.arrived(at(1), &segment(base.wrapping_add(from), len, Flags::ACK));
        }
        assert_eq!(end.next, Some(Seq(base.wrapping_add(410))));
        assert!(end.beyond.is_empty());
        // 50 B of the third segment, the whole fifth, and 300 B of the sixth had already arrived.
        assert_eq!((end.counts.duplicate_bytes, end.counts.duplicate_segments), (50 + 100 + 300, 1));
        assert_eq!((end.counts.received_bytes, end.counts.received_segments), (860, 7));
    }

    #[test]
    fn a_reset_closes_both_sides() {
        let (mut one, mut other) = (RealEnd::default(), RealEnd::default());
        one.sent(at(3), &segment(7, 0, Flags::RST));
        other.arrived(at(5), &segment(7, 0, Flags::RST));
        assert!(one.is_reset() && other.is_reset());
        assert_eq!([one.milestones[2], other.milestones[2]], [at(3), at(5)]);
    }
}
