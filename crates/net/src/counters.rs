//! Counters of a link: each packet that arrived was delivered or dropped, or is still in the link.

use thiserror::Error;
use units::Time;

use crate::packet::{Ecn, Packet};
use crate::why::Why;

/// Number of packets, and number of their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl Count {
    /// Count `packet`.
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

/// Broken invariant. After a broken invariant, the results of the run are not reliable.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("invariant violated at {at}, {place}: {what}")]
pub struct Violation {
    /// Simulated time at which the check of the counters failed.
    pub at: Time,
    /// Link or flow whose counters failed the check.
    pub place: String,
    /// Description of the broken invariant.
    pub what: String,
}

/// Counters of a link. Every packet changes the fields in `LinkCounters` itself, while only drops,
/// marks and CE change the counters in `signals`.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct LinkCounters {
    /// Packets that arrived at the queue of the link.
    pub arrived: Count,
    /// Sum of the transmission times of all admitted packets, in picoseconds.
    pub work: u64,
    /// Packets that arrived at the far end of the link.
    pub delivered: Count,
    signals: Option<Box<Signals>>,
}

/// Drops and marks of a link, and its numbers of packets with CE.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals {
    /// Packets that the queue of the link dropped.
    pub dropped: Count,
    /// Number of dropped packets per reason ([`Why::index`]).
    pub dropped_why: [u64; Why::ALL.len()],
    /// Number of marked packets per reason ([`Why::index`]).
    pub marked_why: [u64; Why::ALL.len()],
    /// Number of packets that arrived with CE.
    pub ce_in: u64,
    /// Number of packets with CE that were dropped.
    pub ce_dropped: u64,
    /// Number of packets with CE that were admitted.
    pub ce_admitted: u64,
    /// Number of marks on packets that already had CE.
    pub re_marked: u64,
}

impl Signals {
    /// Return the number of all marks that the queue of the link set.
    pub fn marked(&self) -> u64 {
        self.marked_why.iter().sum()
    }
}

/// Packets inside a link at one time, counted by going through all packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inside {
    /// Packets that the previous hop has admitted and that will enter this link later.
    pub to_come: Count,
    /// Packets that wait for the transmitter of the link.
    pub waiting: Count,
    /// Packets in service, or in propagation to the far end of the link.
    pub on_wire: Count,
    /// Packets that have reached the far end of this link but are not yet counted as delivered. The
    /// packets in `beyond` are stored in the pipe of the next link. The next link only delays
    /// packets.
    pub beyond: Count,
    /// Number of waiting packets with CE that are not yet counted as admitted. If a queue
    /// discipline stores the waiting packets, a waiting packet is not yet counted as admitted.
    pub ce_waiting: u64,
    /// Remaining transmission time of all packets inside the link, in picoseconds.
    pub work: u64,
}

impl Inside {
    /// Add a packet that waits in a queue to the counts.
    pub(crate) fn add_waiting(&mut self, packet: &Packet) {
        self.waiting.add(packet);
        self.ce_waiting += u64::from(packet.ecn == Ecn::Ce);
    }
}

impl LinkCounters {
    /// Return the counters of drops, marks and packets with CE.
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
        self.work = self.work.wrapping_add(work); // Link::is_beyond_time reports an overflow
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

    /// Check the conservation laws of packets, CE marks and time, given the packets that are inside
    /// the link.
    pub fn check(&self, inside: &Inside, now: Time) -> Result<(), String> {
        let present = inside.to_come + inside.waiting + inside.on_wire + inside.beyond;
        let signals = self.signals();
        if self.arrived != signals.dropped + self.delivered + present {
            return Err(format!(
                "packets in {:?} do not equal dropped {:?} + delivered {:?} + inside {inside:?}",
                self.arrived, signals.dropped, self.delivered
            ));
        }
        let ce = signals.ce_in + signals.marked() - signals.re_marked;
        if ce != signals.ce_admitted + signals.ce_dropped + inside.ce_waiting {
            return Err(format!(
                "CE in {} + marks {} is not CE admitted {} + dropped {} + stored {}",
                signals.ce_in,
                signals.marked() - signals.re_marked,
                signals.ce_admitted,
                signals.ce_dropped,
                inside.ce_waiting
            ));
        }
        let busy = self.work - inside.work;
        if busy > now.0 {
            return Err(format!(
                "the transmitter was busy for {busy} ps, which is more than the time since the start, \
                 {} ps",
                now.0
            ));
        }
        Ok(())
    }
}
