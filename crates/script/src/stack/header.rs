//! Headers as they stand on the wire.

use net::Options;

use crate::syntax::Flags;

/// A TCP header as it stands on the wire, its sequence numbers those of the endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement.
    pub ack: u32,
    /// The window field: scaled, except in a SYN.
    pub window: u16,
    /// Payload in bytes; more than a segment holds when several are taken together.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// Options.
    pub options: Options,
    /// The ECN field of the IP header.
    pub ecn: net::Ecn,
    /// Its DSCP (RFC 2474).
    pub dscp: u8,
}

impl Header {
    /// Bytes of sequence space.
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}
