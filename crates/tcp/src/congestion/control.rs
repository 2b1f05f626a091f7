//! Interface of a congestion control.
//!
//! [`CongestionControl`] defines the data that the sender passes to a controller and the values
//! that the controller returns. [`Control`] defines the properties of a kind of control, so that
//! other modules do not depend on the name of the control.

use net::Rule;
use serde_json::json;
use units::param::Json;
use units::{Duration, Params, Rate, Time};

use crate::congestion::growth::{self, Growth};
use crate::ecn::choices::Ecn;
use crate::window::{Window, Windows};

pub use crate::congestion::event::{Ack, Congestion, RateSample};

/// Minimum number of segments of a super-packet (Linux, tcp_min_tso_segs).
pub const MIN_SUPER_PACKET: u32 = 2;

/// Congestion controller of a connection. Windows and volumes are in bytes, as `f64`.
pub trait CongestionControl {
    /// Return cwnd after an ACK.
    ///
    /// The sender calls this method for every ACK outside loss recovery that delivers data. If the
    /// controller [governs recovery](Self::governs_recovery), the sender calls this method for
    /// every ACK.
    fn cwnd_on_ack(&mut self, window: &Window, ack: &Ack) -> f64;
    /// Prepare a reduction of the window for an ACK that delivers `delivered` bytes, of which
    /// `marked` are marked.
    ///
    /// After this method, the sender calls [`observe`](Self::observe) with the same ACK. `round` is
    /// true if the ACK ends a round trip, as [`Ack::round`] is.
    fn before_reduction(&mut self, _delivered: u32, _marked: u32, _round: bool) {}
    /// Return ssthresh after a congestion event. By default ssthresh does not change.
    ///
    /// The sender raises ssthresh to at least two segments (RFC 5681, equation 4). After a mark,
    /// the sender raises cwnd to at least the parameter `ecn.min_window` (RFC 3168 §6.1.2).
    fn ssthresh_on_congestion(&mut self, window: &Window, _congestion: Congestion, _now: Time) -> f64 {
        window.ssthresh
    }
    /// Return cwnd right after a congestion event. None stands for the usual cwnd, which is the new
    /// ssthresh, or one segment after a timeout.
    fn cwnd_on_congestion(&mut self, _window: &Window, _congestion: Congestion, _now: Time) -> Option<f64> {
        None
    }
    /// Observe an ACK before cwnd is computed.
    ///
    /// The sender calls this method for every ACK, also during loss recovery, so that the
    /// controller can measure delays, rates and DCTCP's α.
    fn observe(&mut self, _window: &Window, _ack: &Ack) {}
    /// Return ssthresh if slow start ended with this ACK without congestion (HyStart, Vegas).
    ///
    /// `window` contains the cwnd after the ACK, if the ACK changed cwnd.
    fn ssthresh_on_ack(&mut self, _window: &Window) -> Option<f64> {
        None
    }
    /// Process an ACK, and return cwnd and ssthresh.
    ///
    /// If the ACK may not increase cwnd (`may_grow` is false), cwnd changes only if the controller
    /// [governs recovery](Self::governs_recovery).
    fn on_ack(&mut self, window: &Window, ack: &Ack, may_grow: bool) -> (f64, Option<f64>) {
        self.observe(window, ack);
        let cwnd = match may_grow || self.governs_recovery() {
            true => self.cwnd_on_ack(window, ack).max(window.smss),
            false => window.cwnd,
        };
        (cwnd, self.ssthresh_on_ack(&Window { cwnd, ..*window }))
    }
    /// Return the rule by which the last ACK changed cwnd and ssthresh to `after`. `window` has the
    /// values before the ACK. The sender calls this function right after [`on_ack`](Self::on_ack),
    /// and only while a series records the changes.
    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        growth::rule(window, after)
    }
    /// Return the rule by which the controller responds to congestion, or `None` for the rule of
    /// RFC 5681 or RFC 3168.
    fn rule_of_congestion(&self, _congestion: Congestion) -> Option<&'static Rule> {
        None
    }
    /// Undo the response to the last congestion event, which was spurious (Eifel, D-SACK, F-RTO).
    fn undo(&mut self, _window: &Window) {}
    /// Process the restart of transmission after an idle time of `idle`.
    fn on_restart(&mut self, _now: Time, _idle: Duration) {}
    /// Return true if the controller can pace segments. If the controller cannot pace segments, the
    /// sender does not call [`pacing_rate`](Self::pacing_rate).
    fn paces(&self) -> bool {
        false
    }
    /// Return the pacing rate, or None to send as fast as the window allows.
    fn pacing_rate(&self, _window: &Window, _srtt: Duration) -> Option<Rate> {
        None
    }
    /// Return true if the controller responds to a mark that the current ACK reports.
    ///
    /// `new_window` is true if the sender sent the marked data after its last response to a mark.
    /// If `new_window` is true, RFC 3168 §6.1.2 requires a response.
    fn responds_to_mark(&self, _now: Time, new_window: bool) -> bool {
        new_window
    }
    /// Return true if the controller responds in proportion to the marks, as a scalable control
    /// does (RFC 9331 §4.3).
    ///
    /// If the controller responds in proportion to the marks, the reduction takes effect
    /// immediately and is not rounded to segments. cwnd continues to grow after the reduction. An
    /// ACK that reports marks also increases cwnd by its unmarked bytes.
    fn is_scalable(&self) -> bool {
        false
    }
    /// Return true if the controller alone governs cwnd, even in loss recovery and after idle times
    /// (BBR).
    fn governs_recovery(&self) -> bool {
        false
    }
    /// Return true if the controller needs round-trip times, marks and delivered bytes.
    ///
    /// A sender without SACK measures round-trip times, marks and delivered bytes only if
    /// `needs_measurements` is true or another feature needs the measurements.
    fn needs_measurements(&self) -> bool {
        true
    }
    /// Return true if the controller needs delivery rate samples.
    fn needs_delivery_rate(&self) -> bool {
        false
    }
    /// Return the state that computes the growth of cwnd, or None if an ACK outside loss recovery
    /// also changes other state of the controller.
    ///
    /// If the growth of cwnd needs no measurements, the sender passes only the number of counted
    /// bytes to the returned state, and not an [`Ack`]. Only Reno, whose state is not boxed, may
    /// return a state for the growth of cwnd. The sender calls this function for every ACK, so the
    /// call must cost only one comparison.
    fn byte_growth(&mut self) -> Option<&mut Growth> {
        None
    }
    /// Return the number of congestion windows that an automatically sized send buffer can store
    /// (Linux, tcp_sndbuf_expand).
    fn send_buffer_windows(&self) -> u64 {
        2
    }
    /// Return the minimum number of segments of a super-packet that is paced at `rate`.
    fn min_super_packet(&self, _rate: Rate) -> u32 {
        MIN_SUPER_PACKET
    }
}

/// Parameters of a congestion control, and the properties of its kind.
pub trait Control: Params {
    /// State of the control in a connection.
    type State: CongestionControl;
    /// Response of the control to marks.
    const MARKS: Marks = Marks::AsLosses;
    /// Loss recovery that the control requires.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::None;
    /// True if the control has the slow start of RFC 5681 or an alternative slow start.
    const HAS_SLOW_START: bool = true;
    /// Rules of the control, by which it explains changes of cwnd and ssthresh. The rules of slow
    /// start and of standard congestion avoidance are not included.
    const RULES: &'static [Rule] = &[];

    /// Create the state of a connection before its first ACK, with the initial window.
    fn new_state(&self, window: &Window) -> Self::State;

    /// Return the parameters that differ from the defaults in the stack `linux`.
    fn linux_defaults() -> Json {
        json!({})
    }
}

/// Response of a congestion control to marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// The control ignores marks.
    Ignored,
    /// The control responds to at most one mark per round trip. The response to a mark resembles
    /// the response to a loss (RFC 3168 §6.1.2).
    AsLosses,
    /// The response is in proportion to the marks, which the receiver reports by the ECN-Echo of
    /// RFC 8257.
    Proportional,
    /// The response is in proportion to the marks, as L4S requires. Accurate ECN reports the marks,
    /// and packets carry the identifier of L4S (RFC 9331 §4.1, §4.2).
    L4s,
}

impl Marks {
    /// Return the ECN mode that the sender negotiates. `requested` is the ECN mode in the
    /// parameters.
    ///
    /// A sender that ignores marks does not negotiate ECN, because an ECN-capable sender must
    /// respond to marks (RFC 3168 §6.1.2).
    pub fn ecn(self, requested: Ecn) -> Ecn {
        match (self, requested) {
            (Marks::Ignored, _) => Ecn::Off,
            (Marks::Proportional, Ecn::Off | Ecn::Passive | Ecn::Rfc3168 | Ecn::EcnPlusPlus) => Ecn::Dctcp,
            (Marks::L4s, Ecn::Off | Ecn::Passive) => Ecn::Accurate,
            _ => requested,
        }
    }
}

/// Keys of loss recovery that a congestion control sets unless the scenario sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpliedRecovery {
    /// No keys: the congestion control sets no key of loss recovery.
    None,
    /// Loss recovery by SACK.
    Sack,
    /// Loss recovery by SACK, RACK's loss detection, and the tail loss probe.
    SackRack,
    /// Loss recovery by SACK, RACK's loss detection, the tail loss probe, and Proportional Rate
    /// Reduction (PRR).
    SackRackPrr,
}

impl ImpliedRecovery {
    /// Return the keys of loss recovery as parameters of the endpoint.
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

/// Return ssthresh after a multiplicative decrease: `beta` times the FlightSize (RFC 5681, equation
/// 4, where beta is one half).
///
/// A repeated timeout of a segment leaves ssthresh unchanged (RFC 5681 §3.1).
pub fn decreased(w: &Window, beta: f64, congestion: Congestion) -> f64 {
    if congestion == (Congestion::Timeout { repeated: true }) { w.ssthresh } else { beta * w.flight }
}

/// Return ssthresh after a multiplicative decrease in whole segments, as Linux computes it.
///
/// `reduced` returns the reduced window for a FlightSize, both as a number of segments. With the
/// stack `linux`, cwnd replaces the FlightSize. A repeated timeout of a segment leaves ssthresh
/// unchanged, as in [`decreased`].
pub fn decreased_in_segments(w: &Window, congestion: Congestion, reduced: impl Fn(u64) -> u64) -> f64 {
    if congestion == (Congestion::Timeout { repeated: true }) {
        return w.ssthresh;
    }
    reduced((w.flight / w.smss) as u64) as f64 * w.smss
}

/// Return a round-trip time in milliseconds, rounded up from whole microseconds as in Linux
/// (usecs_to_jiffies with HZ = 1000).
pub fn linux_ticks(rtt: Duration) -> u64 {
    (rtt.0 / 1_000_000).div_ceil(1000)
}
