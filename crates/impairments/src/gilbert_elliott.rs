//! Losses in bursts: a two-state Markov chain.
//!
//! Sources: Gilbert 1960, "Capacity of a burst-noise channel" (`gilbert1960capacity`), where the good
//! state loses nothing; Elliott 1963, "Estimates of error rates for codes on burst-noise channels"
//! (`elliott1963estimates`), where either state may. The chain makes a step a packet.

use engine::Stream;
use net::Why;
use units::{Probability, Range, params};

use crate::act::Act;

params! {
    /// Gilbert–Elliott loss: a chain of two states, good and bad, makes a step a packet, and loses the packet with the
    /// probability of its state. With the defaults the loss rate is good_to_bad/(good_to_bad + bad_to_good), and
    /// a burst of lost packets has a mean length of 1/bad_to_good. The chain begins in its stationary distribution.
    pub struct GilbertElliott: "gilbert_elliott" {
        /// Probability that the bad state follows the good one (P, p).
        good_to_bad: Probability = required, in Range::ANY, from "gilbert1960capacity";
        /// Probability that the good state follows the bad one (p, r).
        bad_to_good: Probability = required, in Range::ANY, from "gilbert1960capacity";
        /// Probability that a packet is lost in the good state (1 − k).
        loss_in_good: Probability = (Probability(0.0)), in Range::ANY, from "gilbert1960capacity: none; elliott1963estimates: any";
        /// Probability that a packet is lost in the bad state (1 − h).
        loss_in_bad: Probability = (Probability(1.0)), in Range::ANY, from "every packet: the simple Gilbert model; gilbert1960capacity: any";
    }
}

impl GilbertElliott {
    /// Share of the steps in the bad state.
    pub fn share_bad(&self) -> f64 {
        let (p, r) = (self.good_to_bad.0, self.bad_to_good.0);
        if p + r > 0.0 { p / (p + r) } else { 0.0 }
    }
}

/// Its working.
#[derive(Clone, Debug)]
pub struct Chain {
    bad: bool,
    /// Probability to leave the good state, the bad one.
    leaves: [f64; 2],
    /// Probability to lose in it.
    loses: [f64; 2],
    random: Stream,
}

impl Chain {
    /// In its stationary distribution.
    pub fn new(p: &GilbertElliott, mut random: Stream) -> Self {
        Chain {
            bad: random.uniform() < p.share_bad(),
            leaves: [p.good_to_bad.0, p.bad_to_good.0],
            loses: [p.loss_in_good.0, p.loss_in_bad.0],
            random,
        }
    }

    /// What becomes of the next packet.
    pub fn act(&mut self) -> Act {
        let state = usize::from(self.bad);
        let lost = self.random.uniform() < self.loses[state];
        self.bad ^= self.random.uniform() < self.leaves[state];
        if lost { Act::Lose(Why::Loss) } else { Act::Pass }
    }
}
