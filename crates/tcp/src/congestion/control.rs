//! What a congestion control is told and may answer ([`CongestionControl`]), and what it says of its kind, so that nothing else knows it
//! by name ([`Control`]).

use serde_json::json;
use units::param::{Json, JsonMap};
use units::{Duration, Params, Rate, Read, Time};

use crate::congestion::growth::Growth;
use crate::ecn::choices::Ecn;
use crate::window::Window;

/// What told the sender of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A loss found by duplicate ACKs, SACK or RACK.
    FastRetransmit,
    /// An ECN-Echo, at most once a window.
    Ecn,
    /// The retransmission timer; `again`: of a segment it had already retransmitted.
    Timeout {
        /// Whether the timer had expired for this segment before.
        again: bool,
    },
}

impl Congestion {
    /// The same, were it the first for its segment.
    pub fn first(self) -> Self {
        match self {
            Congestion::Timeout { .. } => Congestion::Timeout { again: false },
            other => other,
        }
    }
}

/// How fast data was delivered between the sending of a segment and its acknowledgement
/// (draft-ietf-ccwg-bbr §4.1, delivery rate sampling).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered in the interval.
    pub delivered: u64,
    /// The longer of the sending and the acknowledging interval.
    pub interval: Duration,
    /// Whether the application had nothing more to send when the segment went out.
    pub app_limited: bool,
    /// Total bytes delivered when the segment went out.
    pub prior_delivered: u64,
    /// Bytes newly found lost since the last ACK.
    pub lost: u64,
}

/// What an ACK told the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Bytes of data newly acknowledged by its acknowledgement number.
    pub acked: u32,
    /// Bytes newly delivered: acknowledged or SACKed for the first time.
    pub delivered: u32,
    /// Bytes that count where cwnd grows: those acknowledged (RFC 5681 §3.1, RFC 3465 §2.1), or those delivered where the
    /// parameters say so (Linux).
    pub counted: u32,
    /// Of those, the bytes that the receiver reported as marked CE (DCTCP: `delivered` if ECE is set;
    /// Accurate ECN: from its counters).
    pub marked: u32,
    /// Total bytes delivered so far, this ACK included.
    pub total_delivered: u64,
    /// Round trip of what was sent last of all that this ACK delivers and that was sent once; none if it delivers nothing such.
    pub rtt: Option<Duration>,
    /// Smoothed round trip (SRTT); zero before the first sample.
    pub srtt: Duration,
    /// Least round trip of the connection; [`Duration`] `u64::MAX` before the first sample.
    pub min_rtt: Duration,
    /// Whether a round trip has gone by: the ACK covers something sent after the last round began.
    pub round: bool,
    /// Whether cwnd, and not the application or the receiver, limited what was in flight.
    pub cwnd_limited: bool,
    /// Whether loss recovery is under way.
    pub in_recovery: bool,
    /// Delivery rate, if it could be sampled.
    pub rate: Option<RateSample>,
    /// How long the pace still holds the next segment.
    pub held_for: Duration,
}

/// Minimum number of segments of a super-packet (Linux, tcp_min_tso_segs).
pub const MIN_SUPER_PACKET: u32 = 2;

/// A congestion controller. Numbers are bytes, as `f64`.
pub trait CongestionControl {
    /// cwnd after an ACK. Called for every ACK that delivers something outside of loss recovery, and
    /// for every one at all if the controller [`rules_recovery`](Self::rules_recovery).
    fn cwnd_on_ack(&mut self, window: &Window, ack: &Ack) -> f64;
    /// An ACK says that so many of the bytes it delivers were marked, and the window is cut for that next;
    /// [`observe`](Self::observe) sees the same ACK afterwards. `round`: as in [`Ack`].
    fn before_cut(&mut self, _delivered: u32, _marked: u32, _round: bool) {}
    /// ssthresh after congestion; where there is none, it stays. The sender keeps it above two segments (RFC 5681, equation
    /// 4), and cwnd after a mark above its own least (RFC 3168 §6.1.2).
    fn ssthresh_on(&mut self, window: &Window, _congestion: Congestion, _now: Time) -> f64 {
        window.ssthresh
    }
    /// cwnd right after congestion, where it is not the new ssthresh (or one segment after a timeout).
    fn cwnd_on(&mut self, _window: &Window, _congestion: Congestion, _now: Time) -> Option<f64> {
        None
    }
    /// Every ACK, in recovery or not, before cwnd is computed: for what is measured all the time
    /// (DCTCP's α, delay, delivery rate).
    fn observe(&mut self, _window: &Window, _ack: &Ack) {}
    /// ssthresh after an ACK, whether or not cwnd was computed for it (`window` has it if so), where it ended slow start without
    /// congestion (HyStart, Vegas).
    fn ssthresh_on_ack(&mut self, _window: &Window) -> Option<f64> {
        None
    }
    /// All that an ACK changes: cwnd, if it `opens` the window or the controller [`rules_recovery`](Self::rules_recovery), and ssthresh.
    fn on_ack(&mut self, window: &Window, ack: &Ack, opens: bool) -> (f64, Option<f64>) {
        self.observe(window, ack);
        let cwnd = match opens || self.rules_recovery() {
            true => self.cwnd_on_ack(window, ack).max(window.smss),
            false => window.cwnd,
        };
        (cwnd, self.ssthresh_on_ack(&Window { cwnd, ..*window }))
    }
    /// The congestion that was last reported was none (Eifel, D-SACK, F-RTO): take back what it changed.
    fn undo(&mut self, _window: &Window) {}
    /// Data is sent again after the connection was idle for `idle`.
    fn on_restart(&mut self, _now: Time, _idle: Duration) {}
    /// Whether it ever spaces segments: only then is it asked for its [`pacing_rate`](Self::pacing_rate).
    fn paces(&self) -> bool {
        false
    }
    /// The rate at which segments are spaced; `None`: as fast as the window allows.
    fn pacing_rate(&self, _window: &Window, _srtt: Duration) -> Option<Rate> {
        None
    }
    /// Whether a mark is answered now; `again`: nothing of what it tells of was in flight when the last was answered, so that RFC 3168
    /// §6.1.2 asks for it.
    fn answers_mark(&self, _now: Time, again: bool) -> bool {
        again
    }
    /// Whether it answers marks by their share, as a scalable control does (RFC 9331 §4.3): a cut for marks takes effect at once
    /// and to the byte, cwnd goes on growing after it, and ACKs that report marks open it too, by what was not marked.
    fn is_scalable(&self) -> bool {
        false
    }
    /// Whether cwnd follows this controller alone, in loss recovery and after idleness too (BBR).
    fn rules_recovery(&self) -> bool {
        false
    }
    /// Return true if the controller needs round-trip times, marks and delivered bytes. A sender
    /// without SACK measures them only then, or if another feature needs them.
    fn needs_measurements(&self) -> bool {
        true
    }
    /// Return true if the controller needs delivery rate samples.
    fn needs_delivery_rate(&self) -> bool {
        false
    }
    /// Return the growth of cwnd, if an ACK outside recovery changes nothing else in the controller.
    /// If that growth does not measure, the sender passes it the counted bytes instead of an [`Ack`].
    /// Only the control whose state is not in a box may return a growth, because senders call this
    /// function for every ACK and one comparison must suffice.
    fn byte_growth(&mut self) -> Option<&mut Growth> {
        None
    }
    /// Return the number of congestion windows that an automatically sized send buffer has memory for
    /// (Linux, tcp_sndbuf_expand).
    fn send_buffer_windows(&self) -> u64 {
        2
    }
    /// Return the minimum number of segments of a super-packet that is paced at `rate`.
    fn min_super_packet(&self, _rate: Rate) -> u32 {
        MIN_SUPER_PACKET
    }
}

/// The parameters of a congestion control, and what follows from its kind alone.
pub trait Control: Params {
    /// Its state in a connection.
    type State: CongestionControl;
    /// What marks are to it.
    const MARKS: Marks = Marks::AsLosses;
    /// What it presumes of loss recovery.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::None;
    /// Whether it has the slow start of RFC 5681 or one that takes its place.
    const HAS_SLOW_START: bool = true;

    /// Its state before the first ACK, with the window as it is then.
    fn begin(&self, window: &Window) -> Self::State;

    /// What Linux changes of its defaults: the parameters that the stack `linux` lays under it.
    fn in_linux() -> Json {
        json!({})
    }
}

/// What marks are to a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Nothing: it does not answer them.
    Unanswered,
    /// One a round trip is answered, much as a loss is (RFC 3168 §6.1.2).
    AsLosses,
    /// Their share is answered, as the echo of RFC 8257 tells it.
    ByShare,
    /// Their share is answered, as L4S demands: by Accurate ECN, with packets that say so (RFC 9331 §4.1, §4.2).
    L4s,
}

impl Marks {
    /// The ECN that is agreed on where this much is asked for. A sender that does not answer marks agrees on none: an
    /// ECN-capable one must (RFC 3168 §6.1.2).
    pub fn ecn(self, asked: Ecn) -> Ecn {
        match (self, asked) {
            (Marks::Unanswered, _) => Ecn::Off,
            (Marks::ByShare, Ecn::Off | Ecn::Passive | Ecn::Rfc3168 | Ecn::EcnPlusPlus) => Ecn::Dctcp,
            (Marks::L4s, Ecn::Off | Ecn::Passive) => Ecn::Accurate,
            _ => asked,
        }
    }
}

/// Keys of loss recovery that a congestion control sets where the scenario does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpliedRecovery {
    /// None: the keys of loss recovery do not change.
    None,
    /// Loss recovery by SACK.
    Sack,
    /// Loss recovery by SACK, RACK's loss detection, and the tail loss probe.
    SackRack,
    /// As `SackRack`, with Proportional Rate Reduction (PRR).
    SackRackPrr,
}

impl ImpliedRecovery {
    /// As parameters of the endpoint.
    pub fn parameters(self) -> Json {
        match self {
            ImpliedRecovery::None => json!({}),
            ImpliedRecovery::Sack => json!({"sack": true, "recovery": {"method": "sack"}}),
            ImpliedRecovery::SackRack => json!({
                "sack": true,
                "recovery": {"method": "sack", "rack": true, "tail_loss_probe": true},
            }),
            ImpliedRecovery::SackRackPrr => json!({
                "sack": true,
                "recovery": {"method": "sack", "reduction": "prr", "rack": true, "tail_loss_probe": true},
            }),
        }
    }
}

/// A struct of parameters as it is when a scenario sets none of them.
pub fn defaults<T: Read>() -> T {
    match T::read(&Json::Object(JsonMap::new()), "") {
        Ok(params) => params,
        Err(e) => unreachable!("the defaults are valid: {e}"),
    }
}

/// Multiplicative decrease: `beta` of the FlightSize (RFC 5681, equation 4, where beta is a half); what it was when a
/// segment times out again (§3.1).
pub fn decreased(w: &Window, beta: f64, congestion: Congestion) -> f64 {
    if congestion == (Congestion::Timeout { again: true }) { w.ssthresh } else { beta * w.flight }
}

/// Decrease as Linux computes it in integers: `left` maps the whole segments of the FlightSize (in
/// Linux, of cwnd) to those that stay. When a segment times out again ssthresh stays as it was, as
/// in [`decreased`].
pub fn decreased_in_segments(w: &Window, congestion: Congestion, left: impl Fn(u64) -> u64) -> f64 {
    if congestion == (Congestion::Timeout { again: true }) {
        return w.ssthresh;
    }
    left((w.flight / w.smss) as u64) as f64 * w.smss
}

/// Milliseconds of a round trip that Linux has measured in whole microseconds, rounded up
/// (usecs_to_jiffies with HZ = 1000).
pub fn linux_ticks(rtt: Duration) -> u64 {
    (rtt.0 / 1_000_000).div_ceil(1000)
}
