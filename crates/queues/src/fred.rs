//! Flow random early drop (FRED).
//!
//! Source: Lin & Morris 1997, "Dynamics of random early detection" (`lin1997fred`), the pseudo-code
//! of section 4, without the two-packet mode for many flows of section 5. In the pseudo-code the
//! average decays when a packet arrives at an empty queue, and again before the packet is accepted.
//! In aqmlab the average decays only once for each idle time. The number of packets of a flow
//! includes its waiting packets and excludes a packet in service.
//!
//! Neither the paper on FRED nor its authors' code was available. The implementation is from
//! memory, and was compared with J-Sim's FRED.java, which names the lines of the pseudo-code, and
//! with a module for Linux. The three implementations agree with three exceptions. J-Sim and the
//! module for Linux allow each flow two packets while the average is above maxth (the two-packet
//! mode). J-Sim updates the average at every arrival, and the module for Linux and aqmlab do not.
//! When the last packet of a flow departs, J-Sim decreases the number of flows before it updates
//! the average, and aqmlab decreases the number afterwards. The section numbers of the paper are
//! not verified.

use engine::Stream;
use net::{
    Aqm, Arrival, Declared, Explanation, Packet, Rule, Variables as _, Verdict, Why, rules, variables,
};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Read, Time, params};

use crate::aqm::{AqmParams, QueueContext};
use crate::average::Average;
use crate::lazy::Departures;

params! {
    /// FRED counts the waiting packets of every flow. A flow may always have minq packets waiting,
    /// but never more than minth. A flow that tries to exceed its bound gets a strike. A flow with
    /// several strikes may have at most as many waiting packets as the average flow. While the
    /// average queue length is between minth and maxth, the random drops of RED affect only flows
    /// with more than their share of the waiting packets. While the average queue length is above
    /// maxth, every packet is dropped.
    pub struct Fred: "fred", checked by check {
        /// Average queue length below which no packet is dropped at random. The maximum number of
        /// waiting packets per flow is equal to minth. By default minth is a quarter of the limit.
        minth: Option<Packets> = (None), in Range::above(0.0), from "lin1997fred §4: minimum of a quarter of the buffer and RTT";
        /// Average queue length above which every packet is dropped. By default maxth is twice
        /// minth.
        maxth: Option<Packets> = (None), in Range::above(0.0), from "lin1997fred §4: maxth is twice minth";
        /// Drop probability when the average queue length reaches maxth.
        maxp: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "lin1997fred §4: 0.02";
        /// Weight of the current queue length in the moving average of the queue length (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "lin1997fred §4: 0.002";
        /// Number of waiting packets below which a flow has no random drops (minq).
        minq: Packets = (Packets(2.0)), in Range::at_least(1.0), from "lin1997fred §4: 2 for small buffers, 4 for large buffers";
        /// Packet size that converts idle time into a number of virtual packets, each of which lets
        /// the average queue length decay. If the limit is in bytes, FRED divides the limit by
        /// idle_packet_size.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; ns-2 uses 500 B";
    }
}

fn check(fred: &Fred, path: &str) -> Result<(), Invalid> {
    if let Some(maxth) = fred.maxth
        && fred.minth.is_none_or(|minth| minth >= maxth)
    {
        return Err(Invalid::new(&join(path, "maxth"), &maxth.write(), "must be above minth")
            .remedy("give both or neither of minth and maxth"));
    }
    Ok(())
}

impl AqmParams for Fred {
    type Aqm = FredAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] =
        &[crate::average::DECLARED, Declared { rules: RULES, variables: FredVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> FredAqm {
        let limit = match context.limit {
            Depth::Packets(n) => n,
            Depth::Bytes(n) => n / self.idle_packet_size.0 as f64,
        };
        let minth = self.minth.map_or(limit / 4.0, |p| p.0);
        FredAqm {
            minth,
            maxth: self.maxth.map_or(2.0 * minth, |p| p.0),
            maxp: self.maxp.0,
            minq: self.minq.0,
            average: Average::new(self.wq.0, context.rate, self.idle_packet_size),
            count: -1,
            avgcq: 1.0,
            active: 0,
            q: 0,
            q_time: Time::ZERO,
            flows: Vec::new(),
            last: Flow::default(),
            signal: (&RANDOM, NO_VALUES),
            departures: Departures::default(),
            random: context.random,
        }
    }
}

rules! {
    /// The flow has at least minth waiting packets (maxq).
    MAXQ = "qlen-above-maxq", from "lin1997fred";
    /// The average is at least maxth, and the flow has more than twice avgcq waiting packets.
    SHARE = "qlen-above-share", from "lin1997fred";
    /// The flow has at least avgcq waiting packets and more than one strike.
    STRIKES = "strikes", from "lin1997fred";
    /// The average is between the thresholds, the flow has at least max(minq, avgcq) waiting
    /// packets, and the random number is below p_a.
    RANDOM = "random", from "lin1997fred";
    /// The average is at least maxth.
    ABOVE_MAXTH = "above-maxth", from "lin1997fred";
}

variables! {
    /// Variables of FRED.
    pub struct FredVariables {
        /// Number of waiting packets of the packet's flow (qlen).
        qlen in "packets", from "lin1997fred";
        /// Average number of waiting packets per active flow (avgcq).
        avgcq in "packets", from "lin1997fred";
        /// Number of the flow's drops at its limits (strike), before this packet.
        strike in "", from "lin1997fred";
        /// Number of packets since the last random signal, including this packet.
        count in "packets", from "floyd1993red fig. 2";
        /// Signal probability before spacing (p_b).
        p_b in "0..1", from "floyd1993red fig. 2";
        /// Signal probability of this packet (p_a).
        p_a in "0..1", from "floyd1993red fig. 2";
        /// Random number between 0 and 1 that was compared with p_a.
        random in "0..1", from "floyd1993red fig. 2";
    }
}

/// Variables without a value.
const NO_VALUES: FredVariables = FredVariables {
    qlen: f64::NAN,
    avgcq: f64::NAN,
    strike: f64::NAN,
    count: f64::NAN,
    p_b: f64::NAN,
    p_a: f64::NAN,
    random: f64::NAN,
};

/// State of a flow. For a flow without waiting packets, `qlen` and `strike` are 0.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    qlen: u32,
    strike: u32,
}

/// State of FRED.
#[derive(Clone, Debug)]
pub struct FredAqm {
    minth: f64,
    maxth: f64,
    maxp: f64,
    minq: f64,
    average: Average,
    count: i64,
    /// Average number of waiting packets per active flow (avgcq), at least 1.
    avgcq: f64,
    /// Number of flows with waiting packets (Nactive).
    active: u32,
    q: u32,
    /// Time at which the queue became empty (q_time).
    q_time: Time,
    flows: Vec<Flow>,
    /// State of the flow whose packet arrived last, before the decision on the packet.
    last: Flow,
    /// Rule and variables of the last signal.
    signal: (&'static Rule, FredVariables),
    departures: Departures,
    random: Stream,
}

impl FredAqm {
    /// Update the average ("calculate average queue length").
    fn calculate(&mut self, now: Time, departed: bool) {
        if self.q > 0 || departed {
            self.average.sample(f64::from(self.q));
        } else {
            self.average.decay(now, Some(self.q_time));
            self.q_time = now;
        }
        let flows = f64::from(self.active.max(1));
        self.avgcq = (self.average.value() / flows).max(1.0);
        if self.q == 0 && departed {
            self.q_time = now;
        }
    }

    /// Process the departures up to `until` ("for each departing packet").
    fn depart(&mut self, until: Time) {
        while let Some(d) = self.departures.next(until) {
            self.q -= 1;
            let flow = &mut self.flows[d.tag as usize];
            flow.qlen -= 1;
            if flow.qlen == 0 {
                *flow = Flow::default();
                self.calculate(d.at, true);
                self.active -= 1;
            } else {
                self.calculate(d.at, true);
            }
        }
    }

    /// Return the variables for a packet of the flow `flow`, in addition to those of the random
    /// choice.
    fn variables(&self, flow: Flow, choice: FredVariables) -> FredVariables {
        FredVariables {
            qlen: f64::from(flow.qlen),
            avgcq: self.avgcq,
            strike: f64::from(flow.strike),
            count: self.count as f64,
            ..choice
        }
    }

    /// Store the rule and the variables of a signal.
    fn explained(&mut self, rule: &'static Rule, flow: Flow, choice: FredVariables) {
        self.signal = (rule, self.variables(flow, choice));
    }

    fn decide(&mut self, flow: Flow) -> Verdict {
        let (avg, qlen) = (self.average.value(), f64::from(flow.qlen));
        if avg >= self.minth && avg < self.maxth {
            self.count += 1;
            if qlen >= self.minq.max(self.avgcq) {
                let pb = self.maxp * (avg - self.minth) / (self.maxth - self.minth);
                let share = self.count as f64 * pb;
                let pa = if share < 1.0 { pb / (1.0 - share) } else { 1.0 };
                let drawn = self.random.uniform();
                if drawn < pa {
                    let choice = FredVariables { p_b: pb, p_a: pa.min(1.0), random: drawn, ..NO_VALUES };
                    self.explained(&RANDOM, flow, choice);
                    self.count = 0;
                    return Verdict::Signal(Why::Early);
                }
            }
        } else if avg < self.minth {
            self.count = -1;
        } else {
            self.explained(&ABOVE_MAXTH, flow, NO_VALUES);
            self.count = 0;
            return Verdict::Drop(Why::Threshold);
        }
        Verdict::Pass
    }
}

impl Aqm for FredAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        self.depart(at.now);
        let i = packet.connection as usize;
        if i >= self.flows.len() {
            self.flows.resize(i + 1, Flow::default());
        }
        if self.q == 0 {
            self.calculate(at.now, false);
        }
        let (flow, avg) = (self.flows[i], self.average.value());
        self.last = flow;
        let qlen = f64::from(flow.qlen);
        let outlaw = if qlen >= self.minth {
            Some(&MAXQ)
        } else if avg >= self.maxth && qlen > 2.0 * self.avgcq {
            Some(&SHARE)
        } else {
            (qlen >= self.avgcq && flow.strike > 1).then_some(&STRIKES)
        };
        if let Some(rule) = outlaw {
            self.explained(rule, flow, NO_VALUES);
            self.flows[i].strike += 1;
            return Verdict::Drop(Why::Early);
        }
        self.decide(flow)
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        let flow = &mut self.flows[packet.connection as usize];
        self.active += u32::from(flow.qlen == 0);
        flow.qlen += 1;
        self.calculate(at.now, false);
        self.q += 1;
        self.departures.add(packet, at, packet.connection);
    }

    fn average(&self) -> Option<Depth> {
        Some(Depth::Packets(self.average.value()))
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.average.explain(to);
        if why == Why::Full {
            to.with(self.variables(self.last, NO_VALUES));
        } else {
            to.by(self.signal.0).with(self.signal.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Backlog;
    use serde_json::json;
    use units::{Depth, Rate, Read};

    /// The flow is above maxq, which adds a strike, and the buffer is full.
    #[test]
    fn the_explained_strikes_exclude_the_packet_itself() {
        let context = QueueContext::new(Rate(1_500_000), Depth::Packets(100.0), Stream::new(1, "fred"));
        let mut aqm = Fred::read(&json!({"minth": "4 packets"}), "fred").unwrap().aqm(context);
        aqm.flows.resize(1, Flow { qlen: 4, strike: 7 });
        aqm.q = 4;
        let at = Arrival { now: Time(1), backlog: Backlog { packets: 4, bytes: 0 }, free_at: Time::NEVER };
        assert_eq!(aqm.on_arrival(&Packet::default(), &at), Verdict::Drop(Why::Early));
        let mut explanation = Explanation::of(Why::Full);
        aqm.explain(Why::Full, &mut explanation);
        let (_, strike) = explanation.values().iter().find(|(v, _)| v.name == "strike").unwrap();
        assert_eq!((*strike, aqm.flows[0].strike), (7.0, 8));
    }
}
