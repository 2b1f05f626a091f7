//! A segment that was sent, and what an ACK says of those.

use net::Seq;
use units::{Duration, Time};

use crate::timestamp::timestamp;

/// Received out of order, as a SACK block said.
pub(super) const SACKED: u8 = 1;
/// Deemed lost.
pub(super) const LOST: u8 = 2;
/// A retransmission of it is in flight.
pub(super) const RETRANSMITTED: u8 = 4;
/// It was sent more than once.
pub(super) const EVER_RETRANSMITTED: u8 = 8;
/// The application had no more when it was sent.
pub(super) const APP_LIMITED: u8 = 16;
/// It was SACKed before that was forgotten: its delivery is counted already.
pub(super) const COUNTED: u8 = 32;
/// It was sent again without being deemed lost: it is in flight twice.
pub(super) const TWICE: u8 = 64;
/// It ends a write: it has PSH, also when it is sent again.
pub(super) const PUSHED: u8 = 128;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it was last sent.
    pub at: Time,
    /// Its first sequence number.
    pub start: Seq,
    /// One past its last.
    pub end: Seq,
    /// Bytes delivered by then, modulo 2^32.
    pub delivered: u32,
    pub(super) marks: u8,
}

/// What a sample of the delivery rate takes of a segment besides.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When the last delivery before it was.
    pub delivered_at: Time,
    /// When the flight began that it belongs to.
    pub first_sent: Time,
}

impl Sent {
    /// Whether it was sent once, and nothing came of it yet.
    pub(super) fn is_plain(&self) -> bool {
        self.marks & !(APP_LIMITED | PUSHED) == 0
    }
    pub(super) fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }
    /// Bytes of it before `end` whose delivery is not counted yet.
    pub(super) fn not_counted(&self, end: Seq) -> u32 {
        if self.has(SACKED | COUNTED) { 0 } else { end - self.start }
    }
    /// Whether it was sent more than once.
    pub fn was_retransmitted(&self) -> bool {
        self.has(EVER_RETRANSMITTED)
    }
    /// Whether the application had no more when it was sent.
    pub fn app_limited(&self) -> bool {
        self.has(APP_LIMITED)
    }
}

/// What an ACK of segments that were sent once delivered ([`Scoreboard::acknowledge`](super::Scoreboard::acknowledge)).
#[derive(Clone, Copy, Debug)]
pub struct AckedSegments {
    /// Bytes.
    pub delivered: u32,
    /// The same in units of flight.
    pub weight: u64,
    /// When the first of them was sent.
    pub first_sent: Time,
    /// The last of them.
    pub last: Sent,
    /// Its departure, if those are kept.
    pub departure: Option<Departure>,
}

/// What an ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Bytes newly acknowledged or SACKed.
    pub delivered: u32,
    /// The same in units of flight.
    pub weight: u64,
    /// When the first of them that was sent only once, and acknowledged cumulatively, was sent.
    pub first_sent: Option<Time>,
    /// The same of those SACKed.
    pub sacked_sent: Option<Time>,
    /// When the last of all that were sent only once was sent.
    pub last_sent: Option<Time>,
    /// The last sent of those delivered.
    pub newest: Option<Sent>,
    /// Its departure, if those are kept.
    pub departure: Option<Departure>,
    /// The same of those that RACK trusts (RFC 8985 §6.2, step 2): when it was sent, and its end.
    pub(super) valid: Option<(Time, Seq)>,
    /// When the last of those was sent, in the order in which they were gone through.
    pub(super) last_valid: Option<Time>,
    /// Where the first segment ends that was sent only once, of those delivered.
    pub original: Option<Seq>,
    /// Something was SACKed for the first time.
    pub sacked: bool,
    /// A D-SACK block: something arrived twice.
    pub dsack: bool,
    /// By how many bytes something that was sent once came behind the highest delivered.
    pub late: u32,
}

/// What tells whether an ACK may be of an earlier transmission of a segment than the last.
#[derive(Clone, Copy, Debug)]
pub struct RttAmbiguity {
    /// RACK.min_RTT.
    pub min_rtt: Duration,
    /// TSecr of the ACK.
    pub echo: Option<u32>,
}

impl RttAmbiguity {
    /// Whether it may, for a segment last sent then (RFC 8985 §6.2, step 2).
    pub(super) fn applies_to(&self, now: Time, sent: Time) -> bool {
        let before = |echo: u32| (echo.wrapping_sub(timestamp(sent)) as i32) < 0;
        now.since(sent) < self.min_rtt || self.echo.is_some_and(before)
    }
}

/// Delivery times against which a sample of the rate is taken.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryClock {
    /// Bytes delivered so far.
    pub delivered: u64,
    /// When the last of them was.
    pub delivered_at: Time,
    /// When the present flight began.
    pub first_sent: Time,
}

impl DeliveryClock {
    /// What a segment that goes out now has of it.
    pub(super) fn departure(&self) -> Departure {
        Departure { delivered_at: self.delivered_at, first_sent: self.first_sent }
    }
}
