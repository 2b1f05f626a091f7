//! Packets of one size, evenly spaced.

use units::{Bytes, Duration};

use super::emitter::Gaps;

/// The first goes at once.
#[derive(Debug)]
pub struct Even {
    gap: Duration,
    interval: Duration,
    payload: u16,
}

impl Even {
    /// One packet an interval.
    pub fn new(interval: Duration, payload: Bytes) -> Self {
        Even { gap: Duration::ZERO, interval, payload: payload.0 as u16 }
    }
}

impl Gaps for Even {
    fn next_packet(&mut self) -> Option<(Duration, u16)> {
        Some((std::mem::replace(&mut self.gap, self.interval), self.payload))
    }
}
