//! Parameters of a receiver.

use units::{Bytes, Duration, Packets, Range, params};

use super::choices::*;

params! {
    /// Acknowledgements: the delay of ACKs, the ACKs that are sent at once, and the ACKs that are
    /// merged.
    pub struct AckParameters: "tcp.ack" {
        /// Unit in which `delayed_ack` counts received data.
        unit: DelayedAckUnit = (DelayedAckUnit::Segments), in Range::ANY, from "4.3BSD; rfc5681 §4.2";
        /// Maximum delay of an ACK.
        timeout: Duration = (Duration::from_millis(200)), in Range::above_to(0.0, 0.5), from "4.3BSD; rfc1122 §4.2.3.2: at most 0.5 s";
        /// Condition for an immediate ACK of a segment that fills a gap.
        gap: GapAck = (GapAck::Immediate), in Range::ANY, from "rfc5681 §4.2";
        /// Number of ACKs that are sent at once when data first arrives, when data arrives after a
        /// pause longer than the RTO, and when old data arrives again.
        quick: Packets = (Packets(0.0)), in Range::between(0.0, 1000.0).whole(), from "rfc5681 §4.2 allows immediate ACKs; Linux: 16";
        /// True to acknowledge a full segment with PSH at once, if the application reads all data
        /// at once and sends no data. The key `ack.push` requires a tuned window.
        push: bool = (false), in Range::ANY, from "rfc5681 §4.2 allows an immediate ACK; Linux, tcp_measure_rcv_mss (since 6.6) and tcp_cleanup_rbuf: on";
        /// Maximum number of duplicate ACKs that are merged into one ACK, after the first three
        /// duplicate ACKs. If the maximum is 0, the receiver sends each duplicate ACK at once. A
        /// merged ACK waits for a twentieth of a round trip or 1 ms, whichever is shorter. The key
        /// `ack.compressed` requires a tuned window, because the receiver measures the round-trip
        /// time only if it tunes the window.
        compressed: Packets = (Packets(0.0)), in Range::between(0.0, 255.0).whole(), from "rfc5681 §4.2: at once; Linux, tcp_comp_sack_nr: 44";
    }
}

params! {
    /// Receive window: its scaling and its tuning.
    pub struct WindowParameters: "tcp.window" {
        /// Window scaling.
        scaling: WindowScaling = (WindowScaling::Full), in Range::ANY, from "rfc7323 §2";
        /// Scale factor (shift count) of the advertised windows. If absent, the scale factor is the
        /// smallest that can represent the receive window.
        shift: Option<u64> = (None), in Range::between(0.0, 14.0), from "rfc7323 §2.3";
        /// Tuning of the receive window.
        tuning: WindowTuning = (WindowTuning::Off), in Range::ANY, from "Linux, tcp_moderate_rcvbuf: on";
    }
}

params! {
    /// Memory of the buffers, if the receive window is tuned or the send buffer is limited.
    pub struct MemoryParameters: "tcp.memory" {
        /// Memory for received data at the beginning of a connection, if the window is tuned.
        receive: Bytes = (Bytes(131_072)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_rmem: 131072";
        /// Maximum memory for received data.
        receive_max: Bytes = (Bytes(6_291_456)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_rmem: 6291456";
        /// Memory of the send buffer at the beginning of a connection, if the send buffer is
        /// limited.
        send: Bytes = (Bytes(16_384)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_wmem: 16384";
        /// Maximum memory of the send buffer.
        send_max: Bytes = (Bytes(4_194_304)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_wmem: 4194304";
        /// Memory that a received segment occupies in the receive buffer, for the automatic tuning
        /// of the receive window.
        segment: SegmentMemory = (SegmentMemory::Linear), in Range::ANY, from "Linux, truesize of an sk_buff: the memory depends on the device";
    }
}
