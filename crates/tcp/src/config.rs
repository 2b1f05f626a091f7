//! The parameters of a TCP endpoint. What an older simulator or host did differently from today's
//! RFCs is a named value here, never a special case in the code.

use units::param::{Invalid, join};
use units::{Bytes, Duration, Packets, Range, Read, params, words};

use crate::congestion::Algorithm;
use crate::recovery::RecoveryKind;

words! {
    /// From what ssthresh is computed when the window is cut.
    pub enum SsthreshFrom {
        /// Half the FlightSize, at least two segments; kept when a segment times out again (RFC 5681, equation 4).
        FlightSize = "flight-size",
        /// Half the smaller of cwnd and the receiver's window, in whole segments, at least two (4.3BSD-Reno, ns-2).
        Window = "window",
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
    }
}

words! {
    /// Explicit Congestion Notification.
    pub enum Ecn {
        /// Neither offered nor accepted.
        Off = "off",
        /// Offered in the SYN, accepted in the SYN-ACK, one response a window (RFC 3168 §6.1).
        Rfc3168 = "rfc3168",
    }
}

words! {
    /// Which data segments of an ECN connection are ECN-capable.
    pub enum EctOn {
        /// New data only (RFC 3168 §6.1.5 forbids it on retransmissions).
        NewData = "new-data",
        /// Retransmissions too (ns-2).
        AllData = "all-data",
    }
}

params! {
    /// A TCP endpoint. The defaults are today's RFCs without options; both ends of a flow have the
    /// same parameters unless the flow sets its receiver's apart.
    pub struct Tcp: "tcp", checked by check {
        /// Congestion control: how cwnd grows and what a cut leaves.
        congestion: Algorithm = (Algorithm::default()), in Range::ANY, from "rfc5681";
        /// Loss recovery: what duplicate ACKs do.
        recovery: RecoveryKind = (RecoveryKind::Reno), in Range::ANY, from "rfc5681 §3.2";
        /// Largest segment, payload only (SMSS).
        mss: Bytes = (Bytes(1460)), in Range::between(1.0, 65_495.0), from "rfc9293 §3.7.1: 1500 B less 40 B of headers";
        /// Advertised receive window (rwnd).
        receive_window: Bytes = (Bytes(6_291_456)), in Range::between(1.0, 1_073_725_440.0), from "Linux, tcp_rmem: at most 6 MiB; the bound is rfc7323 §2.3";
        /// Initial congestion window (IW).
        initial_window: Packets = (Packets(10.0)), in Range::between(1.0, 1000.0).whole(), from "rfc6928";
        /// Which ACK of data begins slow start.
        slow_start_from: SlowStartFrom = (SlowStartFrom::FirstAck), in Range::ANY, from "rfc5681 §3.1";
        /// From what ssthresh is computed.
        ssthresh_from: SsthreshFrom = (SsthreshFrom::FlightSize), in Range::ANY, from "rfc5681 §3.1";
        /// Duplicate ACKs that start a fast retransmit.
        duplicate_acks: Packets = (Packets(3.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 §3.2";
        /// Guard of the fast retransmit.
        fast_retransmit: FastRetransmit = (FastRetransmit::OncePerWindow), in Range::ANY, from "rfc6582 §3.2";
        /// What the ACK that ends a fast recovery does to cwnd.
        recovery_exit: RecoveryExit = (RecoveryExit::Deflate), in Range::ANY, from "rfc5681 §3.2";
        /// An ACK is sent at least for every this many full segments; 1: no ACK is delayed.
        delayed_ack: Packets = (Packets(2.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 §4.2";
        /// Longest delay of an ACK.
        delayed_ack_timeout: Duration = (Duration::from_millis(200)), in Range::above_to(0.0, 0.5), from "4.3BSD; rfc1122 §4.2.3.2: at most 0.5 s";
        /// When a segment that fills a gap is acknowledged at once.
        gap_ack: GapAck = (GapAck::Immediate), in Range::ANY, from "rfc5681 §4.2";
        /// Estimator of the retransmission timeout.
        rto_estimator: RtoEstimator = (RtoEstimator::Rfc6298), in Range::ANY, from "rfc6298 §2";
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
        /// Which data is ECN-capable.
        ect_on: EctOn = (EctOn::NewData), in Range::ANY, from "rfc3168 §6.1.5";
        /// Bytes of headers counted on the wire for a segment with data.
        header_on_data: Bytes = (Bytes(40)), in Range::between(0.0, 1000.0), from "rfc791 §3.1, rfc9293 §3.1: 20 B each, without options";
        /// Bytes counted on the wire for a segment without data.
        header_on_control: Bytes = (Bytes(40)), in Range::between(1.0, 1000.0), from "rfc791 §3.1, rfc9293 §3.1: 20 B each, without options";
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

impl Default for Tcp {
    fn default() -> Self {
        match Tcp::read(&units::param::Json::Object(Default::default()), "tcp") {
            Ok(tcp) => tcp,
            Err(e) => unreachable!("the defaults are valid: {e}"),
        }
    }
}
