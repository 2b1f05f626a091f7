//! Stochastic fairness queueing (SFQ).
//!
//! Source: McKenney 1990, "Stochastic fairness queueing" (`mckenney1990sfq`). Flows are hashed to
//! queues, which take turns. In each turn a queue sends one packet. When the buffer is full, the
//! last packet of the longest queue is dropped (buffer stealing). The hash function changes
//! periodically, so that two flows share a queue only for a limited time. As an option, a queue
//! sends a quantum of bytes per turn instead of one packet, as in Linux (`tc_sfq`). When the hash
//! function changes, the waiting packets move to their new queues, as in Linux since 3.3. The
//! packets of a flow therefore stay in order.
//!
//! The paper on stochastic fairness queueing was not available: the algorithm is from memory.

use std::collections::VecDeque;

use engine::Stream;
use net::{Arrival, Backlog, Declared, Fates, Next, QueueDiscipline, QueuedPacket, Why, rules};
use units::{Bytes, Duration, Range, Time, params};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::{Buffer, Limit};
use crate::hash::hash;
use crate::store::Store;

params! {
    /// Stochastic fairness queueing hashes flows to queues, which take turns to send. When the
    /// buffer is full, the last packet of the longest queue is dropped. A flow that sends too much
    /// fills its own queue, and therefore loses its own packets.
    pub struct Sfq: "sfq" {
        /// Number of queues.
        queues: u64 = (1024), in Range::between(1.0, 65536.0), from "tc_sfq has a divisor of 1024; mckenney1990sfq §3 recommends a small multiple of the number of flows";
        /// Time between two changes of the hash function. By default the hash function never
        /// changes.
        perturb: Option<Duration> = (None), in Range::at_least(1e-3), from "tc_sfq has no default; it recommends 10 s";
        /// Number of bytes that the queue of a flow may send per turn. By default a queue sends one
        /// packet per turn.
        quantum: Option<Bytes> = (None), in Range::between(1.0, 1e9), from "mckenney1990sfq has one packet per turn; tc_sfq has an MTU";
    }
}

impl DisciplineParams for Sfq {
    type Discipline = SfqQueue;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: &[] }];

    fn discipline(&self, buffer: &Buffer, context: QueueContext) -> SfqQueue {
        let mut random = context.random;
        SfqQueue {
            limit: Limit::of(buffer, context.limit),
            quantum: self.quantum.map(|quantum| quantum.0 as i64),
            perturb: self.perturb,
            perturbed: Time::ZERO,
            salt: random.below(1 << 32),
            random,
            queues: vec![Queue::default(); self.queues as usize],
            active: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }
}

rules! {
    /// The buffer was full, and the packet was the last of the queue with the most packets.
    LONGEST = "longest-queue", from "mckenney1990sfq";
}

/// Queue for the flows with one hash value.
#[derive(Clone, Debug, Default)]
struct Queue {
    store: Store,
    /// Number of bytes that the queue may still send in its current turn.
    allot: i64,
}

/// State of stochastic fairness queueing.
#[derive(Debug)]
pub struct SfqQueue {
    limit: Limit,
    quantum: Option<i64>,
    perturb: Option<Duration>,
    /// Time of the last change of the hash function.
    perturbed: Time,
    salt: u64,
    random: Stream,
    queues: Vec<Queue>,
    /// Queues with waiting packets, in the order of their next turns.
    active: VecDeque<u32>,
    backlog: Backlog,
}

impl SfqQueue {
    fn queue_of(&self, flow: u32) -> usize {
        (hash(u64::from(flow) << 32 | self.salt) % self.queues.len() as u64) as usize
    }

    /// If the time between two changes has passed, change the hash function, and move the packets
    /// to their new queues in the order of service.
    fn perturb(&mut self, now: Time) {
        let Some(period) = self.perturb.filter(|period| now.since(self.perturbed) >= *period) else { return };
        let periods = now.since(self.perturbed).0 / period.0;
        self.perturbed += Duration(periods * period.0);
        self.salt = self.random.below(1 << 32);
        let mut packets = Vec::with_capacity(self.backlog.packets as usize);
        for i in std::mem::take(&mut self.active) {
            while let Some(held) = self.queues[i as usize].store.pop() {
                packets.push(held);
            }
        }
        packets.into_iter().for_each(|held| self.append(held));
    }

    fn append(&mut self, held: QueuedPacket) {
        let i = self.queue_of(held.packet.connection);
        let queue = &mut self.queues[i];
        if queue.store.is_empty() {
            queue.allot = self.quantum.unwrap_or(0);
            self.active.push_back(i as u32);
        }
        queue.store.push(held);
    }

    /// Return the queue with the most packets.
    fn longest(&self) -> Option<usize> {
        self.active.iter().map(|&i| i as usize).max_by_key(|&i| self.queues[i].store.len())
    }

    fn count(&mut self, held: &QueuedPacket, comes: bool) {
        let size = u64::from(held.packet.size);
        if comes {
            self.backlog.packets += 1;
            self.backlog.bytes += size;
        } else {
            self.backlog.packets -= 1;
            self.backlog.bytes -= size;
        }
    }
}

impl QueueDiscipline for SfqQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        self.perturb(at.now);
        let own = self.queue_of(held.packet.connection);
        let mut here = *at;
        while self.limit.is_full(&held.packet, &here) {
            let longer = |i: &usize| self.queues[*i].store.len() > self.queues[own].store.len();
            let Some(longest) = self.longest().filter(longer) else {
                let limit = self.limit;
                return fates.drop(held.packet, Why::Full, |to| limit.explain(here.backlog, to));
            };
            let store = &mut self.queues[longest].store;
            if let Some(victim) = store.remove(store.len() - 1) {
                self.count(&victim, false);
                let limit = self.limit;
                fates.drop(victim.packet, Why::Full, |to| {
                    limit.explain(here.backlog, to);
                    to.by(&LONGEST);
                });
            }
            if self.queues[longest].store.is_empty() {
                self.active.retain(|&i| i as usize != longest);
            }
            here.backlog = self.backlog;
        }
        self.count(&held, true);
        self.append(held);
    }

    fn dequeue(&mut self, now: Time, _: &mut Fates) -> Next {
        self.perturb(now);
        loop {
            let Some(&i) = self.active.front() else { return Next::Empty };
            let queue = &mut self.queues[i as usize];
            // As in Linux, the turn of a queue ends when its bytes are used up. If the last packet
            // exceeds the remaining bytes, the excess is subtracted from the next turn.
            if let Some(quantum) = self.quantum
                && queue.allot <= 0
            {
                queue.allot += quantum;
                self.active.rotate_left(1);
                continue;
            }
            let Some(held) = queue.store.pop() else { return Next::Empty };
            queue.allot -= i64::from(held.packet.size);
            self.active.pop_front();
            if !queue.store.is_empty() {
                if self.quantum.is_some() {
                    self.active.push_front(i);
                } else {
                    self.active.push_back(i);
                }
            }
            self.count(&held, false);
            return Next::Packet(held);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.queues.iter().flat_map(|queue| queue.store.iter()).for_each(see);
    }
}
