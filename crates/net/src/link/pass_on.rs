//! Links that only delay packets. If all packets of a link come from one
//! other link that is not faster, the buffer of the link cannot overflow. If a link only delays
//! packets, the simulator computes the arrival of a packet at the far end of this link as soon as
//! the previous link admits the packet ([`Link::pass_on`]). A link that only delays packets saves
//! one event per packet, and the results are the same to the picosecond.

use units::Time;

use super::Link;
use crate::discipline::LinkQueue;
use crate::packet::Packet;

/// Value that means the absence of a link number.
pub(super) const NO_LINK: u32 = u32::MAX;

impl<Q: LinkQueue> Link<Q> {
    /// Declare that this link only delays packets, all of which come from the link with the number
    /// `feeder` ([`Link::only_delays`]).
    pub fn set_feeder(&mut self, feeder: u32) {
        self.feeder = feeder;
    }

    /// If this link only delays packets, return the number of the link from which all packets of
    /// this link come.
    #[inline]
    pub fn feeder(&self) -> Option<u32> {
        (self.feeder != NO_LINK).then_some(self.feeder)
    }

    /// Return true if this link only delays packets, provided that all of its packets come from the
    /// link `before`. This link only delays packets if it is at least as fast as the link `before`
    /// and has a large enough buffer. The buffer is large enough if it has space for all packets of
    /// `least` bytes that can arrive during the transmission of one packet of `largest` bytes.
    pub fn only_delays(&self, before: &Self, least: u16, largest: u16) -> bool {
        let behind = u32::from(largest) / u32::from(least.max(1)) + 2;
        !before.stores_packets()
            && before.pace.is_none()
            && self.pace.is_none()
            && self.byte_time <= before.byte_time
            && self.queue.passes_below().is_some_and(|n| n > behind)
    }

    /// Schedule a packet from the previous link, which enters this link at the time `enters`, after
    /// all earlier packets. Return the time at which the packet arrives at the far end of this
    /// link.
    #[inline]
    pub fn pass_on(&mut self, enters: Time, packet: &Packet) -> Time {
        self.counters.arrive(packet);
        self.send(enters, packet)
    }

    /// Count a packet of this link as delivered, because the packet arrived at the far end of the
    /// next link. The next link only delays packets.
    #[inline(always)]
    pub fn delivered_beyond(&mut self, packet: &Packet) {
        self.counters.delivered.add(packet);
    }
}
