//! A network made from a plan: its links, and what stands before and behind them.

use engine::Stream;
use impairments::Wire;
use net::Link;
use queues::diffserv::Conditioner;
use queues::{Discipline, Laws};
use traffic::Draws;
use units::{Duration, Time};

use super::ahead::find_told_ahead;
use super::flows::add_flows;
use super::hops::{Hop, lay};
use super::links::LinkPlan;
use super::passing::find_delays;
use super::plan::Plan;
use crate::datagrams::Datagrams;
use crate::endpoints::Endpoints;
use crate::scenario::Scenario;
use crate::slot::Slot;
use crate::source::Source;

/// A network at rest, ready to run.
#[derive(Debug)]
pub struct Built {
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
    /// The flows whose connections come and go, in their order, and when the process of arrivals begins.
    pub sources: Vec<(Source, Time)>,
    /// The flows of datagrams, in their order, and when their first packet is sent.
    pub datagrams: Vec<(Datagrams, Option<Time>)>,
    /// The random numbers of each table of flows.
    pub draws: Vec<Draws>,
    /// All routes one after the other, each with its end.
    pub hops: Vec<Hop>,
}

/// A random span below `most`.
pub(super) fn offset(seed: u64, name: &str, most: Duration) -> Duration {
    if most == Duration::ZERO { Duration::ZERO } else { Duration(Stream::new(seed, name).below(most.0)) }
}

/// Builds what was planned.
pub fn build(scenario: &Scenario, plan: &Plan, laws: &dyn Laws) -> Built {
    let seed = scenario.seed;
    let link = |l: &LinkPlan| {
        let name = l.name();
        let delay = l.delay + offset(seed, &format!("link/{name}/phase"), scenario.phase_breaking.delay);
        let random = Stream::new(seed, &format!("link/{name}/queue"));
        let link = Link::new(l.rate, delay, l.queue.build(&name, l.rate, random, laws, plan));
        match l.rate_changes.as_ref().and_then(|changes| changes.pace(l.rate)) {
            Some(pace) => link.with_pace(pace),
            None => link,
        }
    };
    let conditioned = plan.conditioned();
    let conditioner = |&l: &u32| {
        let link = &plan.links[l as usize];
        let name = link.name();
        Conditioner::new(&link.condition, plan, |i| Stream::new(seed, &format!("link/{name}/meter-{i}")))
    };
    let impaired = plan.impaired();
    let wire = |&l: &u32| {
        let link = &plan.links[l as usize];
        let name = link.name();
        Wire::new(&link.impairments, |kind, i| Stream::new(seed, &format!("link/{name}/{kind}-{i}")))
    };
    let (hops, begins) = lay(plan, &conditioned, &impaired);
    let mut built = Built {
        links: plan.links.iter().map(link).collect(),
        conditioners: conditioned.iter().map(conditioner).collect(),
        wires: impaired.iter().map(wire).collect(),
        endpoints: Endpoints::default(),
        slots: Vec::new(),
        sources: Vec::new(),
        datagrams: Vec::new(),
        draws: plan.tables.iter().map(|t| Draws::new(seed, &plan.name(t.first))).collect(),
        hops,
    };
    add_flows(scenario, plan, &begins, &mut built);
    find_delays(scenario, plan, &mut built);
    find_told_ahead(scenario, plan, &mut built);
    built
}
