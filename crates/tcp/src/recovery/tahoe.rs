//! Tahoe: fast retransmit without fast recovery. Jacobson 1988 (`jacobson1988`); Fall & Floyd 1996 §2
//! (`fall1996`): after the third duplicate ACK the window is one segment, and sending goes back to the
//! first unacknowledged byte.

use net::Seq;

/// Where sending goes on after a fast retransmit.
pub fn send_next(una: Seq) -> Seq {
    una
}

/// cwnd after a fast retransmit, in bytes.
pub fn cwnd(smss: f64) -> f64 {
    smss
}
