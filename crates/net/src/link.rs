//! A link: queue → transmitter → propagation, with at most one pending event.
//!
//! The queue decides on arrival and serves first in, first out, so when a packet is admitted its
//! times are known: when its transmission begins, when it ends, when it reaches the far end. It goes
//! into the pipe, a queue in the network's store of what is in flight, with its arrival, and the link's only event is the first arrival in the pipe. How much
//! waits at some instant is what has not begun by then.
//!
//! **Hops that only delay.** A link whose packets all come from one other link, that is no slower, and
//! whose buffer cannot overflow for that reason, decides nothing: a packet admitted to the link before
//! it has its arrival at the far end of both computed at once ([`Link::pass_on`]). Results are the same
//! to the picosecond; an event a packet is saved.

mod flight;
mod holding;
mod pace;

use std::collections::VecDeque;

use units::{Bytes, Duration, Rate, Time};

use crate::discipline::{Arrival, Backlog, Fate, Fates, Fifo, QueueDiscipline};
use crate::ledger::{Inside, Ledger};
use crate::packet::Packet;

use flight::Pipe;
pub use flight::{Flight, InPipe, Place};
pub use pace::{Opportunities, Pace, Steps};

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

/// In place of the time to send a byte: it changes, and [`Pace`] knows it. No rate takes that long.
const CHANGES: u64 = u64::MAX;

/// In place of the number of a link.
const NO_LINK: u32 = u32::MAX;

/// The time to send a byte at this rate, as [`time_to_send`] wants it.
pub fn byte_time(rate: Rate) -> u64 {
    ((8_000_000_000_000_u128 << FRACTION) / u128::from(rate.0)) as u64
}

/// The time to send `size`, to the picosecond, exactly as a link computes it.
#[inline]
pub fn time_to_send(byte_time: u64, size: Bytes) -> Duration {
    let scaled = u128::from(size.0) * u128::from(byte_time);
    Duration(((scaled + (1 << (FRACTION - 1))) >> FRACTION) as u64)
}

/// A one-way link. What every packet touches comes first, in the order of cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link<Q> {
    /// When the transmitter has sent everything admitted so far.
    free_at: Time,
    /// Picoseconds to send a byte, times 2^FRACTION.
    byte_time: u64,
    delay: Duration,
    /// Everything admitted and not delivered, in order of arrival.
    pipe: Pipe,
    waiting_bytes: u64,
    /// The one link before this one, if this one only delays; else [`NO_LINK`].
    feeder: u32,
    /// Where the queue keeps its packets: whether it is asked for the next one at `free_at`, and whether that is
    /// because it told the time, not because a packet is in service until then.
    asks: bool,
    resumes: bool,
    ledger: Ledger,
    /// Its queue.
    queue: Q,
    /// Of what waits: when its transmission begins, and its size.
    waiting: VecDeque<(Time, u16)>,
    fates: Fates,
    /// How its rate changes, if it does.
    pace: Option<Box<Pace>>,
}

impl<Q: Fifo> Link<Q> {
    /// A link of this rate and propagation delay behind `queue`.
    pub fn new(rate: Rate, delay: Duration, queue: Q) -> Self {
        Link {
            free_at: Time::ZERO,
            byte_time: byte_time(rate),
            delay,
            pipe: Pipe::default(),
            waiting_bytes: 0,
            feeder: NO_LINK,
            asks: false,
            resumes: false,
            ledger: Ledger::default(),
            queue,
            waiting: VecDeque::new(),
            fates: Fates::default(),
            pace: None,
        }
    }

    /// The link with a rate that changes.
    pub fn with_pace(mut self, pace: Pace) -> Self {
        (self.byte_time, self.pace) = (CHANGES, Some(Box::new(pace)));
        self
    }

    /// Says that this link only delays what is admitted to the link with this number ([`Link::only_delays`]).
    pub fn set_feeder(&mut self, feeder: u32) {
        self.feeder = feeder;
    }

    /// The number of the link whose packets this one only delays, if it does only that.
    #[inline]
    pub fn feeder(&self) -> Option<u32> {
        (self.feeder != NO_LINK).then_some(self.feeder)
    }

    /// Whether something was admitted whose arrival is later than the clock goes: it would seem never to come.
    pub fn is_beyond_time(&self) -> bool {
        self.pace.is_none() && !self.resumes && self.free_at + self.delay == Time::NEVER
    }

    /// The time to send `size` at a rate that does not change, to the picosecond.
    #[inline]
    pub fn transmission_time(&self, size: Bytes) -> Duration {
        time_to_send(self.byte_time, size)
    }

    /// A packet arrives at the queue, which may mark it. If it is admitted, returns its arrival at the
    /// far end; the caller puts it in this link's pipe, or in that of a link that only delays. If not, it
    /// is dropped, or the caller hands it to the queue that keeps it ([`Link::keep`]).
    #[inline(always)]
    pub fn receive(&mut self, now: Time, packet: &mut Packet, probe: &mut impl Probe) -> Option<Time> {
        self.ledger.arrive(packet);
        let idle = self.free_at <= now;
        let backlog = if idle { self.waiting_none() } else { self.waiting(now) };
        let at = Arrival { now, backlog, free_at: self.free_at };
        let admitted = self.queue.admit(packet, &at, &mut self.fates);
        if !self.fates.0.is_empty() {
            self.settle(now, probe);
        }
        if !admitted {
            return None;
        }
        if !idle {
            self.waiting.push_back((self.free_at, packet.size));
            self.waiting_bytes += u64::from(packet.size);
        }
        Some(self.send(now, packet))
    }

    /// A packet will enter at `enters`, in order, from the one link before this one, which only
    /// delays: its arrival at the far end.
    #[inline]
    pub fn pass_on(&mut self, enters: Time, packet: &Packet) -> Time {
        self.ledger.arrive(packet);
        self.send(enters, packet)
    }

    /// Schedules the transmission of an admitted packet: its arrival at the far end.
    #[inline]
    fn send(&mut self, now: Time, packet: &Packet) -> Time {
        if self.byte_time == CHANGES {
            return self.send_at_pace(now, packet);
        }
        let time = self.transmission_time(Bytes(u64::from(packet.size)));
        self.free_at = self.free_at.max(now) + time;
        self.ledger.admit(packet, time.0);
        self.free_at + self.delay
    }

    /// The same at a rate that changes.
    #[cold]
    #[inline(never)]
    fn send_at_pace(&mut self, now: Time, packet: &Packet) -> Time {
        let begins = self.free_at.max(now);
        if let Some(pace) = &mut self.pace {
            self.free_at = pace.send(begins, u64::from(packet.size));
        }
        self.ledger.admit(packet, self.free_at.since(begins).0);
        self.free_at + self.delay
    }

    /// When the transmission of a packet of `size` bytes begins that arrives at the far end at `arrives`; at a rate
    /// that changes, when it ends.
    pub fn begins(&self, arrives: Time, size: u16) -> Time {
        if self.pace.is_some() {
            return arrives - self.delay;
        }
        arrives - self.delay - self.transmission_time(Bytes(u64::from(size)))
    }

    /// Puts a packet that was admitted at `entered` and arrives at `arrives` in the pipe, at `hop` of its route:
    /// whether it is the first there, and [`Link::due`] another.
    #[inline(always)]
    pub fn put(
        &mut self,
        [entered, arrives]: [Time; 2],
        hop: u32,
        packet: &Packet,
        flight: &mut Flight,
    ) -> bool {
        flight.push(&mut self.pipe, [entered, arrives], hop, packet)
    }

    /// When the first packet in the pipe arrives; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn due(&self) -> Time {
        self.pipe.due()
    }

    /// Hands over the packet that arrives at the far end now: its place, where it stays until the next [`Link::put`].
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, flight: &mut Flight) -> Option<Place> {
        if self.due() > now {
            return None;
        }
        let place = flight.pop(&mut self.pipe)?;
        self.ledger.delivered.add(&flight[place].packet);
        Some(place)
    }

    /// Notes that a packet admitted here was delivered at the far end of a link that only delays.
    #[inline(always)]
    pub fn delivered_beyond(&mut self, packet: &Packet) {
        self.ledger.delivered.add(packet);
    }

    /// Enters the reported fates in the ledger and shows them.
    #[cold]
    fn settle(&mut self, now: Time, probe: &mut impl Probe) {
        for fate in self.fates.0.drain(..) {
            match &fate {
                Fate::Dropped(packet, why) => self.ledger.drop(packet, *why),
                Fate::Marked(packet, why) => self.ledger.mark(packet, *why),
            }
            probe.fate(now, &fate);
        }
    }

    /// What waits at `now`, the packet in service not included.
    #[inline]
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match self.queue.held() {
            Some(held) => held.backlog(),
            None => self.waiting(now),
        }
    }

    /// The same where the transmitter is free: everything admitted has begun.
    #[inline]
    fn waiting_none(&mut self) -> Backlog {
        if !self.waiting.is_empty() {
            self.waiting.clear();
            self.waiting_bytes = 0;
        }
        Backlog::default()
    }

    /// What was admitted and has not begun by `now`.
    #[inline]
    fn waiting(&mut self, now: Time) -> Backlog {
        while let Some(&(begins, size)) = self.waiting.front()
            && begins <= now
        {
            self.waiting_bytes -= u64::from(size);
            self.waiting.pop_front();
        }
        Backlog { packets: self.waiting.len() as u32, bytes: self.waiting_bytes }
    }

    /// Whether a packet is in service at `now`.
    pub fn is_transmitting(&self, now: Time) -> bool {
        self.free_at > now && !self.resumes
    }

    /// Its queue.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// The ledger, with everything that was promised by the link before it.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What is in the pipe.
    pub fn pipe<'f>(&self, flight: &'f Flight) -> impl Iterator<Item = &'f InPipe> {
        flight.each(&self.pipe)
    }

    /// Whether a link behind `before`, and behind no other, only delays: it is no slower, and what a
    /// packet of `largest` bytes can make wait behind it, in packets of `least`, never fills it.
    pub fn only_delays(&self, before: &Self, least: u16, largest: u16) -> bool {
        let behind = u32::from(largest) / u32::from(least.max(1)) + 2;
        !before.holds()
            && before.pace.is_none()
            && self.pace.is_none()
            && self.byte_time <= before.byte_time
            && self.queue.passes_below().is_some_and(|n| n > behind)
    }

    /// Enters in `inside` where each packet of this link's own pipe is at `now`.
    pub fn locate_all(&self, flight: &Flight, now: Time, inside: &mut Inside) {
        let mut before = Time::ZERO;
        for entry in self.pipe(flight) {
            if self.pace.is_some() {
                // What is first in the pipe has begun: what was sent before it has arrived.
                let sent = entry.arrives - self.delay;
                self.place(entry, now, (entry.entered.max(before), sent), inside);
                before = sent;
            } else {
                self.locate(entry, false, now, inside);
            }
        }
    }

    /// Enters where a packet is that entered by now and whose transmission takes this span.
    fn place(&self, entry: &InPipe, now: Time, (begins, sent): (Time, Time), inside: &mut Inside) {
        inside.work = inside.work.wrapping_add(sent.since(now.max(begins)).0);
        if begins > now { inside.waiting.add(&entry.packet) } else { inside.on_wire.add(&entry.packet) }
    }

    /// Enters in `inside` where the packet of a pipe is at `now`, at a rate that does not change: this link's own
    /// pipe, or (`beyond`) that of the link behind it, which only delays.
    pub fn locate(&self, entry: &InPipe, beyond: bool, now: Time, inside: &mut Inside) {
        let packet = &entry.packet;
        // In the pipe of the link behind, the entry there is the arrival at the far end here.
        let (entered, arrives) =
            if beyond { (Time::ZERO, entry.entered) } else { (entry.entered, entry.arrives) };
        let time = self.transmission_time(Bytes(u64::from(packet.size)));
        let sent = arrives - self.delay;
        let begins = sent - time;
        inside.work = inside.work.wrapping_add(sent.since(now).0.min(time.0));
        if entered > now {
            inside.to_come.add(packet);
        } else if begins > now {
            inside.waiting.add(packet);
        } else if beyond && arrives <= now {
            inside.beyond.add(packet);
        } else {
            inside.on_wire.add(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::{Held, Next};
    use crate::packet::Ecn;

    /// An unlimited queue that loses the packet with sequence number `loses` without a word, and
    /// marks another without saying so.
    #[derive(Default)]
    struct Plain {
        loses: Option<u32>,
        marks: Option<u32>,
    }

    /// No queue.
    enum Never {}

    impl QueueDiscipline for Never {
        fn enqueue(&mut self, _: Held, _: &Arrival, _: &mut Fates) {}
        fn dequeue(&mut self, _: Time, _: &mut Fates) -> Next {
            Next::Empty
        }
        fn backlog(&self) -> Backlog {
            Backlog::default()
        }
        fn each(&self, _: &mut dyn FnMut(&Held)) {}
    }

    impl Fifo for Plain {
        fn admit(&mut self, p: &mut Packet, _: &Arrival, _: &mut Fates) -> bool {
            if self.marks == Some(p.segment.seq.0) {
                p.ecn = Ecn::Ce;
            }
            self.loses != Some(p.segment.seq.0)
        }
        fn average(&self) -> Option<f64> {
            None
        }
        fn passes_below(&self) -> Option<u32> {
            Some(u32::MAX)
        }
        type Held = Never;
        fn held(&self) -> Option<&Never> {
            None
        }
        fn held_mut(&mut self) -> Option<&mut Never> {
            None
        }
    }

    fn packet(seq: u32, size: u16) -> Packet {
        let mut p = Packet { size, ..Packet::default() };
        p.segment.seq.0 = seq;
        p
    }

    /// A link alone in its network.
    struct Alone {
        link: Link<Plain>,
        flight: Flight,
    }

    fn link(queue: Plain) -> Link<Plain> {
        Link::new(Rate(1_500_000), Duration::from_millis(20), queue)
    }

    fn alone(queue: Plain) -> Alone {
        Alone { link: link(queue), flight: Flight::default() }
    }

    impl Alone {
        fn receive(&mut self, now: Time, mut packet: Packet) {
            if let Some(arrives) = self.link.receive(now, &mut packet, &mut NoProbe) {
                self.link.put([now, arrives], 0, &packet, &mut self.flight);
            }
        }

        /// The sequence number of the packet that arrives at the far end now.
        fn deliver(&mut self, now: Time) -> Option<u32> {
            self.link.deliver(now, &mut self.flight).map(|place| self.flight[place].packet.segment.seq.0)
        }

        fn check(&self, now: Time) -> Result<Inside, String> {
            let mut inside = Inside::default();
            self.link.locate_all(&self.flight, now, &mut inside);
            self.link.ledger().check(&inside, now).map(|()| inside)
        }
    }

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    #[test]
    fn packets_arrive_one_transmission_time_apart() {
        let mut l = alone(Plain::default());
        for seq in 0..3 {
            l.receive(Time::ZERO, packet(seq, 1500));
        }
        let link = &mut l.link;
        assert_eq!((link.backlog(Time::ZERO).packets, link.is_transmitting(Time::ZERO)), (2, true));
        assert_eq!(link.backlog(ms(8)), Backlog { packets: 1, bytes: 1500 });
        for (seq, at) in [(0, 28), (1, 36), (2, 44)] {
            assert_eq!(l.link.due(), ms(at));
            assert_eq!(l.deliver(ms(at)), Some(seq));
            l.check(ms(at)).unwrap();
        }
        assert!(l.link.due() == Time::NEVER && l.deliver(ms(1000)).is_none());
        assert_eq!(l.link.ledger().work, Duration::from_millis(24).0);
    }

    #[test]
    fn every_packet_is_where_its_times_say() {
        let mut l = alone(Plain::default());
        for seq in 0..3 {
            l.receive(Time::ZERO, packet(seq, 1500));
        }
        for (at, waiting, on_wire, work) in
            [(0, 2, 1, 24), (8, 1, 2, 16), (15, 1, 2, 9), (16, 0, 3, 8), (25, 0, 3, 0)]
        {
            let inside = l.check(ms(at)).unwrap();
            assert_eq!((inside.waiting.packets, inside.on_wire.packets), (waiting, on_wire), "at {at} ms");
            assert_eq!(inside.work, Duration::from_millis(work).0, "at {at} ms");
        }
    }

    #[test]
    fn nothing_arrives_before_its_time() {
        let mut l = alone(Plain::default());
        l.receive(Time::ZERO, packet(0, 1500));
        assert!(l.deliver(ms(27)).is_none());
    }

    #[test]
    fn a_queue_that_loses_a_packet_is_caught() {
        let mut l = alone(Plain { loses: Some(1), ..Plain::default() });
        l.receive(Time::ZERO, packet(0, 1500));
        l.check(Time::ZERO).unwrap();
        l.receive(Time::ZERO, packet(1, 1500));
        let e = l.check(Time::ZERO).unwrap_err();
        assert!(e.contains("packets in"), "{e}");
    }

    #[test]
    fn a_pipe_that_loses_a_packet_is_caught() {
        let mut l = alone(Plain::default());
        l.receive(Time::ZERO, packet(0, 1500));
        l.link.pipe = Pipe::default();
        assert!(l.check(Time::ZERO).unwrap_err().contains("packets in"));
    }

    #[test]
    fn a_mark_of_its_own_making_is_caught() {
        let mut l = alone(Plain { marks: Some(0), ..Plain::default() });
        l.receive(Time::ZERO, packet(0, 1500));
        let e = l.check(Time::ZERO).unwrap_err();
        assert!(e.contains("CE in"), "{e}");
    }

    /// Passing on gives the times that receiving at the entry would have given.
    #[test]
    fn a_hop_that_only_delays_gives_the_same_times() {
        let fast = || Link::new(Rate(2_000_000), Duration::from_millis(3), Plain::default());
        let (mut a, mut b) = (link(Plain::default()), fast());
        assert!(b.only_delays(&a, 40, 1500) && !a.only_delays(&b, 40, 1500));
        let mut one_by_one = Vec::new();
        let (mut c, mut d) = (link(Plain::default()), fast());
        for (i, size) in [1500, 40, 40, 1500, 700].into_iter().enumerate() {
            let now = ms(5 * i as u64);
            let mut p = packet(i as u32, size);
            let entered = a.receive(now, &mut p, &mut NoProbe).unwrap();
            let passed = b.pass_on(entered, &p);
            let first = c.receive(now, &mut p, &mut NoProbe).unwrap();
            let received = d.receive(first, &mut p, &mut NoProbe).unwrap();
            assert_eq!((passed, entered), (received, first));
            one_by_one.push(passed);
        }
        assert!(one_by_one.is_sorted());
    }

    /// A million links are no luxury.
    #[test]
    fn a_link_stays_small() {
        assert_eq!(size_of::<Link<u64>>(), 192);
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
