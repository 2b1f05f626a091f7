//! State of a sender at the time of a sample.

use units::Duration;

/// State of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderState {
    /// Acknowledged bytes.
    pub acked: u64,
    /// Congestion window in bytes.
    pub cwnd: f64,
    /// Slow-start threshold in bytes, infinite before the first reduction of cwnd.
    pub ssthresh: f64,
    /// Bytes that were sent and are not acknowledged.
    pub flight: f64,
    /// Retransmission timeout, including its exponential back-off.
    pub rto: Duration,
    /// Delivery rate in bytes per second, if the sender measures it.
    pub delivery_rate: Option<u64>,
}
