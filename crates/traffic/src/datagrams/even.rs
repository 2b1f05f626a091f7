//! Packets of one size at a constant interval.

use units::{Bytes, Duration};

use super::emitter::Gaps;

/// Generator of equal intervals between packets. The first packet is sent at the start of the flow.
#[derive(Debug)]
pub struct Even {
    gap: Duration,
    interval: Duration,
    payload: u16,
}

impl Even {
    /// Create a generator from an interval and a payload.
    pub fn new(interval: Duration, payload: Bytes) -> Self {
        Even { gap: Duration::ZERO, interval, payload: payload.0 as u16 }
    }
}

impl Gaps for Even {
    fn next_packet(&mut self) -> Option<(Duration, u16)> {
        Some((std::mem::replace(&mut self.gap, self.interval), self.payload))
    }
}
