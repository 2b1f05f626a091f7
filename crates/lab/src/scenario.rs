//! What a run is told: the network, the flows, what to record.

use impairments::{Impairment, RateChanges};
use queues::Queue;
use queues::diffserv::{Dscp, Rule};
use tcp::Tcp;
use traffic::{Application, Arrivals, Opener, Traffic};
use units::param::{Invalid, Json, merge};
use units::{Duration, Params, Range, Rate, Read, choice, params, words};

mod checks;
mod samples;

pub use crate::series::Series;

params! {
    /// A scenario: a network, flows over it, and what to record.
    pub struct Scenario: "scenario", checked by Scenario::check {
        /// Title of the scenario, in one line.
        title: String = (String::new()), in Range::ANY, from "";
        /// Seed of every random stream.
        seed: u64 = (1), in Range::ANY, from "";
        /// When the run ends; absent: when every flow has closed.
        duration: Option<Duration> = (None), in Range::above(0.0), from "";
        /// Beginning of the run that is not counted. Counts, delays, series and goodputs are recorded from this
        /// time on, and of transfers and requests those that begin at it or later. It must be shorter than
        /// `duration`, or without one than `time_limit`; a run that ends before it fails. Captures have the whole run.
        warm_up: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// When a run without duration gives up, because some flow never closes.
        time_limit: Duration = (Duration::from_millis(100_000_000)), in Range::above(0.0), from "";
        /// Seeded offsets that keep events from falling on the same instant.
        phase_breaking: PhaseBreaking = (PhaseBreaking::default()), in Range::ANY, from "floyd1992phase: in a simulator without them, phase decides who is dropped";
        /// The network: a dumbbell, or a graph of links.
        network: Network = required, in Range::ANY, from "";
        /// The flows, each with its hosts and its traffic.
        flows: Vec<Flow> = required, in Range::ANY, from "";
        /// TCP parameters of every flow, unless a flow says otherwise.
        tcp: Tcp = (Tcp::default()), in Range::ANY, from "";
        /// Time series to record.
        record: Record = (Record::default()), in Range::ANY, from "";
    }
}

params! {
    /// Seeded random offsets. Simultaneous events are part of a model: with round numbers for delays
    /// more than half of all events share their instant, and an arbitrary order decides what happens.
    pub struct PhaseBreaking: "phase_breaking" {
        /// Each flow starts later by a random time below this.
        start: Duration = (Duration::from_millis(1)), in Range::at_least(0.0), from "";
        /// Each link's propagation takes longer by a random time below this.
        delay: Duration = (Duration(8_000_000)), in Range::at_least(0.0), from "8 us: the offset that brought ties below 2 % in the sketch of this engine";
    }
}

impl Default for PhaseBreaking {
    fn default() -> Self {
        PhaseBreaking { start: Duration::from_millis(1), delay: Duration(8_000_000) }
    }
}

choice! {
    /// The network.
    pub enum Network {
        Dumbbell(Dumbbell),
        Graph(Graph),
    }
}

fn drop_tail(limit: u64) -> Queue {
    let text = serde_json::json!({"kind": "drop_tail", "limit": format!("{limit} packets")});
    match Queue::read(&text, "queue") {
        Ok(queue) => queue,
        Err(e) => unreachable!("the default queue is valid: {e}"),
    }
}

params! {
    /// Hosts left-0, left-1 … on router left, hosts right-0 … on router right, and one bottleneck
    /// between the routers.
    pub struct Dumbbell: "dumbbell", checked by Dumbbell::check {
        /// Rate of the bottleneck, in both directions unless `reverse` has its own.
        rate: Rate = required, in Range::ANY, from "";
        /// Propagation delay of the bottleneck one way, in both directions unless `reverse` has its own.
        delay: Duration = required, in Range::at_least(0.0), from "";
        /// Queue of the bottleneck from left to right.
        queue: Queue = required, in Range::ANY, from "";
        /// Rules that meter, mark and drop packets before the queue of the bottleneck from left to right.
        condition: Vec<Rule> = (Vec::new()), in Range::ANY, from "rfc2475 §2.3.3";
        /// Changes of the rate of the bottleneck from left to right: a list of { at, rate }, a schedule that
        /// repeats, or a trace.
        rate_changes: Option<RateChanges> = (None), in Range::ANY, from "";
        /// Impairments of the bottleneck from left to right, applied in this order.
        impairments: Vec<Impairment> = (Vec::new()), in Range::ANY, from "";
        /// The bottleneck from right to left.
        reverse: Reverse = (Reverse::default()), in Range::ANY, from "";
        /// Hosts on the left.
        left_hosts: u64 = (1), in Range::between(1.0, 1e6), from "";
        /// Rate of the left hosts' links, each way; a list has one entry per host.
        left_rate: PerHost<Rate> = required, in Range::ANY, from "";
        /// Propagation delay of the left hosts' links, one way; { first, last } spreads it evenly over the hosts,
        /// and a list has one entry per host.
        left_delay: Spread = required, in Range::ANY, from "";
        /// Hosts on the right.
        right_hosts: u64 = (1), in Range::between(1.0, 1e6), from "";
        /// Rate of the right hosts' links, each way; a list has one entry per host.
        right_rate: PerHost<Rate> = required, in Range::ANY, from "";
        /// Propagation delay of the right hosts' links, one way; { first, last } spreads it evenly over the hosts,
        /// and a list has one entry per host.
        right_delay: Spread = required, in Range::ANY, from "";
        /// Queue of the hosts' links, each way.
        access_queue: Queue = (drop_tail(100_000)), in Range::ANY, from "";
    }
}

params! {
    /// The reverse direction of a link. What is absent is as in the forward direction, or as by default.
    pub struct Reverse: "reverse" {
        /// Rate of the reverse direction; absent: that of the forward direction.
        rate: Option<Rate> = (None), in Range::ANY, from "";
        /// Propagation delay of the reverse direction; absent: that of the forward direction.
        delay: Option<Duration> = (None), in Range::at_least(0.0), from "";
        /// Queue of the reverse direction.
        queue: Queue = (drop_tail(1000)), in Range::ANY, from "";
        /// Rules that meter, mark and drop packets before that queue.
        condition: Vec<Rule> = (Vec::new()), in Range::ANY, from "rfc2475 §2.3.3";
        /// Changes of the rate: a list of { at, rate }, or a schedule that repeats, or a trace.
        rate_changes: Option<RateChanges> = (None), in Range::ANY, from "";
        /// Impairments of the wire, in this order.
        impairments: Vec<Impairment> = (Vec::new()), in Range::ANY, from "";
    }
}

impl Default for Reverse {
    fn default() -> Self {
        Reverse {
            rate: None,
            delay: None,
            queue: drop_tail(1000),
            condition: Vec::new(),
            rate_changes: None,
            impairments: Vec::new(),
        }
    }
}

params! {
    /// Times spread evenly from the first to the last of several.
    pub struct EvenSpread: "spread" {
        /// Time of the first.
        first: Duration = required, in Range::at_least(0.0), from "";
        /// Time of the last.
        last: Duration = required, in Range::at_least(0.0), from "";
    }
}

/// A time for each of several: the same for all (`"20 ms"`), spread evenly (`{ first, last }`), or a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// From the first to the last.
    Even(EvenSpread),
    /// One each.
    Each(Vec<Duration>),
}

impl Spread {
    /// The time of number `i` of `n`.
    pub fn of(&self, i: u64, n: u64) -> Duration {
        match self {
            Spread::Even(EvenSpread { first, last }) => {
                let share = i as f64 / (n.max(2) - 1) as f64;
                Duration::from_seconds(first.seconds() + (last.seconds() - first.seconds()) * share)
            }
            Spread::Each(each) => each[i as usize],
        }
    }

    /// The entries of a list.
    fn listed(&self) -> Option<usize> {
        match self {
            Spread::Even(_) => None,
            Spread::Each(each) => Some(each.len()),
        }
    }
}

impl Read for Spread {
    const EXAMPLE: &'static str = Duration::EXAMPLE;
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.is_object() {
            return EvenSpread::read(value, path).map(Spread::Even);
        }
        if value.is_array() {
            return Vec::read(value, path).map(Spread::Each);
        }
        let same = Duration::read(value, path)?;
        Ok(Spread::Even(EvenSpread { first: same, last: same }))
    }
    fn write(&self) -> Json {
        match self {
            Spread::Even(ends) if ends.first == ends.last => ends.first.write(),
            Spread::Even(ends) => ends.write(),
            Spread::Each(each) => each.write(),
        }
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [Duration::schema(), EvenSpread::schema(), Vec::<Duration>::schema()]})
    }
}

/// A value for each of several hosts: the same for all, or a list with one each.
#[derive(Clone, Debug, PartialEq)]
pub enum PerHost<T> {
    /// One for all.
    Same(T),
    /// One each.
    Each(Vec<T>),
}

impl<T: Copy> PerHost<T> {
    /// The value of number `i`.
    pub fn of(&self, i: u64) -> T {
        match self {
            PerHost::Same(value) => *value,
            PerHost::Each(each) => each[i as usize],
        }
    }

    /// The entries of a list.
    fn listed(&self) -> Option<usize> {
        match self {
            PerHost::Same(_) => None,
            PerHost::Each(each) => Some(each.len()),
        }
    }
}

impl<T: Read> Read for PerHost<T> {
    const UNIT: &'static str = T::UNIT;
    const EXAMPLE: &'static str = T::EXAMPLE;
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.is_array() {
            Vec::read(value, path).map(PerHost::Each)
        } else {
            T::read(value, path).map(PerHost::Same)
        }
    }
    fn write(&self) -> Json {
        match self {
            PerHost::Same(value) => value.write(),
            PerHost::Each(each) => each.write(),
        }
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [T::schema(), Vec::<T>::schema()]})
    }
}

params! {
    /// Any graph. Nodes are whatever the links name; routes are the paths with the least sum of costs.
    pub struct Graph: "graph" {
        /// The links.
        links: Vec<Link> = required, in Range::ANY, from "";
    }
}

words! {
    /// Directions of a link.
    pub enum Directions {
        /// From `from` to `to`, and in reverse.
        Both = "both",
        /// Only from `from` to `to`.
        One = "one",
    }
}

params! {
    /// A link between two nodes, or several alike.
    pub struct Link: "link", checked by Link::check {
        /// Number of equal links; {i}, {i+1} and {i%100} in `from` and `to` count them from 0.
        count: u64 = (1), in Range::between(1.0, 1e7), from "";
        /// Node that sends.
        from: String = required, in Range::ANY, from "";
        /// Node that receives.
        to: String = required, in Range::ANY, from "";
        /// Rate, in both directions unless `reverse` has its own.
        rate: Rate = required, in Range::ANY, from "";
        /// One-way propagation delay, in both directions unless `reverse` has its own.
        delay: Duration = required, in Range::at_least(0.0), from "";
        /// Queue of the link.
        queue: Queue = (drop_tail(1000)), in Range::ANY, from "";
        /// Rules that meter, mark and drop packets before its queue.
        condition: Vec<Rule> = (Vec::new()), in Range::ANY, from "rfc2475 §2.3.3";
        /// Changes of the link's rate: a list of { at, rate }, a schedule that repeats, or a trace.
        rate_changes: Option<RateChanges> = (None), in Range::ANY, from "";
        /// Impairments of the link, applied in this order.
        impairments: Vec<Impairment> = (Vec::new()), in Range::ANY, from "";
        /// The link from `to` to `from`.
        reverse: Reverse = (Reverse::default()), in Range::ANY, from "";
        /// Directions of the link.
        directions: Directions = (Directions::Both), in Range::ANY, from "";
        /// Cost of the link in a route.
        cost: u64 = (1), in Range::between(1.0, 1e9), from "rfc2328 §C.1: 1 to 65535; ns-2: 1";
    }
}

params! {
    /// A flow, or several alike.
    pub struct Flow: "flow" {
        /// Name; {i} counts the flows of this table from 0, and {n} all flows of the scenario.
        name: String = (String::from("flow-{n}")), in Range::ANY, from "";
        /// Number of equal flows; {i}, {i+1} and {i%100} in `name`, `from` and `to` count them from 0.
        count: u64 = (1), in Range::between(1.0, 1e7), from "";
        /// Host that opens the connection and sends the data; the client if both hosts send.
        from: String = required, in Range::ANY, from "";
        /// Host that receives the data; the server if both hosts send.
        to: String = required, in Range::ANY, from "";
        /// Codepoint of its packets, data and ACKs, as its hosts send them.
        dscp: Dscp = (Dscp(0)), in Range::ANY, from "rfc2474 §4.1: the default";
        /// Time at which the connection is opened.
        start: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// Connections that arrive one after the other, each with the flow's traffic; absent: one connection,
        /// opened at the start.
        arrivals: Option<Arrivals> = (None), in Range::ANY, from "";
        /// Data that the flow sends.
        traffic: Traffic = required, in Range::ANY, from "";
        /// TCP parameters of this flow that differ from those of the scenario.
        tcp: Changes<Tcp> = (Changes::none()), in Range::ANY, from "";
        /// TCP parameters that differ at its receiver alone.
        receiver_tcp: Changes<Tcp> = (Changes::none()), in Range::ANY, from "";
    }
}

/// What opens the connections of a flow, if it has more than one: its arrivals, or its traffic itself.
pub(crate) fn opener<'a>(arrivals: Option<&'a Arrivals>, traffic: &'a Traffic) -> Option<&'a dyn Opener> {
    let own = || traffic.application().and_then(Application::opener);
    arrivals.map(|arrivals| arrivals as &dyn Opener).or_else(own)
}

words! {
    /// The rows of the table of flows.
    pub enum Rows {
        /// One a flow.
        Flow = "flow",
        /// One a table of the scenario, the sums over its flows: for a million flows.
        Table = "table",
    }
}

words! {
    /// What of each packet a capture keeps.
    pub enum CapturedPart {
        /// Its headers.
        Headers = "headers",
        /// Its payload of zeros too, so that its checksum can be verified.
        Whole = "whole",
    }
}

words! {
    /// The IP header of packets in captures.
    pub enum IpVersion {
        /// IPv4.
        V4 = "ipv4",
        /// IPv6.
        V6 = "ipv6",
    }
}

params! {
    /// Captures of packets: one pcapng file per link or host, in the folder of `aqmlab run --pcap`.
    pub struct Pcap: "pcap" {
        /// Links, each named from>to, whose transmitted packets are captured, and hosts whose sent and
        /// received packets are.
        on: Vec<String> = (Vec::new()), in Range::ANY, from "";
        /// Part of each packet that the capture contains.
        keep: CapturedPart = (CapturedPart::Headers), in Range::ANY, from "";
        /// The IP header.
        ip: IpVersion = (IpVersion::V4), in Range::ANY, from "";
    }
}

impl Default for Pcap {
    fn default() -> Self {
        Pcap { on: Vec::new(), keep: CapturedPart::Headers, ip: IpVersion::V4 }
    }
}

params! {
    /// Series to record, beside the tables of flows and links.
    pub struct Record: "record" {
        /// Time between samples.
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "";
        /// The series to record.
        series: Vec<Series> = (Vec::new()), in Range::ANY, from "";
        /// Links whose queue is sampled and whose delays are recorded, each named from>to; empty: all.
        links: Vec<String> = (Vec::new()), in Range::ANY, from "";
        /// Rows of the table of flows.
        flows: Rows = (Rows::Flow), in Range::ANY, from "";
        /// Flows whose segments and round trips are recorded, each by its name; empty: all that are one connection.
        traced: Vec<String> = (Vec::new()), in Range::ANY, from "";
        /// Captures of packets.
        pcap: Pcap = (Pcap::default()), in Range::ANY, from "";
    }
}

impl Default for Record {
    fn default() -> Self {
        Record {
            interval: Duration::from_millis(100),
            series: Vec::new(),
            links: Vec::new(),
            flows: Rows::Flow,
            traced: Vec::new(),
            pcap: Pcap::default(),
        }
    }
}

/// Some of the parameters of `T`, to be laid over others.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes<T> {
    keys: Json,
    of: std::marker::PhantomData<T>,
}

impl<T: Params> Changes<T> {
    /// No change.
    pub fn none() -> Self {
        Changes { keys: Json::Object(Default::default()), of: std::marker::PhantomData }
    }

    /// `base` with the changes; `path` names where they stand.
    pub fn apply(&self, base: &T, path: &str) -> Result<T, Invalid>
    where
        T: Clone,
    {
        if self.is_none() {
            return Ok(base.clone());
        }
        let (mut all, mut keys) = (base.write(), self.keys.clone());
        if let (Some(all), Some(keys)) = (all.as_object_mut(), keys.as_object_mut()) {
            T::expand_shorthands(keys);
            merge(all, keys);
        }
        T::read(&all, path)
    }

    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        self.keys.as_object().is_some_and(|m| m.is_empty())
    }
}

impl<T: Params> Read for Changes<T> {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        units::param::object(value, path)?;
        Ok(Changes { keys: value.clone(), of: std::marker::PhantomData })
    }
    fn write(&self) -> Json {
        self.keys.clone()
    }
    /// A reference, since several tables hold changes of the same; what it means is [`Changes::definition`].
    fn schema() -> Json {
        units::param::reference(&Self::name())
    }
}

impl<T: Params> Changes<T> {
    /// Its name among the definitions of the schema.
    pub fn name() -> String {
        format!("changes_of_{}", T::KEY)
    }

    /// JSON Schema of the changes: every key of `T` and of its tables, none with a default.
    pub fn definition() -> Json {
        fn without_defaults(schema: &mut Json) {
            let properties = schema.get_mut("properties").and_then(Json::as_object_mut);
            if let Some(properties) = properties.filter(|all| !all.contains_key("kind")) {
                for property in properties.values_mut() {
                    without_defaults(property);
                    property.as_object_mut().map(|p| p.remove("default"));
                }
            }
            for option in schema.get_mut("anyOf").and_then(Json::as_array_mut).into_iter().flatten() {
                without_defaults(option);
            }
        }
        let mut schema = T::schema();
        schema["required"] = serde_json::json!([]);
        without_defaults(&mut schema);
        schema
    }
}
