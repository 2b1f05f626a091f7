//! Enums for the parameters of the sender.

use units::words;

words! {
    /// Guard against repeated fast retransmits in one window of data.
    pub enum FastRetransmit {
        /// Three duplicate ACKs start a fast retransmit only if the cumulative ACK covers all data
        /// sent before the last reduction of cwnd (RFC 6582 §3.2).
        OncePerWindow = "once-per-window",
        /// The third duplicate ACK always starts a fast retransmit outside recovery, so that cwnd
        /// may be reduced several times per window of data (4.3BSD-Reno; ns-2 without `bugFix_`).
        Unguarded = "unguarded",
    }
}

words! {
    /// ACK from which slow start increases cwnd: the first or the second ACK of data.
    pub enum SlowStartFrom {
        /// The first ACK of data increases cwnd (RFC 5681 §3.1).
        FirstAck = "first-ack",
        /// The first ACK of data does not increase cwnd, and the second ACK does. The first segment
        /// stands for the SYN, whose ACK does not increase cwnd (ns-2's `delay_growth_`, for its
        /// TCP without handshake).
        SecondAck = "second-ack",
    }
}

words! {
    /// Condition for sending a FIN without data.
    pub enum FinWaits {
        /// The FIN waits until cwnd permits it, as every other segment does.
        ForCwnd = "for-cwnd",
        /// The FIN does not wait for cwnd (Linux, tcp_cwnd_test).
        No = "no",
    }
}

words! {
    /// Effect on ssthresh of a timeout during recovery.
    pub enum TimeoutInRecovery {
        /// The timeout reduces ssthresh again, because a lost retransmission is a second sign of
        /// congestion (RFC 5681 §4.3).
        Cuts = "cuts",
        /// ssthresh remains as the recovery set it (Linux, tcp_enter_loss).
        Keeps = "keeps",
    }
}

words! {
    /// Use of SACK information after a timeout, if RACK does not detect losses.
    pub enum SackAfterTimeout {
        /// The timeout discards all SACK information (RFC 2018 §8; RFC 6675 §5.1).
        Forgotten = "forgotten",
        /// The sender retains its SACK information. The cumulative ACK reveals a receiver that
        /// reneges (errata 1610 of RFC 2018; Linux, tcp_timeout_mark_lost).
        Kept = "kept",
    }
}

words! {
    /// cwnd after a timeout.
    pub enum LossWindow {
        /// The timeout sets cwnd to one segment (RFC 5681 §3.1).
        Segment = "segment",
        /// The timeout sets cwnd to one segment more than is in flight, because RACK does not mark
        /// the segments of the last round trip as lost (Linux).
        FlightAndSegment = "flight-and-segment",
    }
}

words! {
    /// Effect of an ACK with ECN-Echo on the growth of cwnd, if the sender does not reduce cwnd for
    /// this ACK.
    pub enum EceGrowth {
        /// The ACK does not increase cwnd (RFC 3168 §6.1.2).
        None = "none",
        /// The ACK increases cwnd as an ACK without ECN-Echo does (Linux).
        AsAnyAck = "as-any-ack",
    }
}

words! {
    /// Quantity from which a reduction of cwnd computes ssthresh.
    pub enum SsthreshFrom {
        /// ssthresh becomes half of the FlightSize, at least two segments. A repeated timeout of
        /// the same segment does not change ssthresh (RFC 5681, equation 4).
        FlightSize = "flight-size",
        /// ssthresh becomes a fraction of cwnd, independent of the data in flight (Linux).
        Cwnd = "cwnd",
        /// ssthresh becomes half of the smaller of cwnd and the receive window, in whole segments,
        /// but at least two segments. A repeated timeout of the same segment reduces ssthresh again
        /// (4.3BSD-Reno: Stevens & Wright 1995, figure 29.16; ns-2).
        Window = "window",
    }
}

words! {
    /// Bytes of an ACK by which cwnd grows.
    pub enum CwndCounts {
        /// cwnd grows by the bytes that the acknowledgement number newly acknowledges (RFC 5681
        /// §3.1, RFC 3465 §2.1).
        Acknowledged = "acknowledged",
        /// cwnd grows by the bytes newly delivered, including newly SACKed bytes (Linux).
        Delivered = "delivered",
    }
}

words! {
    /// Condition for growth of cwnd.
    pub enum CwndValidation {
        /// Every ACK of new data may increase cwnd.
        None = "none",
        /// An ACK increases cwnd only if cwnd limited the sender. In slow start, an ACK increases
        /// cwnd if at least half of cwnd was in flight (Linux, tcp_is_cwnd_limited).
        Limited = "limited",
    }
}

words! {
    /// Effect on cwnd of an idle time longer than the RTO.
    pub enum IdleRestart {
        /// An idle time does not change cwnd.
        Off = "off",
        /// An idle time reduces cwnd to the initial window (RFC 5681 §4.1).
        Rfc5681 = "rfc5681",
        /// An idle time halves cwnd once per RTO, down to the initial window (RFC 2861, Linux).
        Rfc2861 = "rfc2861",
    }
}

words! {
    /// Unit in which a sender with SACK counts the data in flight.
    pub enum FlightUnit {
        /// The sender counts bytes (RFC 6675).
        Bytes = "bytes",
        /// The sender counts segments, each as one SMSS (Linux).
        Segments = "segments",
    }
}

words! {
    /// Effect of retransmissions during recovery on the retransmission timer. An ACK of new data
    /// always restarts the timer.
    pub enum FastRetransmitTimer {
        /// The fast retransmit restarts the timer, and later retransmissions do not (4.3BSD-Reno,
        /// ns-2).
        Restarts = "restarts",
        /// Retransmissions do not restart the retransmission timer (RFC 6298 §5.1).
        RunsOn = "runs-on",
        /// Every retransmission restarts the retransmission timer (permitted by RFC 6675 §6).
        Each = "each-restarts",
        /// A retransmission of the first unacknowledged segment restarts the timer. An ACK that
        /// SACKs data sent before the last transmission of the first unacknowledged segment
        /// restarts the timer too (Linux).
        First = "first-restarts",
    }
}

words! {
    /// Event that starts the user timeout.
    pub enum UserTimeoutFrom {
        /// The user timeout starts with the last new acknowledgement, or with the first segment
        /// sent when no data was in flight (RFC 5482 §1).
        Progress = "progress",
        /// The user timeout starts with the first retransmission of the oldest unacknowledged
        /// segment (Linux).
        FirstRetransmission = "first-retransmission",
    }
}

words! {
    /// Response to a spurious retransmission.
    pub enum SpuriousResponse {
        /// The sender sets cwnd to the data in flight plus at most an initial window. ssthresh
        /// rises to the data in flight before the retransmission if ssthresh is smaller (RFC 4015).
        Eifel = "eifel",
        /// The sender restores the values that cwnd and ssthresh had before the retransmission
        /// (Linux).
        Restore = "restore",
        /// The sender does not restore cwnd and ssthresh. The sender stops further retransmissions
        /// of segments that were not lost.
        None = "none",
    }
}

words! {
    /// Condition under which a segment smaller than SMSS waits for an ACK.
    pub enum Nagle {
        /// A small segment never waits for an ACK.
        Off = "off",
        /// A small segment waits while any data is unacknowledged (RFC 896, RFC 9293 §3.7.4).
        Rfc896 = "rfc896",
        /// A small segment waits while another small segment is unacknowledged (Minshall 1998;
        /// Linux).
        Minshall = "minshall",
    }
}

words! {
    /// Segmentation offload (TSO) of the sender.
    pub enum Offload {
        /// Each segment is sent as soon as the windows permit.
        None = "none",
        /// Segments wait for an ACK that is due within 1 ms, unless they fill a super-packet, the
        /// rest of a super-packet, or a third of the window (Linux, tcp_tso_should_defer,
        /// tcp_tso_autosize).
        Linux = "linux",
    }
}

words! {
    /// Limit of the data that the application has written and the other endpoint has not
    /// acknowledged.
    pub enum SendBuffer {
        /// The application writes all its data at once.
        Unlimited = "unlimited",
        /// The data occupies memory of the send buffer: each packet, or each super-packet with
        /// offload, takes 896 B in addition to its payload. The send buffer grows with cwnd from
        /// `memory.send` to `memory.send_max`. The application writes when a third of the send
        /// buffer is free (Linux, tcp_sndbuf_expand).
        Linux = "linux",
    }
}

words! {
    /// Segment that probes a closed window.
    pub enum WindowProbe {
        /// The probe carries one byte of new data (RFC 9293 §3.8.6.1).
        Byte = "new-octet",
        /// The probe has an old sequence number and no data (Linux).
        OldSequence = "old-sequence",
    }
}

words! {
    /// Segments of new data that have the PSH flag.
    pub enum Push {
        /// The segment in which the last write ends has PSH. If the data of a write still waits in
        /// the send buffer, the sender combines the next write with this data (RFC 9293 §3.9.1).
        LastWrite = "last-write",
        /// A segment in which a write ends has PSH, unless the application announces more data
        /// (MSG_MORE) or the next write fills the segment. The first segment that ends more than
        /// half of the maximum advertised window after the last PSH also has PSH. With offload, the
        /// last segment of a super-packet has PSH too (Linux, tcp_push, forced_push,
        /// tcp_transmit_skb).
        Linux = "linux",
    }
}
