//! TCP headers that contain the encoded values of the fields.

use net::Options;

use crate::syntax::Flags;

/// A TCP header that contains the encoded values of the fields, and the endpoint's sequence
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Window field: the window is scaled, except in a SYN.
    pub window: u16,
    /// Size of the payload in bytes. If several segments were joined, their payload exceeds the
    /// size of one segment.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// Options.
    pub options: Options,
    /// ECN field of the IP header.
    pub ecn: net::Ecn,
    /// DSCP of the IP header (RFC 2474).
    pub dscp: u8,
}

impl Header {
    /// Return the length of the segment in sequence space.
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}
