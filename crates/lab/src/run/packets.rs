//! Path of a packet from the sending endpoint over the hops of its route to the receiving endpoint.

use net::{Direction, End, Fate, InPipe, Packet, Position, Probe, Received, Why};
use tcp::Endpoint;
use units::Time;

use super::{NO_OPTIONS, Simulation, Step};
use crate::build::Hop;
use crate::check::ConnectionCounters;
use crate::slot::Stage;

impl Simulation<'_> {
    /// Process the arrival of a packet at the far end of a link.
    #[inline]
    pub(super) fn link_event(&mut self, now: Time, lane: u32) -> Step {
        let link = &mut self.network.links[lane as usize];
        if link.asks() {
            return self.storing_link_event(now, lane);
        }
        let position = link.deliver(now, &mut self.network.flight);
        let (due, feeder) = (link.due(), link.feeder());
        self.events.set(self.lanes.link(lane), due);
        self.leave_link(now, (lane, feeder), position)
    }

    /// Process the event of a link whose queue stores packets. At the time of the event, the queue
    /// may also have a packet to transmit.
    #[cold]
    pub(super) fn storing_link_event(&mut self, now: Time, lane: u32) -> Step {
        let link = &mut self.network.links[lane as usize];
        link.catch_up(now, &mut self.network.flight, &mut self.connections.records.probe(lane));
        let position = link.deliver(now, &mut self.network.flight);
        let (due, feeder) = (link.next_event(), link.feeder());
        self.events.set(self.lanes.link(lane), due);
        self.leave_link(now, (lane, feeder), position)
    }

    /// Forward a packet that reached the end of a link's pipe. If the link only delays packets,
    /// `feeder` is the index of the previous link, otherwise `None`.
    #[inline(always)]
    fn leave_link(
        &mut self,
        now: Time,
        (lane, feeder): (u32, Option<u32>),
        position: Option<Position>,
    ) -> Step {
        let Some(position) = position else { return Ok(()) };
        if self.observes_stored && self.network.links[lane as usize].stores_packets() {
            let InPipe { entered, arrives, packet } = self.network.flight[position];
            self.observe_link(now, lane, [entered, arrives], &packet);
        }
        let mut packet = self.network.flight[position].packet;
        if let Some(before) = feeder {
            self.network.links[before as usize].delivered_beyond(&packet);
        }
        self.forward(now, &mut packet)
    }

    /// Forward a packet to the next hop of its route. The function is always inlined, because the
    /// function call would slow down the packets on links without wires.
    #[inline(always)]
    pub(super) fn forward(&mut self, now: Time, packet: &mut Packet) -> Step {
        let next = self.network.hops[packet.hop as usize + 1];
        if next.is_end() {
            return self.arrive(now, End::reached(packet.connection, packet.label.direction()), packet);
        }
        if next.is_link() {
            return self.enter(now, packet.hop + 1, packet);
        }
        if let Some(w) = next.wire() {
            return self.enter_wire(now, w, packet);
        }
        if next == Hop::LISTENER {
            return self.arrive_at_listener(now, packet);
        }
        if next == Hop::REAL {
            self.leave(now, packet);
            return Ok(());
        }
        self.sink(now, packet);
        Ok(())
    }

    /// Let a packet enter the link at hop `hop` of its route. If a conditioner precedes the link,
    /// the packet enters the conditioner first.
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Time, hop: u32, packet: &mut Packet) -> Step {
        let [this, next] = self.hops_from(hop);
        let lane = this.link();
        let Some(link) = self.network.links.get_mut(lane as usize) else {
            return self.condition(now, hop, packet);
        };
        let received = link.receive(now, packet, &mut self.connections.records.probe(lane));
        let arrives = match received {
            Received::Admitted(arrives) => arrives,
            Received::Enqueue => {
                self.enqueue(now, hop, packet);
                return Ok(());
            }
            Received::Dropped => return Ok(()),
            Received::Uncounted => return self.enter_counted(now, hop, packet),
        };
        // The code below indexes the list of links once per link, because index operations are a
        // large part of the time per packet.
        let end = End::reached(packet.connection, packet.label.direction());
        if next.only_delays() {
            let next_lane = next.link();
            let next_link = &mut self.network.links[next_lane as usize];
            let arrives_next = next_link.pass_on(arrives, packet);
            if this.delivers_early()
                && arrives_next <= self.horizon
                && next_link.is_empty()
                && self.connections.can_receive_early(end)
            {
                next_link.delivered_beyond(packet);
                self.network.links[lane as usize].delivered_beyond(packet);
                self.observe_links([this, next], [now, arrives, arrives_next], packet);
                return self.deliver_early(arrives_next, end, hop + 1, packet);
            }
            if next_link.put([arrives, arrives_next], hop + 1, packet, &mut self.network.flight) {
                self.events.set(self.lanes.link(next_lane), arrives_next);
            }
            self.observe_links([this, next], [now, arrives, arrives_next], packet);
        } else {
            if this.delivers_early()
                && arrives <= self.horizon
                && link.is_empty()
                && self.connections.can_receive_early(end)
            {
                link.delivered_beyond(packet);
                if this.is_observed() {
                    self.observe_link(now, lane, [now, arrives], packet);
                }
                return self.deliver_early(arrives, end, hop, packet);
            }
            if link.put([now, arrives], hop, packet, &mut self.network.flight) {
                self.events.set(self.lanes.link(lane), arrives);
            }
            if this.is_observed() {
                self.observe_link(now, lane, [now, arrives], packet);
            }
        }
        Ok(())
    }

    /// Observe a packet that the link `first` has admitted and passed on to the link `second`,
    /// which only delays packets. `times` contains the arrival of the packet at the first link, its
    /// arrival at the second link and its arrival at the far end of the second link.
    #[inline(always)]
    fn observe_links(
        &mut self,
        [first, second]: [Hop; 2],
        [now, between, arrives]: [Time; 3],
        packet: &Packet,
    ) {
        if first.is_observed() {
            self.observe_link(now, first.link(), [now, between], packet);
        }
        if second.is_observed() {
            self.observe_link(now, second.link(), [between, arrives], packet);
        }
    }

    /// Let a packet enter a link that does not yet count the packets in its queue. From now on, the
    /// link counts the packets in its queue.
    #[cold]
    fn enter_counted(&mut self, now: Time, hop: u32, packet: &mut Packet) -> Step {
        let lane = self.network.hops[hop as usize].link();
        self.network.links[lane as usize].count(now, &self.network.flight);
        self.enter(now, hop, packet)
    }

    /// Return the hop with index `hop` and the next hop of the route.
    #[inline(always)]
    pub(super) fn hops_from(&self, hop: u32) -> [Hop; 2] {
        let hops = &self.network.hops[hop as usize..hop as usize + 2];
        [hops[0], hops[1]]
    }

    /// Let a packet pass the conditioner before the next link of its route. The conditioner may
    /// drop the packet.
    #[cold]
    pub(super) fn condition(&mut self, now: Time, hop: u32, packet: &mut Packet) -> Step {
        let conditioner = self.network.hops[hop as usize].link() as usize - self.network.links.len();
        let flow = self.connections.records.slots[packet.connection as usize].flow;
        if self.network.conditioners[conditioner].receive(now, flow, packet) {
            return self.enter(now, hop + 1, packet);
        }
        let link = self.network.hops[hop as usize + 1].link();
        self.connections.records.probe(link).fate(now, &Fate::Dropped(*packet, Why::Policed), None);
        Ok(())
    }

    /// Store a packet in the queue of the link at `hop`.
    #[cold]
    pub(super) fn enqueue(&mut self, now: Time, hop: u32, packet: &Packet) {
        let lane = self.network.hops[hop as usize].link();
        let link = &mut self.network.links[lane as usize];
        let flow = self.connections.records.slots[packet.connection as usize].flow;
        let packet = Packet { hop, ..*packet };
        link.enqueue(now, flow, packet, &mut self.network.flight, &mut self.connections.records.probe(lane));
        self.events.set(self.lanes.link(lane), link.next_event());
    }

    /// Deliver a packet to an endpoint whose application receives no events.
    #[inline(always)]
    pub(super) fn arrive(&mut self, now: Time, end: End, packet: &Packet) -> Step {
        if packet.is_damaged() {
            self.discard(now, packet);
            return Ok(());
        }
        let (endpoint, counters) = self.deliver(now, end, packet);
        if !end.is_sender() {
            counters.data_arrives(Direction::Forward, packet, endpoint.uses_ecn());
            if endpoint.peer_closed() {
                endpoint.close();
            }
        }
        self.pump(now, end)
    }

    /// Deliver a packet to an endpoint, and notify its application.
    #[cold]
    pub(super) fn arrive_at_listener(&mut self, now: Time, packet: &Packet) -> Step {
        if packet.is_damaged() {
            self.discard(now, packet);
            return Ok(());
        }
        let direction = packet.label.direction();
        let end = End::reached(packet.connection, direction);
        let (endpoint, counters) = self.deliver(now, end, packet);
        counters.data_arrives(direction, packet, endpoint.uses_ecn());
        let notified = self.notify_of_arrival(now, end);
        self.pump(now, end)?;
        if notified {
            self.rearm(end);
        }
        Ok(())
    }

    /// Pass a packet to an endpoint. Return the endpoint, and the packet counters of its
    /// connection.
    #[inline(always)]
    fn deliver(&mut self, now: Time, end: End, packet: &Packet) -> (&mut Endpoint, &mut ConnectionCounters) {
        if self.observes_hosts {
            self.observe_host(now, end, packet);
        }
        let endpoint = &mut self.connections.endpoints[end];
        let counters = &mut self.connections.records.slots[end.connection() as usize].counters;
        counters.arrived(packet.label.direction());
        if packet.options == 0 {
            endpoint.on_segment(now, &packet.segment, &NO_OPTIONS, packet.ecn);
        } else {
            let options = &mut self.connections.records.options;
            endpoint.on_segment(now, &packet.segment, options.at(packet.options), packet.ecn);
            options.release(packet.options);
        }
        (endpoint, counters)
    }

    /// Send the next packet of a flow of datagrams.
    #[cold]
    pub(super) fn emit(&mut self, now: Time, k: usize) -> Step {
        let s = (self.connections.single + k) as u32;
        let stream = &mut self.connections.datagrams[k];
        let (packet, next) = stream.emit(now, s);
        let slot = &mut self.connections.records.slots[s as usize];
        let mut packet = Packet { label: slot.labels[0], ..packet };
        slot.counters.sent(packet.label.direction());
        match next {
            Some(next) => self.events.set(self.lanes.datagrams(k), next),
            None => slot.stage = Stage::Closed,
        }
        let hop = stream.first_hop;
        if self.observes_hosts {
            self.observe_host(now, End::sender(s), &packet);
        }
        self.enter(now, hop, &mut packet)
    }

    /// Receive a datagram at the end of its route.
    #[cold]
    pub(super) fn sink(&mut self, now: Time, packet: &Packet) {
        if packet.is_damaged() {
            return self.discard(now, packet);
        }
        if self.observes_hosts {
            self.observe_host(now, End::receiver(packet.connection), packet);
        }
        self.connections.records.slots[packet.connection as usize].counters.arrived(packet.label.direction());
        self.connections.datagrams[packet.connection as usize - self.connections.single]
            .received
            .add(now, packet);
        self.release(packet.connection);
    }

    /// Let a packet enter the wire of a link with impairments.
    #[cold]
    pub(super) fn enter_wire(&mut self, now: Time, w: usize, packet: &Packet) -> Step {
        let packet = Packet { hop: packet.hop + 1, ..*packet };
        self.network.wires[w].receive(
            now,
            packet,
            &mut self.connections.records.probe(self.network.impaired[w]),
        );
        self.leave_wire(now, w)
    }

    /// Forward all packets that leave a wire with impairments at the time `now`. A packet may leave
    /// the wire at the same time as it enters.
    #[cold]
    pub(super) fn leave_wire(&mut self, now: Time, w: usize) -> Step {
        while let Some(mut entry) = self.network.wires[w].deliver(now) {
            self.forward(now, &mut entry.packet)?;
        }
        self.events.set(self.lanes.wire(w), self.network.wires[w].due());
        Ok(())
    }

    /// Let a packet leave the network for a real host.
    #[cold]
    fn leave(&mut self, now: Time, packet: &Packet) {
        if packet.is_damaged() {
            return self.discard(now, packet); // the host would discard it
        }
        let slot = &mut self.connections.records.slots[packet.connection as usize];
        slot.counters.arrived(packet.label.direction());
        self.departed.push((now, *packet));
    }

    /// Discard a packet with bit errors at the receiving endpoint (RFC 9293 §3.1).
    #[cold]
    pub(super) fn discard(&mut self, now: Time, packet: &Packet) {
        let last = self.network.hops[packet.hop as usize];
        let link = last.wire().map_or(last.link(), |w| self.network.impaired[w]);
        self.connections.records.probe(link).fate(now, &Fate::Dropped(*packet, Why::Corruption), None);
    }
}
