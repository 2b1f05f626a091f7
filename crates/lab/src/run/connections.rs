//! Connections: when they begin, what their ends send, and when they are over.

use net::{Direction, End, Packet};
use tcp::ecn::Mode as EcnMode;
use traffic::opener::{NextOpening, OpenerEvent};
use units::Time;

use super::{Simulation, Step};
use crate::acting;
use crate::exchanges::asked;
use crate::slot::{Slot, Stage};

impl Simulation<'_> {
    /// A connection of a source begins.
    pub(super) fn arrival(&mut self, now: Time, k: usize) -> Step {
        let source = &mut self.connections.sources[k];
        let Some(opener) = self.plan.opener(source.flow as usize) else { return Ok(()) };
        let slot =
            Slot::new(source.flow, opener.connection(&source.progress), source.first_hop, now, source.dscp);
        let ends = source.endpoints();
        source.progress.opened += 1;
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
        if let Some(captures) = &mut self.captures {
            captures.opened(s);
        }
        self.notify_opener(now, k, OpenerEvent::Opened);
        self.open(now, s);
        self.pump(now, End::sender(s))?;
        self.rearm(End::sender(s));
        Ok(())
    }

    /// Tells what opens the connections of a source, and sets when it opens the next, or ends it.
    pub(super) fn notify_opener(&mut self, now: Time, k: usize, told: OpenerEvent) {
        let source = &mut self.connections.sources[k];
        let flow = source.flow as usize;
        let Some(opener) = self.plan.opener(flow).filter(|_| !source.over) else { return };
        let draws = self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), 0);
        match opener.next(&mut source.progress, told, now, draws) {
            NextOpening::At(time) => self.events.set(self.lanes.source(k), time.max(now)),
            NextOpening::Wait => {}
            NextOpening::End => {
                source.over = true;
                self.connections.open -= 1;
            }
        }
    }

    /// A connection is to be opened, its application is to be woken, or a timer expires.
    #[inline(never)]
    pub(super) fn endpoint_event(&mut self, now: Time, end: End) -> Step {
        let slot = &self.connections.fates.slots[end.connection() as usize];
        match slot.stage {
            Stage::Free => return Ok(()), // a timer of the connection that was there
            Stage::Waiting => self.open(now, end.connection()),
            Stage::Open if slot.acting != acting::NONE => self.wake(now, end),
            Stage::Open | Stage::Closed => {
                let deadline = self.connections.endpoints[end].deadline();
                if deadline > now {
                    self.events.set(self.lanes.end(end), deadline);
                    return Ok(());
                }
            }
        }
        if self.connections.endpoints[end].deadline() <= now {
            self.connections.endpoints[end].on_timer(now);
        }
        self.pump(now, end)?;
        if self.connections.fates.slots[end.connection() as usize].acting != acting::NONE {
            self.rearm(end);
        }
        Ok(())
    }

    /// Whether an endpoint, asked once more, has nothing to send.
    fn is_silent(&mut self, now: Time, end: End) -> bool {
        let blank = self.connections.fates.options.blank();
        self.connections.endpoints[end].poll(now, blank).is_none()
    }

    /// Sends what an endpoint has to send, and sees to its timer.
    #[inline]
    pub(super) fn pump(&mut self, now: Time, end: End) -> Step {
        if self.observed {
            self.observe_endpoint(now, end);
        }
        let s = end.connection();
        let way = end.sends();
        loop {
            let endpoint = &mut self.connections.endpoints[end];
            let store = &mut self.connections.fates.options;
            let Some((segment, ecn)) = endpoint.poll(now, store.blank()) else { break };
            let slot = &mut self.connections.fates.slots[s as usize];
            slot.ledger.sent(way);
            if (way == Direction::Reverse || slot.converses)
                && endpoint.ecn_mode() == EcnMode::Classic
                && let Some(what) = slot.ledger.ack_leaves(way, segment.flags)
            {
                return Err(Box::new(self.violation(now, self.place(s), what)));
            }
            let (hop, label) = (slot.first_hop[way.index()], slot.labels[way.index()]);
            let (options, more) = if endpoint.has_options() { store.store() } else { (0, 0) };
            let size = endpoint.wire_size(&segment) + more;
            let output_done = endpoint.is_output_done();
            let mut packet = Packet { connection: s, size, ecn, label, hop, options, segment };
            if self.observed {
                self.observe_host(now, end, &packet);
            }
            self.enter(now, hop, &mut packet)?;
            if output_done {
                debug_assert!(self.is_silent(now, end), "an end said all and says more");
                break;
            }
        }
        let endpoint = &self.connections.endpoints[end];
        let lane = self.lanes.end(end);
        let closed = endpoint.is_closed();
        let deadline = endpoint.deadline();
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
            self.connections.endpoints[end.opposite()].discard(now);
        }
        if self.connections.endpoints[end.opposite()].is_closed() {
            let slot = &mut self.connections.fates.slots[end.connection() as usize];
            if slot.stage == Stage::Open {
                slot.stage = Stage::Closed;
                self.connections.open -= 1;
                let flow = slot.flow;
                if self.plan.opener(flow as usize).is_some() {
                    let (connection, place) = (slot.connection, slot.acting);
                    let client = self.connections.acting.get(place).first().map(|client| client.memory);
                    let unanswered = client.map_or(0, |client| client.begun - client.ended);
                    let k = self.connections.source_of(flow);
                    self.notify_opener(now, k, OpenerEvent::Closed { connection, unanswered });
                }
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
            let slot = &mut self.connections.fates.slots[s as usize];
            slot.stage = Stage::Free;
            self.connections.acting.free(slot.acting);
            slot.acting = acting::NONE;
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
        self.tell_unanswered(s);
        let sum = self.connections.sum(s as usize, Direction::Forward);
        let flow = self.connections.fates.slots[s as usize].flow;
        let source = self.connections.source_of(flow);
        let account = self.connections.sources[source].account;
        if self.connections.accounts[account].replies.is_some() {
            let back = self.connections.sum(s as usize, Direction::Reverse);
            self.connections.accounts[account].replies.iter_mut().for_each(|replies| replies.add(&back));
        }
        self.connections.accounts[account].sum.add(&sum);
        if sum.start >= self.begins() {
            self.connections.sources[source].count(&sum);
        }
        self.connections.fates.series.transferred(flow, &sum);
    }

    /// Tells series of the requests that have no response when the run ends or their connection does.
    fn tell_unanswered(&mut self, s: u32) {
        let slot = &self.connections.fates.slots[s as usize];
        let (flow, connection) = (slot.flow, slot.connection);
        let client = self.connections.acting.get(slot.acting).first().map(|client| client.memory);
        let Some(client) = client.filter(|client| client.ended < client.begun) else { return };
        let Some(application) = self.plan.application(flow as usize) else { return };
        let draws = self.connections.draws[self.plan.table(flow as usize)]
            .of(self.plan.number(flow as usize), connection);
        for number in client.ended..client.begun {
            let Some(request) = application.pending_request(number, &client, draws) else { return };
            let ends = self.connections.endpoints.of(s);
            self.connections.fates.series.asked(&asked([flow, connection], ends, &request, Time::NEVER));
        }
    }

    /// Tells of every request that is still open, and counts the connections of sources that are not over, when the run ends.
    pub(crate) fn count_the_rest(&mut self) {
        for s in 0..self.connections.lasting {
            self.tell_unanswered(s as u32);
        }
        for s in self.connections.first_passing()..self.connections.fates.slots.len() {
            if self.connections.fates.slots[s].stage != Stage::Free {
                self.count(s as u32);
            }
        }
    }
}
