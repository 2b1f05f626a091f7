//! Packets kept in order of arrival.

use std::collections::VecDeque;

use net::{Backlog, Fates, Held, Why};

/// The packets of a queue that keeps them.
#[derive(Clone, Debug, Default)]
pub struct Store {
    ring: VecDeque<Held>,
    bytes: u64,
    /// Before this place no packet can be marked: each is marked, or not ECN-capable.
    mark_pointer: usize,
}

impl Store {
    /// Adds a packet at the tail.
    pub fn push(&mut self, held: Held) {
        self.bytes += u64::from(held.packet.size);
        self.ring.push_back(held);
    }

    /// Takes the packet at the head.
    pub fn pop(&mut self) -> Option<Held> {
        let held = self.ring.pop_front()?;
        self.bytes -= u64::from(held.packet.size);
        self.mark_pointer = self.mark_pointer.saturating_sub(1);
        Some(held)
    }

    /// Takes the packet at a place, counted from the head.
    pub fn remove(&mut self, place: usize) -> Option<Held> {
        let held = self.ring.remove(place)?;
        self.bytes -= u64::from(held.packet.size);
        self.mark_pointer -= usize::from(place < self.mark_pointer);
        Some(held)
    }

    /// Marks the first packet from the head that is ECN-capable and not marked: whether there is one.
    pub fn mark_head(&mut self, why: Why, fates: &mut Fates) -> bool {
        while let Some(held) = self.ring.get_mut(self.mark_pointer) {
            self.mark_pointer += 1;
            if held.packet.ecn.is_markable() {
                fates.mark(&mut held.packet, why);
                return true;
            }
        }
        false
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.ring.len() as u32, bytes: self.bytes }
    }

    /// Size of the packet at the head.
    pub fn next_size(&self) -> u64 {
        self.ring.front().map_or(0, |held| u64::from(held.packet.size))
    }

    /// The packet at a place, counted from the head.
    pub fn get(&self, place: usize) -> Option<&Held> {
        self.ring.get(place)
    }

    /// The packets, head first.
    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.ring.iter()
    }

    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}
