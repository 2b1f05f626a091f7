//! Links that only delay. Links that only delay packets: if all packets of a link come from one
//! other link that is not faster, the buffer of the link cannot overflow, so the link only delays
//! packets. The arrival of a packet at the far end of both links is then computed at its admission
//! to the first ([`Link::pass_on`]). The simulator saves one event per packet on such a link, and
//! the results are equal to the picosecond.

use units::Time;

use super::Link;
use crate::discipline::LinkQueue;
use crate::packet::Packet;

/// Value in place of a link number if there is none.
pub(super) const NO_LINK: u32 = u32::MAX;

impl<Q: LinkQueue> Link<Q> {
    /// Declare that this link only delays the packets admitted to the link with this number
    /// ([`Link::only_delays`]).
    pub fn set_feeder(&mut self, feeder: u32) {
        self.feeder = feeder;
    }

    /// Return the number of the previous link, if this link only delays the packets of that link.
    #[inline]
    pub fn feeder(&self) -> Option<u32> {
        (self.feeder != NO_LINK).then_some(self.feeder)
    }

    /// Return true if this link only delays packets, given that all of them come from the link
    /// `before`. The later link must be at least as fast as `before`. The buffer of the later link
    /// must hold the packets of at least `least` bytes that can accumulate behind a packet of
    /// `largest` bytes.
    pub fn only_delays(&self, before: &Self, least: u16, largest: u16) -> bool {
        let behind = u32::from(largest) / u32::from(least.max(1)) + 2;
        !before.stores_packets()
            && before.pace.is_none()
            && self.pace.is_none()
            && self.byte_time <= before.byte_time
            && self.queue.passes_below().is_some_and(|n| n > behind)
    }

    /// Schedule a packet that enters at `enters`, in order, from the only previous link. Return the
    /// time at which the packet arrives at the far end.
    #[inline]
    pub fn pass_on(&mut self, enters: Time, packet: &Packet) -> Time {
        self.counters.arrive(packet);
        self.send(enters, packet)
    }

    /// Count a packet that this link admitted and that arrived at the far end of the next link,
    /// which only delays packets.
    #[inline(always)]
    pub fn delivered_beyond(&mut self, packet: &Packet) {
        self.counters.delivered.add(packet);
    }
}
