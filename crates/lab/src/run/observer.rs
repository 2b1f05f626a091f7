//! What is seen of a run while it goes on: captures, traces, delays and samples.

use std::path::Path;

use net::{End, Packet};
use tcp::Endpoint;
use units::Time;
use wire::Protocol;

use super::{Failure, Simulation};
use crate::capture::{Captures, Seen};
use crate::memory;
use crate::scenario::Series;
use crate::series::{Delays, QueueSample, Traces, WindowSample};

/// What a scenario asks for packet by packet. A run without pays a branch a hop.
#[derive(Debug)]
pub(crate) struct Observer {
    pub(super) captures: Option<Captures>,
    pub(crate) traces: Option<Traces>,
    pub(crate) delays: Option<Delays>,
}

impl Simulation<'_> {
    /// Begins what is seen packet by packet: captures into a folder, and traces.
    pub(super) fn observe(&mut self, folder: Option<&Path>) -> Result<(), String> {
        let slots = &self.connections.fates.slots;
        let traces = Traces::begin(self.scenario, self.plan, slots.iter().map(|s| s.flow));
        let captures = match folder {
            Some(folder) => Some(Captures::begin(self.scenario, self.plan, folder, slots.len())?),
            None => None,
        };
        let series = &self.scenario.record.series;
        let wanted = [Series::Delays, Series::Waits].iter().any(|wait| series.contains(wait));
        let delays = wanted.then(|| Delays::of(&self.sampled_links, self.network.links.len()));
        if captures.is_some() || traces.is_some() || delays.is_some() {
            self.observer = Some(Box::new(Observer { captures, traces, delays }));
        }
        Ok(())
    }

    /// A packet that came at `entered` was admitted to a link, at whose far end it arrives at `arrives`. From a queue
    /// that keeps its packets it is seen when it arrives there.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_link(
        &mut self,
        now: Time,
        link: u32,
        [entered, arrives]: [Time; 2],
        packet: &Packet,
    ) {
        let begins = self.network.links[link as usize].begins(arrives, packet.size);
        if let Some(delays) = self.observer.as_mut().and_then(|o| o.delays.as_mut()) {
            delays.add(now, link, [entered, begins]);
        }
        let (seen, observer) = self.seen(packet);
        if let Some(captures) = observer.and_then(|o| o.captures.as_mut()) {
            captures.on_link(link, now, begins, &seen);
        }
    }

    /// The host of an end sends or receives a packet.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_host(&mut self, now: Time, end: End, packet: &Packet) {
        let protocol = self.protocol(packet);
        let acked = match protocol {
            Protocol::Tcp => self.connections.endpoints.of(packet.connection).map(Endpoint::acked),
            Protocol::Udp => [0; 2],
        };
        let (seen, observer) = self.seen(packet);
        let Some(observer) = observer else { return };
        if let Some(captures) = &mut observer.captures {
            captures.at_host(now, end, &seen);
        }
        if end.is_sender()
            && protocol == Protocol::Tcp
            && let Some(traces) = &mut observer.traces
        {
            traces.segment(now, packet.label.way() != end.sends(), &seen, acked);
        }
    }

    /// An endpoint was told of a segment, of time, or of its application's wishes.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_endpoint(&mut self, now: Time, end: End) {
        let traces = self.observer.as_mut().and_then(|o| o.traces.as_mut());
        if let Some(traces) = traces.filter(|_| end.is_sender()) {
            let flow = self.connections.fates.slots[end.connection() as usize].flow;
            traces.measured(now, end.connection(), flow, &self.connections.endpoints[end]);
        }
    }

    pub(super) fn seen<'p>(&mut self, packet: &'p Packet) -> (Seen<'p>, Option<&mut Observer>) {
        let protocol = self.protocol(packet);
        let sent_by = End::reached(packet.connection, packet.label.way()).opposite();
        let seen = Seen {
            packet,
            protocol,
            options: self.connections.fates.options.get(packet.options),
            flow: self.connections.fates.slots[packet.connection as usize].flow,
            shift: match protocol {
                Protocol::Tcp => self.connections.endpoints[sent_by].scale(),
                Protocol::Udp => 0,
            },
        };
        (seen, self.observer.as_deref_mut())
    }

    fn protocol(&self, packet: &Packet) -> Protocol {
        let datagrams = self.connections.lasting..self.connections.first_passing();
        if datagrams.contains(&(packet.connection as usize)) { Protocol::Udp } else { Protocol::Tcp }
    }

    pub(super) fn sample(&mut self, now: Time) -> Result<(), Failure> {
        let series = &self.scenario.record.series;
        if series.contains(&Series::Queue) {
            for &l in &self.sampled_links {
                self.network.links[l].catch_up(
                    now,
                    &mut self.network.flight,
                    &mut self.connections.fates.of(l as u32),
                );
            }
            let links = &mut self.network.links;
            let n = self.sampled_links.len();
            self.queue.take(now, n, self.sampled_links.iter().map(|&l| QueueSample::of(&mut links[l], now)));
        }
        if series.contains(&Series::Window) {
            let (endpoints, lasting) = (&self.connections.endpoints, self.connections.lasting);
            self.window.take(
                now,
                lasting,
                (0..lasting).map(|s| WindowSample::of(&endpoints[End::sender(s as u32)])),
            );
        }
        memory::check_taken(self.queue.len(), self.window.len())
    }

    /// The links whose queue is sampled, as codes of their names.
    pub(crate) fn sampled_links(&self) -> Vec<u32> {
        self.sampled_links.iter().map(|&l| l as u32).collect()
    }
}
