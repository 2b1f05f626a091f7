//! Random exponential marking (REM), whose signal probability follows from a price.
//!
//! Source: Athuraliya, Low, Li & Yin 2001, "REM: active queue management" (`athuraliya2001rem`):
//! equation (1) for the price and equation (2) for the signal probability, with the constants of
//! the paper's experiments. The input rate of a period is the traffic that arrives in the period,
//! without smoothing, as in equation (1) of the paper.
//!
//! The paper on REM was not available. The price, the probability, the unsmoothed input rate
//! (inw_ 1) and all constants agree with the authors' ns-2 code (rem.cc and its defaults). The ns-2
//! code counts arrivals in packets, or in bytes. If the ns-2 code counts bytes, its signal
//! probability is proportional to the packet size. In aqmlab arriving bytes are counted in units of
//! the mean packet size, and all packets have the same signal probability. In ns-2 REM marks a
//! packet when the packet leaves the queue. In aqmlab the parameter `mark_at` selects the marking
//! of a packet that leaves.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Bytes, Depth, Duration, Range, Time, params};

use crate::aqm::{AqmParams, QueueContext, measure};
use crate::lazy::{Departures, Ticks};

params! {
    /// REM measures congestion by a price instead of queue length or loss. The price rises while
    /// the arrival rate exceeds the capacity of the link or the queue length exceeds its target,
    /// and falls otherwise. In equilibrium the arrival rate equals the capacity and the queue
    /// length equals its target, for any number of users. A packet is signalled with the
    /// probability 1 - phi^-price. If a packet passes several links, the probability of at least
    /// one signal therefore depends on the sum of the prices. The queue length reaches its target
    /// only if the link is never idle. If the link is idle for the share u of the time, the queue
    /// is longer by u c/alpha packets, where c is the number of packets that the link sends per
    /// period. The excess queue length is small if the link sends few packets per period, as in the
    /// experiments, which have short periods and a link of 8000 packets/s. The default values are
    /// those of the experiments, which have at least 20 flows on a link of 64 Mbit/s.
    pub struct Rem: "rem" {
        /// Target queue length (b*).
        target: Depth = (Depth::Packets(20.0)), in Range::at_least(0.0), from "athuraliya2001rem: 20 packets";
        /// Step size of the price (gamma).
        gamma: f64 = (0.001), in Range::above(0.0), from "athuraliya2001rem";
        /// Weight of the queue length in the price, relative to the weight 1 of the rates (alpha).
        alpha: f64 = (0.1), in Range::above(0.0), from "athuraliya2001rem";
        /// Base of the exponential function in the signal probability (phi).
        phi: f64 = (1.001), in Range::above(1.0), from "athuraliya2001rem";
        /// Time between two updates of the price.
        period: Duration = (Duration::from_millis(2)), in Range::at_least(1e-6), from "the authors' ns-2 code: 2 ms; athuraliya2001rem has no value";
        /// Packet size that converts the rates into packets. If the target is in bytes, this size
        /// also converts the queue length into packets.
        mean_packet_size: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "ns-2: 1000 B";
    }
}

impl AqmParams for Rem {
    type Aqm = RemAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: RemVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> RemAqm {
        let unit = match self.target {
            Depth::Packets(_) => 1.0,
            Depth::Bytes(_) => self.mean_packet_size.0 as f64,
        };
        RemAqm {
            params: self.clone(),
            unit: self.target.like(unit),
            capacity: context.packets_per_second(self.mean_packet_size) * self.period.seconds(),
            arrived_bytes: 0,
            price: 0.0,
            drawn: f64::NAN,
            ticks: Ticks::every(self.period),
            departures: Departures::default(),
            random: context.random,
        }
    }
}

rules! {
    /// The random number is below the signal probability 1 - phi^-price.
    RANDOM = "random", from "athuraliya2001rem, equation (2)";
}

variables! {
    /// Variables of REM.
    pub struct RemVariables {
        /// Price of the link.
        price in "", from "athuraliya2001rem, equation (1)";
        /// Signal probability (p).
        p in "0..1", from "athuraliya2001rem, equation (2)";
        /// Random number between 0 and 1 that was compared with p.
        random in "0..1", from "athuraliya2001rem, equation (2)";
    }
}

/// State of REM.
#[derive(Clone, Debug)]
pub struct RemAqm {
    params: Rem,
    /// Unit of the queue length: one packet, or the number of bytes that count as one packet.
    unit: Depth,
    /// Number of packets that the link sends per period (c).
    capacity: f64,
    /// Number of bytes that arrived in the current period (x).
    arrived_bytes: u64,
    price: f64,
    /// Random number of the last signal.
    drawn: f64,
    ticks: Ticks,
    departures: Departures,
    random: Stream,
}

impl RemAqm {
    /// Return the signal probability 1 - phi^-price (equation (2)).
    #[inline]
    fn probability(&self) -> f64 {
        1.0 - libm::pow(self.params.phi, -self.price)
    }

    /// Update the price at the end of a period (equation (1)). Return true if the price changed or
    /// packets arrived.
    fn update(&mut self, now: Time) -> bool {
        let unit = self.unit.amount();
        let b = measure(self.departures.remaining(now), self.unit) / unit;
        let x = self.arrived_bytes as f64 / self.params.mean_packet_size.0 as f64;
        let target = self.params.target.amount() / unit;
        let mismatch = self.params.alpha * (b - target) + x - self.capacity;
        let price = (self.price + self.params.gamma * mismatch).max(0.0);
        let changed = price != self.price || x > 0.0;
        self.price = price;
        self.arrived_bytes = 0;
        changed
    }
}

impl Aqm for RemAqm {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while let Some(tick) = self.ticks.due(at.now) {
            if !self.update(tick) && self.departures.is_empty() {
                self.ticks.pass_over(at.now);
            }
        }
        self.arrived_bytes += u64::from(packet.size);
        let drawn = self.random.uniform();
        if drawn < self.probability() {
            self.drawn = drawn;
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let random = to.drawn(why, &RANDOM, self.drawn);
        to.with(RemVariables { price: self.price, p: self.probability(), random });
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.departures.add(packet, at, 0);
    }
}
