//! Flow queueing: flows hashed to queues that are served in turn, a law in each.
//!
//! Source: RFC 8290 §4.1 and §4.2 (`rfc8290`): a deficit round robin over new and old queues. A queue's
//! turn ends when its credits are used up (zero or less: "it has already dequeued at least a quantum of
//! bytes").

use std::collections::VecDeque;

use engine::Stream;
use net::{Backlog, Fates, Held, Why};
use units::{Bytes, Time};

use crate::hash::hash;
use crate::store::Store;

/// What takes the packets of one flow's queue.
pub trait Takes: Clone {
    /// The next packet to be sent, those before it dropped, while so many bytes wait in the other queues of the link.
    fn dequeue(&mut self, store: &mut Store, elsewhere: u64, now: Time, fates: &mut Fates) -> Option<Held>;
}

/// One of the queues.
#[derive(Clone, Debug)]
struct Flow<L> {
    store: Store,
    law: L,
    /// Bytes it may still send in its turn.
    credits: i64,
    /// Whether it is in one of the lists.
    active: bool,
}

/// The queues and whose turn it is.
#[derive(Debug)]
pub struct FlowQueues<L> {
    salt: u64,
    quantum: i64,
    flows: Vec<Flow<L>>,
    /// Queues that became active, and those that had their first turn.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
}

impl<L: Takes> FlowQueues<L> {
    /// So many queues with this law in each; `random` gives the hash function.
    pub fn new(flows: u64, quantum: Bytes, law: L, random: &mut Stream) -> Self {
        let queue = Flow { store: Store::default(), law, credits: 0, active: false };
        FlowQueues {
            salt: random.below(1 << 32),
            quantum: quantum.0 as i64,
            flows: vec![queue; flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    /// The queue of a flow (§4.1).
    pub fn place(&self, flow: u32) -> u32 {
        (hash(u64::from(flow) << 32 | self.salt) % self.flows.len() as u64) as u32
    }

    /// The law of a queue, and what it keeps.
    pub fn law(&mut self, place: u32) -> (&mut L, &Store) {
        let flow = &mut self.flows[place as usize];
        (&mut flow.law, &flow.store)
    }

    /// Adds a packet to a queue; one that was not active is new.
    pub fn push(&mut self, place: u32, held: Held) {
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

    /// §4.1: half of the longest queue, 64 packets at most, goes from its head.
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

    /// §4.2: the next packet to be sent.
    pub fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
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
            let sent = flow.law.dequeue(&mut flow.store, elsewhere, now, fates);
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

    /// What waits in all of them.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Shows every packet.
    pub fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.flows.iter().flat_map(|flow| flow.store.iter()).for_each(see);
    }
}
