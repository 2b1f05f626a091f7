//! PI: a proportional-integral controller of the queue.
//!
//! Source: Hollot, Misra, Towsley & Gong 2001, "On designing improved controllers for AQM routers
//! supporting TCP flows" (`hollot2001pi`): the difference equation of its section on implementation,
//! p(kT) = a (q(kT) - qref) - b (q((k-1)T) - qref) + p((k-1)T), with the coefficients and the sampling
//! frequency of its experiments. The queue is sampled at the ends of the periods, exactly.
//!
//! The paper was not at hand: the algorithm is set down from memory, and equations, section numbers and
//! the settings named as its defaults are still to be checked against it.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Duration, Probability, Range, Read, Time, params};

use crate::law::{Configures, Place, measure};
use crate::lazy::{Departures, Ticks};

params! {
    /// PI holds the queue at its reference whatever the load. A fixed number of times a second the
    /// probability is changed by the queue's distance from the reference and by how that changed;
    /// every packet is signalled with it.
    pub struct Pi: "pi", checked by check {
        /// The queue that is held (qref).
        qref: Depth = (Depth::Packets(200.0)), in Range::at_least(0.0), from "hollot2001pi: 200 packets";
        /// Coefficient of the present distance, per packet (a).
        a: f64 = (1.822e-5), in Range::above(0.0), from "hollot2001pi";
        /// Coefficient of the distance one period ago, per packet (b).
        b: f64 = (1.816e-5), in Range::above(0.0), from "hollot2001pi";
        /// Time between two samples (T).
        period: Duration = (Duration(6_250_000_000)), in Range::at_least(1e-6), from "hollot2001pi: 160 Hz";
        /// Size of the packets that the coefficients are for, where qref is in bytes.
        mean_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "hollot2001pi: 500 B";
    }
}

fn check(pi: &Pi, path: &str) -> Result<(), Invalid> {
    if pi.b >= pi.a {
        return Err(Invalid::new(&join(path, "b"), &pi.b.write(), format!("must be below a ({})", pi.a))
            .remedy("with b = a the queue is not pulled to its reference"));
    }
    Ok(())
}

impl Configures for Pi {
    type Law = PiLaw;
    const COUNTS_ON_ORDER: bool = true;

    fn law(&self, place: Place) -> PiLaw {
        let unit = match self.qref {
            Depth::Packets(_) => 1.0,
            Depth::Bytes(_) => self.mean_packet_size.0 as f64,
        };
        PiLaw {
            a: self.a,
            b: self.b,
            qref: self.qref.amount() / unit,
            unit: self.qref.like(unit),
            probability: Probability(0.0),
            q_old: 0.0,
            ticks: Ticks::every(self.period),
            departures: Departures::default(),
            random: place.random,
        }
    }
}

/// The state of PI.
#[derive(Clone, Debug)]
pub struct PiLaw {
    a: f64,
    b: f64,
    qref: f64,
    /// What counts as a packet.
    unit: Depth,
    probability: Probability,
    q_old: f64,
    ticks: Ticks,
    departures: Departures,
    random: Stream,
}

impl PiLaw {
    /// One sample: whether anything changed.
    fn sample(&mut self, now: Time) -> bool {
        let q = measure(self.departures.remaining(now), self.unit) / self.unit.amount();
        let p = self.a * (q - self.qref) - self.b * (self.q_old - self.qref) + self.probability.0;
        let p = Probability(p.clamp(0.0, 1.0));
        let changed = p != self.probability || q != self.q_old;
        (self.probability, self.q_old) = (p, q);
        changed
    }
}

impl Aqm for PiLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        while let Some(tick) = self.ticks.due(at.now) {
            if !self.sample(tick) && self.departures.is_empty() {
                self.ticks.pass_over(at.now);
            }
        }
        if self.random.uniform() < self.probability.0 { Verdict::Signal(Why::Early) } else { Verdict::Pass }
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.departures.add(packet, at, 0);
    }
}
