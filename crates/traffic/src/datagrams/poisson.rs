//! Packets of a Poisson process.

use units::{Bytes, Range, Rate};

datagrams! {
    /// A Poisson process of packets of one size: intervals are exponential, and the mean rate is as said.
    pub struct Poisson: "poisson" {
        /// Mean rate on the wire, headers included.
        rate: Rate = required, in Range::ANY, from "";
        /// Payload of a packet.
        payload: Bytes = (Bytes(972)), in Range::between(1.0, 60_000.0), from "1000 B on the wire";
    }
}
