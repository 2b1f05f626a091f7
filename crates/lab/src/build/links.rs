//! Links of a network, one per direction.

use std::collections::HashSet;

use impairments::{Impairment, RateChanges};
use queues::Queue;
use queues::diffserv::Rule;
use units::param::{Invalid, join};
use units::{Duration, Rate, Read};

use crate::scenario::{Directions, Dumbbell, Graph, Network, Reverse};
use crate::template::expand;

/// One-way link of the plan.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    pub(super) from: String,
    pub(super) to: String,
    pub rate: Rate,
    pub(super) delay: Duration,
    pub(super) queue: Queue,
    pub(super) condition: Vec<Rule>,
    pub(super) rate_changes: Option<RateChanges>,
    pub(super) impairments: Vec<Impairment>,
    pub(super) cost: u64,
}

impl LinkPlan {
    /// Return the description of the link's queue in the scenario.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Return the rules of the conditioner that precedes the queue of the link.
    pub fn condition(&self) -> &[Rule] {
        &self.condition
    }

    /// Return the impairments of the link, which its wire applies.
    pub fn impairments(&self) -> &[Impairment] {
        &self.impairments
    }

    /// Return the name of the link in the form `from>to`.
    pub fn name(&self) -> String {
        format!("{}>{}", self.from, self.to)
    }
}

/// Parameters of one direction of a link.
struct LinkDirection<'a> {
    rate: Rate,
    delay: Duration,
    queue: &'a Queue,
    rate_changes: &'a Option<RateChanges>,
    condition: &'a [Rule],
    impairments: &'a [Impairment],
}

impl<'a> LinkDirection<'a> {
    /// Return the parameters of the reverse direction of a link. If `reverse` sets no rate or no
    /// delay, the function uses the parameter `rate` or `delay` instead.
    fn reverse(reverse: &'a Reverse, rate: Rate, delay: Duration) -> Self {
        LinkDirection {
            rate: reverse.rate.unwrap_or(rate),
            delay: reverse.delay.unwrap_or(delay),
            queue: &reverse.queue,
            rate_changes: &reverse.rate_changes,
            condition: &reverse.condition,
            impairments: &reverse.impairments,
        }
    }
}

/// Add a one-way link to the plan.
fn add_link(plan: &mut Vec<LinkPlan>, nodes: (&str, &str), direction: &LinkDirection, cost: u64) {
    plan.push(LinkPlan {
        from: nodes.0.into(),
        to: nodes.1.into(),
        rate: direction.rate,
        delay: direction.delay,
        queue: direction.queue.clone(),
        rate_changes: direction.rate_changes.clone(),
        condition: direction.condition.to_vec(),
        impairments: direction.impairments.to_vec(),
        cost,
    });
}

/// Return all one-way links of a network.
pub(super) fn links(network: &Network) -> Result<Vec<LinkPlan>, Invalid> {
    match network {
        Network::Dumbbell(d) => Ok(dumbbell(d)),
        Network::Graph(g) => graph(g),
    }
}

/// Return all one-way links of a dumbbell.
fn dumbbell(d: &Dumbbell) -> Vec<LinkPlan> {
    let mut plan = Vec::new();
    let forward = LinkDirection {
        rate: d.rate,
        delay: d.delay,
        queue: &d.queue,
        rate_changes: &d.rate_changes,
        condition: &d.condition,
        impairments: &d.impairments,
    };
    add_link(&mut plan, ("left", "right"), &forward, 1);
    add_link(&mut plan, ("right", "left"), &LinkDirection::reverse(&d.reverse, d.rate, d.delay), 1);
    for (side, hosts, rate, delay) in [
        ("left", d.left_hosts, &d.left_rate, &d.left_delay),
        ("right", d.right_hosts, &d.right_rate, &d.right_delay),
    ] {
        for i in 0..hosts {
            let host = format!("{side}-{i}");
            let access = LinkDirection {
                rate: rate.of(i),
                delay: delay.of(i, hosts),
                queue: &d.access_queue,
                rate_changes: &None,
                condition: &[],
                impairments: &[],
            };
            add_link(&mut plan, (&host, side), &access, 1);
            add_link(&mut plan, (side, &host), &access, 1);
        }
    }
    plan
}

/// Return all one-way links of a graph.
fn graph(g: &Graph) -> Result<Vec<LinkPlan>, Invalid> {
    if g.links.is_empty() {
        return Err(Invalid::at("network.links", "is empty").remedy("describe at least one link"));
    }
    let mut plan = Vec::new();
    let mut seen: HashSet<(String, String)> = HashSet::new();
    for (l, link) in g.links.iter().enumerate() {
        let path = format!("network.links.{l}");
        for i in 0..link.count {
            let name = |text: &str| expand(text, &[("i", i)]);
            let (from, to) = (name(&link.from), name(&link.to));
            if from.is_empty() || to.is_empty() {
                return Err(Invalid::at(&path, "must name two nodes, in the keys from and to"));
            }
            if from == to {
                let problem = "names the same node as the key from";
                return Err(
                    Invalid::new(&join(&path, "to"), &to.write(), problem).remedy("name another node")
                );
            }
            let forward = LinkDirection {
                rate: link.rate,
                delay: link.delay,
                queue: &link.queue,
                rate_changes: &link.rate_changes,
                condition: &link.condition,
                impairments: &link.impairments,
            };
            let reverse = LinkDirection::reverse(&link.reverse, link.rate, link.delay);
            let reverse = (link.directions == Directions::Both).then_some((&to, &from, reverse));
            for (from, to, direction) in [(&from, &to, forward)].into_iter().chain(reverse) {
                if !seen.insert((from.clone(), to.clone())) {
                    let problem = format!("describes a second link from {from} to {to}");
                    let remedy = if link.count > 1 {
                        "write {i} in the key from or in the key to, so that each link connects different nodes"
                    } else {
                        "two nodes can have only one link per direction, because the link is named after its nodes; add a third node between them"
                    };
                    return Err(Invalid::at(&path, problem).remedy(remedy));
                }
                add_link(&mut plan, (from, to), &direction, link.cost);
            }
        }
    }
    Ok(plan)
}
