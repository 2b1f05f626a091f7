//! REM: random exponential marking by a price.
//!
//! Source: Athuraliya, Low, Li & Yin 2001, "REM: active queue management" (`athuraliya2001rem`):
//! equation (1) for the price and equation (2) for the probability, with the constants of its
//! experiments. The input rate of a period is what arrived in it, unsmoothed, as equation (1) has it.
//!
//! The paper was not at hand. Compared with the authors' ns-2 code (rem.cc and its defaults): the price,
//! the probability, and all constants agree, the input rate unsmoothed (inw_ 1). It counts arrivals in
//! packets, or in bytes with a probability in proportion to the size; here always in packets of the mean
//! size, and the probability is the same for all. It marks when a packet leaves; here that is `mark_at`.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Bytes, Depth, Duration, Range, Time, params};

use crate::law::{Configures, Place, measure};
use crate::lazy::{Departures, Ticks};

params! {
    /// REM separates the measure of congestion from queue and loss: a price grows while more comes in
    /// than goes out, or more waits than the target, and falls otherwise, so that it settles where the
    /// rates match and the target waits, whatever the number of users. A packet is signalled with
    /// probability 1 - phi^-price: over several links the probabilities make up that of the summed price.
    /// The queue settles at the target only as far as the link is never idle: an idle share u of the time
    /// is a mismatch of rates that a longer queue makes up for, by u c/alpha packets, where c is what the
    /// link sends in a period. A short period keeps this small; so does a link that matches the experiments (8000
    /// packets/s). The defaults are those of the experiments, for 20 flows or more on 64 Mbit/s.
    pub struct Rem: "rem" {
        /// The queue that is held (b*).
        target: Depth = (Depth::Packets(20.0)), in Range::at_least(0.0), from "athuraliya2001rem: 20 packets";
        /// Step of the price (gamma).
        gamma: f64 = (0.001), in Range::above(0.0), from "athuraliya2001rem";
        /// Weight of the queue beside the rates (alpha).
        alpha: f64 = (0.1), in Range::above(0.0), from "athuraliya2001rem";
        /// Base of the exponential (phi).
        phi: f64 = (1.001), in Range::above(1.0), from "athuraliya2001rem";
        /// Time between two changes of the price.
        period: Duration = (Duration::from_millis(2)), in Range::at_least(1e-6), from "athuraliya2001rem leaves it open; its authors' ns-2 code: 2 ms";
        /// Size of the packets in which the rates are counted, and the queue if the target is in bytes.
        mean_packet_size: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "ns-2: 1000 B";
    }
}

impl Configures for Rem {
    type Law = RemLaw;
    const COUNTS_ON_ORDER: bool = true;

    fn law(&self, place: Place) -> RemLaw {
        let unit = match self.target {
            Depth::Packets(_) => 1.0,
            Depth::Bytes(_) => self.mean_packet_size.0 as f64,
        };
        RemLaw {
            params: self.clone(),
            unit: self.target.like(unit),
            capacity: place.packets_per_second(self.mean_packet_size) * self.period.seconds(),
            arrived_bytes: 0,
            price: 0.0,
            ticks: Ticks::every(self.period),
            departures: Departures::default(),
            random: place.random,
        }
    }
}

/// The state of REM.
#[derive(Clone, Debug)]
pub struct RemLaw {
    params: Rem,
    /// What counts as a packet of the queue.
    unit: Depth,
    /// Packets that the link sends in a period (c).
    capacity: f64,
    /// What arrived in this period (x).
    arrived_bytes: u64,
    price: f64,
    ticks: Ticks,
    departures: Departures,
    random: Stream,
}

impl RemLaw {
    /// Equation (1) at the end of a period: whether the price changed.
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

impl Aqm for RemLaw {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while let Some(tick) = self.ticks.due(at.now) {
            if !self.update(tick) && self.departures.is_empty() {
                self.ticks.pass_over(at.now);
            }
        }
        self.arrived_bytes += u64::from(packet.size);
        // Equation (2): 1 - phi^-price.
        let probability = 1.0 - libm::pow(self.params.phi, -self.price);
        if self.random.uniform() < probability { Verdict::Signal(Why::Early) } else { Verdict::Pass }
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.departures.add(packet, at, 0);
    }
}
