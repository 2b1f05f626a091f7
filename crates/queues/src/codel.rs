//! CoDel: controlled delay.
//!
//! Source: RFC 8289 §5 (`rfc8289`), the annotated pseudo-code, line by line; where the RFC drops, an
//! ECN-capable packet is marked and sent (its §3.1 and RFC 3168), which ends a round of the loop as a
//! drop does, except that there is a packet to send.

use net::{Arrival, Backlog, Fates, Held, Next, QueueDiscipline, Why};
use units::{Bytes, Duration, Range, Time, params};

use crate::fifo::{Buffer, Limit, Marking};
use crate::flow_queues::Takes;
use crate::law::{Keeps, Place};
use crate::store::Store;

params! {
    /// CoDel watches how long packets wait. When even the least delay of an interval is above the
    /// target, packets are signalled at the head of the queue (marked if ECN-capable, else dropped), the
    /// next one after interval/√count: slowly faster, until the delay falls below the target. It has no
    /// other settings, and the rate of the link may vary.
    pub struct Codel: "codel" {
        /// Delay that a standing queue may have (TARGET).
        target: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "rfc8289 §4.4: 5 ms";
        /// Time in which the delay must have been below the target once (INTERVAL); about the largest round-trip time.
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "rfc8289 §4.3: 100 ms";
        /// While no more than this waits nothing is signalled (maxpacket).
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "rfc8289 §5.3: should be the interface's MTU";
    }
}

impl Keeps for Codel {
    type Discipline = CodelQueue;

    fn discipline(&self, buffer: &Buffer, _: Place) -> CodelQueue {
        let marks = buffer.ecn == Marking::Mark;
        CodelQueue { limit: Limit::of(buffer), store: Store::default(), control: Control::new(self, marks) }
    }
}

/// CoDel on a first-in-first-out queue.
#[derive(Debug)]
pub struct CodelQueue {
    limit: Limit,
    store: Store,
    control: Control,
}

impl QueueDiscipline for CodelQueue {
    /// §5.4: packets that arrive at a full buffer are dropped and not counted.
    fn enqueue(&mut self, held: Held, at: &Arrival, fates: &mut Fates) {
        if self.limit.is_full(&held.packet, at) {
            return fates.drop(held.packet, Why::Full);
        }
        self.store.push(held);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.control.dequeue(&mut self.store, now, fates).into()
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    fn next_size(&self) -> u64 {
        self.store.next_size()
    }

    fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.store.iter().for_each(see);
    }
}

/// What §5.6 calls the result of dodequeue().
struct Taken {
    held: Option<Held>,
    ok_to_drop: bool,
}

/// The state of CoDel (§5.2), apart from the packets.
#[derive(Clone, Debug)]
pub struct Control {
    target: Duration,
    interval: Duration,
    mtu: u64,
    marks: bool,
    /// Time to declare the sojourn time above target, if it was not below since.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// CoDel that has seen nothing; `marks`: ECN-capable packets are marked.
    pub fn new(codel: &Codel, marks: bool) -> Self {
        Control {
            target: codel.target,
            interval: codel.interval,
            mtu: codel.mtu.0,
            marks,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// §5.6, control_law().
    fn after(&self, t: Time, count: u32) -> Time {
        t + Duration((self.interval.0 as f64 / f64::from(count).sqrt()) as u64)
    }

    /// §5.6, dodequeue().
    fn take(&mut self, store: &mut Store, now: Time) -> Taken {
        let Some(held) = store.pop() else {
            self.first_above = None;
            return Taken { held: None, ok_to_drop: false };
        };
        let mut ok_to_drop = false;
        if now.since(held.entered) < self.target || store.backlog().bytes <= self.mtu {
            self.first_above = None;
        } else {
            match self.first_above {
                None => self.first_above = Some(now + self.interval),
                Some(first) => ok_to_drop = now >= first,
            }
        }
        Taken { held: Some(held), ok_to_drop }
    }

    /// Signals by a packet: returns it if it was marked, none if it was dropped.
    fn signal(&self, held: Option<Held>, fates: &mut Fates) -> Option<Held> {
        let mut held = held?;
        if self.marks && held.packet.ecn.is_capable() {
            fates.mark(&mut held.packet, Why::Early);
            return Some(held);
        }
        fates.drop(held.packet, Why::Early);
        None
    }
}

impl Takes for Control {
    /// §5.5, dequeue().
    fn dequeue(&mut self, store: &mut Store, now: Time, fates: &mut Fates) -> Option<Held> {
        let mut r = self.take(store, now);
        if self.dropping {
            if !r.ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                if let Some(marked) = self.signal(r.held, fates) {
                    self.drop_next = self.after(self.drop_next, self.count);
                    return Some(marked);
                }
                r = self.take(store, now);
                if r.ok_to_drop {
                    self.drop_next = self.after(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.ok_to_drop {
            let marked = self.signal(r.held, fates);
            r.held = if marked.is_some() { marked } else { self.take(store, now).held };
            self.dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let recently = now.since(self.drop_next).0 < 16 * self.interval.0;
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.drop_next = self.after(now, self.count);
            self.last_count = self.count;
        }
        r.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Packet;

    /// What overload never lets go is signalled at interval (1 + 1/√2 + … + 1/√n) after the first (§5.6).
    #[test]
    fn signals_come_faster_with_the_root_of_their_count() {
        let step = Duration::from_millis(1);
        let interval = Duration::from_millis(100);
        let codel = Codel { target: Duration::from_millis(5), interval, mtu: Bytes(1500) };
        let mut control = Control::new(&codel, true);
        let mut store = Store::default();
        let packet = Packet { size: 1500, ..Packet::default() };
        (0..20_000).for_each(|_| store.push(Held { packet, source: 0, entered: Time::ZERO }));
        let mut fates = Fates::default();
        let (mut now, mut left, mut drops) = (Time::ZERO, store.len(), Vec::new());
        for _ in 0..5000 {
            now += step;
            assert!(control.dequeue(&mut store, now, &mut fates).is_some());
            drops.extend((store.len() + 1..left).map(|_| now));
            left = store.len();
        }
        // Above target from 5 ms on, for an interval.
        assert_eq!(drops[0], Time::ZERO + Duration::from_millis(105));
        let mut law = drops[0].seconds();
        for (i, at) in drops.iter().enumerate() {
            let late = at.seconds() - law;
            assert!((-1e-9..=step.seconds() + 1e-9).contains(&late), "drop {i} is {late} s late");
            law += 0.1 / ((i + 1) as f64).sqrt();
        }
        assert!(drops.len() > 500, "{}", drops.len());
    }
}
