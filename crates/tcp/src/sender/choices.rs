//! What the parameters of a sender may say.

use units::words;

words! {
    /// When three duplicate ACKs start a fast retransmit.
    pub enum FastRetransmit {
        /// Only when the cumulative ACK has passed everything sent before the last cut (RFC 6582 §3.2).
        OncePerWindow = "once-per-window",
        /// Whenever the third duplicate arrives, so that one window may be cut several times (4.3BSD-Reno; ns-2 without `bugFix_`).
        Unguarded = "unguarded",
    }
}

words! {
    /// Which ACK of data begins slow start.
    pub enum SlowStartFrom {
        /// The first (RFC 5681 §3.1).
        FirstAck = "first-ack",
        /// The second: the first segment stands for a SYN, whose ACK opens nothing (ns-2's `delay_growth_`, for its TCP without handshake).
        SecondAck = "second-ack",
    }
}

words! {
    /// Whether a FIN without data waits for room in cwnd.
    pub enum FinWaits {
        /// It does, as any segment does.
        ForCwnd = "for-cwnd",
        /// It does not (Linux, tcp_cwnd_test).
        No = "no",
    }
}

words! {
    /// What a timeout in the middle of a recovery does to ssthresh.
    pub enum TimeoutInRecovery {
        /// It lowers it again: a lost retransmission is a second sign of congestion (RFC 5681 §4.3).
        Cuts = "cuts",
        /// It leaves it as the recovery set it (Linux, tcp_enter_loss).
        Keeps = "keeps",
    }
}

words! {
    /// The SACK information from before a timeout, where RACK does not judge losses.
    pub enum SackAfterTimeout {
        /// Discarded (RFC 2018 §8; RFC 6675 §5.1).
        Forgotten = "forgotten",
        /// Retained; a receiver that reneges is detected by its cumulative ACK (errata 1610 of RFC 2018; Linux,
        /// tcp_timeout_mark_lost).
        Kept = "kept",
    }
}

words! {
    /// cwnd after a timeout.
    pub enum LossWindow {
        /// One segment (RFC 5681 §3.1).
        Segment = "segment",
        /// One segment more than is in flight: RACK does not deem lost what was sent within the last round trip (Linux).
        FlightAndSegment = "flight-and-segment",
    }
}

words! {
    /// What an ACK with ECN-Echo does to cwnd when it is no reason for a cut.
    pub enum EceGrowth {
        /// Nothing (RFC 3168 §6.1.2: a sender should not increase cwnd in response to it).
        None = "none",
        /// What any ACK does (Linux).
        AsAnyAck = "as-any-ack",
    }
}

words! {
    /// From what ssthresh is computed when the window is cut.
    pub enum SsthreshFrom {
        /// Half the FlightSize, at least two segments; kept when a segment times out again (RFC 5681, equation 4).
        FlightSize = "flight-size",
        /// A share of cwnd, whatever is in flight (Linux).
        Cwnd = "cwnd",
        /// Half the smaller of cwnd and the receiver's window, in whole segments, at least two, and again when a segment times
        /// out again (4.3BSD-Reno: Stevens & Wright 1995, figure 29.16; ns-2).
        Window = "window",
    }
}

words! {
    /// What counts where cwnd grows.
    pub enum CwndCounts {
        /// Bytes newly_acked acknowledged by the acknowledgement number (RFC 5681 §3.1, RFC 3465 §2.1).
        Acknowledged = "acknowledged",
        /// Bytes newly_acked delivered, SACKed ones at once (Linux).
        Delivered = "delivered",
    }
}

words! {
    /// When cwnd may grow.
    pub enum CwndValidation {
        /// With every ACK of new data.
        None = "none",
        /// While it is used up: in slow start, by half (Linux, tcp_is_cwnd_limited).
        Limited = "limited",
    }
}

words! {
    /// What an idle time longer than the timeout does to cwnd.
    pub enum IdleRestart {
        /// Nothing.
        Off = "off",
        /// It returns to the initial window (RFC 5681 §4.1).
        Rfc5681 = "rfc5681",
        /// It is halved for each timeout that went by, down to the initial window (RFC 2861, Linux).
        Rfc2861 = "rfc2861",
    }
}

words! {
    /// In what the data in flight is counted under SACK.
    pub enum FlightUnit {
        /// Bytes (RFC 6675).
        Bytes = "bytes",
        /// Segments, each as one SMSS, as Linux counts them.
        Segments = "segments",
    }
}

words! {
    /// What retransmissions of a recovery do to the retransmission timer, which every ACK of new data restarts.
    pub enum FastRetransmitTimer {
        /// The fast retransmit restarts it, later ones do not (4.3BSD-Reno, ns-2).
        Restarts = "restarts",
        /// It runs on (RFC 6298 §5.1).
        RunsOn = "runs-on",
        /// Each of them restarts it (RFC 6675 §6 allows it).
        Each = "each-restarts",
        /// That of the first unacknowledged segment restarts it, and an ACK that SACKs something sent before that (Linux).
        First = "first-restarts",
    }
}

words! {
    /// From when the user timeout counts.
    pub enum UserTimeoutFrom {
        /// From when something was last acknowledged, or sent when nothing was out (RFC 5482 §1).
        Progress = "progress",
        /// From when it was first sent again (Linux).
        FirstRetransmission = "first-retransmission",
    }
}

words! {
    /// Answers to a retransmission that was spurious.
    pub enum SpuriousResponse {
        /// The window is what is in flight, and a little more; ssthresh what was in flight, or as it was (RFC 4015).
        Eifel = "eifel",
        /// The window and ssthresh are as they were (Linux).
        Restore = "restore",
        /// Only what would be sent again for nothing is not.
        None = "none",
    }
}

words! {
    /// Whether small segments wait for ACKs.
    pub enum Nagle {
        /// They never wait.
        Off = "off",
        /// While anything is unacknowledged (RFC 896, RFC 9293 §3.7.4).
        Rfc896 = "rfc896",
        /// While a small segment is unacknowledged (Minshall 1998, as Linux does).
        Minshall = "minshall",
    }
}

words! {
    /// Segmentation offload of the sender.
    pub enum Offload {
        /// Each segment is sent as soon as the windows allow it.
        None = "none",
        /// Segments wait for an ACK that is due within a millisecond, unless they fill a super-packet, the
        /// rest of one, or a third of the window (Linux, tcp_tso_should_defer, tcp_tso_autosize).
        Linux = "linux",
    }
}

words! {
    /// Limit of the data that the application has written and the other side has not acknowledged.
    pub enum SendBuffer {
        /// The application writes everything at once.
        Unlimited = "unlimited",
        /// The data takes memory: a packet 896 B beside its payload, with gathering a super-packet. The memory grows with cwnd from `memory.send`
        /// to `memory.send_max`, and the application writes when a third of it is free (Linux, tcp_sndbuf_expand).
        Linux = "linux",
    }
}

words! {
    /// What probes a closed window.
    pub enum WindowProbe {
        /// A byte of new data (RFC 9293 §3.8.6.1).
        Byte = "new-octet",
        /// A segment without data and with an old sequence number, as Linux sends it.
        OldSequence = "old-sequence",
    }
}

words! {
    /// Which segments of new data have PSH.
    pub enum Push {
        /// That in which the last write ends: a write that waits is one with the next (RFC 9293 §3.9.1).
        LastWrite = "last-write",
        /// Those in which a write ends, unless more is announced (MSG_MORE) or the next write fills the segment up; and the first by which half of the
        /// largest window that was ever offered has gone since the last PSH; with gathering also the last one of a super-packet (Linux, tcp_push, forced_push, tcp_transmit_skb).
        Linux = "linux",
    }
}
