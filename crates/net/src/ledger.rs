//! The one ledger of a link: what came in went out, was dropped, or is still there.

use thiserror::Error;
use units::Time;

use crate::discipline::Why;
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
    #[inline]
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

impl std::ops::Sub for Count {
    type Output = Count;
    fn sub(self, o: Count) -> Count {
        Count { packets: self.packets - o.packets, bytes: self.bytes - o.bytes }
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

/// What happened at a link. What every packet touches comes first and fits in a cache line with the
/// transmitter; what only drops and marks touch comes after.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Ledger {
    /// Offered to the queue.
    pub arrived: Count,
    /// Taken off the wire at the far end.
    pub delivered: Count,
    /// Time to send everything admitted, in picoseconds.
    pub work: u64,
    /// Dropped by the queue.
    pub dropped: Count,
    /// Dropped packets by reason ([`Why::index`]).
    pub dropped_why: [u64; 3],
    /// Marked packets by reason ([`Why::index`]).
    pub marked_why: [u64; 3],
    /// Packets that arrived with CE set.
    pub ce_in: u64,
    /// Packets with CE set that were dropped.
    pub ce_dropped: u64,
    /// Packets that were admitted with CE set.
    pub ce_admitted: u64,
    /// Marks on packets that had CE already.
    pub re_marked: u64,
}

/// What is inside a link at some instant, seen packet by packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inside {
    /// Promised to the link by the hop before it, but not there yet.
    pub to_come: Count,
    /// Waiting for the transmitter.
    pub waiting: Count,
    /// In service or on the wire.
    pub on_wire: Count,
    /// At the far end already, though still on the books: inside the link behind, which only delays.
    pub beyond: Count,
    /// Packets with CE set among those that a queue keeps, which it has not admitted yet.
    pub ce_kept: u64,
    /// Transmission time that lies ahead, in picoseconds.
    pub work: u64,
}

impl Inside {
    /// A packet waits in a queue that keeps it.
    pub(crate) fn keep(&mut self, packet: &Packet) {
        self.waiting.add(packet);
        self.ce_kept += u64::from(packet.ecn == Ecn::Ce);
    }
}

impl Ledger {
    #[inline]
    pub(crate) fn arrive(&mut self, p: &Packet) {
        self.arrived.add(p);
        if p.ecn == Ecn::Ce {
            self.ce_in += 1;
        }
    }

    #[inline]
    pub(crate) fn admit(&mut self, p: &Packet, work: u64) {
        self.work += work;
        if p.ecn == Ecn::Ce {
            self.ce_admitted += 1;
        }
    }

    pub(crate) fn drop(&mut self, p: &Packet, why: Why) {
        self.dropped.add(p);
        self.dropped_why[why.index()] += 1;
        self.ce_dropped += u64::from(p.ecn == Ecn::Ce);
    }

    pub(crate) fn mark(&mut self, p: &Packet, why: Why) {
        self.marked_why[why.index()] += 1;
        self.re_marked += u64::from(p.ecn == Ecn::Ce);
    }

    /// All marks.
    pub fn marked(&self) -> u64 {
        self.marked_why.iter().sum()
    }

    /// The identities that hold at every instant, given what is inside.
    pub fn check(&self, inside: &Inside, now: Time) -> Result<(), String> {
        let present = inside.to_come + inside.waiting + inside.on_wire + inside.beyond;
        if self.arrived != self.dropped + self.delivered + present {
            return Err(format!(
                "packets in {:?} are not dropped {:?} + delivered {:?} + inside {inside:?}",
                self.arrived, self.dropped, self.delivered
            ));
        }
        if self.ce_in + self.marked() - self.re_marked != self.ce_admitted + self.ce_dropped + inside.ce_kept
        {
            return Err(format!(
                "CE in {} + marks {} is not CE admitted {} + dropped {} + kept {}",
                self.ce_in,
                self.marked() - self.re_marked,
                self.ce_admitted,
                self.ce_dropped,
                inside.ce_kept
            ));
        }
        let busy = self.work - inside.work;
        if busy > now.0 {
            return Err(format!("busy for {busy} ps of {} ps", now.0));
        }
        Ok(())
    }
}
