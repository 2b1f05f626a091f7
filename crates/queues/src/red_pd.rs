//! RED-PD: RED with preferential dropping. RED-PD identifies the flows with the most drops, and
//! drops some of their packets before RED decides on them.
//!
//! Source: Mahajan, Floyd & Wetherall 2001, "Controlling high-bandwidth flows at the congested
//! router" (`mahajan2001redpd`). A TCP with round-trip time R and drop rate p loses a packet every
//! R/√(1.5 p) seconds. RED-PD lists the drops of RED by flow. Each list contains the drops of one
//! interval. An interval lasts K/M times R/√(1.5 p) seconds. A flow that is in K of the last M
//! lists sends more than a TCP with round-trip time R and drop rate p. RED-PD monitors each flow
//! that is in K of the last M lists. A monitored flow has its own drop probability, with which
//! RED-PD drops packets of the flow before RED. The drop probability of the flow rises while the
//! flow remains in K lists, and falls when the flow is in none of the last M lists. The drops
//! before RED use the same uniform spacing as the signals of RED. RED-PD does not drop packets
//! before RED while the average queue length is below minth or at most one packet waits, so that
//! the link stays busy.
//!
//! The paper on RED-PD was not available. Each decision was compared with the authors' ns-2 code:
//! red-pd.cc for the drops, and the scripts of their experiments (tcl/ex/red-pd) for the selection
//! of flows and their drop probabilities. The bounds of the interval length, the smoothing of p,
//! the minimum time between two changes of a drop probability and the minimum drop rate are those
//! of the scripts. Two parts of RED-PD are not implemented: the optional test for unresponsive
//! flows, whose drop probabilities then change faster, and the bound on the length of a list. Two
//! details of aqmlab differ from the authors' code. In aqmlab the last M lists include the list of
//! an interval of maximum length even if the previous interval had no drops. In the scripts the
//! last M lists exclude the list of an interval of maximum length if the previous interval had no
//! drops. At the end of an interval RED-PD raises the drop probabilities of some flows and lowers
//! those of other flows. In aqmlab RED-PD raises and lowers the drop probabilities of flows at the
//! same time. In the scripts RED-PD first raises drop probabilities of flows, and lowers drop
//! probabilities of other flows a millisecond later.

use std::collections::VecDeque;

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::param::{Invalid, Renamed, join};
use units::{Bytes, Depth, Duration, Packets, Probability, Range, Read, Time, params};

use crate::aqm::{AqmParams, QueueContext};
use crate::red::{ChanceBy, Red, RedAqm, check_thresholds};
use crate::spacing::{AboveMaxth, Spacing, uniform};

/// Former keys of the parameters of RED-PD.
const RENAMED: &[Renamed] = &[
    Renamed::key("least", "min_probability"),
    Renamed::key("least_drop_rate", "min_drop_rate"),
    Renamed::key("least_backlog", "min_backlog"),
];

params! {
    /// RED-PD is a RED that limits high-bandwidth flows, and that stores state only for flows with
    /// drops. RED-PD monitors a flow with drops in several recent intervals, because the flow sends
    /// more than a TCP with the target round-trip time would send at the current drop rate. RED-PD
    /// drops packets of a monitored flow at random, before the packets reach RED. The drop
    /// probability rises while RED continues to drop packets of the flow, and falls afterwards. RED
    /// decides on all packets that are not dropped before RED.
    pub struct RedPd: "red_pd", checked by check, renamed by RENAMED {
        /// Round-trip time R of a reference TCP. RED-PD limits flows that send more than the
        /// reference TCP would send at the current drop rate.
        target_rtt: Duration = (Duration::from_millis(40)), in Range::at_least(1e-3), from "mahajan2001redpd: 40 ms";
        /// Number of recent drop lists that RED-PD stores, one per interval (M).
        lists: u64 = (5), in Range::between(1.0, 64.0), from "mahajan2001redpd: 5";
        /// Minimum number of drop lists that contain a flow when RED-PD begins to monitor the flow
        /// (K).
        regular: u64 = (3), in Range::between(1.0, 64.0), from "mahajan2001redpd: 3";
        /// Maximum decrease of a flow's drop probability at the end of an interval. A drop
        /// probability below twice max_decrease is halved instead.
        max_decrease: Probability = (Probability(0.05)), in Range::above_to(0.0, 1.0), from "mahajan2001redpd: 0.05";
        /// Drop probability at which the monitoring of a flow ends: if the probability is at most
        /// min_probability, RED-PD sets it to 0 instead of decreasing it.
        min_probability: Probability = (Probability(0.005)), in Range::above_to(0.0, 1.0), from "mahajan2001redpd: 0.005";
        /// Drop rate of RED that must be exceeded in an interval to raise the drop probabilities of
        /// flows.
        min_drop_rate: Probability = (Probability(0.001)), in Range::ANY, from "mahajan2001redpd, its experiments: 0.001";
        /// Average queue length below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6";
        /// Average queue length at which the signal probability reaches maxp (maxth). Above maxth
        /// the parameter gentle determines the signal probability.
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: maxth is three times minth";
        /// Signal probability when the average queue length reaches maxth (maxp).
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// Weight of the current queue length in the moving average of the queue length (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// If gentle is true, the signal probability rises linearly from maxp at maxth to 1 at
        /// twice maxth. If gentle is false, the signal probability jumps from maxp to 1 at maxth.
        gentle: bool = (true), in Range::ANY, from "floyd2000gentle";
        /// Maximum number of waiting packets at which every arriving packet passes, for any average
        /// queue length. If min_backlog is 0 packets, the average queue length alone decides on a
        /// signal.
        min_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has no minimum backlog; ns-2 has 1 packet";
        /// Packet size that converts idle time into a number of virtual packets, each of which lets
        /// the average queue length decay.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; ns-2 uses 500 B";
    }
}

fn check(pd: &RedPd, path: &str) -> Result<(), Invalid> {
    if pd.regular > pd.lists {
        return Err(Invalid::new(&join(path, "regular"), &pd.regular.write(), "must be at most lists")
            .remedy(format!("lower regular, or raise lists (now {})", pd.lists)));
    }
    check_thresholds(pd.minth, pd.maxth, path)
}

impl AqmParams for RedPd {
    type Aqm = RedPdAqm;
    const DECLARED: &'static [Declared] = &[
        Declared { rules: RULES, variables: FlowVariables::LIST },
        crate::average::DECLARED,
        Declared { rules: &[], variables: crate::red::RedVariables::LIST },
        crate::spacing::DECLARED,
    ];

    fn aqm(&self, context: QueueContext) -> RedPdAqm {
        let random = context.random.branch("preferential");
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
            min_backlog: self.min_backlog,
            mark_below: Probability(1.0),
            idle_packet_size: self.idle_packet_size,
        };
        let r = self.target_rtt;
        let longest = Duration(10 * r.0);
        RedPdAqm {
            red: red.aqm(context),
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

rules! {
    /// The flow of the packet is monitored, and the random number is below the drop probability of
    /// the flow after spacing.
    MONITORED = "monitored-flow", from "mahajan2001redpd";
}

variables! {
    /// Variables of the monitored flow whose packet arrived.
    pub struct FlowVariables {
        /// Drop probability of the packet's flow in front of RED, or 0 if the flow is not
        /// monitored.
        p_flow in "0..1", from "mahajan2001redpd";
        /// Packets of the flow since its last drop in front of RED, before this packet.
        flow_count in "packets", from "mahajan2001redpd";
        /// Random number between 0 and 1 that selected the packet for a drop in front of RED.
        flow_random in "0..1", from "mahajan2001redpd";
    }
}

/// Number of bytes of one flow that RED dropped in an interval.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    flow: u32,
    bytes: u64,
}

/// State of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Index of the flow in the list of the current interval. The index is valid only if `listed`
    /// is the number of the current interval.
    place: usize,
    listed: u64,
    /// Number of the last interval in which a packet of the flow was dropped, by RED or by RED-PD
    /// in front of RED.
    hit: u64,
    /// Drop probability of the flow, or 0 if the flow is not monitored.
    probability: f64,
    /// Number of packets of the flow since RED-PD last dropped a packet of the flow in front of
    /// RED.
    since: u32,
    changed: Time,
    /// Number of stored lists that contain the flow. The fields `seen` and `bytes` are used only at
    /// the end of an interval.
    seen: u64,
    bytes: u64,
}

/// Packet that arrived last. RED-PD uses these fields if a full buffer then drops the packet.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    flow: u32,
    size: u64,
    passed: bool,
    /// Number of packets of the flow since its last drop in front of RED, before this packet.
    since: u32,
    /// Random number, if RED-PD dropped the packet in front of RED.
    preferred: Option<f64>,
}

/// State of RED-PD.
#[derive(Clone, Debug)]
pub struct RedPdAqm {
    params: RedPd,
    red: RedAqm,
    longest: Duration,
    /// Time at which the current interval ends. `interval` is the number of the interval.
    ends: Time,
    interval: u64,
    /// Lengths of the last four intervals, the newest at the end.
    lengths: VecDeque<Duration>,
    /// Number of bytes that arrived at RED in the current interval. `dropped` is the number of
    /// bytes that RED dropped in the current interval.
    arrived: u64,
    dropped: u64,
    /// Smoothed drop rate.
    drop_rate: Option<f64>,
    lists: VecDeque<Vec<Dropped>>,
    current: Vec<Dropped>,
    /// Flows that are in at least K lists.
    regular: Vec<u32>,
    flows: Vec<Flow>,
    monitored: Vec<u32>,
    last: Last,
    random: Stream,
}

impl RedPdAqm {
    /// Record a packet that RED signalled, or that was dropped at a full buffer.
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

    /// Return the sum of the last `n` interval lengths, or the maximum interval length if that is
    /// longer.
    fn length_of(&self, n: usize) -> Duration {
        let sum = self.lengths.iter().rev().take(n).map(|d| d.0).sum();
        Duration(sum).max(self.longest)
    }

    /// Return the drop rate of RED in the current interval, and the smoothed drop rate. The
    /// smoothed drop rate is the mean of the drop rate of this interval and the previous smoothed
    /// drop rate.
    fn drop_rates(&mut self) -> (f64, f64) {
        let now = if self.arrived == 0 { 0.0 } else { self.dropped as f64 / self.arrived as f64 };
        let smoothed = self.drop_rate.map_or(now, |old| 0.5 * now + 0.5 * old);
        self.drop_rate = Some(smoothed);
        (now, smoothed)
    }

    /// Store the list of the current interval and discard the oldest list. Then count the stored
    /// lists that contain each flow, and select the flows in at least K lists.
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

    /// Raise the drop probabilities of the flows that are in at least K lists, in proportion to the
    /// number of their dropped bytes.
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

    /// Lower the drop probabilities of the monitored flows that are in no list.
    fn forgive(&mut self, now: Time) {
        let settled = self.length_of(3);
        let (flows, params) = (&mut self.flows, &self.params);
        self.monitored.retain(|&i| {
            let flow = &mut flows[i as usize];
            if flow.seen > 0 || now.since(flow.changed) < settled {
                return true;
            }
            flow.changed = now;
            if flow.probability <= params.min_probability.0 {
                flow.probability = 0.0;
                return false;
            }
            flow.probability -= params.max_decrease.0.min(flow.probability / 2.0);
            true
        });
    }

    /// End an interval.
    fn close_interval(&mut self) {
        let now = self.ends;
        let (present, smoothed) = self.drop_rates();
        self.close_list();
        if present > self.params.min_drop_rate.0 {
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

    /// Return true if the flow is monitored and a random number selects its packet for a drop
    /// before RED.
    fn prefers(&mut self, flow: usize) -> bool {
        let state = &mut self.flows[flow];
        if state.probability == 0.0 {
            return false;
        }
        let drawn = self.random.uniform();
        let chosen = drawn < uniform(state.probability, i64::from(state.since));
        if chosen {
            self.last.preferred = Some(drawn);
        }
        state.since = state.since.saturating_add(1);
        chosen
    }

    /// Return true if more than one packet waits and the average queue length is at least minth.
    fn congested(&self, at: &Arrival) -> bool {
        at.backlog.packets > 1
            && self.red.average().is_some_and(|average| average.amount() >= self.red.curve.minth)
    }

    /// Return the length of the next interval: K/M R/√(1.5 p), at least 2 R and at most 10 R.
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

impl Aqm for RedPdAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while self.ends <= at.now {
            self.close_interval();
        }
        let size = u64::from(packet.size);
        let i = packet.connection as usize;
        if i >= self.flows.len() {
            self.flows.resize(i + 1, Flow::default());
        }
        let since = self.flows[i].since;
        self.last = Last { flow: packet.connection, size, passed: false, since, preferred: None };
        if self.prefers(i) && self.congested(at) {
            (self.flows[i].hit, self.flows[i].since) = (self.interval, 0);
            return Verdict::Drop(Why::Early);
        }
        self.last.preferred = None;
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

    fn explain(&self, why: Why, to: &mut Explanation) {
        let flow = &self.flows[self.last.flow as usize];
        let preferred = self.last.preferred.filter(|_| why == Why::Early);
        to.with(FlowVariables {
            p_flow: flow.probability,
            flow_count: f64::from(self.last.since),
            flow_random: preferred.unwrap_or(f64::NAN),
        });
        if preferred.is_some() {
            self.red.explain(Why::Full, to);
            to.by(&MONITORED);
        } else {
            self.red.explain(why, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Backlog;
    use serde_json::json;
    use units::Rate;

    /// RED decides on the fifth packet of a monitored flow, in front of which four packets passed.
    #[test]
    fn the_explained_count_excludes_the_packet_itself() {
        let context = QueueContext::new(Rate(1_500_000), Depth::Packets(100.0), Stream::new(1, "red"));
        let mut aqm = RedPd::read(&json!({}), "red_pd").unwrap().aqm(context);
        aqm.flows.resize(1, Flow { probability: 0.001, ..Flow::default() });
        let at = Arrival { now: Time(1), backlog: Backlog::default(), free_at: Time::NEVER };
        (0..5).for_each(|_| assert_eq!(aqm.on_arrival(&Packet::default(), &at), Verdict::Pass));
        let mut explanation = Explanation::of(Why::Full);
        aqm.explain(Why::Full, &mut explanation);
        let value = |name: &str| explanation.values().iter().find(|(v, _)| v.name == name).unwrap().1;
        assert_eq!((value("p_flow"), value("flow_count")), (0.001, 4.0));
        assert!(value("flow_random").is_nan());
    }
}
