//! Bit errors that the link does not detect.

use engine::Stream;
use units::{Probability, Range, params};

use crate::effect::{Chance, Effect, Kind};

params! {
    /// Corruption of packets, without detection of the errors by the link. A corrupted packet
    /// passes all queues to its receiver. The receiver detects the error by the checksum and
    /// discards the packet. For bit errors that the link detects, use the impairment `bit_errors`.
    pub struct Corruption: "corruption" {
        /// Probability that a packet is corrupted.
        probability: Probability = required, in Range::ANY, from "rfc9293 §3.1: the checksum covers header, data and pseudo-header; MUST-3: the receiver verifies the checksum";
    }
}

impl Kind for Corruption {
    type State = Chance;

    fn start(&self, random: Stream) -> Chance {
        Chance::new(self.probability, Effect::Damage, random)
    }
}
