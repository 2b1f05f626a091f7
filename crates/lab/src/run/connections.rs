//! Connections: when they begin, what their applications do, what their ends send, and when they are over.

use net::{End, Packet, Way};
use tcp::ecn::Mode as EcnMode;
use traffic::{Size, Traffic};
use units::{Bytes, Time};

use super::{Simulation, Step};
use crate::slot::{Slot, Stage};

impl Simulation<'_> {
    /// A connection of a source begins.
    pub(super) fn arrival(&mut self, now: Time, k: usize) -> Step {
        let source = &mut self.connections.sources[k];
        let slot = Slot::new(source.flow, source.opened, source.first_hop, now, source.dscp);
        let ends = source.endpoints();
        source.opened += 1;
        self.connections.begun += 1;
        self.connections.open += 1;
        let s = match self.connections.free.pop() {
            Some(s) => {
                self.connections.fates.slots[s as usize] = slot;
                self.connections.endpoints.replace(s, ends);
                s
            }
            None => {
                self.connections.fates.slots.push(slot);
                self.connections.endpoints.push(ends);
                self.events.grow(self.lanes.count(self.connections.endpoints.len()));
                self.connections.fates.slots.len() as u32 - 1
            }
        };
        if let Some(captures) = self.observer.as_mut().and_then(|o| o.captures.as_mut()) {
            captures.opened(s);
        }
        self.next_arrival(now, k);
        self.application(now, s);
        self.pump(now, End::sender(s))
    }

    /// Sets the next arrival of a source after `now`, or ends it.
    pub(super) fn next_arrival(&mut self, now: Time, k: usize) {
        let source = &self.connections.sources[k];
        let flow = source.flow as usize;
        let Some(arrivals) = self.plan.arrivals(flow) else { return };
        if arrivals.connections.is_some_and(|most| u64::from(source.opened) >= most) {
            self.connections.open -= 1;
            return;
        }
        let index = [self.plan.number(flow), source.opened, 0];
        let [u, _] = self.connections.draws[self.plan.table(flow)].arrivals.uniform(index);
        self.events.set(self.lanes.source(k), now + arrivals.spacing.draw(arrivals.interval, u));
    }

    /// An application does something, or a timer expires.
    pub(super) fn endpoint_event(&mut self, now: Time, end: End) -> Step {
        let slot = &self.connections.fates.slots[end.connection() as usize];
        if slot.stage == Stage::Free {
            return Ok(()); // a timer of the connection that was there
        }
        if end.is_sender() && slot.wake == now {
            self.application(now, end.connection());
        }
        if self.connections.endpoints[end].deadline() <= now {
            self.connections.endpoints[end].on_timer(now);
        }
        self.pump(now, end)
    }

    /// What the application at the sending end of a connection does when its time has come: opens it,
    /// or writes a message.
    pub(super) fn application(&mut self, now: Time, s: u32) {
        let plan = self.plan;
        let slot = &self.connections.fates.slots[s as usize];
        let opens = slot.stage == Stage::Waiting;
        let traffic = plan.traffic(slot.flow as usize);
        let writes = match traffic {
            Traffic::Bulk(_) => Some(self.size(slot).map_or(u64::MAX, |size| size.0)),
            Traffic::Messages(_) if opens => None,
            _ => self.size(slot).map(|size| size.0),
        };
        let slot = &mut self.connections.fates.slots[s as usize];
        slot.messages += u32::from(!opens);
        let (ends, wake) = match traffic {
            Traffic::Bulk(bulk) => (bulk.size.is_some(), Time::NEVER),
            Traffic::Messages(m) if m.messages == Some(u64::from(slot.messages)) => (true, Time::NEVER),
            Traffic::Messages(m) => {
                let flow = slot.flow as usize;
                let index = [plan.number(flow), slot.connection, slot.messages];
                let [u, _] = self.connections.draws[plan.table(flow)].messages.uniform(index);
                (false, now + m.spacing.draw(m.interval, u))
            }
            _ => (false, Time::NEVER), // datagrams have no connection
        };
        (slot.wake, slot.stage) = (wake, Stage::Open);
        if opens {
            self.connections.endpoints[End::receiver(s)].listen();
        }
        let sender = &mut self.connections.endpoints[End::sender(s)];
        if opens {
            sender.connect();
        }
        sender.write(writes.unwrap_or(0));
        if ends {
            sender.close();
        }
    }

    /// The size of what a connection writes next; `None`: without end.
    pub(super) fn size(&self, slot: &Slot) -> Option<Bytes> {
        let flow = slot.flow as usize;
        let size = match self.plan.traffic(flow) {
            Traffic::Bulk(bulk) => bulk.size.as_ref()?,
            Traffic::Messages(messages) => &messages.size,
            _ => return None,
        };
        if let Size::Fixed(size) = size {
            return Some(*size);
        }
        let index = [self.plan.number(flow), slot.connection, slot.messages];
        Some(size.draw(self.connections.draws[self.plan.table(flow)].sizes.uniform(index)))
    }

    /// Sends what an endpoint has to send, and sees to its timer.
    #[inline]
    pub(super) fn pump(&mut self, now: Time, end: End) -> Step {
        if self.observer.is_some() {
            self.observe_endpoint(now, end);
        }
        let s = end.connection();
        let way = end.sends();
        let endpoint = loop {
            let endpoint = &mut self.connections.endpoints[end];
            let Some((segment, ecn)) = endpoint.poll(now, &mut self.connections.scratch) else {
                break &*endpoint;
            };
            let slot = &mut self.connections.fates.slots[s as usize];
            slot.ledger.sent(way);
            if way == Way::Back
                && endpoint.ecn_mode() == EcnMode::Classic
                && let Some(what) = slot.ledger.ack_leaves(segment.flags)
            {
                return Err(Box::new(self.violation(now, self.place(s), what)));
            }
            let (hop, label) = (slot.first_hop[way.index()], slot.labels[way.index()]);
            let size = endpoint.wire_size(&segment, &self.connections.scratch);
            let options = if endpoint.has_options() {
                self.connections.fates.options.keep(&self.connections.scratch)
            } else {
                0
            };
            let mut packet = Packet { connection: s, size, ecn, label, hop, options, segment };
            if self.observer.is_some() {
                self.observe_host(now, end, &packet);
            }
            self.enter(now, hop, &mut packet);
        };
        let lane = self.lanes.end(end);
        let closed = endpoint.is_closed();
        let slot = &mut self.connections.fates.slots[s as usize];
        let mut deadline = endpoint.deadline();
        if way == Way::There {
            deadline = deadline.min(slot.wake);
        }
        // Lazy: an event that is too early is kept, and sets itself again when it comes.
        if deadline < self.events.due(lane) {
            self.events.set(lane, deadline);
        }
        if closed {
            self.after_close(now, end);
        }
        Ok(())
    }

    /// An end is closed: if it gave up, so is the other, to whom nobody speaks any more.
    #[cold]
    pub(super) fn after_close(&mut self, now: Time, end: End) {
        if self.connections.endpoints[end].error().is_some() {
            self.connections.endpoints[end.opposite()].forget(now);
        }
        if self.connections.endpoints[end.opposite()].is_closed() {
            let slot = &mut self.connections.fates.slots[end.connection() as usize];
            if slot.stage == Stage::Open {
                slot.stage = Stage::Closed;
                self.connections.open -= 1;
            }
            self.release(end.connection());
        }
    }

    /// Frees the slot of a connection of a source that is closed and has no packet under way any more:
    /// so no late packet meets a new connection.
    #[cold]
    pub(super) fn release(&mut self, s: u32) {
        let slot = &self.connections.fates.slots[s as usize];
        if slot.stage == Stage::Closed && slot.ledger.is_settled() && s as usize >= self.connections.lasting {
            if (s as usize) < self.connections.first_passing() {
                self.connections.fates.slots[s as usize].stage = Stage::Free;
                self.connections.open -= 1;
                return;
            }
            self.count(s);
            self.connections.fates.slots[s as usize].stage = Stage::Free;
            self.connections.free.push(s);
        }
    }

    /// Frees the slots of connections whose last packet was dropped.
    #[cold]
    pub(super) fn release_over(&mut self) {
        while let Some(s) = self.connections.fates.over.pop() {
            self.release(s);
        }
    }

    /// Counts a connection of a source, the last time that it is seen.
    pub(super) fn count(&mut self, s: u32) {
        let sum = self.connections.sum(s as usize);
        let flow = self.connections.fates.slots[s as usize].flow;
        let source = self.connections.sources.partition_point(|source| source.flow < flow);
        self.connections.sources[source].count(&sum);
        if let Some(transfers) = &mut self.transfers {
            transfers.push(flow, &sum);
        }
    }

    /// Counts the connections of sources that are not over when the run ends.
    pub(crate) fn count_the_rest(&mut self) {
        for s in self.connections.first_passing()..self.connections.fates.slots.len() {
            if self.connections.fates.slots[s].stage != Stage::Free {
                self.count(s as u32);
            }
        }
    }
}
