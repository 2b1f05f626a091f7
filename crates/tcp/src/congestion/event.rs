//! Events that the sender reports to a congestion control.

use units::{Duration, Time};

/// Event that indicated congestion to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A loss, detected by duplicate ACKs, SACK or RACK.
    FastRetransmit,
    /// An ECN-Echo, at most once per window.
    Ecn,
    /// An expiry of the retransmission timer.
    Timeout {
        /// True if the timer expired for the same segment before.
        repeated: bool,
    },
}

impl Congestion {
    /// Return the congestion event, with `repeated` set to false if the event is a timeout.
    pub fn without_repetition(self) -> Self {
        match self {
            Congestion::Timeout { .. } => Congestion::Timeout { repeated: false },
            other => other,
        }
    }
}

/// Delivery rate between the transmission of a segment and its acknowledgement (draft-ietf-ccwg-bbr
/// §4.1, delivery rate sampling).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered in the interval of the delivery rate sample.
    pub delivered: u64,
    /// Interval of the delivery rate sample: the longer of the interval of transmission and the
    /// interval of acknowledgement.
    pub interval: Duration,
    /// True if the application had no more data to send when the segment was sent.
    pub app_limited: bool,
    /// Total bytes delivered when the segment was sent.
    pub prior_delivered: u64,
    /// Bytes declared lost since the last ACK.
    pub lost: u64,
}

/// Values that the sender derives from an ACK for the congestion controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Bytes of data that the acknowledgement number newly acknowledges.
    pub acked: u32,
    /// Bytes newly delivered, which means acknowledged or SACKed for the first time.
    pub delivered: u32,
    /// Bytes that count for the growth of cwnd: the acknowledged bytes (RFC 5681 §3.1, RFC 3465
    /// §2.1), or the delivered bytes if the parameters select them (Linux).
    pub counted: u32,
    /// Delivered bytes that the receiver reported as marked with CE. With the ECN-Echo of DCTCP,
    /// all `delivered` bytes count as marked if ECE is set. With Accurate ECN, the number of marked
    /// bytes follows from the counters in the ACK.
    pub marked: u32,
    /// Total bytes delivered so far, including this ACK.
    pub total_delivered: u64,
    /// Round-trip time of the newest segment that this ACK delivers and that was sent once; absent
    /// if every delivered segment was retransmitted.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time (SRTT); zero before the first sample.
    pub srtt: Duration,
    /// Minimum round-trip time of the connection; the maximum [`Duration`] before the first sample.
    pub min_rtt: Duration,
    /// True if a round trip has ended: the ACK covers data sent after the last round trip began.
    pub round: bool,
    /// True if cwnd limited the data in flight, and not the application or the receiver.
    pub cwnd_limited: bool,
    /// True during loss recovery.
    pub in_recovery: bool,
    /// Sample of the delivery rate; absent if the ACK does not allow a sample.
    pub rate: Option<RateSample>,
    /// Time for which pacing delays the next segment.
    pub pacing_delay: Duration,
}
