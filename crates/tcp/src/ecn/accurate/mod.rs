//! Accurate ECN feedback, RFC 9768 §3 (`rfc9768`): three header bits count marked packets modulo 8, and an option
//! counts bytes by the ECN field that they arrived with.
//!
//! [`received`] is the Data Receiver, [`echoed`] the Data Sender; [`path`] are the tests of what the path does to ECN
//! fields. Of what the RFC leaves to the implementer, missing are: the cache of paths on which the SYN or the option
//! is blocked (§3.1.4.1, §3.2.3.2.2), the test whether data that an ACK with the option acknowledged always comes
//! again (§3.2.3.2.2), and taking back what a cautious guess at the ACE field did (§3.2.2.5.2).

pub mod echoed;
pub mod field;
pub mod path;
pub mod received;

use echoed::Echoed;
use received::Received;

/// What a connection with Accurate ECN keeps.
#[derive(Clone, Debug, Default)]
pub struct Accurate {
    /// The other side's packets, as they arrive here.
    pub received: Received,
    /// Our packets, as the other side says that they arrived there.
    pub echoed: Echoed,
    /// A pure ACK is to say in which field the SYN-ACK came (§3.2.2.1).
    pub handshake_due: bool,
    /// What the first data segment is for.
    pub first_data: FirstData,
    /// The SYN came again, so that the SYN-ACK goes without option (§3.2.3.2.2).
    pub syn_repeated: bool,
    /// The ACK to come is one of ACKs: it has no SACK blocks (§3.2.2.5.1).
    pub ack_of_acks: bool,
}

/// Whether the first data segment carries the option, to test the path (§3.2.3.2.1): that of the client does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstData {
    /// Not for that.
    #[default]
    Usual,
    /// It is still to go out.
    Due,
    /// It went out with the option.
    Tests,
}
