//! What an ACK is about to acknowledge.

use net::Seq;

/// What an ACK acknowledges for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewlyAcked {
    /// Bytes of data, SACKed ones included.
    pub bytes: u32,
    /// Segments with data; without scoreboard as many as these bytes fill.
    pub segments: u32,
    /// Whether it acknowledges anything, be it a FIN.
    pub advances: bool,
    /// Up to where.
    pub ack: Seq,
    /// One past the highest sequence number sent.
    pub max: Seq,
    /// Largest segment sent (SMSS).
    pub size: u32,
}
