//! Flow queueing: flows are hashed to queues that are served in turn, and each queue has its own
//! AQM.
//!
//! Source: RFC 8290 §4.1 and §4.2 (`rfc8290`): a deficit round robin over new and old queues. The
//! turn of a queue ends when its credits are zero or less ("it has already dequeued at least a
//! quantum of bytes").

use std::collections::VecDeque;

use engine::Stream;
use net::{Backlog, Fates, QueuedPacket, Why};
use units::{Bytes, Time};

use crate::hash::hash;
use crate::store::Store;

/// AQM that removes the packets from the queue of one flow.
pub trait Takes: Clone {
    /// Return the next packet to send and drop the packets before it. `elsewhere` is the number of
    /// bytes in the other queues of the link.
    fn dequeue(
        &mut self,
        store: &mut Store,
        elsewhere: u64,
        now: Time,
        fates: &mut Fates,
    ) -> Option<QueuedPacket>;
}

/// One of the queues.
#[derive(Clone, Debug)]
struct Flow<L> {
    store: Store,
    aqm: L,
    /// Bytes that the queue may still send in its turn.
    credits: i64,
    /// True while the queue is in the list of new or of old queues.
    active: bool,
}

/// Queues of all flows, and the order of their turns.
#[derive(Debug)]
pub struct FlowQueues<L> {
    salt: u64,
    quantum: i64,
    flows: Vec<Flow<L>>,
    /// Queues that became active. The list `old` has the active queues after their first turn.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
}

impl<L: Takes> FlowQueues<L> {
    /// Create `flows` queues, each with a copy of this AQM. `random` chooses the hash function.
    pub fn new(flows: u64, quantum: Bytes, aqm: L, random: &mut Stream) -> Self {
        let queue = Flow { store: Store::default(), aqm, credits: 0, active: false };
        FlowQueues {
            salt: random.below(1 << 32),
            quantum: quantum.0 as i64,
            flows: vec![queue; flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    /// Return the index of a flow's queue (§4.1).
    pub fn place(&self, flow: u32) -> u32 {
        (hash(u64::from(flow) << 32 | self.salt) % self.flows.len() as u64) as u32
    }

    /// Return the AQM of a queue and its packets.
    pub fn aqm(&mut self, place: u32) -> (&mut L, &Store) {
        let flow = &mut self.flows[place as usize];
        (&mut flow.aqm, &flow.store)
    }

    /// Add a packet to a queue. A queue that was in neither list is added to the list of new
    /// queues.
    pub fn push(&mut self, place: u32, held: QueuedPacket) {
        let flow = &mut self.flows[place as usize];
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(held.packet.size);
        flow.store.push(held);
        if !flow.active {
            flow.active = true;
            flow.credits = self.quantum;
            self.new.push_back(place);
        }
    }

    /// Drop half of the packets of the longest queue, at most 64, from its head (§4.1).
    pub fn shorten_longest(&mut self, fates: &mut Fates) {
        let bytes = |flow: &Flow<L>| flow.store.backlog().bytes;
        let mut longest = 0;
        for i in 1..self.flows.len() {
            if bytes(&self.flows[i]) > bytes(&self.flows[longest]) {
                longest = i;
            }
        }
        let store = &mut self.flows[longest].store;
        for _ in 0..(store.len() / 2).clamp(1, 64) {
            if let Some(held) = store.pop() {
                self.backlog.packets -= 1;
                self.backlog.bytes -= u64::from(held.packet.size);
                fates.drop(held.packet, Why::Full);
            }
        }
    }

    /// Return the next packet to send (§4.2).
    pub fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<QueuedPacket> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let i = *list.front()?;
            let flow = &mut self.flows[i as usize];
            if flow.credits <= 0 {
                flow.credits += self.quantum;
                list.pop_front();
                self.old.push_back(i);
                continue;
            }
            let before = flow.store.backlog();
            let elsewhere = self.backlog.bytes - before.bytes;
            let sent = flow.aqm.dequeue(&mut flow.store, elsewhere, now, fates);
            let after = flow.store.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(held) = sent {
                flow.credits -= i64::from(held.packet.size);
                return Some(held);
            }
            list.pop_front();
            if is_new {
                self.old.push_back(i);
            } else {
                flow.active = false;
            }
        }
    }

    /// Return the backlog of all queues together.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Call `see` for each packet.
    pub fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.flows.iter().flat_map(|flow| flow.store.iter()).for_each(see);
    }
}
