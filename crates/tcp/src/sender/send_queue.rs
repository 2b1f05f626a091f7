//! The send buffer of Linux, and the super-packets that a segmentation offload splits into
//! segments.
//!
//! The send buffer limits the data that the application has written and the other endpoint has not
//! acknowledged. The memory of the send buffer counts whole packets instead of payload: each packet
//! also takes memory for its descriptor and its headers. The application begins to write when a
//! third of the send buffer's memory is free, and writes until all of this memory is used. The
//! memory of the send buffer grows with cwnd.
//!
//! Source: Linux 6.12, net/ipv4/tcp.c (tcp_sendmsg_locked, tcp_stream_alloc_skb),
//! net/ipv4/tcp_input.c (tcp_sndbuf_expand, tcp_should_expand_sndbuf, tcp_check_space),
//! include/net/sock.h (sk_stream_min_wspace), net/ipv4/tcp_output.c (tso_fragment, tcp_grow_skb).
//! In this model the application always has more data to write, up to the end of its transfer, and
//! writes at once.
//!
//! This model omits memory pressure, and the additional memory of a packet that is split when a
//! part of it is SACKed or retransmitted.

use std::collections::VecDeque;

use net::Seq;

use super::tcb::Tcb;
use crate::config::{Offload, SendBuffer, Tcp};
use crate::congestion::CongestionControl;

/// Memory in bytes that a packet takes in addition to its payload.
const OVERHEAD: u64 = crate::memory::PACKET_OVERHEAD as u64;
/// Memory of the headers and of the description of fragments, as Linux counts them to compute the
/// growth of the send buffer (MAX_TCP_HEADER and skb_shared_info).
const RESERVED: u32 = 256 + 320;
/// Memory of the descriptor of a packet, in bytes (sk_buff).
const DESCRIPTOR: u64 = 256;
/// Minimum number of segments that fit into the send buffer (TCP_INIT_CWND).
const MIN_SEGMENTS: u32 = 10;
/// Maximum payload of a super-packet (sk_gso_max_size).
pub(super) const MAX_SUPER_PACKET: u32 = 65_535 - 320;

/// Send buffer and write queue of a connection.
#[derive(Clone, Debug)]
pub(super) struct SendQueue {
    /// Memory of the buffer in bytes (sk_sndbuf); `u64::MAX` if it is unlimited.
    memory: u64,
    /// One past the last byte in the buffer.
    end: Seq,
    /// Value of SND.UNA below which the application does not write.
    fill_at: Seq,
    /// cwnd in bytes below which the memory of the send buffer does not grow.
    expand_at: f64,
    /// Super-packets that were sent and are not acknowledged. If segmentation offload is off, each
    /// segment is a packet of its own, and both lists of super-packets are empty.
    sent: SentSuperPackets,
    /// End sequence numbers of the super-packets in the write queue.
    queued: VecDeque<Seq>,
    /// End of the first super-packet in the write queue, if there is one.
    first: Seq,
    /// End of the last data that the sender removed from the write queue.
    dequeued_end: Seq,
    /// End of the super-packet that is being sent, or of the super-packet that was sent last. The
    /// segments of a super-packet are sent in sequence.
    burst_end: Seq,
    /// True if the current super-packet has more than one segment.
    has_many_segments: bool,
    /// Bytes already sent of the current super-packet. Pacing counts the bytes of a super-packet
    /// when the whole super-packet is sent.
    unpaced: u32,
    /// True if segments waited because of cwnd at the last call of `waits_for_super_packet`.
    pub waited_for_cwnd: bool,
}

impl SendQueue {
    /// Create an empty write queue whose first byte is `next`, if the parameters require a write
    /// queue.
    pub fn new(next: Seq, tcb: &Tcb, tcp: &Tcp) -> Option<Box<Self>> {
        let unlimited = tcp.send_buffer == SendBuffer::Unlimited;
        if unlimited && tcp.offload == Offload::None {
            return None;
        }
        let mut queue = SendQueue {
            memory: if unlimited { u64::MAX } else { tcp.memory.send.0 },
            end: next,
            fill_at: next,
            expand_at: 0.0,
            sent: SentSuperPackets::default(),
            queued: VecDeque::new(),
            first: next,
            dequeued_end: next,
            burst_end: next,
            has_many_segments: false,
            unpaced: 0,
            waited_for_cwnd: false,
        };
        queue.expand(tcb, tcp);
        Some(Box::new(queue))
    }

    /// Return true if the send buffer has a whole segment, the application does not write now, and
    /// the memory of the send buffer does not grow now.
    #[inline(always)]
    pub fn is_settled(&self, tcb: &Tcb) -> bool {
        tcb.una.before(self.fill_at)
            && tcb.cwnd < self.expand_at
            && self.end.minus(tcb.max) >= tcb.smss as i32
    }

    /// Return the number of bytes of new data in the send buffer.
    pub fn new_bytes(&self, tcb: &Tcb) -> u32 {
        self.end.minus(tcb.max).max(0) as u32
    }

    /// Increase the memory of the send buffer, so that the buffer can store two congestion windows,
    /// or the number of congestion windows that the congestion controller requires
    /// (tcp_sndbuf_expand).
    #[inline]
    pub fn expand(&mut self, tcb: &Tcb, tcp: &Tcp) {
        if tcb.cwnd >= self.expand_at {
            self.grow(tcb, tcp);
        }
    }

    /// Compute the memory that the send buffer requires for the present cwnd, and the cwnd at which
    /// this memory grows next.
    #[inline(never)]
    fn grow(&mut self, tcb: &Tcb, tcp: &Tcp) {
        self.fill_at = tcb.una;
        if self.memory >= tcp.memory.send_max.0 {
            self.expand_at = f64::INFINITY;
            return;
        }
        let full = u64::from((tcp.mss.0 as u32 + RESERVED).next_power_of_two()) + DESCRIPTOR;
        let segments = ((tcb.cwnd / f64::from(tcb.smss)) as u32).max(MIN_SEGMENTS);
        let memory = tcb.congestion.send_buffer_windows() * u64::from(segments) * full;
        self.memory = self.memory.max(memory).min(tcp.memory.send_max.0);
        self.expand_at = (f64::from(segments) + 1.0) * f64::from(tcb.smss);
    }

    /// Return the used memory of the send buffer in bytes. `merged` is as in [`fill`](Self::fill).
    #[inline]
    fn used_memory(&self, tcb: &Tcb, merged: u32) -> u64 {
        let bytes = u64::from(self.end - tcb.una);
        let buffers = if self.queued.is_empty() && self.sent.buffers == 0 {
            bytes.div_ceil(u64::from(tcb.smss)).saturating_sub(u64::from(merged))
        } else {
            u64::from(self.sent.buffers) + self.queued.len() as u64
        };
        bytes + OVERHEAD * buffers
    }

    /// Let the application write if a third of the send buffer's memory is free
    /// (sk_stream_min_wspace). Return the number of bytes of new data.
    ///
    /// `merged` is the number of SACKed segments that Linux has merged with the SACKed segment
    /// before them. A merged segment takes only the memory of its payload (tcp_shift_skb_data).
    #[inline]
    pub fn fill(&mut self, tcb: &Tcb, merged: u32, tcp: &Tcp) -> u32 {
        self.sent.acknowledge(tcb.una);
        // A tail loss probe or a window probe may send data that is not in a dequeued super-packet,
        // or that is not even in the send buffer.
        if tcb.max.after(self.dequeued_end) {
            self.dequeue(tcb.una, tcb.max);
        }
        self.end = self.end.max(tcb.max);
        let new = self.end - tcb.max;
        let remaining = tcb.unsent - u64::from(new).min(tcb.unsent);
        if remaining == 0 {
            return new;
        }
        let free = if self.memory == u64::MAX {
            u64::from(u32::from(self.queued.len() < 2))
        } else {
            let used = self.used_memory(tcb, merged);
            let free = self.memory.saturating_sub(used);
            // One segment always fits into the send buffer, even if the memory of the segment is
            // larger than the send buffer.
            if free < used / 2 && self.end - tcb.una >= tcb.smss {
                if new >= tcb.smss {
                    self.schedule_fill(tcb, used);
                }
                return new;
            }
            free.max(1)
        };
        self.write(tcb, (remaining, free), merged, tcp)
    }

    /// Let the application write as many of the `remaining` bytes as fit into `free` bytes of
    /// memory. Return the number of bytes of new data.
    #[inline(never)]
    fn write(&mut self, tcb: &Tcb, (mut remaining, free): (u64, u64), merged: u32, tcp: &Tcp) -> u32 {
        let unlimited = self.memory == u64::MAX;
        let smss = u64::from(tcb.smss);
        if tcp.offload == Offload::Linux {
            remaining -= self.append(tcb, remaining);
            let whole = smss * u64::from(super_packet(tcb));
            // If the send buffer has no limit, the application writes two super-packets. More data
            // would not change the segments that are sent.
            let mut free = if unlimited { free * 2 * whole } else { free };
            while free > 0 && remaining > 0 {
                let bytes = whole.min(remaining);
                self.end = self.end + bytes as u32;
                self.queued.push_back(self.end);
                (remaining, free) = (remaining - bytes, free.saturating_sub(bytes + OVERHEAD));
            }
            self.first = self.queued.front().copied().unwrap_or(self.end);
        } else {
            self.end = self.end + (free.div_ceil(smss + OVERHEAD) * smss).min(remaining) as u32;
        }
        if !unlimited {
            self.schedule_fill(tcb, self.used_memory(tcb, merged));
        }
        self.end - tcb.max
    }

    /// Compute the value of SND.UNA below which less than a third of the send buffer's memory is
    /// free. The acknowledgement of a segment frees at most the memory of its payload and the
    /// additional memory of one packet.
    fn schedule_fill(&mut self, tcb: &Tcb, used: u64) {
        let smss = u64::from(tcb.smss);
        let over = used.saturating_sub(self.memory / 3 * 2);
        self.fill_at = tcb.una + (over * smss / (smss + OVERHEAD)) as u32;
    }

    /// Append some of `remaining` bytes to the last super-packet of the write queue until it is
    /// full. Return the number of bytes appended.
    fn append(&mut self, tcb: &Tcb, remaining: u64) -> u64 {
        let before = self.queued.len().checked_sub(2).map_or(tcb.max, |i| self.queued[i]);
        let Some(last) = self.queued.back_mut() else { return 0 };
        let missing = (tcb.smss * super_packet(tcb)).saturating_sub(*last - before);
        let bytes = u64::from(missing).min(remaining);
        *last = *last + bytes as u32;
        self.end = *last;
        bytes
    }

    /// Return the number of bytes of the first super-packet in the write queue, which begins at
    /// `next`.
    pub fn first(&self, next: Seq) -> u32 {
        self.first.minus(next).max(0) as u32
    }

    /// Return true if the write queue has at most one super-packet.
    pub fn is_last(&self) -> bool {
        self.queued.len() <= 1
    }

    /// Begin a super-packet that ends at `end`. The data of the new super-packet comes from the
    /// first super-packet in the write queue, or from the first and second super-packets.
    #[inline]
    pub fn begin_burst(&mut self, una: Seq, end: Seq, has_many_segments: bool) {
        (self.burst_end, self.has_many_segments) = (end, has_many_segments);
        self.dequeue(una, end);
    }

    /// Remove the data up to `end` from the write queue.
    #[inline]
    fn dequeue(&mut self, una: Seq, end: Seq) {
        if self.queued.is_empty() {
            return;
        }
        if !self.first.after(end) {
            self.remove(end);
        }
        self.dequeued_end = end;
        if self.memory != u64::MAX {
            self.sent.add(una, end);
        }
    }

    /// Remove the super-packets that end at `end` or before from the write queue.
    #[inline(never)]
    fn remove(&mut self, end: Seq) {
        while self.queued.front().is_some_and(|queued| !queued.after(end)) {
            self.queued.pop_front();
        }
        self.first = self.queued.front().copied().unwrap_or(end);
    }

    /// Return true if the next byte, `next`, belongs to the super-packet that is being sent.
    pub fn is_leaving(&self, next: Seq) -> bool {
        next.before(self.burst_end)
    }

    /// Return true if a super-packet ends immediately before `next`. The last segment of a
    /// super-packet has PSH (tcp_transmit_skb).
    pub fn pushes(&self, next: Seq) -> bool {
        self.has_many_segments && next == self.burst_end
    }

    /// Return the number of bytes that pacing counts after a segment of `len` bytes, where `next`
    /// is the sequence number after the segment. Pacing counts a whole super-packet after its last
    /// segment.
    pub fn paced(&mut self, len: u32, next: Seq) -> u32 {
        self.unpaced += len;
        if self.is_leaving(next) { 0 } else { std::mem::take(&mut self.unpaced) }
    }

    /// Return true if the send buffer has no data from `next` on, so that the application or the
    /// send buffer limits the sender.
    pub fn is_drained(&self, next: Seq) -> bool {
        !self.end.after(next)
    }
}

/// Super-packets that were sent and are not acknowledged, stored as runs of equal size.
#[derive(Clone, Debug, Default)]
struct SentSuperPackets {
    /// Number of super-packets.
    buffers: u32,
    /// Last run of super-packets.
    last: Run,
    /// Sequences of super-packets of equal size that were sent before the super-packets in `last`,
    /// in the order of transmission.
    earlier: VecDeque<Run>,
}

/// Run of super-packets of equal size.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// Sequence number after the last byte of the last super-packet.
    end: Seq,
    /// Size of each super-packet in bytes.
    size: u32,
    /// Number of super-packets that are not acknowledged.
    count: u32,
}

impl SentSuperPackets {
    /// Add a super-packet up to `end`, if `end` is after the last super-packet and after SND.UNA.
    #[inline]
    fn add(&mut self, una: Seq, end: Seq) {
        let before = if self.last.count > 0 { self.last.end } else { una };
        let size = end.minus(before);
        if size <= 0 {
            return;
        }
        if self.last.count > 0 && size as u32 != self.last.size {
            self.earlier.push_back(self.last);
            self.last.count = 0;
        }
        self.buffers += 1;
        self.last = Run { end, size: size as u32, count: self.last.count + 1 };
    }

    /// Remove the super-packets that end at `una` or before.
    #[inline]
    fn acknowledge(&mut self, una: Seq) {
        if (self.earlier.is_empty() || self.acknowledge_earlier(una)) && self.last.count > 0 {
            self.buffers -= self.last.acknowledge(una);
        }
    }

    /// Remove from `earlier` each super-packet that ends at `una` or before. Return true if all
    /// earlier runs were removed.
    #[inline(never)]
    fn acknowledge_earlier(&mut self, una: Seq) -> bool {
        while let Some(first) = self.earlier.front_mut() {
            self.buffers -= first.acknowledge(una);
            if first.count > 0 {
                return false;
            }
            self.earlier.pop_front();
        }
        true
    }
}

impl Run {
    /// Remove the super-packets that end at `una` or before. Return the number removed.
    #[inline]
    fn acknowledge(&mut self, una: Seq) -> u32 {
        let remaining = (self.end.minus(una).max(0) as u32).div_ceil(self.size).min(self.count);
        std::mem::replace(&mut self.count, remaining) - remaining
    }
}

/// Return the number of segments of a full super-packet, at most half of the maximum window
/// (tcp_xmit_size_goal, tcp_bound_to_half_wnd).
fn super_packet(tcb: &Tcb) -> u32 {
    (MAX_SUPER_PACKET.min(tcb.max_window / 2) / tcb.smss).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use units::Duration;

    use super::*;

    const MSS: u32 = 1448;

    /// Create a connection of the stack `linux` with endless data, and the write queue of the
    /// connection.
    fn connection(changes: &serde_json::Value) -> (Tcb, Box<SendQueue>, Tcp) {
        let tcp = Tcp::of_stack("linux", changes).unwrap();
        let mut tcb = Tcb::new(&tcp, Seq(0), Duration::ZERO);
        (tcb.smss, tcb.unsent, tcb.max_window) = (MSS, u64::MAX, 6_291_456);
        tcb.cwnd = f64::from(10 * MSS);
        let queue = SendQueue::new(tcb.max, &tcb, &tcp).unwrap();
        (tcb, queue, tcp)
    }

    /// A measured kernel sends 1790 segments of 2344 B from 4 MiB of memory, and the application
    /// writes again when two thirds of the memory are used.
    #[test]
    fn application_writes_when_a_third_of_the_memory_is_free() {
        let changes = serde_json::json!({"offload": "none", "memory": {"send": "4194304 B"}});
        let (mut tcb, mut queue, tcp) = connection(&changes);
        assert_eq!(queue.fill(&tcb, 0, &tcp), 1790 * MSS);
        tcb.max = Seq(1790 * MSS); // all written data is sent
        assert!(queue.is_drained(tcb.max));
        for (acked, new) in [(0, 0), (597, 0), (598, 598), (599, 598), (2 * 598, 2 * 598)] {
            tcb.una = Seq(acked * MSS);
            assert_eq!(queue.fill(&tcb, 0, &tcp) / MSS, new, "{acked}");
        }
    }

    /// After Linux merges a SACKed segment with the segment before it, the SACKed segment takes
    /// only the memory of its payload.
    #[test]
    fn merged_segments_take_only_their_payload() {
        let changes = serde_json::json!({"offload": "none", "memory": {"send": "4194304 B"}});
        let (mut tcb, mut queue, tcp) = connection(&changes);
        queue.fill(&tcb, 0, &tcp);
        tcb.max = Seq(1790 * MSS);
        assert_eq!(queue.fill(&tcb, 1500, &tcp), 0);
        assert_eq!(queue.fill(&tcb, 1600, &tcp), 611 * MSS, "1432144 B are free");
    }

    /// At first the memory of the send buffer suffices for ten segments. Later the memory suffices
    /// for two congestion windows, up to the maximum memory.
    #[test]
    fn memory_grows_with_cwnd() {
        let (mut tcb, mut queue, tcp) = connection(&serde_json::json!({"offload": "none"}));
        assert_eq!(queue.memory, 2 * 10 * 2304);
        tcb.cwnd = f64::from(100 * MSS);
        queue.expand(&tcb, &tcp);
        assert_eq!(queue.memory, 2 * 100 * 2304);
        tcb.cwnd = f64::from(5 * MSS);
        queue.expand(&tcb, &tcp);
        assert_eq!(queue.memory, 2 * 100 * 2304);
        tcb.cwnd = f64::from(10_000 * MSS);
        queue.expand(&tcb, &tcp);
        assert_eq!(queue.memory, 4_194_304);
    }

    /// Linux 6.12, bbr_sndbuf_expand.
    #[test]
    fn bbr_has_memory_for_three_windows() {
        for kind in ["bbr", "bbr3"] {
            let changes = serde_json::json!({"offload": "none", "congestion": kind});
            let (_, queue, _) = connection(&changes);
            assert_eq!(queue.memory, 3 * 10 * 2304, "{kind}");
        }
    }

    /// A super-packet of 45 segments takes 66056 B. A super-packet that is split counts as two
    /// super-packets.
    #[test]
    fn super_packets_take_less_memory() {
        let changes = serde_json::json!({"offload": "linux", "memory": {"send": "4194304 B"}});
        let (mut tcb, mut queue, tcp) = connection(&changes);
        assert_eq!(queue.fill(&tcb, 0, &tcp), 64 * 45 * MSS);
        assert_eq!(queue.used_memory(&tcb, 0), 64 * 66_056);
        queue.begin_burst(tcb.una, Seq(28 * MSS), true);
        assert_eq!((queue.first(Seq(28 * MSS)), queue.is_last()), (17 * MSS, false));
        assert_eq!(queue.used_memory(&tcb, 0), 64 * 66_056 + OVERHEAD);
        // A super-packet that grows takes data from the next super-packet.
        queue.begin_burst(tcb.una, Seq(48 * MSS), true);
        assert_eq!((queue.first(Seq(48 * MSS)), queue.is_last()), (42 * MSS, false));
        tcb.max = Seq(48 * MSS);
        tcb.una = Seq(48 * MSS);
        queue.fill(&tcb, 0, &tcp);
        assert_eq!(queue.used_memory(&tcb, 0), 63 * 66_056 - u64::from(3 * MSS));
    }

    proptest! {
        /// `SentSuperPackets` and a plain list of all super-packets contain the same number of
        /// super-packets.
        #[test]
        fn runs_give_the_same_count_as_a_list(steps in vec((0..4_u32, 0..6_u32), 1..200), start: u32) {
            let (mut una, mut end) = (Seq(start), Seq(start));
            let (mut sent, mut list) = (SentSuperPackets::default(), VecDeque::new());
            for (segments, acked) in steps {
                end = end + segments * MSS;
                sent.add(una, end);
                if end.after(*list.back().unwrap_or(&una)) {
                    list.push_back(end);
                }
                una = una + (acked * MSS / 2).min(end - una);
                sent.acknowledge(una);
                list.retain(|end: &Seq| end.after(una));
                prop_assert_eq!(sent.buffers as usize, list.len());
            }
        }
    }

    /// One segment fits into a send buffer of any size, and a small write is appended to the last
    /// super-packet.
    #[test]
    fn small_memory_and_small_writes_are_valid() {
        let changes = serde_json::json!({"offload": "none", "memory": {"send": "1 B", "send_max": "1 B"}});
        let (tcb, mut queue, tcp) = connection(&changes);
        assert_eq!(queue.fill(&tcb, 0, &tcp), MSS);
        assert_eq!(queue.fill(&tcb, 0, &tcp), MSS);
        let changes = serde_json::json!({"offload": "linux", "send_buffer": "unlimited"});
        let (mut tcb, mut queue, tcp) = connection(&changes);
        for bytes in 1..10 {
            tcb.unsent = bytes;
            assert_eq!(u64::from(queue.fill(&tcb, 0, &tcp)), bytes);
        }
        assert_eq!((queue.first(tcb.max), queue.is_last()), (9, true));
    }
}
