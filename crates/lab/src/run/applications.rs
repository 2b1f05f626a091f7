//! Events that the run reports to applications, and the actions that the applications return.

use net::{End, Seq};
use tcp::State;
use traffic::RandomDraws;
use traffic::application::{Actions, Context, Event, Side};
use traffic::opener::OpenerEvent;
use units::Time;

use super::Simulation;
use crate::app_states::AppState;
use crate::slot::Stage;

/// Return the side of an endpoint: client or server.
pub(super) fn side(end: End) -> Side {
    if end.is_sender() { Side::Client } else { Side::Server }
}

impl Simulation<'_> {
    /// Return the random numbers of a connection of a flow.
    pub(super) fn draws(&self, flow: usize, connection: u32) -> RandomDraws<'_> {
        self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), connection)
    }

    /// Open the connection in a connection slot.
    #[cold]
    pub(super) fn open(&mut self, now: Time, s: u32) {
        self.begin_application(s);
        let flow = self.connections.records.slots[s as usize].flow as usize;
        for end in [End::receiver(s), End::sender(s)] {
            if self.plan.needs(flow, side(end)).own_pace {
                self.connections.endpoints[end].hold_data();
            }
        }
        self.connections.endpoints[End::receiver(s)].listen();
        self.connections.endpoints[End::sender(s)].connect();
        self.notify(now, End::sender(s), Event::Opening);
    }

    /// Create the application states of a connection that opens now.
    pub(super) fn begin_application(&mut self, s: u32) {
        let slot = &mut self.connections.records.slots[s as usize];
        let Some(application) = self.plan.application(slot.flow as usize) else { return };
        (slot.stage, slot.is_bidirectional) = (Stage::Open, self.plan.is_bidirectional(slot.flow as usize));
        if application.has_state() {
            slot.app_state = self.connections.app_states.add(application.needs(Side::Server).events);
        }
        for end in [End::receiver(s), End::sender(s)] {
            if let Some(app) = self.connections.app_states.of(slot.app_state).get_mut(side(end) as usize) {
                app.whole = application.needs(side(end)).messages;
            }
        }
    }

    /// Notify the application at an endpoint of an event, and execute the actions that the
    /// application returns.
    fn notify(&mut self, now: Time, end: End, event: Event) {
        let actions = self.react(now, end, event);
        let endpoint = &mut self.connections.endpoints[end];
        if actions.read > 0 {
            endpoint.read(now, actions.read.min(u64::from(u32::MAX)) as u32);
        }
        if actions.write > 0 {
            endpoint.write(actions.write);
        }
        if actions.close {
            endpoint.close();
        }
    }

    /// Notify the application at an endpoint of an event, and return the actions that the endpoint
    /// has to execute. The function itself sets the timer of the application.
    #[inline]
    pub(super) fn react(&mut self, now: Time, end: End, event: Event) -> Actions {
        let slot = &self.connections.records.slots[end.connection() as usize];
        let flow = slot.flow as usize;
        let Some(application) = self.plan.application(flow) else { return Actions::NONE };
        let draws = self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), slot.connection);
        let both = self.connections.ends_of(end.connection());
        let log = &mut self.connections.exchanges.log(&mut self.connections.records.series, slot, both, now);
        let (mut stateless, side) = (None, side(end));
        let (client, server) = match self.connections.app_states.of(slot.app_state) {
            [client, server] => (client, server),
            states => {
                let [client, server] = stateless.insert([AppState::NEW; 2]);
                (states.first_mut().unwrap_or(client), server)
            }
        };
        if let Event::Received(n) = event {
            let app = if side == Side::Client { &mut *client } else { &mut *server };
            app.state.received += n;
        }
        let context = &mut Context { now, client: &mut client.state, server: &mut server.state, draws, log };
        let actions = application.on(side, event, context);
        let (responses, connection) = (log.count, slot.connection);
        let app = if side == Side::Client { client } else { server };
        app.state.written = app.state.written.saturating_add(actions.write);
        if actions.wake != Time::NEVER {
            app.wake = actions.wake.max(now);
        }
        let finished = actions.close && side == Side::Client;
        if (responses > 0 || finished) && self.plan.opener(flow).is_some() {
            let k = self.connections.arriving_flow_of(flow as u32);
            (0..responses).for_each(|_| self.notify_opener(now, k, OpenerEvent::Answered(connection)));
            if finished {
                self.notify_opener(now, k, OpenerEvent::Finished(connection));
            }
        }
        actions
    }

    /// Notify the application at an endpoint of the effects of an arrived packet: received data,
    /// the opening of the connection, or the close by the peer. Return true if the notification may
    /// have changed the time of the application's next wake-up.
    pub(super) fn notify_of_arrival(&mut self, now: Time, end: End) -> bool {
        let s = end.connection() as usize;
        let slot = &self.connections.records.slots[s];
        let (flow, index) = (slot.flow as usize, slot.app_state);
        if slot.stage != Stage::Open {
            return false;
        }
        let endpoint = &self.connections.endpoints[end];
        let (state, peer_closed) = (endpoint.state(), endpoint.fin_received());
        if state < State::Established {
            return false;
        }
        // A FIN occupies a sequence number, like a byte of data.
        let next = Seq(endpoint.next_expected().0.wrapping_sub(u32::from(peer_closed)));
        let Some(app) = self.connections.app_states.of(index).get_mut(side(end) as usize) else {
            return false;
        };
        let opened = !std::mem::replace(&mut app.opened, true);
        let received = u64::from(next - std::mem::replace(&mut app.next, next));
        let ended = peer_closed && !std::mem::replace(&mut app.ended, true);
        let whole = app.whole;
        let part = whole && app.state.received + received < app.state.awaited;
        if part {
            app.state.received += received;
        }
        if opened && !whole {
            self.notify(now, end, Event::Opened);
        }
        if received > 0 && !part {
            self.notify(now, end, Event::Received(received));
        }
        if ended {
            self.notify(now, end, Event::PeerClosed);
        }
        if !whole {
            self.notify_of_send_space(now, end, self.plan.needs(flow, side(end)).unsent);
        }
        !whole || (received > 0 && !part) || ended
    }

    /// Notify the application at an endpoint if fewer than `wanted` bytes wait to be sent.
    fn notify_of_send_space(&mut self, now: Time, end: End, wanted: u64) {
        let waiting = self.connections.endpoints[end].outstanding().1;
        if waiting < wanted {
            self.notify(now, end, Event::SendSpace(wanted - waiting));
        }
    }

    /// Wake the application at an endpoint, if the time of its wake-up has come.
    #[cold]
    pub(super) fn wake(&mut self, now: Time, end: End) {
        if self.wakes(now, end) {
            self.notify(now, end, Event::Woken);
        }
    }

    /// Return true if the time of the application's wake-up has come, and clear this time.
    pub(super) fn wakes(&mut self, now: Time, end: End) -> bool {
        let index = self.connections.records.slots[end.connection() as usize].app_state;
        let Some(app) = self.connections.app_states.of(index).get_mut(side(end) as usize) else {
            return false;
        };
        let due = app.wake <= now;
        if due {
            app.wake = Time::NEVER;
        }
        due
    }

    /// Schedule the wake-up of the application at an endpoint. If the endpoint has an earlier
    /// event, the handler of that event schedules the wake-up again. The run schedules the wake-up
    /// after the transmission of segments, because the transmission usually sets a timer that is
    /// earlier than the wake-up.
    #[cold]
    pub(super) fn rearm(&mut self, end: End) {
        let slot = &self.connections.records.slots[end.connection() as usize];
        if let Some(app) = self.connections.app_states.get(slot.app_state).get(side(end) as usize)
            && slot.stage == Stage::Open
        {
            let (lane, wake) = (self.lanes.end(end), app.wake);
            if wake < self.events.due(lane) {
                self.events.set(lane, wake);
            }
        }
    }
}
