//! Network that is built from the plan and ready to run.

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

/// Network that is built from the plan and ready to run.
#[derive(Debug)]
pub struct BuiltNetwork {
    /// Links.
    pub links: Vec<Link<Discipline>>,
    /// Conditioners before the queues of links, in the order of the links.
    pub conditioners: Vec<Conditioner>,
    /// Wires, one per link with impairments, in the order of the links. A wire applies the
    /// impairments of its link.
    pub wires: Vec<Wire>,
    /// Endpoints of the connections, two per connection slot.
    pub endpoints: Endpoints,
    /// Connection slots of the flows with a single connection, in the order of the flows.
    pub slots: Vec<Slot>,
    /// Flows that open connections during the run, in the order of the flows.
    pub arriving_flows: Vec<ArrivingFlow>,
    /// Totals over the connections of each flow that opens connections during the run.
    pub flow_totals: Vec<FlowTotals>,
    /// Flows of datagrams in the order of the flows, each with the time of its first packet.
    pub datagrams: Vec<(Datagrams, Option<Time>)>,
    /// Random numbers of each `[[flows]]` table.
    pub draws: Vec<DrawStreams>,
    /// Hops of all routes, one route after the other. The last hop of a route marks the end of the
    /// route.
    pub hops: Vec<Hop>,
}
