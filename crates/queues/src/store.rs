//! Store of a queue discipline: waiting packets in the order of their arrivals.

use std::collections::VecDeque;

use net::{Backlog, Explanation, Fates, QueuedPacket, Why};

/// Packets that a queue discipline stores until they are sent.
#[derive(Clone, Debug, Default)]
pub struct Store {
    ring: VecDeque<QueuedPacket>,
    bytes: u64,
    /// Position of the first packet that [`Store::mark_head`] has not examined. All earlier packets
    /// are marked already or are not ECN-capable.
    mark_pointer: usize,
}

impl Store {
    /// Add a packet at the tail.
    pub fn push(&mut self, held: QueuedPacket) {
        self.bytes += u64::from(held.packet.size);
        self.ring.push_back(held);
    }

    /// Remove and return the packet at the head.
    pub fn pop(&mut self) -> Option<QueuedPacket> {
        let held = self.ring.pop_front()?;
        self.bytes -= u64::from(held.packet.size);
        self.mark_pointer = self.mark_pointer.saturating_sub(1);
        Some(held)
    }

    /// Remove and return the packet at a position, which is counted from the head.
    pub fn remove(&mut self, position: usize) -> Option<QueuedPacket> {
        let held = self.ring.remove(position)?;
        self.bytes -= u64::from(held.packet.size);
        self.mark_pointer -= usize::from(position < self.mark_pointer);
        Some(held)
    }

    /// Mark the packet nearest to the head that is ECN-capable and unmarked. The function `explain`
    /// explains the mark. Return true if the function marked a packet.
    pub fn mark_head(&mut self, why: Why, fates: &mut Fates, explain: impl FnOnce(&mut Explanation)) -> bool {
        while let Some(held) = self.ring.get_mut(self.mark_pointer) {
            self.mark_pointer += 1;
            if held.packet.ecn.is_markable() {
                fates.mark(&mut held.packet, why, explain);
                return true;
            }
        }
        false
    }

    /// Return the number of packets and bytes in the store.
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.ring.len() as u32, bytes: self.bytes }
    }

    /// Return the size in bytes of the packet at the head, or 0 if the store is empty.
    pub fn next_size(&self) -> u64 {
        self.ring.front().map_or(0, |held| u64::from(held.packet.size))
    }

    /// Return the packet at a position, which is counted from the head.
    pub fn get(&self, position: usize) -> Option<&QueuedPacket> {
        self.ring.get(position)
    }

    /// Return the packets from head to tail.
    pub fn iter(&self) -> impl Iterator<Item = &QueuedPacket> {
        self.ring.iter()
    }

    /// Return the number of packets in the store.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Return true if the store is empty.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}
