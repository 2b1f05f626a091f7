//! A link: queue discipline → transmitter → propagation, with at most one pending event.
//!
//! A packet's arrival at the far end is known when its transmission begins, so it goes into the pipe
//! at that moment, and the link's only event is the arrival of the first packet in the pipe. The ends
//! of transmissions are not events: whatever touches the link first catches up with every dequeue
//! whose time has come, in order and at its exact time (htsim's one event a link, with exact times
//! for the queue's law).

use std::collections::VecDeque;

use units::{Bytes, Duration, Rate, Time};

use crate::discipline::{Backlog, Fate, Fates, QueueCx, QueueDiscipline};
use crate::ledger::{Count, Ledger};
use crate::packet::{Ecn, Packet};

/// Sees what becomes of packets at a link.
pub trait Probe {
    /// A packet was dropped or marked.
    fn fate(&mut self, now: Time, fate: &Fate);
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn fate(&mut self, _: Time, _: &Fate) {}
}

/// Binary digits of the fraction in which the time to send a byte is held.
const FRACTION: u32 = 20;

/// A one-way link.
#[derive(Debug)]
pub struct Link<Q> {
    /// Its queue.
    pub queue: Q,
    /// Picoseconds to send a byte, times 2^FRACTION.
    byte_time: u64,
    delay: Duration,
    transmitting: bool,
    /// When the transmitter has sent the last packet it began.
    free_at: Time,
    /// Packets sent or being sent, each with its arrival at the far end.
    pipe: VecDeque<(Time, Packet)>,
    fates: Fates,
    ledger: Ledger,
}

impl<Q: QueueDiscipline> Link<Q> {
    /// A link of this rate and propagation delay behind `queue`.
    pub fn new(rate: Rate, delay: Duration, queue: Q) -> Self {
        let byte_time = ((8_000_000_000_000_u128 << FRACTION) / u128::from(rate.0)) as u64;
        Link {
            queue,
            byte_time,
            delay,
            transmitting: false,
            free_at: Time::ZERO,
            pipe: VecDeque::new(),
            fates: Fates::default(),
            ledger: Ledger::default(),
        }
    }

    /// The time to send `size`, to the picosecond.
    pub fn transmission_time(&self, size: Bytes) -> Duration {
        let scaled = u128::from(size.0) * u128::from(self.byte_time);
        Duration(((scaled + (1 << (FRACTION - 1))) >> FRACTION) as u64)
    }

    /// A packet arrives at the queue.
    #[inline]
    pub fn receive(&mut self, now: Time, packet: Packet, probe: &mut impl Probe) {
        self.catch_up(now, probe);
        self.ledger.arrive(&packet);
        let mut cx = QueueCx { now, transmitting: self.transmitting, fates: &mut self.fates };
        self.queue.enqueue(packet, &mut cx);
        self.settle(now, probe);
        if !self.transmitting {
            self.transmit_next(now, probe);
        }
    }

    /// When the first packet in the pipe arrives; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn due(&self) -> Time {
        self.pipe.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Hands over the packet that arrives at the far end now.
    #[inline]
    pub fn deliver(&mut self, now: Time, probe: &mut impl Probe) -> Option<Packet> {
        self.catch_up(now, probe);
        if self.due() > now {
            return None;
        }
        let (_, packet) = self.pipe.pop_front()?;
        self.ledger.delivered.add(&packet);
        Some(packet)
    }

    /// Does every dequeue whose time has come, at its time.
    #[inline]
    pub fn catch_up(&mut self, now: Time, probe: &mut impl Probe) {
        while self.transmitting && self.free_at <= now {
            self.transmit_next(self.free_at, probe);
        }
    }

    #[inline]
    fn transmit_next(&mut self, at: Time, probe: &mut impl Probe) {
        let mut cx = QueueCx { now: at, transmitting: false, fates: &mut self.fates };
        let next = self.queue.dequeue(&mut cx);
        self.settle(at, probe);
        self.transmitting = next.is_some();
        if let Some(packet) = next {
            let time = self.transmission_time(Bytes(u64::from(packet.size)));
            self.free_at = at + time;
            self.ledger.busy += time.0;
            self.ledger.depart(&packet);
            self.pipe.push_back((self.free_at + self.delay, packet));
        }
    }

    /// Enters the reported fates in the ledger and shows them.
    #[inline]
    fn settle(&mut self, now: Time, probe: &mut impl Probe) {
        if self.fates.0.is_empty() {
            return;
        }
        for fate in self.fates.0.drain(..) {
            match &fate {
                Fate::Dropped(packet, why) => self.ledger.drop(packet, *why),
                Fate::Marked(_, why) => self.ledger.marked_why[why.index()] += 1,
            }
            probe.fate(now, &fate);
        }
    }

    /// What waits, the packet in service not included. Catch up first.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Whether a packet is in service.
    pub fn is_transmitting(&self) -> bool {
        self.transmitting
    }

    /// The ledger so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How long the transmitter was sending up to `now`, in picoseconds.
    pub fn busy(&self, now: Time) -> u64 {
        self.ledger.busy - if self.transmitting { self.free_at.since(now).0 } else { 0 }
    }

    /// Checks the ledger against the queue and the pipe as they are.
    pub fn check(&self, now: Time) -> Result<(), String> {
        let mut on_wire = Count::default();
        self.pipe.iter().for_each(|(_, p)| on_wire.add(p));
        let mut seen = Backlog::default();
        let mut ce_waiting = 0;
        self.queue.waiting(&mut |p| {
            seen.packets += 1;
            seen.bytes += u64::from(p.size);
            ce_waiting += u64::from(p.ecn == Ecn::Ce);
        });
        if seen != self.queue.backlog() {
            return Err(format!("the queue holds {seen:?} and says {:?}", self.queue.backlog()));
        }
        self.ledger.check(seen, ce_waiting, on_wire, self.busy(now), now.0)
    }

    /// Calls `see` for every packet that is waiting, in service or on the wire.
    pub fn inside(&self, see: &mut dyn FnMut(&Packet)) {
        self.queue.waiting(see);
        self.pipe.iter().for_each(|(_, p)| see(p));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unlimited queue that loses the packet with sequence number `loses` without a word.
    #[derive(Default)]
    struct Plain {
        packets: VecDeque<Packet>,
        loses: Option<u32>,
    }

    impl QueueDiscipline for Plain {
        fn enqueue(&mut self, p: Packet, _: &mut QueueCx) {
            if self.loses != Some(p.segment.seq.0) {
                self.packets.push_back(p);
            }
        }
        fn dequeue(&mut self, _: &mut QueueCx) -> Option<Packet> {
            self.packets.pop_front()
        }
        fn backlog(&self) -> Backlog {
            Backlog {
                packets: self.packets.len() as u32,
                bytes: self.packets.iter().map(|p| u64::from(p.size)).sum(),
            }
        }
        fn waiting(&self, see: &mut dyn FnMut(&Packet)) {
            self.packets.iter().for_each(see);
        }
    }

    fn packet(seq: u32, size: u16) -> Packet {
        let mut p = Packet { size, ..Packet::default() };
        p.segment.seq.0 = seq;
        p
    }

    fn link(queue: Plain) -> Link<Plain> {
        Link::new(Rate(1_500_000), Duration::from_millis(20), queue)
    }

    #[test]
    fn packets_arrive_one_transmission_time_apart() {
        let mut l = link(Plain::default());
        for seq in 0..3 {
            l.receive(Time::ZERO, packet(seq, 1500), &mut NoProbe);
        }
        assert_eq!((l.backlog().packets, l.is_transmitting()), (2, true));
        for (seq, ms) in [(0, 28), (1, 36), (2, 44)] {
            let at = Time::ZERO + Duration::from_millis(ms);
            assert_eq!(l.due(), at);
            assert_eq!(l.deliver(at, &mut NoProbe).unwrap().segment.seq.0, seq);
            l.check(at).unwrap();
        }
        assert_eq!((l.due(), l.deliver(Time(1 << 40), &mut NoProbe)), (Time::NEVER, None));
        assert_eq!(l.busy(Time(1 << 40)), Duration::from_millis(24).0);
    }

    #[test]
    fn nothing_arrives_before_its_time() {
        let mut l = link(Plain::default());
        l.receive(Time::ZERO, packet(0, 1500), &mut NoProbe);
        assert_eq!(l.deliver(Time::ZERO + Duration::from_millis(27), &mut NoProbe), None);
    }

    #[test]
    fn a_queue_that_loses_a_packet_is_caught() {
        let mut l = link(Plain { loses: Some(1), ..Plain::default() });
        l.receive(Time::ZERO, packet(0, 1500), &mut NoProbe);
        l.check(Time::ZERO).unwrap();
        l.receive(Time::ZERO, packet(1, 1500), &mut NoProbe);
        let e = l.check(Time::ZERO).unwrap_err();
        assert!(e.contains("packets in"), "{e}");
    }

    #[test]
    fn a_mark_of_its_own_making_is_caught() {
        let mut l = link(Plain::default());
        l.receive(Time::ZERO, packet(0, 1500), &mut NoProbe);
        l.receive(Time::ZERO, packet(1, 1500), &mut NoProbe);
        l.queue.packets[0].ecn = Ecn::Ce;
        let e = l.check(Time::ZERO).unwrap_err();
        assert!(e.contains("CE in"), "{e}");
    }

    #[test]
    fn transmission_times_are_exact_to_the_picosecond() {
        for rate in [1, 56_000, 1_500_000, 10_000_000_000, 7_777_777] {
            let l = Link::new(Rate(rate), Duration::ZERO, Plain::default());
            for size in [1, 40, 1460, 65_535] {
                let exact = Rate(rate).transmission_time(Bytes(size));
                assert!(l.transmission_time(Bytes(size)).0.abs_diff(exact.0) <= 1);
            }
        }
    }
}
