//! Parameters of ECN.

use units::{Packets, Range, params};

use super::choices::*;

params! {
    /// Explicit Congestion Notification: the negotiation of ECN, the packets that are ECN-capable,
    /// and the response to marks. `ecn = "rfc3168"` stands for `ecn = { mode = "rfc3168" }`.
    pub struct EcnParameters: "tcp.ecn", shorthand for mode {
        /// Kind of ECN that the endpoint offers or accepts.
        mode: Ecn = (Ecn::Off), in Range::ANY, from "rfc3168";
        /// Packets that the endpoint sends as ECN-capable.
        packets: EctOn = (EctOn::NewData), in Range::ANY, from "rfc3168 §6.1.5";
        /// True to send ECT(1), as L4S requires, instead of ECT(0) in ECN-capable packets.
        ect1: bool = (false), in Range::ANY, from "rfc9331 §4.1";
        /// True to retransmit an unanswered SYN without the offer of ECN. With Accurate ECN, the
        /// first retransmission of the SYN repeats the offer, and only later retransmissions omit
        /// it. Retransmissions of a SYN-ACK follow the rules for retransmissions of a SYN. If
        /// congestion drops the SYN, the connection does not use ECN.
        fallback: bool = (false), in Range::ANY, from "rfc3168 §6.1.1.1 and rfc9768 §3.1.4, §3.2.3.2.2 allow the fall-back; Linux: on";
        /// Effect of a repeated SYN without the offer, as `fallback` sends it. Accurate ECN has its
        /// own rule.
        repeated_syn: RepeatedSyn = (RepeatedSyn::DisablesEct), in Range::ANY, from "rfc3168 §6.1.1; Linux: ignored";
        /// True to send the option of Accurate ECN in addition to the header field.
        accurate_option: bool = (true), in Range::ANY, from "rfc9768 §3.2.3";
        /// Tests of the path by Accurate ECN.
        accurate_tests: AccEcnTests = (AccEcnTests::Handshake), in Range::ANY, from "rfc9768 §3.2.2.3, §3.2.2.4, §3.2.3.2.4";
        /// Violation of ECN by this host.
        misbehaviour: Misbehaviour = (Misbehaviour::None), in Range::ANY, from "rfc3540 §1; rfc3168 §18";
        /// Minimum cwnd after a response to ECE.
        min_window: Packets = (Packets(1.0)), in Range::between(1.0, 2.0), from "rfc3168 §6.1.2; Linux: 2";
        /// Response to an ECE while cwnd is one segment.
        at_one_segment: EcnAtOneSegment = (EcnAtOneSegment::WaitForTimer), in Range::ANY, from "rfc3168 §6.1.2; Linux: go-on";
    }
}
