//! First-in-first-out queue discipline that stores its packets, for every AQM that decides on
//! packets at their arrival. When a storing queue is full, it can drop a waiting packet instead of
//! the arriving packet. A storing queue can also mark a waiting packet instead of the arriving
//! packet.
//!
//! Source: RFC 2309 §3 (`rfc2309`) defines drop front and random drop on full. Suter, Lakshman,
//! Stiliadis & Choudhury 1998 (`suter1998buffer`) define the longest queue drop, which drops the
//! oldest packet of the flow with the most waiting bytes. A head mark marks the packet nearest to
//! the head that is ECN-capable and unmarked. If the queue has no ECN-capable and unmarked packet,
//! the arriving packet is marked.

use engine::Stream;
use net::{Aqm, Arrival, Backlog, Explanation, Fates, Next, QueueDiscipline, QueuedPacket, Verdict, Why};
use units::{Depth, Time};

use crate::fifo::{Buffer, DropFrom, Limit, MarkAt, Marking};
use crate::store::Store;

/// First-in-first-out queue with the AQM `A`. The queue stores its packets until they are sent.
#[derive(Debug)]
pub struct StoringFifo<A> {
    limit: Limit,
    drop_from: DropFrom,
    mark_at: MarkAt,
    marks: bool,
    aqm: A,
    store: Store,
    /// Number of waiting bytes of each flow.
    flows: Vec<u64>,
    random: Stream,
}

impl<A: Aqm> StoringFifo<A> {
    /// Create the queue discipline for a buffer and an AQM. `depth` is the limit of the buffer in
    /// packets or bytes. `random` selects the packets that are dropped at random.
    pub fn new(buffer: &Buffer, depth: Depth, aqm: A, random: Stream) -> Self {
        StoringFifo {
            limit: Limit::of(buffer, depth),
            drop_from: buffer.drop_from,
            mark_at: buffer.mark_at,
            marks: buffer.ecn == Marking::Mark,
            aqm,
            store: Store::default(),
            flows: Vec::new(),
            random,
        }
    }

    /// Return the position of the packet that is dropped when the buffer is full.
    fn victim(&mut self) -> usize {
        match self.drop_from {
            DropFrom::Random => self.random.below(self.store.len() as u64) as usize,
            DropFrom::LongestFlow => {
                let longest = self.flows.iter().max().copied().unwrap_or(0);
                self.store
                    .iter()
                    .position(|h| self.flows[h.packet.connection as usize] == longest)
                    .unwrap_or(0)
            }
            DropFrom::Front | DropFrom::Tail => 0,
        }
    }

    fn count(&mut self, held: &QueuedPacket, comes: bool) {
        if self.drop_from == DropFrom::LongestFlow {
            let flow = held.packet.connection as usize;
            if flow >= self.flows.len() {
                self.flows.resize(flow + 1, 0);
            }
            let size = u64::from(held.packet.size);
            self.flows[flow] = if comes { self.flows[flow] + size } else { self.flows[flow] - size };
        }
    }

    /// Return the function that explains a drop or a mark.
    fn explainer(&self, why: Why, backlog: Backlog) -> impl FnOnce(&mut Explanation) {
        move |to| {
            self.limit.explain(backlog, to);
            self.aqm.explain(why, to);
        }
    }

    /// Mark the packet nearest to the head that can be marked. Return true if a packet was marked.
    fn mark_head(&mut self, why: Why, backlog: Backlog, fates: &mut Fates) -> bool {
        let (limit, aqm) = (self.limit, &self.aqm);
        self.store.mark_head(why, fates, |to| {
            limit.explain(backlog, to);
            aqm.explain(why, to);
        })
    }

    /// Drop waiting packets until the buffer has space for the arriving packet. Return false if the
    /// arriving packet does not fit even into an empty buffer.
    fn make_room(&mut self, held: &QueuedPacket, at: &Arrival, fates: &mut Fates) -> bool {
        let mut here = *at;
        while self.limit.is_full(&held.packet, &here) {
            if self.store.is_empty() {
                return false;
            }
            let position = self.victim();
            if let Some(victim) = self.store.remove(position) {
                self.count(&victim, false);
                fates.drop(victim.packet, Why::Full, self.explainer(Why::Full, at.backlog));
            }
            here.backlog = self.store.backlog();
        }
        true
    }
}

impl<A: Aqm> QueueDiscipline for StoringFifo<A> {
    fn enqueue(&mut self, mut held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        let verdict = self.aqm.on_arrival(&held.packet, at);
        if self.limit.is_full(&held.packet, at) {
            if self.drop_from == DropFrom::Tail {
                fates.drop(held.packet, Why::Full, self.explainer(Why::Full, at.backlog));
                return self.aqm.on_overflow(at.now);
            }
            self.aqm.on_overflow(at.now);
        }
        let markable = self.marks && held.packet.ecn.is_capable();
        match verdict {
            Verdict::Signal(_) if markable => {}
            Verdict::Signal(why) | Verdict::Drop(why) => {
                return fates.drop(held.packet, why, self.explainer(why, at.backlog));
            }
            Verdict::Pass => {}
        }
        if !self.make_room(&held, at, fates) {
            return fates.drop(held.packet, Why::Full, self.explainer(Why::Full, at.backlog));
        }
        if let Verdict::Signal(why) = verdict
            && !(self.mark_at == MarkAt::Head && self.mark_head(why, at.backlog, fates))
        {
            fates.mark(&mut held.packet, why, self.explainer(why, at.backlog));
        }
        self.count(&held, true);
        self.store.push(held);
        self.aqm.on_admitted(&held.packet, &Arrival { free_at: Time::NEVER, ..*at });
    }

    fn dequeue(&mut self, now: Time, _: &mut Fates) -> Next {
        let Some(held) = self.store.pop() else { return Next::Empty };
        self.count(&held, false);
        self.aqm.on_departure(now);
        Next::Packet(held)
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    fn next_size(&self) -> u64 {
        self.store.next_size()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.store.iter().for_each(see);
    }

    fn average(&self) -> Option<Depth> {
        self.aqm.average()
    }
}
