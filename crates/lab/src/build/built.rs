//! Network that is built and ready to run.

use impairments::Wire;
use net::Link;
use queues::Discipline;
use queues::diffserv::Conditioner;
use traffic::DrawStreams;
use units::Time;

use super::hops::Hop;
use crate::arriving_flows::{ArrivingFlow, FlowTotals};
use crate::datagrams::Datagrams;
use crate::endpoints::Endpoints;
use crate::slot::Slot;

/// Network that is ready to run.
#[derive(Debug)]
pub struct BuiltNetwork {
    /// Links.
    pub links: Vec<Link<Discipline>>,
    /// Conditioners before the queues of links, in the order of the links.
    pub conditioners: Vec<Conditioner>,
    /// Wires of the links with impairments, in the order of the links.
    pub wires: Vec<Wire>,
    /// Endpoints of the connections in the slots.
    pub endpoints: Endpoints,
    /// Slots of the flows with a single connection, in the order of the flows.
    pub slots: Vec<Slot>,
    /// Flows that open connections during the run, in the order of the flows.
    pub arriving_flows: Vec<ArrivingFlow>,
    /// Totals of the connections of flows that open connections during the run.
    pub flow_totals: Vec<FlowTotals>,
    /// Flows of datagrams in the order of the flows, each with the time of its first packet.
    pub datagrams: Vec<(Datagrams, Option<Time>)>,
    /// Random numbers of each `[[flows]]` table.
    pub draws: Vec<DrawStreams>,
    /// Hops of all routes, one route after the other. The last hop of a route is its end.
    pub hops: Vec<Hop>,
}
