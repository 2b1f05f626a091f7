//! RED-PD: RED with preferential dropping, a penalty box for the flows that RED drops most often.
//!
//! Source: Mahajan, Floyd & Wetherall 2001, "Controlling high-bandwidth flows at the congested router"
//! (`mahajan2001redpd`). A TCP with round-trip time R that meets the drop rate p loses a packet every
//! R/√(1.5 p) seconds. RED's drops are listed by flow in intervals of K/M of that time, and a flow in K of
//! the last M lists sends more than such a TCP: it is monitored, and dropped before RED with a probability
//! of its own, which goes up while it is still found and down when it has not been for M lists. Such a drop
//! is spaced as RED's are, and none is made while RED's average is below minth or no more than a packet
//! waits: what holds a flow down must not leave the link idle.
//!
//! The paper was not at hand. Compared with the authors' ns-2 code decision by decision: red-pd.cc for the
//! drops, the scripts of their experiments (tcl/ex/red-pd) for who is monitored and how much, from where
//! come the bounds of the intervals, the smoothing of p, how long a probability is left alone, and the
//! least drop rate. Left out: their optional test for unresponsive flows, whose probabilities then change
//! faster, and the bound on how many flows a list keeps. An interval of the longest kind, after one without
//! drops, counts among the last here and not there; probabilities go down where they go up, and not a
//! millisecond later.

use std::collections::VecDeque;

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Duration, Packets, Probability, Range, Read, Time, params};

use crate::law::{Configures, Place};
use crate::red::{ChanceBy, Red, RedLaw, check_thresholds};
use crate::spacing::{AboveMaxth, Spacing, uniform};

params! {
    /// RED that holds down the flows with a high bandwidth, with state for them alone. Who is dropped by
    /// RED in several intervals of a row sends more than a TCP with the target round-trip time would at this drop
    /// rate; its packets are dropped at random before they come to RED, more and more until it is no longer
    /// found among RED's drops, then less and less. Every other packet is RED's.
    pub struct RedPd: "red_pd", checked by check {
        /// Round-trip time of the TCP whose rate is the bound (R).
        target_rtt: Duration = (Duration::from_millis(40)), in Range::at_least(1e-3), from "mahajan2001redpd: 40 ms";
        /// How many lists of drops are kept (M).
        lists: u64 = (5), in Range::between(1.0, 64.0), from "mahajan2001redpd: 5";
        /// In how many of them a flow must be to be monitored (K).
        regular: u64 = (3), in Range::between(1.0, 64.0), from "mahajan2001redpd: 3";
        /// The most by which a probability goes down at once; below twice this it is halved.
        max_decrease: Probability = (Probability(0.05)), in Range::above_to(0.0, 1.0), from "mahajan2001redpd: 0.05";
        /// A probability at or below this is not lowered but ended.
        least: Probability = (Probability(0.005)), in Range::above_to(0.0, 1.0), from "mahajan2001redpd: 0.005";
        /// While RED drops less than this share nobody is punished more.
        least_drop_rate: Probability = (Probability(0.001)), in Range::ANY, from "mahajan2001redpd, its experiments: 0.001";
        /// Average queue below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6";
        /// Average queue above which every packet is dropped (maxth; twice that when gentle).
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: three times minth";
        /// Signal probability when the average reaches maxth (maxp).
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// Weight of the present queue in the average (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// Above maxth the probability rises from maxp to 1 at twice maxth, instead of jumping to 1.
        gentle: bool = (true), in Range::ANY, from "floyd2000gentle";
        /// No packet is signalled while this many or fewer wait, whatever the average; 0: the average alone decides.
        least_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has none; ns-2 has 1";
        /// Size of the packets that are pretended to have arrived while the queue was idle.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; 500 B is ns-2's";
    }
}

fn check(pd: &RedPd, path: &str) -> Result<(), Invalid> {
    if pd.regular > pd.lists {
        return Err(Invalid::new(&join(path, "regular"), &pd.regular.write(), "must not be above lists")
            .remedy(format!("lists is {}", pd.lists)));
    }
    check_thresholds(pd.minth, pd.maxth, path)
}

impl Configures for RedPd {
    type Law = RedPdLaw;

    fn law(&self, place: Place) -> RedPdLaw {
        let random = place.random.branch("preferential");
        let red = Red {
            minth: self.minth,
            maxth: self.maxth,
            maxp: self.maxp,
            wq: self.wq,
            gentle: self.gentle,
            spacing: Spacing::Uniform,
            above_maxth: AboveMaxth::Drop,
            chance_by: ChanceBy::Packet,
            reference_size: self.idle_packet_size,
            least_backlog: self.least_backlog,
            mark_below: Probability(1.0),
            idle_packet_size: self.idle_packet_size,
        };
        let r = self.target_rtt;
        let longest = Duration(10 * r.0);
        RedPdLaw {
            red: red.law(place),
            params: self.clone(),
            longest,
            ends: Time::ZERO + longest,
            interval: 1,
            lengths: VecDeque::from([longest]),
            arrived: 0,
            dropped: 0,
            drop_rate: None,
            lists: VecDeque::new(),
            current: Vec::new(),
            regular: Vec::new(),
            flows: Vec::new(),
            monitored: Vec::new(),
            last: Last::default(),
            random,
        }
    }
}

/// A flow of a list, and its bytes that RED dropped.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    flow: u32,
    bytes: u64,
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Its place in the list of this interval, if `listed` is this interval.
    place: usize,
    listed: u64,
    /// The last interval in which a packet of it was dropped, by RED or before.
    hit: u64,
    /// The probability of its own; 0: not monitored.
    probability: f64,
    /// Packets since the last that it took, of those that it applied to.
    since: u32,
    changed: Time,
    /// In how many lists it is, and with how many bytes: while an interval is closed.
    seen: u64,
    bytes: u64,
}

/// The packet that came last, in case that it overflows the buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    flow: u32,
    size: u64,
    passed: bool,
}

/// The state of RED-PD.
#[derive(Clone, Debug)]
pub struct RedPdLaw {
    params: RedPd,
    red: RedLaw,
    longest: Duration,
    /// When the present interval ends, and its number.
    ends: Time,
    interval: u64,
    /// Lengths of the last intervals, the latest last.
    lengths: VecDeque<Duration>,
    /// Bytes that came to RED in this interval, and that it dropped.
    arrived: u64,
    dropped: u64,
    /// The smoothed share of them.
    drop_rate: Option<f64>,
    lists: VecDeque<Vec<Dropped>>,
    current: Vec<Dropped>,
    /// The flows that are in K lists or more.
    regular: Vec<u32>,
    flows: Vec<Flow>,
    monitored: Vec<u32>,
    last: Last,
    random: Stream,
}

impl RedPdLaw {
    /// RED signalled by a packet, or the buffer was full.
    fn note(&mut self, flow: u32, bytes: u64) {
        self.dropped += bytes;
        let state = &mut self.flows[flow as usize];
        state.hit = self.interval;
        if state.listed == self.interval {
            self.current[state.place].bytes += bytes;
        } else {
            (state.listed, state.place) = (self.interval, self.current.len());
            self.current.push(Dropped { flow, bytes });
        }
    }

    /// How long the last `n` intervals were; not less than the longest one.
    fn length_of(&self, n: usize) -> Duration {
        let sum = self.lengths.iter().rev().take(n).map(|d| d.0).sum();
        Duration(sum).max(self.longest)
    }

    /// The share of RED's drops in the interval, and that smoothed, by halves.
    fn drop_rates(&mut self) -> (f64, f64) {
        let now = if self.arrived == 0 { 0.0 } else { self.dropped as f64 / self.arrived as f64 };
        let smoothed = self.drop_rate.map_or(now, |old| 0.5 * now + 0.5 * old);
        self.drop_rate = Some(smoothed);
        (now, smoothed)
    }

    /// Keeps the list of this interval and forgets the oldest; counts every flow in those that are kept, and
    /// finds the regular ones.
    fn close_list(&mut self) {
        let full = self.lists.len() as u64 == self.params.lists;
        let mut next = if full { self.lists.pop_front().unwrap_or_default() } else { Vec::new() };
        next.clear();
        std::mem::swap(&mut next, &mut self.current);
        self.lists.push_back(next);
        self.regular.clear();
        for entry in self.lists.iter().flatten() {
            let flow = &mut self.flows[entry.flow as usize];
            flow.seen += 1;
            flow.bytes += entry.bytes;
            if flow.seen == self.params.regular {
                self.regular.push(entry.flow);
            }
        }
    }

    /// Raises the probabilities of the flows that are in K lists or more, in proportion to their drops.
    fn punish(&mut self, now: Time, drop_rate: f64) {
        let settled = self.length_of(4);
        let bytes: u64 = self.regular.iter().map(|&i| self.flows[i as usize].bytes).sum();
        let mean = bytes as f64 / self.regular.len() as f64;
        for &i in &self.regular {
            let flow = &mut self.flows[i as usize];
            if flow.hit != self.interval || now.since(flow.changed) < settled {
                continue;
            }
            let step = drop_rate * flow.bytes as f64 / mean;
            if flow.probability == 0.0 {
                flow.probability = step.min(2.0 * drop_rate).min(0.5);
                self.monitored.push(i);
            } else {
                let raised = flow.probability + step.min(flow.probability);
                flow.probability = if raised > 1.0 { 0.5 + flow.probability / 2.0 } else { raised };
            }
            flow.changed = now;
        }
    }

    /// Lowers those of the monitored flows that are in no list.
    fn forgive(&mut self, now: Time) {
        let settled = self.length_of(3);
        let (flows, params) = (&mut self.flows, &self.params);
        self.monitored.retain(|&i| {
            let flow = &mut flows[i as usize];
            if flow.seen > 0 || now.since(flow.changed) < settled {
                return true;
            }
            flow.changed = now;
            if flow.probability <= params.least.0 {
                flow.probability = 0.0;
                return false;
            }
            flow.probability -= params.max_decrease.0.min(flow.probability / 2.0);
            true
        });
    }

    /// The end of an interval.
    fn close_interval(&mut self) {
        let now = self.ends;
        let (present, smoothed) = self.drop_rates();
        self.close_list();
        if present > self.params.least_drop_rate.0 {
            self.punish(now, present.min(smoothed));
        }
        self.forgive(now);
        for entry in self.lists.iter().flatten() {
            let flow = &mut self.flows[entry.flow as usize];
            (flow.seen, flow.bytes) = (0, 0);
        }
        (self.arrived, self.dropped) = (0, 0);
        self.interval += 1;
        let length = self.length_at(smoothed);
        if self.lengths.len() == 4 {
            self.lengths.pop_front();
        }
        self.lengths.push_back(length);
        self.ends += length;
    }

    /// Whether the probability of its own chooses a packet of the flow.
    fn prefers(&mut self, flow: usize) -> bool {
        let state = &mut self.flows[flow];
        if state.probability == 0.0 {
            return false;
        }
        let chosen = self.random.uniform() < uniform(state.probability, i64::from(state.since));
        state.since = state.since.saturating_add(1);
        chosen
    }

    /// Whether a drop leaves the link something to send.
    fn congested(&self, at: &Arrival) -> bool {
        at.backlog.packets > 1
            && self.red.average().is_some_and(|average| average.amount() >= self.red.curve.minth)
    }

    /// K/M R/√(1.5 p), from 2 R to 10 R.
    fn length_at(&self, p: f64) -> Duration {
        let r = self.params.target_rtt;
        if p == 0.0 {
            return self.longest;
        }
        let share = self.params.regular as f64 / self.params.lists as f64;
        let length = share * r.0 as f64 / (1.5 * p).sqrt();
        Duration(length as u64).clamp(Duration(2 * r.0), self.longest)
    }
}

impl Aqm for RedPdLaw {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while self.ends <= at.now {
            self.close_interval();
        }
        let size = u64::from(packet.size);
        let i = packet.connection as usize;
        if i >= self.flows.len() {
            self.flows.resize(i + 1, Flow::default());
        }
        self.last = Last { flow: packet.connection, size, passed: false };
        if self.prefers(i) && self.congested(at) {
            (self.flows[i].hit, self.flows[i].since) = (self.interval, 0);
            return Verdict::Drop(Why::Early);
        }
        self.arrived += size;
        let verdict = self.red.on_arrival(packet, at);
        if verdict == Verdict::Pass {
            self.last.passed = true;
        } else {
            self.note(packet.connection, size);
        }
        verdict
    }

    fn on_overflow(&mut self, now: Time) {
        self.red.on_overflow(now);
        if self.last.passed {
            self.note(self.last.flow, self.last.size);
        }
    }

    fn average(&self) -> Option<Depth> {
        self.red.average()
    }
}
