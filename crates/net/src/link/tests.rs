//! Tests of links against times that were calculated by hand.

use proptest::prelude::*;
use units::{Bytes, Depth};

use super::*;
use crate::counters::Inside;
use crate::discipline::{Answer, Arrival, Backlog, Next, QueueDiscipline, QueuedPacket};
use crate::packet::{Ecn, Packet};
use crate::why::Why;

/// Unlimited queue that reports neither drops nor marks. The queue drops the packet with the
/// sequence number `loses` and marks the packet with the sequence number `marks`.
#[derive(Default)]
struct Plain {
    loses: Option<u32>,
    marks: Option<u32>,
}

/// Queue with a limit in packets, which drops packets only at their arrival.
struct Short(u32);

impl LinkQueue for Short {
    fn offer(&mut self, p: &mut Packet, at: &Arrival, fates: &mut Fates) -> Answer {
        if at.backlog.packets < self.0 {
            return Answer::Admitted;
        }
        fates.drop(*p, Why::Full, |_| {});
        Answer::Dropped
    }
    fn average(&self) -> Option<Depth> {
        None
    }
    fn passes_below(&self) -> Option<u32> {
        Some(self.0 - 1)
    }
    type Discipline = Never;
    fn discipline(&self) -> Option<&Never> {
        None
    }
    fn discipline_mut(&mut self) -> Option<&mut Never> {
        None
    }
}

/// Queue discipline of the test queues that decide at arrival. The type has no value, because
/// queues that decide at arrival have no queue discipline.
enum Never {}

impl QueueDiscipline for Never {
    fn enqueue(&mut self, _: QueuedPacket, _: &Arrival, _: &mut Fates) {}
    fn dequeue(&mut self, _: Time, _: &mut Fates) -> Next {
        Next::Empty
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
    fn each(&self, _: &mut dyn FnMut(&QueuedPacket)) {}
}

impl LinkQueue for Plain {
    fn offer(&mut self, p: &mut Packet, _: &Arrival, _: &mut Fates) -> Answer {
        if self.marks == Some(p.segment.seq.0) {
            p.ecn = Ecn::Ce;
        }
        if self.loses == Some(p.segment.seq.0) { Answer::Dropped } else { Answer::Admitted }
    }
    fn average(&self) -> Option<Depth> {
        None
    }
    fn passes_below(&self) -> Option<u32> {
        (self.marks.is_none() && self.loses.is_none()).then_some(u32::MAX)
    }
    type Discipline = Never;
    fn discipline(&self) -> Option<&Never> {
        None
    }
    fn discipline_mut(&mut self) -> Option<&mut Never> {
        None
    }
}

fn packet(seq: u32, size: u16) -> Packet {
    let mut p = Packet { size, ..Packet::default() };
    p.segment.seq.0 = seq;
    p
}

/// Link with a store of packets in flight that no other link uses.
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
        if let Received::Admitted(arrives) = self.link.receive(now, &mut packet, &mut NoProbe) {
            self.link.put([now, arrives], 0, &packet, &mut self.flight);
        }
    }

    /// Return the sequence number of the packet that arrives at the far end of the link at the time
    /// `now`.
    fn deliver(&mut self, now: Time) -> Option<u32> {
        self.link.deliver(now, &mut self.flight).map(|place| self.flight[place].packet.segment.seq.0)
    }

    fn check(&self, now: Time) -> Result<Inside, String> {
        let mut inside = Inside::default();
        self.link.locate_all(&self.flight, now, &mut inside);
        self.link.counters().check(&inside, now).map(|()| inside)
    }
}

fn arrival(received: Received) -> Time {
    let Received::Admitted(arrives) = received else { panic!("{received:?}") };
    arrives
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
    assert_eq!(l.link.counters().work, Duration::from_millis(24).0);
}

#[test]
fn positions_of_packets_follow_from_their_times() {
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
fn packets_do_not_arrive_before_their_time() {
    let mut l = alone(Plain::default());
    l.receive(Time::ZERO, packet(0, 1500));
    assert!(l.deliver(ms(27)).is_none());
}

#[test]
fn a_queue_that_loses_a_packet_is_detected() {
    let mut l = alone(Plain { loses: Some(1), ..Plain::default() });
    l.receive(Time::ZERO, packet(0, 1500));
    l.check(Time::ZERO).unwrap();
    l.receive(Time::ZERO, packet(1, 1500));
    let e = l.check(Time::ZERO).unwrap_err();
    assert!(e.contains("packets in"), "{e}");
}

#[test]
fn a_pipe_that_loses_a_packet_is_detected() {
    let mut l = alone(Plain::default());
    l.receive(Time::ZERO, packet(0, 1500));
    l.link.pipe = Pipe::default();
    assert!(l.check(Time::ZERO).unwrap_err().contains("packets in"));
}

#[test]
fn an_unreported_mark_is_detected() {
    let mut l = alone(Plain { marks: Some(0), ..Plain::default() });
    l.receive(Time::ZERO, packet(0, 1500));
    let e = l.check(Time::ZERO).unwrap_err();
    assert!(e.contains("CE in"), "{e}");
}

/// On a link that only delays packets, the packets arrive at the same times with and without an
/// event per packet.
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
        let entered = arrival(a.receive(now, &mut p, &mut NoProbe));
        let passed = b.pass_on(entered, &p);
        let first = arrival(c.receive(now, &mut p, &mut NoProbe));
        let received = arrival(d.receive(first, &mut p, &mut NoProbe));
        assert_eq!((passed, entered), (received, first));
        one_by_one.push(passed);
    }
    assert!(one_by_one.is_sorted());
}

proptest! {
    /// A link that counts its backlog only when necessary makes the same decisions as a link that
    /// always counts its backlog.
    #[test]
    fn uncounted_backlog_does_not_change_results(
        room in 1u32..20,
        arrivals in prop::collection::vec((0u64..9, 40u16..=1500), 1..200),
    ) {
        let new = || Link::new(Rate(1_500_000), Duration::from_millis(20), Short(room));
        let (mut counts, mut uncounted) = (new(), new());
        uncounted.leave_uncounted(40);
        let (mut flights, mut now) = ([Flight::default(), Flight::default()], Time::ZERO);
        for (after, size) in arrivals {
            now += Duration::from_millis(after);
            let mut answers = Vec::new();
            for (link, flight) in [&mut counts, &mut uncounted].into_iter().zip(&mut flights) {
                while link.deliver(now, flight).is_some() {}
                let mut p = packet(0, size);
                let mut received = link.receive(now, &mut p, &mut NoProbe);
                if received == Received::Uncounted {
                    link.count(now, flight);
                    received = link.receive(now, &mut p, &mut NoProbe);
                }
                if let Received::Admitted(arrives) = received {
                    link.put([now, arrives], 0, &p, flight);
                }
                let mut inside = Inside::default();
                link.locate_all(flight, now, &mut inside);
                prop_assert!(link.counters().check(&inside, now).is_ok());
                prop_assert!(!link.counts() || u64::from(link.backlog(now).packets) == inside.waiting.packets);
                answers.push(received);
            }
            prop_assert_eq!(answers[0], answers[1]);
        }
    }
}

/// The size of the struct `Link` determines the memory of networks with a million links.
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
