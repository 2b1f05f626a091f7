//! Packets that a link has admitted and not delivered, in the store of the network.

use units::Time;

use super::{Flight, InPipe, Link, Position};
use crate::discipline::LinkQueue;
use crate::packet::Packet;

impl<Q: LinkQueue> Link<Q> {
    /// Put a packet that was admitted at `entered` and arrives at `arrives` into the pipe, with its
    /// next position `hop` on the route. Return true if it is the first packet there, so that
    /// [`Link::due`] changed.
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

    /// Return true if the pipe is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.due() == Time::NEVER
    }

    /// Remove the packet that arrives at the far end by now. Return its position, at which it
    /// remains until the next [`Link::put`].
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, flight: &mut Flight) -> Option<Position> {
        if self.due() > now {
            return None;
        }
        let place = flight.pop(&mut self.pipe)?;
        self.counters.delivered.add(&flight[place].packet);
        Some(place)
    }

    /// Return the packets in the pipe.
    pub fn pipe<'f>(&self, flight: &'f Flight) -> impl Iterator<Item = &'f InPipe> {
        flight.each(&self.pipe)
    }
}
