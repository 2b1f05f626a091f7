//! The run: takes events one after the other until the scenario is over, then checks and tables.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use engine::EventQueue;
use impairments::Wire;
use net::{Fate, Flight, InPipe, Inside, Link, OptionStore, Options, Packet, Place, Probe, Violation, Why};
use queues::diffserv::Conditioner;
use queues::{Discipline, Laws, NoLaws};
use tcp::Endpoint;
use tcp::ecn::Mode as EcnMode;
use thiserror::Error;
use traffic::{Bulk, Messages, Size, Traffic};
use units::param::Invalid;
use units::{Bytes, Duration, Time};
use wire::Protocol;

use crate::build::{Built, Draws, Hop, Plan, build, plan, refuse_unknown_laws};
use crate::capture::{self, Captures, Seen};
use crate::delays::Delays;
use crate::effort::Stopwatch;
use crate::record::{FateRecorder, Incidents, Outcome, Transfers};
use crate::sample::{QueueSample, Samples, WindowSample};
use crate::scenario::{Scenario, Series};
use crate::slot::{Phase, Slot};
use crate::source::Source;
use crate::stream::Stream;
use crate::sum::Sum;
use crate::trace::{self, Traces};

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// The scenario is wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Something that must hold does not: a bug.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// Flows that do not end.
    #[error("{0}")]
    Stalled(String),
    /// A capture could not be written.
    #[error("the capture cannot be written: {0}")]
    Capture(String),
    /// It was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}

/// Watches and cancels a run from another thread.
#[derive(Debug, Default)]
pub struct Watch {
    cancel: AtomicBool,
    done: AtomicU64,
}

impl Watch {
    /// Ends the run soon.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Share of the run that is done, between 0 and 1.
    pub fn done(&self) -> f64 {
        f64::from_bits(self.done.load(Ordering::Relaxed))
    }
}

const NO_OPTIONS: Options = Options::NONE;

/// One event's work; its failure is behind a pointer so that success stays in a register.
type Step = Result<(), Box<Violation>>;

/// Events between two looks at the watch.
const LOOK_EVERY: u64 = 1 << 14;
/// Events between two checks of the ledgers; fewer where they are tested.
const CHECK_EVERY: u64 = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 23 };

/// Runs a scenario.
pub fn run(scenario: &Scenario, watch: &Watch) -> Result<Outcome, Failure> {
    run_with(scenario, watch, None, &NoLaws)
}

/// Runs a scenario; writes the captures it asks for into `folder`, which is there, and takes from `laws` those
/// of queues whose kind is `custom`.
pub fn run_with(
    scenario: &Scenario,
    watch: &Watch,
    folder: Option<&Path>,
    laws: &dyn Laws,
) -> Result<Outcome, Failure> {
    let mut stopwatch = Stopwatch::start();
    let plan = plan(scenario)?;
    capture::check(scenario, &plan)?;
    trace::check(scenario, &plan)?;
    refuse_unknown_laws(&plan, laws)?;
    let mut sim = Simulation::new(scenario, &plan, laws);
    sim.observe(folder).map_err(Failure::Capture)?;
    let setup = stopwatch.lap();
    sim.run(watch)?;
    sim.catch_up();
    sim.check()?;
    if let Some(captures) = sim.observer.as_mut().and_then(|o| o.captures.take()) {
        captures.finish(sim.end).map_err(Failure::Capture)?;
    }
    let running = stopwatch.lap();
    watch.done.store(1.0_f64.to_bits(), Ordering::Relaxed);
    Ok(sim.outcome(setup, running))
}

/// A run. Its lanes: the links, the sources, the wires, the streams, the sampler, then two endpoints a slot, whose number grows.
pub(crate) struct Simulation<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) events: EventQueue,
    pub(crate) links: Vec<Link<Discipline>>,
    /// What is in flight on all of them.
    flight: Flight,
    /// The conditioners before the queues of links, in the order of the links.
    pub(crate) conditioners: Vec<Conditioner>,
    pub(crate) wires: Vec<Wire>,
    /// The first lane of the endpoints.
    first_endpoint: u32,
    /// The link before each wire.
    pub(crate) impaired: Vec<u32>,
    pub(crate) endpoints: Vec<Endpoint>,
    /// The slots, and what is told of fates.
    pub(crate) fates: FateRecorder,
    pub(crate) sources: Vec<Source>,
    /// Flows of datagrams; their slots come behind the lasting ones, and their endpoints are never used.
    pub(crate) streams: Vec<Stream>,
    draws: Vec<Draws>,
    /// Options of the segment that is being sent.
    scratch: Options,
    hops: Vec<Hop>,
    /// What was inside each link at the last check.
    pub(crate) insides: Vec<Inside>,
    /// The first slots are those of flows that are one connection.
    pub(crate) lasting: usize,
    /// Slots whose connection is over.
    free: Vec<u32>,
    /// Connections and sources so far, and those that are not over.
    begun: u64,
    open: u64,
    sampled_links: Vec<usize>,
    pub(crate) queue: Samples<QueueSample>,
    pub(crate) window: Samples<WindowSample>,
    pub(crate) transfers: Option<Transfers>,
    /// What is seen packet by packet, where that is asked for.
    pub(crate) observer: Option<Box<Observer>>,
    pub(crate) end: Time,
}

/// What a scenario asks for packet by packet. A run without pays a branch a hop.
#[derive(Debug)]
pub(crate) struct Observer {
    captures: Option<Captures>,
    pub(crate) traces: Option<Traces>,
    pub(crate) delays: Option<Delays>,
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario, plan: &'a Plan, laws: &dyn Laws) -> Self {
        let Built { links, conditioners, wires, mut endpoints, mut slots, sources, streams, draws, hops } =
            build(scenario, plan, laws);
        let before = links.len() + sources.len() + wires.len() + streams.len() + 1;
        let lasting = slots.len();
        let mut events = EventQueue::new(before + endpoints.len() + 2 * streams.len());
        for (k, (stream, first)) in streams.iter().enumerate() {
            slots.push(Slot::of_stream(stream, plan.dscp(stream.flow as usize)));
            let unused = Arc::new(scenario.tcp.clone());
            endpoints.extend([0, 1].map(|_| Endpoint::new(unused.clone(), Duration::ZERO)));
            events.set((before - 1 - streams.len() + k) as u32, first.unwrap_or(Time::NEVER));
        }
        for (s, slot) in slots[..lasting].iter().enumerate() {
            events.set((before + 2 * s) as u32, slot.start);
        }
        let record = &scenario.record;
        let wants = |s: Series| record.series.contains(&s);
        if wants(Series::Queue) || wants(Series::Window) {
            events.set(before as u32 - 1, Time::ZERO);
        }
        let sampled = |name: &str| record.links.is_empty() || record.links.iter().any(|l| l == name);
        let sampled_links = (0..links.len()).filter(|&l| sampled(&plan.links[l].name())).collect();
        let ending = streams.iter().filter(|(stream, first)| stream.ends() && first.is_some()).count();
        let begun = (lasting + sources.len() + ending) as u64;
        let mut sim = Simulation {
            scenario,
            insides: Vec::new(),
            plan,
            conditioners,
            events,
            lasting,
            streams: streams.into_iter().map(|(stream, _)| stream).collect(),
            fates: FateRecorder {
                options: OptionStore::default(),
                over: Vec::new(),
                slots,
                drops: wants(Series::Drops).then(Incidents::default),
                marks: wants(Series::Marks).then(Incidents::default),
            },
            sources: Vec::new(),
            draws,
            scratch: NO_OPTIONS,
            free: Vec::new(),
            begun,
            open: begun,
            first_endpoint: before as u32,
            impaired: plan.impaired(),
            wires,
            links,
            flight: Flight::default(),
            endpoints,
            hops,
            sampled_links,
            queue: Samples::default(),
            window: Samples::default(),
            transfers: wants(Series::Transfers).then(Transfers::default),
            observer: None,
            end: Time::ZERO,
        };
        for (k, (source, start)) in sources.into_iter().enumerate() {
            sim.sources.push(source);
            sim.next_arrival(start, k);
        }
        sim
    }

    /// The first slot of connections that come and go.
    fn first_passing(&self) -> usize {
        self.lasting + self.streams.len()
    }

    /// Begins what is seen packet by packet: captures into a folder, and traces.
    fn observe(&mut self, folder: Option<&Path>) -> Result<(), String> {
        let slots = &self.fates.slots;
        let traces = Traces::begin(self.scenario, self.plan, slots.iter().map(|s| s.flow));
        let captures = match folder {
            Some(folder) => Some(Captures::begin(self.scenario, self.plan, folder, slots.len())?),
            None => None,
        };
        let wanted = self.scenario.record.series.contains(&Series::Delays);
        let delays = wanted.then(|| Delays::of(&self.sampled_links, self.links.len()));
        if captures.is_some() || traces.is_some() || delays.is_some() {
            self.observer = Some(Box::new(Observer { captures, traces, delays }));
        }
        Ok(())
    }

    /// A packet that came at `entered` was admitted to a link, at whose far end it arrives at `arrives`. From a queue
    /// that keeps its packets it is seen when it arrives there.
    #[cold]
    #[inline(never)]
    fn observe_link(&mut self, now: Time, link: u32, [entered, arrives]: [Time; 2], packet: &Packet) {
        let begins = self.links[link as usize].begins(arrives, packet.size);
        if let Some(delays) = self.observer.as_mut().and_then(|o| o.delays.as_mut()) {
            delays.add(link, begins.since(entered));
        }
        let (seen, observer) = self.seen(packet);
        if let Some(captures) = observer.and_then(|o| o.captures.as_mut()) {
            captures.on_link(link, now, begins, &seen);
        }
    }

    /// A host sends (0) or receives (1) a packet.
    #[cold]
    #[inline(never)]
    fn observe_host(&mut self, now: Time, received: u8, packet: &Packet) {
        let acked = self.endpoints[2 * packet.flow as usize].acked();
        let (seen, observer) = self.seen(packet);
        let Some(observer) = observer else { return };
        if let Some(captures) = &mut observer.captures {
            captures.at_host(now, received, &seen);
        }
        if packet.label.way() == received
            && seen.protocol == Protocol::Tcp
            && let Some(traces) = &mut observer.traces
        {
            traces.segment(now, received == 1, &seen, acked);
        }
    }

    /// An endpoint was told of a segment, of time, or of its application's wishes.
    #[cold]
    #[inline(never)]
    fn observe_endpoint(&mut self, now: Time, e: u32) {
        let traces = self.observer.as_mut().and_then(|o| o.traces.as_mut());
        if let Some(traces) = traces.filter(|_| e.is_multiple_of(2)) {
            let flow = self.fates.slots[(e / 2) as usize].flow;
            traces.measured(now, e / 2, flow, &self.endpoints[e as usize]);
        }
    }

    fn seen<'p>(&mut self, packet: &'p Packet) -> (Seen<'p>, Option<&mut Observer>) {
        let datagrams = self.lasting..self.first_passing();
        let protocol =
            if datagrams.contains(&(packet.flow as usize)) { Protocol::Udp } else { Protocol::Tcp };
        let seen = Seen {
            packet,
            protocol,
            options: self.fates.options.get(packet.options),
            flow: self.fates.slots[packet.flow as usize].flow,
            shift: self.endpoints[2 * packet.flow as usize + usize::from(packet.label.way())].scale(),
        };
        (seen, self.observer.as_deref_mut())
    }

    fn run(&mut self, watch: &Watch) -> Result<(), Failure> {
        let (links, endpoints) = (self.links.len() as u32, self.first_endpoint);
        let wires = links + self.sources.len() as u32;
        let streams = wires + self.wires.len() as u32;
        let limit = Time::ZERO + self.scenario.duration.unwrap_or(self.scenario.time_limit);
        while self.open > 0 || self.scenario.duration.is_some() {
            let Some((now, lane)) = self.events.pop() else { break };
            if now > limit {
                break;
            }
            self.end = now;
            if lane < links {
                self.link_event(now, lane).map_err(|v| *v)?;
            } else if lane >= endpoints {
                self.endpoint_event(now, lane - endpoints).map_err(|v| *v)?;
            } else if lane < wires {
                self.arrival(now, (lane - links) as usize).map_err(|v| *v)?;
            } else if lane < streams {
                self.leave_wire(now, (lane - wires) as usize).map_err(|v| *v)?;
            } else if lane < endpoints - 1 {
                self.emit(now, lane, (lane - streams) as usize);
            } else {
                self.sample(now);
                self.events.set(lane, now + self.scenario.record.interval);
            }
            if !self.fates.over.is_empty() {
                self.release_over();
            }
            if self.events.events().is_multiple_of(LOOK_EVERY) {
                self.look(watch)?;
            }
        }
        if self.scenario.duration.is_some() {
            self.end = limit;
        } else if self.open > 0 {
            let what = if self.sources.is_empty() { "flows" } else { "connections and arrivals" };
            return Err(Failure::Stalled(format!(
                "{} of {} {what} had not closed at {}; raise time_limit, or set a duration",
                self.open, self.begun, self.end
            )));
        }
        Ok(())
    }

    /// Makes up for what queues that keep packets would have done by the end.
    fn catch_up(&mut self) {
        for (l, link) in self.links.iter_mut().enumerate() {
            link.catch_up(self.end, &mut self.flight, &mut self.fates.of(l as u32));
        }
        self.release_over();
        if self.observer.is_some() {
            for lane in 0..self.links.len() {
                let link = &self.links[lane];
                let begun: Vec<InPipe> = link.pipe(&self.flight).filter(|_| link.holds()).copied().collect();
                begun.iter().for_each(|e| {
                    self.observe_link(self.end, lane as u32, [e.entered, e.arrives], &e.packet)
                });
            }
        }
    }

    fn look(&mut self, watch: &Watch) -> Result<(), Failure> {
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        let captures = self.observer.as_ref().and_then(|o| o.captures.as_ref());
        if let Some(failure) = captures.and_then(Captures::failure) {
            return Err(Failure::Capture(failure));
        }
        if self.events.events().is_multiple_of(LOOK_EVERY << 6) {
            let done = match self.scenario.duration {
                Some(d) => self.end.seconds() / d.seconds(),
                None => self.share_done(),
            };
            watch.done.store(done.to_bits(), Ordering::Relaxed);
        }
        if self.events.events().is_multiple_of(CHECK_EVERY) {
            self.check()?;
        }
        Ok(())
    }

    /// The mean over flows of what is done of each.
    fn share_done(&self) -> f64 {
        let of = |(s, slot): (usize, &Slot)| match self.plan.traffic(slot.flow as usize) {
            _ if slot.phase == Phase::Closed => 1.0,
            Traffic::Bulk(Bulk { size: Some(_) }) => {
                let size = self.size(slot).map_or(1, |s| s.0);
                self.endpoints[2 * s].acked() as f64 / size as f64
            }
            Traffic::Messages(Messages { messages: Some(n), .. }) => f64::from(slot.messages) / *n as f64,
            _ => 0.0,
        };
        let arrived = |source: &Source| {
            let most = self.plan.arrivals(source.flow as usize).and_then(|a| a.connections);
            most.map_or(0.0, |n| f64::from(source.opened) / n as f64)
        };
        let lasting = self.fates.slots[..self.lasting].iter().enumerate().map(of);
        let streams = self.streams.iter().map(Stream::share_done);
        let all: f64 = lasting.chain(self.sources.iter().map(arrived)).chain(streams).sum();
        all / self.plan.flows() as f64
    }

    /// The size of what a connection writes next; `None`: without end.
    fn size(&self, slot: &Slot) -> Option<Bytes> {
        let flow = slot.flow as usize;
        let size = match self.plan.traffic(flow) {
            Traffic::Bulk(bulk) => bulk.size.as_ref()?,
            Traffic::Messages(messages) => &messages.size,
            _ => return None,
        };
        if let Size::Fixed(size) = size {
            return Some(*size);
        }
        let index = [self.plan.number(flow), slot.connection, slot.messages];
        Some(size.draw(self.draws[self.plan.table(flow)].sizes.uniform(index)))
    }

    /// A connection of a source begins.
    fn arrival(&mut self, now: Time, k: usize) -> Step {
        let source = &mut self.sources[k];
        let slot = Slot::new(source.flow, source.opened, source.first_hop, now, source.dscp);
        let [sender, receiver] = source.endpoints();
        source.opened += 1;
        self.begun += 1;
        self.open += 1;
        let s = match self.free.pop() {
            Some(s) => {
                self.fates.slots[s as usize] = slot;
                self.endpoints[2 * s as usize] = sender;
                self.endpoints[2 * s as usize + 1] = receiver;
                s
            }
            None => {
                self.fates.slots.push(slot);
                self.endpoints.extend([sender, receiver]);
                self.events.grow(self.first_endpoint as usize + self.endpoints.len());
                self.fates.slots.len() as u32 - 1
            }
        };
        if let Some(captures) = self.observer.as_mut().and_then(|o| o.captures.as_mut()) {
            captures.opened(s);
        }
        self.next_arrival(now, k);
        self.application(now, s);
        self.pump(now, 2 * s)
    }

    /// Sets the next arrival of a source after `now`, or ends it.
    fn next_arrival(&mut self, now: Time, k: usize) {
        let source = &self.sources[k];
        let flow = source.flow as usize;
        let Some(arrivals) = self.plan.arrivals(flow) else { return };
        if arrivals.connections.is_some_and(|most| u64::from(source.opened) >= most) {
            self.open -= 1;
            return;
        }
        let index = [self.plan.number(flow), source.opened, 0];
        let [u, _] = self.draws[self.plan.table(flow)].arrivals.uniform(index);
        let lane = (self.links.len() + k) as u32;
        self.events.set(lane, now + arrivals.spacing.draw(arrivals.interval, u));
    }

    /// A packet reaches the far end of a link.
    #[inline]
    fn link_event(&mut self, now: Time, lane: u32) -> Step {
        let link = &mut self.links[lane as usize];
        if link.asks() {
            return self.asking_link_event(now, lane);
        }
        let place = link.deliver(now, &mut self.flight);
        let due = link.due();
        self.events.set(lane, due);
        self.reach(now, lane, place)
    }

    /// As [`Simulation::link_event`], of a link whose queue keeps its packets: a time to ask it for one may have come.
    #[cold]
    fn asking_link_event(&mut self, now: Time, lane: u32) -> Step {
        let link = &mut self.links[lane as usize];
        link.catch_up(now, &mut self.flight, &mut self.fates.of(lane));
        let place = link.deliver(now, &mut self.flight);
        let due = link.next_event();
        self.events.set(lane, due);
        self.reach(now, lane, place)
    }

    /// What was in a link's pipe reaches its far end.
    #[inline(always)]
    fn reach(&mut self, now: Time, lane: u32, place: Option<Place>) -> Step {
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
    fn forward(&mut self, now: Time, packet: &mut Packet) -> Step {
        let next = self.hops[packet.hop as usize + 1];
        if next.is_end() {
            // From the sender, way 0, to endpoint 2f + 1; from the receiver to 2f.
            return self.arrive(now, 2 * packet.flow + 1 - u32::from(packet.label.way()), packet);
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

    /// A flow of datagrams sends its next packet.
    #[cold]
    fn emit(&mut self, now: Time, lane: u32, k: usize) {
        let s = (self.lasting + k) as u32;
        let stream = &mut self.streams[k];
        let (packet, next) = stream.emit(now, s);
        let slot = &mut self.fates.slots[s as usize];
        let mut packet = Packet { label: slot.labels[0], ..packet };
        slot.ledger.sent(packet.label.way());
        match next {
            Some(next) => self.events.set(lane, next),
            None => slot.phase = Phase::Closed,
        }
        let hop = stream.first_hop;
        if self.observer.is_some() {
            self.observe_host(now, 0, &packet);
        }
        self.enter(now, hop, &mut packet);
    }

    /// A datagram reaches the end of its route over its last hop.
    #[cold]
    fn sink(&mut self, now: Time, packet: &Packet) {
        if packet.is_damaged() {
            return self.discard(now, packet);
        }
        if self.observer.is_some() {
            self.observe_host(now, 1, packet);
        }
        self.fates.slots[packet.flow as usize].ledger.arrived(packet.label.way());
        self.streams[packet.flow as usize - self.lasting].received.add(now, packet);
        self.release(packet.flow);
    }

    /// A packet reaches the far end of a link whose wire has impairments.
    #[cold]
    fn enter_wire(&mut self, now: Time, w: usize, packet: &Packet) -> Step {
        let packet = Packet { hop: packet.hop + 1, ..*packet };
        self.wires[w].receive(now, packet, &mut self.fates.of(self.impaired[w]));
        self.leave_wire(now, w)
    }

    /// What leaves a wire with impairments now goes on, also what has just come: that is no tie.
    #[cold]
    fn leave_wire(&mut self, now: Time, w: usize) -> Step {
        while let Some(mut entry) = self.wires[w].deliver(now) {
            self.forward(now, &mut entry.packet)?;
        }
        let lane = (self.links.len() + self.sources.len() + w) as u32;
        self.events.set(lane, self.wires[w].due());
        Ok(())
    }

    /// A packet with errors reaches its endpoint, which discards it (RFC 9293 §3.1).
    #[cold]
    fn discard(&mut self, now: Time, packet: &Packet) {
        let last = self.hops[packet.hop as usize];
        let link = last.wire().map_or(last.link(), |w| self.impaired[w]);
        self.fates.of(link).fate(now, &Fate::Dropped(*packet, Why::Corruption));
    }

    /// A packet enters the queue of the link at `hop` of its route, or the conditioner before one.
    #[inline(always)]
    fn enter(&mut self, now: Time, hop: u32, packet: &mut Packet) {
        let [here, next] = self.hops_from(hop);
        let lane = here.link();
        let Some(link) = self.links.get_mut(lane as usize) else { return self.condition(now, hop, packet) };
        let received = link.receive(now, packet, &mut self.fates.of(lane));
        let Some(arrives) = received else { return self.keep(now, hop, packet) };
        if next.only_delays() {
            let into = next.link();
            let behind = &mut self.links[into as usize];
            let beyond = behind.pass_on(arrives, packet);
            if behind.put([arrives, beyond], hop + 1, packet, &mut self.flight) {
                self.events.set(into, beyond);
            }
            if self.observer.is_some() {
                self.observe_link(now, lane, [now, arrives], packet);
                self.observe_link(now, into, [arrives, beyond], packet);
            }
        } else {
            if link.put([now, arrives], hop, packet, &mut self.flight) {
                self.events.set(lane, arrives);
            }
            if self.observer.is_some() {
                self.observe_link(now, lane, [now, arrives], packet);
            }
        }
    }

    /// The hop at an index, and the one behind it.
    #[inline(always)]
    fn hops_from(&self, hop: u32) -> [Hop; 2] {
        let hops = &self.hops[hop as usize..hop as usize + 2];
        [hops[0], hops[1]]
    }

    /// A packet comes to the conditioner before the next link of its route, which lets it go on or drops it.
    #[cold]
    fn condition(&mut self, now: Time, hop: u32, packet: &mut Packet) {
        let conditioner = self.hops[hop as usize].link() as usize - self.links.len();
        let source = self.fates.slots[packet.flow as usize].flow;
        if self.conditioners[conditioner].receive(now, source, packet) {
            self.enter(now, hop + 1, packet);
        } else {
            let link = self.hops[hop as usize + 1].link();
            self.fates.of(link).fate(now, &Fate::Dropped(*packet, Why::Policed));
        }
    }

    /// A packet was not admitted to the link at `hop`: it is dropped, or its queue keeps it until it is sent.
    #[cold]
    fn keep(&mut self, now: Time, hop: u32, packet: &Packet) {
        let lane = self.hops[hop as usize].link();
        let link = &mut self.links[lane as usize];
        if link.holds() {
            let source = self.fates.slots[packet.flow as usize].flow;
            let packet = Packet { hop, ..*packet };
            link.keep(now, source, packet, &mut self.flight, &mut self.fates.of(lane));
            self.events.set(lane, link.next_event());
        }
    }

    /// A packet reaches its endpoint over the last hop of its route.
    #[inline(always)]
    fn arrive(&mut self, now: Time, e: u32, packet: &Packet) -> Step {
        if packet.is_damaged() {
            self.discard(now, packet);
            return Ok(());
        }
        if self.observer.is_some() {
            self.observe_host(now, 1, packet);
        }
        let endpoint = &mut self.endpoints[e as usize];
        let ledger = &mut self.fates.slots[(e / 2) as usize].ledger;
        ledger.arrived(packet.label.way());
        if packet.options == 0 {
            endpoint.on_segment(now, &packet.segment, &NO_OPTIONS, packet.ecn);
        } else {
            let options = self.fates.options.take(packet.options);
            endpoint.on_segment(now, &packet.segment, &options, packet.ecn);
        }
        // The receiver (odd) is reached by the data direction.
        if e % 2 == 1 {
            ledger.data_arrives(packet, endpoint.uses_ecn());
            if endpoint.peer_closed() {
                endpoint.close();
            }
        }
        self.pump(now, e)
    }

    /// An application does something, or a timer expires.
    fn endpoint_event(&mut self, now: Time, e: u32) -> Step {
        let slot = &self.fates.slots[(e / 2) as usize];
        if slot.phase == Phase::Free {
            return Ok(()); // a timer of the connection that was there
        }
        if e.is_multiple_of(2) && slot.wake == now {
            self.application(now, e / 2);
        }
        if self.endpoints[e as usize].deadline() <= now {
            self.endpoints[e as usize].on_timer(now);
        }
        self.pump(now, e)
    }

    /// What the application at the sending end of a connection does when its time has come: opens it,
    /// or writes a message.
    fn application(&mut self, now: Time, s: u32) {
        let plan = self.plan;
        let slot = &self.fates.slots[s as usize];
        let opens = slot.phase == Phase::Waiting;
        let traffic = plan.traffic(slot.flow as usize);
        let writes = match traffic {
            Traffic::Bulk(_) => Some(self.size(slot).map_or(u64::MAX, |size| size.0)),
            Traffic::Messages(_) if opens => None,
            _ => self.size(slot).map(|size| size.0),
        };
        let slot = &mut self.fates.slots[s as usize];
        slot.messages += u32::from(!opens);
        let (ends, wake) = match traffic {
            Traffic::Bulk(bulk) => (bulk.size.is_some(), Time::NEVER),
            Traffic::Messages(m) if m.messages == Some(u64::from(slot.messages)) => (true, Time::NEVER),
            Traffic::Messages(m) => {
                let flow = slot.flow as usize;
                let index = [plan.number(flow), slot.connection, slot.messages];
                let [u, _] = self.draws[plan.table(flow)].messages.uniform(index);
                (false, now + m.spacing.draw(m.interval, u))
            }
            _ => (false, Time::NEVER), // datagrams have no connection
        };
        (slot.wake, slot.phase) = (wake, Phase::Open);
        let [sender, receiver] = &mut self.endpoints[2 * s as usize..][..2] else { return };
        if opens {
            receiver.listen();
            sender.connect();
        }
        sender.write(writes.unwrap_or(0));
        if ends {
            sender.close();
        }
    }

    /// Sends what an endpoint has to send, and sees to its timer.
    #[inline]
    fn pump(&mut self, now: Time, e: u32) -> Step {
        if self.observer.is_some() {
            self.observe_endpoint(now, e);
        }
        let s = e / 2;
        let way = (e % 2) as u8;
        let endpoint = loop {
            let endpoint = &mut self.endpoints[e as usize];
            let Some((segment, ecn)) = endpoint.poll(now, &mut self.scratch) else { break &*endpoint };
            let slot = &mut self.fates.slots[s as usize];
            slot.ledger.sent(way);
            if way == 1
                && endpoint.ecn_mode() == EcnMode::Classic
                && let Some(what) = slot.ledger.ack_leaves(segment.flags)
            {
                return Err(Box::new(self.violation(now, self.place(s), what)));
            }
            let (hop, label) = (slot.first_hop[usize::from(way)], slot.labels[usize::from(way)]);
            let size = endpoint.wire_size(&segment, &self.scratch);
            let options = if endpoint.has_options() { self.fates.options.keep(&self.scratch) } else { 0 };
            let mut packet = Packet { flow: s, size, ecn, label, hop, options, segment };
            if self.observer.is_some() {
                self.observe_host(now, 0, &packet);
            }
            self.enter(now, hop, &mut packet);
        };
        let lane = self.first_endpoint + e;
        let closed = endpoint.is_closed();
        let slot = &mut self.fates.slots[s as usize];
        let mut deadline = endpoint.deadline();
        if way == 0 {
            deadline = deadline.min(slot.wake);
        }
        // Lazy: an event that is too early is kept, and sets itself again when it comes.
        if deadline < self.events.due(lane) {
            self.events.set(lane, deadline);
        }
        if closed {
            self.after_close(now, e);
        }
        Ok(())
    }

    /// An end is closed: if it gave up, so is the other, to whom nobody speaks any more.
    #[cold]
    fn after_close(&mut self, now: Time, e: u32) {
        if self.endpoints[e as usize].error().is_some() {
            self.endpoints[(e ^ 1) as usize].forget(now);
        }
        if self.endpoints[(e ^ 1) as usize].is_closed() {
            let slot = &mut self.fates.slots[(e / 2) as usize];
            if slot.phase == Phase::Open {
                slot.phase = Phase::Closed;
                self.open -= 1;
            }
            self.release(e / 2);
        }
    }

    /// Frees the slot of a connection of a source that is closed and has no packet under way any more:
    /// so no late packet meets a new connection.
    #[cold]
    fn release(&mut self, s: u32) {
        let slot = &self.fates.slots[s as usize];
        if slot.phase == Phase::Closed && slot.ledger.is_settled() && s as usize >= self.lasting {
            if (s as usize) < self.first_passing() {
                self.fates.slots[s as usize].phase = Phase::Free;
                self.open -= 1;
                return;
            }
            self.count(s);
            self.fates.slots[s as usize].phase = Phase::Free;
            self.free.push(s);
        }
    }

    /// Frees the slots of connections whose last packet was dropped.
    #[cold]
    fn release_over(&mut self) {
        while let Some(s) = self.fates.over.pop() {
            self.release(s);
        }
    }

    /// What the connection in a slot counted.
    pub(crate) fn sum(&self, s: usize) -> Sum {
        Sum::of(&self.fates.slots[s], &self.endpoints[2 * s], &self.endpoints[2 * s + 1])
    }

    /// Counts a connection of a source, the last time that it is seen.
    fn count(&mut self, s: u32) {
        let sum = self.sum(s as usize);
        let flow = self.fates.slots[s as usize].flow;
        let source = self.sources.partition_point(|source| source.flow < flow);
        self.sources[source].count(&sum);
        if let Some(transfers) = &mut self.transfers {
            transfers.push(flow, &sum);
        }
    }

    /// Counts the connections of sources that are not over when the run ends.
    pub(crate) fn count_the_rest(&mut self) {
        for s in self.first_passing()..self.fates.slots.len() {
            if self.fates.slots[s].phase != Phase::Free {
                self.count(s as u32);
            }
        }
    }

    fn sample(&mut self, now: Time) {
        let series = &self.scenario.record.series;
        if series.contains(&Series::Queue) {
            for &l in &self.sampled_links {
                self.links[l].catch_up(now, &mut self.flight, &mut self.fates.of(l as u32));
            }
            let links = &mut self.links;
            self.queue.take(now, self.sampled_links.iter().map(|&l| QueueSample::of(&mut links[l], now)));
        }
        if series.contains(&Series::Window) {
            let endpoints = &self.endpoints;
            self.window.take(now, (0..self.lasting).map(|s| WindowSample::of(&endpoints[2 * s])));
        }
    }

    /// The links whose queue is sampled, as codes of their names.
    pub(crate) fn sampled_links(&self) -> Vec<u32> {
        self.sampled_links.iter().map(|&l| l as u32).collect()
    }

    fn place(&self, s: u32) -> String {
        format!("flow {}", self.plan.name(self.fates.slots[s as usize].flow as usize))
    }

    fn violation(&self, at: Time, place: String, what: impl Into<String>) -> Violation {
        Violation { at, place, what: what.into() }
    }

    /// Holds every ledger against what is there.
    fn check(&mut self) -> Result<(), Failure> {
        let now = self.end;
        let mut insides = vec![Inside::default(); self.links.len()];
        for link in &self.links {
            for entry in link.pipe(&self.flight) {
                let p = &entry.packet;
                // As if it arrived now; taken back below.
                self.fates.slots[p.flow as usize].ledger.arrived(p.label.way());
                if let Some(before) = link.feeder() {
                    self.links[before as usize].locate(entry, true, now, &mut insides[before as usize]);
                }
            }
        }
        for (link, inside) in self.links.iter().zip(&mut insides) {
            link.locate_all(&self.flight, now, inside);
            link.locate_held(inside, |p| self.fates.slots[p.flow as usize].ledger.arrived(p.label.way()));
        }
        for entry in self.wires.iter().flat_map(Wire::inside) {
            self.fates.slots[entry.packet.flow as usize].ledger.arrived(entry.packet.label.way());
        }
        for (w, wire) in self.wires.iter().enumerate() {
            let place = || format!("wire {}", self.plan.links[self.impaired[w] as usize].name());
            wire.check().map_err(|what| self.violation(now, place(), what))?;
        }
        for (l, link) in self.links.iter_mut().enumerate() {
            let violation = |what| {
                let place = format!("link {}", self.plan.links[l].name());
                Failure::Violation(Violation { at: now, place, what })
            };
            link.ledger().check(&insides[l], now).map_err(violation)?;
            let (waits, says) = (insides[l].waiting.packets, link.backlog(now).packets);
            if link.feeder().is_none() && u64::from(says) != waits {
                return Err(violation(format!("{waits} packets wait and the queue says {says}")));
            }
        }
        for (s, slot) in self.fates.slots.iter().enumerate() {
            slot.ledger.check().map_err(|what| self.violation(now, self.place(s as u32), what))?;
        }
        let mut back = |p: &Packet| self.fates.slots[p.flow as usize].ledger.sent(p.label.way());
        for link in &self.links {
            link.pipe(&self.flight).for_each(|entry| back(&entry.packet));
            link.locate_held(&mut Inside::default(), &mut back);
        }
        self.wires.iter().flat_map(Wire::inside).for_each(|entry| back(&entry.packet));
        for (conditioner, l) in self.conditioners.iter().zip(self.plan.conditioned()) {
            let place = || format!("conditioner of link {}", self.plan.links[l as usize].name());
            let arrived = self.links[l as usize].ledger().arrived;
            conditioner.check(arrived).map_err(|what| self.violation(now, place(), what))?;
        }
        self.insides = insides;
        Ok(())
    }
}
