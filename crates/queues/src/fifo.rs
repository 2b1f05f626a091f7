//! The FIFO shell: it stores, limits, marks and drops for every law.
//!
//! What holds for all laws is written here once: an ECN-capable packet is marked where another is
//! dropped (RFC 3168 §5), the limit of the buffer, and what the limit counts.

use std::collections::VecDeque;

use net::{Aqm, Backlog, Packet, QueueCx, QueueDiscipline, Verdict, Why};
use units::{Packets, Range, params, words};

words! {
    /// What a queue limit counts.
    pub enum Counting {
        /// The waiting packets; the packet being transmitted is not in the queue.
        Waiting = "waiting",
        /// The waiting packets and the one being transmitted.
        System = "waiting-and-in-service",
    }
}

params! {
    /// The buffer of a queue.
    pub struct Buffer: "buffer" {
        /// The most packets it holds; one that arrives at a full buffer is dropped.
        limit: Packets = (Packets(100.0)), in Range::between(1.0, 1e9).whole(), from "rfc7567 §2 leaves it to the operator; 100 is a common default of hosts";
        /// Whether the packet in service counts towards the limit.
        limit_counts: Counting = (Counting::Waiting), in Range::ANY, from "ns-2's Drop Tail counts it, its RED does not";
    }
}

/// A first-in-first-out queue under the law `A`.
#[derive(Debug)]
pub struct Fifo<A> {
    packets: VecDeque<Packet>,
    bytes: u64,
    limit: u32,
    counting: Counting,
    law: A,
}

impl<A: Aqm> Fifo<A> {
    /// An empty queue.
    pub fn new(buffer: &Buffer, law: A) -> Self {
        Fifo {
            packets: VecDeque::new(),
            bytes: 0,
            limit: buffer.limit.0 as u32,
            counting: buffer.limit_counts,
            law,
        }
    }

    /// Marks an ECN-capable packet, drops another. `None`: dropped.
    fn signal(mut packet: Packet, why: Why, cx: &mut QueueCx) -> Option<Packet> {
        if packet.ecn.is_capable() {
            cx.fates.mark(&mut packet, why);
            Some(packet)
        } else {
            cx.fates.drop(packet, why);
            None
        }
    }
}

impl<A: Aqm> QueueDiscipline for Fifo<A> {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut QueueCx) {
        let verdict = self.law.on_arrival(cx.now, &packet, self.backlog());
        let counted =
            self.packets.len() as u32 + u32::from(self.counting == Counting::System && cx.transmitting);
        if counted >= self.limit {
            self.law.on_overflow(cx.now);
            cx.fates.drop(packet, Why::Full);
            return;
        }
        let kept = match verdict {
            Verdict::Pass => Some(packet),
            Verdict::Signal(why) => Self::signal(packet, why, cx),
            Verdict::Drop(why) => {
                cx.fates.drop(packet, why);
                None
            }
        };
        if let Some(packet) = kept {
            self.bytes += u64::from(packet.size);
            self.packets.push_back(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut QueueCx) -> Option<Packet> {
        while let Some(packet) = self.packets.pop_front() {
            self.bytes -= u64::from(packet.size);
            match self.law.on_departure(cx.now, &packet, self.backlog()) {
                Verdict::Pass => return Some(packet),
                Verdict::Signal(why) => {
                    if let Some(packet) = Self::signal(packet, why, cx) {
                        return Some(packet);
                    }
                }
                Verdict::Drop(why) => cx.fates.drop(packet, why),
            }
        }
        self.law.on_idle(cx.now);
        None
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    fn average(&self) -> Option<f64> {
        self.law.average()
    }

    fn waiting(&self, see: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{Ecn, Fate, Link, NoProbe, Probe};
    use units::{Duration, Rate, Time};

    /// Signals on every arrival.
    struct Always;
    impl Aqm for Always {
        fn on_arrival(&mut self, _: Time, _: &Packet, _: Backlog) -> Verdict {
            Verdict::Signal(Why::Early)
        }
    }
    struct Never;
    impl Aqm for Never {}

    #[derive(Default)]
    struct Seen(Vec<Fate>);
    impl Probe for Seen {
        fn fate(&mut self, _: Time, fate: &Fate) {
            self.0.push(*fate);
        }
    }

    fn link<A: Aqm>(limit: f64, limit_counts: Counting, law: A) -> Link<Fifo<A>> {
        let buffer = Buffer { limit: Packets(limit), limit_counts };
        Link::new(Rate(1_500_000), Duration::ZERO, Fifo::new(&buffer, law))
    }

    fn packet(ecn: Ecn) -> Packet {
        Packet { size: 1500, ecn, ..Packet::default() }
    }

    #[test]
    fn a_signal_marks_ect_and_drops_the_rest() {
        let mut l = link(10.0, Counting::Waiting, Always);
        let mut seen = Seen::default();
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            l.receive(Time::ZERO, packet(ecn), &mut seen);
        }
        assert!(matches!(seen.0[0], Fate::Dropped(p, Why::Early) if p.ecn == Ecn::NotEct));
        for fate in &seen.0[1..] {
            assert!(matches!(fate, Fate::Marked(p, Why::Early) if p.ecn == Ecn::Ce));
        }
        assert_eq!((l.ledger().dropped.packets, l.ledger().marked()), (1, 3));
    }

    /// The two countings: with the packet in service a limit of 4 holds 4 in all, without it 5.
    #[test]
    fn the_limit_counts_what_it_says() {
        for (counting, kept) in [(Counting::Waiting, 5), (Counting::System, 4)] {
            let mut l = link(4.0, counting, Never);
            for _ in 0..10 {
                l.receive(Time::ZERO, packet(Ecn::NotEct), &mut NoProbe);
            }
            assert_eq!(l.ledger().arrived.packets - l.ledger().dropped.packets, kept);
            assert_eq!(l.ledger().dropped_why[Why::Full.index()], 10 - kept);
            l.check(Time::ZERO).unwrap();
        }
    }
}
