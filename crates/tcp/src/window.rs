//! Windows of a sender, which are the inputs of its congestion control and loss recovery.

use net::Rule;
use units::param::{Invalid, Json};
use units::{Packets, Read, Time};

/// Values of cwnd and ssthresh in bytes.
pub type Windows = [f64; 2];

/// Change of cwnd or ssthresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CwndChange {
    /// Rule that caused the change.
    pub rule: &'static Rule,
    /// cwnd and ssthresh before the change, in bytes; 0 before the handshake is complete.
    pub before: Windows,
    /// cwnd and ssthresh after the change, in bytes.
    pub after: Windows,
    /// Time of the change, or `None` if it is the time of the event that the endpoint processes.
    pub at: Option<Time>,
}

/// Limits and amounts of data in flight, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window (cwnd).
    pub cwnd: f64,
    /// Slow start threshold (ssthresh).
    pub ssthresh: f64,
    /// Bytes sent and not acknowledged (FlightSize).
    pub flight: f64,
    /// Bytes that the sender estimates to be in the network: sent, and neither SACKed nor marked as
    /// lost (pipe, RFC 6675 §4).
    pub pipe: f64,
    /// Bytes that fast recovery adds to cwnd for segments that have left the network.
    pub inflation: f64,
    /// Send window that the receiver advertises (rwnd).
    pub rwnd: f64,
    /// Sender maximum segment size (SMSS).
    pub smss: f64,
}

impl Window {
    /// Return the smaller of rwnd and cwnd, where cwnd includes the bytes that fast recovery adds.
    pub fn usable(&self) -> f64 {
        (self.cwnd + self.inflation).min(self.rwnd)
    }
}

/// Initial congestion window: a number of segments, or the formula of RFC 3390.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialWindow {
    /// Number of segments.
    Segments(Packets),
    /// Initial window of min(4 SMSS, max(2 SMSS, 4380 bytes)).
    Rfc3390,
}

impl InitialWindow {
    /// Return the initial window in bytes.
    pub fn bytes(self, smss: f64) -> f64 {
        match self {
            InitialWindow::Segments(n) => n.0 * smss,
            // RFC 3390, equation 1: two to four segments
            InitialWindow::Rfc3390 => (4.0 * smss).min((2.0 * smss).max(4380.0)),
        }
    }
}

impl Read for InitialWindow {
    const EXAMPLE: &'static str = Packets::EXAMPLE;
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.as_str() == Some("rfc3390") {
            return Ok(InitialWindow::Rfc3390);
        }
        Packets::read(value, path).map(InitialWindow::Segments)
    }
    fn write(&self) -> Json {
        match self {
            InitialWindow::Segments(n) => n.write(),
            InitialWindow::Rfc3390 => "rfc3390".into(),
        }
    }
    fn number(&self) -> Option<f64> {
        match self {
            InitialWindow::Segments(n) => n.number(),
            InitialWindow::Rfc3390 => None,
        }
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [Packets::schema(), {"const": "rfc3390"}]})
    }
}
