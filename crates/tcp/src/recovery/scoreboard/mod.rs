//! The scoreboard: every segment sent and not acknowledged, and what is known of it (RFC 6675 §3,
//! `rfc6675`; RFC 8985 §5.2, `rfc8985`). Counts are kept as they change, so that the amount in flight
//! (pipe) is known without a walk.

mod ack;
mod loss;
mod newly_acked;
mod segment;
mod sent;

use std::collections::VecDeque;

use net::Seq;

use crate::recovery::rack::{Rack, RackTimes};
use crate::recovery::send_order::SendOrder;
use segment::{LOST, RETRANSMITTED, SACKED, TWICE};

pub use segment::{AckedSegments, Delivery, DeliveryClock, Departure, RttAmbiguity, Sent};

/// The scoreboard. What every segment touches comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    segments: VecDeque<Sent>,
    outstanding: u64,
    /// What a segment counts for whatever its size; 0: its bytes.
    unit: u32,
    /// How many segments are more than [sent once](Sent::is_plain): where none is, nothing is SACKed, deemed lost or sent again.
    touched: u32,
    /// With RACK: what is neither SACKed, nor deemed lost and not sent again since, by the time when it was last sent. It is
    /// kept while a segment is touched; else the order is that of the board.
    send_order: Option<Box<SendOrder>>,
    /// Beside each segment, where the delivery rate is sampled.
    departures: Option<VecDeque<Departure>>,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    twice: u64,
    sacked_segments: u32,
    /// Nothing before this index waits to be sent again.
    first_lost: usize,
    /// Everything before this index is SACKed or deemed lost.
    first_open: usize,
    /// Nothing from this index on is SACKed.
    top: usize,
    /// Blocks of the last ACK, that were walked already.
    previous_blocks: [(Seq, Seq); 4],
    previous_count: u8,
    /// RACK's state.
    pub rack: Rack,
}

impl Scoreboard {
    /// An empty board. `unit`: what every segment counts for; 0: its bytes. `rack`: losses are found by time.
    pub fn new(unit: u32, rack: bool) -> Self {
        Scoreboard { unit, send_order: rack.then(Box::default), ..Scoreboard::default() }
    }

    /// The same board, whose RACK takes times so.
    pub fn with_rack_times(mut self, times: RackTimes) -> Self {
        self.rack.linux_times = times == RackTimes::Linux;
        self
    }

    /// The same board, which keeps what a sample of the delivery rate takes.
    pub fn with_rate_samples(mut self, sampled: bool) -> Self {
        self.departures = sampled.then(VecDeque::default);
        self
    }

    /// Whether the delivery rate is sampled.
    pub fn is_sampled(&self) -> bool {
        self.departures.is_some()
    }

    /// Whether every segment was sent once and nothing came of any.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.touched == 0
    }

    /// A segment that is [plain](Sent::is_plain) is about to be more.
    fn touch(&mut self) {
        if self.touched == 0
            && let Some(send_order) = &mut self.send_order
        {
            send_order.fill(self.segments.len());
        }
        self.touched += 1;
    }

    /// The order by time, where it is not that of the board.
    fn send_order(&mut self) -> Option<&mut SendOrder> {
        self.send_order.as_deref_mut().filter(|_| self.touched > 0)
    }

    fn weight(&self, sent: &Sent) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { sent.end - sent.start })
    }

    /// What a segment of `len` bytes counts for.
    pub fn weight_of(&self, len: u32) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { len })
    }

    /// What is in flight (pipe, RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> u64 {
        if self.is_plain() {
            return self.outstanding;
        }
        self.outstanding - self.sacked - self.lost + self.retransmitted + self.twice
    }

    /// Segments out, SACKed, deemed lost, and sent again and not lost since.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        let count = |mark| self.segments.iter().filter(|s| s.has(mark)).count() as u32;
        (self.segments.len() as u32, self.sacked_segments, count(LOST), count(RETRANSMITTED | TWICE))
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

    /// Number of SACKed segments that follow another SACKed segment, by the number of segments between SACKed ones: exact if losses are not
    /// adjacent.
    pub fn merged_segments(&self) -> u32 {
        self.sacked_segments.saturating_sub(self.top as u32 - self.sacked_segments)
    }

    /// Whether anything is deemed lost.
    pub fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Whether something deemed lost waits to be sent again.
    pub fn has_unsent_lost(&self) -> bool {
        self.lost > self.retransmitted || (self.unit == 0 && self.lost != self.retransmitted)
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
