//! Late processing of departures and of timer ticks: an AQM processes all events since the previous
//! arrival when the next packet arrives.
//!
//! The link calls the AQM of a first-in-first-out queue when a packet arrives. When the link calls
//! the AQM, the AQM knows every departure and every end of a period since the previous arrival. The
//! departure time of a packet is known at its admission ([`Arrival::begins`]), or the queue reports
//! the departure ([`Departures::leave`]). The AQM therefore stores the admitted packets, and later
//! processes their departures in order and with their exact times. If several events have the same
//! time, departures come first, then timer ticks, then arrivals.

use std::collections::VecDeque;

use net::{Arrival, Backlog, Packet};
use units::{Duration, Time};

/// Packet that leaves, or will leave, the queue for the transmitter.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Time at which the packet leaves the queue.
    pub at: Time,
    /// Time at which the packet arrived at the queue.
    pub entered: Time,
    /// Number that the AQM assigned to the packet, such as its flow or class.
    pub tag: u32,
    /// Size on the wire in bytes.
    pub size: u16,
}

/// Admitted packets whose departure the AQM has not processed.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    ring: VecDeque<Departure>,
    bytes: u64,
    /// Number of packets at the head of the ring whose departure the queue has reported.
    left: usize,
}

impl Departures {
    /// Add an admitted packet with the number `tag`.
    #[inline]
    pub fn add(&mut self, packet: &Packet, at: &Arrival, tag: u32) {
        self.bytes += u64::from(packet.size);
        self.ring.push_back(Departure { at: at.begins(), entered: at.now, tag, size: packet.size });
    }

    /// Record that the next packet leaves now. A queue calls this function if it does not know the
    /// departure times at admission ([`Aqm::on_departure`](net::Aqm::on_departure)).
    pub fn leave(&mut self, now: Time) {
        if let Some(departure) = self.ring.get_mut(self.left) {
            departure.at = now;
            self.left += 1;
        }
    }

    /// Remove and return the next packet if it leaves at or before `until`.
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

    /// Remove every packet that leaves at or before `until`, and return the backlog that remains.
    pub fn remaining(&mut self, until: Time) -> Backlog {
        while self.next(until).is_some() {}
        self.backlog()
    }

    /// Return the backlog of the packets that have not been removed.
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.ring.len() as u32, bytes: self.bytes }
    }

    /// Return the packet that has waited longest.
    pub fn head(&self) -> Option<&Departure> {
        self.ring.front()
    }

    /// Return the number that the AQM assigned to each waiting packet.
    pub fn tags(&self) -> impl Iterator<Item = u32> {
        self.ring.iter().map(|d| d.tag)
    }

    /// Return true if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

/// Periodic clock whose first tick comes after one period.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    next: Time,
    period: Duration,
}

impl Ticks {
    /// Create a clock with this period.
    pub fn every(period: Duration) -> Self {
        Ticks { next: Time::ZERO + period, period }
    }

    /// Return the time of the next tick if it is at or before `now`.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<Time> {
        let tick = self.next;
        if tick > now {
            return None;
        }
        self.next = tick + self.period;
        Some(tick)
    }

    /// Skip every tick up to and including `now`, because these ticks would not change the state.
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
    fn ticks_come_once_per_period_and_can_be_skipped() {
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
    fn departures_are_returned_at_their_times() {
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
