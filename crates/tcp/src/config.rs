//! Parameters of a TCP endpoint. The keys that most scenarios need are defined in this file. All
//! other keys are in tables. The keys of a table are defined in `parameters.rs` of the module that
//! reads the table.
//!
//! If an older simulator or host differs from today's RFCs, a value of a key selects its behaviour,
//! and the code has no special case for it. The values of a key are defined in `choices.rs` of the
//! module that reads the key, or in the file of the algorithm that the key configures.

use units::param::{Invalid, Params, Renamed, join};
use units::{Bytes, Packets, Range, Read, params, words};

use crate::congestion::Algorithm;

pub use crate::ecn::choices::*;
pub use crate::ecn::parameters::*;
pub use crate::endpoint::choices::*;
pub use crate::endpoint::parameters::*;
pub use crate::receiver::choices::*;
pub use crate::receiver::parameters::*;
pub use crate::recovery::RecoveryExit;
pub use crate::recovery::frto::FrtoKind;
pub use crate::recovery::parameters::*;
pub use crate::recovery::prr::{MarkReductionEnds, PrrBound, RateReduction};
pub use crate::rto::choices::*;
pub use crate::rto::parameters::*;
pub use crate::sender::choices::*;
pub use crate::sender::parameters::*;
pub use crate::window::InitialWindow;

words! {
    /// TCP implementations whose behaviour a set of parameters reproduces.
    pub enum Stack {
        /// TCP in which every parameter has its default.
        Plain = "plain",
        /// A host that follows the RFCs, without TCP options.
        Rfc = "rfc",
        /// Linux 6 with its default settings: SACK, timestamps, window scaling, CUBIC, PRR,
        /// RACK-TLP, ACKs delayed by 40 ms, and a minimum RTO of 200 ms.
        Linux = "linux",
    }
}

params! {
    /// TCP endpoint. The defaults follow today's RFCs without TCP options. The two endpoints of a
    /// flow have the same parameters, unless the flow sets different parameters for its receiver.
    pub struct Tcp: "tcp", checked by check, renamed by RENAMED {
        /// Stack whose values apply to all keys that the scenario does not set.
        stack: Stack = (Stack::Plain), in Range::ANY, from "";
        /// Congestion control, which determines the growth of cwnd and the size of its reductions.
        congestion: Algorithm = (Algorithm::default()), in Range::ANY, from "rfc5681";
        /// True to offer selective acknowledgements (SACK) in the handshake.
        sack: bool = (false), in Range::ANY, from "rfc2018";
        /// True to offer timestamps in the handshake.
        timestamps: bool = (false), in Range::ANY, from "rfc7323 §3";
        /// Explicit Congestion Notification (ECN).
        ecn: EcnParameters = (EcnParameters::defaults()), in Range::ANY, from "";
        /// Maximum segment size (SMSS) in bytes of payload.
        mss: Bytes = (Bytes(1460)), in Range::between(1.0, 65_495.0), from "rfc9293 §3.7.1: 1500 B less 40 B of headers";
        /// Initial congestion window (IW).
        initial_window: InitialWindow = (InitialWindow::Segments(Packets(10.0))), in Range::between(1.0, 1000.0).whole(), from "rfc6928; or \"rfc3390\"";
        /// Maximum receive window that the receiver advertises (rwnd).
        receive_window: Bytes = (Bytes(6_291_456)), in Range::between(1.0, 1_073_725_440.0), from "Linux, tcp_rmem: 6 MiB; range: rfc7323 §2.3";
        /// Limit of the data that the application has written and the other endpoint has not
        /// acknowledged.
        send_buffer: SendBuffer = (SendBuffer::Unlimited), in Range::ANY, from "rfc9293 §3.9.1: no limit; Linux, tcp_wmem: a limit";
        /// Maximum number of full segments per ACK; 1 disables delayed ACKs.
        delayed_ack: Packets = (Packets(2.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 §4.2";
        /// Segmentation offload (TSO) of the sender. Offload requires SACK.
        offload: Offload = (Offload::None), in Range::ANY, from "rfc9293 §3.8.6.2.1: no offload; Linux: TSO";
        /// Loss recovery.
        recovery: RecoveryParameters = (RecoveryParameters::defaults()), in Range::ANY, from "";
        /// Retransmission timer.
        rto: RtoParameters = (RtoParameters::defaults()), in Range::ANY, from "";
        /// Acknowledgements.
        ack: AckParameters = (AckParameters::defaults()), in Range::ANY, from "";
        /// Congestion window and slow start threshold.
        cwnd: CwndParameters = (CwndParameters::defaults()), in Range::ANY, from "";
        /// Scaling and tuning of the receive window.
        window: WindowParameters = (WindowParameters::defaults()), in Range::ANY, from "";
        /// Memory of the buffers.
        memory: MemoryParameters = (MemoryParameters::defaults()), in Range::ANY, from "";
        /// Handshake, PSH, Nagle's algorithm, retries and closing.
        connection: ConnectionParameters = (ConnectionParameters::defaults()), in Range::ANY, from "";
        /// Sizes of headers.
        wire: WireParameters = (WireParameters::defaults()), in Range::ANY, from "";
        /// Details in which a real stack differs from the RFCs.
        details: DetailParameters = (DetailParameters::defaults()), in Range::ANY, from "";
    }
}

/// Former keys of the flat table `[tcp]`, with the present path of each key.
const RENAMED: &[Renamed] = &[
    Renamed { old: "preset", new: "stack", words: &[("none", "plain")] },
    Renamed::key("gathering", "offload"),
    Renamed::key("least_mss", "connection.min_mss"),
    Renamed::key("slow_start_from", "cwnd.slow_start_from"),
    Renamed::key("ssthresh_from", "cwnd.ssthresh_from"),
    Renamed::key("duplicate_acks", "recovery.duplicate_acks"),
    Renamed::key("reordering", "recovery.reordering"),
    Renamed::key("reordering_max", "recovery.reordering_max"),
    Renamed::key("fast_retransmit", "recovery.fast_retransmit"),
    Renamed::key("fast_retransmit_timer", "rto.fast_retransmit"),
    Renamed::key("recovery_exit", "recovery.exit"),
    Renamed::key("delayed_ack_unit", "ack.unit"),
    Renamed::key("delayed_ack_timeout", "ack.timeout"),
    Renamed::key("gap_ack", "ack.gap"),
    Renamed::key("backoff_ends", "rto.backoff_ends"),
    Renamed::key("rto_estimator", "rto.estimator"),
    Renamed::key("rto_order", "rto.order"),
    Renamed::key("rto_initial", "rto.initial"),
    Renamed::key("rto_min", "rto.min"),
    Renamed::key("rto_max", "rto.max"),
    Renamed::key("clock_granularity", "rto.granularity"),
    Renamed::key("misbehaviour", "ecn.misbehaviour"),
    Renamed::key("ecn_fallback", "ecn.fallback"),
    Renamed::key("ecn_echo", "details.ecn_echo"),
    Renamed::key("ece_growth", "details.ece_growth"),
    Renamed::key("accecn_option", "ecn.accurate_option"),
    Renamed::key("accecn_tests", "ecn.accurate_tests"),
    Renamed::key("ect_on", "ecn.packets"),
    Renamed::key("ect1", "ecn.ect1"),
    Renamed::key("ecn_least_window", "ecn.min_window"),
    Renamed::key("ecn_at_one_segment", "ecn.at_one_segment"),
    Renamed::key("ecn_reduction_ends", "details.ecn_reduction_ends"),
    Renamed::key("ack_of_unsent", "details.ack_of_unsent"),
    Renamed::key("old_acks", "details.old_acks"),
    Renamed::key("missing_timestamp", "details.missing_timestamp"),
    Renamed::key("fin_waits", "details.fin_waits"),
    Renamed::key("window_tuning", "window.tuning"),
    Renamed::key("receive_memory", "memory.receive"),
    Renamed::key("receive_memory_max", "memory.receive_max"),
    Renamed::key("segment_memory", "memory.segment"),
    Renamed::key("window_scaling", "window.scaling"),
    Renamed::key("window_shift", "window.shift"),
    Renamed::key("dsack", "recovery.dsack"),
    Renamed::key("limited_transmit", "recovery.limited_transmit"),
    Renamed::key("initial_ssthresh", "cwnd.initial_ssthresh"),
    Renamed::key("rate_reduction", "recovery.reduction"),
    Renamed::key("prr_bound", "recovery.prr_bound"),
    Renamed::key("rack", "recovery.rack"),
    Renamed::key("rack_times", "details.rack_times"),
    Renamed::key("tail_loss_probe", "recovery.tail_loss_probe"),
    Renamed::key("tlp_max_ack_delay", "recovery.max_ack_delay"),
    Renamed::key("timer_slack", "recovery.timer_slack"),
    Renamed::key("frto", "recovery.frto"),
    Renamed::key("timeout_in_recovery", "details.timeout_in_recovery"),
    Renamed::key("sack_after_timeout", "details.sack_after_timeout"),
    Renamed::key("loss_window", "cwnd.loss_window"),
    Renamed::key("eifel", "recovery.eifel"),
    Renamed::key("spurious_response", "recovery.spurious_response"),
    Renamed::key("push", "connection.push"),
    Renamed::key("nagle", "connection.nagle"),
    Renamed::key("send_memory", "memory.send"),
    Renamed::key("send_memory_max", "memory.send_max"),
    Renamed::key("quick_ack", "ack.quick"),
    Renamed::key("push_ack", "ack.push"),
    Renamed::key("compressed_acks", "ack.compressed"),
    Renamed::key("idle_restart", "cwnd.idle_restart"),
    Renamed::key("cwnd_counts", "details.cwnd_counts"),
    Renamed::key("without_sack", "details.without_sack"),
    Renamed::key("sacked_growth", "details.sacked_growth"),
    Renamed::key("cwnd_validation", "cwnd.validation"),
    Renamed::key("flight_unit", "details.flight_unit"),
    Renamed::key("zero_window_probe", "details.zero_window_probe"),
    Renamed::key("invalid_ack_spacing", "details.invalid_ack_spacing"),
    Renamed::key("user_timeout", "connection.user_timeout"),
    Renamed::key("user_timeout_from", "connection.user_timeout_from"),
    Renamed::key("syn_losses_forgiven", "connection.syn_losses_forgiven"),
    Renamed::key("syn_retries", "connection.syn_retries"),
    Renamed::key("syn_linear_timeouts", "connection.syn_linear_timeouts"),
    Renamed::key("synack_retries", "connection.synack_retries"),
    Renamed::key("retries", "connection.retries"),
    Renamed::key("msl", "connection.msl"),
    Renamed::key("header_on_data", "wire.data_header"),
    Renamed::key("header_on_control", "wire.control_header"),
];

/// Check the relations between parameters. Return an error for the first relation that is violated.
fn check(tcp: &Tcp, path: &str) -> Result<(), Invalid> {
    if tcp.mss.0 + tcp.wire.data_header.0 > 65_535 {
        let problem =
            format!("must not exceed 65535 B together with wire.data_header ({})", tcp.wire.data_header);
        return Err(Invalid::new(&join(path, "mss"), &tcp.mss.write(), problem));
    }
    if tcp.window.tuning == WindowTuning::Linux && tcp.memory.receive.0 / 2 < tcp.mss.0 {
        return Err(Invalid::new(
            &join(path, "memory.receive"),
            &tcp.memory.receive.write(),
            format!(
                "must be at least twice the mss ({}), because the first window is half of memory.receive; raise memory.receive or lower mss",
                tcp.mss
            ),
        ));
    }
    if tcp.receive_window < tcp.mss {
        return Err(Invalid::new(
            &join(path, "receive_window"),
            &tcp.receive_window.write(),
            format!("must be at least mss ({})", tcp.mss),
        )
        .remedy("raise receive_window or lower mss"));
    }
    Ok(())
}

impl Tcp {
    /// Return true if the receiver needs the arrival times of data, for window tuning or quick
    /// ACKs.
    #[inline]
    pub fn needs_arrival_times(&self) -> bool {
        self.window.tuning != WindowTuning::Off || self.ack.quick.0 > 0.0
    }

    /// Return the ECN mode that the handshake negotiates. A congestion control may replace the ECN
    /// mode that the scenario sets.
    pub fn ecn_in_force(&self) -> Ecn {
        self.congestion.marks().ecn(self.ecn.mode)
    }

    /// Return the kinds of packets that are ECN-capable. The ECN mode `ecn++` makes all packets
    /// ECN-capable, whatever kinds the scenario selects.
    pub fn ect_in_force(&self) -> EctOn {
        if self.ecn.mode == Ecn::EcnPlusPlus { EctOn::AllPackets } else { self.ecn.packets }
    }
}

impl Default for Tcp {
    fn default() -> Self {
        Tcp::defaults()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Each key of the former flat table `[tcp]` gives an error that names the new path of the key.
    /// A parameter with the new path exists.
    #[test]
    fn former_key_gives_an_error_with_the_present_key() {
        let present = Tcp::default().write();
        assert_eq!(RENAMED.len(), 83);
        for renamed in RENAMED {
            let error = Tcp::read(&json!({ renamed.old: "1 s" }), "tcp").unwrap_err().to_string();
            let (old, new) = (renamed.old, renamed.new);
            let written = match new.split_once('.') {
                Some((table, key)) => format!("{table} = {{ {key} = \"1 s\" }}"),
                None => format!("{new} = \"1 s\""),
            };
            assert_eq!(error, format!("tcp.{old}: is now {new}; write {written}"));
            assert!(present.pointer(&format!("/{}", new.replace('.', "/"))).is_some(), "{new}");
        }
        let error = Tcp::read(&json!({"preset": "none"}), "tcp").unwrap_err().to_string();
        assert_eq!(error, "tcp.preset: is now stack; write stack = \"plain\"");
        let error = Tcp::read(&json!({"rto_min": "1 s"}), "flows.0.tcp").unwrap_err().to_string();
        assert_eq!(error, "flows.0.tcp.rto_min: is now rto.min; write rto = { min = \"1 s\" }");
    }

    /// `recovery` and `ecn` are tables. If a scenario gives a text instead of such a table, the
    /// text sets the first key of the table.
    #[test]
    fn text_in_place_of_a_table_sets_its_first_key() {
        let tcp = Tcp::read(&json!({"recovery": "newreno", "ecn": "rfc3168"}), "tcp").unwrap();
        assert_eq!((tcp.recovery.method.write(), tcp.ecn.mode), (json!("newreno"), Ecn::Rfc3168));
        assert_eq!(Tcp::KEYS.len(), 20);
    }
}
