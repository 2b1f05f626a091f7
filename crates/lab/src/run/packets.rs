//! A packet's way: from the end that sends it over the hops of its route to the end that takes it.

use net::{End, Fate, InPipe, Packet, Place, Probe, Received, Why};
use units::Time;

use super::{NO_OPTIONS, Simulation, Step};
use crate::build::Hop;
use crate::slot::Phase;

impl Simulation<'_> {
    /// A packet reaches the far end of a link.
    #[inline]
    pub(super) fn link_event(&mut self, now: Time, lane: u32) -> Step {
        let link = &mut self.links[lane as usize];
        if link.asks() {
            return self.asking_link_event(now, lane);
        }
        let place = link.deliver(now, &mut self.flight);
        let due = link.due();
        self.events.set(self.lanes.link(lane), due);
        self.reach(now, lane, place)
    }

    /// As [`Simulation::link_event`], of a link whose queue keeps its packets: a time to ask it for one may have come.
    #[cold]
    pub(super) fn asking_link_event(&mut self, now: Time, lane: u32) -> Step {
        let link = &mut self.links[lane as usize];
        link.catch_up(now, &mut self.flight, &mut self.fates.of(lane));
        let place = link.deliver(now, &mut self.flight);
        let due = link.next_event();
        self.events.set(self.lanes.link(lane), due);
        self.reach(now, lane, place)
    }

    /// What was in a link's pipe reaches its far end.
    #[inline(always)]
    pub(super) fn reach(&mut self, now: Time, lane: u32, place: Option<Place>) -> Step {
        let Some(place) = place else { return Ok(()) };
        let link = &self.links[lane as usize];
        let feeder = link.feeder();
        if self.observer.is_some() && link.holds() {
            let InPipe { entered, arrives, packet } = self.flight[place];
            self.observe_link(now, lane, [entered, arrives], &packet);
        }
        let mut packet = self.flight[place].packet;
        if let Some(before) = feeder {
            self.links[before as usize].delivered_beyond(&packet);
        }
        self.forward(now, &mut packet)
    }

    /// A packet goes on to the next hop of its route. (Always inlined: wires use it too, and links alone must not pay.)
    #[inline(always)]
    pub(super) fn forward(&mut self, now: Time, packet: &mut Packet) -> Step {
        let next = self.hops[packet.hop as usize + 1];
        if next.is_end() {
            return self.arrive(now, End::reached(packet.connection, packet.label.way()), packet);
        }
        if next.is_link() {
            self.enter(now, packet.hop + 1, packet);
            return Ok(());
        }
        if let Some(w) = next.wire() {
            return self.enter_wire(now, w, packet);
        }
        self.sink(now, packet);
        Ok(())
    }

    /// A packet enters the queue of the link at `hop` of its route, or the conditioner before one.
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Time, hop: u32, packet: &mut Packet) {
        let [here, next] = self.hops_from(hop);
        let lane = here.link();
        let Some(link) = self.links.get_mut(lane as usize) else { return self.condition(now, hop, packet) };
        let received = link.receive(now, packet, &mut self.fates.of(lane));
        let arrives = match received {
            Received::Admitted(arrives) => arrives,
            Received::Kept => return self.keep(now, hop, packet),
            Received::Dropped => return,
        };
        if next.only_delays() {
            let into = next.link();
            let behind = &mut self.links[into as usize];
            let beyond = behind.pass_on(arrives, packet);
            if behind.put([arrives, beyond], hop + 1, packet, &mut self.flight) {
                self.events.set(self.lanes.link(into), beyond);
            }
            if self.observer.is_some() {
                self.observe_link(now, lane, [now, arrives], packet);
                self.observe_link(now, into, [arrives, beyond], packet);
            }
        } else {
            if link.put([now, arrives], hop, packet, &mut self.flight) {
                self.events.set(self.lanes.link(lane), arrives);
            }
            if self.observer.is_some() {
                self.observe_link(now, lane, [now, arrives], packet);
            }
        }
    }

    /// The hop at an index, and the one behind it.
    #[inline(always)]
    pub(super) fn hops_from(&self, hop: u32) -> [Hop; 2] {
        let hops = &self.hops[hop as usize..hop as usize + 2];
        [hops[0], hops[1]]
    }

    /// A packet comes to the conditioner before the next link of its route, which lets it go on or drops it.
    #[cold]
    pub(super) fn condition(&mut self, now: Time, hop: u32, packet: &mut Packet) {
        let conditioner = self.hops[hop as usize].link() as usize - self.links.len();
        let source = self.fates.slots[packet.connection as usize].flow;
        if self.conditioners[conditioner].receive(now, source, packet) {
            self.enter(now, hop + 1, packet);
        } else {
            let link = self.hops[hop as usize + 1].link();
            self.fates.of(link).fate(now, &Fate::Dropped(*packet, Why::Policed));
        }
    }

    /// The queue of the link at `hop` keeps a packet until it is sent.
    #[cold]
    pub(super) fn keep(&mut self, now: Time, hop: u32, packet: &Packet) {
        let lane = self.hops[hop as usize].link();
        let link = &mut self.links[lane as usize];
        let source = self.fates.slots[packet.connection as usize].flow;
        let packet = Packet { hop, ..*packet };
        link.keep(now, source, packet, &mut self.flight, &mut self.fates.of(lane));
        self.events.set(self.lanes.link(lane), link.next_event());
    }

    /// A packet reaches its endpoint over the last hop of its route.
    #[inline(always)]
    pub(super) fn arrive(&mut self, now: Time, end: End, packet: &Packet) -> Step {
        if packet.is_damaged() {
            self.discard(now, packet);
            return Ok(());
        }
        if self.observer.is_some() {
            self.observe_host(now, end, packet);
        }
        let endpoint = &mut self.endpoints[end];
        let ledger = &mut self.fates.slots[end.connection() as usize].ledger;
        ledger.arrived(packet.label.way());
        if packet.options == 0 {
            endpoint.on_segment(now, &packet.segment, &NO_OPTIONS, packet.ecn);
        } else {
            let options = self.fates.options.take(packet.options);
            endpoint.on_segment(now, &packet.segment, &options, packet.ecn);
        }
        if !end.is_sender() {
            ledger.data_arrives(packet, endpoint.uses_ecn());
            if endpoint.peer_closed() {
                endpoint.close();
            }
        }
        self.pump(now, end)
    }

    /// A flow of datagrams sends its next packet.
    #[cold]
    pub(super) fn emit(&mut self, now: Time, k: usize) {
        let s = (self.lasting + k) as u32;
        let stream = &mut self.streams[k];
        let (packet, next) = stream.emit(now, s);
        let slot = &mut self.fates.slots[s as usize];
        let mut packet = Packet { label: slot.labels[0], ..packet };
        slot.ledger.sent(packet.label.way());
        match next {
            Some(next) => self.events.set(self.lanes.datagrams(k), next),
            None => slot.phase = Phase::Closed,
        }
        let hop = stream.first_hop;
        if self.observer.is_some() {
            self.observe_host(now, End::sender(s), &packet);
        }
        self.enter(now, hop, &mut packet);
    }

    /// A datagram reaches the end of its route over its last hop.
    #[cold]
    pub(super) fn sink(&mut self, now: Time, packet: &Packet) {
        if packet.is_damaged() {
            return self.discard(now, packet);
        }
        if self.observer.is_some() {
            self.observe_host(now, End::receiver(packet.connection), packet);
        }
        self.fates.slots[packet.connection as usize].ledger.arrived(packet.label.way());
        self.streams[packet.connection as usize - self.lasting].received.add(now, packet);
        self.release(packet.connection);
    }

    /// A packet reaches the far end of a link whose wire has impairments.
    #[cold]
    pub(super) fn enter_wire(&mut self, now: Time, w: usize, packet: &Packet) -> Step {
        let packet = Packet { hop: packet.hop + 1, ..*packet };
        self.wires[w].receive(now, packet, &mut self.fates.of(self.impaired[w]));
        self.leave_wire(now, w)
    }

    /// What leaves a wire with impairments now goes on, also what has just come: that is no tie.
    #[cold]
    pub(super) fn leave_wire(&mut self, now: Time, w: usize) -> Step {
        while let Some(mut entry) = self.wires[w].deliver(now) {
            self.forward(now, &mut entry.packet)?;
        }
        self.events.set(self.lanes.wire(w), self.wires[w].due());
        Ok(())
    }

    /// A packet with errors reaches its endpoint, which discards it (RFC 9293 §3.1).
    #[cold]
    pub(super) fn discard(&mut self, now: Time, packet: &Packet) {
        let last = self.hops[packet.hop as usize];
        let link = last.wire().map_or(last.link(), |w| self.impaired[w]);
        self.fates.of(link).fate(now, &Fate::Dropped(*packet, Why::Corruption));
    }
}
