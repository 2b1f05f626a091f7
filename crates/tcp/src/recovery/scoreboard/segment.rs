//! Segments that were sent, and the data that an ACK delivers.

use net::Seq;
use units::{Duration, Time};

use crate::timestamp::timestamp;

/// Flag of a segment that a SACK block reported.
pub(super) const SACKED: u8 = 1;
/// Flag of a segment that is deemed lost.
pub(super) const LOST: u8 = 2;
/// Flag of a lost segment whose retransmission is in flight.
pub(super) const RETRANSMITTED: u8 = 4;
/// Flag of a segment that was retransmitted.
pub(super) const EVER_RETRANSMITTED: u8 = 8;
/// Flag of a segment after which the application had no more data to send.
pub(super) const APP_LIMITED: u8 = 16;
/// Flag of a segment whose SACK was discarded, so that its delivery has been counted already.
pub(super) const COUNTED: u8 = 32;
/// Flag of a segment that was retransmitted without being deemed lost, so that two copies are in
/// flight.
pub(super) const TWICE: u8 = 64;
/// Flag of a segment that ends a write. Retransmissions of a segment that ends a write carry PSH
/// too.
pub(super) const PUSHED: u8 = 128;

/// A sent segment.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Time of the last transmission.
    pub at: Time,
    /// First sequence number.
    pub start: Seq,
    /// Sequence number after the last byte of the segment.
    pub end: Seq,
    /// Bytes delivered before the last transmission, modulo 2^32.
    pub delivered: u32,
    pub(super) marks: u8,
}

/// State of the connection at a segment's departure, which a sample of the delivery rate uses.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Time of the last delivery of data before the departure of the segment.
    pub delivered_at: Time,
    /// Beginning of the flight that the segment belongs to.
    pub first_sent: Time,
}

impl Sent {
    /// Return true if the segment was sent once and is neither SACKed nor lost.
    pub(super) fn is_plain(&self) -> bool {
        self.marks & !(APP_LIMITED | PUSHED) == 0
    }
    pub(super) fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }
    /// Return the number of bytes before `end` whose delivery has not been counted.
    pub(super) fn not_counted(&self, end: Seq) -> u32 {
        if self.has(SACKED | COUNTED) { 0 } else { end - self.start }
    }
    /// Return true if the segment was sent more than once.
    pub fn was_retransmitted(&self) -> bool {
        self.has(EVER_RETRANSMITTED)
    }
    /// Return true if the application had no more data to send after the segment.
    pub fn app_limited(&self) -> bool {
        self.has(APP_LIMITED)
    }
}

/// Segments that were sent once and that one ACK acknowledges cumulatively
/// ([`Scoreboard::acknowledge`](super::Scoreboard::acknowledge)).
#[derive(Clone, Copy, Debug)]
pub struct AckedSegments {
    /// Number of bytes.
    pub delivered: u32,
    /// Size of the acknowledged segments, in the unit in which the scoreboard counts pipe.
    pub weight: u64,
    /// Send time of the first segment.
    pub first_sent: Time,
    /// Last of the acknowledged segments.
    pub last: Sent,
    /// State of the connection at the departure of the last segment; present if the delivery rate
    /// is sampled.
    pub departure: Option<Departure>,
}

/// Data that an ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Bytes newly acknowledged or SACKed.
    pub delivered: u32,
    /// Size of the newly acknowledged or SACKed segments in units of pipe.
    pub weight: u64,
    /// Send time of the first cumulatively acknowledged segment that was sent once.
    pub first_sent: Option<Time>,
    /// Send time of the first SACKed segment that was sent once.
    pub sacked_sent: Option<Time>,
    /// Send time of the last delivered segment that was sent once.
    pub last_sent: Option<Time>,
    /// The delivered segment that was sent last.
    pub newest: Option<Sent>,
    /// State of the connection at the departure of `newest`; present if the delivery rate is
    /// sampled.
    pub departure: Option<Departure>,
    /// Send time and end sequence number of the delivered segment that was sent last. Segments
    /// whose transmission is ambiguous are excluded (RFC 8985 §6.2, step 2).
    pub(super) valid: Option<(Time, Seq)>,
    /// Send time of the last processed segment whose transmission is not ambiguous.
    pub(super) last_valid: Option<Time>,
    /// End sequence number of the first delivered segment that was sent once.
    pub original: Option<Seq>,
    /// True if a segment was SACKed for the first time.
    pub sacked: bool,
    /// True if the ACK has a D-SACK block, which reports a duplicate.
    pub dsack: bool,
    /// Distance in bytes from the lowest reordered segment to the highest delivered byte.
    pub late: u32,
}

/// Values that show if an ACK may acknowledge an earlier transmission of a retransmitted segment.
#[derive(Clone, Copy, Debug)]
pub struct RttAmbiguity {
    /// RACK.min_RTT: minimum round-trip time.
    pub min_rtt: Duration,
    /// Timestamp echo (TSecr) of the ACK.
    pub echo: Option<u32>,
}

impl RttAmbiguity {
    /// Return true if the ACK of a segment whose last transmission was at `sent` may belong to an
    /// earlier transmission (RFC 8985 §6.2, step 2).
    pub(super) fn applies_to(&self, now: Time, sent: Time) -> bool {
        let before = |echo: u32| (echo.wrapping_sub(timestamp(sent)) as i32) < 0;
        now.since(sent) < self.min_rtt || self.echo.is_some_and(before)
    }
}

/// Progress of delivery, from which samples of the delivery rate are computed.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryClock {
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Time of the last delivery of data.
    pub delivered_at: Time,
    /// Beginning of the present flight.
    pub first_sent: Time,
}

impl DeliveryClock {
    /// Return the state of the connection that the scoreboard stores with a segment that is sent
    /// now.
    pub(super) fn departure(&self) -> Departure {
        Departure { delivered_at: self.delivered_at, first_sent: self.first_sent }
    }
}
