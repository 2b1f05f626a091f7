//! A delay that varies from packet to packet.

use engine::Stream;
use units::{Duration, Range, Time, params, words};

use crate::effect::{Effect, Impair, Kind, Passage};

words! {
    /// Distribution of a random delay, given its mean.
    pub enum Distribution {
        /// Uniform between 0 and twice the mean.
        Uniform = "uniform",
        /// Exponential.
        Exponential = "exponential",
    }
}

words! {
    /// Order of packets with random delays.
    pub enum Order {
        /// Packets stay in order: a packet also waits for earlier packets, as in a queue.
        Keep = "keep",
        /// Each packet waits only for its own delay, so a packet may overtake earlier packets.
        Any = "any",
    }
}

params! {
    /// Jitter: a random additional delay for each packet.
    pub struct Jitter: "jitter" {
        /// Mean of the additional delay.
        mean: Duration = required, in Range::at_least(0.0), from "rfc3393: variation of the one-way delay";
        /// Distribution of the additional delay.
        distribution: Distribution = (Distribution::Uniform), in Range::ANY, from "";
        /// Order of the packets after their delays.
        order: Order = (Order::Keep), in Range::ANY, from "";
    }
}

/// State of jitter.
#[derive(Clone, Debug)]
pub struct Delays {
    jitter: Jitter,
    random: Stream,
    /// Time when the previous packet left the wire, if packets stay in order.
    last: Time,
}

impl Kind for Jitter {
    type State = Delays;

    fn start(&self, random: Stream) -> Delays {
        Delays { jitter: self.clone(), random, last: Time::ZERO }
    }
}

impl Impair for Delays {
    fn act(&mut self, packet: &Passage) -> Effect {
        let u = self.random.uniform();
        let mean = self.jitter.mean.seconds();
        // The delay is sampled by inversion (Devroye 1986, II.2) from 1 − u instead of the uniform
        // random number u, because 1 − u is above 0 and so has a logarithm.
        let delay = match self.jitter.distribution {
            Distribution::Uniform => 2.0 * mean * u,
            Distribution::Exponential => -mean * libm::log1p(-u),
        };
        let mut leaves = packet.leaves + Duration::from_seconds(delay);
        if self.jitter.order == Order::Keep {
            leaves = leaves.max(self.last);
            self.last = leaves;
        }
        Effect::Delay(leaves.since(packet.leaves))
    }
}
