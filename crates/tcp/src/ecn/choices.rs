//! What the parameters of ECN may say.

use units::words;

words! {
    /// Explicit Congestion Notification.
    pub enum Ecn {
        /// Neither offered nor accepted.
        Off = "off",
        /// Offered in the SYN, accepted in the SYN-ACK, one response a window (RFC 3168 §6.1).
        Rfc3168 = "rfc3168",
        /// Accepted when the other side offers it, never offered (Linux, tcp_ecn = 2).
        Passive = "passive",
        /// RFC 3168, and the SYN-ACK is ECN-capable; when it is marked the initial window is one segment (RFC 5562, ECN+).
        EcnPlus = "ecn+",
        /// ECN+, and a marked SYN-ACK says nothing: the client does not echo its mark (Kuzmanovic 2005, §3.2.1).
        EcnPlusUnheeded = "ecn+unheeded",
        /// ECN+, and a marked SYN-ACK is answered by waiting a round trip before any data (RFC 5562 §4, Wait).
        EcnPlusWait = "ecn+wait",
        /// ECN+, and a marked SYN-ACK is sent again, not ECN-capable (RFC 5562 §3.2, TryOnce).
        EcnPlusTryOnce = "ecn+try-once",
        /// RFC 3168, and all packets are ECN-capable that may be with it (ECN++, draft-generalized-ecn): `rfc3168` with `packets = "all-packets"`. ECN++ with Accurate ECN is `accurate` with that.
        EcnPlusPlus = "ecn++",
        /// The receiver echoes the mark of every packet (RFC 8257 §3.2, DCTCP).
        Dctcp = "dctcp",
        /// A nonce of one bit a packet tells the sender when a receiver hides marks (RFC 3540).
        Nonce = "nonce",
        /// Counters of marked packets and bytes (RFC 9768, Accurate ECN).
        Accurate = "accurate",
    }
}

words! {
    /// What a sender with Accurate ECN looks for that the path or the other end may do to ECN fields, to be ECN-capable no more.
    pub enum AccEcnTests {
        /// What RFC 9768 says it must heed: an ACK of the SYN-ACK without counter, and marked bytes without a marked packet.
        Off = "off",
        /// Also a SYN or SYN-ACK that arrived in a field that no queue makes of that which it was sent in (§3.2.2.3), and counters of the option that begin with zero (§3.2.3.2.4).
        Handshake = "handshake",
        /// Also a counter of packets that begins with zero (§3.2.2.4), and marks on every packet of three round trips (§3.2.2.3); both may come of heavy congestion.
        Feedback = "feedback",
    }
}

words! {
    /// What a host does wrong with ECN.
    pub enum Misbehaviour {
        /// Nothing.
        None = "none",
        /// As a receiver it hides marks: it never says ECE.
        HidesMarks = "hide-marks",
        /// As a sender it ignores ECE.
        IgnoresEcho = "ignore-ece",
        /// The host strips: what it sends is not ECN-capable though it negotiated.
        Strips = "strip-ecn",
    }
}

words! {
    /// Which packets of an ECN connection are ECN-capable.
    pub enum EctOn {
        /// New data only (RFC 3168 §6.1.5 forbids it on retransmissions).
        NewData = "new-data",
        /// Retransmissions too (ns-2).
        AllData = "all-data",
        /// Also SYN-ACK, window probes, FIN and RST (ECN++, draft-generalized-ecn); with Accurate ECN the SYN, and pure ACKs where losses are known by SACK alone; with DCTCP pure ACKs (RFC 8257 §4.1).
        AllPackets = "all-packets",
    }
}

words! {
    /// How a receiver echoes marks.
    pub enum EcnEcho {
        /// An ACK carries ECN-Echo if any of the data that it acknowledges was marked, and so do all after it until CWR comes (RFC 3168 §6.1.3).
        Rfc3168 = "rfc3168",
        /// CWR ends the echo at once, also of a mark that is not acknowledged yet; CWR and the first mark are acknowledged at once (Linux, tcp_ecn_accept_cwr, tcp_ecn_check_ce).
        Linux = "linux",
    }
}

words! {
    /// Response to an ECE that is answered when cwnd is one segment.
    pub enum EcnAtOneSegment {
        /// The sender restarts its retransmission timer and sends the next segment when it expires
        /// (RFC 3168 §6.1.2).
        WaitForTimer = "wait-for-timer",
        /// The sender goes on with one segment in each round trip (ns-2; Linux has no such rule
        /// either, and mostly keeps two segments).
        GoOn = "go-on",
    }
}
