//! Network of a scenario for real packets. Real hosts, such as the sockets of a kernel, send the
//! packets, and the caller reads the clock. The links, queues, conditioners and impairments are
//! those of a simulated run, and the result has the same tables of links and queues.
//!
//! The caller passes each packet to [`Forwarding::send`] at the time of its arrival, and calls
//! [`Forwarding::advance`] at the times that [`Forwarding::next_time`] returns. Packets that have
//! left the network are in [`Forwarding::departures`].

use net::{Direction, Ecn, Packet, Segment};
use queues::CustomAqms;
use units::Time;

use super::Simulation;
use crate::build::{Hosts, plan, refuse_unknown_custom_aqms};
use crate::computing_time::Stopwatch;
use crate::failure::Failure;
use crate::lanes::Lane;
use crate::record::Outcome;
use crate::scenario::Scenario;
use crate::slot::{Slot, Stage};

/// Packet that has left the network for a real host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<'a> {
    /// Time at which the packet reaches the host.
    pub time: Time,
    /// Number of the connection, as [`Forwarding::connection`] returned it.
    pub connection: u32,
    /// Direction of the packet.
    pub direction: Direction,
    /// ECN field after all links.
    pub ecn: Ecn,
    /// DiffServ codepoint after all conditioners.
    pub dscp: u8,
    /// True if an impairment damaged the packet.
    pub damaged: bool,
    /// Bytes of the packet, as the host sent them.
    pub bytes: &'a [u8],
}

/// Network of a scenario whose packets real hosts send.
pub struct Forwarding<'a> {
    sim: Simulation<'a>,
    limit: Time,
}

/// Forward the packets of real hosts through the network of a scenario. The function `hosts` sends
/// the packets, and returns the time at which the run ends. The result has the tables of links,
/// classes, conditioners and impairments, and the series of queues. The caller adds what the hosts
/// measured.
pub fn forward<E: From<Failure>>(
    scenario: &Scenario,
    custom_aqms: &dyn CustomAqms,
    hosts: impl FnOnce(&mut Forwarding) -> Result<Time, E>,
) -> Result<Outcome, E> {
    let mut stopwatch = Stopwatch::start();
    let plan = plan(scenario).map_err(Failure::from)?;
    refuse_unknown_custom_aqms(&plan, custom_aqms).map_err(Failure::from)?;
    let sim = Simulation::new(scenario, &plan, custom_aqms, Hosts::Real);
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
        self.network.each_inside(&mut |_| packets += 1);
        let stored = self.connections.records.real.as_ref().map_or(0, |real| real.in_use());
        if stored == packets {
            return Ok(());
        }
        let what = format!("the bytes of {stored} packets are stored, but {packets} packets are inside");
        Err(self.violation(self.end, "network".into(), what).into())
    }
}

impl Forwarding<'_> {
    /// Return the number of a connection of a flow, which opens now. A flow without `arrivals` has
    /// a single connection, and each call returns the number of this connection.
    pub fn connection(&mut self, now: Time, flow: u32) -> u32 {
        let Simulation { plan, connections, .. } = &mut self.sim;
        let slots = &mut connections.records.slots;
        let known = connections.single + connections.datagrams.len();
        if let Some(s) = slots[..known].iter().position(|slot| slot.flow == flow) {
            slots[s].stage = Stage::Open;
            return s as u32;
        }
        let k = connections.arriving_flow_of(flow);
        let arriving = &mut connections.arriving_flows[k];
        let number = arriving.progress.opened;
        arriving.progress.opened += 1;
        let dscp = plan.dscp(flow as usize);
        let mut slot = Slot::new(flow, number, arriving.first_hop, now, dscp);
        slot.stage = Stage::Open;
        connections.records.slots.push(slot);
        connections.records.slots.len() as u32 - 1
    }

    /// Send a packet of a connection into the network. `bytes` is the whole IP packet; its length
    /// is the size of the packet. The packet has the DiffServ codepoint of its flow.
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
        let size = u16::try_from(bytes.len()).expect("an IP packet has at most 65,535 bytes");
        let records = &mut self.sim.connections.records;
        let window = records.real.get_or_insert_default().store(bytes);
        let slot = &mut records.slots[connection as usize];
        slot.counters.sent(direction);
        let (hop, label) = (slot.first_hop[direction.index()], slot.labels[direction.index()]);
        let segment = Segment { window, ..segment };
        let mut packet = Packet { connection, size, ecn, label, hop, options: 0, segment };
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
                Lane::End(_) | Lane::Arrivals(_) | Lane::Datagrams(_) => {}
            }
        }
        self.sim.end = now;
        Ok(())
    }

    /// Call `deliver` for each packet that has left the network since the last call, in the order
    /// of time.
    pub fn departures(&mut self, mut deliver: impl FnMut(Departure)) {
        let records = &mut self.sim.connections.records;
        for (time, packet) in self.sim.departed.drain(..) {
            let Some(real) = &mut records.real else { continue };
            deliver(Departure {
                time,
                connection: packet.connection,
                direction: packet.label.direction(),
                ecn: packet.ecn,
                dscp: packet.label.dscp(),
                damaged: packet.is_damaged(),
                bytes: real.bytes(&packet),
            });
            real.release(&packet);
        }
    }
}
