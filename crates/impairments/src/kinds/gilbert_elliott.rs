//! Losses in bursts, from a Markov chain of two states.
//!
//! Sources: Gilbert 1960, "Capacity of a burst-noise channel" (`gilbert1960capacity`), where the
//! good state loses no packet; Elliott 1963, "Estimates of error rates for codes on burst-noise
//! channels" (`elliott1963estimates`), where both states may lose packets. The Markov chain makes
//! one step per packet.

use engine::Stream;
use net::Why;
use units::{Probability, Range, params};

use crate::effect::{Effect, Impair, Kind, Passage};

params! {
    /// Gilbert–Elliott loss. A Markov chain with a good and a bad state makes one step per packet,
    /// and each state has its own loss probability. With the default loss probabilities, the loss
    /// rate is good_to_bad/(good_to_bad + bad_to_good), and the mean length of a burst of losses is
    /// 1/bad_to_good. The Markov chain starts in its stationary distribution.
    pub struct GilbertElliott: "gilbert_elliott" {
        /// Probability of a step from the good to the bad state (P, p).
        good_to_bad: Probability = required, in Range::ANY, from "gilbert1960capacity";
        /// Probability of a step from the bad to the good state (p, r).
        bad_to_good: Probability = required, in Range::ANY, from "gilbert1960capacity";
        /// Loss probability in the good state (1 − k).
        loss_in_good: Probability = (Probability(0.0)), in Range::ANY, from "gilbert1960capacity: 0; elliott1963estimates: any";
        /// Loss probability in the bad state (1 − h).
        loss_in_bad: Probability = (Probability(1.0)), in Range::ANY, from "every packet: the simple Gilbert model; gilbert1960capacity: any";
    }
}

impl GilbertElliott {
    /// Return the share of the chain's steps that are in the bad state.
    pub fn share_bad(&self) -> f64 {
        let (p, r) = (self.good_to_bad.0, self.bad_to_good.0);
        if p + r > 0.0 { p / (p + r) } else { 0.0 }
    }
}

/// State of the Markov chain.
#[derive(Clone, Debug)]
pub struct Chain {
    bad: bool,
    /// Probability of leaving the good state, and of leaving the bad state.
    leaves: [f64; 2],
    /// Loss probability in the good state, and in the bad state.
    loses: [f64; 2],
    random: Stream,
}

impl Kind for GilbertElliott {
    type State = Chain;

    fn start(&self, mut random: Stream) -> Chain {
        Chain {
            bad: random.uniform() < self.share_bad(),
            leaves: [self.good_to_bad.0, self.bad_to_good.0],
            loses: [self.loss_in_good.0, self.loss_in_bad.0],
            random,
        }
    }
}

impl Impair for Chain {
    fn act(&mut self, _: &Passage) -> Effect {
        let state = usize::from(self.bad);
        let lost = self.random.uniform() < self.loses[state];
        self.bad ^= self.random.uniform() < self.leaves[state];
        if lost { Effect::Lose(Why::Loss) } else { Effect::Pass }
    }
}
