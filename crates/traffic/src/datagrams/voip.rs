//! A voice call.

use engine::Stream;
use units::{Bytes, Duration, Range};

use super::emitter::{Common, Datagrams, Gaps, datagrams};
use super::even::Even;

datagrams! {
    /// A voice call with one frame of speech per packet, at a constant interval. The defaults, 132
    /// B on the wire every 20 ms, make a call of about 53 kbit/s. A testbed study of RED sends such
    /// calls in parallel to TCP flows.
    pub struct Voip: "voip" {
        /// Payload per packet.
        payload: Bytes = (Bytes(104)), in Range::between(1.0, 60_000.0), from "an ADPCM call of 104 B + 28 B of headers";
        /// Interval between packets.
        interval: Duration = (Duration::from_millis(20)), in Range::at_least(1e-6), from "20 ms per packet: 52.8 kbit/s on the wire";
    }
}

impl Datagrams for Voip {
    fn common(&self) -> Common {
        self.shared()
    }

    fn gaps(&self, _: Stream) -> Box<dyn Gaps> {
        Box::new(Even::new(self.interval, self.payload))
    }
}
