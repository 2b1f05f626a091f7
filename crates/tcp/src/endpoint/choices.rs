//! Enums for the parameters that select the treatment of invalid or unusual segments.

use units::words;

words! {
    /// Treatment of a segment without a timestamp after timestamps were negotiated.
    pub enum MissingTimestamp {
        /// The endpoint drops the segment (RFC 7323 §3.2).
        Refused = "refused",
        /// The endpoint processes the segment (Linux, tcp_validate_incoming).
        Accepted = "accepted",
    }
}

words! {
    /// Response to a segment that acknowledges unsent data.
    pub enum AckOfUnsent {
        /// The endpoint drops the segment and sends an ACK (RFC 9293 §3.10.7.4, fifth check).
        Answered = "answered",
        /// The endpoint drops the segment (Linux, tcp_ack).
        Dropped = "dropped",
    }
}

words! {
    /// Response to an old ACK, whose number is below SND.UNA minus the maximum window that the
    /// other side ever offered.
    pub enum OldAcks {
        /// The endpoint ignores the acknowledgement number and accepts the data of the segment, as
        /// for every duplicate ACK (RFC 9293 §3.10.7.4, fifth check).
        Taken = "taken",
        /// The endpoint drops the segment and sends an ACK, as a protection against blind injection
        /// of data. If an ACK is below the first byte of data, the endpoint also drops the segment
        /// and sends an ACK (RFC 5961 §5.2, a MAY of RFC 9293; Linux, tcp_ack).
        Rfc5961 = "rfc5961",
    }
}
