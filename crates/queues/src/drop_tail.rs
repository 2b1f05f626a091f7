//! Drop Tail: the queue drops a packet that arrives at a full buffer.

use net::{Aqm, Arrival, Declared, Packet, Verdict};
use units::params;

use crate::aqm::{AqmParams, QueueContext};

params! {
    /// First-in-first-out queue without an AQM, which drops a packet that arrives at a full buffer
    /// and never marks. The only parameters of the queue are those of the buffer.
    pub struct DropTail: "drop_tail" {}
}

/// AQM that passes every packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAqm;

impl Aqm for NoAqm {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, _: &Arrival) -> Verdict {
        Verdict::Pass
    }
}

impl AqmParams for DropTail {
    type Aqm = NoAqm;
    const DECLARED: &'static [Declared] = &[crate::fifo::DECLARED];

    fn aqm(&self, _: QueueContext) -> NoAqm {
        NoAqm
    }
}
