//! A delay that varies from packet to packet.

use engine::Stream;
use units::{Duration, Range, Time, params, words};

use crate::act::Act;

words! {
    /// The distribution of a varying delay, given its mean.
    pub enum Distribution {
        /// Uniform between 0 and twice the mean.
        Uniform = "uniform",
        /// Exponential.
        Exponential = "exponential",
    }
}

words! {
    /// Whether packets may overtake each other.
    pub enum Order {
        /// None overtakes another: it waits for those before it, as in a queue that is not simulated.
        Keep = "keep",
        /// Each takes its own time: the jitter reorders.
        Any = "any",
    }
}

params! {
    /// Jitter: each packet is delayed further by a random time of its own.
    pub struct Jitter: "jitter" {
        /// Mean of the further delay.
        mean: Duration = required, in Range::at_least(0.0), from "rfc3393: variation of the one-way delay";
        /// Its distribution.
        distribution: Distribution = (Distribution::Uniform), in Range::ANY, from "";
        /// Whether packets may overtake each other.
        order: Order = (Order::Keep), in Range::ANY, from "";
    }
}

/// Its working.
#[derive(Clone, Debug)]
pub struct Delays {
    jitter: Jitter,
    random: Stream,
    /// When the last packet left.
    last: Time,
}

impl Delays {
    /// Before any packet.
    pub fn new(jitter: &Jitter, random: Stream) -> Self {
        Delays { jitter: jitter.clone(), random, last: Time::ZERO }
    }

    /// What becomes of the packet that comes now.
    pub fn act(&mut self, now: Time) -> Act {
        let u = self.random.uniform();
        let mean = self.jitter.mean.seconds();
        // Inversion (Devroye 1986, II.2), of 1 − u, which is above 0.
        let drawn = match self.jitter.distribution {
            Distribution::Uniform => 2.0 * mean * u,
            Distribution::Exponential => -mean * libm::log1p(-u),
        };
        let mut leaves = now + Duration::from_seconds(drawn);
        if self.jitter.order == Order::Keep {
            leaves = leaves.max(self.last);
            self.last = leaves;
        }
        Act::Hold(leaves.since(now))
    }
}
