//! A voice call.

use units::{Bytes, Duration, Range, params};

use super::{Field, HEADERS};

params! {
    /// A voice call: a frame of speech a packet, evenly spaced. The defaults, 132 B on the wire every 20 ms, are
    /// the call of about 53 kbit/s that a study of RED on a testbed sends beside TCP.
    pub struct Voip: "voip" {
        /// Payload of a packet.
        payload: Bytes = (Bytes(104)), in Range::between(1.0, 60_000.0), from "an ADPCM call of 104 B + 28 B of headers";
        /// Time between packets.
        interval: Duration = (Duration::from_millis(20)), in Range::at_least(1e-6), from "20 ms a packet: 52.8 kbit/s on the wire";
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
