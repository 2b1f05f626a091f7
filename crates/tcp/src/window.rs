//! The window: what the sender, its congestion control and its recovery compute with.

/// Everything that bounds what may be in flight, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window (cwnd).
    pub cwnd: f64,
    /// Slow start threshold (ssthresh).
    pub ssthresh: f64,
    /// Sent and not acknowledged (FlightSize).
    pub flight: f64,
    /// Of that, what is in the network as far as the sender knows: neither SACKed nor deemed lost (pipe, RFC 6675 §4).
    pub pipe: f64,
    /// What fast recovery adds to cwnd for segments that have left the network.
    pub inflation: f64,
    /// Receiver's window (rwnd).
    pub rwnd: f64,
    /// Segment size (SMSS).
    pub smss: f64,
}

impl Window {
    /// The smaller of the inflated cwnd and rwnd.
    pub fn usable(&self) -> f64 {
        (self.cwnd + self.inflation).min(self.rwnd)
    }
}
