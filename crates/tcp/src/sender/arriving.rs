//! An arriving ACK and the ECN feedback that it carries.

use net::{Options, Segment};
use units::Time;

use crate::config::{EceGrowth, Tcp};

/// ECN feedback of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feedback {
    /// True if the ACK requires a reduction of cwnd. The sender reduces cwnd at most once per
    /// window of data.
    pub echo: bool,
    /// Fraction of the bytes delivered by the ACK that were marked, from 0 to 1.
    pub marked: f64,
}

impl Feedback {
    /// Return true if the ACK may increase cwnd, because it has no ECE (RFC 3168 §6.1.2) or because
    /// the parameters permit growth in spite of ECE.
    #[inline]
    pub(super) fn may_open(&self, tcp: &Tcp) -> bool {
        !self.echo || tcp.details.ece_growth == EceGrowth::AsAnyAck
    }
}

/// Acceptable ACK as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingAck<'a> {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Segment that carries the ACK.
    pub segment: &'a Segment,
    /// TCP options of the segment.
    pub options: &'a Options,
    /// ECN feedback of the ACK.
    pub feedback: Feedback,
}
