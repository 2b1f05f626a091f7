//! Drop Tail: the queue drops a packet that arrives at a full buffer.

use net::{Aqm, Arrival, Packet, Verdict};
use units::params;

use crate::law::{Configures, Place};

params! {
    /// First-in-first-out queue without an AQM. It drops a packet that arrives at a full buffer and
    /// never marks. Its only parameters are those of the buffer.
    pub struct DropTail: "drop_tail" {}
}

/// AQM that passes every packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLaw;

impl Aqm for NoLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, _: &Arrival) -> Verdict {
        Verdict::Pass
    }
}

impl Configures for DropTail {
    type Law = NoLaw;

    fn law(&self, _: Place) -> NoLaw {
        NoLaw
    }
}
