//! Bit errors that the link does not detect.

use engine::Stream;
use units::{Probability, Range, params};

use crate::effect::{Chance, Effect, Kind};

params! {
    /// Corruption of packets that no link detects. The packet continues through all queues to its
    /// receiver, which finds the error by the checksum and discards the packet. Use `bit_errors`
    /// for errors that the link detects.
    pub struct Corruption: "corruption" {
        /// Probability that a packet is damaged.
        probability: Probability = required, in Range::ANY, from "rfc9293 §3.1: the checksum covers header, data and pseudo-header; MUST-3: the receiver checks it";
    }
}

impl Kind for Corruption {
    type State = Chance;

    fn start(&self, random: Stream) -> Chance {
        Chance::new(self.probability, Effect::Damage, random)
    }
}
