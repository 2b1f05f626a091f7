//! What a link has admitted and not delivered, as it lies in the store of the network.

use units::Time;

use super::{Flight, InPipe, Link, Position};
use crate::discipline::LinkQueue;
use crate::packet::Packet;

impl<Q: LinkQueue> Link<Q> {
    /// Puts a packet that was admitted at `entered` and arrives at `arrives` in the pipe, at `hop` of its route:
    /// whether it is the first there, and [`Link::due`] another.
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

    /// When the first packet in the pipe arrives; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn due(&self) -> Time {
        self.pipe.due()
    }

    /// Whether nothing is in the pipe.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.due() == Time::NEVER
    }

    /// Hands over the packet that arrives at the far end now: its place, where it stays until the next [`Link::put`].
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, flight: &mut Flight) -> Option<Position> {
        if self.due() > now {
            return None;
        }
        let place = flight.pop(&mut self.pipe)?;
        self.ledger.delivered.add(&flight[place].packet);
        Some(place)
    }

    /// What is in the pipe.
    pub fn pipe<'f>(&self, flight: &'f Flight) -> impl Iterator<Item = &'f InPipe> {
        flight.each(&self.pipe)
    }
}
