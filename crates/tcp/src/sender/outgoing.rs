//! A segment as the sender hands it out.

use net::Seq;

/// A segment about to go out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// Its first sequence number.
    pub seq: Seq,
    /// Its payload in bytes.
    pub len: u32,
    /// Whether it carries the FIN.
    pub fin: bool,
    /// Whether a write ends in it.
    pub push: bool,
    /// Whether nothing of it was sent before.
    pub is_new: bool,
    /// Whether it is a probe of a closed window with an old sequence number.
    pub probe: bool,
    /// Whether surely nothing more goes before something happens.
    pub last: bool,
}
