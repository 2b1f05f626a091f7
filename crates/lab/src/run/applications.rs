//! Applications: told of what happens at the ends of connections, and what they answer is done.

use net::{End, Seq};
use tcp::State;
use traffic::Lots;
use traffic::application::{Actions, Event, Memory, Side, Talk};
use units::Time;

use super::Simulation;
use crate::acting;
use crate::slot::Stage;

fn side(end: End) -> Side {
    if end.is_sender() { Side::Client } else { Side::Server }
}

impl Simulation<'_> {
    /// What a connection of a flow draws.
    pub(super) fn lots(&self, flow: usize, connection: u32) -> Lots<'_> {
        self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), connection)
    }

    /// The connection in a slot is opened.
    pub(super) fn open(&mut self, now: Time, s: u32) {
        let slot = &mut self.connections.fates.slots[s as usize];
        let Some(application) = self.plan.application(slot.flow as usize) else { return };
        slot.stage = Stage::Open;
        if application.remembers() {
            slot.acting = self.connections.acting.add();
        }
        for end in [End::receiver(s), End::sender(s)] {
            if application.wants(side(end)).holds {
                self.connections.endpoints[end].hold_data();
            }
        }
        self.connections.endpoints[End::receiver(s)].listen();
        self.connections.endpoints[End::sender(s)].connect();
        self.tell(now, End::sender(s), Event::Opening);
    }

    /// Tells the application at an end of an event, and does what it answers.
    fn tell(&mut self, now: Time, end: End, event: Event) {
        let slot = &self.connections.fates.slots[end.connection() as usize];
        let flow = slot.flow as usize;
        let Some(application) = self.plan.application(flow) else { return };
        let lots = self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), slot.connection);
        let actions = if slot.acting == acting::NONE {
            let (client, server) = (&mut Memory::default(), &mut Memory::default());
            application.on(side(end), event, &mut Talk { now, client, server, lots })
        } else {
            let [client, server] = self.connections.acting.of(slot.acting);
            let (client, server) = (&mut client.memory, &mut server.memory);
            application.on(side(end), event, &mut Talk { now, client, server, lots })
        };
        self.act(now, end, &actions);
    }

    fn act(&mut self, now: Time, end: End, actions: &Actions) {
        let slot = &self.connections.fates.slots[end.connection() as usize];
        if actions.wake != Time::NEVER && slot.acting != acting::NONE {
            self.connections.acting.of(slot.acting)[side(end) as usize].wake = actions.wake;
        }
        if actions.asks {
            self.connections.exchanges.begin(slot.flow);
        }
        if let Some(answered) = &actions.answered {
            self.connections.exchanges.end(now, slot.flow, answered);
        }
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

    /// Tells the application at an end what a packet has brought.
    pub(super) fn tell_news(&mut self, now: Time, end: End) {
        let s = end.connection() as usize;
        let slot = &self.connections.fates.slots[s];
        let (flow, place) = (slot.flow as usize, slot.acting);
        if slot.stage != Stage::Open || place == acting::NONE {
            return;
        }
        let endpoint = &self.connections.endpoints[end];
        let (state, closed_there) = (endpoint.state(), endpoint.fin_received());
        if state < State::Established {
            return;
        }
        // A FIN has a number too.
        let next = Seq(endpoint.next_expected().0.wrapping_sub(u32::from(closed_there)));
        let actor = &mut self.connections.acting.of(place)[side(end) as usize];
        let opened = !std::mem::replace(&mut actor.opened, true);
        let came = u64::from(next - std::mem::replace(&mut actor.next, next));
        let ended = closed_there && !std::mem::replace(&mut actor.ended, true);
        if opened {
            self.tell(now, end, Event::Opened);
        }
        if came > 0 {
            self.tell(now, end, Event::Received(came));
        }
        if ended {
            self.tell(now, end, Event::PeerClosed);
        }
        let waiting = self.connections.endpoints[end].outstanding().1;
        let wanted = self.plan.wants(flow, side(end)).waiting;
        if waiting < wanted {
            self.tell(now, end, Event::Room(wanted - waiting));
        }
    }

    /// Wakes the application at an end, if its time has come.
    pub(super) fn wake(&mut self, now: Time, end: End) {
        let place = self.connections.fates.slots[end.connection() as usize].acting;
        let actor = &mut self.connections.acting.of(place)[side(end) as usize];
        if actor.wake <= now {
            actor.wake = Time::NEVER;
            self.tell(now, end, Event::Woken);
        }
    }

    /// Sees to it that the application at an end is woken in time. (An event of that end that comes earlier is followed by another.)
    pub(super) fn rearm(&mut self, end: End) {
        let place = self.connections.fates.slots[end.connection() as usize].acting;
        if let Some(ends) = self.connections.acting.get(place) {
            let (lane, wake) = (self.lanes.end(end), ends[side(end) as usize].wake);
            if wake < self.events.due(lane) {
                self.events.set(lane, wake);
            }
        }
    }
}
