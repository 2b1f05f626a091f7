//! The window: what the sender, its congestion control and its recovery compute with.

use units::param::{Invalid, Json};
use units::{Packets, Read};

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

/// The initial window: so many segments, or by RFC 3390.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialWindow {
    /// So many segments.
    Segments(Packets),
    /// min(4 SMSS, max(2 SMSS, 4380 bytes)).
    Rfc3390,
}

impl InitialWindow {
    /// In bytes.
    pub fn bytes(self, smss: f64) -> f64 {
        match self {
            InitialWindow::Segments(n) => n.0 * smss,
            InitialWindow::Rfc3390 => (4.0 * smss).min((2.0 * smss).max(4380.0)), // equation 1
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
