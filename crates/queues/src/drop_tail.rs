//! Drop Tail: a packet that arrives at a full buffer is dropped, and nothing else happens.

use net::{Aqm, Arrival, Packet, Verdict};
use units::params;

use crate::law::{Configures, Place};

params! {
    /// Drop Tail: drops packets that arrive at a full buffer and never marks. The whole discipline is
    /// its buffer.
    pub struct DropTail: "drop_tail" {}
}

/// The law that never speaks.
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
