//! Independent losses (Bernoulli trials).

use engine::Stream;
use units::{Probability, Range, params};

use crate::act::Act;

params! {
    /// Random loss: each packet is lost with the same probability, whatever became of others.
    pub struct Loss: "loss" {
        /// Probability that a packet is lost; the bursts of lost packets then have a mean length of 1/(1 − probability).
        probability: Probability = required, in Range::ANY, from "";
    }
}

/// Its working.
#[derive(Clone, Debug)]
pub struct Dice {
    probability: f64,
    random: Stream,
}

impl Dice {
    /// Of this probability.
    pub fn new(probability: Probability, random: Stream) -> Self {
        Dice { probability: probability.0, random }
    }

    /// `act` with this probability.
    #[inline]
    pub fn chooses(&mut self, act: Act) -> Act {
        if self.random.uniform() < self.probability { act } else { Act::Pass }
    }
}
