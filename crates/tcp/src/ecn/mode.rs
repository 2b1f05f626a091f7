//! What a connection agreed on, and what that has of its own.

use super::accurate::Accurate;
use super::nonce::Nonce;

/// What a connection agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// No ECN.
    #[default]
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257's echo.
    Dctcp,
    /// RFC 3540.
    Nonce,
    /// RFC 9768.
    Accurate,
}

/// What a mode has of its own.
#[derive(Clone, Debug)]
pub(super) enum ModeState {
    Accurate(Accurate),
    Nonce(Nonce),
}
