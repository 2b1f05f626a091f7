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

words! {
    /// Answer to an ACK from before SND.UNA less the largest window that was ever offered.
    pub enum OldAcks {
        /// It is a duplicate like any other: its acknowledgement is ignored and its data is taken
        /// (RFC 9293 §3.10.7.4, fifth check).
        Taken = "taken",
        /// The segment is discarded and an ACK is sent back, against blind injection of data; so is
        /// one from before the first byte (RFC 5961 §5.2, a MAY of RFC 9293; Linux, tcp_ack).
        Rfc5961 = "rfc5961",
    }
}
