//! Turns a scenario into a network ready to run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::Stream;
use net::{Edge, Link, Routes};
use queues::{Discipline, Queue};
use tcp::{Endpoint, Tcp};
use traffic::Traffic;
use units::param::{Invalid, did_you_mean, join};
use units::{Duration, Rate, Read, Time};

use crate::read::unknown_node;
use crate::scenario::{Directions, Dumbbell, Graph, Network, Scenario, Series};
use crate::template::expand;

/// A one-way link as planned.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    from: String,
    to: String,
    rate: Rate,
    delay: Duration,
    queue: Queue,
    cost: u64,
}

impl LinkPlan {
    /// Its name: `from>to`.
    pub fn name(&self) -> String {
        format!("{}>{}", self.from, self.to)
    }
}

/// A flow as planned.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// Sending host.
    pub from: String,
    /// Receiving host.
    pub to: String,
    /// When it opens its connection, phase breaking not included.
    pub start: Duration,
    /// Its traffic.
    pub traffic: Traffic,
    sender: Arc<Tcp>,
    receiver: Arc<Tcp>,
    /// Links from sender to receiver, and back.
    routes: [Vec<usize>; 2],
}

/// Every link and flow by name, with routes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One-way links.
    pub links: Vec<LinkPlan>,
    /// Flows.
    pub flows: Vec<FlowPlan>,
}

/// A hop of a route: a link, or the endpoint where the route ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

impl Hop {
    const ENDPOINT: u32 = 1 << 31;
    const DELAYS: u32 = 1 << 30;

    /// The index of the link or endpoint.
    #[inline]
    pub fn index(self) -> u32 {
        self.0 & !(Self::ENDPOINT | Self::DELAYS)
    }

    /// Whether it is an endpoint.
    #[inline]
    pub fn is_endpoint(self) -> bool {
        self.0 & Self::ENDPOINT != 0
    }

    /// Whether it is a link that only delays what the hop before admits ([`Link::only_delays`]).
    #[inline]
    pub fn only_delays(self) -> bool {
        self.0 & Self::DELAYS != 0
    }
}

/// A network at rest, ready to run.
#[derive(Debug)]
pub struct Built {
    /// The links.
    pub links: Vec<Link<Discipline>>,
    /// Endpoint 2f sends the data of flow f, endpoint 2f + 1 receives it.
    pub endpoints: Vec<Endpoint>,
    /// When each flow opens its connection.
    pub starts: Vec<Time>,
    /// All routes one after the other, each ended by an endpoint.
    pub hops: Vec<Hop>,
    /// Where the route of what an endpoint sends begins in `hops`.
    pub first_hop: Vec<u32>,
}

fn one_way(
    plan: &mut Vec<LinkPlan>,
    ends: (&str, &str),
    rate: Rate,
    delay: Duration,
    queue: &Queue,
    cost: u64,
) {
    plan.push(LinkPlan { from: ends.0.into(), to: ends.1.into(), rate, delay, queue: queue.clone(), cost });
}

fn dumbbell(d: &Dumbbell) -> Vec<LinkPlan> {
    let mut plan = Vec::new();
    one_way(&mut plan, ("left", "right"), d.rate, d.delay, &d.queue, 1);
    one_way(&mut plan, ("right", "left"), d.rate, d.delay, &d.reverse_queue, 1);
    for (side, hosts, rate, delay) in [
        ("left", d.left_hosts, d.left_rate, &d.left_delay),
        ("right", d.right_hosts, d.right_rate, &d.right_delay),
    ] {
        for i in 0..hosts {
            let host = format!("{side}-{i}");
            let delay = delay.of(i, hosts);
            one_way(&mut plan, (&host, side), rate, delay, &d.access_queue, 1);
            one_way(&mut plan, (side, &host), rate, delay, &d.access_queue, 1);
        }
    }
    plan
}

fn graph(g: &Graph) -> Result<Vec<LinkPlan>, Invalid> {
    let mut plan = Vec::new();
    let mut seen: HashSet<(String, String)> = HashSet::new();
    for (l, link) in g.links.iter().enumerate() {
        let path = format!("network.links.{l}");
        for i in 0..link.count {
            let name = |text: &str| expand(text, &[("i", i)]);
            let (from, to) = (name(&link.from), name(&link.to));
            if from.is_empty() || to.is_empty() {
                return Err(Invalid::at(&path, "must name two nodes, from and to"));
            }
            if from == to {
                return Err(Invalid::new(
                    &join(&path, "to"),
                    &to.write(),
                    "is also where the link comes from",
                ));
            }
            let back = (link.directions == Directions::Both).then_some((&to, &from, &link.reverse_queue));
            for (from, to, queue) in [(&from, &to, &link.queue)].into_iter().chain(back) {
                if !seen.insert((from.clone(), to.clone())) {
                    let problem = format!("is the second link from {from} to {to}");
                    return Err(Invalid::at(&path, problem).remedy(
                        "links are named by their nodes, so there is one each way; put a node between them",
                    ));
                }
                one_way(&mut plan, (from, to), link.rate, link.delay, queue, link.cost);
            }
        }
    }
    Ok(plan)
}

/// Names every link and flow and finds the routes.
pub fn plan(scenario: &Scenario) -> Result<Plan, Invalid> {
    let links = match &scenario.network {
        Network::Dumbbell(d) => dumbbell(d),
        Network::Graph(g) => graph(g)?,
    };
    let mut nodes: Vec<String> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut node = |name: &str| {
        *index.entry(name.to_string()).or_insert_with(|| {
            nodes.push(name.to_string());
            nodes.len() - 1
        })
    };
    let edges: Vec<Edge> =
        links.iter().map(|l| Edge { from: node(&l.from), to: node(&l.to), cost: l.cost }).collect();
    let mut routes = Routes::new(nodes.len(), &edges);
    let mut names: HashMap<String, String> = HashMap::new();
    let mut flows = Vec::new();
    for (f, flow) in scenario.flows.iter().enumerate() {
        let path = join("flows", f);
        let sender = Arc::new(flow.tcp.apply(&scenario.tcp, &join(&path, "tcp"))?);
        let receiver = if flow.receiver_tcp.is_none() {
            sender.clone()
        } else {
            Arc::new(flow.receiver_tcp.apply(&sender, &join(&path, "receiver_tcp"))?)
        };
        for i in 0..flow.count {
            let n = flows.len();
            let named = |text: &str| expand(text, &[("i", i), ("n", n as u64)]);
            let (name, from, to) = (named(&flow.name), named(&flow.from), named(&flow.to));
            let find = |key: &str, name: &str| {
                index.get(name).copied().ok_or_else(|| unknown_node(&join(&path, key), name, &nodes))
            };
            let (a, b) = (find("from", &from)?, find("to", &to)?);
            if a == b {
                return Err(Invalid::new(
                    &join(&path, "to"),
                    &to.write(),
                    "is also where the flow comes from",
                ));
            }
            let mut route = |x: usize, y: usize| {
                routes.path(x, y).ok_or_else(|| {
                    Invalid::at(&path, format!("no links lead from {} to {}", nodes[x], nodes[y]))
                        .remedy("TCP needs a way there and a way back")
                })
            };
            let routes = [route(a, b)?, route(b, a)?];
            if let Some(other) = names.insert(name.clone(), path.clone()) {
                return Err(Invalid::new(
                    &join(&path, "name"),
                    &name.write(),
                    format!("is also the name of a flow of {other}"),
                )
                .remedy("give each its own, with {i} where count is above 1"));
            }
            flows.push(FlowPlan {
                name,
                from,
                to,
                start: flow.start,
                traffic: flow.traffic.clone(),
                sender: sender.clone(),
                receiver: receiver.clone(),
                routes,
            });
        }
    }
    for (i, name) in scenario.record.links.iter().enumerate() {
        let known: Vec<String> = links.iter().map(LinkPlan::name).collect();
        if !known.contains(name) {
            let shown: Vec<&str> = known.iter().map(String::as_str).take(30).collect();
            return Err(Invalid::new(
                &format!("record.links.{i}"),
                &name.write(),
                "is no link of the network",
            )
            .remedy(did_you_mean(name, &shown)));
        }
    }
    Ok(Plan { links, flows })
}

/// A random span below `most`.
fn offset(seed: u64, name: &str, most: Duration) -> Duration {
    if most == Duration::ZERO { Duration::ZERO } else { Duration(Stream::new(seed, name).below(most.0)) }
}

/// Builds what was planned.
pub fn build(scenario: &Scenario, plan: &Plan) -> Built {
    let seed = scenario.seed;
    let phase = &scenario.phase_breaking;
    let links = plan
        .links
        .iter()
        .map(|l| {
            let name = l.name();
            let delay = l.delay + offset(seed, &format!("link/{name}/phase"), phase.delay);
            Link::new(l.rate, delay, l.queue.build(l.rate, Stream::new(seed, &format!("link/{name}/queue"))))
        })
        .collect();
    let mut built =
        Built { links, endpoints: Vec::new(), starts: Vec::new(), hops: Vec::new(), first_hop: Vec::new() };
    for flow in &plan.flows {
        let first = built.endpoints.len() as u32;
        for (side, tcp) in [&flow.sender, &flow.receiver].into_iter().enumerate() {
            built.first_hop.push(built.hops.len() as u32);
            built.hops.extend(flow.routes[side].iter().map(|&l| Hop(l as u32)));
            built.hops.push(Hop(Hop::ENDPOINT | (first + (1 - side as u32))));
            let name = format!("flow/{}/clock-{side}", flow.name);
            built.endpoints.push(Endpoint::new(tcp.clone(), offset(seed, &name, tcp.clock_granularity)));
        }
        let start = flow.start + offset(seed, &format!("flow/{}/start", flow.name), phase.start);
        built.starts.push(Time::ZERO + start);
    }
    find_delays(scenario, plan, &mut built);
    built
}

/// What comes before a link on the routes.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Link(usize),
    Several,
}

/// Finds the links that only delay, and says so in the routes.
fn find_delays(scenario: &Scenario, plan: &Plan, built: &mut Built) {
    let mut before = vec![Before::Nothing; built.links.len()];
    for hops in built.hops.chunk_by(|a, _| !a.is_endpoint()) {
        let mut previous = Before::Several; // an endpoint sends whenever it likes
        for hop in hops.iter().filter(|h| !h.is_endpoint()) {
            let here = &mut before[hop.index() as usize];
            *here = if *here == Before::Nothing || *here == previous { previous } else { Before::Several };
            previous = Before::Link(hop.index() as usize);
        }
    }
    let sizes = plan.flows.iter().flat_map(|f| [&f.sender, &f.receiver]).map(|tcp| {
        let (data, control) = (tcp.header_on_data.0, tcp.header_on_control.0);
        ((data + 1).min(control), (data + tcp.mss.0).max(control))
    });
    let (least, largest) = sizes.fold((u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (least, largest) = (least.min(65_535) as u16, largest.min(65_535) as u16);
    // A queue that is sampled is simulated: what is on its way to it is not in it yet.
    let sampled = |l: usize| {
        let record = &scenario.record;
        record.series.contains(&Series::Queue)
            && (record.links.is_empty() || record.links.contains(&plan.links[l].name()))
    };
    // Only one hop is passed on at a time: what passes on is not passed on to.
    let mut delays = vec![false; built.links.len()];
    let mut passes_on = vec![false; built.links.len()];
    for l in 0..built.links.len() {
        if let Before::Link(b) = before[l]
            && !passes_on[l]
            && !delays[b]
            && !sampled(l)
            && built.links[l].only_delays(&built.links[b], least, largest)
        {
            delays[l] = true;
            passes_on[b] = true;
        }
    }
    for hop in built.hops.iter_mut().filter(|h| !h.is_endpoint() && delays[h.index() as usize]) {
        hop.0 |= Hop::DELAYS;
    }
}
