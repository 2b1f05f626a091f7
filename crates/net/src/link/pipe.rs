//! Packets that a link has admitted and not yet delivered, which are in the store of packets in
//! flight.

use units::Time;

use super::{Flight, InPipe, Link, Position};
use crate::discipline::LinkQueue;
use crate::packet::Packet;

impl<Q: LinkQueue> Link<Q> {
    /// Add a packet to the pipe. The argument `entered` is the time of the packet's admission,
    /// `arrives` the time of its arrival, and `hop` its next position on the route. Return true if
    /// the pipe was empty before the packet was added, so that [`Link::due`] has changed.
    #[inline(always)]
    pub fn put(
        &mut self,
        [entered, arrives]: [Time; 2],
        hop: u32,
        packet: &Packet,
        flight: &mut Flight,
    ) -> bool {
        flight.push(&mut self.pipe, [entered, arrives], hop, packet)
    }

    /// Return the arrival time of the first packet in the pipe, or [`Time::NEVER`] without packets.
    #[inline]
    pub fn due(&self) -> Time {
        self.pipe.due()
    }

    /// Return true if the pipe of the link is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.due() == Time::NEVER
    }

    /// Remove the first packet from the pipe, if it has arrived at the far end by the time `now`.
    /// Return the position of the packet in the store. The removed packet can be read at this
    /// position until the next call of [`Link::put`].
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, flight: &mut Flight) -> Option<Position> {
        if self.due() > now {
            return None;
        }
        let place = flight.pop(&mut self.pipe)?;
        self.counters.delivered.add(&flight[place].packet);
        Some(place)
    }

    /// Return the packets in the pipe of the link.
    pub fn pipe<'f>(&self, flight: &'f Flight) -> impl Iterator<Item = &'f InPipe> {
        flight.each(&self.pipe)
    }
}
