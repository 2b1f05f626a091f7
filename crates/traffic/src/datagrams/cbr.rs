//! Packets at a constant rate.

use units::{Bytes, Duration, Range, Rate, params};

use super::{Field, HEADERS};

params! {
    /// A constant bit rate: packets of one size, evenly spaced, whatever becomes of them.
    pub struct Cbr: "cbr" {
        /// Rate on the wire, headers included.
        rate: Rate = required, in Range::ANY, from "";
        /// Payload of a packet.
        payload: Bytes = (Bytes(972)), in Range::between(1.0, 60_000.0), from "1000 B on the wire";
        /// IP and UDP headers of a packet.
        headers: Bytes = (HEADERS), in Range::between(1.0, 1000.0), from "rfc791 §3.1, rfc768: 20 B and 8 B";
        /// Their ECN field.
        ecn: Field = (Field::NotEct), in Range::ANY, from "rfc3168 §5";
        /// How many packets; absent: no end.
        packets: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
        /// For how long it sends; absent: no end.
        lasts: Option<Duration> = (None), in Range::above(0.0), from "";
    }
}
