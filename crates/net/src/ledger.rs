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

/// What happened at a link: what every packet touches; what only drops, marks and CE touch is apart.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Ledger {
    /// Offered to the queue.
    pub arrived: Count,
    /// Time to send everything admitted, in picoseconds.
    pub work: u64,
    /// Taken off the wire at the far end.
    pub delivered: Count,
    signals: Option<Box<Signals>>,
}

/// How a link signalled congestion, by drops and marks, and the CE that came and went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals {
    /// Dropped by the queue.
    pub dropped: Count,
    /// Dropped packets by reason ([`Why::index`]).
    pub dropped_why: [u64; Why::ALL.len()],
    /// Marked packets by reason ([`Why::index`]).
    pub marked_why: [u64; Why::ALL.len()],
    /// Packets that arrived with CE set.
    pub ce_in: u64,
    /// Packets with CE set that were dropped.
    pub ce_dropped: u64,
    /// Packets that were admitted with CE set.
    pub ce_admitted: u64,
    /// Marks on packets that had CE already.
    pub re_marked: u64,
}

impl Signals {
    /// All marks.
    pub fn marked(&self) -> u64 {
        self.marked_why.iter().sum()
    }
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
    /// Drops, marks and CE.
    pub fn signals(&self) -> Signals {
        self.signals.as_deref().copied().unwrap_or_default()
    }

    #[cold]
    fn signals_mut(&mut self) -> &mut Signals {
        self.signals.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn arrive(&mut self, p: &Packet) {
        self.arrived.add(p);
        if p.ecn == Ecn::Ce {
            self.signals_mut().ce_in += 1;
        }
    }

    #[inline]
    pub(crate) fn admit(&mut self, p: &Packet, work: u64) {
        self.work = self.work.wrapping_add(work); // beyond the end of time: Link::is_beyond_time tells
        if p.ecn == Ecn::Ce {
            self.signals_mut().ce_admitted += 1;
        }
    }

    pub(crate) fn drop(&mut self, p: &Packet, why: Why) {
        let signals = self.signals_mut();
        signals.dropped.add(p);
        signals.dropped_why[why.index()] += 1;
        signals.ce_dropped += u64::from(p.ecn == Ecn::Ce);
    }

    pub(crate) fn mark(&mut self, p: &Packet, why: Why) {
        let signals = self.signals_mut();
        signals.marked_why[why.index()] += 1;
        signals.re_marked += u64::from(p.ecn == Ecn::Ce);
    }

    /// The identities that hold at every instant, given what is inside.
    pub fn check(&self, inside: &Inside, now: Time) -> Result<(), String> {
        let present = inside.to_come + inside.waiting + inside.on_wire + inside.beyond;
        let signals = self.signals();
        if self.arrived != signals.dropped + self.delivered + present {
            return Err(format!(
                "packets in {:?} are not dropped {:?} + delivered {:?} + inside {inside:?}",
                self.arrived, signals.dropped, self.delivered
            ));
        }
        let ce = signals.ce_in + signals.marked() - signals.re_marked;
        if ce != signals.ce_admitted + signals.ce_dropped + inside.ce_kept {
            return Err(format!(
                "CE in {} + marks {} is not CE admitted {} + dropped {} + kept {}",
                signals.ce_in,
                signals.marked() - signals.re_marked,
                signals.ce_admitted,
                signals.ce_dropped,
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
