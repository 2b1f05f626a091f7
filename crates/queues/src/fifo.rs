//! First-in-first-out queue discipline, which limits the buffer and carries out the marks and drops
//! of an AQM.
//!
//! The queue discipline implements the rules that are common to all AQMs: the limit of the buffer,
//! the packets that the limit counts, and the rule that an ECN-capable packet is marked instead of
//! dropped (RFC 3168 §5).

use net::{
    Aqm, Arrival, Backlog, Declared, Explanation, Fates, GENERAL_RULES, Packet, Variables, Verdict, Why,
    variables,
};
use units::param::{Invalid, join};
use units::{Depth, Range, Read, Room, params, words};

words! {
    /// Packets that the limit of a buffer counts.
    pub enum Counting {
        /// The limit counts the waiting packets without the packet in transmission.
        Waiting = "waiting",
        /// The limit counts the waiting packets and the packet in transmission.
        System = "waiting-and-in-service",
        /// The limit counts the bytes of the waiting packets without those of the arriving packet.
        /// The buffer stores an arriving packet unless the backlog before the arrival exceeds the
        /// limit (Linux 2.4).
        Before = "waiting-before",
    }
}

words! {
    /// Action on an ECN-capable packet that the AQM signals.
    pub enum Marking {
        /// An ECN-capable packet that the AQM signals is marked.
        Mark = "mark",
        /// An ECN-capable packet that the AQM signals is dropped, as in a router without ECN.
        Drop = "drop",
    }
}

words! {
    /// Packet that is dropped when the buffer is full.
    pub enum DropFrom {
        /// The arriving packet is dropped.
        Tail = "tail",
        /// The packet that has waited longest is dropped.
        Front = "front",
        /// A randomly chosen waiting packet is dropped.
        Random = "random",
        /// The oldest packet of the flow with the most waiting bytes is dropped.
        LongestFlow = "longest-flow",
    }
}

words! {
    /// Packet that is marked when the AQM signals an ECN-capable packet.
    pub enum MarkAt {
        /// The arriving packet is marked.
        Tail = "tail",
        /// The ECN-capable and unmarked packet that is nearest to the head of the queue is marked.
        /// A mark at the head of the queue reaches the sender earlier than a mark at the tail, by
        /// the queueing delay.
        Head = "head",
    }
}

/// Default limit of a buffer, for kinds of queues that do not define their own default.
pub const HUNDRED_PACKETS: Room = Room::Depth(Depth::Packets(100.0));

/// Maximum value of a limit, in packets or bytes.
pub const MOST: f64 = 1e9;

params! {
    /// Buffer of a queue.
    pub struct Buffer: "buffer", checked by check {
        /// Capacity of the buffer in packets, in bytes, or as a time. A time stands for the bytes
        /// that the link sends in that time. The buffer drops a packet that would exceed its
        /// capacity.
        limit: Room = (HUNDRED_PACKETS), in Range::between(1.0, MOST).whole(), from "rfc7567 §2: the operator chooses the limit; hosts often have 100 packets by default";
        /// Packets that the limit counts.
        limit_counts: Counting = (Counting::Waiting), in Range::ANY, from "ns-2: Drop Tail counts the packet in service, and RED does not";
        /// Packet that is dropped when the buffer is full.
        drop_from: DropFrom = (DropFrom::Tail), in Range::ANY, from "rfc2309 §3 has tail, front and random; suter1998buffer has longest-flow";
        /// Packet that is marked when the AQM signals an ECN-capable packet.
        mark_at: MarkAt = (MarkAt::Tail), in Range::ANY, from "rfc3168 §5: the router marks the arriving packet";
        /// Action on an ECN-capable packet that the AQM signals.
        ecn: Marking = (Marking::Mark), in Range::ANY, from "rfc3168 §5";
    }
}

fn check(buffer: &Buffer, path: &str) -> Result<(), Invalid> {
    let in_packets = matches!(buffer.limit, Room::Depth(Depth::Packets(_)));
    let (units, remedy) = match buffer.limit_counts {
        Counting::System if !in_packets => {
            ("packets", "write the limit in packets, or set limit_counts = \"waiting\"")
        }
        Counting::Before if in_packets => {
            ("bytes", "write the limit in bytes, or set limit_counts = \"waiting\"")
        }
        _ => return Ok(()),
    };
    let path = join(path, "limit_counts");
    let rule = format!("requires a limit in {units}");
    Err(Invalid::new(&path, &buffer.limit_counts.write(), &rule).remedy(remedy))
}

variables! {
    /// Variables of the buffer of a queue.
    pub struct BufferVariables {
        /// Number of packets that waited when the queue decided, without the packet itself if it
        /// arrived or left.
        queue_packets in "packets", from "rfc7567 §2";
        /// Total size of these packets.
        queue_bytes in "bytes", from "rfc7567 §2";
        /// Limit of the buffer, if it is in packets.
        limit_packets in "packets", from "rfc7567 §2";
        /// Limit of the buffer, if it is in bytes or a time.
        limit_bytes in "bytes", from "rfc7567 §2";
    }
}

/// Rules and variables of the buffer of every queue. The rules of a wire and of a conditioner are
/// among them, because a link has one list of its drops.
pub const DECLARED: Declared = Declared { rules: GENERAL_RULES, variables: BufferVariables::LIST };

/// Limit of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// Limit as a number of packets, with the rule that says which packets count.
    Packets(u32, Counting),
    /// Limit as a number of bytes.
    Bytes(u64),
    /// Limit as a number of bytes, which excludes the bytes of the arriving packet.
    BytesBefore(u64),
}

impl Limit {
    /// Return the limit of the buffer `buffer`. `depth` is the limit in packets or bytes, after a
    /// limit that is a time was converted at the rate of the link.
    pub fn of(buffer: &Buffer, depth: Depth) -> Self {
        match depth {
            Depth::Packets(n) => Limit::Packets(n as u32, buffer.limit_counts),
            Depth::Bytes(n) if buffer.limit_counts == Counting::Before => Limit::BytesBefore(n as u64),
            Depth::Bytes(n) => Limit::Bytes(n as u64),
        }
    }

    /// Add the variables of the buffer to an explanation. `backlog` are the waiting packets.
    pub(crate) fn explain(self, backlog: Backlog, to: &mut Explanation) {
        let (limit_packets, limit_bytes) = match self {
            Limit::Packets(n, _) => (f64::from(n), f64::NAN),
            Limit::Bytes(n) | Limit::BytesBefore(n) => (f64::NAN, n as f64),
        };
        let (queue_packets, queue_bytes) = (f64::from(backlog.packets), backlog.bytes as f64);
        to.with(BufferVariables { queue_packets, queue_bytes, limit_packets, limit_bytes });
    }

    /// Return true if the arriving packet must be dropped because the buffer is full.
    #[inline]
    pub fn is_full(self, packet: &Packet, at: &Arrival) -> bool {
        match self {
            Limit::Packets(n, counting) => {
                let in_service = counting == Counting::System && at.idle_since().is_none();
                at.backlog.packets + u32::from(in_service) >= n
            }
            Limit::Bytes(n) => at.backlog.bytes + u64::from(packet.size) > n,
            Limit::BytesBefore(n) => at.backlog.bytes > n,
        }
    }
}

/// First-in-first-out queue with the AQM `A`.
#[derive(Debug)]
pub struct Fifo<A> {
    limit: Limit,
    marks: bool,
    aqm: A,
}

impl<A: Aqm> Fifo<A> {
    /// Create the queue discipline for a buffer and an AQM. `depth` is the limit of the buffer in
    /// packets or bytes.
    pub fn new(buffer: &Buffer, depth: Depth, aqm: A) -> Self {
        Fifo { limit: Limit::of(buffer, depth), marks: buffer.ecn == Marking::Mark, aqm }
    }

    /// Return the AQM.
    pub fn aqm(&self) -> &A {
        &self.aqm
    }

    /// Return the limit of the buffer in packets, or `None` if it is in bytes.
    pub fn limit(&self) -> Option<u32> {
        match self.limit {
            Limit::Packets(n, _) => Some(n),
            Limit::Bytes(_) | Limit::BytesBefore(_) => None,
        }
    }

    /// Return the function that explains a drop or a mark of the arriving packet. The backlog is
    /// passed by value, so that the compiler can store it in registers.
    #[inline(always)]
    fn explainer(&self, why: Why, backlog: Backlog) -> impl FnOnce(&mut Explanation) {
        move |to| {
            self.limit.explain(backlog, to);
            self.aqm.explain(why, to);
        }
    }

    /// Admit a packet, admit and mark the packet, or drop the packet. Return true if the queue
    /// admitted the packet.
    #[inline]
    pub fn admit(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> bool {
        let verdict = self.aqm.on_arrival(packet, at);
        if self.limit.is_full(packet, at) {
            fates.drop(*packet, Why::Full, self.explainer(Why::Full, at.backlog));
            self.aqm.on_overflow(at.now);
            return false;
        }
        match verdict {
            Verdict::Pass => {}
            Verdict::Signal(why) if self.marks && packet.ecn.is_capable() => {
                fates.mark(packet, why, self.explainer(why, at.backlog));
            }
            Verdict::Signal(why) | Verdict::Drop(why) => {
                fates.drop(*packet, why, self.explainer(why, at.backlog));
                return false;
            }
        }
        self.aqm.on_admitted(packet, at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{Backlog, Ecn};
    use units::Time;

    /// AQM that signals every packet.
    struct Always;
    impl Aqm for Always {
        fn on_arrival(&mut self, _: &Packet, _: &Arrival) -> Verdict {
            Verdict::Signal(Why::Early)
        }
    }

    fn arrival(packets: u32, busy: bool) -> Arrival {
        let free_at = if busy { Time::NEVER } else { Time::ZERO };
        Arrival { now: Time::ZERO, backlog: Backlog { packets, bytes: 1500 * u64::from(packets) }, free_at }
    }

    const TEN: Depth = Depth::Packets(10.0);

    fn buffer() -> Buffer {
        Buffer {
            limit: HUNDRED_PACKETS,
            limit_counts: Counting::Waiting,
            drop_from: DropFrom::Tail,
            mark_at: MarkAt::Tail,
            ecn: Marking::Mark,
        }
    }

    fn packet(ecn: Ecn) -> Packet {
        Packet { size: 1500, ecn, ..Packet::default() }
    }

    /// Return the ECN field that a packet has after the queue signalled it, or `None` if the packet
    /// was dropped.
    fn signalled(ecn: Marking, field: Ecn) -> Option<Ecn> {
        let buffer = Buffer { ecn, ..buffer() };
        let mut p = packet(field);
        let admitted =
            Fifo::new(&buffer, TEN, Always).admit(&mut p, &arrival(0, false), &mut Fates::default());
        admitted.then_some(p.ecn)
    }

    #[test]
    fn a_signal_marks_ect_and_drops_the_rest() {
        assert_eq!(signalled(Marking::Mark, Ecn::NotEct), None);
        for field in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(signalled(Marking::Mark, field), Some(Ecn::Ce));
            assert_eq!(signalled(Marking::Drop, field), None);
        }
    }

    /// If a limit of 4 packets counts the packet in service, the queue and the link together
    /// contain at most 4 packets. If the limit does not count the packet in service, the queue and
    /// the link together contain at most 5 packets.
    #[test]
    fn the_limit_counts_waiting_packets_with_or_without_the_one_in_service() {
        for (limit_counts, waiting) in [(Counting::Waiting, 4), (Counting::System, 3)] {
            let buffer = Buffer { limit_counts, ..buffer() };
            let mut fifo = Fifo::new(&buffer, Depth::Packets(4.0), crate::drop_tail::NoAqm);
            let mut admits =
                |n, busy| fifo.admit(&mut packet(Ecn::NotEct), &arrival(n, busy), &mut Fates::default());
            assert!(admits(waiting - 1, true) && !admits(waiting, true));
            assert!(admits(0, false));
        }
    }

    /// A buffer with a limit of 4000 B stores two packets of 1500 B and drops a third packet of
    /// 1500 B.
    #[test]
    fn a_limit_in_bytes_counts_bytes() {
        let mut fifo = Fifo::new(&buffer(), Depth::Bytes(4000.0), crate::drop_tail::NoAqm);
        let mut admits = |n, size| {
            fifo.admit(&mut Packet { size, ..Packet::default() }, &arrival(n, true), &mut Fates::default())
        };
        assert!(admits(1, 1500) && !admits(2, 1500) && admits(2, 1000) && !admits(2, 1001));
    }

    /// The limit of 3000 B excludes the arriving packet. If the backlog is 3000 B, a packet of 1500
    /// B is stored. If the backlog is larger than 3000 B, even a packet of 40 B is dropped.
    #[test]
    fn a_limit_in_bytes_may_exclude_the_arriving_packet() {
        let buffer = Buffer { limit_counts: Counting::Before, ..buffer() };
        let mut fifo = Fifo::new(&buffer, Depth::Bytes(3000.0), crate::drop_tail::NoAqm);
        let mut admits = |n, size| {
            fifo.admit(&mut Packet { size, ..Packet::default() }, &arrival(n, true), &mut Fates::default())
        };
        assert!(admits(1, 1500) && admits(2, 1500) && !admits(3, 40));
    }
}
