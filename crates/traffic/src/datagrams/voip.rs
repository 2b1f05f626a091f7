//! A voice call.

use engine::Stream;
use units::{Bytes, Duration, Range};

use super::emitter::{Common, Datagrams, Gaps, datagrams};
use super::even::Even;

datagrams! {
    /// A voice call that sends one frame of speech per packet, at a constant interval. With the
    /// default parameters, a packet has 132 B on the wire and the interval is 20 ms, so a call has
    /// a rate of about 53 kbit/s. A study of RED in a testbed sends such voice calls in parallel to
    /// TCP flows.
    pub struct Voip: "voip" {
        /// Payload per packet.
        payload: Bytes = (Bytes(104)), in Range::between(1.0, 60_000.0), from "104 B of ADPCM speech + 28 B of headers";
        /// Interval between packets.
        interval: Duration = (Duration::from_millis(20)), in Range::at_least(1e-6), from "one packet per 20 ms, that is, 52.8 kbit/s on the wire";
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
