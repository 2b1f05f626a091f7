//! Proportional-integral controller of the queue length (PI).
//!
//! Source: Hollot, Misra, Towsley & Gong 2001, "On designing improved controllers for AQM routers
//! supporting TCP flows" (`hollot2001pi`). The difference equation p(kT) = a (q(kT) - qref) - b
//! (q((k-1)T) - qref) + p((k-1)T) is from the paper's section on implementation. The default
//! coefficients and the sampling frequency are those of the paper's experiments. For other links,
//! the paper's design rule computes the coefficients. PI samples the queue length exactly at the
//! end of each period.
//!
//! The paper on PI was not available. The difference equation, the coefficients and the packet size
//! of 500 B agree with ns-2's pi.cc. The sampling frequency of pi.cc is 170 Hz and its reference is
//! 50 packets. For 60 flows, 246 ms and 3750 packets/s, the design rule yields the published
//! coefficients a and b within 2 %.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::param::{Invalid, Json, join};
use units::{Bytes, Depth, Duration, Probability, Range, Read, Time, params};

use crate::aqm::{AqmParams, QueueContext, measure};
use crate::lazy::{Departures, Ticks};

params! {
    /// PI keeps the queue length near a reference under different loads. In each period PI changes
    /// the signal probability. One part of the change is proportional to the difference between the
    /// queue length and the reference, and the other part to the change of the queue length. The
    /// coefficients a and b suit only one combination of link rate, round-trip time and number of
    /// flows. The published coefficients are for 3750 packets/s of 500 B (15 Mbit/s), round-trip
    /// times up to 246 ms and at least 60 flows. The loop gain of TCP and the queue is proportional
    /// to the cube of the bandwidth-delay product and inversely proportional to the square of the
    /// number of flows. With unsuitable coefficients, the queue reacts slowly if the
    /// bandwidth-delay product is small or the flows are many, and oscillates if the product is
    /// large or the flows are few. For another link or load, set `max_rtt` and `min_flows`: then
    /// the paper's design rule computes a and b from the rate of the link and the packet size.
    pub struct Pi: "pi", checked by check {
        /// Reference queue length (qref).
        qref: Depth = (Depth::Packets(200.0)), in Range::at_least(0.0), from "hollot2001pi: 200 packets";
        /// Coefficient of the current difference between queue length and reference (a), per
        /// packet. By default a is 1.822e-5, or the design rule computes it if max_rtt and
        /// min_flows are set.
        a: Option<f64> = (None), in Range::above(0.0), from "hollot2001pi: 1.822e-5 for its experiments";
        /// Coefficient of the previous difference between queue length and reference (b), per
        /// packet. By default b is 1.816e-5, or the design rule computes it if max_rtt and
        /// min_flows are set.
        b: Option<f64> = (None), in Range::above(0.0), from "hollot2001pi: 1.816e-5 for its experiments";
        /// Maximum round-trip time, including queueing delay, from which the design rule computes a
        /// and b (R+).
        max_rtt: Option<Duration> = (None), in Range::above(0.0), from "hollot2001pi: its design rule";
        /// Minimum number of flows from which the design rule computes a and b (N-).
        min_flows: Option<f64> = (None), in Range::at_least(1.0), from "hollot2001pi: its design rule";
        /// Time between two samples of the queue length (T).
        period: Duration = (Duration(6_250_000_000)), in Range::at_least(1e-6), from "hollot2001pi: 160 Hz";
        /// Packet size from which the design rule computes a and b. If qref is in bytes,
        /// mean_packet_size also converts it into packets.
        mean_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "hollot2001pi: 500 B";
    }
}

/// Coefficients of the paper's experiments.
const PUBLISHED: Coefficients = Coefficients { a: 1.822e-5, b: 1.816e-5 };

/// Coefficients of the current and of the previous difference between queue length and reference.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Coefficients {
    a: f64,
    b: f64,
}

impl Coefficients {
    /// Return the coefficients that the design rule computes. The zero of the controller K (s/z +
    /// 1)/s cancels the pole of TCP's window, z = 2 N/(R² C). K sets the unity-gain frequency of
    /// the loop to ω = z, where TCP and queue have the gain (R C)³/(4 N²) / |(jω/z + 1)(jω R + 1)|.
    /// The loop is then also stable for more flows and for shorter round-trip times. If the queue
    /// is sampled once per period T, Tustin's rule gives a = K (1/z + T/2) and b = K (1/z - T/2).
    fn designed(flows: f64, rtt: f64, packets_per_second: f64, period: f64) -> Self {
        let z = 2.0 * flows / (rtt * rtt * packets_per_second);
        let window = rtt * packets_per_second;
        let gain = window * window * window / (4.0 * flows * flows);
        let k = z * (1.0 + z * rtt * z * rtt).sqrt() / gain;
        Coefficients { a: k * (1.0 / z + period / 2.0), b: k * (1.0 / z - period / 2.0) }
    }
}

impl Pi {
    fn coefficients(&self, packets_per_second: f64) -> Coefficients {
        if let (Some(rtt), Some(flows)) = (self.max_rtt, self.min_flows) {
            return Coefficients::designed(flows, rtt.seconds(), packets_per_second, self.period.seconds());
        }
        Coefficients { a: self.a.unwrap_or(PUBLISHED.a), b: self.b.unwrap_or(PUBLISHED.b) }
    }
}

fn check(pi: &Pi, path: &str) -> Result<(), Invalid> {
    if pi.max_rtt.is_some() != pi.min_flows.is_some() {
        let key = if pi.max_rtt.is_some() { "min_flows" } else { "max_rtt" };
        return Err(Invalid::new(&join(path, key), &Json::Null, "is missing")
            .remedy("give both max_rtt and min_flows, or neither"));
    }
    if pi.max_rtt.is_some() && (pi.a.is_some() || pi.b.is_some()) {
        let key = if pi.a.is_some() { "a" } else { "b" };
        return Err(Invalid::new(&join(path, key), &Json::Null, "is computed from max_rtt and min_flows")
            .remedy("give either a and b, or max_rtt and min_flows"));
    }
    let Coefficients { a, b } = pi.coefficients(1.0);
    if pi.max_rtt.is_none() && b >= a {
        return Err(Invalid::new(&join(path, "b"), &pi.b.write(), format!("must be below a ({a})"))
            .remedy("lower b, because with b = a the queue does not return to its reference"));
    }
    Ok(())
}

impl AqmParams for Pi {
    type Aqm = PiAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: PiVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> PiAqm {
        let unit = match self.qref {
            Depth::Packets(_) => 1.0,
            Depth::Bytes(_) => self.mean_packet_size.0 as f64,
        };
        PiAqm {
            coefficients: self.coefficients(context.packets_per_second(self.mean_packet_size)),
            qref: self.qref.amount() / unit,
            unit: self.qref.like(unit),
            probability: Probability(0.0),
            q_old: 0.0,
            drawn: f64::NAN,
            ticks: Ticks::every(self.period),
            departures: Departures::default(),
            random: context.random,
        }
    }
}

rules! {
    /// The random number is below the signal probability p.
    RANDOM = "random", from "hollot2001pi";
}

variables! {
    /// Variables of PI.
    pub struct PiVariables {
        /// Signal probability (p).
        p in "0..1", from "hollot2001pi";
        /// Queue length at the last sample (q), which determined p.
        q_packets in "packets", from "hollot2001pi";
        /// Random number between 0 and 1 that was compared with p.
        random in "0..1", from "hollot2001pi";
    }
}

/// State of PI.
#[derive(Clone, Debug)]
pub struct PiAqm {
    coefficients: Coefficients,
    qref: f64,
    /// Unit of the queue length: one packet, or the number of bytes that count as one packet.
    unit: Depth,
    probability: Probability,
    q_old: f64,
    /// Random number of the last signal.
    drawn: f64,
    ticks: Ticks,
    departures: Departures,
    random: Stream,
}

impl PiAqm {
    /// Sample the queue length and update the signal probability. Return true if the queue length
    /// or the probability differs from its previous value.
    fn sample(&mut self, now: Time) -> bool {
        let q = measure(self.departures.remaining(now), self.unit) / self.unit.amount();
        let Coefficients { a, b } = self.coefficients;
        let p = a * (q - self.qref) - b * (self.q_old - self.qref) + self.probability.0;
        let p = Probability(p.clamp(0.0, 1.0));
        let changed = p != self.probability || q != self.q_old;
        (self.probability, self.q_old) = (p, q);
        changed
    }
}

impl Aqm for PiAqm {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        while let Some(tick) = self.ticks.due(at.now) {
            if !self.sample(tick) && self.departures.is_empty() {
                self.ticks.pass_over(at.now);
            }
        }
        let drawn = self.random.uniform();
        if drawn < self.probability.0 {
            self.drawn = drawn;
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let random = to.drawn(why, &RANDOM, self.drawn);
        to.with(PiVariables { p: self.probability.0, q_packets: self.q_old, random });
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.departures.add(packet, at, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test applies the design rule to the paper's example: 60 flows, 246 ms, 3750 packets/s,
    /// 160 Hz.
    #[test]
    fn the_design_rule_gives_the_published_coefficients() {
        let Coefficients { a, b } = Coefficients::designed(60.0, 0.246, 3750.0, 1.0 / 160.0);
        assert!((a / PUBLISHED.a - 1.0).abs() < 0.02 && (b / PUBLISHED.b - 1.0).abs() < 0.02, "{a} {b}");
        let ki = |a: f64, b: f64| a - b;
        assert!((ki(a, b) / ki(PUBLISHED.a, PUBLISHED.b) - 1.0).abs() < 0.03, "{a} {b}");
    }
}
