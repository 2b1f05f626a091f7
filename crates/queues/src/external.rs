//! Queue outside of the run, such as a queue discipline of a kernel. The caller passes each
//! arriving packet to the external queue, and reports the packets that the external queue has
//! released. The run counts, delays and transmits them like those of its own queues.
//!
//! An external queue reports no drops. A packet is dropped if a later packet of its connection was
//! released before it, because no queue discipline reorders the packets of a flow.

use std::collections::{HashMap, VecDeque};

use net::{Arrival, Backlog, Fates, Next, Packet, QueueDiscipline, QueuedPacket, Why, rules};
use units::Time;

use crate::discipline::StoringQueue;
use crate::schedulers::Classes;

rules! {
    /// The kernel dropped or marked the packet, for a reason that only the kernel knows.
    KERNEL = "kernel", from "queue discipline of the kernel";
}

/// Number of a packet in an external queue. A number is used again after its packet left.
pub type Ticket = u16;

/// Packets that wait in a queue outside of the run.
#[derive(Debug, Default)]
pub struct External {
    waiting: Vec<Option<QueuedPacket>>,
    free: Vec<Ticket>,
    /// Tickets of the waiting packets of each connection, in the order of arrival. A link carries
    /// the packets of one direction of a connection.
    flows: HashMap<u32, VecDeque<Ticket>>,
    /// Packets that arrived and that the caller has not yet passed on.
    arrived: Vec<Ticket>,
    /// Packets that the external queue has released, each with true if it was marked.
    released: VecDeque<(QueuedPacket, bool)>,
    /// Packets that the external queue has dropped.
    lost: Vec<Packet>,
    backlog: Backlog,
}

impl External {
    /// Call `pass` for each packet that arrived since the last call.
    pub fn arrivals(&mut self, mut pass: impl FnMut(Ticket, &Packet)) {
        for ticket in self.arrived.drain(..) {
            if let Some(held) = &self.waiting[usize::from(ticket)] {
                pass(ticket, &held.packet);
            }
        }
    }

    /// Record that the external queue released a packet, and whether it was marked. Packets of the
    /// same connection that arrived earlier were dropped. Return false if no packet has the ticket.
    pub fn release(&mut self, ticket: Ticket, marked: bool) -> bool {
        let Some(held) = self.waiting.get_mut(usize::from(ticket)).and_then(Option::take) else {
            return false;
        };
        self.free.push(ticket);
        let key = held.packet.connection;
        let flow = self.flows.entry(key).or_default();
        while let Some(earlier) = flow.pop_front().filter(|&earlier| earlier != ticket) {
            if let Some(dropped) = self.waiting[usize::from(earlier)].take() {
                self.free.push(earlier);
                self.lost.push(dropped.packet);
            }
        }
        if flow.is_empty() {
            self.flows.remove(&key);
        }
        self.released.push_back((held, marked));
        true
    }

    fn remove(&mut self, packet: &Packet) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.size);
    }
}

impl QueueDiscipline for External {
    fn enqueue(&mut self, held: QueuedPacket, _: &Arrival, fates: &mut Fates) {
        let ticket = match self.free.pop() {
            Some(ticket) => ticket,
            None if self.waiting.len() <= usize::from(Ticket::MAX) => {
                self.waiting.push(None);
                (self.waiting.len() - 1) as Ticket
            }
            None => return fates.drop(held.packet, Why::Full, |_| {}),
        };
        let key = held.packet.connection;
        self.flows.entry(key).or_default().push_back(ticket);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(held.packet.size);
        self.waiting[usize::from(ticket)] = Some(held);
        self.arrived.push(ticket);
    }

    fn dequeue(&mut self, _: Time, fates: &mut Fates) -> Next {
        for packet in std::mem::take(&mut self.lost) {
            self.remove(&packet);
            fates.drop(packet, Why::Early, |to| {
                to.by(&KERNEL);
            });
        }
        match self.released.pop_front() {
            Some((mut held, marked)) => {
                self.remove(&held.packet);
                if marked && held.packet.ecn.is_markable() {
                    fates.mark(&mut held.packet, Why::Early, |to| {
                        to.by(&KERNEL);
                    });
                }
                Next::Packet(held)
            }
            None if self.backlog.packets > 0 => Next::Later(Time::NEVER),
            None => Next::Empty,
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.waiting.iter().flatten().for_each(&mut *see);
        self.released.iter().for_each(|(held, _)| see(held));
        let lost = |packet: &Packet| QueuedPacket { packet: *packet, source: 0, entered: Time::ZERO };
        self.lost.iter().for_each(|packet| see(&lost(packet)));
    }
}

impl StoringQueue for External {
    fn classes(&self) -> Option<&Classes> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(connection: u32) -> QueuedPacket {
        let packet = Packet { connection, size: 100, ecn: net::Ecn::Ect0, ..Packet::default() };
        QueuedPacket { packet, source: 0, entered: Time::ZERO }
    }

    #[test]
    fn a_released_packet_leaves_and_an_overtaken_one_is_dropped() {
        let mut queue = External::default();
        let mut fates = Fates::default();
        let at = Arrival { now: Time::ZERO, backlog: Backlog::default(), free_at: Time::ZERO };
        for connection in [0, 1, 0, 0] {
            queue.enqueue(packet(connection), &at, &mut fates);
        }
        let mut tickets = Vec::new();
        queue.arrivals(|ticket, packet| tickets.push((ticket, packet.connection)));
        assert_eq!(tickets, [(0, 0), (1, 1), (2, 0), (3, 0)]);
        assert!(matches!(queue.dequeue(Time::ZERO, &mut fates), Next::Later(Time::NEVER)));
        assert!(queue.release(2, true) && !queue.release(2, true) && !queue.release(0, false));
        let Next::Packet(first) = queue.dequeue(Time::ZERO, &mut fates) else { panic!("no packet") };
        assert_eq!((first.packet.connection, first.packet.ecn), (0, net::Ecn::Ce));
        assert_eq!(fates.count(), 2, "a drop and a mark");
        assert_eq!(queue.backlog(), Backlog { packets: 2, bytes: 200 });
        queue.enqueue(packet(5), &at, &mut fates);
        assert!(queue.release(1, false) && queue.release(3, false));
        let mut count = 0;
        queue.each(&mut |_| count += 1);
        assert_eq!(count, queue.backlog().packets);
        assert!(matches!(queue.dequeue(Time::ZERO, &mut fates), Next::Packet(_)));
        assert!(matches!(queue.dequeue(Time::ZERO, &mut fates), Next::Packet(_)));
        assert!(matches!(queue.dequeue(Time::ZERO, &mut fates), Next::Later(Time::NEVER)));
    }
}
