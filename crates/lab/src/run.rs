//! The run: takes events one after the other until the scenario is over, then checks and tables.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use engine::EventQueue;
use net::{Fifo, InPipe, Inside, Label, Link, Packet, Violation};
use queues::Discipline;
use tcp::Endpoint;
use thiserror::Error;
use traffic::Traffic;
use units::Time;
use units::param::Invalid;

use crate::build::{Built, Hop, Plan, build, plan};
use crate::check::FlowLedger;
use crate::effort::Stopwatch;
use crate::record::{FateRecorder, Incidents, Outcome};
use crate::scenario::{Scenario, Series};
use crate::tables::Samples;

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

/// One event's work; its failure is behind a pointer so that success stays in a register.
type Step = Result<(), Box<Violation>>;

/// Events between two looks at the watch.
const LOOK_EVERY: u64 = 1 << 14;
/// Events between two checks of the ledgers.
const CHECK_EVERY: u64 = 1 << 23;

/// Runs a scenario.
pub fn run(scenario: &Scenario, watch: &Watch) -> Result<Outcome, Failure> {
    let mut stopwatch = Stopwatch::start();
    let plan = plan(scenario)?;
    let mut sim = Simulation::new(scenario, &plan);
    let setup = stopwatch.lap();
    sim.run(watch)?;
    sim.catch_up();
    sim.check()?;
    let running = stopwatch.lap();
    watch.done.store(1.0_f64.to_bits(), Ordering::Relaxed);
    Ok(sim.outcome(setup, running))
}

pub(crate) struct Simulation<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) events: EventQueue,
    pub(crate) links: Vec<Link<Discipline>>,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) starts: Vec<Time>,
    hops: Vec<Hop>,
    first_hop: Vec<u32>,
    /// Whether each link only delays.
    delays: Vec<bool>,
    /// What was inside each link at the last check.
    pub(crate) insides: Vec<Inside>,
    pub(crate) fates: FateRecorder,
    /// Whether each flow is closed at both ends, and how many are not.
    closed: Vec<bool>,
    open: usize,
    sampled_links: Vec<usize>,
    pub(crate) queue: Samples<4>,
    pub(crate) window: Samples<5>,
    pub(crate) end: Time,
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario, plan: &'a Plan) -> Self {
        let Built { links, endpoints, starts, hops, first_hop } = build(scenario, plan);
        let mut events = EventQueue::new(links.len() + endpoints.len() + 1);
        for (f, &start) in starts.iter().enumerate() {
            events.set((links.len() + 2 * f) as u32, start);
        }
        let record = &scenario.record;
        let wants = |s: Series| record.series.contains(&s);
        if wants(Series::Queue) || wants(Series::Window) {
            events.set((links.len() + endpoints.len()) as u32, Time::ZERO);
        }
        let sampled = |name: &str| record.links.is_empty() || record.links.iter().any(|l| l == name);
        let sampled_links = (0..links.len()).filter(|&l| sampled(&plan.links[l].name())).collect();
        let mut delays = vec![false; links.len()];
        hops.iter().filter(|h| h.only_delays()).for_each(|h| delays[h.link() as usize] = true);
        Simulation {
            scenario,
            delays,
            insides: Vec::new(),
            plan,
            events,
            fates: FateRecorder {
                flows: vec![FlowLedger::default(); starts.len()],
                drops: wants(Series::Drops).then(Incidents::default),
                marks: wants(Series::Marks).then(Incidents::default),
            },
            closed: vec![false; starts.len()],
            open: starts.len(),
            links,
            endpoints,
            starts,
            hops,
            first_hop,
            sampled_links,
            queue: Samples::default(),
            window: Samples::default(),
            end: Time::ZERO,
        }
    }

    fn run(&mut self, watch: &Watch) -> Result<(), Failure> {
        let (links, endpoints) = (self.links.len() as u32, self.endpoints.len() as u32);
        let limit = Time::ZERO + self.scenario.duration.unwrap_or(self.scenario.time_limit);
        while self.open > 0 || self.scenario.duration.is_some() {
            let Some((now, lane)) = self.events.pop() else { break };
            if now > limit {
                break;
            }
            self.end = now;
            if lane < links {
                self.link_event(now, lane).map_err(|v| *v)?;
            } else if lane < links + endpoints {
                self.endpoint_event(now, lane - links).map_err(|v| *v)?;
            } else {
                self.sample(now);
                self.events.set(lane, now + self.scenario.record.interval);
            }
            if self.events.events().is_multiple_of(LOOK_EVERY) {
                self.look(watch)?;
            }
        }
        if self.scenario.duration.is_some() {
            self.end = limit;
        } else if self.open > 0 {
            return Err(Failure::Stalled(format!(
                "{} of {} flows had not closed at {}; raise time_limit, or set a duration",
                self.open,
                self.starts.len(),
                self.end
            )));
        }
        Ok(())
    }

    /// Makes up for what queues that keep packets would have done by the end.
    fn catch_up(&mut self) {
        for (l, link) in self.links.iter_mut().enumerate() {
            link.catch_up(self.end, &mut self.fates.of(l as u32));
        }
    }

    fn look(&mut self, watch: &Watch) -> Result<(), Failure> {
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        if self.events.events().is_multiple_of(LOOK_EVERY << 6) {
            let done = match self.scenario.duration {
                Some(d) => self.end.seconds() / d.seconds(),
                None => self.share_acknowledged(),
            };
            watch.done.store(done.to_bits(), Ordering::Relaxed);
        }
        if self.events.events().is_multiple_of(CHECK_EVERY) {
            self.check()?;
        }
        Ok(())
    }

    fn share_acknowledged(&self) -> f64 {
        let size = |f: usize| {
            let Traffic::Bulk(bulk) = self.plan.traffic(f);
            bulk.size.map_or(0, |s| s.0) as f64
        };
        let all: f64 = (0..self.starts.len()).map(size).sum();
        let acked: f64 = (0..self.starts.len()).map(|f| self.endpoints[2 * f].acked() as f64).sum();
        acked / all.max(1.0)
    }

    /// A packet reaches the far end of a link.
    #[inline]
    fn link_event(&mut self, now: Time, lane: u32) -> Step {
        let link = &mut self.links[lane as usize];
        link.catch_up(now, &mut self.fates.of(lane));
        let entry = link.deliver(now);
        let due = link.due();
        self.events.set(lane, due);
        if let Some(InPipe { packet, hop, .. }) = entry {
            if self.hops[hop as usize].only_delays() {
                let before = self.hops[hop as usize - 1].link();
                self.links[before as usize].delivered_beyond(&packet);
            }
            let next = self.hops[hop as usize + 1];
            if next.is_end() {
                // From the sender, way 0, to endpoint 2f + 1; from the receiver to 2f.
                self.arrive(now, 2 * packet.flow + 1 - packet.label.way() as u32, &packet)?;
            } else {
                self.enter(now, hop + 1, packet);
            }
        }
        Ok(())
    }

    /// A packet enters the queue of the link at `hop` of its route.
    #[inline]
    fn enter(&mut self, now: Time, hop: u32, mut packet: Packet) {
        let link = self.hops[hop as usize].link();
        let received = self.links[link as usize].receive(now, &mut packet, &mut self.fates.of(link));
        let Some(arrives) = received else { return self.keep(now, hop, packet) };
        let next = self.hops[hop as usize + 1];
        let (into, entry) = if next.only_delays() {
            let into = next.link();
            let beyond = self.links[into as usize].pass_on(arrives, &packet);
            (into, InPipe { arrives: beyond, entered: arrives, hop: hop + 1, packet })
        } else {
            (link, InPipe { arrives, entered: now, hop, packet })
        };
        let link = &mut self.links[into as usize];
        link.put(entry);
        self.events.set(into, link.due());
    }

    /// A packet was not admitted to the link at `hop`: it is dropped, or its queue keeps it until it is sent.
    #[cold]
    fn keep(&mut self, now: Time, hop: u32, packet: Packet) {
        let lane = self.hops[hop as usize].link();
        let link = &mut self.links[lane as usize];
        if link.holds() {
            link.keep(now, hop, packet, &mut self.fates.of(lane));
            self.events.set(lane, link.due());
        }
    }

    /// A packet reaches its endpoint.
    #[inline]
    fn arrive(&mut self, now: Time, e: u32, packet: &Packet) -> Step {
        let endpoint = &mut self.endpoints[e as usize];
        let flow = &mut self.fates.flows[(e / 2) as usize];
        // The receiver (odd) is reached by the data direction.
        let to_receiver = e % 2 == 1;
        flow.ways[usize::from(!to_receiver)].arrived += 1;
        endpoint.on_segment(now, &packet.segment, packet.ecn);
        if to_receiver {
            flow.data_arrives(packet, endpoint.uses_ecn());
            if endpoint.peer_closed() {
                endpoint.close();
            }
        }
        self.pump(now, e)
    }

    /// A flow begins, or a timer expires.
    fn endpoint_event(&mut self, now: Time, e: u32) -> Step {
        let f = (e / 2) as usize;
        if e.is_multiple_of(2) && now == self.starts[f] {
            let Traffic::Bulk(bulk) = self.plan.traffic(f);
            self.endpoints[e as usize + 1].listen();
            let sender = &mut self.endpoints[e as usize];
            sender.connect();
            sender.write(bulk.size.map_or(u64::MAX, |s| s.0));
            if bulk.size.is_some() {
                sender.close();
            }
        } else if self.endpoints[e as usize].deadline() <= now {
            self.endpoints[e as usize].on_timer(now);
        }
        self.pump(now, e)
    }

    /// Sends what an endpoint has to send, and sees to its timer.
    #[inline]
    fn pump(&mut self, now: Time, e: u32) -> Step {
        let flow = e / 2;
        let way = (e % 2) as usize;
        while let Some((segment, ecn)) = self.endpoints[e as usize].poll(now) {
            let ledger = &mut self.fates.flows[flow as usize];
            ledger.ways[way].sent += 1;
            if way == 1
                && let Some(what) = ledger.ack_leaves(segment.flags)
            {
                return Err(Box::new(self.violation(
                    now,
                    format!("flow {}", self.plan.name(flow as usize)),
                    what,
                )));
            }
            let size = self.endpoints[e as usize].wire_size(&segment);
            let packet = Packet { flow, size, ecn, label: Label::new(way), segment };
            self.enter(now, self.first_hop[e as usize], packet);
        }
        let lane = self.links.len() as u32 + e;
        let endpoint = &self.endpoints[e as usize];
        let deadline = endpoint.deadline();
        // Lazy: an event that is too early is kept, and sets itself again when it comes.
        if deadline < self.events.due(lane) {
            self.events.set(lane, deadline);
        }
        if endpoint.is_closed() && self.endpoints[(e ^ 1) as usize].is_closed() {
            let closed = &mut self.closed[flow as usize];
            self.open -= usize::from(!*closed);
            *closed = true;
        }
        Ok(())
    }

    fn sample(&mut self, now: Time) {
        let series = &self.scenario.record.series;
        if series.contains(&Series::Queue) {
            for &l in &self.sampled_links {
                let link = &mut self.links[l];
                link.catch_up(now, &mut self.fates.of(l as u32));
                let backlog = link.backlog(now);
                let average = link.queue().average().unwrap_or(f64::NAN);
                let transmitting = f64::from(u8::from(link.is_transmitting(now)));
                let values = [f64::from(backlog.packets), backlog.bytes as f64, average, transmitting];
                self.queue.push(now.seconds(), l, values);
            }
        }
        if series.contains(&Series::Window) {
            for f in 0..self.fates.flows.len() {
                let sender = &self.endpoints[2 * f];
                let w = sender.window();
                let values = [w.cwnd, w.ssthresh, w.flight, sender.acked() as f64, sender.rto().seconds()];
                self.window.push(now.seconds(), f, values);
            }
        }
    }

    fn violation(&self, at: Time, place: String, what: impl Into<String>) -> Violation {
        Violation { at, place, what: what.into() }
    }

    /// Holds every ledger against what is there.
    fn check(&mut self) -> Result<(), Failure> {
        let now = self.end;
        let mut packets = vec![[0u64; 2]; self.fates.flows.len()];
        let mut insides = vec![Inside::default(); self.links.len()];
        for (l, link) in self.links.iter().enumerate() {
            for entry in link.pipe() {
                let p = &entry.packet;
                packets[p.flow as usize][p.label.way()] += 1;
                link.locate(entry, false, now, &mut insides[l]);
                if self.hops[entry.hop as usize].only_delays() {
                    let before = self.hops[entry.hop as usize - 1].link() as usize;
                    self.links[before].locate(entry, true, now, &mut insides[before]);
                }
            }
        }
        for (link, inside) in self.links.iter().zip(&mut insides) {
            link.locate_held(inside, |p| packets[p.flow as usize][p.label.way()] += 1);
        }
        for (l, link) in self.links.iter_mut().enumerate() {
            let violation = |what| {
                let place = format!("link {}", self.plan.links[l].name());
                Failure::Violation(Violation { at: now, place, what })
            };
            link.ledger().check(&insides[l], now).map_err(violation)?;
            let (waits, says) = (insides[l].waiting.packets, link.backlog(now).packets);
            if !self.delays[l] && u64::from(says) != waits {
                return Err(violation(format!("{waits} packets wait and the queue says {says}")));
            }
        }
        for (f, ledger) in self.fates.flows.iter().enumerate() {
            let place = || format!("flow {}", self.plan.name(f));
            ledger.check(packets[f]).map_err(|what| self.violation(now, place(), what))?;
        }
        self.insides = insides;
        Ok(())
    }
}
