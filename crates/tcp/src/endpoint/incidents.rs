//! Connection state for rare events, such as resets, errors and a simultaneous open.

use net::{FastOpen, Options, Segment, Seq};
use units::Time;

use super::state::Error;
use crate::fast_open::{Answer, Failure, Opening, Server};

/// A reset to send.
#[derive(Clone, Copy, Debug)]
pub struct Reset {
    pub seq: Seq,
    /// Acknowledgement number of a reset that aborts a connection, or `None` if the reset answers a
    /// segment.
    pub ack: Option<Seq>,
    /// TSval of the segment that the reset answers.
    pub echo: Option<u32>,
}

impl Reset {
    /// Return the answer to a segment that acknowledges unsent data (RFC 9293 §3.10.7). The reset
    /// echoes the timestamp of the segment that it answers (RFC 7323 §5.2).
    pub fn answers(segment: &Segment, options: &Options) -> Self {
        Reset { seq: segment.ack, ack: None, echo: options.timestamps.map(|t| t.0) }
    }
}

/// State that only few connections need: resets, errors, a simultaneous open, marks during the
/// handshake, explicit reads, and TCP Fast Open.
#[derive(Clone, Debug, Default)]
pub struct Incidents {
    pub reset: Option<Reset>,
    pub error: Option<Error>,
    /// True if the application reads with explicit calls.
    pub explicit_reads: bool,
    /// True if the application waits for the connection in order to write.
    pub write_waits: bool,
    /// True if the delivery rate is measured.
    pub measures_rate: bool,
    /// True if the changes of cwnd and ssthresh are recorded.
    pub records_changes: bool,
    /// Acknowledgement number of the ACK that covers the data before a change of the CE codepoint.
    /// The endpoint must send this acknowledgement before any other ACK.
    pub earlier: Option<Seq>,
    /// Time until which data waits because the SYN-ACK was marked (RFC 5562 §4).
    pub hold_until: Option<Time>,
    /// True if both sides opened at the same time.
    pub simultaneous: bool,
    /// Time of the last FIN that arrived in TIME-WAIT.
    pub time_wait_from: Option<Time>,
    /// True if SYNs no longer offer ECN.
    pub plain_syn: bool,
    /// True if the SYN-ACK was marked and retransmitted once.
    pub syn_ack_repeated: bool,
    /// Time of the first SYN, stored for the user timeout only.
    pub syn_at: Option<Time>,
    /// Time of the last ACK that answered an unacceptable or challenged segment.
    pub last_answered: Option<Time>,
    pub fast_open: Option<Box<FastOpenState>>,
}

/// State of TCP Fast Open.
#[derive(Clone, Debug, Default)]
pub struct FastOpenState {
    /// Cookies of a server.
    pub server: Option<Server>,
    /// Fast Open option and data of a client's opening, stored until the client sends its first
    /// SYN.
    pub opening: Option<Opening>,
    /// Fast Open option of the first SYN.
    pub requested: Option<FastOpen>,
    pub data: bool,
    /// Fast Open option of the first SYN-ACK.
    pub reply: Option<FastOpen>,
    /// State of a connection that the application uses before the handshake ends.
    pub early: Option<EarlyConnection>,
    pub answer: Option<Answer>,
    /// True if the server accepted the data of the SYN.
    pub data_accepted: bool,
    pub failure: Failure,
}

/// SYN-ACK of a connection that the application uses before the handshake ends (an early
/// connection).
#[derive(Clone, Copy, Debug)]
pub struct EarlyConnection {
    /// Time of the first transmission; [`Time::NEVER`] if the SYN-ACK was not sent.
    pub sent: Time,
    pub timer: Time,
    /// Number of retransmissions.
    pub retransmissions: u8,
}
