//! Construction of the network of a plan: links with their conditioners and wires, flows, and
//! optimizations.

use engine::Stream;
use impairments::Wire;
use net::Link;
use queues::diffserv::Conditioner;
use queues::external::External;
use queues::{CustomAqms, Discipline};
use traffic::DrawStreams;

use super::built::BuiltNetwork;
use super::delay_links::find_delay_links;
use super::early_delivery::find_early_delivery;
use super::flows::add_flows;
use super::hops::{Hop, lay_out_hops};
use super::links::LinkPlan;
use super::offset::offset;
use super::plan::Plan;
use crate::endpoints::Endpoints;
use crate::scenario::Scenario;

/// Hosts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts<'a> {
    /// Endpoints of the simulator.
    Simulated,
    /// Hosts outside of the simulator, such as the sockets of a kernel.
    Real {
        /// Names of the links whose packets wait in a queue outside of the run.
        external: &'a [String],
    },
}

/// Build the network of a plan. With real hosts, a link has an event per packet, because only the
/// simulator knows the sizes and the order of future packets.
pub fn build(
    scenario: &Scenario,
    plan: &Plan,
    custom_aqms: &dyn CustomAqms,
    hosts: Hosts<'_>,
) -> BuiltNetwork {
    let seed = scenario.seed;
    let explains = scenario.record.series.iter().any(|series| series.needs().explanations);
    let link = |l: &LinkPlan| {
        let name = l.name();
        let delay = l.delay + offset(seed, &format!("link/{name}/phase"), scenario.phase_breaking.delay);
        let random = Stream::new(seed, &format!("link/{name}/queue"));
        let is_external = matches!(hosts, Hosts::Real { external } if external.contains(&name));
        let queue = match is_external {
            true => Discipline::Storing(Box::new(External::default())),
            false => l.queue.build(&name, l.rate, random, custom_aqms, plan),
        };
        let mut link = Link::new(l.rate, delay, queue);
        if explains {
            link.explain();
        }
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
    let (hops, begins) = lay_out_hops(plan, &conditioned, &impaired);
    let mut built = BuiltNetwork {
        links: plan.links.iter().map(link).collect(),
        conditioners: conditioned.iter().map(conditioner).collect(),
        wires: impaired.iter().map(wire).collect(),
        endpoints: Endpoints::default(),
        slots: Vec::new(),
        arriving_flows: Vec::new(),
        flow_totals: Vec::new(),
        datagrams: Vec::new(),
        draws: plan.tables.iter().map(|t| DrawStreams::new(seed, &plan.name(t.first))).collect(),
        hops,
    };
    add_flows(scenario, plan, &begins, &mut built);
    mark_observed(scenario, plan, &mut built);
    match hosts {
        Hosts::Simulated => {
            find_delay_links(scenario, plan, &mut built);
            find_early_delivery(scenario, plan, &mut built);
        }
        Hosts::Real { .. } => {
            let reaches_host = |hop: &&mut Hop| hop.is_last() && **hop != Hop::SINK;
            built.hops.iter_mut().filter(reaches_host).for_each(|hop| *hop = Hop::REAL);
        }
    }
    built
}

/// Mark the hops of the links on which the run observes the packets: the recorded links if a series
/// needs their packets, and all links if the run captures packets.
fn mark_observed(scenario: &Scenario, plan: &Plan, built: &mut BuiltNetwork) {
    let record = &scenario.record;
    let observed = if !record.pcap.on.is_empty() {
        (0..plan.links.len() as u32).collect()
    } else if record.series.iter().any(|series| series.needs().links) {
        plan.recorded(record)
    } else {
        Vec::new()
    };
    let is_observed = |hop: &&mut Hop| hop.is_link() && observed.binary_search(&hop.link()).is_ok();
    built.hops.iter_mut().filter(is_observed).for_each(Hop::set_observed);
}
