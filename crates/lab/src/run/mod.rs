//! Simulation of a scenario. A run processes the events of a network in order, checks the counters,
//! and returns the tables.

mod applications;
mod connections;
mod conservation;
mod early_delivery;
mod forwarding;
mod memory_checks;
mod observer;
mod packets;
pub mod panics;
mod warm_up;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use engine::EventQueue;
use net::{End, Flight, InPipe, Link, OptionStore, Options, Packet, Violation};
use queues::{CustomAqms, NoCustomAqms};
use traffic::Opener;
use traffic::application::EndpointState;
use traffic::opener::OpenerEvent;
use units::Time;

use crate::app_states::AppStates;
use crate::arriving_flows::ArrivingFlow;
use crate::baseline::Baseline;
use crate::build::{BuiltNetwork, Hosts, Plan, build, plan, refuse_unknown_custom_aqms};
use crate::capture::{self, CaptureTarget, Captures};
use crate::computing_time::Stopwatch;
use crate::connections::Connections;
use crate::datagrams::Datagrams;
use crate::exchanges::Exchanges;
use crate::failure::Failure;
use crate::lanes::{Lane, Lanes};
use crate::limits::Limits;
use crate::memory;
use crate::network::Network;
use crate::packet_records::PacketRecords;
use crate::record::Outcome;
use crate::scenario::Scenario;
use crate::series::{RecordedSeries, RunStart, Series};
use crate::slot::{Slot, Stage};

pub use forwarding::{Departure, Forwarding, Happening, forward};

/// Handle through which another thread observes and cancels a run. A `Watch` also stores the limits
/// of the run.
#[derive(Debug)]
pub struct Watch {
    limits: Limits,
    cancel: AtomicBool,
    done: AtomicU64,
    report: Option<Report>,
}

/// Function that a run calls about every million events, with the completed share of the run and
/// the number of events.
pub type Report = fn(f64, u64);

impl Default for Watch {
    fn default() -> Self {
        Watch::with_limits(Limits::NONE)
    }
}

impl Watch {
    /// Return a watch that ends a run if the run exceeds the limits.
    pub fn with_limits(limits: Limits) -> Self {
        Watch { limits, cancel: AtomicBool::default(), done: AtomicU64::default(), report: None }
    }

    /// Return this watch with a function that receives the progress. A program with one thread
    /// needs the function, because no other thread can call [`Watch::done`] during the run.
    #[must_use]
    pub fn reporting(self, report: Report) -> Self {
        Watch { report: Some(report), ..self }
    }

    /// End the run at the next check of the watch.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Record the completed share of a run over real hosts, and fail if the run was cancelled.
    pub fn observe(&self, done: f64) -> Result<(), Failure> {
        self.done.store(done.to_bits(), Ordering::Relaxed);
        if self.cancel.load(Ordering::Relaxed) { Err(Failure::Cancelled) } else { Ok(()) }
    }

    /// Return the completed share of the run, as a number between 0 and 1.
    pub fn done(&self) -> f64 {
        f64::from_bits(self.done.load(Ordering::Relaxed))
    }
}

const NO_OPTIONS: Options = Options::NONE;

/// Result of one event. The error is boxed, so that a result without an error fits into a register.
type Step = Result<(), Box<Violation>>;

/// Number of events between two checks for a cancellation and for exceeded limits.
const WATCH_EVERY: u64 = if cfg!(debug_assertions) { 1 << 12 } else { 1 << 14 };
/// Number of events between two checks of the counters. Debug builds check the counters more often.
const CHECK_EVERY: u64 = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 23 };

/// Run a scenario without packet captures and without custom AQMs.
pub fn run(scenario: &Scenario, watch: &Watch) -> Result<Outcome, Failure> {
    run_with(scenario, watch, None, &NoCustomAqms)
}

/// Run a scenario. The packet captures are written into `target`; without a target, the run records
/// no captures. Queues of the kind `custom` use the AQMs in `custom_aqms`.
pub fn run_with(
    scenario: &Scenario,
    watch: &Watch,
    target: Option<CaptureTarget>,
    custom_aqms: &dyn CustomAqms,
) -> Result<Outcome, Failure> {
    let mut stopwatch = Stopwatch::start();
    let began = stopwatch;
    memory_checks::check_size(scenario, &watch.limits)?;
    let plan = plan(scenario)?;
    capture::check(scenario, &plan)?;
    refuse_unknown_custom_aqms(&plan, custom_aqms)?;
    let mut sim = Simulation::new(scenario, &plan, custom_aqms, Hosts::Simulated);
    sim.capture(target).map_err(Failure::Capture)?;
    let setup = stopwatch.lap();
    sim.run(watch, &began)?;
    sim.check_times()?;
    sim.catch_up();
    sim.check()?;
    let captures = sim.captures.take().map_or(Ok(Vec::new()), |captures| captures.finish(sim.end));
    let captures = captures.map_err(Failure::Capture)?;
    sim.check_series()?;
    sim.check_limits(&watch.limits, &began)?;
    if sim.table_bytes() >= memory::SMALL {
        memory::ensure_available(sim.table_bytes(), "the tables")?;
    }
    let running = stopwatch.lap();
    watch.done.store(1.0_f64.to_bits(), Ordering::Relaxed);
    Ok(Outcome { captures, ..sim.outcome(setup, running) })
}

/// State of a run.
pub(crate) struct Simulation<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) events: EventQueue,
    lanes: Lanes,
    pub(crate) network: Network,
    pub(crate) connections: Connections,
    /// Links whose queues the run samples.
    sampled: Vec<u32>,
    captures: Option<Box<Captures>>,
    /// True if a capture or a series observes the packets that hosts send and receive, or if a
    /// series records the changes of cwnd.
    observes_hosts: bool,
    /// True if a capture or a series observes the packets that hosts send and receive.
    observes_packets: bool,
    /// True if a capture or a series observes the packets on links, and the queue of a link stores
    /// its packets.
    observes_stored: bool,
    /// True if the series of delays is all that observes the packets on links.
    observes_only_delays: bool,
    pub(crate) end: Time,
    /// Simulated time up to which early delivery may deliver packets.
    horizon: Time,
    /// Latest arrival time among the packets that were delivered early.
    latest_early_arrival: Time,
    /// Packets that have left the network for a real host, each with its time.
    departed: Vec<(Time, Packet)>,
    /// Events that the real hosts must process.
    happened: Vec<Happening>,
    /// True during the warm-up.
    warming_up: bool,
    /// Baseline: the counts at the end of the warm-up. In a run without a warm-up, all counts of
    /// the baseline are 0.
    pub(crate) baseline: Baseline,
}

impl<'a> Simulation<'a> {
    /// Build the network of a plan, and schedule its first events.
    fn new(scenario: &'a Scenario, plan: &'a Plan, custom_aqms: &dyn CustomAqms, hosts: Hosts) -> Self {
        let BuiltNetwork {
            links,
            conditioners,
            wires,
            mut endpoints,
            mut slots,
            arriving_flows,
            flow_totals,
            datagrams,
            draws,
            hops,
        } = build(scenario, plan, custom_aqms, hosts);
        let lanes = Lanes::new(links.len(), arriving_flows.len(), wires.len(), datagrams.len());
        let single = slots.len();
        if !arriving_flows.is_empty() {
            endpoints.skip(datagrams.len(), &scenario.tcp);
        }
        let mut events = EventQueue::new(lanes.count(endpoints.len()));
        for (k, (stream, first)) in datagrams.iter().enumerate() {
            slots.push(Slot::of_datagrams(stream, plan.dscp(stream.flow as usize)));
            events.set(lanes.datagrams(k), first.unwrap_or(Time::NEVER));
        }
        for (s, slot) in slots[..single].iter().enumerate() {
            events.set(lanes.end(End::sender(s as u32)), slot.start);
        }
        let wants: Vec<_> = scenario.record.series.iter().map(|series| series.needs()).collect();
        let begins = Time::ZERO + scenario.warm_up;
        let real = hosts != Hosts::Simulated;
        if wants.iter().any(|wants| wants.samples || (real && wants.reports)) {
            let interval = scenario.record.interval.0;
            events.set(lanes.sampler(), Time(begins.0.div_ceil(interval).saturating_mul(interval)));
        }
        let recorded = plan.recorded(&scenario.record);
        let of_slot = |slot: &Slot| plan.single_flow(slot.flow, &scenario.record);
        let connections: Vec<_> = slots[..single].iter().map(of_slot).collect();
        let tables = plan.first_flows();
        let explains = wants.iter().any(|wants| wants.explanations);
        let variables = if explains { plan.variables() } else { Vec::new() };
        let start = RunStart {
            begins,
            ends: scenario.duration.filter(|_| !real).map(|duration| Time::ZERO + duration),
            links: links.len(),
            recorded: &recorded,
            variables: &variables,
            single: &connections,
            tables: &tables,
        };
        let series = RecordedSeries::begin(&scenario.record.series, &start);
        let sampled = if wants.iter().any(|wants| wants.queues) { recorded } else { Vec::new() };
        let ending = datagrams.iter().filter(|(stream, first)| stream.ends() && first.is_some()).count();
        let begun = (single + arriving_flows.len() + ending) as u64;
        let stores_packets = links.iter().any(Link::stores_packets);
        let observes_stored = stores_packets && wants.iter().any(|wants| wants.links);
        let network = Network {
            links,
            flight: Flight::default(),
            hops,
            conditioners,
            wires,
            impaired: plan.impaired(),
            insides: Vec::new(),
        };
        let records = PacketRecords {
            options: OptionStore::default(),
            real: (hosts != Hosts::Simulated).then(Box::default),
            drained: Vec::new(),
            slots,
            series: Box::new(series),
        };
        let bidirectional = (0..plan.flows() as u32).filter(|&f| plan.is_bidirectional(f as usize)).collect();
        let exchanges = Exchanges::new(bidirectional, begins);
        let real = (hosts != Hosts::Simulated).then(|| vec![Default::default(); records.slots.len()]);
        let connections = Connections {
            endpoints,
            real,
            records,
            app_states: AppStates::default(),
            exchanges,
            single,
            free: Vec::new(),
            arriving_flows: Vec::new(),
            flow_totals,
            datagrams: datagrams.into_iter().map(|(datagrams, _)| datagrams).collect(),
            draws,
            begun,
            open: begun,
        };
        let mut sim = Simulation {
            scenario,
            plan,
            events,
            lanes,
            network,
            connections,
            sampled,
            captures: None,
            observes_hosts: wants.iter().any(|wants| wants.hosts || wants.changes),
            observes_packets: wants.iter().any(|wants| wants.hosts),
            observes_stored,
            observes_only_delays: scenario
                .record
                .series
                .iter()
                .all(|series| *series == Series::Delays || !series.needs().links),
            end: Time::ZERO,
            horizon: Time::ZERO,
            latest_early_arrival: Time::ZERO,
            departed: Vec::new(),
            happened: Vec::new(),
            warming_up: begins > Time::ZERO,
            baseline: Baseline::default(),
        };
        for (k, arriving) in arriving_flows.into_iter().enumerate() {
            let begins = arriving.progress.began;
            sim.connections.arriving_flows.push(arriving);
            sim.notify_opener(begins, k, OpenerEvent::Begins);
        }
        sim
    }

    /// Process events until the run is over.
    fn run(&mut self, watch: &Watch, began: &Stopwatch) -> Result<(), Failure> {
        let lanes = self.lanes;
        let lasts = self.scenario.duration.is_some();
        let mut limit = Time::ZERO + self.scenario.duration.unwrap_or(self.scenario.time_limit);
        self.horizon = self.next_horizon(limit);
        loop {
            if !lasts && self.connections.open == 0 {
                if self.latest_early_arrival <= self.end {
                    break;
                }
                (limit, self.horizon) = (self.latest_early_arrival, self.latest_early_arrival); // The last endpoint closed at this time.
            }
            let Some((now, lane)) = self.events.pop() else { break };
            while now > self.horizon && self.horizon < limit {
                self.audit(limit)?;
            }
            if now > self.horizon {
                break;
            }
            self.end = now;
            match lanes.of(lane) {
                Lane::Link(l) => self.link_event(now, l).map_err(|v| *v)?,
                Lane::End(end) => self.endpoint_event(now, end).map_err(|v| *v)?,
                Lane::Arrivals(k) => self.arrival(now, k).map_err(|v| *v)?,
                Lane::Wire(w) => self.leave_wire(now, w).map_err(|v| *v)?,
                Lane::Datagrams(k) => self.emit(now, k).map_err(|v| *v)?,
                Lane::Sampler => {
                    self.sample(now)?;
                    self.events.set(lane, now + self.scenario.record.interval);
                }
            }
            if !self.connections.records.drained.is_empty() {
                self.release_drained();
            }
            if self.events.events().is_multiple_of(WATCH_EVERY) {
                self.check_watch(watch, began)?;
            }
        }
        while lasts && self.warming_up {
            self.audit(limit)?; // No event was left before the end of the warm-up.
        }
        self.end = if lasts { limit } else { self.end.max(self.latest_early_arrival) };
        if !lasts && self.connections.open > 0 {
            let what =
                if self.connections.arriving_flows.is_empty() { "flows" } else { "connections and arrivals" };
            return Err(Failure::Stalled(format!(
                "{} of {} {what} were not closed at the simulated time {}; raise time_limit, or set a duration",
                self.connections.open, self.connections.begun, self.end
            )));
        }
        self.check_warm_up()
    }

    /// Fail if a link would deliver a packet after the maximum simulated time.
    fn check_times(&self) -> Result<(), Failure> {
        let Some(l) = self.network.links.iter().position(|link| link.is_beyond_time()) else { return Ok(()) };
        let link = self.plan.links[l].name();
        Err(Failure::Stalled(format!(
            "the queue of {link} would deliver packets more than 213 days after the start, which is the maximum simulated time; raise the rate \
             of the link, or shorten its queue"
        )))
    }

    /// In each queue that stores packets, perform the dequeues up to the end of the run. Report
    /// each dequeued packet to the packet captures and to the series.
    fn catch_up(&mut self) {
        for (l, link) in self.network.links.iter_mut().enumerate() {
            link.catch_up(self.end, &mut self.network.flight, &mut self.connections.records.probe(l as u32));
        }
        self.release_drained();
        if self.observes_stored {
            for lane in 0..self.network.links.len() {
                let link = &self.network.links[lane];
                let begun: Vec<InPipe> =
                    link.pipe(&self.network.flight).filter(|_| link.stores_packets()).copied().collect();
                begun.iter().for_each(|e| {
                    self.observe_link(self.end, lane as u32, [e.entered, e.arrives], &e.packet)
                });
            }
        }
        self.connections.records.series.end(self.end);
    }

    /// End the run if another thread has cancelled the run, or if a packet capture has failed.
    /// Update the completed share of the run, and check the memory and the limits.
    fn check_watch(&mut self, watch: &Watch, began: &Stopwatch) -> Result<(), Failure> {
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        if let Some(failure) = self.captures.as_ref().and_then(|captures| captures.failure()) {
            return Err(Failure::Capture(failure));
        }
        if self.events.events().is_multiple_of(WATCH_EVERY << 6) {
            let done = match self.scenario.duration {
                Some(d) => self.end.seconds() / d.seconds(),
                None => self.share_done(),
            };
            watch.done.store(done.to_bits(), Ordering::Relaxed);
            if let Some(report) = watch.report {
                report(done, self.events.events());
            }
        }
        self.check_memory()?;
        self.check_limits(&watch.limits, began)?;
        if self.events.events().is_multiple_of(CHECK_EVERY) {
            self.horizon = self.latest_early_arrival.max(self.end);
        }
        Ok(())
    }

    /// Fail if the available memory does not suffice for the series, or for the growth of packets
    /// and connections.
    fn check_memory(&self) -> Result<(), Failure> {
        self.check_series()?;
        memory_checks::check_growth(self.grown_bytes())
    }

    /// Fail if a series could not store a row because the available memory did not suffice.
    fn check_series(&self) -> Result<(), Failure> {
        if self.connections.records.series.is_full() {
            let problem =
                "there is not enough memory for the series; record fewer series, or shorten the run";
            return Err(Failure::Memory(problem.into()));
        }
        Ok(())
    }

    /// Fail if the run exceeds one of its limits.
    fn check_limits(&self, limits: &Limits, began: &Stopwatch) -> Result<(), Failure> {
        limits.check(self.events.events(), began.wall_s())?;
        limits.check_memory(self.grown_bytes() + self.table_bytes())
    }

    /// Return the memory of packets and connections in bytes. The memory of tables is not included.
    fn grown_bytes(&self) -> u64 {
        memory_checks::growing_bytes(&self.network.flight, &self.connections)
    }

    /// Return the approximate memory in bytes of the tables that grow with the run.
    fn table_bytes(&self) -> u64 {
        let [_, all] = self.connections.records.series.bytes();
        all + self.plan.flows() as u64 * 256
    }

    /// Return the completed share of the run: the mean of the completed shares of all flows.
    fn share_done(&self) -> f64 {
        let of_slot = |(s, slot): (usize, &Slot)| {
            let flow = slot.flow as usize;
            let Some(application) = self.plan.application(flow).filter(|_| slot.stage != Stage::Closed)
            else {
                return 1.0;
            };
            let client = self
                .connections
                .app_states
                .get(slot.app_state)
                .first()
                .map_or(EndpointState::default(), |client| client.state);
            let acked = self.connections.endpoints[End::sender(s as u32)].acked();
            application.share_done(&client, acked, self.draws(flow, slot.connection))
        };
        let of_arriving = |arriving: &ArrivingFlow| {
            let flow = arriving.flow as usize;
            let done = |opener: &dyn Opener| opener.share_done(&arriving.progress, self.draws(flow, 0));
            if arriving.finished { 1.0 } else { self.plan.opener(flow).map_or(0.0, done) }
        };
        let single =
            self.connections.records.slots[..self.connections.single].iter().enumerate().map(of_slot);
        let datagrams = self.connections.datagrams.iter().map(Datagrams::share_done);
        let all: f64 =
            single.chain(self.connections.arriving_flows.iter().map(of_arriving)).chain(datagrams).sum();
        all / self.plan.flows() as f64
    }
}
