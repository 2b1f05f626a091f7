//! **Hops that only delay.** A link whose packets all come from one other link, that is no slower, and
//! whose buffer cannot overflow for that reason, decides nothing: a packet admitted to the link before
//! it has its arrival at the far end of both computed at once ([`Link::pass_on`]). Results are the same
//! to the picosecond; an event a packet is saved.

use units::Time;

use super::Link;
use crate::discipline::LinkQueue;
use crate::packet::Packet;

/// In place of the number of a link.
pub(super) const NO_LINK: u32 = u32::MAX;

impl<Q: LinkQueue> Link<Q> {
    /// Says that this link only delays what is admitted to the link with this number ([`Link::only_delays`]).
    pub fn set_feeder(&mut self, feeder: u32) {
        self.feeder = feeder;
    }

    /// The number of the link whose packets this one only delays, if it does only that.
    #[inline]
    pub fn feeder(&self) -> Option<u32> {
        (self.feeder != NO_LINK).then_some(self.feeder)
    }

    /// Whether a link behind `before`, and behind no other, only delays: it is no slower, and what a
    /// packet of `largest` bytes can make wait behind it, in packets of `least`, never fills it.
    pub fn only_delays(&self, before: &Self, least: u16, largest: u16) -> bool {
        let behind = u32::from(largest) / u32::from(least.max(1)) + 2;
        !before.holds()
            && before.pace.is_none()
            && self.pace.is_none()
            && self.byte_time <= before.byte_time
            && self.queue.passes_below().is_some_and(|n| n > behind)
    }

    /// A packet will enter at `enters`, in order, from the one link before this one, which only
    /// delays: its arrival at the far end.
    #[inline]
    pub fn pass_on(&mut self, enters: Time, packet: &Packet) -> Time {
        self.ledger.arrive(packet);
        self.send(enters, packet)
    }

    /// Notes that a packet admitted here was delivered at the far end of a link that only delays.
    #[inline(always)]
    pub fn delivered_beyond(&mut self, packet: &Packet) {
        self.ledger.delivered.add(packet);
    }
}
