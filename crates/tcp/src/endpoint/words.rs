//! What the parameters of an endpoint may say of segments that are not as they should be.

use units::words;

words! {
    /// What becomes of a segment without a timestamp where timestamps were agreed on.
    pub enum MissingTimestamp {
        /// It is dropped (RFC 7323 §3.2).
        Refused = "refused",
        /// It is taken as it is (Linux, tcp_validate_incoming).
        Accepted = "accepted",
    }
}

words! {
    /// What becomes of a segment that acknowledges what was never sent.
    pub enum AckOfUnsent {
        /// It is answered by an ACK and dropped (RFC 9293 §3.10.7.4, fifth check).
        Answered = "answered",
        /// It is dropped (Linux, tcp_ack).
        Dropped = "dropped",
    }
}
