//! Datagrams at a constant rate.

use engine::Stream;
use units::{Bytes, Range, Rate};

use super::emitter::{Common, Datagrams, Gaps, datagrams, interval};
use super::even::Even;

datagrams! {
    /// Datagrams of one size at a constant bit rate. The sender ignores losses.
    pub struct Cbr: "cbr" {
        /// Rate on the wire, including the headers.
        rate: Rate = required, in Range::ANY, from "";
        /// Payload per packet.
        payload: Bytes = (Bytes(972)), in Range::between(1.0, 60_000.0), from "1000 B per packet on the wire";
    }
}

impl Datagrams for Cbr {
    fn common(&self) -> Common {
        self.shared()
    }

    fn gaps(&self, _: Stream) -> Box<dyn Gaps> {
        Box::new(Even::new(interval(self.rate, self.payload, self.headers), self.payload))
    }
}
