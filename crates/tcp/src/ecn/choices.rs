//! Named values of the parameters of ECN.

use units::words;

words! {
    /// Kinds of Explicit Congestion Notification.
    pub enum Ecn {
        /// The endpoint neither offers nor accepts ECN.
        Off = "off",
        /// The client offers ECN in the SYN, the server accepts it in the SYN-ACK, and the sender
        /// responds to marks once in a window (RFC 3168 §6.1).
        Rfc3168 = "rfc3168",
        /// The endpoint accepts ECN if the other side offers it, but never offers it (Linux,
        /// tcp_ecn = 2).
        Passive = "passive",
        /// ECN+: like `rfc3168`, and the SYN-ACK is ECN-capable. If the network marks the SYN-ACK,
        /// the initial window is one segment (RFC 5562).
        EcnPlus = "ecn+",
        /// ECN+ without response to a marked SYN-ACK, because the client does not echo the mark of
        /// the SYN-ACK (Kuzmanovic 2005, §3.2.1).
        EcnPlusUnheeded = "ecn+unheeded",
        /// ECN+ with the variant Wait: if the SYN-ACK was marked, the server waits for a round trip
        /// before it sends data (RFC 5562 §4).
        EcnPlusWait = "ecn+wait",
        /// ECN+ with the variant TryOnce: if the SYN-ACK was marked, the server retransmits the
        /// SYN-ACK as Not-ECT (RFC 5562 §3.2).
        EcnPlusTryOnce = "ecn+try-once",
        /// ECN++, which is `rfc3168` with `packets = "all-packets"`: every kind of packet that the
        /// draft permits is ECN-capable (draft-generalized-ecn). `accurate` with `packets =
        /// "all-packets"` is ECN++ with Accurate ECN.
        EcnPlusPlus = "ecn++",
        /// DCTCP: the receiver echoes the mark of each packet (RFC 8257 §3.2).
        Dctcp = "dctcp",
        /// ECN nonce: one random bit per packet reveals to the sender that a receiver hides marks
        /// (RFC 3540).
        Nonce = "nonce",
        /// Accurate ECN: the receiver counts marked packets and bytes, and returns the counts (RFC
        /// 9768).
        Accurate = "accurate",
    }
}

words! {
    /// Tests with which Accurate ECN detects that the path or the other endpoint changes ECN
    /// fields. After a failed test of the path, the sender sends all packets as Not-ECT.
    pub enum AccEcnTests {
        /// The sender makes only the two tests that RFC 9768 requires. One test detects an ACK of
        /// the SYN-ACK without an ACE counter, and the other detects marked bytes without a marked
        /// packet.
        Off = "off",
        /// In addition to the tests of `off`, the endpoint tests whether a SYN or SYN-ACK arrived
        /// with an ECN field that no queue can cause (RFC 9768 §3.2.2.3), and whether the counters
        /// of the AccECN option begin at zero (RFC 9768 §3.2.3.2.4).
        Handshake = "handshake",
        /// In addition to the tests of `handshake`, the sender tests whether the packet counter
        /// begins at zero (RFC 9768 §3.2.2.4), and whether all packets of three round trips are
        /// marked (RFC 9768 §3.2.2.3). Even on a path that does not change ECN fields, heavy
        /// congestion can cause the two additional tests of `feedback` to fail.
        Feedback = "feedback",
    }
}

words! {
    /// Violations of ECN by a host.
    pub enum Misbehaviour {
        /// The host complies with ECN.
        None = "none",
        /// The host as a receiver hides marks: it never sets ECE.
        HidesMarks = "hide-marks",
        /// The host as a sender ignores ECE.
        IgnoresEcho = "ignore-ece",
        /// The host as a sender clears the ECN field: its packets are Not-ECT although it
        /// negotiated ECN.
        Strips = "strip-ecn",
    }
}

words! {
    /// Packets of an ECN connection that are ECN-capable.
    pub enum EctOn {
        /// Packets with new data (RFC 3168 §6.1.5 forbids ECN-capable retransmissions).
        NewData = "new-data",
        /// Packets with new data, and retransmissions (ns-2).
        AllData = "all-data",
        /// All data, SYN-ACKs, window probes, FINs and RSTs (ECN++, draft-generalized-ecn). With
        /// Accurate ECN, SYNs are ECN-capable too. Pure ACKs are ECN-capable too if a sender
        /// detects losses by SACK alone. With DCTCP, pure ACKs are ECN-capable too (RFC 8257 §4.1).
        AllPackets = "all-packets",
    }
}

words! {
    /// Echo of marks by a receiver.
    pub enum EcnEcho {
        /// An ACK carries ECN-Echo if any of the data that it acknowledges was marked. The
        /// following ACKs carry ECN-Echo until CWR arrives (RFC 3168 §6.1.3).
        Rfc3168 = "rfc3168",
        /// CWR ends the echo of all marks at once, including a mark whose data is not acknowledged
        /// yet. The receiver acknowledges CWR and the first mark at once (Linux,
        /// tcp_ecn_accept_cwr, tcp_ecn_check_ce).
        Linux = "linux",
    }
}

words! {
    /// Effect of a SYN without the offer of ECN that repeats a SYN with the offer.
    pub enum RepeatedSyn {
        /// Neither endpoint sends ECN-capable packets, and the SYN-ACK does not accept the offer
        /// (RFC 3168 §6.1.1).
        DisablesEct = "disables-ect",
        /// The endpoints negotiate ECN by the first SYN, if it arrived. A client that sent a SYN
        /// without the offer uses ECN if the SYN-ACK accepts the first offer. Linux does this.
        Ignored = "ignored",
    }
}

words! {
    /// Response to an ECE while cwnd is one segment.
    pub enum EcnAtOneSegment {
        /// The sender restarts its retransmission timer, and sends the next segment when the timer
        /// expires (RFC 3168 §6.1.2).
        WaitForTimer = "wait-for-timer",
        /// The sender continues with one segment in each round trip (ns-2). Linux does not wait for
        /// the retransmission timer, but the cwnd of Linux is usually at least two segments.
        GoOn = "go-on",
    }
}
