//! FQ-CoDel: flow queueing with CoDel.
//!
//! Source: RFC 8290 §4 (`rfc8290`): flows hashed to queues (§4.1), a deficit round robin over new and
//! old queues (§4.2), CoDel in each (RFC 8289). A queue's turn ends when its credits are used up
//! (zero or less: "it has already dequeued at least a quantum of bytes").

use std::collections::VecDeque;

use net::{Arrival, Backlog, Fates, Held, Next, QueueDiscipline, Why};
use units::param::{Invalid, join};
use units::{Bytes, Duration, Packets, Range, Read, Time, params};

use crate::codel::{Codel, Control};
use crate::fifo::{Buffer, Marking};
use crate::law::{Keeps, Place};
use crate::sfb::hash;
use crate::store::Store;

params! {
    /// FQ-CoDel gives each flow a queue of its own, served in turn, a quantum of bytes each. A flow that
    /// sends less than its share finds its queue empty, counts as new, and goes first. Each queue is
    /// held by CoDel. When more packets are kept than `packet_limit` says, the longest queue loses half of its own,
    /// from the head. The limit of the buffer is not used.
    pub struct FqCodel: "fq_codel", checked by check {
        /// Delay that a queue may have standing (TARGET of CoDel).
        target: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "rfc8290 §5.2.2: 5 ms";
        /// Time in which the delay must have been below the target once (INTERVAL of CoDel).
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "rfc8290 §5.2.1: 100 ms";
        /// While no more than this waits in a queue nothing is signalled.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "rfc8289 §5.3: should be the interface's MTU";
        /// Bytes that a queue may send in its turn.
        quantum: Bytes = (Bytes(1514)), in Range::between(1.0, 1e9), from "rfc8290 §5.2.4: 1514 B";
        /// Number of queues.
        flows: u64 = (1024), in Range::between(1.0, 65536.0), from "rfc8290 §5.2.5: 1024";
        /// Most packets in all queues together.
        packet_limit: Packets = (Packets(10_240.0)), in Range::between(1.0, 1e9).whole(), from "rfc8290 §5.2.3: 10240 packets";
    }
}

fn check(fq: &FqCodel, path: &str) -> Result<(), Invalid> {
    if fq.quantum.0 > u64::from(u32::MAX) {
        return Err(Invalid::new(&join(path, "quantum"), &fq.quantum.write(), "is too large"));
    }
    Ok(())
}

impl Keeps for FqCodel {
    type Discipline = FqCodelQueue;

    fn discipline(&self, buffer: &Buffer, place: Place) -> FqCodelQueue {
        let Place { mut random, .. } = place;
        let codel = Codel { target: self.target, interval: self.interval, mtu: self.mtu };
        let control = Control::new(&codel, buffer.ecn == Marking::Mark);
        let queue = Flow { store: Store::default(), control, credits: 0, active: false };
        FqCodelQueue {
            salt: random.below(1 << 32),
            quantum: self.quantum.0 as i64,
            limit: self.packet_limit.0 as u32,
            flows: vec![queue; self.flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }
}

/// One of the queues.
#[derive(Clone, Debug)]
struct Flow {
    store: Store,
    control: Control,
    /// Bytes it may still send in its turn.
    credits: i64,
    /// Whether it is in one of the lists.
    active: bool,
}

/// The state of FQ-CoDel.
#[derive(Debug)]
pub struct FqCodelQueue {
    salt: u64,
    quantum: i64,
    limit: u32,
    flows: Vec<Flow>,
    /// Queues that became active, and those that had their first turn.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
}

impl FqCodelQueue {
    /// §4.1: half of the longest queue, 64 packets at most, goes from its head.
    fn shorten_longest(&mut self, fates: &mut Fates) {
        let bytes = |flow: &Flow| flow.store.backlog().bytes;
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
}

impl QueueDiscipline for FqCodelQueue {
    fn enqueue(&mut self, held: Held, _: &Arrival, fates: &mut Fates) {
        let i = (hash(u64::from(held.packet.flow) << 32 | self.salt) % self.flows.len() as u64) as u32;
        let flow = &mut self.flows[i as usize];
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(held.packet.size);
        flow.store.push(held);
        if !flow.active {
            flow.active = true;
            flow.credits = self.quantum;
            self.new.push_back(i);
        }
        if self.backlog.packets > self.limit {
            self.shorten_longest(fates);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let Some(&i) = list.front() else { return Next::Empty };
            let flow = &mut self.flows[i as usize];
            if flow.credits <= 0 {
                flow.credits += self.quantum;
                list.pop_front();
                self.old.push_back(i);
                continue;
            }
            let before = flow.store.backlog();
            let sent = flow.control.dequeue(&mut flow.store, now, fates);
            let after = flow.store.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(held) = sent {
                flow.credits -= i64::from(held.packet.size);
                return Next::Packet(held);
            }
            list.pop_front();
            if is_new {
                self.old.push_back(i);
            } else {
                flow.active = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.flows.iter().flat_map(|flow| flow.store.iter()).for_each(see);
    }
}
