//! A network at rest.

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

/// A network at rest, ready to run.
#[derive(Debug)]
pub struct BuiltNetwork {
    /// The links.
    pub links: Vec<Link<Discipline>>,
    /// The conditioners before the queues of links, in the order of the links.
    pub conditioners: Vec<Conditioner>,
    /// The wires of links with impairments, in the order of the links.
    pub wires: Vec<Wire>,
    /// Those of the slots.
    pub endpoints: Endpoints,
    /// A slot for each flow that is one connection, in their order.
    pub slots: Vec<Slot>,
    /// The flows whose connections come and go, in their order.
    pub arriving_flows: Vec<ArrivingFlow>,
    /// Where their connections are added up.
    pub flow_totals: Vec<FlowTotals>,
    /// The flows of datagrams, in their order, and when their first packet is sent.
    pub datagrams: Vec<(Datagrams, Option<Time>)>,
    /// The random numbers of each table of flows.
    pub draws: Vec<DrawStreams>,
    /// All routes one after the other, each with its end.
    pub hops: Vec<Hop>,
}
