//! Clustered loss: a template for an impairment. docs/how-to/add-an-impairment.md explains where
//! each line goes.
//!
//! Source: name the paper or RFC here, with its key in references.bib. (This impairment is
//! invented.)

// `effect.rs` defines the packet that an impairment sees, and the effects that it can return.
use engine::Stream;
use net::Why;
use units::{Probability, Range, params};

use crate::effect::{Effect, Impair, Kind, Passage};

// The following definition of the impairment's parameters is the only one. The macro `params!`
// generates the struct, the reader with its errors, the JSON Schema, the manual page (from these
// comments) and the Python object. Each parameter has a type with a unit, a default (or
// `required`), a range, and the source of the default. The name of the kind in a scenario is
// "my_impairment".
params! {
    /// Clustered loss: each random loss begins a cluster of consecutive lost packets.
    pub struct MyImpairment: "my_impairment" {
        /// Probability that a packet begins a cluster of losses.
        probability: Probability = required, in Range::ANY, from "";
        /// Number of consecutive packets in a cluster, which are all lost.
        length: u64 = (3), in Range::between(1.0, 1e6), from "invented";
    }
}

/// State of clustered loss.
#[derive(Clone, Debug)]
pub struct Clusters {
    probability: f64,
    length: u64,
    /// Number of packets of the current cluster that are still to be lost.
    left: u64,
    random: Stream,
}

// The function `start` returns the state of the impairment before the first packet. All random
// numbers come from the stream `random`, so that a run with the same seed gives the same result.
// Set `DUPLICATES` to true if the impairment can return `Effect::Duplicate`.
impl Kind for MyImpairment {
    type State = Clusters;

    fn start(&self, random: Stream) -> Clusters {
        Clusters { probability: self.probability.0, length: self.length, left: 0, random }
    }
}

// The function `act` returns the effect on each packet, in the order in which packets reach the far
// end of the link. The wire applies the effect to the packet and increases the counter of the
// effect.
impl Impair for Clusters {
    fn act(&mut self, _: &Passage) -> Effect {
        if self.left == 0 && self.random.uniform() < self.probability {
            self.left = self.length;
        }
        if self.left == 0 {
            return Effect::Pass;
        }
        self.left -= 1;
        Effect::Lose(Why::Loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::lost_packets;
    use serde_json::json;
    use units::Read;

    fn lost(probability: f64, n: u64) -> Vec<u64> {
        let parameters = json!({"probability": probability, "length": 4});
        lost_packets(&MyImpairment::read(&parameters, "").unwrap(), n)
    }

    #[test]
    fn a_loss_is_followed_by_others() {
        let lost = lost(0.01, 10_000);
        assert!(lost.len() > 100);
        assert!(lost.chunks_exact(4).all(|cluster| cluster[3] == cluster[0] + 3));
    }

    #[test]
    fn the_probability_may_be_0_or_1() {
        assert!(lost(0.0, 1000).is_empty());
        assert_eq!(lost(1.0, 5), [1, 2, 3, 4, 5]);
    }
}
