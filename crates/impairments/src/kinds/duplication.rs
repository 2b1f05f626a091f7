//! Packets that arrive twice.

use engine::Stream;
use units::{Duration, Probability, Range, params};

use crate::effect::{Chance, Effect, Kind};

params! {
    /// Duplication: a copy of a packet follows the packet.
    pub struct Duplication: "duplication" {
        /// Probability that a packet is duplicated.
        probability: Probability = required, in Range::ANY, from "rfc5560: one-way duplication of packets";
        /// Time from the arrival of the original packet to the arrival of its copy.
        delay: Duration = (Duration::ZERO), in Range::at_least(0.0), from "the copy follows directly, as when a link retransmits a frame because the acknowledgment of the frame is late";
    }
}

impl Kind for Duplication {
    const DUPLICATES: bool = true;
    type State = Chance;

    fn start(&self, random: Stream) -> Chance {
        Chance::new(self.probability, Effect::Duplicate(self.delay), random)
    }
}
