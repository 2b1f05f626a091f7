//! The scoreboard: the state of every segment that was sent and is not acknowledged (RFC 6675 §3,
//! `rfc6675`; RFC 8985 §5.2, `rfc8985`). Totals are updated with each change, so that pipe is known
//! without a walk over the segments.

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

/// The scoreboard. The fields that every segment uses come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    segments: VecDeque<Sent>,
    outstanding: u64,
    /// Number of bytes that each segment adds to pipe. If the number of bytes is 0, each segment
    /// adds its own length to pipe.
    unit: u32,
    /// Number of segments that are not [plain](Sent::is_plain). While no segment is SACKed, lost or
    /// retransmitted, all segments are plain.
    touched: u32,
    /// Segments in sending order; present with RACK. The list contains the segments that are
    /// neither SACKed nor lost, and the lost segments whose retransmission is in flight. The list
    /// is valid while `touched` is above 0. While `touched` is 0, the sending order is the order of
    /// the scoreboard.
    send_order: Option<Box<SendOrder>>,
    /// State of the connection at the departure of each segment; present if the delivery rate is
    /// sampled.
    departures: Option<VecDeque<Departure>>,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    twice: u64,
    sacked_segments: u32,
    /// Index below which no lost segment awaits retransmission.
    first_lost: usize,
    /// Index below which every segment is SACKed or lost.
    first_open: usize,
    /// Index from which on no segment is SACKed.
    top: usize,
    /// SACK blocks of the last ACK, which were processed already.
    previous_blocks: [(Seq, Seq); 4],
    previous_count: u8,
    /// State of RACK.
    pub rack: Rack,
}

impl Scoreboard {
    /// Return an empty scoreboard. Every segment adds `unit` bytes to pipe, or its own number of
    /// bytes if `unit` is 0. If `rack` is true, losses are detected by time.
    pub fn new(unit: u32, rack: bool) -> Self {
        Scoreboard { unit, send_order: rack.then(Box::default), ..Scoreboard::default() }
    }

    /// Set the precision of RACK's times, and return the scoreboard.
    pub fn with_rack_times(mut self, times: RackTimes) -> Self {
        self.rack.linux_times = times == RackTimes::Linux;
        self
    }

    /// Enable or disable samples of the delivery rate, and return the scoreboard.
    pub fn with_rate_samples(mut self, sampled: bool) -> Self {
        self.departures = sampled.then(VecDeque::default);
        self
    }

    /// Return true if the delivery rate is sampled.
    pub fn is_sampled(&self) -> bool {
        self.departures.is_some()
    }

    /// Return true if every segment was sent once and no segment is SACKed or lost.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.touched == 0
    }

    /// Record that a [plain](Sent::is_plain) segment is about to change its state.
    fn touch(&mut self) {
        if self.touched == 0
            && let Some(send_order) = &mut self.send_order
        {
            send_order.fill(self.segments.len());
        }
        self.touched += 1;
    }

    /// Return the sending order of the segments, if the sending order can differ from the order of
    /// the scoreboard.
    fn send_order(&mut self) -> Option<&mut SendOrder> {
        self.send_order.as_deref_mut().filter(|_| self.touched > 0)
    }

    fn weight(&self, sent: &Sent) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { sent.end - sent.start })
    }

    /// Return the number of bytes that a segment of `len` bytes adds to pipe.
    pub fn weight_of(&self, len: u32) -> u64 {
        u64::from(if self.unit > 0 { self.unit } else { len })
    }

    /// Return pipe, the data in flight (RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> u64 {
        if self.is_plain() {
            return self.outstanding;
        }
        self.outstanding - self.sacked - self.lost + self.retransmitted + self.twice
    }

    /// Return four numbers of segments: the unacknowledged segments, the SACKed segments, the lost
    /// segments, and the segments whose retransmission is in flight.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        let count = |mark| self.segments.iter().filter(|s| s.has(mark)).count() as u32;
        (self.segments.len() as u32, self.sacked_segments, count(LOST), count(RETRANSMITTED | TWICE))
    }

    /// Return the number of segments that are not acknowledged.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Return true if all segments are acknowledged.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Return the number of SACKed segments.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Estimate the number of SACKed segments that follow another SACKed segment. The estimate
    /// subtracts the number of missing segments below the highest SACKed segment. The estimate is
    /// exact if lost segments are not adjacent.
    pub fn merged_segments(&self) -> u32 {
        self.sacked_segments.saturating_sub(self.top as u32 - self.sacked_segments)
    }

    /// Return true if any segment is lost.
    pub fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Return true if a lost segment awaits retransmission.
    pub fn has_unsent_lost(&self) -> bool {
        self.lost > self.retransmitted || (self.unit == 0 && self.lost != self.retransmitted)
    }

    /// Iterate over the SACKed segments, the highest first.
    pub fn sacked_from_the_top(&self) -> impl Iterator<Item = &Sent> {
        self.segments.range(..self.top).rev().filter(|s| s.has(SACKED))
    }

    /// Return the sequence number after the highest SACKed byte (snd.fack).
    pub fn forward_most(&self) -> Option<Seq> {
        self.sacked_from_the_top().next().map(|s| s.end)
    }

    /// Return the first segment.
    pub fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// Return the last segment.
    pub fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }
}

#[cfg(test)]
mod tests;
