//! Plan of a network: every link and flow with its name, and the routes.

use std::sync::Arc;

use net::{Direction, Variable};
use queues::diffserv::{self, Dscp, Flows, Protocol};
use tcp::Tcp;
use traffic::application::{Needs, Side};
use traffic::{Application, Arrivals, Opener, Traffic};
use units::param::{Invalid, join};
use units::{Duration, Read};

use super::links::{LinkPlan, links};
use super::routes::{Nodes, Routes};
use crate::scenario::{Record, Scenario, opener};
use crate::series::SingleFlow;
use crate::template::expand;

/// Parameters that all flows of one `[[flows]]` table share.
#[derive(Clone, Debug)]
pub(super) struct FlowTable {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) start: Duration,
    pub(super) dscp: Dscp,
    pub(super) arrivals: Option<Arrivals>,
    pub(super) traffic: Traffic,
    /// Index of the first flow of the `[[flows]]` table.
    pub(super) first: usize,
    pub(super) sender: Arc<Tcp>,
    pub(super) receiver: Arc<Tcp>,
}

/// Forward and reverse route of a flow, as indices of [`Plan::routes`]. The name of a flow, and its
/// number in its `[[flows]]` table, are computed when they are needed, so that a million flows need
/// little memory.
pub(super) type FlowPlan = [u32; 2];

/// Links, flows and routes of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// One-way links.
    pub links: Vec<LinkPlan>,
    pub(super) tables: Vec<FlowTable>,
    /// Index of the `[[flows]]` table of each flow, or an empty list if the scenario has a single
    /// `[[flows]]` table. The simulator reads the index of a flow's `[[flows]]` table for each
    /// packet.
    table: Vec<u32>,
    pub(super) flows: Vec<FlowPlan>,
    /// Distinct routes. A route is a sequence of links.
    pub(super) routes: Vec<Vec<usize>>,
    /// Maximum random offset of the start of a flow.
    pub start_spread: Duration,
}

impl Plan {
    /// Return the number of flows.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Expand the template in a key of the `[[flows]]` table of a flow.
    fn expand(&self, f: usize, text: impl Fn(&FlowTable) -> &str) -> String {
        let number = u64::from(self.number(f));
        expand(text(&self.tables[self.table(f)]), &[("i", number), ("n", f as u64)])
    }

    /// Return the name of a flow.
    pub fn name(&self, f: usize) -> String {
        self.expand(f, |t| &t.name)
    }

    /// Return the names of all flows.
    pub fn flow_names(&self) -> Vec<String> {
        (0..self.flows()).map(|f| self.name(f)).collect()
    }

    /// Return the names of all links.
    pub fn link_names(&self) -> Vec<String> {
        self.links.iter().map(LinkPlan::name).collect()
    }

    /// Return the name of the host that sends the data of a flow.
    pub fn from(&self, f: usize) -> String {
        self.expand(f, |t| &t.from)
    }

    /// Return the name of the host that receives the data of a flow.
    pub fn to(&self, f: usize) -> String {
        self.expand(f, |t| &t.to)
    }

    /// Return the traffic of a flow.
    pub fn traffic(&self, f: usize) -> &Traffic {
        &self.tables[self.table(f)].traffic
    }

    /// Return the application of a flow, or `None` for datagrams.
    pub fn application(&self, f: usize) -> Option<&dyn Application> {
        self.traffic(f).application()
    }

    /// Return the TCP parameters of a flow's client and server.
    pub fn hosts(&self, f: usize) -> [&Tcp; 2] {
        let table = &self.tables[self.table(f)];
        [&table.sender, &table.receiver]
    }

    /// Return the events and services that a flow's application needs at one endpoint.
    pub fn needs(&self, f: usize, side: Side) -> Needs {
        self.application(f).map_or(Needs::NOTHING, |application| application.needs(side))
    }

    /// Return true if both hosts of the flow send data. If both hosts send data, the application at
    /// the client receives events.
    pub fn is_bidirectional(&self, f: usize) -> bool {
        self.needs(f, Side::Client).events
    }

    /// Return the opener of a flow's connections, or `None` if the flow has a single connection.
    pub fn opener(&self, f: usize) -> Option<&dyn Opener> {
        let table = &self.tables[self.table(f)];
        opener(table.arrivals.as_ref(), &table.traffic)
    }

    /// Return the index of the `[[flows]]` table that describes a flow.
    pub fn table(&self, f: usize) -> usize {
        self.table.get(f).map_or(0, |&t| t as usize)
    }

    /// Return the number of a flow in its `[[flows]]` table, counted from 0.
    pub fn number(&self, f: usize) -> u32 {
        (f - self.tables[self.table(f)].first) as u32
    }

    /// Return the keys `name`, `from` and `to` of a `[[flows]]` table, before the templates are
    /// expanded.
    pub fn texts(&self, table: usize) -> [&str; 3] {
        let t = &self.tables[table];
        [&t.name, &t.from, &t.to]
    }

    /// Return the links that have a conditioner before their queue.
    pub fn conditioned(&self) -> Vec<u32> {
        (0..self.links.len() as u32).filter(|&l| !self.links[l as usize].condition.is_empty()).collect()
    }

    /// Return, for each `[[flows]]` table, the names of the flows whose data in the direction
    /// `direction` crosses at least one of the links.
    pub fn crossing(&self, direction: Direction, links: &[String]) -> Vec<Vec<String>> {
        let selected: Vec<bool> = self.links.iter().map(|l| links.contains(&l.name())).collect();
        let mut names = vec![Vec::new(); self.tables()];
        for (f, route) in self.flows.iter().enumerate() {
            let has_data = direction == Direction::Forward || self.is_bidirectional(f);
            if has_data && self.routes[route[direction.index()] as usize].iter().any(|&l| selected[l]) {
                names[self.table(f)].push(self.name(f));
            }
        }
        names
    }

    /// Return the names of the `[[flows]]` tables, before the templates are expanded.
    pub fn table_names(&self) -> Vec<String> {
        self.tables.iter().map(|table| table.name.clone()).collect()
    }

    /// Return the index of the first flow of each `[[flows]]` table.
    pub fn first_flows(&self) -> Vec<u32> {
        self.tables.iter().map(|table| table.first as u32).collect()
    }

    /// Return the DSCP of a flow.
    pub fn dscp(&self, f: usize) -> u8 {
        self.tables[self.table(f)].dscp.0
    }

    /// Return the links that the key `record.links` selects.
    pub fn recorded(&self, record: &Record) -> Vec<u32> {
        let named =
            |&l: &u32| record.links.is_empty() || record.links.contains(&self.links[l as usize].name());
        (0..self.links.len() as u32).filter(named).collect()
    }

    /// Return the variables by which the queues of all links explain their drops and marks. Each
    /// name occurs once.
    pub fn variables(&self) -> Vec<&'static Variable> {
        let mut all: Vec<&'static Variable> = Vec::new();
        for variable in self.links.iter().flat_map(|link| link.queue.variables()) {
            if all.iter().all(|known| known.name != variable.name) {
                all.push(variable);
            }
        }
        all
    }

    /// Return the properties of a flow with a single connection, for the recorded series.
    pub fn single_flow(&self, flow: u32, record: &Record) -> SingleFlow {
        let traced = record.traced.is_empty() || record.traced.contains(&self.name(flow as usize));
        SingleFlow { flow, is_bidirectional: self.is_bidirectional(flow as usize), traced }
    }

    /// Return the links that have impairments.
    pub fn impaired(&self) -> Vec<u32> {
        (0..self.links.len() as u32).filter(|&l| !self.links[l as usize].impairments.is_empty()).collect()
    }

    /// Return the number of `[[flows]]` tables.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }
}

impl Flows for Plan {
    fn count(&self) -> usize {
        self.flows()
    }

    fn flow(&self, f: usize) -> diffserv::Flow {
        let (name, from, to, traffic) = (self.name(f), self.from(f), self.to(f), self.traffic(f));
        let protocol = if traffic.is_datagrams() { Protocol::Udp } else { Protocol::Tcp };
        diffserv::Flow { name, from, to, protocol, traffic: traffic.kind() }
    }
}

/// Name every link and flow of a scenario, and compute the routes.
pub(super) fn lay_out_plan(scenario: &Scenario) -> Result<Plan, Invalid> {
    let links = links(&scenario.network)?;
    let nodes = Nodes::new(&links);
    let mut routes = Routes::new(&nodes);
    let mut plan = Plan::default();
    for (t, table) in scenario.flows.iter().enumerate() {
        let path = join("flows", t);
        let sender = Arc::new(table.tcp.apply(&scenario.tcp, &join(&path, "tcp"))?);
        let receiver = if table.receiver_tcp.is_none() {
            sender.clone()
        } else {
            Arc::new(table.receiver_tcp.apply(&sender, &join(&path, "receiver_tcp"))?)
        };
        if let Some(application) = table.traffic.application() {
            application.load(&join(&path, "traffic"))?;
        }
        plan.tables.push(FlowTable {
            name: table.name.clone(),
            from: table.from.clone(),
            to: table.to.clone(),
            start: table.start,
            dscp: table.dscp,
            arrivals: table.arrivals.clone(),
            traffic: table.traffic.clone(),
            first: plan.flows.len(),
            sender,
            receiver,
        });
        plan.flows.reserve_exact(table.count as usize);
        if scenario.flows.len() > 1 {
            plan.table.resize(plan.flows.len() + table.count as usize, t as u32);
        }
        for _ in 0..table.count {
            let f = plan.flows.len();
            plan.flows.push([0; 2]);
            let (from, to) = (plan.from(f), plan.to(f));
            let (a, b) = (nodes.find(&join(&path, "from"), &from)?, nodes.find(&join(&path, "to"), &to)?);
            if a == b {
                let problem = "names the same host as the key from";
                return Err(
                    Invalid::new(&join(&path, "to"), &to.write(), problem).remedy("name another host")
                );
            }
            plan.flows[f][0] = routes.find(&path, a, b)?;
            if !table.traffic.is_datagrams() {
                plan.flows[f][1] = routes.find(&path, b, a)?;
            }
        }
    }
    plan.links = links;
    plan.routes = routes.routes;
    Ok(plan)
}
