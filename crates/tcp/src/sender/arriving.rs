//! An ACK as it arrives, with what it says of marks.

use net::{Options, Segment};
use units::Time;

use crate::config::{EceGrowth, Tcp};

/// What the other side said of marks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feedback {
    /// Respond to congestion, at most once a window.
    pub echo: bool,
    /// Share of what this ACK delivers that was marked, between 0 and 1.
    pub marked: f64,
}

impl Feedback {
    /// Whether the ACK may open the window as far as its echo is concerned (RFC 3168 §6.1.2).
    #[inline]
    pub(super) fn may_open(&self, tcp: &Tcp) -> bool {
        !self.echo || tcp.details.ece_growth == EceGrowth::AsAnyAck
    }
}

/// An acceptable ACK, as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingAck<'a> {
    /// When.
    pub now: Time,
    /// The segment that carries it.
    pub segment: &'a Segment,
    /// Its options.
    pub options: &'a Options,
    /// What it says of marks.
    pub feedback: Feedback,
}
