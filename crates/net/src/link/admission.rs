//! Arrivals of packets at the queue of a link, and the backlog of the queue.

use std::collections::VecDeque;

use units::{Bytes, Duration, Time};

use super::{Flight, InPipe, Link, Probe};
use crate::discipline::{Answer, Arrival, Backlog, Fate, LinkQueue, QueueDiscipline};
use crate::packet::Packet;

/// Result of the arrival of a packet at the queue of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The queue admitted the packet. The value is the arrival time of the packet at the far end of
    /// the link. The caller puts the admitted packet into the pipe of this link, or into the pipe
    /// of the next link if the next link only delays packets.
    Admitted(Time),
    /// The queue stores its packets, so the caller passes the packet to the queue with
    /// [`Link::enqueue`].
    Enqueue,
    /// The packet was dropped.
    Dropped,
    /// The link does not count its backlog at present, and the backlog may now be too large for
    /// another packet. The caller calls [`Link::count`], so that the link counts its backlog, and
    /// then calls [`Link::receive`] again.
    Uncounted,
}

impl<Q: LinkQueue> Link<Q> {
    /// Offer an arriving packet to the queue, which may mark the packet.
    #[inline(always)]
    pub fn receive(&mut self, now: Time, packet: &mut Packet, probe: &mut impl Probe) -> Received {
        let ahead = self.free_at.since(now);
        if ahead < self.uncounted {
            self.counters.arrive(packet);
            return Received::Admitted(self.send(now, packet));
        }
        if self.uncounted > Duration::ZERO {
            return Received::Uncounted;
        }
        self.counters.arrive(packet);
        let idle = ahead == Duration::ZERO;
        let backlog = if idle { self.waiting_none() } else { self.waiting(now) };
        if !(idle && self.takes_when_free) {
            let at = Arrival { now, backlog, free_at: self.free_at };
            let answer = self.queue.offer(packet, &at, &mut self.fates);
            if !self.fates.is_empty() {
                self.settle(now, probe);
            }
            match answer {
                Answer::Admitted => {}
                Answer::Enqueue => return Received::Enqueue,
                Answer::Dropped => return Received::Dropped,
            }
        }
        if !idle {
            self.waiting.push_back((self.free_at, packet.size));
            self.waiting_bytes += u64::from(packet.size);
        }
        Received::Admitted(self.send(now, packet))
    }

    /// Stop counting the backlog of the link, for as long as the backlog is so small that the queue
    /// admits every packet. The caller must ensure three conditions: no series samples the backlog
    /// of the link, each packet has at least `least` bytes, and each admitted packet enters the
    /// pipe of this link.
    pub fn leave_uncounted(&mut self, least: u16) {
        if let Some(packets) = self.queue.passes_below()
            && self.pace.is_none()
        {
            let time = self.transmission_time(Bytes(u64::from(least)));
            self.uncounted = Duration(time.0.saturating_mul(u64::from(packets)));
        }
    }

    /// Return true if the link counts its backlog.
    pub fn counts(&self) -> bool {
        self.uncounted == Duration::ZERO
    }

    /// Compute the backlog at the time `now` from the packets in the pipe, and keep counting the
    /// backlog from this time on.
    #[cold]
    pub fn count(&mut self, now: Time, flight: &Flight) {
        self.uncounted = Duration::ZERO;
        let begins = |entry: &InPipe| (self.begins(entry.arrives, entry.packet.size), entry.packet.size);
        let waiting: VecDeque<_> =
            self.pipe(flight).map(begins).filter(|(begins, _)| *begins > now).collect();
        self.waiting_bytes = waiting.iter().map(|(_, size)| u64::from(*size)).sum();
        self.waiting = waiting;
    }

    /// Count the drops and marks that the queue reported, and report them to the probe.
    #[cold]
    pub(super) fn settle(&mut self, now: Time, probe: &mut impl Probe) {
        let counters = &mut self.counters;
        self.fates.take(|fate, explanation| {
            match fate {
                Fate::Dropped(packet, why) => counters.drop(packet, *why),
                Fate::Marked(packet, why) => counters.mark(packet, *why),
            }
            probe.fate(now, fate, explanation);
        });
    }

    /// Return the backlog at the time `now`, without the packet in service.
    #[inline]
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match self.queue.discipline() {
            Some(held) => held.backlog(),
            None => self.waiting(now),
        }
    }

    /// Clear the list of waiting packets, and return an empty backlog, because the transmitter of
    /// the link is idle.
    #[inline]
    fn waiting_none(&mut self) -> Backlog {
        if !self.waiting.is_empty() {
            self.waiting.clear();
            self.waiting_bytes = 0;
        }
        Backlog::default()
    }

    /// Return the backlog: the admitted packets whose transmission has not begun at the time `now`.
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
}
