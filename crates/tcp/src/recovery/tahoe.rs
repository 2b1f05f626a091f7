//! Tahoe: fast retransmit without fast recovery (Jacobson 1988, `jacobson1988`; Fall & Floyd 1996
//! §2, `fall1996`). After the third duplicate ACK cwnd becomes one segment, and the sender
//! retransmits from the first unacknowledged byte on.

use net::Seq;

/// Return the sequence number that is sent next after a fast retransmit.
pub fn send_next(una: Seq) -> Seq {
    una
}

/// Return cwnd after a fast retransmit, in bytes.
pub fn cwnd(smss: f64) -> f64 {
    smss
}
