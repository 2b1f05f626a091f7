//! Packets that arrive twice.

use units::{Duration, Probability, Range, params};

params! {
    /// Duplication: a copy follows the packet.
    pub struct Duplication: "duplication" {
        /// Probability that a packet is doubled.
        probability: Probability = required, in Range::ANY, from "rfc5560: one-way duplication of packets";
        /// How much later the copy arrives.
        delay: Duration = (Duration::ZERO), in Range::at_least(0.0), from "right behind it, as by a link that sends again what was not acknowledged in time";
    }
}
