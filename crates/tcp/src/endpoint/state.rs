//! The states of a connection, and how it may end.

/// States of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Open.
    Established,
    /// Closed here, FIN not acknowledged.
    FinWait1,
    /// Closed here, FIN acknowledged.
    FinWait2,
    /// Closed there.
    CloseWait,
    /// Closed on both sides, own FIN not acknowledged.
    Closing,
    /// Closed there, then here, FIN not acknowledged.
    LastAck,
    /// Closed on both sides.
    TimeWait,
}

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The other side reset it.
    Reset,
    /// The other side refused it.
    Refused,
    /// No answer for too long.
    TimedOut,
}
