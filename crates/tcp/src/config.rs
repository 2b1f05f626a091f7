//! The parameters of a TCP endpoint. What an older simulator or host did differently from today's
//! RFCs is a named value, never a special case in the code; the words for it are in `words.rs` of the folder that reads them, or beside
//! the law of recovery that they name.

use units::param::{Invalid, Json, join};
use units::{Bytes, Duration, Packets, Range, Read, params, words};

use crate::congestion::Algorithm;
use crate::recovery::RecoveryKind;
use crate::recovery::rack::RackTimes;
use crate::recovery::reordering::{ReorderingRules, SackedGrowth, WithoutSack};

pub use crate::ecn::words::*;
pub use crate::endpoint::words::*;
pub use crate::receiver::words::*;
pub use crate::recovery::RecoveryExit;
pub use crate::recovery::frto::FrtoKind;
pub use crate::recovery::prr::{MarkReductionEnds, PrrBound, RateReduction};
pub use crate::rto::words::*;
pub use crate::sender::words::*;
pub use crate::window::InitialWindow;

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
        /// Event that ends the back-off of the retransmission timer.
        backoff_ends: BackoffEnds = (BackoffEnds::Sample), in Range::ANY, from "rfc6298 §5.7";
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
        /// Least window that a cut for ECE leaves.
        ecn_least_window: Packets = (Packets(1.0)), in Range::between(1.0, 2.0), from "rfc3168 §6.1.2; Linux: 2";
        /// Response to an ECE that is answered when cwnd is one segment.
        ecn_at_one_segment: EcnAtOneSegment = (EcnAtOneSegment::WaitForTimer), in Range::ANY, from "rfc3168 §6.1.2; Linux: go-on";
        /// When a reduction for a mark ends, if it is in proportion.
        ecn_reduction_ends: MarkReductionEnds = (MarkReductionEnds::At), in Range::ANY, from "rfc6937 §3: as a recovery, at its recovery point; Linux: above";
        /// What becomes of a segment that acknowledges what was never sent.
        ack_of_unsent: AckOfUnsent = (AckOfUnsent::Answered), in Range::ANY, from "rfc9293 §3.10.7.4";
        /// Answer to an ACK from before SND.UNA less the largest window that was ever offered.
        old_acks: OldAcks = (OldAcks::Taken), in Range::ANY, from "rfc9293 §3.10.7.4 ignores it, rfc5961 §5.2 is a MAY there; Linux: rfc5961";
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
        /// Memory that a received segment takes, if the window is tuned.
        segment_memory: SegmentMemory = (SegmentMemory::Linear), in Range::ANY, from "Linux, truesize of an sk_buff: depends on the device";
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
        /// What is added to the timers of RACK and TLP: before what may be reordered is lost, and to two round trips before a probe
        /// when more than one segment is out.
        timer_slack: Duration = (Duration::ZERO), in Range::at_least(0.0), from "rfc8985 §6.2, §7.2: nothing; Linux, TCP_TIMEOUT_MIN_US: 2 ms";
        /// Whether a timeout is tested for being spurious (F-RTO).
        frto: FrtoKind = (FrtoKind::Off), in Range::ANY, from "rfc5682";
        /// What a timeout in the middle of a recovery does to ssthresh.
        timeout_in_recovery: TimeoutInRecovery = (TimeoutInRecovery::Cuts), in Range::ANY, from "rfc5681 §4.3";
        /// What becomes of SACK information at a timeout, without RACK.
        sack_after_timeout: SackAfterTimeout = (SackAfterTimeout::Forgotten), in Range::ANY, from "rfc2018 §8; rfc6675 §5.1; Linux: kept";
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
        /// Whether segments wait to be sent together, as for a segmentation offload (TSO); needs SACK.
        gathering: Gathering = (Gathering::None), in Range::ANY, from "rfc9293 §3.8.6.2.1: nothing waits that a window lets go; Linux, where an offload is on: linux";
        /// Limit of the data that the application has written and the other side has not acknowledged.
        send_buffer: SendBuffer = (SendBuffer::Unlimited), in Range::ANY, from "rfc9293 §3.9.1 names no limit; Linux, tcp_wmem: linux";
        /// Memory of the send buffer when a connection begins, if it is limited.
        send_memory: Bytes = (Bytes(16_384)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_wmem: 16384";
        /// Maximum of this memory.
        send_memory_max: Bytes = (Bytes(4_194_304)), in Range::between(1.0, 2_147_483_647.0), from "Linux, tcp_wmem: 4194304";
        /// ACKs that go out at once when data comes for the first time, after a pause longer than the timeout, or
        /// that had come before.
        quick_ack: Packets = (Packets(0.0)), in Range::between(0.0, 1000.0).whole(), from "rfc5681 §4.2 allows; Linux: 16";
        /// Whether a full segment with PSH is acknowledged at once when the application reads all data at once and sends none. It takes a tuned window.
        push_ack: bool = (false), in Range::ANY, from "rfc5681 §4.2 allows; Linux, tcp_measure_rcv_mss (6.6 on) and tcp_cleanup_rbuf: on";
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
