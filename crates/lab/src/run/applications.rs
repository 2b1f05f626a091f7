//! Applications: told of what happens at the ends of connections, and what they answer is done.

use net::End;
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
        self.act(end, &actions);
    }

    fn act(&mut self, end: End, actions: &Actions) {
        let slot = &self.connections.fates.slots[end.connection() as usize];
        if actions.wake != Time::NEVER && slot.acting != acting::NONE {
            self.connections.acting.of(slot.acting)[side(end) as usize].wake = actions.wake;
        }
        let endpoint = &mut self.connections.endpoints[end];
        if actions.write > 0 {
            endpoint.write(actions.write);
        }
        if actions.close {
            endpoint.close();
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
