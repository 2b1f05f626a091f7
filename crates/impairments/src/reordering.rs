//! Packets that others overtake.
//!
//! A packet is reordered when one that was sent later has arrived before it (RFC 4737 §3.3). With
//! packets one interval T apart, n = ⌈delay/T⌉ − 1 of them can overtake a packet that is held; that at least one
//! does has probability 1 − probability^n.

use units::{Duration, Probability, Range, params};

params! {
    /// Reordering: some packets are held for a while, and those behind overtake them.
    pub struct Reordering: "reordering" {
        /// Probability that a packet is held.
        probability: Probability = required, in Range::ANY, from "";
        /// For how long: with a long one many overtake it (the late-time offset).
        delay: Duration = required, in Range::above(0.0), from "rfc4737 §4.3";
    }
}
