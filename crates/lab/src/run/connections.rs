//! Life of a connection: arrival, opening, transmission of segments, timers, close, and release of
//! the connection slot.

use net::{Direction, End, Packet};
use tcp::ecn::Mode as EcnMode;
use traffic::opener::{NextOpening, OpenerEvent};
use units::Time;

use super::{Simulation, Step};
use crate::app_states;
use crate::exchanges::request_record;
use crate::slot::{Slot, Stage};

impl Simulation<'_> {
    /// Open a connection of a flow that opens connections during the run.
    pub(super) fn arrival(&mut self, now: Time, k: usize) -> Step {
        let Some(s) = self.add_connection(now, k) else { return Ok(()) };
        self.open(now, s);
        self.pump(now, End::sender(s))?;
        self.rearm(End::sender(s));
        Ok(())
    }

    /// Add a connection of a flow that opens connections during the run, and return its slot.
    pub(super) fn add_connection(&mut self, now: Time, k: usize) -> Option<u32> {
        let arriving = &mut self.connections.arriving_flows[k];
        let opener = self.plan.opener(arriving.flow as usize)?;
        let slot = Slot::new(
            arriving.flow,
            opener.connection(&arriving.progress),
            arriving.first_hop,
            now,
            arriving.dscp,
        );
        let ends = arriving.endpoints();
        arriving.progress.opened += 1;
        self.connections.begun += 1;
        self.connections.open += 1;
        let s = match self.connections.free.pop() {
            Some(s) => {
                self.connections.records.slots[s as usize] = slot;
                self.connections.endpoints.replace(s, ends);
                s
            }
            None => {
                self.connections.records.slots.push(slot);
                self.connections.endpoints.push(ends);
                self.events.grow(self.lanes.count(self.connections.endpoints.len()));
                self.connections.records.slots.len() as u32 - 1
            }
        };
        if let Some(captures) = &mut self.captures {
            captures.opened(s);
        }
        self.notify_opener(now, k, OpenerEvent::Opened);
        Some(s)
    }

    /// Pass an event to the component that opens the connections of a flow. Schedule the opening of
    /// the flow's next connection, or finish the flow.
    pub(super) fn notify_opener(&mut self, now: Time, k: usize, event: OpenerEvent) {
        let arriving = &mut self.connections.arriving_flows[k];
        let flow = arriving.flow as usize;
        let Some(opener) = self.plan.opener(flow).filter(|_| !arriving.finished) else { return };
        let draws = self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), 0);
        match opener.next(&mut arriving.progress, event, now, draws) {
            NextOpening::At(time) => self.events.set(self.lanes.arrivals(k), time.max(now)),
            NextOpening::Wait => {}
            NextOpening::End => {
                arriving.finished = true;
                self.connections.open -= 1;
            }
        }
    }

    /// Process the event of an endpoint: open its connection, wake its application, or process an
    /// expired timer.
    #[inline(never)]
    pub(super) fn endpoint_event(&mut self, now: Time, end: End) -> Step {
        let slot = &self.connections.records.slots[end.connection() as usize];
        match slot.stage {
            Stage::Free => return Ok(()), // The timer belongs to an earlier connection.
            Stage::Waiting => self.open(now, end.connection()),
            Stage::Open if slot.app_state != app_states::NONE => self.wake(now, end),
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
        if self.connections.records.slots[end.connection() as usize].app_state != app_states::NONE {
            self.rearm(end);
        }
        Ok(())
    }

    /// Return true if an endpoint has no segment to send.
    fn is_silent(&mut self, now: Time, end: End) -> bool {
        let blank = self.connections.records.options.blank();
        self.connections.endpoints[end].poll(now, blank).is_none()
    }

    /// Send all segments that an endpoint has to send, and schedule the timer of the endpoint.
    #[inline]
    pub(super) fn pump(&mut self, now: Time, end: End) -> Step {
        if self.observes_hosts {
            self.observe_endpoint(now, end);
        }
        let s = end.connection();
        let direction = end.sends();
        loop {
            let endpoint = &mut self.connections.endpoints[end];
            let store = &mut self.connections.records.options;
            let Some((segment, ecn)) = endpoint.poll(now, store.blank()) else { break };
            let slot = &mut self.connections.records.slots[s as usize];
            slot.counters.sent(direction);
            if (direction == Direction::Reverse || slot.is_bidirectional)
                && endpoint.ecn_mode() == EcnMode::Classic
                && let Some(what) = slot.counters.ack_leaves(direction, segment.flags)
            {
                return Err(Box::new(self.violation(now, self.flow_label(s), what)));
            }
            let (hop, label) = (slot.first_hop[direction.index()], slot.labels[direction.index()]);
            let (options, more) = if endpoint.has_options() { store.store() } else { (0, 0) };
            let size = endpoint.wire_size(&segment) + more;
            let sent_all = endpoint.is_output_done();
            let mut packet = Packet { connection: s, size, ecn, label, hop, options, segment };
            if self.observes_hosts {
                self.observe_host(now, end, &packet);
            }
            self.enter(now, hop, &mut packet)?;
            if sent_all {
                debug_assert!(
                    self.is_silent(now, end),
                    "an endpoint has a segment to send, although it reported that it has none"
                );
                break;
            }
        }
        let endpoint = &self.connections.endpoints[end];
        let lane = self.lanes.end(end);
        let closed = endpoint.is_closed();
        let deadline = endpoint.deadline();
        // If the endpoint has an event before the timer expires, the handler of that event
        // schedules the timer again.
        if deadline < self.events.due(lane) {
            self.events.set(lane, deadline);
        }
        if closed {
            self.after_close(now, end);
        }
        Ok(())
    }

    /// Finish the close of an endpoint. If an endpoint aborts its connection, the peer is closed
    /// too, because no further segment will reach the peer.
    #[cold]
    pub(super) fn after_close(&mut self, now: Time, end: End) {
        if self.connections.endpoints[end].error().is_some() {
            self.connections.endpoints[end.opposite()].discard(now);
        }
        if self.connections.endpoints[end.opposite()].is_closed() {
            self.finish_connection(now, end.connection());
        }
    }

    /// Finish a connection whose two endpoints are closed.
    pub(super) fn finish_connection(&mut self, now: Time, s: u32) {
        let slot = &mut self.connections.records.slots[s as usize];
        if slot.stage == Stage::Open {
            slot.stage = Stage::Closed;
            self.connections.open -= 1;
            let flow = slot.flow;
            if self.plan.opener(flow as usize).is_some() {
                let (connection, index) = (slot.connection, slot.app_state);
                let client = self.connections.app_states.get(index).first().map(|client| client.state);
                let unanswered = client.map_or(0, |client| client.begun - client.ended);
                let k = self.connections.arriving_flow_of(flow);
                self.notify_opener(now, k, OpenerEvent::Closed { connection, unanswered });
            }
        }
        self.release(s);
    }

    /// Release the connection slot of a closed connection that has no packet in the network. A
    /// packet that is still in the network could otherwise reach the next connection in the same
    /// connection slot.
    #[cold]
    pub(super) fn release(&mut self, s: u32) {
        let slot = &self.connections.records.slots[s as usize];
        if slot.stage == Stage::Closed && slot.counters.is_drained() && s as usize >= self.connections.single
        {
            if (s as usize) < self.connections.first_arriving_slot() {
                self.connections.records.slots[s as usize].stage = Stage::Free;
                self.connections.open -= 1;
                return;
            }
            self.count(s);
            let slot = &mut self.connections.records.slots[s as usize];
            slot.stage = Stage::Free;
            self.connections.app_states.free(slot.app_state);
            slot.app_state = app_states::NONE;
            self.connections.free.push(s);
        }
    }

    /// Release the connection slots of closed connections whose last packet was dropped.
    #[cold]
    pub(super) fn release_drained(&mut self) {
        while let Some(s) = self.connections.records.drained.pop() {
            self.release(s);
        }
    }

    /// Add the counts of a connection that was opened during the run to the totals of its flow.
    /// The run calls this function once per connection, because the totals must contain each
    /// connection once.
    pub(super) fn count(&mut self, s: u32) {
        self.record_unanswered(s);
        let forward = self.connections.totals_of(s as usize, Direction::Forward);
        let Slot { flow, connection, .. } = self.connections.records.slots[s as usize];
        let arriving = self.connections.arriving_flow_of(flow);
        let totals = self.connections.arriving_flows[arriving].totals;
        if self.connections.flow_totals[totals].reverse.is_some() {
            let reverse = self.connections.totals_of(s as usize, Direction::Reverse);
            self.connections.flow_totals[totals].reverse.iter_mut().for_each(|all| all.add(&reverse));
        }
        self.connections.flow_totals[totals].forward.add(&forward);
        if forward.start >= self.begins() {
            self.connections.arriving_flows[arriving].count(&forward);
        }
        self.connections.records.series.on_connection_end([flow, connection], &forward);
    }

    /// Report the requests without a response to the series. The run calls this function at the end
    /// of a connection and at the end of the run.
    fn record_unanswered(&mut self, s: u32) {
        let slot = &self.connections.records.slots[s as usize];
        let (flow, connection) = (slot.flow, slot.connection);
        let client = self.connections.app_states.get(slot.app_state).first().map(|client| client.state);
        let Some(client) = client.filter(|client| client.ended < client.begun) else { return };
        let Some(application) = self.plan.application(flow as usize) else { return };
        let draws = self.connections.draws[self.plan.table(flow as usize)]
            .of(self.plan.number(flow as usize), connection);
        for number in client.ended..client.begun {
            let Some(request) = application.pending_request(number, &client, draws) else { return };
            let ends = self.connections.ends_of(s);
            self.connections.records.series.on_request(&request_record(
                [flow, connection],
                ends,
                &request,
                Time::NEVER,
            ));
        }
    }

    /// At the end of the run, report the requests without a response, and count the connections
    /// that are still open.
    pub(crate) fn count_the_rest(&mut self) {
        for s in 0..self.connections.single {
            self.record_unanswered(s as u32);
        }
        for s in self.connections.first_arriving_slot()..self.connections.records.slots.len() {
            if self.connections.records.slots[s].stage != Stage::Free {
                self.count(s as u32);
            }
        }
    }
}
