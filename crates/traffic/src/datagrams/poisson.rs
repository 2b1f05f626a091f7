//! Datagrams that are sent as a Poisson process.

use engine::Stream;
use units::{Bytes, Duration, Range, Rate};

use super::emitter::{Common, Datagrams, Gaps, datagrams, interval};
use crate::spacing::Spacing;

datagrams! {
    /// Datagrams of one size that are sent as a Poisson process, so that the intervals are
    /// exponentially distributed.
    pub struct Poisson: "poisson" {
        /// Mean rate on the wire, including the headers.
        rate: Rate = required, in Range::ANY, from "";
        /// Payload per packet.
        payload: Bytes = (Bytes(972)), in Range::between(1.0, 60_000.0), from "1000 B per packet on the wire";
    }
}

impl Datagrams for Poisson {
    fn common(&self) -> Common {
        self.shared()
    }

    fn gaps(&self, random: Stream) -> Box<dyn Gaps> {
        let mean = interval(self.rate, self.payload, self.headers);
        Box::new(Process { mean, random, payload: self.payload.0 as u16 })
    }
}

/// State of the generator.
#[derive(Debug)]
struct Process {
    mean: Duration,
    random: Stream,
    payload: u16,
}

impl Gaps for Process {
    fn next_packet(&mut self) -> Option<(Duration, u16)> {
        Some((Spacing::Exponential.draw(self.mean, self.random.uniform()), self.payload))
    }
}
