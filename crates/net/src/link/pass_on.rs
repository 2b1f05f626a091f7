//! Links that only delay. If all packets of a link come from one other link that is not faster, the
//! buffer of the link cannot overflow, and the link only delays. The arrival of a packet at the far
//! end of both links is then computed at its admission to the first ([`Link::pass_on`]). Results
//! are the same to the picosecond, and one event per packet is saved.

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

    /// Return the number of the link whose packets this link only delays, if there is such a link.
    #[inline]
    pub fn feeder(&self) -> Option<u32> {
        (self.feeder != NO_LINK).then_some(self.feeder)
    }

    /// Return true if a link behind `before` alone only delays. The later link must be at least as
    /// fast as `before`. The buffer of the later link must hold the packets of at least `least`
    /// bytes that can accumulate behind a packet of `largest` bytes.
    pub fn only_delays(&self, before: &Self, least: u16, largest: u16) -> bool {
        let behind = u32::from(largest) / u32::from(least.max(1)) + 2;
        !before.stores_packets()
            && before.pace.is_none()
            && self.pace.is_none()
            && self.byte_time <= before.byte_time
            && self.queue.passes_below().is_some_and(|n| n > behind)
    }

    /// Schedule a packet that enters at `enters`, in order, from the only previous link. Return its
    /// arrival at the far end.
    #[inline]
    pub fn pass_on(&mut self, enters: Time, packet: &Packet) -> Time {
        self.counters.arrive(packet);
        self.send(enters, packet)
    }

    /// Count a packet admitted here that was delivered at the far end of a link that only delays.
    #[inline(always)]
    pub fn delivered_beyond(&mut self, packet: &Packet) {
        self.counters.delivered.add(packet);
    }
}
