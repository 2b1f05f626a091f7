//! The FIFO shell: it limits, marks and drops for every law.
//!
//! What holds for all laws is written here once: an ECN-capable packet is marked where another is
//! dropped (RFC 3168 §5), the limit of the buffer, and what the limit counts.

use net::{Aqm, Arrival, Fates, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Depth, Range, Read, Room, params, words};

words! {
    /// What a queue limit counts.
    pub enum Counting {
        /// The waiting packets; the packet being transmitted is not in the queue.
        Waiting = "waiting",
        /// The waiting packets and the one being transmitted.
        System = "waiting-and-in-service",
        /// The waiting packets before the one that arrives, which is let in whole unless they are above the limit, in bytes (Linux 2.4).
        Before = "waiting-before",
    }
}

words! {
    /// How a queue signals congestion by an ECN-capable packet.
    pub enum Marking {
        /// By marking it.
        Mark = "mark",
        /// By dropping it, like any other: a router without ECN.
        Drop = "drop",
    }
}

words! {
    /// Which packet goes when the buffer is full.
    pub enum DropFrom {
        /// The one that arrives.
        Tail = "tail",
        /// The one that has waited longest.
        Front = "front",
        /// One of those that wait, at random.
        Random = "random",
        /// The oldest of the flow with the most bytes waiting.
        LongestFlow = "longest-flow",
    }
}

words! {
    /// Which packet is marked when the law signals by an ECN-capable one.
    pub enum MarkAt {
        /// The one that arrives.
        Tail = "tail",
        /// The first from the head of the queue that is ECN-capable and not marked: the news reaches the sender earlier by the queueing delay.
        Head = "head",
    }
}

/// The limit of a buffer, unless its kind of queue has its own.
pub const HUNDRED_PACKETS: Room = Room::Depth(Depth::Packets(100.0));

/// The most packets or bytes that a limit may say.
pub const MOST: f64 = 1e9;

params! {
    /// The buffer of a queue.
    pub struct Buffer: "buffer", checked by check {
        /// The most packets or bytes it holds, or a time: the bytes that the link sends in it. A packet that would exceed it is dropped.
        limit: Room = (HUNDRED_PACKETS), in Range::between(1.0, MOST).whole(), from "rfc7567 §2 leaves it to the operator; 100 is a common default of hosts";
        /// Whether the packet in service counts towards the limit.
        limit_counts: Counting = (Counting::Waiting), in Range::ANY, from "ns-2's Drop Tail counts it, its RED does not";
        /// Which packet is dropped when the buffer is full.
        drop_from: DropFrom = (DropFrom::Tail), in Range::ANY, from "rfc2309 §3 has tail, front and random; suter1998buffer the longest queue";
        /// Which packet is marked when the law signals by an ECN-capable one.
        mark_at: MarkAt = (MarkAt::Tail), in Range::ANY, from "rfc3168 §5 speaks of the arriving packet";
        /// What is done to an ECN-capable packet by which the law signals congestion.
        ecn: Marking = (Marking::Mark), in Range::ANY, from "rfc3168 §5";
    }
}

fn check(buffer: &Buffer, path: &str) -> Result<(), Invalid> {
    let in_packets = matches!(buffer.limit, Room::Depth(Depth::Packets(_)));
    let (units, remedy) = match buffer.limit_counts {
        Counting::System if !in_packets => ("packets", "write the limit in packets, or count what waits"),
        Counting::Before if in_packets => ("bytes", "write the limit in bytes, or count what waits"),
        _ => return Ok(()),
    };
    let path = join(path, "limit_counts");
    let rule = format!("goes with a limit in {units} only");
    Err(Invalid::new(&path, &buffer.limit_counts.write(), &rule).remedy(remedy))
}

/// The limit of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// So many packets, and whether the one in service is one of them.
    Packets(u32, Counting),
    /// So many bytes.
    Bytes(u64),
    /// So many bytes before the packet that arrives.
    BytesBefore(u64),
}

impl Limit {
    /// The limit of this buffer, so large on its link.
    pub fn of(buffer: &Buffer, depth: Depth) -> Self {
        match depth {
            Depth::Packets(n) => Limit::Packets(n as u32, buffer.limit_counts),
            Depth::Bytes(n) if buffer.limit_counts == Counting::Before => Limit::BytesBefore(n as u64),
            Depth::Bytes(n) => Limit::Bytes(n as u64),
        }
    }

    /// Whether the packet finds no room.
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

/// A first-in-first-out queue under the law `A`.
#[derive(Debug)]
pub struct Shell<A> {
    limit: Limit,
    marks: bool,
    law: A,
}

impl<A: Aqm> Shell<A> {
    /// The shell of a buffer, so large on its link, around a law.
    pub fn new(buffer: &Buffer, depth: Depth, law: A) -> Self {
        Shell { limit: Limit::of(buffer, depth), marks: buffer.ecn == Marking::Mark, law }
    }

    /// The law.
    pub fn law(&self) -> &A {
        &self.law
    }

    /// The limit of the buffer in packets, if it counts them.
    pub fn limit(&self) -> Option<u32> {
        match self.limit {
            Limit::Packets(n, _) => Some(n),
            Limit::Bytes(_) | Limit::BytesBefore(_) => None,
        }
    }

    /// As [`Shell::admit`], in a function of its own: laws differ in length, and the shortest should not
    /// pay for the longest.
    #[inline(never)]
    pub fn admit_apart(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> bool {
        self.admit(packet, at, fates)
    }

    /// Lets a packet in, marked or not, or drops it.
    #[inline]
    pub fn admit(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> bool {
        let verdict = self.law.on_arrival(packet, at);
        if self.limit.is_full(packet, at) {
            self.law.on_overflow(at.now);
            fates.drop(*packet, Why::Full);
            return false;
        }
        match verdict {
            Verdict::Pass => {}
            Verdict::Signal(why) if self.marks && packet.ecn.is_capable() => fates.mark(packet, why),
            Verdict::Signal(why) | Verdict::Drop(why) => {
                fates.drop(*packet, why);
                return false;
            }
        }
        self.law.on_admitted(packet, at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{Backlog, Ecn};
    use units::Time;

    /// Signals on every arrival.
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

    /// What becomes of a packet with this ECN field that the law chose.
    fn signalled(ecn: Marking, field: Ecn) -> Option<Ecn> {
        let buffer = Buffer { ecn, ..buffer() };
        let mut p = packet(field);
        let admitted =
            Shell::new(&buffer, TEN, Always).admit(&mut p, &arrival(0, false), &mut Fates::default());
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

    /// The two countings: with the packet in service a limit of 4 holds 4 in all, without it 5.
    #[test]
    fn the_limit_counts_what_it_says() {
        for (limit_counts, waiting) in [(Counting::Waiting, 4), (Counting::System, 3)] {
            let buffer = Buffer { limit_counts, ..buffer() };
            let mut shell = Shell::new(&buffer, Depth::Packets(4.0), crate::drop_tail::NoLaw);
            let mut admits =
                |n, busy| shell.admit(&mut packet(Ecn::NotEct), &arrival(n, busy), &mut Fates::default());
            assert!(admits(waiting - 1, true) && !admits(waiting, true));
            assert!(admits(0, false));
        }
    }

    /// A limit in bytes holds what fits: two packets of 1500 B in 4000 B, and not a third.
    #[test]
    fn a_limit_in_bytes_counts_bytes() {
        let mut shell = Shell::new(&buffer(), Depth::Bytes(4000.0), crate::drop_tail::NoLaw);
        let mut admits = |n, size| {
            shell.admit(&mut Packet { size, ..Packet::default() }, &arrival(n, true), &mut Fates::default())
        };
        assert!(admits(1, 1500) && !admits(2, 1500) && admits(2, 1000) && !admits(2, 1001));
    }

    /// Counted before it, a packet comes in whole at the limit, and the smallest does not above it.
    #[test]
    fn a_limit_in_bytes_may_count_what_was_there_before() {
        let buffer = Buffer { limit_counts: Counting::Before, ..buffer() };
        let mut shell = Shell::new(&buffer, Depth::Bytes(3000.0), crate::drop_tail::NoLaw);
        let mut admits = |n, size| {
            shell.admit(&mut Packet { size, ..Packet::default() }, &arrival(n, true), &mut Fates::default())
        };
        assert!(admits(1, 1500) && admits(2, 1500) && !admits(3, 40));
    }
}
