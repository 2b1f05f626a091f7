//! What must hold in every run: each connection's packets are accounted for, ECN is echoed as
//! RFC 3168 §6.1.3 demands, and classes of schedulers had what their link had. (The links keep their own ledgers.)

use net::{Direction, Ecn, Flags, Packet};
use queues::Discipline;

/// The account of one connection, from outside its endpoints, for each way of its packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionCounters {
    /// By the books in the network: sent, less arrived, less dropped. One that arrives unsent wraps.
    inside: [u32; 2],
    /// Dropped by a queue.
    pub dropped: [u32; 2],
    /// Marked by a queue.
    pub marked: [u32; 2],
    /// The echo of marks on data of each way.
    echoes: [Echo; 2],
}

/// What becomes of the marks on the data of a way.
#[derive(Clone, Copy, Debug, Default)]
struct Echo {
    /// Whether the last segment that answered it carried ECN-Echo.
    echoing: bool,
    /// Whether a marked data packet arrived that was not echoed yet.
    due: bool,
    /// Whether CWR arrived since the echo began.
    cwr_seen: bool,
}

impl ConnectionCounters {
    /// An endpoint hands a packet to the network.
    #[inline]
    pub fn sent(&mut self, direction: Direction) {
        let inside = &mut self.inside[direction.index()];
        *inside = inside.wrapping_add(1);
    }

    /// The network hands a packet to the other endpoint.
    #[inline]
    pub fn arrived(&mut self, direction: Direction) {
        let inside = &mut self.inside[direction.index()];
        *inside = inside.wrapping_sub(1);
    }

    /// A queue dropped a packet.
    pub fn dropped(&mut self, direction: Direction) {
        self.arrived(direction);
        self.dropped[direction.index()] += 1;
    }

    /// A queue marked a packet.
    pub fn marked(&mut self, direction: Direction) {
        self.marked[direction.index()] += 1;
    }

    /// Whether everything that was sent has arrived or was dropped.
    pub fn is_drained(&self) -> bool {
        self.inside == [0, 0]
    }

    /// A packet that went this way arrives, perhaps with data, or a SYN-ACK, whose mark is echoed too (RFC 5562 §3) until one
    /// comes without (§3.2); `ecn`: the connection uses ECN.
    #[inline]
    pub fn data_arrives(&mut self, direction: Direction, packet: &Packet, ecn: bool) {
        if packet.segment.len > 0 || packet.segment.flags.has(Flags::SYN) {
            let echo = &mut self.echoes[direction.index()];
            let plain_syn_ack = packet.segment.flags.has(Flags::SYN) && packet.ecn != Ecn::Ce;
            echo.cwr_seen |= packet.segment.flags.has(Flags::CWR) || plain_syn_ack;
            echo.due |= ecn && packet.ecn == Ecn::Ce;
        }
    }

    /// A segment that acknowledges leaves on this way: what is wrong with its echo of what came the other way, if anything.
    #[inline]
    pub fn ack_leaves(&mut self, direction: Direction, flags: Flags) -> Option<&'static str> {
        if flags.has(Flags::SYN) {
            return None;
        }
        let now = flags.has(Flags::ECE);
        let echo = &mut self.echoes[direction.opposite().index()];
        let problem = if echo.echoing && !now && !echo.cwr_seen {
            Some("ECN-Echo ended before CWR arrived")
        } else if now && !echo.echoing && !echo.due {
            Some("ECN-Echo without a marked packet")
        } else {
            None
        };
        if now && !echo.echoing {
            echo.cwr_seen = false;
        }
        echo.echoing = now;
        echo.due = false;
        problem
    }

    /// The identity of each direction, sent = arrived + dropped, once what is still in the network has
    /// been counted as arrived.
    pub fn check(&self) -> Result<(), String> {
        for (i, direction) in ["forward", "reverse"].into_iter().enumerate() {
            if self.inside[i] != 0 {
                return Err(format!(
                    "packets sent {direction} are {} more than those that arrived, were dropped ({}) or are in the network",
                    self.inside[i] as i32, self.dropped[i]
                ));
            }
        }
        Ok(())
    }
}

/// The classes of a queue, if it has any: together they had what its link says came, was dropped and was marked.
pub fn check_classes(queue: &Discipline, link: &net::LinkCounters) -> Result<(), String> {
    let Some(classes) = queue.classes() else { return Ok(()) };
    let signals = link.signals();
    classes.check(link.arrived, signals.dropped, signals.marked())
}

#[cfg(test)]
mod tests {
    use engine::Stream;
    use net::{Flight, Link, NoProbe, Received};
    use queues::diffserv::NoFlows;
    use queues::{NoCustomAqms, Queue};
    use serde_json::json;
    use units::{Duration, Rate, Read as _, Time};

    use super::*;

    #[test]
    fn classes_that_had_not_what_their_link_had_are_caught() {
        let full = json!({"kind": "drop_tail", "limit": "2 packets"});
        let queue = json!({"kind": "drr", "classes": [{"match": {"dscp": "EF"}}, {"queue": full}]});
        let rate = Rate(1_000_000);
        let queue = Queue::read(&queue, "queue").unwrap();
        let queue = queue.build("link", rate, Stream::new(1, "queue"), &NoCustomAqms, &NoFlows);
        let mut link = Link::new(rate, Duration::ZERO, queue);
        let mut flight = Flight::default();
        for _ in 0..5 {
            let mut packet = Packet { size: 1000, ..Packet::default() };
            assert_eq!(link.receive(Time::ZERO, &mut packet, &mut NoProbe), Received::Enqueue);
            link.enqueue(Time::ZERO, 0, packet, &mut flight, &mut NoProbe);
        }
        assert_eq!(link.counters().signals().dropped.packets, 2);
        check_classes(link.queue(), link.counters()).unwrap();
        let mut counters = link.counters().clone();
        counters.arrived.packets += 1;
        assert!(check_classes(link.queue(), &counters).unwrap_err().contains("in all classes"));
        assert!(check_classes(link.queue(), &net::LinkCounters::default()).is_err());
    }

    fn data(ecn: Ecn, flags: Flags) -> Packet {
        let mut p = Packet { ecn, ..Packet::default() };
        p.segment.len = 100;
        p.segment.flags = flags;
        p
    }

    #[test]
    fn a_lost_packet_is_caught() {
        let mut l = ConnectionCounters::default();
        (0..3).for_each(|_| l.sent(Direction::Forward));
        l.arrived(Direction::Forward);
        l.dropped(Direction::Forward);
        assert!(!l.is_drained());
        assert!(l.check().unwrap_err().contains("packets sent forward are 1 more"));
        l.arrived(Direction::Forward);
        assert!(l.is_drained() && l.check().is_ok());
    }

    /// As when a packet of an old connection reaches a new one in its slot.
    #[test]
    fn a_packet_that_nobody_sent_is_caught() {
        let mut l = ConnectionCounters::default();
        l.arrived(Direction::Reverse);
        assert!(!l.is_drained());
        assert!(l.check().unwrap_err().contains("packets sent reverse are -1 more"));
    }

    #[test]
    fn an_echo_that_ends_too_soon_is_caught_either_way() {
        for direction in Direction::BOTH {
            let mut f = ConnectionCounters::default();
            f.data_arrives(direction, &data(Ecn::Ce, Flags::ACK), true);
            assert_eq!(f.ack_leaves(direction.opposite(), Flags::ACK | Flags::ECE), None);
            assert_eq!(f.ack_leaves(direction, Flags::ACK), None);
            assert!(f.ack_leaves(direction, Flags::ACK | Flags::ECE).is_some());
            assert!(f.ack_leaves(direction.opposite(), Flags::ACK).is_some());
        }
    }

    /// RFC 5562 §3.2 (TryOnce): the SYN-ACK comes again, without a mark.
    #[test]
    fn the_echo_of_a_syn_ack_ends_with_one_that_is_not_marked() {
        let mut f = ConnectionCounters::default();
        let syn_ack = |ecn| data(ecn, Flags::SYN | Flags::ACK);
        f.data_arrives(Direction::Reverse, &syn_ack(Ecn::Ce), true);
        assert_eq!(f.ack_leaves(Direction::Forward, Flags::ACK | Flags::ECE), None);
        f.data_arrives(Direction::Reverse, &syn_ack(Ecn::NotEct), true);
        assert_eq!(f.ack_leaves(Direction::Forward, Flags::ACK), None);
    }

    #[test]
    fn an_echo_ends_after_cwr_and_begins_with_a_mark() {
        let mut f = ConnectionCounters::default();
        f.data_arrives(Direction::Forward, &data(Ecn::Ce, Flags::ACK), true);
        f.ack_leaves(Direction::Reverse, Flags::ACK | Flags::ECE);
        f.data_arrives(Direction::Forward, &data(Ecn::Ect0, Flags::ACK | Flags::CWR), true);
        assert_eq!(f.ack_leaves(Direction::Reverse, Flags::ACK), None);
        assert!(f.ack_leaves(Direction::Reverse, Flags::ACK | Flags::ECE).is_some());
    }
}
