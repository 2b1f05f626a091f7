//! Store of all packets in flight in a network.
//!
//! The packets in flight of a link form a queue of blocks, and each block has positions for a few
//! packets. An empty block is released. The block that was released last is the first block to be
//! used again. A link without packets in flight therefore uses no memory. A link wastes at most one
//! block, and the blocks in use are close together in the caches.

use std::ops::Index;

use units::Time;

use crate::packet::Packet;

/// Packet in a link, or on its way to this link over the previous link.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct InPipe {
    /// Time when the packet arrives at the far end of the link.
    pub arrives: Time,
    /// Time when the packet enters the link.
    pub entered: Time,
    /// Packet in flight.
    pub packet: Packet,
}

/// Position in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(u32);

/// Packets in flight of one link, as a queue in the store of packets in flight.
#[derive(Debug)]
pub(super) struct Pipe {
    /// Arrival time of the first packet, or [`Time::NEVER`] without packets.
    due: Time,
    first: Position,
    last: Position,
}

impl Default for Pipe {
    fn default() -> Self {
        Pipe { due: Time::NEVER, first: Position(0), last: Position(0) }
    }
}

impl Pipe {
    #[inline]
    pub fn due(&self) -> Time {
        self.due
    }
}

/// Store of packets in flight.
#[derive(Debug, Default)]
pub struct Flight {
    places: Vec<InPipe>,
    /// For each block, the number of the next block in the same queue or in the free list.
    next: Vec<u32>,
    /// Number of the first free block plus one, or 0 without free blocks.
    free: u32,
}

/// Number of packets that a block can store.
const BLOCK: u32 = 8;

impl Flight {
    /// Return the memory that the store of packets in flight uses, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.places[..]) + size_of_val(&self.next[..])
    }

    /// Append a packet to a queue of packets in flight. Return true if the queue was empty before
    /// the packet was appended.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        pipe: &mut Pipe,
        [entered, arrives]: [Time; 2],
        hop: u32,
        packet: &Packet,
    ) -> bool {
        let first = pipe.due == Time::NEVER;
        if first {
            pipe.last = Position(self.take() * BLOCK);
            (pipe.due, pipe.first) = (arrives, pipe.last);
        } else if pipe.last.0 % BLOCK == BLOCK - 1 {
            let block = self.take();
            self.next[(pipe.last.0 / BLOCK) as usize] = block;
            pipe.last = Position(block * BLOCK);
        } else {
            pipe.last.0 += 1;
        }
        let place = &mut self.places[pipe.last.0 as usize];
        (place.arrives, place.entered, place.packet) = (arrives, entered, *packet);
        place.packet.hop = hop; // after the copy, because the copy would wait for this store
        first
    }

    /// Remove the first packet of a queue of packets in flight, and return the packet's position in
    /// the store. The removed packet can be read at this position until the next insertion.
    #[inline(always)]
    pub(super) fn pop(&mut self, pipe: &mut Pipe) -> Option<Position> {
        if pipe.due == Time::NEVER {
            return None;
        }
        let place = pipe.first;
        if place == pipe.last {
            self.give_back(place.0 / BLOCK);
            pipe.due = Time::NEVER;
            return Some(place);
        }
        pipe.first = self.after(place);
        if place.0 % BLOCK == BLOCK - 1 {
            self.give_back(place.0 / BLOCK);
        }
        pipe.due = self[pipe.first].arrives;
        Some(place)
    }

    /// Return the packets in flight of a link, in order.
    pub(super) fn each(&self, pipe: &Pipe) -> impl Iterator<Item = &InPipe> + use<'_> {
        let last = pipe.last;
        let first = (pipe.due != Time::NEVER).then_some(pipe.first);
        std::iter::successors(first, move |&at| (at != last).then(|| self.after(at))).map(|at| &self[at])
    }

    /// Return the next position in the same queue of packets in flight.
    #[inline]
    fn after(&self, place: Position) -> Position {
        match place.0 % BLOCK {
            last if last == BLOCK - 1 => Position(self.next[(place.0 / BLOCK) as usize] * BLOCK),
            _ => Position(place.0 + 1),
        }
    }

    /// Return a free block.
    #[inline]
    fn take(&mut self) -> u32 {
        if self.free == 0 {
            self.grow();
        }
        let block = self.free - 1;
        self.free = self.next[block as usize];
        block
    }

    #[inline]
    fn give_back(&mut self, block: u32) {
        self.next[block as usize] = self.free;
        self.free = block + 1;
    }

    #[cold]
    fn grow(&mut self) {
        let blocks = self.next.len();
        if blocks == self.next.capacity() {
            // Increase the capacity of the store by a quarter, because doubling would waste much
            // memory with a hundred thousand flows.
            self.next.reserve_exact(blocks / 4 + 4);
            self.places.reserve_exact((blocks / 4 + 4) * BLOCK as usize);
        }
        self.next.push(0);
        self.places.resize(self.next.len() * BLOCK as usize, InPipe::default());
        self.give_back(blocks as u32);
    }
}

impl Index<Position> for Flight {
    type Output = InPipe;

    #[inline]
    fn index(&self, place: Position) -> &InPipe {
        &self.places[place.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Queues that share one store behave like separate queues. After the queues are emptied,
        /// all blocks of the store are free.
        #[test]
        fn queues_in_the_store_behave_like_separate_queues(ops in prop::collection::vec((0usize..4, 0u8..5), 1..400)) {
            let mut flight = Flight::default();
            let mut pipes = [(); 4].map(|()| (Pipe::default(), VecDeque::new()));
            for (number, (whose, op)) in ops.into_iter().enumerate() {
                let (pipe, model) = &mut pipes[whose];
                if op > 1 {
                    let packet = Packet { size: number as u16, ..Packet::default() };
                    let times = [Time(number as u64), Time(number as u64 + 100)];
                    prop_assert_eq!(flight.push(pipe, times, whose as u32, &packet), model.is_empty());
                    model.push_back(number);
                } else {
                    let popped = flight.pop(pipe).map(|place| flight[place]);
                    let seen = popped.map(|e| (usize::from(e.packet.size), e.packet.hop, e.entered.0, e.arrives.0));
                    prop_assert_eq!(seen, model.pop_front().map(|n: usize| (n, whose as u32, n as u64, n as u64 + 100)));
                }
                prop_assert_eq!(pipe.due(), model.front().map_or(Time::NEVER, |&n| Time(n as u64 + 100)));
                let inside: Vec<usize> = flight.each(pipe).map(|e| usize::from(e.packet.size)).collect();
                prop_assert_eq!(&inside, &Vec::from(model.clone()));
            }
            for (pipe, _) in &mut pipes {
                while flight.pop(pipe).is_some() {}
            }
            let mut free = 0;
            let mut block = flight.free;
            while block != 0 {
                (block, free) = (flight.next[block as usize - 1], free + 1);
            }
            prop_assert_eq!(free, flight.next.len());
        }
    }
}
