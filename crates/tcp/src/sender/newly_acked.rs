//! Amount of data that an ACK acknowledges for the first time.

use net::Seq;

/// Amount of data that an ACK acknowledges for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewlyAcked {
    /// Bytes of data that the ACK acknowledges or SACKs for the first time.
    pub bytes: u32,
    /// Number of segments with data. A sender without SACK divides the newly acknowledged bytes by
    /// SMSS to estimate the number of segments.
    pub segments: u32,
    /// True if the ACK acknowledges data or a FIN for the first time.
    pub advances: bool,
    /// Acknowledgement number of the ACK.
    pub ack: Seq,
    /// One past the highest sequence number sent.
    pub max: Seq,
    /// Sender maximum segment size (SMSS) in bytes.
    pub size: u32,
}
