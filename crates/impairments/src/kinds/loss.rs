//! Independent losses (Bernoulli trials).

use engine::Stream;
use net::Why;
use units::{Probability, Range, params};

use crate::effect::{Chance, Effect, Kind};

params! {
    /// Random loss: each packet is lost with the same probability, independently of the others.
    pub struct Loss: "loss" {
        /// Probability that a packet is lost. A burst of losses has a mean length of 1/(1 −
        /// probability) packets.
        probability: Probability = required, in Range::ANY, from "";
    }
}

impl Kind for Loss {
    type State = Chance;

    fn start(&self, random: Stream) -> Chance {
        Chance::new(self.probability, Effect::Lose(Why::Loss), random)
    }
}
