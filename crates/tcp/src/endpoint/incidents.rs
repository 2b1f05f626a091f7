//! What befalls few connections.

use net::{FastOpen, Options, Segment, Seq};
use units::Time;

use super::state::Error;
use crate::fast_open::{Answer, Failure, Opening, Server};

/// A reset to send.
#[derive(Clone, Copy, Debug)]
pub struct Reset {
    pub seq: Seq,
    /// What it acknowledges, if it aborts a connection; else it answers a segment.
    pub ack: Option<Seq>,
    /// TSval of the segment that it answers.
    pub echo: Option<u32>,
}

impl Reset {
    /// The answer to a segment that acknowledges what was never sent (RFC 9293 §3.10.7); it echoes a timestamp (RFC 7323 §5.2).
    pub fn answers(segment: &Segment, options: &Options) -> Self {
        Reset { seq: segment.ack, ack: None, echo: options.timestamps.map(|t| t.0) }
    }
}

/// What befalls few connections: resets and errors, an opening by both sides at once or with marks, a wait at the end.
#[derive(Clone, Debug, Default)]
pub struct Incidents {
    pub reset: Option<Reset>,
    pub error: Option<Error>,
    /// The application reads when it likes.
    pub explicit_reads: bool,
    /// The application waits for the connection in order to write.
    pub write_waits: bool,
    /// It asks for the delivery rate.
    pub measures_rate: bool,
    /// An ACK that must go out before all others, for what was received before a change of marks.
    pub earlier: Option<Seq>,
    /// Data waits until then (RFC 5562 §4).
    pub hold_until: Option<Time>,
    /// It was opened by both sides at once.
    pub simultaneous: bool,
    /// The last FIN in TIME-WAIT.
    pub time_wait_from: Option<Time>,
    /// The SYN offers no ECN.
    pub plain_syn: bool,
    /// The SYN-ACK was marked and went out once more.
    pub syn_ack_repeated: bool,
    /// When the first SYN went out; kept for the user timeout only.
    pub syn_at: Option<Time>,
    /// When a segment that is not acceptable, or is challenged, was last answered.
    pub last_answered: Option<Time>,
    pub fast_open: Option<Box<FastOpenState>>,
}

/// What an end keeps that opens fast, or may.
#[derive(Clone, Debug, Default)]
pub struct FastOpenState {
    /// What a server goes by.
    pub server: Option<Server>,
    /// How a client opens, until its first SYN went out.
    pub opening: Option<Opening>,
    /// What that had: its option, and whether it had data.
    pub requested: Option<FastOpen>,
    pub data: bool,
    /// The option of the first SYN-ACK.
    pub reply: Option<FastOpen>,
    /// Data flows though the SYN-ACK is not acknowledged.
    pub early: Option<EarlyConnection>,
    pub answer: Option<Answer>,
    /// Data with a SYN was taken, here or there.
    pub data_accepted: bool,
    pub failure: Failure,
}

/// The SYN-ACK of an end that is open already.
#[derive(Clone, Copy, Debug)]
pub struct EarlyConnection {
    /// When it first went out, and when it goes out again; [`Time::NEVER`]: it did not yet.
    pub sent: Time,
    pub timer: Time,
    /// How often it went out again for want of an answer.
    pub retransmissions: u8,
}
