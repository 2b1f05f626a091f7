//! Network of a scenario for real hosts. The hosts, such as the sockets of a kernel, send the
//! packets, and the caller reads the clock. The links, queues, conditioners and impairments are
//! those of a simulated run, and so are the applications, the arrivals of connections, and the
//! tables of the result. Datagrams are sent by the run itself, because no host influences them.
//!
//! The caller passes each packet to [`Forwarding::send`] at the time of its arrival, and calls
//! [`Forwarding::advance`] at the times that [`Forwarding::next_time`] returns. Afterwards it
//! takes the packets that have left the network ([`Forwarding::departures`]), and the events that
//! concern the hosts ([`Forwarding::take_happened`]).

use net::{Direction, Ecn, End, Packet, Segment};
use queues::CustomAqms;
use queues::external::{External, Ticket};
use tcp::Tcp;
use traffic::application::{Actions, Event, Needs};
use units::{Rate, Time};

use super::Simulation;
use super::applications::side;
use crate::build::{Hosts, plan, refuse_unknown_custom_aqms};
use crate::computing_time::Stopwatch;
use crate::failure::Failure;
use crate::lanes::Lane;
use crate::real_ends::KernelState;
use crate::record::Outcome;
use crate::scenario::Scenario;
use crate::series::Series;
use crate::slot::Stage;

/// Bytes of the headers of IP and TCP without options.
const IP_AND_TCP: u64 = 40;

/// Packet that has left the network for a real host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<'a> {
    /// Time at which the packet reaches the host.
    pub time: Time,
    /// Number of the connection.
    pub connection: u32,
    /// Flow of the connection.
    pub flow: u32,
    /// Direction of the packet.
    pub direction: Direction,
    /// ECN field after all links.
    pub ecn: Ecn,
    /// DiffServ codepoint after all conditioners.
    pub dscp: u8,
    /// Bytes of the packet, as the host sent them.
    pub bytes: &'a [u8],
}

/// Event that the hosts must process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A connection opens. The client calls [`Forwarding::on`] with the event
    /// [`Event::Opening`].
    Opens(u32),
    /// The timer of the application at an endpoint expired. The endpoint calls [`Forwarding::on`]
    /// with the event [`Event::Woken`].
    Woken(End),
    /// Both sides of a connection are closed, and the number of the connection may be used again.
    Closed(u32),
}

/// Network of a scenario whose packets real hosts send.
pub struct Forwarding<'a> {
    sim: Simulation<'a>,
    limit: Time,
}

/// Forward the packets of real hosts through the network of a scenario. The function `hosts` sends
/// the packets, and returns the time at which the run ends. The packets of the links in `external`
/// wait in queues outside of the run.
pub fn forward<E: From<Failure>>(
    scenario: &Scenario,
    custom_aqms: &dyn CustomAqms,
    external: &[String],
    hosts: impl FnOnce(&mut Forwarding) -> Result<Time, E>,
) -> Result<Outcome, E> {
    let mut stopwatch = Stopwatch::start();
    let plan = plan(scenario).map_err(Failure::from)?;
    refuse_unknown_custom_aqms(&plan, custom_aqms).map_err(Failure::from)?;
    let sim = Simulation::new(scenario, &plan, custom_aqms, Hosts::Real { external });
    let limit = Time::ZERO + scenario.duration.unwrap_or(scenario.time_limit);
    let mut forwarding = Forwarding { sim, limit };
    forwarding.sim.horizon = forwarding.sim.next_horizon(limit);
    let setup = stopwatch.lap();
    let end = hosts(&mut forwarding)?;
    forwarding.advance(end)?;
    let mut sim = forwarding.sim;
    sim.catch_up();
    sim.check()?;
    sim.check_stored_bytes()?;
    sim.check_warm_up()?;
    sim.check_series()?;
    let running = stopwatch.lap();
    Ok(sim.outcome(setup, running))
}

impl Simulation<'_> {
    /// Fail unless the bytes of exactly those packets are stored that are inside the network or
    /// have left it since the last delivery.
    fn check_stored_bytes(&self) -> Result<(), Failure> {
        let mut packets = self.departed.len();
        self.network.each_inside(&mut |packet| packets += usize::from(packet.options > 0));
        let stored = self.connections.records.real.as_ref().map_or(0, |real| real.in_use());
        if stored == packets {
            return Ok(());
        }
        let what = format!("the bytes of {stored} packets are stored, but {packets} packets are inside");
        Err(self.violation(self.end, "network".into(), what).into())
    }
}

impl Forwarding<'_> {
    /// Return the flow of a connection.
    pub fn flow(&self, connection: u32) -> u32 {
        self.sim.connections.records.slots[connection as usize].flow
    }

    /// Return the number of flows, of which the flows of datagrams have no connections.
    pub fn flows(&self) -> u32 {
        self.sim.plan.flows() as u32
    }

    /// Return the name of a flow.
    pub fn flow_name(&self, flow: u32) -> String {
        self.sim.plan.name(flow as usize)
    }

    /// Return the names of the hosts that send and receive the data of a flow.
    pub fn ends(&self, flow: u32) -> [String; 2] {
        [self.sim.plan.from(flow as usize), self.sim.plan.to(flow as usize)]
    }

    /// Return the TCP parameters of a flow's client and server, or `None` for a flow of datagrams.
    pub fn hosts(&self, flow: u32) -> Option<[&Tcp; 2]> {
        let plan = self.sim.plan;
        (!plan.traffic(flow as usize).is_datagrams()).then(|| plan.hosts(flow as usize))
    }

    /// Return what the application of a connection needs at an endpoint.
    pub fn needs(&self, end: End) -> Needs {
        self.sim.plan.needs(self.flow(end.connection()) as usize, side(end))
    }

    /// Return the time at which the warm-up ends.
    pub fn begins(&self) -> Time {
        self.sim.begins()
    }

    /// Return the latest time at which the run ends.
    pub fn limit(&self) -> Time {
        self.limit
    }

    /// Return true if a run without a duration is over, because all its connections are closed.
    pub fn is_done(&self) -> bool {
        self.sim.scenario.duration.is_none() && self.sim.connections.open == 0
    }

    /// Notify the application at an endpoint of an event, and return what the endpoint has to do.
    pub fn on(&mut self, now: Time, end: End, event: Event) -> Actions {
        let slot = &self.sim.connections.records.slots[end.connection() as usize];
        if slot.stage != Stage::Open {
            return Actions::NONE;
        }
        let needs = self.needs(end);
        let own = matches!(event, Event::Opening | Event::Woken);
        let actions = match event {
            _ if own || needs.events => self.sim.notify_of(now, end, event),
            // Without events, an endpoint closes as soon as its peer has closed.
            Event::PeerClosed => Actions::CLOSE,
            _ => Actions::NONE,
        };
        if let Some(real) = &mut self.sim.connections.real {
            real[end.connection() as usize][side(end) as usize].wrote(actions.write, actions.close);
        }
        self.sim.rearm(end);
        actions
    }

    /// Return the time of the next sample of the senders, or [`Time::NEVER`] without such a series.
    /// The caller reports the state of all senders ([`Forwarding::measured`]) before it advances
    /// the network beyond this time.
    pub fn next_sample(&self) -> Time {
        let sim = &self.sim;
        let of_senders = |series: &Series| {
            let needs = series.needs();
            (needs.samples && !needs.queues) || needs.reports
        };
        let samples = sim.scenario.record.series.iter().any(of_senders);
        if samples { sim.events.due(sim.lanes.sampler()) } else { Time::NEVER }
    }

    /// Record the state of an endpoint that its kernel reports.
    pub fn measured(&mut self, now: Time, end: End, state: KernelState) {
        let flow = self.flow(end.connection());
        self.sim.connections.records.series.at_kernel(now, end, flow, &state);
        if let Some(real) = &mut self.sim.connections.real {
            real[end.connection() as usize][side(end) as usize].measured(state);
        }
    }

    /// Give up a connection, whose host reports an error.
    pub fn abort(&mut self, now: Time, connection: u32) {
        if let Some(real) = &mut self.sim.connections.real {
            real[connection as usize].iter_mut().for_each(|end| end.end(now));
        }
        self.sim.finish_real(now, connection);
    }

    /// Send a packet of a connection into the network. `bytes` is the whole IP packet. The links
    /// count its bytes, and the bytes by which the headers of the scenario exceed those of IP and
    /// TCP. The packet has the DiffServ codepoint of its flow.
    ///
    /// # Errors
    /// If an invariant of the network is violated.
    ///
    /// # Panics
    /// If the packet has more than 65,535 bytes, or `now` is earlier than a previous call.
    pub fn send(
        &mut self,
        now: Time,
        connection: u32,
        direction: Direction,
        ecn: Ecn,
        segment: Segment,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        self.advance(now)?;
        if now > self.limit {
            return Ok(());
        }
        assert!(bytes.len() <= usize::from(u16::MAX), "an IP packet has at most 65,535 bytes");
        let hosts = self.sim.plan.hosts(self.flow(connection) as usize);
        let wire = &hosts[direction.index()].wire;
        let header = if segment.len > 0 { wire.data_header } else { wire.control_header };
        let counted = (bytes.len() as u64 + header.0).saturating_sub(IP_AND_TCP);
        let size = counted.clamp(1, u64::from(u16::MAX)) as u16;
        let connections = &mut self.sim.connections;
        let options = connections.records.real.get_or_insert_default().store(bytes);
        if let Some(real) = &mut connections.real {
            real[connection as usize][direction.index()].sent(now, &segment);
        }
        let slot = &mut connections.records.slots[connection as usize];
        slot.counters.sent(direction);
        let (hop, label) = (slot.first_hop[direction.index()], slot.labels[direction.index()]);
        let mut packet = Packet { connection, size, ecn, label, hop, options, segment };
        self.sim.enter(now, hop, &mut packet).map_err(|v| (*v).into())
    }

    /// Return the time of the next event in the network, or [`Time::NEVER`] without an event.
    pub fn next_time(&mut self) -> Time {
        self.sim.events.next_time()
    }

    /// Process all events of the network up to the time `now`.
    ///
    /// # Errors
    /// If an invariant of the network is violated.
    pub fn advance(&mut self, now: Time) -> Result<(), Failure> {
        let now = now.min(self.limit);
        loop {
            let next = self.sim.events.next_time().min(now);
            while next > self.sim.horizon && self.sim.horizon < self.limit {
                self.sim.audit(self.limit)?;
            }
            if self.sim.events.next_time() > now {
                break;
            }
            let Some((at, lane)) = self.sim.events.pop() else { break };
            self.sim.end = at;
            match self.sim.lanes.of(lane) {
                Lane::Link(l) => self.sim.link_event(at, l).map_err(|v| *v)?,
                Lane::Wire(w) => self.sim.leave_wire(at, w).map_err(|v| *v)?,
                Lane::Sampler => {
                    self.sim.sample(at)?;
                    self.sim.events.set(lane, at + self.sim.scenario.record.interval);
                }
                Lane::Datagrams(k) => self.sim.emit(at, k).map_err(|v| *v)?,
                Lane::Arrivals(k) => self.sim.open_arriving(at, k),
                Lane::End(end) => self.sim.real_end_event(at, end),
            }
            self.sim.release_drained();
        }
        self.sim.end = now;
        Ok(())
    }

    /// Return the index of a link, or `None` if the network has no such link.
    pub fn link(&self, name: &str) -> Option<u32> {
        self.sim.plan.links.iter().position(|link| link.name() == name).map(|index| index as u32)
    }

    /// Return the rate of a link.
    pub fn rate(&self, link: u32) -> Rate {
        self.sim.plan.links[link as usize].rate
    }

    /// Call `pass` for each packet that has arrived at the external queue of a link since the last
    /// call. The arguments are the packet's ticket, the packet and its bytes. The bytes are empty
    /// if the network created the packet itself, because its flow sends datagrams.
    pub fn arrivals(&mut self, link: u32, mut pass: impl FnMut(Ticket, &Packet, &[u8])) {
        let Some(queue) = self.sim.network.links[link as usize].queue_mut().storing_mut::<External>() else {
            return;
        };
        let real = self.sim.connections.records.real.as_deref();
        queue.arrivals(|ticket, packet| {
            pass(ticket, packet, real.map_or(&[][..], |real| real.bytes(packet)));
        });
    }

    /// Report that the external queue of a link released a packet, and whether it was marked.
    ///
    /// # Errors
    /// If an invariant of the network is violated.
    pub fn release(&mut self, now: Time, link: u32, ticket: Ticket, marked: bool) -> Result<(), Failure> {
        self.advance(now)?;
        let Simulation { network, connections, events, lanes, .. } = &mut self.sim;
        let of_link = &mut network.links[link as usize];
        let known =
            of_link.queue_mut().storing_mut::<External>().is_some_and(|queue| queue.release(ticket, marked));
        if known {
            of_link.resume(now, &mut network.flight, &mut connections.records.probe(link));
            events.set(lanes.link(link), of_link.next_event());
        }
        Ok(())
    }

    /// Call `deliver` for each packet that has left the network since the last call, in the order
    /// of time.
    pub fn departures(&mut self, mut deliver: impl FnMut(Departure)) {
        let mut departed = std::mem::take(&mut self.sim.departed);
        for (time, packet) in departed.drain(..) {
            let (connection, direction) = (packet.connection, packet.label.direction());
            let flow = self.flow(connection);
            let connections = &mut self.sim.connections;
            let Some(real) = &mut connections.records.real else { continue };
            let (ecn, dscp, bytes) = (packet.ecn, packet.label.dscp(), real.bytes(&packet));
            deliver(Departure { time, connection, flow, direction, ecn, dscp, bytes });
            real.release(&packet);
            if let Some(ends) = &mut connections.real {
                ends[connection as usize][direction.opposite().index()].arrived(time, &packet.segment);
            }
            self.sim.finish_real(time, connection);
        }
        self.sim.departed = departed;
    }

    /// Move the events that the hosts must process into `list`, in the order of time.
    pub fn take_happened(&mut self, list: &mut Vec<Happening>) {
        list.append(&mut self.sim.happened);
    }
}

impl Simulation<'_> {
    /// Open a connection, or wake an application.
    fn real_end_event(&mut self, now: Time, end: End) {
        let s = end.connection();
        let stage = self.connections.records.slots[s as usize].stage;
        match stage {
            Stage::Waiting => {
                self.begin_application(s);
                self.happened.push(Happening::Opens(s));
            }
            Stage::Open if self.wakes(now, end) => self.happened.push(Happening::Woken(end)),
            Stage::Open => self.rearm(end),
            Stage::Closed | Stage::Free => {}
        }
    }

    /// Open a connection of a flow that opens connections during the run.
    fn open_arriving(&mut self, now: Time, k: usize) {
        let Some(s) = self.add_connection(now, k) else { return };
        if let Some(real) = &mut self.connections.real {
            real.resize(self.connections.records.slots.len(), Default::default());
            real[s as usize] = Default::default();
        }
        self.begin_application(s);
        self.happened.push(Happening::Opens(s));
    }

    /// Finish a connection between real hosts, if both sides are closed.
    fn finish_real(&mut self, now: Time, s: u32) {
        let Some(real) = &self.connections.real else { return };
        let [client, server] = &real[s as usize];
        let closed = (client.is_closed() && server.is_closed()) || client.is_reset() || server.is_reset();
        match self.connections.records.slots[s as usize].stage {
            Stage::Open if closed => {
                self.happened.push(Happening::Closed(s));
                self.finish_connection(now, s);
            }
            Stage::Closed => self.release(s),
            _ => {}
        }
    }

    /// Notify the application at an endpoint of an event. If the application needs only complete
    /// messages, an event about a part of a message only counts its bytes.
    fn notify_of(&mut self, now: Time, end: End, event: Event) -> Actions {
        let index = self.connections.records.slots[end.connection() as usize].app_state;
        if let Some(app) = self.connections.app_states.of(index).get_mut(side(end) as usize)
            && app.whole
        {
            match event {
                Event::Opened => return Actions::NONE,
                Event::Received(n) if app.state.received + n < app.state.awaited => {
                    app.state.received += n;
                    return Actions::NONE;
                }
                _ => {}
            }
        }
        self.react(now, end, event)
    }
}
