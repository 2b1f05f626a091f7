//! A segment as the sender returns it to the endpoint.

use net::Seq;

/// Segment that the endpoint sends next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// First sequence number of the segment.
    pub seq: Seq,
    /// Payload of the segment in bytes.
    pub len: u32,
    /// True if the segment carries the FIN.
    pub fin: bool,
    /// True if the segment has the PSH flag.
    pub push: bool,
    /// True if no part of the segment was sent before.
    pub is_new: bool,
    /// True if the segment probes a closed window with an old sequence number.
    pub probe: bool,
    /// True if the sender cannot send another segment until the next event.
    pub last: bool,
}
