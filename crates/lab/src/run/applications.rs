//! Applications: told of what happens at the ends of connections, and what they answer is done.

use net::{End, Seq};
use tcp::State;
use traffic::RandomDraws;
use traffic::application::{Context, Event, Side};
use traffic::opener::OpenerEvent;
use units::Time;

use super::Simulation;
use crate::acting::Actor;
use crate::slot::Stage;

fn side(end: End) -> Side {
    if end.is_sender() { Side::Client } else { Side::Server }
}

impl Simulation<'_> {
    /// What a connection of a flow draws.
    pub(super) fn draws(&self, flow: usize, connection: u32) -> RandomDraws<'_> {
        self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), connection)
    }

    /// The connection in a slot is opened.
    #[cold]
    pub(super) fn open(&mut self, now: Time, s: u32) {
        let slot = &mut self.connections.fates.slots[s as usize];
        let Some(application) = self.plan.application(slot.flow as usize) else { return };
        (slot.stage, slot.converses) = (Stage::Open, self.plan.converses(slot.flow as usize));
        if application.has_state() {
            slot.acting = self.connections.acting.add(application.needs(Side::Server).events);
        }
        for end in [End::receiver(s), End::sender(s)] {
            let needs = application.needs(side(end));
            if needs.own_pace {
                self.connections.endpoints[end].hold_data();
            }
            if let Some(actor) = self.connections.acting.of(slot.acting).get_mut(side(end) as usize) {
                actor.whole = needs.messages;
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
        let draws = self.connections.draws[self.plan.table(flow)].of(self.plan.number(flow), slot.connection);
        let both = self.connections.endpoints.of(end.connection());
        let log = &mut self.connections.exchanges.log(&mut self.connections.fates.series, slot, both, now);
        let (mut unremembered, side) = (None, side(end));
        let (client, server) = match self.connections.acting.of(slot.acting) {
            [client, server] => (client, server),
            few => {
                let [client, server] = unremembered.insert([Actor::NEW; 2]);
                (few.first_mut().unwrap_or(client), server)
            }
        };
        if let Event::Received(n) = event {
            let actor = if side == Side::Client { &mut *client } else { &mut *server };
            actor.memory.received += n;
        }
        let context =
            &mut Context { now, client: &mut client.memory, server: &mut server.memory, draws, log };
        let actions = application.on(side, event, context);
        let (answered, connection) = (log.count, slot.connection);
        let actor = if side == Side::Client { client } else { server };
        actor.memory.written = actor.memory.written.saturating_add(actions.write);
        if actions.wake != Time::NEVER {
            actor.wake = actions.wake.max(now);
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
        let finished = actions.close && side == Side::Client;
        if (answered > 0 || finished) && self.plan.opener(flow).is_some() {
            let k = self.connections.source_of(flow as u32);
            (0..answered).for_each(|_| self.notify_opener(now, k, OpenerEvent::Answered(connection)));
            if finished {
                self.notify_opener(now, k, OpenerEvent::Finished(connection));
            }
        }
    }

    /// Tells the application at an end what a packet has brought. Whether it was told anything.
    pub(super) fn tell_news(&mut self, now: Time, end: End) -> bool {
        let s = end.connection() as usize;
        let slot = &self.connections.fates.slots[s];
        let (flow, place) = (slot.flow as usize, slot.acting);
        if slot.stage != Stage::Open {
            return false;
        }
        let endpoint = &self.connections.endpoints[end];
        let (state, closed_there) = (endpoint.state(), endpoint.fin_received());
        if state < State::Established {
            return false;
        }
        // A FIN has a number too.
        let next = Seq(endpoint.next_expected().0.wrapping_sub(u32::from(closed_there)));
        let Some(actor) = self.connections.acting.of(place).get_mut(side(end) as usize) else { return false };
        let opened = !std::mem::replace(&mut actor.opened, true);
        let came = u64::from(next - std::mem::replace(&mut actor.next, next));
        let ended = closed_there && !std::mem::replace(&mut actor.ended, true);
        let whole = actor.whole;
        let part = whole && actor.memory.received + came < actor.memory.awaited;
        if part {
            actor.memory.received += came;
        }
        if opened && !whole {
            self.tell(now, end, Event::Opened);
        }
        if came > 0 && !part {
            self.tell(now, end, Event::Received(came));
        }
        if ended {
            self.tell(now, end, Event::PeerClosed);
        }
        if !whole {
            self.tell_of_room(now, end, self.plan.needs(flow, side(end)).unsent);
        }
        !whole || (came > 0 && !part) || ended
    }

    /// Tells the application at an end that fewer bytes wait to be sent than it wants.
    fn tell_of_room(&mut self, now: Time, end: End, wanted: u64) {
        let waiting = self.connections.endpoints[end].outstanding().1;
        if waiting < wanted {
            self.tell(now, end, Event::SendSpace(wanted - waiting));
        }
    }

    /// Wakes the application at an end, if its time has come.
    #[cold]
    pub(super) fn wake(&mut self, now: Time, end: End) {
        let place = self.connections.fates.slots[end.connection() as usize].acting;
        let Some(actor) = self.connections.acting.of(place).get_mut(side(end) as usize) else { return };
        if actor.wake <= now {
            actor.wake = Time::NEVER;
            self.tell(now, end, Event::Woken);
        }
    }

    /// Sees to it that the application at an end is woken in time. (An event of that end that comes earlier is followed by another: so this comes
    /// behind what the end sends, whose timer is mostly earlier.)
    #[cold]
    pub(super) fn rearm(&mut self, end: End) {
        let slot = &self.connections.fates.slots[end.connection() as usize];
        if let Some(actor) = self.connections.acting.get(slot.acting).get(side(end) as usize)
            && slot.stage == Stage::Open
        {
            let (lane, wake) = (self.lanes.end(end), actor.wake);
            if wake < self.events.due(lane) {
                self.events.set(lane, wake);
            }
        }
    }
}
