//! Parameters of loss recovery.

use units::{Duration, Packets, Range, params};

use super::frto::FrtoKind;
use super::prr::{PrrBound, RateReduction};
use super::reordering::ReorderingRules;
use super::{RecoveryExit, RecoveryKind};
use crate::sender::choices::{FastRetransmit, SpuriousResponse};

params! {
    /// Loss recovery: the detection of losses, the retransmissions, and the reduction of cwnd.
    /// `recovery = "newreno"` stands for `recovery = { method = "newreno" }`.
    pub struct RecoveryParameters: "tcp.recovery", shorthand for method {
        /// Method of loss recovery: the response to duplicate ACKs.
        method: RecoveryKind = (RecoveryKind::Reno), in Range::ANY, from "rfc5681 §3.2";
        /// Number of duplicate ACKs that start a fast retransmit (DupThresh).
        duplicate_acks: Packets = (Packets(3.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 §3.2";
        /// True to send one new segment for each of the first two duplicate ACKs (limited
        /// transmit).
        limited_transmit: bool = (false), in Range::ANY, from "rfc3042";
        /// True to detect losses by the send times of segments (RACK); requires SACK.
        rack: bool = (false), in Range::ANY, from "rfc8985 §6";
        /// True to send a tail loss probe (TLP) before the retransmission timer expires; requires
        /// SACK.
        tail_loss_probe: bool = (false), in Range::ANY, from "rfc8985 §7";
        /// Course of the reduction of cwnd in a recovery with SACK: at once, or over a round trip.
        reduction: RateReduction = (RateReduction::AtOnce), in Range::ANY, from "rfc6937";
        /// Bound on the data that proportional rate reduction sends while pipe is below ssthresh.
        prr_bound: PrrBound = (PrrBound::Either), in Range::ANY, from "rfc6937 §3";
        /// Test that recognizes a spurious timeout (F-RTO).
        frto: FrtoKind = (FrtoKind::Off), in Range::ANY, from "rfc5682";
        /// True to recognize a spurious retransmission by timestamps or D-SACK.
        eifel: bool = (false), in Range::ANY, from "rfc3522; rfc3708";
        /// Response to a spurious retransmission.
        spurious_response: SpuriousResponse = (SpuriousResponse::Eifel), in Range::ANY, from "rfc4015";
        /// Response to detected reordering, with SACK.
        reordering: ReorderingRules = (ReorderingRules::Rfc8985), in Range::ANY, from "rfc8985 §6.2";
        /// Maximum number of duplicate ACKs to which reordering raises `duplicate_acks`.
        reordering_max: Packets = (Packets(300.0)), in Range::between(1.0, 65_535.0).whole(), from "Linux, tcp_max_reordering";
        /// Condition that allows a fast retransmit after an earlier recovery in the same window.
        fast_retransmit: FastRetransmit = (FastRetransmit::OncePerWindow), in Range::ANY, from "rfc6582 §3.2";
        /// Effect on cwnd of the ACK that ends a fast recovery.
        exit: RecoveryExit = (RecoveryExit::Deflate), in Range::ANY, from "rfc5681 §3.2";
        /// True to report duplicate segments in SACK blocks (D-SACK).
        dsack: bool = (true), in Range::ANY, from "rfc2883";
        /// Maximum delay of the receiver's ACKs. While a single segment is in flight, the probe
        /// timeout includes the maximum delay of the receiver's ACKs.
        max_ack_delay: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc8985 §7.2: 0 if the delay is not known";
        /// Time added to RACK's reordering timer. While more than one segment is in flight,
        /// `timer_slack` is also added to the probe timeout of two round trips.
        timer_slack: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc8985 §6.2, §7.2: no slack; Linux, TCP_TIMEOUT_MIN_US: 2 ms";
    }
}
