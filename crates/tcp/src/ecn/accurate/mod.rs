//! Accurate ECN feedback (RFC 9768 §3, `rfc9768`): three header bits count marked packets modulo 8,
//! and the AccECN option counts bytes by the ECN field with which they arrived.
//!
//! [`received`] is the Data Receiver, and [`echoed`] the Data Sender. [`path`] tests whether the
//! path changes ECN fields. Three features that RFC 9768 leaves to the implementer are missing: a
//! cache of paths that block the SYN or the AccECN option (RFC 9768 §3.1.4.1, §3.2.3.2.2), a test
//! for data that always arrives again after an ACK with the AccECN option (RFC 9768 §3.2.3.2.2),
//! and the reversal of the response to a cautious estimate of the ACE field (RFC 9768 §3.2.2.5.2).

pub mod echoed;
pub mod field;
pub mod path;
pub mod received;

use echoed::Echoed;
use received::Received;

/// State of a connection with Accurate ECN.
#[derive(Clone, Debug, Default)]
pub struct Accurate {
    /// Counters of the packets that this endpoint received.
    pub received: Received,
    /// Counters of this endpoint's packets, as the other side reports them.
    pub echoed: Echoed,
    /// True if a pure ACK must report the ECN field of the SYN-ACK (RFC 9768 §3.2.2.1).
    pub handshake_due: bool,
    /// Use of the first data segment to test the path.
    pub first_data: FirstData,
    /// True if the SYN arrived again, so that the SYN-ACK carries no AccECN option (RFC 9768
    /// §3.2.3.2.2).
    pub syn_repeated: bool,
    /// True if the next ACK acknowledges only ACKs, and therefore has no SACK blocks (RFC 9768
    /// §3.2.2.5.1).
    pub ack_of_acks: bool,
}

/// Test of the path by the AccECN option on the first data segment of the client (RFC 9768
/// §3.2.3.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstData {
    /// The first data segment does not test the path.
    #[default]
    Usual,
    /// The first data segment will test the path.
    Due,
    /// The first data segment was sent with the AccECN option, as a test of the path.
    Tests,
}
