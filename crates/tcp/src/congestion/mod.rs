//! Congestion control: numbers in, numbers out. The sender owns cwnd and ssthresh.

pub mod reno;

use units::words;

use crate::sender::Window;

words! {
    /// The congestion controls.
    pub enum CongestionKind {
        /// Additive increase, halving (RFC 5681).
        Reno = "reno",
    }
}

/// What told the sender of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Duplicate ACKs.
    FastRetransmit,
    /// An ECN-Echo.
    Ecn,
    /// The retransmission timer; `again`: of a segment it had already retransmitted.
    Timeout {
        /// Whether the timer had expired for this segment before.
        again: bool,
    },
}

/// A congestion controller.
pub trait CongestionControl {
    /// cwnd in bytes after an ACK of `acked` bytes of new data.
    fn cwnd_on_ack(&mut self, window: &Window, acked: u32) -> f64;
    /// ssthresh in bytes after congestion.
    fn ssthresh_on(&mut self, window: &Window, congestion: Congestion) -> f64;
}
