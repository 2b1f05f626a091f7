//! Errors that the link does not notice.

use units::{Probability, Range, params};

params! {
    /// Corruption that no link notices: the packet goes on, through every queue to its receiver, whose
    /// checksum finds the error and discards it. Of a link that notices, see bit_errors.
    pub struct Corruption: "corruption" {
        /// Probability that a packet is damaged.
        probability: Probability = required, in Range::ANY, from "rfc9293 §3.1: the checksum covers header, data and pseudo-header; MUST-3: the receiver checks it";
    }
}
