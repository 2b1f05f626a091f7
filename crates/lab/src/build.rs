//! Turns a scenario into a network ready to run.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::{Indexed, Stream};
use impairments::{Impairment, Wire};
use net::{Edge, Link, Routes};
use queues::{Discipline, Queue};
use tcp::{Endpoint, Tcp};
use traffic::{Arrivals, Emitter, Traffic};
use units::param::{Invalid, did_you_mean, join};
use units::{Duration, Rate, Read, Time};

use crate::histogram::Histogram;
use crate::read::unknown_node;
use crate::scenario::{Directions, Dumbbell, Graph, Network, Scenario, Series};
use crate::slot::Slot;
use crate::source::Source;
use crate::stream;
use crate::sum::Sum;
use crate::template::expand;

/// A one-way link as planned.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    from: String,
    to: String,
    rate: Rate,
    delay: Duration,
    queue: Queue,
    impairments: Vec<Impairment>,
    cost: u64,
}

impl LinkPlan {
    /// What its wire does to packets.
    pub fn impairments(&self) -> &[Impairment] {
        &self.impairments
    }

    /// Its name: `from>to`.
    pub fn name(&self) -> String {
        format!("{}>{}", self.from, self.to)
    }
}

/// What the flows of one table of the scenario share.
#[derive(Clone, Debug)]
struct FlowTable {
    name: String,
    from: String,
    to: String,
    start: Duration,
    arrivals: Option<Arrivals>,
    traffic: Traffic,
    /// Its first flow.
    first: usize,
    sender: Arc<Tcp>,
    receiver: Arc<Tcp>,
}

/// A flow as planned: its routes there and back, indices of [`Plan::routes`]. Its table and its number
/// there follow from its place, names are made when they are asked for: a million flows cost little.
type FlowPlan = [u32; 2];

/// Every link and flow, with routes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// One-way links.
    pub links: Vec<LinkPlan>,
    tables: Vec<FlowTable>,
    flows: Vec<FlowPlan>,
    /// Distinct routes, each a sequence of links.
    routes: Vec<Vec<usize>>,
}

impl Plan {
    /// How many flows there are.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    fn expand(&self, f: usize, text: impl Fn(&FlowTable) -> &str) -> String {
        let number = u64::from(self.number(f));
        expand(text(&self.tables[self.table(f)]), &[("i", number), ("n", f as u64)])
    }

    /// Name of a flow.
    pub fn name(&self, f: usize) -> String {
        self.expand(f, |t| &t.name)
    }

    /// Host that sends the data of a flow.
    pub fn from(&self, f: usize) -> String {
        self.expand(f, |t| &t.from)
    }

    /// Host that receives it.
    pub fn to(&self, f: usize) -> String {
        self.expand(f, |t| &t.to)
    }

    /// Traffic of a flow.
    pub fn traffic(&self, f: usize) -> &Traffic {
        &self.tables[self.table(f)].traffic
    }

    /// How its connections come, if it has more than one.
    pub fn arrivals(&self, f: usize) -> Option<&Arrivals> {
        self.tables[self.table(f)].arrivals.as_ref()
    }

    /// The table it is described in.
    pub fn table(&self, f: usize) -> usize {
        self.tables.partition_point(|t| t.first <= f) - 1
    }

    /// Its number in that table.
    pub fn number(&self, f: usize) -> u32 {
        (f - self.tables[self.table(f)].first) as u32
    }

    /// Name, from and to of a table, as they are written.
    pub fn texts(&self, table: usize) -> [&str; 3] {
        let t = &self.tables[table];
        [&t.name, &t.from, &t.to]
    }

    /// The links with impairments.
    pub fn impaired(&self) -> Vec<u32> {
        (0..self.links.len() as u32).filter(|&l| !self.links[l as usize].impairments.is_empty()).collect()
    }

    /// How many tables there are.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }
}

/// A hop of a route: a link, a wire with impairments behind it, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

impl Hop {
    /// The end of a route: the packet has reached its endpoint.
    const END: Hop = Hop(u32::MAX);
    const DELAYS: u32 = 0b10 << 30;
    /// The end of a route of datagrams.
    const SINK: Hop = Hop(u32::MAX - 1);
    /// Everything from here on is no link.
    const WIRE: u32 = 0b11 << 30;

    /// The index of the link.
    #[inline]
    pub fn link(self) -> u32 {
        self.0 & !Self::DELAYS
    }

    /// Whether the route ends here.
    #[inline]
    pub fn is_end(self) -> bool {
        self == Self::END
    }

    /// Whether it is a link that only delays what the hop before admits ([`Link::only_delays`]).
    #[inline]
    pub fn only_delays(self) -> bool {
        self.0 & Self::WIRE == Self::DELAYS
    }

    /// Whether it is a link.
    #[inline]
    pub fn is_link(self) -> bool {
        self.0 < Self::WIRE
    }

    /// The index of the wire, if it is one.
    pub fn wire(self) -> Option<usize> {
        (!self.is_link() && self.0 < Self::SINK.0).then_some((self.0 & !Self::WIRE) as usize)
    }
}

/// A network at rest, ready to run.
#[derive(Debug)]
pub struct Built {
    /// The links.
    pub links: Vec<Link<Discipline>>,
    /// The wires of links with impairments, in the order of the links.
    pub wires: Vec<Wire>,
    /// Endpoint 2s sends the data of slot s, endpoint 2s + 1 receives it.
    pub endpoints: Vec<Endpoint>,
    /// A slot for each flow that is one connection, in their order.
    pub slots: Vec<Slot>,
    /// The flows whose connections come and go, in their order, and when the process of arrivals begins.
    pub sources: Vec<(Source, Time)>,
    /// The flows of datagrams, in their order, and when their first packet is sent.
    pub streams: Vec<(stream::Stream, Option<Time>)>,
    /// The random numbers of each table of flows.
    pub draws: Vec<Draws>,
    /// All routes one after the other, each with its end.
    pub hops: Vec<Hop>,
}

/// What the flows of a table draw, by number of the flow, of its connection, and of the message.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Intervals between connections.
    pub arrivals: Indexed,
    /// Sizes.
    pub sizes: Indexed,
    /// Intervals between messages.
    pub messages: Indexed,
}

impl Draws {
    /// Named by the table's first flow, so that another table shifts nothing.
    fn new(seed: u64, first: &str) -> Self {
        let [arrivals, sizes, messages] =
            ["arrivals", "sizes", "messages"].map(|what| Indexed::new(seed, &format!("flow/{first}/{what}")));
        Draws { arrivals, sizes, messages }
    }
}

fn one_way(
    plan: &mut Vec<LinkPlan>,
    ends: (&str, &str),
    rate: Rate,
    delay: Duration,
    queue: &Queue,
    impairments: &[Impairment],
    cost: u64,
) {
    let (from, to) = (ends.0.into(), ends.1.into());
    plan.push(LinkPlan {
        from,
        to,
        rate,
        delay,
        queue: queue.clone(),
        impairments: impairments.to_vec(),
        cost,
    });
}

fn dumbbell(d: &Dumbbell) -> Vec<LinkPlan> {
    let mut plan = Vec::new();
    one_way(&mut plan, ("left", "right"), d.rate, d.delay, &d.queue, &d.impairments, 1);
    one_way(&mut plan, ("right", "left"), d.rate, d.delay, &d.reverse_queue, &d.reverse_impairments, 1);
    for (side, hosts, rate, delay) in [
        ("left", d.left_hosts, d.left_rate, &d.left_delay),
        ("right", d.right_hosts, d.right_rate, &d.right_delay),
    ] {
        for i in 0..hosts {
            let host = format!("{side}-{i}");
            let delay = delay.of(i, hosts);
            one_way(&mut plan, (&host, side), rate, delay, &d.access_queue, &[], 1);
            one_way(&mut plan, (side, &host), rate, delay, &d.access_queue, &[], 1);
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
            let there = (&from, &to, &link.queue, &link.impairments);
            let back = (&to, &from, &link.reverse_queue, &link.reverse_impairments);
            let back = (link.directions == Directions::Both).then_some(back);
            for (from, to, queue, impairments) in [there].into_iter().chain(back) {
                if !seen.insert((from.clone(), to.clone())) {
                    let problem = format!("is the second link from {from} to {to}");
                    return Err(Invalid::at(&path, problem).remedy(
                        "links are named by their nodes, so there is one each way; put a node between them",
                    ));
                }
                one_way(&mut plan, (from, to), link.rate, link.delay, queue, impairments, link.cost);
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
    let mut paths = Routes::new(nodes.len(), &edges);
    let mut known: HashMap<(usize, usize), u32> = HashMap::new();
    let mut plan = Plan::default();
    for (t, table) in scenario.flows.iter().enumerate() {
        let path = join("flows", t);
        let sender = Arc::new(table.tcp.apply(&scenario.tcp, &join(&path, "tcp"))?);
        let receiver = if table.receiver_tcp.is_none() {
            sender.clone()
        } else {
            Arc::new(table.receiver_tcp.apply(&sender, &join(&path, "receiver_tcp"))?)
        };
        plan.tables.push(FlowTable {
            name: table.name.clone(),
            from: table.from.clone(),
            to: table.to.clone(),
            start: table.start,
            arrivals: table.arrivals.clone(),
            traffic: table.traffic.clone(),
            first: plan.flows.len(),
            sender,
            receiver,
        });
        plan.flows.reserve_exact(table.count as usize);
        for _ in 0..table.count {
            let f = plan.flows.len();
            plan.flows.push([0; 2]);
            let (from, to) = (plan.from(f), plan.to(f));
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
            let ways = if table.traffic.is_datagrams() { 1 } else { 2 };
            for (way, ends) in [(a, b), (b, a)].into_iter().enumerate().take(ways) {
                plan.flows[f][way] = match known.get(&ends) {
                    Some(&route) => route,
                    None => {
                        let found = paths.path(ends.0, ends.1).ok_or_else(|| {
                            Invalid::at(
                                &path,
                                format!("no links lead from {} to {}", nodes[ends.0], nodes[ends.1]),
                            )
                            .remedy("TCP needs a way there and a way back")
                        })?;
                        plan.routes.push(found);
                        known.insert(ends, plan.routes.len() as u32 - 1);
                        plan.routes.len() as u32 - 1
                    }
                };
            }
        }
    }
    refuse_equal_names(&plan)?;
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
    plan.links = links;
    Ok(plan)
}

/// Refuses two flows of one name. Names are hashed rather than kept: there may be millions.
fn refuse_equal_names(plan: &Plan) -> Result<(), Invalid> {
    let mut hashes: Vec<(u64, u32)> =
        (0..plan.flows()).map(|f| (engine::hash(plan.name(f).as_bytes()), f as u32)).collect();
    hashes.sort_unstable();
    let equal = |pair: &[(u64, u32)]| {
        let [(a, first), (b, second)] = [pair[0], pair[1]].map(|(hash, f)| (hash, f as usize));
        (a == b && plan.name(first) == plan.name(second)).then_some((second, first))
    };
    // The first that is told is the first in the document.
    let Some((second, first)) = hashes.windows(2).filter_map(equal).min() else { return Ok(()) };
    let path = join(&join("flows", plan.table(second)), "name");
    let problem = format!("is also the name of a flow of flows.{}", plan.table(first));
    Err(Invalid::new(&path, &plan.name(second).write(), problem)
        .remedy("give each its own, with {i} where count is above 1"))
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
    let impaired = plan.impaired();
    let wire = |&l: &u32| {
        let link = &plan.links[l as usize];
        let name = link.name();
        Wire::new(&link.impairments, |kind, i| Stream::new(seed, &format!("link/{name}/{kind}-{i}")))
    };
    let wires = impaired.iter().map(wire).collect();
    let lasting = |&f: &usize| plan.arrivals(f).is_none() && !plan.traffic(f).is_datagrams();
    let connections = (0..plan.flows()).filter(lasting).count();
    let mut built = Built {
        links,
        wires,
        endpoints: Vec::with_capacity(2 * connections),
        slots: Vec::with_capacity(connections),
        sources: Vec::new(),
        streams: Vec::new(),
        draws: plan.tables.iter().map(|t| Draws::new(seed, &plan.name(t.first))).collect(),
        hops: Vec::new(),
    };
    let mut begins = Vec::with_capacity(plan.routes.len());
    for route in &plan.routes {
        begins.push(built.hops.len() as u32);
        for &l in route {
            built.hops.push(Hop(l as u32));
            if let Ok(wire) = impaired.binary_search(&(l as u32)) {
                built.hops.push(Hop(Hop::WIRE | wire as u32));
            }
        }
        built.hops.push(Hop::END);
    }
    let mut sinks: HashMap<u32, u32> = HashMap::new();
    for (f, flow) in plan.flows.iter().enumerate() {
        let name = plan.name(f);
        let table = &plan.tables[plan.table(f)];
        let first_hop = flow.map(|route| begins[route as usize]);
        let start = table.start + offset(seed, &format!("flow/{name}/start"), phase.start);
        if let Some(emitter) =
            Emitter::new(&table.traffic, Stream::new(seed, &format!("flow/{name}/datagrams")))
        {
            let begins = match sinks.entry(flow[0]) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(to_sink(&mut built.hops, first_hop[0])),
            };
            built.streams.push(stream::Stream::new(f as u32, begins, Time::ZERO + start, emitter));
            continue;
        }
        let clock = |side: usize, tcp: &Tcp| {
            offset(seed, &format!("flow/{name}/clock-{side}"), tcp.clock_granularity)
        };
        let clocks = [clock(0, &table.sender), clock(1, &table.receiver)];
        if table.arrivals.is_some() {
            let source = Source {
                flow: f as u32,
                first_hop,
                hosts: [(table.sender.clone(), clocks[0]), (table.receiver.clone(), clocks[1])],
                opened: 0,
                sum: Sum::default(),
                durations: Histogram::default(),
                completed_bytes: 0,
            };
            built.sources.push((source, Time::ZERO + start));
        } else {
            built.endpoints.push(Endpoint::new(table.sender.clone(), clocks[0]));
            built.endpoints.push(Endpoint::new(table.receiver.clone(), clocks[1]));
            built.slots.push(Slot::new(f as u32, 0, first_hop, Time::ZERO + start));
        }
    }
    find_delays(scenario, plan, &mut built);
    built
}

/// Copies the route that begins at `first` for datagrams: where the copy begins.
fn to_sink(hops: &mut Vec<Hop>, first: u32) -> u32 {
    let begins = hops.len() as u32;
    let links: Vec<Hop> = hops[first as usize..].iter().copied().take_while(|hop| !hop.is_end()).collect();
    hops.extend(links);
    hops.push(Hop::SINK);
    begins
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
    for hops in built.hops.chunk_by(|a, _| !a.is_end()) {
        let mut previous = Before::Several; // an endpoint sends whenever it likes
        for hop in hops {
            if !hop.is_link() {
                previous = Before::Several; // what a wire does is known to it alone
                continue;
            }
            let here = &mut before[hop.link() as usize];
            *here = if *here == Before::Nothing || *here == previous { previous } else { Before::Several };
            previous = Before::Link(hop.link() as usize);
        }
    }
    let sizes = plan.tables.iter().flat_map(|t| [&t.sender, &t.receiver]).map(|tcp| {
        let (data, control) = (tcp.header_on_data.0, tcp.header_on_control.0);
        ((data + 1).min(control), (data + tcp.mss.0).max(control))
    });
    let datagrams = built.streams.iter().map(|(stream, _)| stream.sizes());
    let sizes = sizes.chain(datagrams.map(|(least, largest)| (u64::from(least), u64::from(largest))));
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
    for hop in built.hops.iter_mut().filter(|h| h.is_link() && delays[h.link() as usize]) {
        hop.0 |= Hop::DELAYS;
    }
}
