//! Parameters of an endpoint's connection and packets, and the details in which stacks differ.

use units::{Bytes, Duration, Range, params};

use super::choices::*;
use crate::ecn::choices::EcnEcho;
use crate::recovery::prr::MarkReductionEnds;
use crate::recovery::rack::RackTimes;
use crate::recovery::reordering::{SackedGrowth, WithoutSack};
use crate::sender::choices::*;

params! {
    /// Connection: handshake, PSH, limits on retransmissions, and closing.
    pub struct ConnectionParameters: "tcp.connection" {
        /// Minimum segment size, including options, that the endpoint accepts from the MSS option
        /// of the other side.
        min_mss: Bytes = (Bytes(1)), in Range::between(1.0, 65_495.0), from "rfc9293 §3.7.1 does not name a minimum; Linux, tcp_min_snd_mss: 48";
        /// Nagle's algorithm.
        nagle: Nagle = (Nagle::Off), in Range::ANY, from "rfc9293 §3.7.4: an application may disable Nagle's algorithm";
        /// Segments that carry PSH.
        push: Push = (Push::LastWrite), in Range::ANY, from "rfc9293 §3.9.1";
        /// Maximum number of retransmissions of a SYN.
        syn_retries: u64 = (8), in Range::between(0.0, 127.0), from "rfc9293 §3.8.3: at least 3 minutes; Linux: 6";
        /// Number of timeouts of a SYN that do not double the next timeout. The timeouts of
        /// `syn_linear_timeouts` precede the timeouts of `syn_retries`, and apply to SYNs but not
        /// to SYN-ACKs.
        syn_linear_timeouts: u64 = (0), in Range::between(0.0, 127.0), from "rfc6298 §5.5: every timeout doubles the next one; Linux since 6.5: 4";
        /// Maximum number of retransmissions of a SYN-ACK.
        synack_retries: u64 = (8), in Range::between(0.0, 254.0), from "rfc9293 §3.8.3: at least 3 minutes; Linux: 5";
        /// Maximum number of lost SYNs that do not reduce the initial window.
        syn_losses_forgiven: u64 = (0), in Range::between(0.0, 100.0), from "rfc5681 §3.1; Linux: 1";
        /// Maximum number of retransmissions of a segment by the retransmission timer.
        retries: u64 = (15), in Range::between(1.0, 1000.0), from "rfc9293 §3.8.3: at least 100 s; Linux, tcp_retries2";
        /// Time without an acknowledgement after which the endpoint aborts the connection. If the
        /// time is absent, only `retries` limits the connection.
        user_timeout: Option<Duration> = (None), in Range::above(0.0), from "rfc9293 §3.8.3 (R2), rfc5482";
        /// Event that starts the user timeout.
        user_timeout_from: UserTimeoutFrom = (UserTimeoutFrom::Progress), in Range::ANY, from "rfc5482 §1";
        /// Maximum segment lifetime (MSL). TIME-WAIT lasts twice the maximum segment lifetime. If
        /// the maximum segment lifetime is 0, the connection ends on entry to TIME-WAIT.
        msl: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc9293 §3.4.2: 2 minutes; the simulator never reuses a port";
    }
}

params! {
    /// Sizes of headers on the wire.
    pub struct WireParameters: "tcp.wire" {
        /// Header bytes of a segment with data, without options.
        data_header: Bytes = (Bytes(40)), in Range::between(0.0, 1000.0), from "rfc791 §3.1, rfc9293 §3.1: 20 B per header; options are added";
        /// Size of a segment without data, without options.
        control_header: Bytes = (Bytes(40)), in Range::between(1.0, 1000.0), from "rfc791 §3.1, rfc9293 §3.1: 20 B per header; options are added";
    }
}

params! {
    /// Details in which a real stack differs from the RFCs. `stack = "linux"` sets the keys of this
    /// table. Each key sets one detail, so that a study can change a single detail.
    pub struct DetailParameters: "tcp.details" {
        /// Response to a segment that acknowledges unsent data.
        ack_of_unsent: AckOfUnsent = (AckOfUnsent::Answered), in Range::ANY, from "rfc9293 §3.10.7.4";
        /// Response to an old ACK, whose number is below SND.UNA minus the maximum window that the
        /// other side ever offered.
        old_acks: OldAcks = (OldAcks::Taken), in Range::ANY, from "rfc9293 §3.10.7.4 ignores the ACK number and permits rfc5961 §5.2 (MAY); Linux: rfc5961";
        /// Treatment of a segment without a timestamp after timestamps were negotiated.
        missing_timestamp: MissingTimestamp = (MissingTimestamp::Refused), in Range::ANY, from "rfc7323 §3.2";
        /// Condition under which a sender with SACK sends a FIN without data.
        fin_waits: FinWaits = (FinWaits::ForCwnd), in Range::ANY, from "rfc5681 §2: cwnd limits data; in Linux a FIN does not wait";
        /// Precision with which RACK compares the times of segments.
        rack_times: RackTimes = (RackTimes::Rfc8985), in Range::ANY, from "rfc8985 §6.2";
        /// Echo of marks by the receiver.
        ecn_echo: EcnEcho = (EcnEcho::Rfc3168), in Range::ANY, from "rfc3168 §6.1.3";
        /// Growth of cwnd at an ACK with ECN-Echo, if the sender does not reduce cwnd at this ACK.
        ece_growth: EceGrowth = (EceGrowth::None), in Range::ANY, from "rfc3168 §6.1.2";
        /// Event that ends a proportional reduction of cwnd for a mark.
        ecn_reduction_ends: MarkReductionEnds = (MarkReductionEnds::At), in Range::ANY, from "rfc6937 §3: at the recovery point, as a recovery does; Linux: above";
        /// Effect on ssthresh of a timeout during a recovery.
        timeout_in_recovery: TimeoutInRecovery = (TimeoutInRecovery::Cuts), in Range::ANY, from "rfc5681 §4.3";
        /// Treatment of SACK information after a timeout, if RACK does not detect losses.
        sack_after_timeout: SackAfterTimeout = (SackAfterTimeout::Forgotten), in Range::ANY, from "rfc2018 §8; rfc6675 §5.1; Linux: kept";
        /// Effect on cwnd of an ACK that SACKs data but acknowledges no data cumulatively.
        sacked_growth: SackedGrowth = (SackedGrowth::None), in Range::ANY, from "rfc5681 §3.1";
        /// Data that counts for the growth of cwnd.
        cwnd_counts: CwndCounts = (CwndCounts::Acknowledged), in Range::ANY, from "rfc5681 §3.1; rfc3465 §2.1";
        /// Meaning of a duplicate ACK for a sender without SACK.
        without_sack: WithoutSack = (WithoutSack::Left), in Range::ANY, from "rfc5681 §3.2";
        /// Unit in which a sender with SACK counts the data in flight.
        flight_unit: FlightUnit = (FlightUnit::Bytes), in Range::ANY, from "rfc6675 §2";
        /// Form of the probe of a closed window.
        zero_window_probe: WindowProbe = (WindowProbe::Byte), in Range::ANY, from "rfc9293 §3.8.6.1";
        /// Minimum time between two ACKs that answer invalid segments. A segment is invalid if it
        /// has no data and lies outside the window, or if it is an RST or SYN inside the window. If
        /// the minimum time is 0, the endpoint answers each invalid segment.
        invalid_ack_spacing: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc9293 §3.10.7.4 answers each segment, rfc5961 §7 allows a limit; Linux, tcp_invalid_ratelimit: 0.5 s";
    }
}
