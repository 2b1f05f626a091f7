//! Description of a simulation: the network, the flows, and the series to record.

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

/// Version of the format of scenarios, experiments, results and stores that this build reads and
/// writes. docs/stability.md defines which changes increase the version.
pub const FORMAT: u64 = 1;

params! {
    /// Description of one simulation: a network, the flows over it, and the series to record.
    pub struct Scenario: "scenario", checked by Scenario::check {
        /// Title of the scenario, one line.
        title: String = (String::new()), in Range::ANY, from "";
        /// Seed of all random numbers.
        seed: u64 = (1), in Range::ANY, from "";
        /// Version of the format in which the scenario is written. aqmlab refuses a scenario of a
        /// later format than its own.
        format: u64 = (FORMAT), in Range::at_least(1.0), from "";
        /// Duration of the run. A run without `duration` ends when all flows have closed.
        duration: Option<Duration> = (None), in Range::above(0.0), from "";
        /// Duration of the warm-up, the beginning of the run that is not counted. Counts, delays,
        /// series and goodput begin at the end of the warm-up, and transfers and requests are
        /// recorded if they begin at this time or later. The warm-up must be shorter than
        /// `duration`, or than `time_limit` in a scenario without `duration`. A run that ends
        /// during the warm-up fails. Captures contain the whole run.
        warm_up: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// Maximum duration of a run without `duration`. The run fails if a flow has not closed
        /// within `time_limit`.
        time_limit: Duration = (Duration::from_millis(100_000_000)), in Range::above(0.0), from "";
        /// Random offsets that prevent events at exactly the same time.
        phase_breaking: PhaseBreaking = (PhaseBreaking::default()), in Range::ANY, from "floyd1992phase: without random offsets, the phase of the traffic decides which packets a simulator drops";
        /// Network of the scenario: a dumbbell or a graph of links.
        network: Network = required, in Range::ANY, from "";
        /// Flows, each with its hosts and its traffic.
        flows: Vec<Flow> = required, in Range::ANY, from "";
        /// TCP parameters of all flows. The key `tcp` of a flow overrides these parameters.
        tcp: Tcp = (Tcp::default()), in Range::ANY, from "";
        /// Series and packet captures to record.
        record: Record = (Record::default()), in Range::ANY, from "";
    }
}

params! {
    /// Random offsets that depend on the seed. If all delays are round numbers, more than half of
    /// the events occur at the same time as another event. The simulator processes simultaneous
    /// events in an arbitrary order, and this order then decides the results.
    pub struct PhaseBreaking: "phase_breaking" {
        /// Maximum offset that is added to the start of a flow. The default is 10 times the longest
        /// round-trip time of the flows without queueing, at most half of `duration`, so that runs
        /// with different seeds do not share one slow start. The default of a scenario with one
        /// flow is 1 ms.
        start: Option<Duration> = (None), in Range::at_least(0.0), from "";
        /// Maximum offset that is added to the propagation delay of a link.
        delay: Duration = (Duration(8_000_000)), in Range::at_least(0.0), from "8 us: in a prototype with this offset, less than 2 % of the events had the same time as another event";
    }
}

impl Default for PhaseBreaking {
    fn default() -> Self {
        PhaseBreaking { start: None, delay: Duration(8_000_000) }
    }
}

choice! {
    /// Network.
    pub enum Network {
        Dumbbell(Dumbbell),
        Graph(Graph),
    }
}

/// Return a Drop Tail queue with a limit of `limit` packets.
fn drop_tail(limit: u64) -> Queue {
    let text = serde_json::json!({"kind": "drop_tail", "limit": format!("{limit} packets")});
    match Queue::read(&text, "queue") {
        Ok(queue) => queue,
        Err(e) => unreachable!("the default queue is valid: {e}"),
    }
}

params! {
    /// Network with one bottleneck between the routers `left` and `right`. The hosts left-0, left-1
    /// … are attached to the left router, and right-0, right-1 … to the right router.
    pub struct Dumbbell: "dumbbell", checked by Dumbbell::check {
        /// Rate of the bottleneck. The table `reverse` can set a different rate for the direction
        /// from right to left.
        rate: Rate = required, in Range::ANY, from "";
        /// One-way propagation delay of the bottleneck. The table `reverse` can set a different
        /// delay for the direction from right to left.
        delay: Duration = required, in Range::at_least(0.0), from "";
        /// Queue of the bottleneck from left to right.
        queue: Queue = required, in Range::ANY, from "";
        /// Rules that meter, mark and drop packets before the queue of the bottleneck, from left to
        /// right.
        condition: Vec<Rule> = (Vec::new()), in Range::ANY, from "rfc2475 §2.3.3";
        /// Changes of the rate of the bottleneck from left to right: a list of `{ at, rate }`, a
        /// repeated schedule, or a trace.
        rate_changes: Option<RateChanges> = (None), in Range::ANY, from "";
        /// Impairments of the bottleneck from left to right, applied in the order of the list.
        impairments: Vec<Impairment> = (Vec::new()), in Range::ANY, from "";
        /// Parameters of the bottleneck from right to left.
        reverse: Reverse = (Reverse::default()), in Range::ANY, from "";
        /// Number of hosts at the left router.
        left_hosts: u64 = (1), in Range::between(1.0, 1e6), from "";
        /// Rate of the links between the left router and its hosts, in each direction. A list of
        /// rates sets one rate per host.
        left_rate: PerHost<Rate> = required, in Range::ANY, from "";
        /// One-way propagation delay of the links between the left router and its hosts.
        /// `{ first, last }` spreads the delays evenly over the hosts, and a list sets one delay
        /// per host.
        left_delay: Spread = required, in Range::ANY, from "";
        /// Number of hosts at the right router.
        right_hosts: u64 = (1), in Range::between(1.0, 1e6), from "";
        /// Rate of the links between the right router and its hosts, in each direction. A list of
        /// rates sets one rate per host.
        right_rate: PerHost<Rate> = required, in Range::ANY, from "";
        /// One-way propagation delay of the links between the right router and its hosts.
        /// `{ first, last }` spreads the delays evenly over the hosts, and a list sets one delay
        /// per host.
        right_delay: Spread = required, in Range::ANY, from "";
        /// Queue of the links between hosts and routers, in each direction.
        access_queue: Queue = (drop_tail(100_000)), in Range::ANY, from "";
    }
}

params! {
    /// Parameters of the reverse direction of a link.
    pub struct Reverse: "reverse" {
        /// Rate of the reverse direction. If this key is absent, the reverse direction has the rate
        /// of the forward direction.
        rate: Option<Rate> = (None), in Range::ANY, from "";
        /// Propagation delay of the reverse direction. If this key is absent, the reverse direction
        /// has the delay of the forward direction.
        delay: Option<Duration> = (None), in Range::at_least(0.0), from "";
        /// Queue of the reverse direction.
        queue: Queue = (drop_tail(1000)), in Range::ANY, from "";
        /// Rules that meter, mark and drop packets before the queue of the reverse direction.
        condition: Vec<Rule> = (Vec::new()), in Range::ANY, from "rfc2475 §2.3.3";
        /// Changes of the rate of the reverse direction: a list of `{ at, rate }`, a repeated
        /// schedule, or a trace.
        rate_changes: Option<RateChanges> = (None), in Range::ANY, from "";
        /// Impairments of the reverse direction, applied in the order of the list.
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
    /// Delays that increase evenly from the first host to the last.
    pub struct EvenSpread: "spread" {
        /// Delay of the first host.
        first: Duration = required, in Range::at_least(0.0), from "";
        /// Delay of the last host.
        last: Duration = required, in Range::at_least(0.0), from "";
    }
}

/// Delay per host: one delay for all hosts (`"20 ms"`), an even spread (`{ first, last }`), or a
/// list with one delay per host.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// Delays that increase evenly from the first host to the last host.
    Even(EvenSpread),
    /// One delay per host.
    Each(Vec<Duration>),
}

impl Spread {
    /// Return the delay of the links of host `i` of `n` hosts.
    pub fn of(&self, i: u64, n: u64) -> Duration {
        match self {
            Spread::Even(EvenSpread { first, last }) => {
                let share = i as f64 / (n.max(2) - 1) as f64;
                Duration::from_seconds(first.seconds() + (last.seconds() - first.seconds()) * share)
            }
            Spread::Each(each) => each[i as usize],
        }
    }

    /// Return the length of the list of delays, or `None` if the delays are not a list.
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

/// Value per host: one value for all hosts, or a list with one value per host.
#[derive(Clone, Debug, PartialEq)]
pub enum PerHost<T> {
    /// One value for all hosts.
    Same(T),
    /// One value per host.
    Each(Vec<T>),
}

impl<T: Copy> PerHost<T> {
    /// Return the parameter value for the host with the index `i`.
    pub fn of(&self, i: u64) -> T {
        match self {
            PerHost::Same(value) => *value,
            PerHost::Each(each) => each[i as usize],
        }
    }

    /// Return the length of the list of values, or `None` if one value is used for all hosts.
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
    /// Network of any links. The keys `from` and `to` of the links name the nodes of the network.
    /// The route between two nodes is the path whose links have the minimum total cost.
    pub struct Graph: "graph" {
        /// Links of the network.
        links: Vec<Link> = required, in Range::ANY, from "";
    }
}

words! {
    /// Directions of a link.
    pub enum Directions {
        /// Both directions: from the node `from` to the node `to`, and from `to` to `from`.
        Both = "both",
        /// Only the direction from the node `from` to the node `to`.
        One = "one",
    }
}

params! {
    /// Link between two nodes, or several equal links.
    pub struct Link: "link", checked by Link::check {
        /// Number of equal links. In `from` and `to`, {i} is the number of the link, counted from
        /// 0, and expressions such as {i+1} and {i%100} are computed from {i}.
        count: u64 = (1), in Range::between(1.0, 1e7), from "";
        /// Node at which the forward direction begins.
        from: String = required, in Range::ANY, from "";
        /// Node at which the forward direction ends.
        to: String = required, in Range::ANY, from "";
        /// Rate of the link. The table `reverse` can set a different rate for the reverse
        /// direction.
        rate: Rate = required, in Range::ANY, from "";
        /// One-way propagation delay of the link. The table `reverse` can set a different delay for
        /// the reverse direction.
        delay: Duration = required, in Range::at_least(0.0), from "";
        /// Queue of the link in the direction from `from` to `to`.
        queue: Queue = (drop_tail(1000)), in Range::ANY, from "";
        /// Rules that meter, mark and drop packets before the queue of the link.
        condition: Vec<Rule> = (Vec::new()), in Range::ANY, from "rfc2475 §2.3.3";
        /// Changes of the rate of the link: a list of `{ at, rate }`, a repeated schedule, or a
        /// trace.
        rate_changes: Option<RateChanges> = (None), in Range::ANY, from "";
        /// Impairments of the link, applied in the order of the list.
        impairments: Vec<Impairment> = (Vec::new()), in Range::ANY, from "";
        /// Parameters of the link in the direction from `to` to `from`.
        reverse: Reverse = (Reverse::default()), in Range::ANY, from "";
        /// Directions of the link.
        directions: Directions = (Directions::Both), in Range::ANY, from "";
        /// Cost of the link. A route minimizes the sum of the costs of its links.
        cost: u64 = (1), in Range::between(1.0, 1e9), from "rfc2328 §C.1: 1 to 65535; ns-2: 1";
    }
}

params! {
    /// Flow between two hosts, or several equal flows.
    pub struct Flow: "flow" {
        /// Name of the flow. {i} is the number of the flow in its `[[flows]]` table, and {n} is the
        /// number of the flow in the scenario, both counted from 0.
        name: String = (String::from("flow-{n}")), in Range::ANY, from "";
        /// Number of equal flows. In `name`, `from` and `to`, {i} is the number of the flow,
        /// counted from 0, and expressions such as {i+1} and {i%100} are computed from {i}.
        count: u64 = (1), in Range::between(1.0, 1e7), from "";
        /// Host that opens the connection and sends the data. If both hosts send data, the host
        /// `from` is the client.
        from: String = required, in Range::ANY, from "";
        /// Host that receives the data. If both hosts send data, the host `to` is the server.
        to: String = required, in Range::ANY, from "";
        /// DSCP of all packets of the flow, which include data and ACKs of both hosts.
        dscp: Dscp = (Dscp(0)), in Range::ANY, from "rfc2474 §4.1: the default";
        /// Start of the flow. A flow begins in one of three ways: it opens its only connection,
        /// begins its arrivals of connections, or sends its first datagram.
        start: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// Arrivals of new connections, each of which carries the traffic of the flow. A flow
        /// without `arrivals` has one connection, which opens at the start of the flow.
        arrivals: Option<Arrivals> = (None), in Range::ANY, from "";
        /// Traffic of the flow, which defines the data that the hosts send.
        traffic: Traffic = required, in Range::ANY, from "";
        /// TCP parameters of this flow, which override the TCP parameters of the scenario.
        tcp: Changes<Tcp> = (Changes::none()), in Range::ANY, from "";
        /// TCP parameters of the receiving host only, which override the TCP parameters of the
        /// flow.
        receiver_tcp: Changes<Tcp> = (Changes::none()), in Range::ANY, from "";
    }
}

/// Return the opener of a flow's connections: the arrivals of the flow, or the traffic if it opens
/// its own connections. The result is `None` for a flow with a single connection.
pub(crate) fn opener<'a>(arrivals: Option<&'a Arrivals>, traffic: &'a Traffic) -> Option<&'a dyn Opener> {
    let own = || traffic.application().and_then(Application::opener);
    arrivals.map(|arrivals| arrivals as &dyn Opener).or_else(own)
}

words! {
    /// Rows of the table `flows`.
    pub enum Rows {
        /// One row per flow.
        Flow = "flow",
        /// One row per `[[flows]]` table of the scenario, with the totals over the flows of this
        /// table. A scenario with up to a million flows needs little memory with one row per
        /// `[[flows]]` table.
        Table = "table",
    }
}

words! {
    /// Part of each packet that a capture contains.
    pub enum CapturedPart {
        /// Only the headers.
        Headers = "headers",
        /// Headers and payload, so that a reader of the capture can verify the checksums. All bytes
        /// of the payload are zero.
        Whole = "whole",
    }
}

words! {
    /// IP version of the packets in captures.
    pub enum IpVersion {
        /// IPv4.
        V4 = "ipv4",
        /// IPv6.
        V6 = "ipv6",
    }
}

params! {
    /// Captures of packets. With the option `--pcap`, `aqmlab run` writes one pcapng file per
    /// captured link or host.
    pub struct Pcap: "pcap" {
        /// Links and hosts whose packets are captured. The name of a link has the form from>to, and
        /// the capture of a link contains the packets that the link transmits. The capture of a
        /// host contains the packets that the host sends and receives.
        on: Vec<String> = (Vec::new()), in Range::ANY, from "";
        /// Part of each packet that a capture contains.
        keep: CapturedPart = (CapturedPart::Headers), in Range::ANY, from "";
        /// IP version of the captured packets.
        ip: IpVersion = (IpVersion::V4), in Range::ANY, from "";
    }
}

impl Default for Pcap {
    fn default() -> Self {
        Pcap { on: Vec::new(), keep: CapturedPart::Headers, ip: IpVersion::V4 }
    }
}

params! {
    /// Series and packet captures that the run records in addition to its tables of flows and
    /// links.
    pub struct Record: "record" {
        /// Interval between two samples.
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "";
        /// Series to record.
        series: Vec<Series> = (Vec::new()), in Range::ANY, from "";
        /// Links whose queues are sampled and whose queueing delays are recorded, each named in the
        /// form from>to. If the list of links is empty, the run records all links.
        links: Vec<String> = (Vec::new()), in Range::ANY, from "";
        /// Rows of the result table `flows`, which has either a row per flow or a row per
        /// `[[flows]]` table of the scenario.
        flows: Rows = (Rows::Flow), in Range::ANY, from "";
        /// Names of the flows whose segments, round-trip times and changes of cwnd are recorded. If
        /// the list of flow names is empty, the run records all flows that have a single
        /// connection, and the changes of cwnd of all flows.
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

/// Changes to some of the parameters of type `T`.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes<T> {
    keys: Json,
    of: std::marker::PhantomData<T>,
}

impl<T: Params> Changes<T> {
    /// Return an empty set of changes.
    pub fn none() -> Self {
        Changes { keys: Json::Object(Default::default()), of: std::marker::PhantomData }
    }

    /// Apply the changes to the parameters `base`, and return the result. `path` is the path of the
    /// changes in the scenario, for errors.
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

    /// Return true if the set of changes is empty.
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
    /// The schema is a reference to [`Changes::definition`], because several tables contain changes
    /// of the same type.
    fn schema() -> Json {
        units::param::reference(&Self::name())
    }
}

impl<T: Params> Changes<T> {
    /// Return the name under which the JSON Schema defines the changes.
    pub fn name() -> String {
        format!("changes_of_{}", T::KEY)
    }

    /// Return the JSON Schema of the changes: every key of `T` and of its tables, without defaults.
    pub fn definition() -> Json {
        /// Remove the default of every property from a JSON Schema.
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
