//! Loss recovery: what duplicate and partial ACKs make the sender do.

pub mod reno;

use units::words;

words! {
    /// The loss recoveries.
    pub enum RecoveryKind {
        /// Fast retransmit and fast recovery; any new ACK ends it (RFC 5681 §3.2).
        Reno = "reno",
    }
}

/// What to do on a duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Nothing yet.
    Wait,
    /// Retransmit the first unacknowledged segment and begin recovery.
    Retransmit,
    /// A segment has left the network: inflate the window by one.
    Inflate,
}
