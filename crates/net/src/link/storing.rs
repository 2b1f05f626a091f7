//! Links whose queue stores packets until the link sends them. A queue discipline may drop or mark
//! the packet at its head, or reorder its packets.
//!
//! A link with a queue discipline also has only one event: the arrival of the first packet in its
//! pipe at the far end. While packets are waiting, another packet is in service, so the pipe is not
//! empty. Whenever a function uses the link, the link first performs all dequeues that are due.
//! Each dequeue is performed with the exact time at which it was due, in order of time. A shaper
//! may delay all of its packets. A shaper that delays its packets returns the time at which it can
//! send the next packet. The event of a link with a shaper is the earlier of two times: the time
//! that the shaper returned, and the arrival of the first packet in the pipe.

use units::{Bytes, Duration, Time};

use super::{Flight, Link, Probe};
use crate::discipline::{Arrival, LinkQueue, Next, QueueDiscipline, QueuedPacket};
use crate::packet::Packet;

impl<Q: LinkQueue> Link<Q> {
    /// Return true if the queue stores its packets until they are sent.
    #[inline]
    pub fn stores_packets(&self) -> bool {
        self.queue.discipline().is_some()
    }

    /// Pass a packet to the queue discipline that stores it, after [`Link::receive`] returned
    /// [`Received::Enqueue`](super::Received::Enqueue). `source` is the number of the packet's flow
    /// in the scenario.
    #[cold]
    pub fn enqueue(
        &mut self,
        now: Time,
        source: u32,
        packet: Packet,
        flight: &mut Flight,
        probe: &mut impl Probe,
    ) {
        self.catch_up(now, flight, probe);
        let idle = !self.is_transmitting(now);
        let backlog = self.backlog(now);
        // The computed time `free_at` is exact to one picosecond per waiting packet, unless the
        // queue drops a waiting packet.
        let free_at = match &self.pace {
            Some(pace) => pace.would_send(self.free_at, backlog.bytes),
            None => self.free_at + self.transmission_time(Bytes(backlog.bytes)),
        };
        let at = Arrival { now, backlog, free_at };
        let Some(queue) = self.queue.discipline_mut() else { return };
        queue.enqueue(QueuedPacket { packet, source, entered: now }, &at, &mut self.fates);
        self.settle(now, probe);
        if idle {
            self.transmit_next(now, flight, probe);
        }
    }

    /// Request a packet from the queue, because a packet may be ready that was not ready before.
    #[cold]
    pub fn resume(&mut self, now: Time, flight: &mut Flight, probe: &mut impl Probe) {
        self.catch_up(now, flight, probe);
        if !self.is_transmitting(now) {
            self.transmit_next(now, flight, probe);
        }
    }

    /// Perform every dequeue that is due by the time `now`.
    #[inline]
    pub fn catch_up(&mut self, now: Time, flight: &mut Flight, probe: &mut impl Probe) {
        if self.asks {
            self.make_up(now, flight, probe);
        }
    }

    /// Return true if the next event of the link may be a request to its queue. If this function
    /// returns true, [`Link::next_event`] returns the time of the link's next event.
    #[inline]
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Return the time of the next event: the first arrival in the pipe, or the time at which a
    /// shaper can send a packet again. [`Link::due`] does not include the time of the shaper.
    #[cold]
    pub fn next_event(&self) -> Time {
        match self.resumes {
            true => self.due().min(self.free_at),
            false => self.due(),
        }
    }

    #[cold]
    fn make_up(&mut self, now: Time, flight: &mut Flight, probe: &mut impl Probe) {
        while self.asks && self.free_at <= now {
            self.transmit_next(self.free_at, flight, probe);
        }
    }

    /// Request the next packet from the queue, and transmit this packet.
    fn transmit_next(&mut self, now: Time, flight: &mut Flight, probe: &mut impl Probe) {
        let next =
            self.queue.discipline_mut().map_or(Next::Empty, |queue| queue.dequeue(now, &mut self.fates));
        self.settle(now, probe);
        (self.asks, self.resumes) = match next {
            Next::Packet(QueuedPacket { packet, entered, .. }) => {
                self.free_at = now; // replaces a time that a shaper named
                let arrives = self.send(now, &packet);
                self.put([entered, arrives], packet.hop, &packet, flight);
                (true, false)
            }
            Next::Later(time) => {
                self.free_at = time.max(now + Duration(1)); // at least one picosecond later
                (true, true)
            }
            Next::Empty => {
                if self.resumes {
                    self.free_at = now; // the shaper's packet was dropped
                }
                (false, false)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::counters::Inside;
    use crate::discipline::{Answer, Backlog, Fates};
    use crate::link::{NoProbe, Received};
    use crate::why::Why;
    use units::{Depth, Rate};

    /// Last-in-first-out queue that sends no packet before a given time. At dequeue, the queue
    /// drops the packet with the sequence number 1. At the arrival of the packet with the sequence
    /// number 9, the queue drops all its packets.
    #[derive(Default)]
    struct Stack(VecDeque<QueuedPacket>, Time);

    impl QueueDiscipline for Stack {
        fn enqueue(&mut self, held: QueuedPacket, _: &Arrival, fates: &mut Fates) {
            let pushes_out = held.packet.segment.seq.0 == 9;
            self.0.push_back(held);
            if pushes_out {
                self.0.drain(..).for_each(|held| fates.drop(held.packet, Why::Early, |_| {}));
            }
        }
        fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
            if now < self.1 && !self.0.is_empty() {
                return Next::Later(self.1);
            }
            let held = self.0.pop_back();
            if let Some(held) = held.filter(|held| held.packet.segment.seq.0 == 1) {
                fates.drop(held.packet, Why::Early, |_| {});
                return self.0.pop_back().into();
            }
            held.into()
        }
        fn backlog(&self) -> Backlog {
            Backlog {
                packets: self.0.len() as u32,
                bytes: self.0.iter().map(|h| u64::from(h.packet.size)).sum(),
            }
        }
        fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
            self.0.iter().for_each(see);
        }
    }

    impl LinkQueue for Stack {
        type Discipline = Stack;
        fn offer(&mut self, _: &mut Packet, _: &Arrival, _: &mut Fates) -> Answer {
            Answer::Enqueue
        }
        fn average(&self) -> Option<Depth> {
            None
        }
        fn passes_below(&self) -> Option<u32> {
            None
        }
        fn discipline(&self) -> Option<&Stack> {
            Some(self)
        }
        fn discipline_mut(&mut self) -> Option<&mut Stack> {
            Some(self)
        }
    }

    #[test]
    fn a_shaper_resumes_after_it_dropped_all_its_packets() {
        let ms = |x| Time::ZERO + Duration::from_millis(x);
        let mut link = Link::new(Rate(1_500_000), Duration::from_millis(20), Stack(VecDeque::new(), ms(10)));
        let mut flight = Flight::default();
        for (seq, next) in [(0, ms(10)), (9, Time::NEVER), (2, ms(10))] {
            let mut packet = Packet { size: 1500, ..Packet::default() };
            packet.segment.seq.0 = seq;
            let now = ms(3);
            assert_eq!(link.receive(now, &mut packet, &mut NoProbe), Received::Enqueue);
            link.enqueue(now, 0, packet, &mut flight, &mut NoProbe);
            assert_eq!(link.next_event(), next, "after {seq}");
        }
        link.catch_up(ms(10), &mut flight, &mut NoProbe);
        assert_eq!(link.due(), ms(38));
    }

    #[test]
    fn dequeues_happen_at_their_times_and_the_counters_balance() {
        let ms = |x| Time::ZERO + Duration::from_millis(x);
        let mut link = Link::new(Rate(1_500_000), Duration::from_millis(20), Stack::default());
        let mut flight = Flight::default();
        for seq in 0..4 {
            let mut packet = Packet { size: 1500, ..Packet::default() };
            packet.segment.seq.0 = seq;
            assert_eq!(link.receive(Time::ZERO, &mut packet, &mut NoProbe), Received::Enqueue);
            link.enqueue(Time::ZERO, 0, packet, &mut flight, &mut NoProbe);
        }
        // The link sends the packet with number 0 at once, then number 3, then number 2. Packet 1
        // is dropped.
        for (seq, at) in [(0, 28), (3, 36), (2, 44)] {
            assert_eq!(link.due(), ms(at));
            link.catch_up(ms(at), &mut flight, &mut NoProbe);
            let mut inside = Inside::default();
            link.locate_all(&flight, ms(at), &mut inside);
            link.locate_stored(&mut inside, |_| {});
            assert_eq!(u64::from(link.backlog(ms(at)).packets), inside.waiting.packets);
            link.counters().check(&inside, ms(at)).unwrap();
            let place = link.deliver(ms(at), &mut flight).unwrap();
            assert_eq!(flight[place].packet.segment.seq.0, seq);
        }
        assert_eq!((link.due(), link.counters().signals().dropped.packets), (Time::NEVER, 1));
    }
}
