//! The one ledger of a link: what came in went out, was dropped, or is still there.

use thiserror::Error;
use units::Time;

use crate::discipline::{Backlog, Why};
use crate::packet::{Ecn, Packet};

/// A number of packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Count {
    /// Counts `packet`.
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }
}

impl std::ops::Add for Count {
    type Output = Count;
    fn add(self, o: Count) -> Count {
        Count { packets: self.packets + o.packets, bytes: self.bytes + o.bytes }
    }
}

/// A broken invariant: the run it happened in cannot be trusted.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("invariant violated at {at}, {place}: {what}")]
pub struct Violation {
    /// When it was noticed.
    pub at: Time,
    /// Which link or flow.
    pub place: String,
    /// What does not hold.
    pub what: String,
}

/// What happened at a link.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Offered to the queue.
    pub arrived: Count,
    /// Dropped by the queue, before or after waiting.
    pub dropped: Count,
    /// Handed to the transmitter.
    pub departed: Count,
    /// Arrived at the far end.
    pub delivered: Count,
    /// Dropped packets by reason ([`Why::index`]).
    pub dropped_why: [u64; 3],
    /// Marked packets by reason ([`Why::index`]).
    pub marked_why: [u64; 3],
    /// Packets that arrived with CE set.
    pub ce_in: u64,
    /// Packets with CE set that were dropped.
    pub ce_dropped: u64,
    /// Packets that departed with CE set.
    pub ce_out: u64,
    /// Marks on packets that had CE already.
    pub re_marked: u64,
    /// Time the transmitter was sending, in picoseconds, up to the end of the last packet begun.
    pub busy: u64,
}

impl Ledger {
    pub(crate) fn arrive(&mut self, p: &Packet) {
        self.arrived.add(p);
        self.ce_in += u64::from(p.ecn == Ecn::Ce);
    }

    pub(crate) fn drop(&mut self, p: &Packet, why: Why) {
        self.dropped.add(p);
        self.dropped_why[why.index()] += 1;
        self.ce_dropped += u64::from(p.ecn == Ecn::Ce);
    }

    pub(crate) fn depart(&mut self, p: &Packet) {
        self.departed.add(p);
        self.ce_out += u64::from(p.ecn == Ecn::Ce);
    }

    /// All marks.
    pub fn marked(&self) -> u64 {
        self.marked_why.iter().sum()
    }

    /// The identities that hold at every instant, given what is waiting and what is on the wire.
    pub fn check(
        &self,
        waiting: Backlog,
        ce_waiting: u64,
        on_wire: Count,
        busy: u64,
        elapsed: u64,
    ) -> Result<(), String> {
        let waiting = Count { packets: u64::from(waiting.packets), bytes: waiting.bytes };
        let accounted = self.dropped + self.departed + waiting;
        if self.arrived != accounted {
            return Err(format!(
                "packets in {:?} are not dropped {:?} + departed {:?} + waiting {:?}",
                self.arrived, self.dropped, self.departed, waiting
            ));
        }
        if self.departed != self.delivered + on_wire {
            return Err(format!(
                "departed {:?} is not delivered {:?} + on the wire {:?}",
                self.departed, self.delivered, on_wire
            ));
        }
        if self.ce_in + self.marked() - self.re_marked != self.ce_out + self.ce_dropped + ce_waiting {
            return Err(format!(
                "CE in {} + marks {} is not CE out {} + CE dropped {} + CE waiting {ce_waiting}",
                self.ce_in,
                self.marked() - self.re_marked,
                self.ce_out,
                self.ce_dropped
            ));
        }
        if busy > elapsed {
            return Err(format!("busy for {busy} ps of {elapsed} ps"));
        }
        Ok(())
    }
}
