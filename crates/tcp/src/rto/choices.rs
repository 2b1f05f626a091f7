//! What the parameters of the retransmission timeout may say.

use units::words;

words! {
    /// What an ACK of new data does first.
    pub enum RtoOrder {
        /// It takes the round trip that it measures, then restarts the timer, with the timeout that follows (RFC 6298).
        SampleFirst = "sample-first",
        /// It restarts the timer with the timeout as it was, back-off included, then takes its sample (ns-2 without `timerfix_`).
        RestartFirst = "restart-first",
    }
}

words! {
    /// How round-trip times become a retransmission timeout.
    pub enum RtoEstimator {
        /// SRTT and RTTVAR in full precision (RFC 6298).
        Rfc6298 = "rfc6298",
        /// Integer arithmetic in clock ticks (Jacobson 1988, appendix A), as in 4.3BSD and ns-2.
        Jacobson1988 = "jacobson1988",
        /// As Linux computes it: the deviation is the greatest of a round trip, falls slowly, and is itself no less than `min`.
        Linux = "linux",
    }
}

words! {
    /// Event that ends the back-off of the retransmission timer.
    pub enum BackoffEnds {
        /// Measurement of a round trip, of a segment that was sent once: the back-off stays while
        /// only retransmissions are acknowledged (RFC 6298 §5, last paragraph, and §5.7; Karn &
        /// Partridge 1987).
        Sample = "sample",
        /// Any ACK of new data, as in ns-2's FullTcp, which times retransmissions too.
        NewAck = "new-ack",
    }
}
