//! The parameters of a TCP endpoint. What an older simulator or host did differently from today's
//! RFCs is a named value here, never a special case in the code.

use units::param::{Invalid, Json, join};
use units::{Bytes, Duration, Packets, Range, Read, params, words};

use crate::congestion::Algorithm;
use crate::recovery::RecoveryKind;
use crate::recovery::rack::RackTimes;
use crate::recovery::reordering::{ReorderingRules, SackedGrowth, WithoutSack};
use crate::sender::push::Push;

words! {
    /// What is counted against the delay of ACKs.
    pub enum DelayedAckUnit {
        /// Segments with data.
        Segments = "segments",
        /// Bytes, in units of the largest segment received (Linux: RFC 5681 §4.2 speaks of full-sized segments).
        FullSegments = "full-segments",
    }
}

words! {
    /// Sets of parameters under a name.
    pub enum Preset {
        /// The defaults.
        None = "none",
        /// What the RFCs ask of every host, and no option.
        Rfc = "rfc",
        /// Linux 6 as it comes: SACK, timestamps, window scaling, CUBIC, PRR, RACK-TLP, 40 ms delayed ACK, 200 ms least timeout.
        Linux = "linux",
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

/// The initial window: so many segments, or by RFC 3390.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialWindow {
    /// So many segments.
    Segments(Packets),
    /// min(4 SMSS, max(2 SMSS, 4380 bytes)).
    Rfc3390,
}

impl InitialWindow {
    /// In bytes.
    pub fn bytes(self, smss: f64) -> f64 {
        match self {
            InitialWindow::Segments(n) => n.0 * smss,
            InitialWindow::Rfc3390 => (4.0 * smss).min((2.0 * smss).max(4380.0)), // equation 1
        }
    }
}

impl Read for InitialWindow {
    const EXAMPLE: &'static str = Packets::EXAMPLE;
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.as_str() == Some("rfc3390") {
            return Ok(InitialWindow::Rfc3390);
        }
        Packets::read(value, path).map(InitialWindow::Segments)
    }
    fn write(&self) -> Json {
        match self {
            InitialWindow::Segments(n) => n.write(),
            InitialWindow::Rfc3390 => "rfc3390".into(),
        }
    }
    fn number(&self) -> Option<f64> {
        match self {
            InitialWindow::Segments(n) => n.number(),
            InitialWindow::Rfc3390 => None,
        }
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [Packets::schema(), {"const": "rfc3390"}]})
    }
}

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
    /// What an ACK of new data does first.
    pub enum RtoOrder {
        /// It takes the round trip that it measures, then restarts the timer, with the timeout that follows (RFC 6298).
        SampleFirst = "sample-first",
        /// It restarts the timer with the timeout as it was, back-off included, then takes its sample (ns-2 without `timerfix_`).
        RestartFirst = "restart-first",
    }
}

words! {
    /// What the ACK that ends a fast recovery does to cwnd.
    pub enum RecoveryExit {
        /// Sets it to ssthresh (RFC 5681 §3.2, step 6).
        Deflate = "deflate",
        /// Sets it to ssthresh and opens it as any ACK of new data does (4.3BSD-Reno, ns-2).
        DeflateAndOpen = "deflate-and-open",
    }
}

words! {
    /// When a segment that fills a gap is acknowledged at once.
    pub enum GapAck {
        /// When it fills all or part of a gap (RFC 5681 §4.2).
        Immediate = "immediate",
        /// Only when it releases data that waited behind the gap; a partial fill may be delayed (ns-2).
        WhenReleased = "when-released",
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
    /// How round-trip times become a retransmission timeout.
    pub enum RtoEstimator {
        /// SRTT and RTTVAR in full precision (RFC 6298).
        Rfc6298 = "rfc6298",
        /// Integer arithmetic in clock ticks (Jacobson 1988, appendix A), as in 4.3BSD and ns-2.
        Jacobson1988 = "jacobson1988",
        /// As Linux computes it: the deviation is the greatest of a round trip, falls slowly, and is itself no less than rto_min.
        Linux = "linux",
    }
}

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
        /// ECN+, and a marked SYN-ACK is answered by waiting a round trip before any data (RFC 5562 §4, Wait).
        EcnPlusWait = "ecn+wait",
        /// ECN+, and a marked SYN-ACK is sent again, not ECN-capable (RFC 5562 §3.2, TryOnce).
        EcnPlusTryOnce = "ecn+try-once",
        /// RFC 3168, and all packets are ECN-capable that may be with it (ECN++, draft-generalized-ecn): `rfc3168` with `ect_on = "all-packets"`. ECN++ with Accurate ECN is `accurate` with that.
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
    /// How a receiver echoes marks.
    pub enum EcnEcho {
        /// An ACK carries ECN-Echo if any of the data that it acknowledges was marked, and so do all after it until CWR comes (RFC 3168 §6.1.3).
        Rfc3168 = "rfc3168",
        /// CWR ends the echo at once, also of a mark that is not acknowledged yet; CWR and the first mark are acknowledged at once (Linux, tcp_ecn_accept_cwr, tcp_ecn_check_ce).
        Linux = "linux",
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
    /// The window field of segments.
    pub enum WindowScaling {
        /// Windows are carried in full, whatever the field could hold.
        Full = "full",
        /// Offered in the SYN (RFC 7323 §2).
        On = "on",
        /// Sixteen bits.
        Off = "off",
    }
}

words! {
    /// How the window comes down when it is cut.
    pub enum RateReduction {
        /// At once to ssthresh (RFC 5681, RFC 6675).
        AtOnce = "halve",
        /// Over a round trip, in proportion to what is delivered (RFC 6937).
        Prr = "prr",
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
    /// Tests of a timeout.
    pub enum FrtoKind {
        /// None.
        Off = "off",
        /// By the next two ACKs (RFC 5682 §2).
        Basic = "basic",
        /// By SACK too, where there is SACK (RFC 5682 §3).
        Sack = "sack",
        /// As by SACK, and whatever arrives that was sent before the timeout, and only then, ends the test at once (Linux).
        Original = "original",
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
    /// What becomes of a segment that acknowledges what was never sent.
    pub enum AckOfUnsent {
        /// It is answered by an ACK and dropped (RFC 9293 §3.10.7.4, fifth check).
        Answered = "answered",
        /// It is dropped (Linux, tcp_ack).
        Dropped = "dropped",
    }
}

words! {
    /// What becomes of a segment without a timestamp where timestamps were agreed on.
    pub enum MissingTimestamp {
        /// It is dropped (RFC 7323 §3.2).
        Refused = "refused",
        /// It is taken as it is (Linux, tcp_validate_incoming).
        Accepted = "accepted",
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
    /// How the receive window is found.
    pub enum WindowTuning {
        /// It is `receive_window` from the beginning.
        Off = "off",
        /// It grows with the data that arrives and is read, from half of `receive_memory` on (Linux, tcp_moderate_rcvbuf); segments are acknowledged
        /// at once while it grows.
        Linux = "linux",
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
    /// cwnd after a timeout.
    pub enum LossWindow {
        /// One segment (RFC 5681 §3.1).
        Segment = "segment",
        /// One segment more than is in flight: RACK does not deem lost what was sent within the last round trip (Linux).
        FlightAndSegment = "flight-and-segment",
    }
}

words! {
    /// Bounds of what proportional rate reduction sends below ssthresh.
    pub enum PrrBound {
        /// Conservative: what was delivered (RFC 6937 §3, CRB).
        Crb = "crb",
        /// As slow start: one segment more (SSRB).
        Ssrb = "ssrb",
        /// SSRB while the ACK advances and finds no further loss, else CRB (Linux; RFC 9937).
        Either = "either",
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
    /// What counts where cwnd grows.
    pub enum CwndCounts {
        /// Bytes newly acknowledged by the acknowledgement number (RFC 5681 §3.1, RFC 3465 §2.1).
        Acknowledged = "acknowledged",
        /// Bytes newly delivered, SACKed ones at once (Linux).
        Delivered = "delivered",
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
    /// From when the user timeout counts.
    pub enum UserTimeoutFrom {
        /// From when something was last acknowledged, or sent when nothing was out (RFC 5482 §1).
        Progress = "progress",
        /// From when it was first sent again (Linux).
        FirstRetransmission = "first-retransmission",
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
    /// In what the data in flight is counted under SACK.
    pub enum FlightUnit {
        /// Bytes (RFC 6675).
        Bytes = "bytes",
        /// Segments, each as one SMSS, as Linux counts them.
        Segments = "segments",
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

params! {
    /// A TCP endpoint. The defaults are today's RFCs without options; both ends of a flow have the
    /// same parameters unless the flow sets its receiver's apart.
    pub struct Tcp: "tcp", checked by check {
        /// Parameters to begin with; other keys change them.
        preset: Preset = (Preset::None), in Range::ANY, from "";
        /// Congestion control: how cwnd grows and what a cut leaves.
        congestion: Algorithm = (Algorithm::default()), in Range::ANY, from "rfc5681";
        /// Loss recovery: what duplicate ACKs do.
        recovery: RecoveryKind = (RecoveryKind::Reno), in Range::ANY, from "rfc5681 §3.2";
        /// Largest segment, payload only (SMSS).
        mss: Bytes = (Bytes(1460)), in Range::between(1.0, 65_495.0), from "rfc9293 §3.7.1: 1500 B less 40 B of headers";
        /// Least segment size that the other side's MSS may ask for, options included.
        least_mss: Bytes = (Bytes(1)), in Range::between(1.0, 65_495.0), from "rfc9293 §3.7.1 names none; Linux, tcp_min_snd_mss: 48";
        /// Advertised receive window (rwnd).
        receive_window: Bytes = (Bytes(6_291_456)), in Range::between(1.0, 1_073_725_440.0), from "Linux, tcp_rmem: at most 6 MiB; the bound is rfc7323 §2.3";
        /// Initial congestion window (IW).
        initial_window: InitialWindow = (InitialWindow::Segments(Packets(10.0))), in Range::between(1.0, 1000.0).whole(), from "rfc6928; or \"rfc3390\"";
        /// Which ACK of data begins slow start.
        slow_start_from: SlowStartFrom = (SlowStartFrom::FirstAck), in Range::ANY, from "rfc5681 §3.1";
        /// From what ssthresh is computed.
        ssthresh_from: SsthreshFrom = (SsthreshFrom::FlightSize), in Range::ANY, from "rfc5681 §3.1";
        /// Duplicate ACKs that start a fast retransmit.
        duplicate_acks: Packets = (Packets(3.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 §3.2";
        /// What reordering that was seen changes, with SACK.
        reordering: ReorderingRules = (ReorderingRules::Rfc8985), in Range::ANY, from "rfc8985 §6.2";
        /// The most segments that `duplicate_acks` becomes by reordering.
        reordering_max: Packets = (Packets(300.0)), in Range::between(1.0, 65_535.0).whole(), from "Linux, tcp_max_reordering";
        /// Guard of the fast retransmit.
        fast_retransmit: FastRetransmit = (FastRetransmit::OncePerWindow), in Range::ANY, from "rfc6582 §3.2";
        /// What the retransmissions of a recovery do to the retransmission timer.
        fast_retransmit_timer: FastRetransmitTimer = (FastRetransmitTimer::Restarts), in Range::ANY, from "4.3BSD-Reno; rfc6298 §5.1 lets it run on; rfc6675 §6";
        /// What the ACK that ends a fast recovery does to cwnd.
        recovery_exit: RecoveryExit = (RecoveryExit::Deflate), in Range::ANY, from "rfc5681 §3.2";
        /// An ACK is sent at least for every this many full segments; 1: no ACK is delayed.
        delayed_ack: Packets = (Packets(2.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 §4.2";
        /// What is counted against it.
        delayed_ack_unit: DelayedAckUnit = (DelayedAckUnit::Segments), in Range::ANY, from "4.3BSD; rfc5681 §4.2";
        /// Longest delay of an ACK.
        delayed_ack_timeout: Duration = (Duration::from_millis(200)), in Range::above_to(0.0, 0.5), from "4.3BSD; rfc1122 §4.2.3.2: at most 0.5 s";
        /// When a segment that fills a gap is acknowledged at once.
        gap_ack: GapAck = (GapAck::Immediate), in Range::ANY, from "rfc5681 §4.2";
        /// Estimator of the retransmission timeout.
        rto_estimator: RtoEstimator = (RtoEstimator::Rfc6298), in Range::ANY, from "rfc6298 §2";
        /// Whether an ACK of new data restarts the timer before or after it takes its round trip.
        rto_order: RtoOrder = (RtoOrder::SampleFirst), in Range::ANY, from "rfc6298 §5.3";
        /// Timeout before the first round-trip time is measured.
        rto_initial: Duration = (Duration::from_millis(1000)), in Range::above(0.0), from "rfc6298 §2.1";
        /// Least timeout.
        rto_min: Duration = (Duration::from_millis(1000)), in Range::above(0.0), from "rfc6298 §2.4";
        /// Greatest timeout, backed off or not.
        rto_max: Duration = (Duration::from_millis(60_000)), in Range::above(0.0), from "rfc6298 §2.5";
        /// Granularity of the clock (G): a tick.
        clock_granularity: Duration = (Duration::from_millis(1)), in Range::above(0.0), from "rfc6298 §4: finer than 100 ms does better";
        /// Explicit Congestion Notification.
        ecn: Ecn = (Ecn::Off), in Range::ANY, from "rfc3168";
        /// What this host does wrong with ECN.
        misbehaviour: Misbehaviour = (Misbehaviour::None), in Range::ANY, from "rfc3540 §1; rfc3168 §18";
        /// Whether a SYN that offers ECN and gets no answer is sent again without; with Accurate ECN the second time, and so a SYN-ACK.
        /// Where queues drop, not paths, it makes connections Not-ECT for life.
        ecn_fallback: bool = (false), in Range::ANY, from "rfc3168 §6.1.1.1 and rfc9768 §3.1.4, §3.2.3.2.2 allow it; Linux: on";
        /// How marks are echoed.
        ecn_echo: EcnEcho = (EcnEcho::Rfc3168), in Range::ANY, from "rfc3168 §6.1.3";
        /// What an ACK with ECN-Echo does to cwnd that cuts nothing.
        ece_growth: EceGrowth = (EceGrowth::None), in Range::ANY, from "rfc3168 §6.1.2";
        /// Whether Accurate ECN sends its option beside the header field.
        accecn_option: bool = (true), in Range::ANY, from "rfc9768 §3.2.3";
        /// What Accurate ECN looks for on the path.
        accecn_tests: AccEcnTests = (AccEcnTests::Handshake), in Range::ANY, from "rfc9768 §3.2.2.3, §3.2.2.4, §3.2.3.2.4";
        /// Which packets are ECN-capable.
        ect_on: EctOn = (EctOn::NewData), in Range::ANY, from "rfc3168 §6.1.5";
        /// Whether ECN-capable packets carry ECT(1), as L4S demands, instead of ECT(0).
        ect1: bool = (false), in Range::ANY, from "rfc9331 §4.1";
        /// Least window that a cut for ECE leaves; when it is one segment, the next ECE makes the sender wait for its timer.
        ecn_least_window: Packets = (Packets(1.0)), in Range::between(1.0, 2.0), from "rfc3168 §6.1.2; Linux: 2";
        /// What becomes of a segment that acknowledges what was never sent.
        ack_of_unsent: AckOfUnsent = (AckOfUnsent::Answered), in Range::ANY, from "rfc9293 §3.10.7.4";
        /// What becomes of a segment without a timestamp where timestamps were agreed on.
        missing_timestamp: MissingTimestamp = (MissingTimestamp::Refused), in Range::ANY, from "rfc7323 §3.2";
        /// Whether a FIN without data waits for room in cwnd, with SACK.
        fin_waits: FinWaits = (FinWaits::ForCwnd), in Range::ANY, from "rfc5681 §2: cwnd limits data; Linux: no";
        /// How the receive window is found.
        window_tuning: WindowTuning = (WindowTuning::Off), in Range::ANY, from "Linux, tcp_moderate_rcvbuf: on";
        /// Memory for received data when a connection begins, if the window is tuned.
        receive_memory: Bytes = (Bytes(131_072)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_rmem: 131072";
        /// The most that it becomes.
        receive_memory_max: Bytes = (Bytes(6_291_456)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_rmem: 6291456";
        /// Window scaling.
        window_scaling: WindowScaling = (WindowScaling::Full), in Range::ANY, from "rfc7323 §2";
        /// Shift of the windows that are advertised; absent: the least that the receive window needs.
        window_shift: Option<u64> = (None), in Range::between(0.0, 14.0), from "rfc7323 §2.3";
        /// Whether timestamps are offered.
        timestamps: bool = (false), in Range::ANY, from "rfc7323 §3";
        /// Whether SACK is offered.
        sack: bool = (false), in Range::ANY, from "rfc2018";
        /// Whether duplicates are reported in SACK blocks (D-SACK).
        dsack: bool = (true), in Range::ANY, from "rfc2883";
        /// Whether the first duplicate ACKs each let a new segment go.
        limited_transmit: bool = (false), in Range::ANY, from "rfc3042";
        /// Slow start threshold at the beginning; absent: as high as can be.
        initial_ssthresh: Option<Packets> = (None), in Range::at_least(1.0), from "rfc5681 §3.1: arbitrarily high";
        /// How the window comes down in SACK recovery.
        rate_reduction: RateReduction = (RateReduction::AtOnce), in Range::ANY, from "rfc6937";
        /// What proportional rate reduction may send below ssthresh.
        prr_bound: PrrBound = (PrrBound::Either), in Range::ANY, from "rfc6937 §3";
        /// Whether losses are found by time (RACK); needs SACK.
        rack: bool = (false), in Range::ANY, from "rfc8985 §6";
        /// How RACK takes the times of segments.
        rack_times: RackTimes = (RackTimes::Rfc8985), in Range::ANY, from "rfc8985 §6.2";
        /// Whether a tail loss is probed for; needs SACK.
        tail_loss_probe: bool = (false), in Range::ANY, from "rfc8985 §7";
        /// Longest delay of the other side's ACKs that the probe allows for when one segment is out.
        tlp_max_ack_delay: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc8985 §7.2: 0 if it is not known";
        /// What is added to two round trips before a probe when more than one segment is out.
        tlp_slack: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc8985 §7.2: nothing; Linux: 2 ms";
        /// Whether a timeout is tested for being spurious (F-RTO).
        frto: FrtoKind = (FrtoKind::Off), in Range::ANY, from "rfc5682";
        /// What a timeout in the middle of a recovery does to ssthresh.
        timeout_in_recovery: TimeoutInRecovery = (TimeoutInRecovery::Cuts), in Range::ANY, from "rfc5681 §4.3";
        /// cwnd after a timeout, with SACK.
        loss_window: LossWindow = (LossWindow::Segment), in Range::ANY, from "rfc5681 §3.1: LW";
        /// Whether a spurious retransmission is found by timestamps, or D-SACK.
        eifel: bool = (false), in Range::ANY, from "rfc3522; rfc3708";
        /// What a spurious retransmission is answered with.
        spurious_response: SpuriousResponse = (SpuriousResponse::Eifel), in Range::ANY, from "rfc4015";
        /// Which segments have PSH.
        push: Push = (Push::LastWrite), in Range::ANY, from "rfc9293 §3.9.1";
        /// Nagle's algorithm.
        nagle: Nagle = (Nagle::Off), in Range::ANY, from "rfc9293 §3.7.4: an application may turn it off";
        /// ACKs that go out at once when data comes for the first time, after a pause longer than the timeout, or
        /// that had come before.
        quick_ack: Packets = (Packets(0.0)), in Range::between(0.0, 1000.0).whole(), from "rfc5681 §4.2 allows; Linux: 16";
        /// Most ACKs of data behind a gap that are held back together, after the first three, for a twentieth of a round trip or a
        /// millisecond, whichever is shorter; 0: each goes out at once. It takes a tuned window, which measures the round trip.
        compressed_acks: Packets = (Packets(0.0)), in Range::between(0.0, 255.0).whole(), from "rfc5681 §4.2: at once; Linux, tcp_comp_sack_nr: 44";
        /// What an idle time longer than the timeout does to cwnd.
        idle_restart: IdleRestart = (IdleRestart::Off), in Range::ANY, from "rfc5681 §4.1";
        /// What counts where cwnd grows.
        cwnd_counts: CwndCounts = (CwndCounts::Acknowledged), in Range::ANY, from "rfc5681 §3.1; rfc3465 §2.1";
        /// What a duplicate ACK tells of without SACK.
        without_sack: WithoutSack = (WithoutSack::Left), in Range::ANY, from "rfc5681 §3.2";
        /// Whether what is SACKed opens cwnd at once.
        sacked_growth: SackedGrowth = (SackedGrowth::None), in Range::ANY, from "rfc5681 §3.1";
        /// When cwnd may grow.
        cwnd_validation: CwndValidation = (CwndValidation::None), in Range::ANY, from "rfc5681 §3.1 asks for none";
        /// Units of the data in flight under SACK.
        flight_unit: FlightUnit = (FlightUnit::Bytes), in Range::ANY, from "rfc6675 §2";
        /// Probe of a closed window.
        zero_window_probe: WindowProbe = (WindowProbe::Byte), in Range::ANY, from "rfc9293 §3.8.6.1";
        /// Least time between ACKs that answer segments without data from outside of the window, or RSTs and SYNs inside; 0: each
        /// is answered.
        invalid_ack_spacing: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc9293 §3.10.7.4 answers each, rfc5961 §7 allows a limit; Linux, tcp_invalid_ratelimit: 0.5 s";
        /// How long data may go unacknowledged before the connection is given up; absent: see retries.
        user_timeout: Option<Duration> = (None), in Range::above(0.0), from "rfc9293 §3.8.3 (R2), rfc5482";
        /// From when it counts.
        user_timeout_from: UserTimeoutFrom = (UserTimeoutFrom::Progress), in Range::ANY, from "rfc5482 §1";
        /// Lost SYNs after which the initial window is still whole.
        syn_losses_forgiven: u64 = (0), in Range::between(0.0, 100.0), from "rfc5681 §3.1; Linux: 1";
        /// Times a SYN is sent again before giving up.
        syn_retries: u64 = (8), in Range::between(0.0, 127.0), from "rfc9293 §3.8.3: at least 3 minutes; Linux: 6";
        /// Timeouts of a SYN (not of a SYN-ACK) that do not double the next one; they come before those of syn_retries.
        syn_linear_timeouts: u64 = (0), in Range::between(0.0, 127.0), from "rfc6298 §5.5: every one doubles; Linux 6.5 on: 4";
        /// Times a SYN-ACK is sent again before giving up.
        synack_retries: u64 = (8), in Range::between(0.0, 254.0), from "rfc9293 §3.8.3: at least 3 minutes; Linux: 5";
        /// Times a segment is sent again by the timer before giving up.
        retries: u64 = (15), in Range::between(1.0, 1000.0), from "rfc9293 §3.8.3: at least 100 s; Linux, tcp_retries2";
        /// Maximum segment lifetime (MSL): TIME-WAIT lasts twice as long; 0: it ends at once.
        msl: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc9293 §3.4.2: 2 minutes; no port is used again here";
        /// Bytes of headers counted on the wire for a segment with data.
        header_on_data: Bytes = (Bytes(40)), in Range::between(0.0, 1000.0), from "rfc791 §3.1, rfc9293 §3.1: 20 B each; options are added";
        /// Bytes counted on the wire for a segment without data.
        header_on_control: Bytes = (Bytes(40)), in Range::between(1.0, 1000.0), from "rfc791 §3.1, rfc9293 §3.1: 20 B each; options are added";
    }
}

fn check(tcp: &Tcp, path: &str) -> Result<(), Invalid> {
    if tcp.rto_min > tcp.rto_max {
        return Err(Invalid::new(
            &join(path, "rto_min"),
            &tcp.rto_min.write(),
            format!("must not exceed rto_max ({})", tcp.rto_max),
        ));
    }
    if tcp.mss.0 + tcp.header_on_data.0 > 65_535 {
        let problem = format!("and header_on_data ({}) must not exceed 65535 B together", tcp.header_on_data);
        return Err(Invalid::new(&join(path, "mss"), &tcp.mss.write(), problem));
    }
    if tcp.window_tuning == WindowTuning::Linux && tcp.receive_memory.0 / 2 < tcp.mss.0 {
        return Err(Invalid::new(
            &join(path, "receive_memory"),
            &tcp.receive_memory.write(),
            format!("must be twice the mss at least ({}), as half of it is the first window", tcp.mss),
        ));
    }
    if tcp.receive_window < tcp.mss {
        return Err(Invalid::new(
            &join(path, "receive_window"),
            &tcp.receive_window.write(),
            format!("must be at least mss ({})", tcp.mss),
        )
        .remedy("raise the window or lower mss"));
    }
    Ok(())
}

impl Tcp {
    /// Whether when data arrives says more than what it brings.
    #[inline]
    pub fn watches_arrivals(&self) -> bool {
        self.window_tuning != WindowTuning::Off || self.quick_ack.0 > 0.0
    }

    /// ECN as the congestion control has it: one may bring its own.
    pub fn ecn_in_force(&self) -> Ecn {
        self.congestion.marks().ecn(self.ecn)
    }

    /// Which packets are ECN-capable: a kind of ECN may say so.
    pub fn ect_in_force(&self) -> EctOn {
        if self.ecn == Ecn::EcnPlusPlus { EctOn::AllPackets } else { self.ect_on }
    }
}

impl Default for Tcp {
    fn default() -> Self {
        match Tcp::read(&Json::Object(Default::default()), "tcp") {
            Ok(tcp) => tcp,
            Err(e) => unreachable!("the defaults are valid: {e}"),
        }
    }
}
