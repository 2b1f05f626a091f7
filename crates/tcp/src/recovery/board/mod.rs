//! The scoreboard: every segment sent and not acknowledged, and what is known of it (RFC 6675 §3,
//! `rfc6675`; RFC 8985 §5.2, `rfc8985`). Counts are kept as they change, so that the amount in flight
//! (pipe) is known without a walk.

mod ack;
mod loss;
mod newly;
mod sent;

use std::collections::VecDeque;

use net::Seq;
use units::{Duration, Time};

use crate::recovery::by_time::ByTime;
use crate::recovery::rack::{Rack, RackTimes};
use crate::timestamp::timestamp;

/// Received out of order, as a SACK block said.
const SACKED: u8 = 1;
/// Deemed lost.
const LOST: u8 = 2;
/// A retransmission of it is in flight.
const RESENT: u8 = 4;
/// It was sent more than once.
const EVER_RESENT: u8 = 8;
/// The application had no more when it was sent.
const APP_LIMITED: u8 = 16;
/// It was SACKed before that was forgotten: its delivery is counted already.
const COUNTED: u8 = 32;
/// It was sent again without being deemed lost: it is in flight twice.
const TWICE: u8 = 64;
/// It ends a write: it has PSH, also when it is sent again.
const PUSHED: u8 = 128;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its first sequence number.
    pub start: Seq,
    /// One past its last.
    pub end: Seq,
    /// When it was last sent.
    pub at: Time,
    /// Bytes delivered by then, and when the last of them was.
    pub delivered: u64,
    /// When the last delivery before it was.
    pub delivered_at: Time,
    /// When the flight began that it belongs to.
    pub first_sent: Time,
    marks: u8,
}

impl Sent {
    fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }
    /// Bytes of it before `end` whose delivery is not counted yet.
    fn not_counted(&self, end: Seq) -> u32 {
        if self.has(SACKED | COUNTED) { 0 } else { end - self.start }
    }
    /// Whether it was sent more than once.
    pub fn resent(&self) -> bool {
        self.has(EVER_RESENT)
    }
    /// Whether the application had no more when it was sent.
    pub fn app_limited(&self) -> bool {
        self.has(APP_LIMITED)
    }
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
    /// The same of those that RACK trusts (RFC 8985 §6.2, step 2): when it was sent, and its end.
    valid: Option<(Time, Seq)>,
    /// When the last of those was sent, in the order in which they were gone through.
    last_valid: Option<Time>,
    /// Where the first segment ends that was sent only once, of those delivered.
    pub original: Option<Seq>,
    /// Something was SACKed for the first time.
    pub sacked: bool,
    /// A D-SACK block: something arrived twice.
    pub dsack: bool,
    /// Segments fully acknowledged.
    pub segments: u32,
    /// By how many bytes something that was sent once came behind the highest delivered.
    pub late: u32,
}

/// What tells whether an ACK may be of an earlier transmission of a segment than the last.
#[derive(Clone, Copy, Debug)]
pub struct Doubt {
    /// RACK.min_RTT.
    pub min_rtt: Duration,
    /// TSecr of the ACK.
    pub echo: Option<u32>,
}

impl Doubt {
    /// Whether it may, for a segment last sent then (RFC 8985 §6.2, step 2).
    fn is_about(&self, now: Time, sent: Time) -> bool {
        let before = |echo: u32| (echo.wrapping_sub(timestamp(sent)) as i32) < 0;
        now.since(sent) < self.min_rtt || self.echo.is_some_and(before)
    }
}

/// Delivery times against which a sample of the rate is taken.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Bytes delivered so far.
    pub delivered: u64,
    /// When the last of them was.
    pub delivered_at: Time,
    /// When the present flight began.
    pub first_sent: Time,
}

/// The scoreboard.
#[derive(Clone, Debug, Default)]
pub struct Board {
    segments: VecDeque<Sent>,
    /// What a segment counts for whatever its size; 0: its bytes.
    unit: u32,
    outstanding: u64,
    sacked: u64,
    lost: u64,
    resent: u64,
    twice: u64,
    sacked_segments: u32,
    /// Nothing before this index waits to be sent again.
    first_lost: usize,
    /// Everything before this index is SACKed or deemed lost.
    first_open: usize,
    /// Nothing from this index on is SACKed.
    top: usize,
    /// Blocks of the last ACK, that were walked already.
    walked: [(Seq, Seq); 4],
    walked_count: u8,
    /// RACK's state.
    pub rack: Rack,
    /// With RACK: what is neither SACKed, nor deemed lost and not sent again since, by the time when it was last sent.
    by_time: Option<Box<ByTime>>,
}

impl Board {
    /// An empty board. `unit`: what every segment counts for; 0: its bytes. `rack`: losses are found by time.
    pub fn new(unit: u32, rack: bool) -> Self {
        Board { unit, by_time: rack.then(Box::default), ..Board::default() }
    }

    /// The same board, whose RACK takes times so.
    pub fn timed(mut self, times: RackTimes) -> Self {
        self.rack.as_linux = times == RackTimes::Linux;
        self
    }

    fn weight(&self, sent: &Sent) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { sent.end - sent.start })
    }

    /// What a segment of `len` bytes counts for.
    pub fn weight_of(&self, len: u32) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { len })
    }

    /// What is in flight (pipe, RFC 6675 §4).
    pub fn pipe(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.resent + self.twice
    }

    /// Segments out, SACKed, deemed lost, and sent again and not lost since.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        let count = |mark| self.segments.iter().filter(|s| s.has(mark)).count() as u32;
        (self.segments.len() as u32, self.sacked_segments, count(LOST), count(RESENT | TWICE))
    }

    /// How many segments are out.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether nothing is out.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments SACKed.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Whether anything is deemed lost.
    pub fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Whether something deemed lost waits to be sent again.
    pub fn waits(&self) -> bool {
        self.lost > self.resent || (self.unit == 0 && self.lost != self.resent)
    }

    /// The SACKed segments, the highest first.
    pub fn sacked_from_the_top(&self) -> impl Iterator<Item = &Sent> {
        self.segments.range(..self.top).rev().filter(|s| s.has(SACKED))
    }

    /// One past the highest byte SACKed (snd.fack).
    pub fn forward_most(&self) -> Option<Seq> {
        self.sacked_from_the_top().next().map(|s| s.end)
    }

    /// When the first segment was last sent.
    pub fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// The last segment.
    pub fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }
}

#[cfg(test)]
mod tests;
