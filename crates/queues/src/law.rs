//! What every law of this crate is built from.

use engine::Stream;
use net::{Aqm, Backlog};
use units::{Bytes, Depth, Params, Rate};

/// Where a law is set up: its link, and its randomness.
#[derive(Clone, Debug)]
pub struct Place {
    /// The rate of the link.
    pub rate: Rate,
    /// The limit of the buffer.
    pub limit: Depth,
    /// Randomness of the queue's own.
    pub random: Stream,
}

impl Place {
    /// How many packets of this size the link sends in a second.
    pub fn packets_per_second(&self, size: Bytes) -> f64 {
        self.rate.0 as f64 / (8.0 * size.0 as f64)
    }
}

/// The parameters of a law.
pub trait Configures: Params {
    /// The law.
    type Law: Aqm;
    /// The law at a place.
    fn law(&self, place: Place) -> Self::Law;
}

/// What waits, counted as `like` counts.
#[inline]
pub fn measure(backlog: Backlog, like: Depth) -> f64 {
    match like {
        Depth::Packets(_) => f64::from(backlog.packets),
        Depth::Bytes(_) => backlog.bytes as f64,
    }
}
