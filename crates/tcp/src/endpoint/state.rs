//! States of a connection, and the errors that end a connection.

/// States of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// CLOSED: the connection does not exist.
    Closed,
    /// LISTEN: the endpoint waits for a SYN.
    Listen,
    /// SYN-SENT: the endpoint has sent a SYN.
    SynSent,
    /// SYN-RECEIVED: the endpoint has received a SYN and sent its own SYN.
    SynReceived,
    /// ESTABLISHED: the connection is open.
    Established,
    /// FIN-WAIT-1: this side has closed, and its FIN is not acknowledged.
    FinWait1,
    /// FIN-WAIT-2: this side has closed, and its FIN is acknowledged.
    FinWait2,
    /// CLOSE-WAIT: the other side has closed.
    CloseWait,
    /// CLOSING: both sides have closed, and the FIN of this side is not acknowledged.
    Closing,
    /// LAST-ACK: the other side closed first, and this side has closed too. The FIN of this side is
    /// not acknowledged.
    LastAck,
    /// TIME-WAIT: both sides have closed.
    TimeWait,
}

/// Reasons for the premature end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The other side reset the connection.
    Reset,
    /// The other side refused the connection.
    Refused,
    /// The other side did not answer in time.
    TimedOut,
}
