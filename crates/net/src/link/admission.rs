//! What arrives at the queue of a link, and what waits in it.

use units::Time;

use super::{Link, Probe};
use crate::discipline::{Answer, Arrival, Backlog, Fate, LinkQueue, QueueDiscipline};
use crate::packet::Packet;

/// What became of a packet that arrived at the queue of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It is admitted, and arrives at the far end then: the caller puts it in this link's pipe, or in that of a link
    /// that only delays.
    Admitted(Time),
    /// The caller hands it to the queue that keeps it ([`Link::keep`]).
    Kept,
    /// It was dropped.
    Dropped,
}

impl<Q: LinkQueue> Link<Q> {
    /// A packet arrives at the queue, which may mark it.
    #[inline(always)]
    pub fn receive(&mut self, now: Time, packet: &mut Packet, probe: &mut impl Probe) -> Received {
        self.ledger.arrive(packet);
        let idle = self.free_at <= now;
        let backlog = if idle { self.waiting_none() } else { self.waiting(now) };
        let at = Arrival { now, backlog, free_at: self.free_at };
        let answer = self.queue.offer(packet, &at, &mut self.fates);
        if !self.fates.0.is_empty() {
            self.settle(now, probe);
        }
        match answer {
            Answer::Admitted => {}
            Answer::Kept => return Received::Kept,
            Answer::Dropped => return Received::Dropped,
        }
        if !idle {
            self.waiting.push_back((self.free_at, packet.size));
            self.waiting_bytes += u64::from(packet.size);
        }
        Received::Admitted(self.send(now, packet))
    }

    /// Enters the reported fates in the ledger and shows them.
    #[cold]
    pub(super) fn settle(&mut self, now: Time, probe: &mut impl Probe) {
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
        match self.queue.keeper() {
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
}
