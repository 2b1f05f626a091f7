//! Reordering: some packets arrive after packets that were sent later.
//!
//! A packet is reordered if a packet that was sent later has arrived before it (RFC 4737 §3.3). If
//! consecutive packets are one interval T apart, up to n = ⌈delay/T⌉ − 1 packets can overtake a
//! delayed packet. The probability that at least one packet overtakes a delayed packet is 1 −
//! probability^n, where n is the number of packets that can overtake it.

use engine::Stream;
use units::{Duration, Probability, Range, params};

use crate::effect::{Chance, Effect, Kind};

params! {
    /// Reordering: some packets are delayed, and later packets overtake them.
    pub struct Reordering: "reordering" {
        /// Probability that a packet is delayed.
        probability: Probability = required, in Range::ANY, from "";
        /// Additional delay of a delayed packet (called the late-time offset in RFC 4737). With a
        /// longer delay, more packets overtake the delayed packet.
        delay: Duration = required, in Range::above(0.0), from "rfc4737 §4.3";
    }
}

impl Kind for Reordering {
    type State = Chance;

    fn start(&self, random: Stream) -> Chance {
        Chance::new(self.probability, Effect::Delay(self.delay), random)
    }
}
