//! Flow queueing: a hash function assigns flows to queues, which take turns to send. Each queue has
//! its own AQM.
//!
//! Source: RFC 8290 §4.1 and §4.2 (`rfc8290`): a deficit round robin over new and old queues. The
//! turn of a queue ends when its credits are at most zero ("it has already dequeued at least a
//! quantum of bytes").

use std::collections::VecDeque;

use engine::Stream;
use net::{Backlog, Declared, Explanation, Fates, QueuedPacket, Variables as _, Why, rules, variables};
use units::{Bytes, Time};

use crate::fifo::Limit;
use crate::hash::hash;
use crate::store::Store;

rules! {
    /// All queues together had reached their limit, and the packet was in the queue with the most
    /// bytes.
    LONGEST = "longest-queue", from "rfc8290 §4.1";
}

variables! {
    /// Variables of the queue of a flow.
    pub struct FlowQueueVariables {
        /// Index of the queue to which the packet's flow is hashed.
        flow_queue in "", from "rfc8290 §4.1";
        /// Number of packets in this queue when the AQM decided, without the packet itself.
        flow_queue_packets in "packets", from "rfc8290 §4.1";
        /// Total size of these packets.
        flow_queue_bytes in "bytes", from "rfc8290 §4.1";
    }
}

/// Rules and variables of flow queueing.
pub(crate) const DECLARED: Declared = Declared { rules: RULES, variables: FlowQueueVariables::LIST };

/// AQM that dequeues packets from the queue of one flow.
pub trait Takes: Clone {
    /// Drop the packets that the AQM chooses to drop, and return the next packet to send.
    /// `elsewhere` is the backlog of the other queues of the link. The function `explain` adds the
    /// variables of the queue to the explanation of a drop or a mark.
    fn dequeue(
        &mut self,
        store: &mut Store,
        elsewhere: Backlog,
        now: Time,
        fates: &mut Fates,
        explain: impl Fn(&Store, &mut Explanation),
    ) -> Option<QueuedPacket>;
}

/// Queue for the flows with one hash value.
#[derive(Clone, Debug)]
struct Flow<L> {
    store: Store,
    aqm: L,
    /// Number of bytes that the queue may still send in its current turn.
    credits: i64,
    /// True while the queue is in the list of new queues or in the list of old queues.
    active: bool,
}

/// Queues of all flows, and the order in which the queues take turns.
#[derive(Debug)]
pub struct FlowQueues<L> {
    salt: u64,
    quantum: i64,
    flows: Vec<Flow<L>>,
    /// Queues that became active and have not completed their first turn. The list `old` has the
    /// active queues that have completed their first turn.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
}

impl<L: Takes> FlowQueues<L> {
    /// Create `flows` queues, each with a copy of the AQM `aqm`. `random` chooses the hash
    /// function.
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

    /// Return the index of the queue to which a flow is hashed (§4.1).
    pub fn place(&self, flow: u32) -> u32 {
        (hash(u64::from(flow) << 32 | self.salt) % self.flows.len() as u64) as u32
    }

    /// Return the AQM of a queue and the packets of the queue.
    pub fn aqm(&mut self, place: u32) -> (&mut L, &Store) {
        let flow = &mut self.flows[place as usize];
        (&mut flow.aqm, &flow.store)
    }

    /// Add a packet to a queue. If the queue is in neither list, add the queue to the list of new
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

    /// Drop half of the packets of the queue with the most bytes, but at most 64 packets, from the
    /// head of the queue (§4.1).
    pub fn shorten_longest(&mut self, limit: Limit, fates: &mut Fates) {
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
                let backlog = self.backlog;
                fates.drop(held.packet, Why::Full, |to| {
                    limit.explain(backlog, to);
                    Self::explain(longest as u32, store, to);
                    to.by(&LONGEST);
                });
            }
        }
    }

    /// Add the variables of the queue `place` to an explanation.
    pub(crate) fn explain(place: u32, store: &Store, to: &mut Explanation) {
        let Backlog { packets, bytes } = store.backlog();
        to.with(FlowQueueVariables {
            flow_queue: f64::from(place),
            flow_queue_packets: f64::from(packets),
            flow_queue_bytes: bytes as f64,
        });
    }

    /// Return the next packet to send (§4.2). `limit` is the limit of all queues together.
    pub fn dequeue(&mut self, limit: Limit, now: Time, fates: &mut Fates) -> Option<QueuedPacket> {
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
            let elsewhere = Backlog {
                packets: self.backlog.packets - before.packets,
                bytes: self.backlog.bytes - before.bytes,
            };
            let sent = flow.aqm.dequeue(&mut flow.store, elsewhere, now, fates, |store, to| {
                let Backlog { packets, bytes } = store.backlog();
                let total = Backlog { packets: elsewhere.packets + packets, bytes: elsewhere.bytes + bytes };
                limit.explain(total, to);
                Self::explain(i, store, to);
            });
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

    /// Return the total backlog of all queues.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Call the function `see` for each packet in the queues.
    pub fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.flows.iter().flat_map(|flow| flow.store.iter()).for_each(see);
    }
}
