//! Enums for the parameters of the retransmission timer.

use units::words;

words! {
    /// Order in which an ACK of new data provides its round-trip sample and restarts the
    /// retransmission timer.
    pub enum RtoOrder {
        /// The ACK first provides its round-trip sample, and then restarts the retransmission timer
        /// with the new timeout (RFC 6298).
        SampleFirst = "sample-first",
        /// The ACK first restarts the retransmission timer with the previous timeout, including its
        /// back-off. After the restart of the retransmission timer, the ACK provides its round-trip
        /// sample (ns-2 without `timerfix_`).
        RestartFirst = "restart-first",
    }
}

words! {
    /// Estimators of the retransmission timeout.
    pub enum RtoEstimator {
        /// SRTT and RTTVAR in full precision (RFC 6298).
        Rfc6298 = "rfc6298",
        /// Integer arithmetic in clock ticks (Jacobson 1988, appendix A), as in 4.3BSD and ns-2.
        Jacobson1988 = "jacobson1988",
        /// The estimator of Linux: the deviation is the maximum within a round trip, decreases
        /// slowly, and is at least `min`.
        Linux = "linux",
    }
}

words! {
    /// Event that ends the back-off of the retransmission timer.
    pub enum BackoffEnds {
        /// The measured round-trip time of a segment that was sent once ends the back-off. The
        /// back-off persists while ACKs cover only retransmissions (RFC 6298 §5, last paragraph,
        /// and §5.7; Karn & Partridge 1987).
        Sample = "sample",
        /// Any ACK of new data ends the back-off, as in ns-2's FullTcp. FullTcp measures the
        /// round-trip times of retransmissions too.
        NewAck = "new-ack",
    }
}
