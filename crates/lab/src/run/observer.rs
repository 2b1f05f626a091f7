//! Observation of a run by packet captures and by series.

use net::{End, Link, Packet};
use tcp::Endpoint;
use units::Time;
use wire::Protocol;

use super::{Simulation, memory_checks};
use crate::capture::{CaptureTarget, Captures};
use crate::failure::Failure;
use crate::observed_packet::ObservedPacket;
use crate::senders::Senders;
use crate::series::Snapshot;

impl Simulation<'_> {
    /// Create the captures.
    pub(super) fn capture(&mut self, target: Option<CaptureTarget>) -> Result<(), String> {
        if let Some(target) = target {
            let slots = self.connections.records.slots.len();
            self.captures = Some(Box::new(Captures::begin(self.scenario, self.plan, target, slots)?));
            (self.observes_hosts, self.observes_packets) = (true, true);
            self.observes_stored = self.network.links.iter().any(Link::stores_packets);
            self.observes_only_delays = false;
        }
        Ok(())
    }

    /// Observe a packet that arrived at a link at the time `entered` and reaches the far end at the
    /// time `arrives`. If the queue of the link stores packets, the run calls this function when
    /// the packet reaches the far end. For other links, the run calls this function when the link
    /// admits the packet.
    ///
    /// A run that records only the delays of links, as comparisons do, has a path of its own
    /// without further calls, because the calls take more instructions than the histogram.
    #[inline(never)]
    pub(super) fn observe_link(
        &mut self,
        now: Time,
        link: u32,
        [entered, arrives]: [Time; 2],
        packet: &Packet,
    ) {
        let begins = self.network.links[link as usize].begins(arrives, packet.size);
        let series = &mut self.connections.records.series;
        if self.observes_only_delays && series.add_delay(now, link, [entered, begins]) {
            return;
        }
        self.observe_transmission(now, link, [entered, begins], packet);
    }

    /// Report a packet to all series of links and to the captures.
    #[inline(never)]
    fn observe_transmission(&mut self, now: Time, link: u32, [entered, begins]: [Time; 2], packet: &Packet) {
        let records = &mut self.connections.records;
        let flow = records.slots[packet.connection as usize].flow;
        records.series.on_link(now, link, [entered, begins], flow);
        if self.captures.is_some() {
            self.capture_on_link(now, link, begins, packet);
        }
    }

    /// Capture a packet whose transmission on a link begins at the time `begins`.
    #[cold]
    fn capture_on_link(&mut self, now: Time, link: u32, begins: Time, packet: &Packet) {
        let observed = self.observed_packet(packet);
        self.captures.iter_mut().for_each(|captures| captures.on_link(link, now, begins, &observed));
    }

    /// Observe a packet that the host of an endpoint sends or receives.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_host(&mut self, now: Time, end: End, packet: &Packet) {
        if self.protocol(packet) == Protocol::Tcp {
            self.observe_changes(now, end); // a restart after idle time precedes a segment
        }
        if !self.observes_packets {
            return;
        }
        let observed = self.observed_packet(packet);
        let acked = match observed.protocol {
            Protocol::Tcp => self.connections.endpoints.of(packet.connection).map(Endpoint::acked),
            Protocol::Udp => [0; 2],
        };
        self.captures.iter_mut().for_each(|captures| captures.at_host(now, end, &observed));
        self.connections.records.series.at_host(now, end, &observed, acked);
    }

    /// Observe the state of an endpoint after the endpoint processed a segment, a timer or a
    /// request of its application.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_endpoint(&mut self, now: Time, end: End) {
        let records = &mut self.connections.records;
        let flow = records.slots[end.connection() as usize].flow;
        records.series.at_endpoint(now, end, flow, &self.connections.endpoints[end]);
        self.observe_changes(now, end);
    }

    /// Observe the changes of cwnd and ssthresh of an endpoint since the last call. Changes without
    /// a time occurred at the time `now`.
    fn observe_changes(&mut self, now: Time, end: End) {
        let records = &mut self.connections.records;
        let slot = &records.slots[end.connection() as usize];
        let (of, series) = ([slot.flow, slot.connection], &mut records.series);
        self.connections.endpoints[end]
            .take_cwnd_changes(|change| series.on_cwnd_change(change.at.unwrap_or(now), end, of, &change));
    }

    /// Return a packet with the data that captures and series need about the packet.
    fn observed_packet<'p>(&self, packet: &'p Packet) -> ObservedPacket<'p> {
        let protocol = self.protocol(packet);
        let sent_by = End::reached(packet.connection, packet.label.direction()).opposite();
        ObservedPacket {
            packet,
            protocol,
            options: self.connections.records.options.get(packet.options),
            flow: self.connections.records.slots[packet.connection as usize].flow,
            shift: match protocol {
                Protocol::Tcp => self.connections.endpoints[sent_by].scale(),
                Protocol::Udp => 0,
            },
        }
    }

    /// Return the transport protocol of a packet.
    fn protocol(&self, packet: &Packet) -> Protocol {
        let datagrams = self.connections.single..self.connections.first_arriving_slot();
        if datagrams.contains(&(packet.connection as usize)) { Protocol::Udp } else { Protocol::Tcp }
    }

    /// Take a sample of each sampled series.
    pub(super) fn sample(&mut self, now: Time) -> Result<(), Failure> {
        for &l in &self.sampled {
            self.network.links[l as usize].catch_up(
                now,
                &mut self.network.flight,
                &mut self.connections.records.probe(l),
            );
        }
        let links = &mut self.network.links;
        let series = &mut self.connections.records.series;
        let senders =
            Senders { endpoints: &self.connections.endpoints, real: self.connections.real.as_deref() };
        series.sample(&mut Snapshot { now, links, senders });
        let [sampled, _] = series.bytes();
        memory_checks::check_samples(sampled)
    }
}
