//! ECN mode that a connection negotiated, and the state that is specific to the mode.

use super::accurate::Accurate;
use super::nonce::Nonce;

/// Mode of ECN that a connection negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// The connection does not use ECN.
    #[default]
    Off,
    /// Classic ECN (RFC 3168).
    Classic,
    /// Classic ECN with the echo of DCTCP (RFC 8257).
    Dctcp,
    /// Classic ECN with the nonce (RFC 3540).
    Nonce,
    /// Accurate ECN (RFC 9768).
    Accurate,
}

/// State that is specific to one ECN mode.
#[derive(Clone, Debug)]
pub(super) enum ModeState {
    Accurate(Accurate),
    Nonce(Nonce),
}
