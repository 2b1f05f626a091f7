//! Invariants of every run. The checks verify three facts: each sent packet of a connection arrives
//! or is dropped, the receiver echoes ECN marks as RFC 3168 §6.1.3 demands, and the counts of the
//! classes of a scheduler add up to the counts of their link. The links check their own packet
//! counters.

use net::{Direction, Ecn, Flags, Packet};
use queues::Discipline;

/// Counters of the packets of one connection, per direction. The counters are independent of the
/// counters of the endpoints.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionCounters {
    /// Number of packets in the network: the packets sent minus the packets that arrived or were
    /// dropped. If a packet arrives that was not sent, the number of packets in the network wraps
    /// around to a large value.
    inside: [u32; 2],
    /// Number of packets that a queue dropped.
    pub dropped: [u32; 2],
    /// Number of packets that a queue marked.
    pub marked: [u32; 2],
    /// State of the ECN echo, for the data of each direction.
    echoes: [Echo; 2],
}

/// State of the ECN echo for the data of one direction: the receiver of marked data sets ECN-Echo
/// in its ACKs.
#[derive(Clone, Copy, Debug, Default)]
struct Echo {
    /// True if the last segment that acknowledged the data carried ECN-Echo.
    echoing: bool,
    /// True if a marked data packet arrived and the receiver has not echoed the mark yet.
    due: bool,
    /// True if a segment with CWR arrived since the ECN echo began.
    cwr_seen: bool,
}

impl ConnectionCounters {
    /// Count a packet that an endpoint sends in the direction `direction`.
    #[inline]
    pub fn sent(&mut self, direction: Direction) {
        let inside = &mut self.inside[direction.index()];
        *inside = inside.wrapping_add(1);
    }

    /// Count a packet that arrives at the receiving endpoint.
    #[inline]
    pub fn arrived(&mut self, direction: Direction) {
        let inside = &mut self.inside[direction.index()];
        *inside = inside.wrapping_sub(1);
    }

    /// Count a packet that a queue drops.
    pub fn dropped(&mut self, direction: Direction) {
        self.arrived(direction);
        self.dropped[direction.index()] += 1;
    }

    /// Count a packet that a queue marks.
    pub fn marked(&mut self, direction: Direction) {
        self.marked[direction.index()] += 1;
    }

    /// Return true if each packet that was sent has arrived or was dropped.
    pub fn is_drained(&self) -> bool {
        self.inside == [0, 0]
    }

    /// Record the ECN bits of a packet that arrives at its endpoint. The receiver echoes the marks
    /// of data packets and of the SYN-ACK (RFC 5562 §3). The echo of a mark on a SYN-ACK ends when
    /// a SYN-ACK without a mark arrives (RFC 5562 §3.2). `ecn` is true if the connection uses ECN.
    #[inline]
    pub fn data_arrives(&mut self, direction: Direction, packet: &Packet, ecn: bool) {
        if packet.segment.len > 0 || packet.segment.flags.has(Flags::SYN) {
            let echo = &mut self.echoes[direction.index()];
            let plain_syn_ack = packet.segment.flags.has(Flags::SYN) && packet.ecn != Ecn::Ce;
            echo.cwr_seen |= packet.segment.flags.has(Flags::CWR) || plain_syn_ack;
            echo.due |= ecn && packet.ecn == Ecn::Ce;
        }
    }

    /// Check the ECN echo in an acknowledgement that an endpoint sends in the direction
    /// `direction`. Return the violation if the echo does not match the marks on the data of the
    /// opposite direction.
    #[inline]
    pub fn ack_leaves(&mut self, direction: Direction, flags: Flags) -> Option<&'static str> {
        if flags.has(Flags::SYN) {
            return None;
        }
        let now = flags.has(Flags::ECE);
        let echo = &mut self.echoes[direction.opposite().index()];
        let problem = if echo.echoing && !now && !echo.cwr_seen {
            Some("an ACK does not carry ECN-Echo, although CWR has not arrived yet")
        } else if now && !echo.echoing && !echo.due {
            Some("an ACK carries ECN-Echo, although no marked packet arrived")
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

    /// For each direction, check that the number of sent packets is the number of arrived packets
    /// plus the number of dropped packets. Before the check, the caller counts the packets that are
    /// still in the network as arrived.
    pub fn check(&self) -> Result<(), String> {
        for (i, direction) in ["forward", "reverse"].into_iter().enumerate() {
            if self.inside[i] != 0 {
                return Err(format!(
                    "{direction}: the packets sent are {} more than the packets that arrived, were dropped ({}) or are in the network",
                    self.inside[i] as i32, self.dropped[i]
                ));
            }
        }
        Ok(())
    }
}

/// Check that the sums of the arrivals, drops and marks over the classes of a queue equal the
/// counters of the link.
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
    fn classes_whose_counters_differ_from_the_link_are_detected() {
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
    fn a_lost_packet_is_detected() {
        let mut l = ConnectionCounters::default();
        (0..3).for_each(|_| l.sent(Direction::Forward));
        l.arrived(Direction::Forward);
        l.dropped(Direction::Forward);
        assert!(!l.is_drained());
        assert!(l.check().unwrap_err().contains("forward: the packets sent are 1 more"));
        l.arrived(Direction::Forward);
        assert!(l.is_drained() && l.check().is_ok());
    }

    /// The test counts the arrival of a packet that was not sent. Such a packet could belong to an
    /// earlier connection in the same connection slot.
    #[test]
    fn a_packet_that_was_not_sent_is_detected() {
        let mut l = ConnectionCounters::default();
        l.arrived(Direction::Reverse);
        assert!(!l.is_drained());
        assert!(l.check().unwrap_err().contains("reverse: the packets sent are -1 more"));
    }

    #[test]
    fn an_echo_that_ends_too_early_is_detected_in_both_directions() {
        for direction in Direction::BOTH {
            let mut f = ConnectionCounters::default();
            f.data_arrives(direction, &data(Ecn::Ce, Flags::ACK), true);
            assert_eq!(f.ack_leaves(direction.opposite(), Flags::ACK | Flags::ECE), None);
            assert_eq!(f.ack_leaves(direction, Flags::ACK), None);
            assert!(f.ack_leaves(direction, Flags::ACK | Flags::ECE).is_some());
            assert!(f.ack_leaves(direction.opposite(), Flags::ACK).is_some());
        }
    }

    /// RFC 5562 §3.2 (TryOnce): the server retransmits the SYN-ACK without a mark.
    #[test]
    fn the_echo_of_a_syn_ack_ends_with_an_unmarked_syn_ack() {
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
