//! Tahoe: fast retransmit without fast recovery (Jacobson 1988, `jacobson1988`; Fall & Floyd 1996
//! §2, `fall1996`). After the third duplicate ACK cwnd is one segment, and the sender continues at
//! the first unacknowledged byte.

use net::Seq;

/// Return the sequence number that is sent next after a fast retransmit.
pub fn send_next(una: Seq) -> Seq {
    una
}

/// Return cwnd after a fast retransmit, in bytes.
pub fn cwnd(smss: f64) -> f64 {
    smss
}
