//! What happens between arrivals, made up for at the next one: departures and ticks.
//!
//! A law on a first-in-first-out link is called when packets arrive. What it would have done at a
//! departure or at the end of a period depends on nothing that is not known at the next arrival: each
//! admitted packet's departure was known when it was admitted ([`Arrival::begins`]), or was told since
//! ([`Departures::leave`]). So the law keeps
//! what it admitted and acts on it later, in order and at its exact time. A departure comes before a
//! tick at the same instant, and both before an arrival.

use std::collections::VecDeque;

use net::{Arrival, Backlog, Packet};
use units::{Duration, Time};

/// A packet that leaves the queue for the transmitter.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When.
    pub at: Time,
    /// When it came.
    pub entered: Time,
    /// What the law wants to know of it again: its flow, its class.
    pub tag: u32,
    /// Its size on the wire.
    pub size: u16,
}

/// The packets that were admitted and have not left the queue yet.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    ring: VecDeque<Departure>,
    bytes: u64,
    /// How many of the ring were told to have left.
    left: usize,
}

impl Departures {
    /// A packet was admitted.
    #[inline]
    pub fn add(&mut self, packet: &Packet, at: &Arrival, tag: u32) {
        self.bytes += u64::from(packet.size);
        self.ring.push_back(Departure { at: at.begins(), entered: at.now, tag, size: packet.size });
    }

    /// The first packet that has not left leaves now: where that was not known when it was added
    /// ([`Aqm::on_departure`](net::Aqm::on_departure)).
    pub fn leave(&mut self, now: Time) {
        if let Some(departure) = self.ring.get_mut(self.left) {
            departure.at = now;
            self.left += 1;
        }
    }

    /// The next packet that leaves at `until` or before.
    #[inline]
    pub fn next(&mut self, until: Time) -> Option<Departure> {
        if self.ring.front()?.at > until {
            return None;
        }
        let departure = self.ring.pop_front()?;
        self.bytes -= u64::from(departure.size);
        self.left = self.left.saturating_sub(1);
        Some(departure)
    }

    /// What waits at `until`, everything before having left.
    pub fn remaining(&mut self, until: Time) -> Backlog {
        while self.next(until).is_some() {}
        self.backlog()
    }

    /// What has not left by the last look.
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.ring.len() as u32, bytes: self.bytes }
    }

    /// The packet that has waited longest.
    pub fn head(&self) -> Option<&Departure> {
        self.ring.front()
    }

    /// The tags of those that wait.
    pub fn tags(&self) -> impl Iterator<Item = u32> {
        self.ring.iter().map(|d| d.tag)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

/// A clock that ticks once a period, the first time at its end.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    next: Time,
    period: Duration,
}

impl Ticks {
    /// A clock of this period.
    pub fn every(period: Duration) -> Self {
        Ticks { next: Time::ZERO + period, period }
    }

    /// The next tick, if it comes at `now` or before.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<Time> {
        let tick = self.next;
        if tick > now {
            return None;
        }
        self.next = tick + self.period;
        Some(tick)
    }

    /// Passes over every tick up to `now`: they change nothing.
    pub fn pass_over(&mut self, now: Time) {
        if self.next <= now {
            let missed = now.since(self.next).0 / self.period.0 + 1;
            self.next = Time(self.next.0 + missed * self.period.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_once_a_period_and_can_be_passed_over() {
        let mut ticks = Ticks::every(Duration(10));
        assert_eq!(ticks.due(Time(9)), None);
        assert_eq!(
            [ticks.due(Time(25)), ticks.due(Time(25)), ticks.due(Time(25))],
            [Some(Time(10)), Some(Time(20)), None]
        );
        ticks.pass_over(Time(29));
        assert_eq!(ticks.due(Time(30)), Some(Time(30)));
        ticks.pass_over(Time(60));
        assert_eq!([ticks.due(Time(69)), ticks.due(Time(70))], [None, Some(Time(70))]);
    }

    #[test]
    fn packets_leave_at_their_times() {
        let mut d = Departures::default();
        for (begins, size) in [(5, 100), (7, 50)] {
            let at = Arrival { now: Time(3), backlog: Backlog::default(), free_at: Time(begins) };
            d.add(&Packet { size, ..Packet::default() }, &at, 0);
        }
        assert_eq!(d.remaining(Time(4)), Backlog { packets: 2, bytes: 150 });
        assert_eq!(d.remaining(Time(5)), Backlog { packets: 1, bytes: 50 });
        assert_eq!((d.head().map(|h| h.at), d.next(Time(6)).is_none()), (Some(Time(7)), true));
    }
}
