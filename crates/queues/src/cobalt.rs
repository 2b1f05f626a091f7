//! COBALT: CoDel and BLUE alternate.
//!
//! Source: Høiland-Jørgensen, Täht & Morton 2018, "Piece of CAKE: a comprehensive queue management solution
//! for home gateways" (`hoiland2018cake`), and what its authors' CAKE in Linux does under that name:
//! cobalt_should_drop() for a packet that leaves, cobalt_queue_full() when a buffer that overflows loses
//! the packet at its head, cobalt_queue_empty() when nothing is left.
//!
//! Compared with sch_cake.c decision by decision; the paper was not at hand. Different here, on purpose:
//! roots are exact where Linux has Newton's steps in 32 bits. Target and interval are what is given: CAKE stretches
//! them where 1.5 frames take longer than the target, and reckons with no frame where it has no shaper.
//! BLUE draws only for what CoDel lets pass.

use engine::Stream;
use net::{Arrival, Backlog, Fates, Held, Next, QueueDiscipline, Why};
use units::{Bytes, Duration, Probability, Range, Time, params, words};

use crate::fifo::{Buffer, Limit, Marking};
use crate::law::{Keeps, Place};
use crate::store::Store;

words! {
    /// When the first signal comes.
    pub enum FirstSignal {
        /// An interval after the first packet above target, as the comments of CAKE's code and ns-3 have it.
        Interval = "interval",
        /// With the next packet above target, since the reciprocal root of a new queue is 0 (Linux, cobalt_should_drop in sch_cake.c).
        NextPacket = "next-packet",
    }
}

params! {
    /// COBALT runs two laws at once. CoDel's signals (marks, or drops of what cannot be marked) come faster
    /// while packets wait longer than the target, and it remembers its rate: when the delay is below
    /// the target the count goes down as it went up. For traffic that does not answer, BLUE has a drop
    /// probability that rises when the buffer overflows and falls when it runs empty; it drops ECN-capable
    /// packets too. The last packet of the queue is never dropped.
    pub struct Cobalt: "cobalt" {
        /// Delay that a standing queue may have.
        target: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "rfc8289 §4.4, tc-cake(8): 5 ms";
        /// Time from the first packet above the target to the first signal, and the scale of their rate.
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "rfc8289 §4.3, tc-cake(8): 100 ms";
        /// How much an overflow raises BLUE's probability, at most once a target.
        increment: Probability = (Probability(1.0 / 256.0)), in Range::above_to(0.0, 1.0), from "Linux's CAKE: 1/256";
        /// How much an empty queue lowers it, at most once a target.
        decrement: Probability = (Probability(1.0 / 4096.0)), in Range::above_to(0.0, 1.0), from "Linux's CAKE: 1/4096";
        /// A packet that waits no longer than four of this size take on the link is not signalled.
        mtu: Bytes = (Bytes(1514)), in Range::between(1.0, 65535.0), from "Linux's CAKE: an Ethernet frame";
        /// When the first signal comes.
        first_signal: FirstSignal = (FirstSignal::Interval), in Range::ANY, from "hoiland2018cake; Linux's CAKE: next-packet";
    }
}

impl Keeps for Cobalt {
    type Discipline = CobaltQueue;

    fn discipline(&self, buffer: &Buffer, place: Place) -> CobaltQueue {
        let least = Duration(4 * place.rate.transmission_time(self.mtu).0);
        CobaltQueue {
            limit: Limit::of(buffer, place.limit),
            marks: buffer.ecn == Marking::Mark,
            tolerated: self.target.max(least),
            params: self.clone(),
            store: Store::default(),
            count: 0,
            root_known: self.first_signal == FirstSignal::Interval,
            dropping: false,
            drop_next: Time::ZERO,
            p_drop: 0.0,
            blue_timer: Time::ZERO,
            random: place.random,
        }
    }
}

/// The state of COBALT.
#[derive(Debug)]
pub struct CobaltQueue {
    limit: Limit,
    marks: bool,
    /// A packet that waited longer is over target.
    tolerated: Duration,
    params: Cobalt,
    store: Store,
    count: u32,
    /// The reciprocal root of count was computed; until then it is 0.
    root_known: bool,
    dropping: bool,
    drop_next: Time,
    /// BLUE's probability, and when it changed last.
    p_drop: f64,
    blue_timer: Time,
    random: Stream,
}

impl CobaltQueue {
    /// cobalt_control(): the time of the next signal.
    fn after(&self, t: Time) -> Time {
        if !self.root_known {
            return t;
        }
        let root = f64::from(self.count.max(1)).sqrt();
        t + Duration((self.params.interval.0 as f64 / root) as u64)
    }

    /// Another count, whose root is found.
    fn count(&mut self, count: u32) {
        (self.count, self.root_known) = (count, true);
    }

    /// Whether BLUE may change its probability.
    fn thawed(&mut self, now: Time) -> bool {
        let thawed = now.since(self.blue_timer) > self.params.target;
        if thawed {
            self.blue_timer = now;
        }
        thawed
    }

    /// cobalt_queue_full()
    fn queue_full(&mut self, now: Time) {
        if self.thawed(now) {
            self.p_drop = (self.p_drop + self.params.increment.0).min(1.0);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// cobalt_queue_empty()
    fn queue_empty(&mut self, now: Time) {
        if self.p_drop > 0.0 && self.thawed(now) {
            self.p_drop = (self.p_drop - self.params.decrement.0).max(0.0);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count(self.count - 1);
            self.drop_next = self.after(self.drop_next);
        }
    }

    /// CoDel's part of cobalt_should_drop(): whether to signal, and whether it is late for the next signal.
    fn codel(&mut self, sojourn: Duration, now: Time) -> (bool, bool) {
        let mut late = now > self.drop_next;
        let mut next_due = self.count > 0 && now >= self.drop_next;
        if sojourn > self.tolerated {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let signals = next_due && self.dropping;
        if signals {
            self.count(self.count.saturating_add(1));
            self.drop_next = self.after(self.drop_next);
            late = now > self.drop_next;
        }
        while next_due && !signals {
            self.count(self.count - 1);
            self.drop_next = self.after(self.drop_next);
            late = now > self.drop_next;
            next_due = self.count > 0 && now >= self.drop_next;
        }
        (signals, late)
    }

    /// cobalt_should_drop(), and marks.
    fn should_drop(&mut self, held: &mut Held, now: Time, fates: &mut Fates) -> bool {
        let (signals, late) = self.codel(now.since(held.entered), now);
        let markable = self.marks && held.packet.ecn.is_capable();
        if signals && markable {
            fates.mark(&mut held.packet, Why::Early);
        }
        let mut drop = signals && !markable;
        // BLUE; "lack of ECN is deliberate".
        if self.p_drop > 0.0 && !drop {
            drop = self.random.uniform() < self.p_drop;
        }
        if self.count == 0 {
            self.drop_next = now + self.params.interval;
        } else if late && !drop {
            self.drop_next = now;
        }
        drop
    }
}

impl QueueDiscipline for CobaltQueue {
    fn enqueue(&mut self, held: Held, at: &Arrival, fates: &mut Fates) {
        let mut here = *at;
        while self.limit.is_full(&held.packet, &here) {
            let Some(head) = self.store.pop() else {
                return fates.drop(held.packet, Why::Full);
            };
            self.queue_full(at.now);
            fates.drop(head.packet, Why::Full);
            here.backlog = self.store.backlog();
        }
        self.store.push(held);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        loop {
            let Some(mut held) = self.store.pop() else {
                self.queue_empty(now);
                return Next::Empty;
            };
            let drop = self.should_drop(&mut held, now, fates);
            if !drop || self.store.is_empty() {
                return Next::Packet(held);
            }
            fates.drop(held.packet, Why::Early);
        }
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.store.iter().for_each(see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Read;

    /// Packets above target every 10 ms: the first is signalled an interval after it came, or at once the second; what follows
    /// comes by the roots either way.
    #[test]
    fn the_first_signal_waits_an_interval_or_not() {
        let first = |first_signal| {
            let none = serde_json::json!({});
            let params = Cobalt { first_signal, ..Cobalt::read(&none, "").unwrap() };
            let buffer = Buffer::read(&none, "").unwrap();
            let place = Place::new(units::Rate(10_000_000), units::Depth::Packets(1e3), Stream::new(1, "q"));
            let mut queue = params.discipline(&buffer, place);
            let late = Duration::from_millis(50);
            let signals = |i: &u64| queue.codel(late, Time::ZERO + Duration::from_millis(1000 + 10 * i)).0;
            (0..20).filter(signals).take(2).collect::<Vec<_>>()
        };
        assert_eq!(first(FirstSignal::Interval), [10, 18]);
        assert_eq!(first(FirstSignal::NextPacket), [1, 8]);
    }
}
