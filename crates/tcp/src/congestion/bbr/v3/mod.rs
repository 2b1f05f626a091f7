//! BBR (`bbr3`), version 3: draft-ietf-ccwg-bbr (`draft-ietf-ccwg-bbr`), the text after its
//! revision 06.
//!
//! This file uses the names of the draft and its order of steps. The deviations are:
//!
//! - Random numbers are a hash of the time, so that runs are repeatable.
//! - The data in flight when a packet was sent (tx_in_flight) is the data that was delivered or
//!   declared lost after the packet was sent. Without reordering, the amount of delivered and lost
//!   data equals the data in flight.
//! - The losses since a packet was sent count from the beginning of the round in which the packet
//!   was sent.
//! - Losses are evaluated per ACK instead of per packet, so InflightAtLoss() is computed per ACK.
//!   An ACK that declares losses counts as one lost range.
//! - ECN is not implemented, as in the draft.

mod model;
mod states;

use net::{Rule, rules};
use units::{Duration, Packets, Probability, Range, Rate, Time, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks};
use crate::window::{Window, Windows};

use super::max_filter::MaxFilter;
use super::{Aggregation, FullPipe, Pacing, SavedCwnd, UNMEASURED};

params! {
    /// BBR (version 3). As in version 1, the model includes the bandwidth and the minimum
    /// round-trip time. Version 3 adds to the model the data in flight at which losses exceed 2 %.
    /// Version 3 probes for bandwidth every two to three seconds. If Reno would probe more often on
    /// the same path, version 3 probes as often as Reno. Between its probes for bandwidth, version
    /// 3 reduces its rate after losses.
    pub struct Bbr3: "bbr3" {
        /// Pacing gain in Startup (StartupPacingGain): 4 ln 2.
        startup_pacing_gain: f64 = (2.77), in Range::between(1.1, 10.0), from "draft-ietf-ccwg-bbr §5.3.1.1";
        /// Pacing gain in Drain (DrainPacingGain).
        drain_pacing_gain: f64 = (0.5), in Range::between(0.1, 0.99), from "draft-ietf-ccwg-bbr §5.3.2";
        /// Gain of cwnd (DefaultCwndGain).
        cwnd_gain: f64 = (2.0), in Range::between(1.0, 10.0), from "draft-ietf-ccwg-bbr §5.3.1.1";
        /// Loss rate of a round trip that BBR accepts while it probes (LossThresh).
        loss_threshold: Probability = (Probability(0.02)), in Range::between(0.0, 0.5), from "draft-ietf-ccwg-bbr §2.7";
        /// Minimum factor by which a round trip with losses multiplies the short-term model (Beta).
        beta: f64 = (0.7), in Range::between(0.1, 0.99), from "draft-ietf-ccwg-bbr §2.7";
        /// Fraction of the long-term limit of data in flight that is left to other flows
        /// (Headroom).
        headroom: f64 = (0.15), in Range::between(0.0, 0.9), from "draft-ietf-ccwg-bbr §2.7";
        /// Minimum congestion window (MinPipeCwnd).
        min_pipe: Packets = (Packets(4.0)), in Range::between(1.0, 100.0), from "draft-ietf-ccwg-bbr §2.7";
        /// Length of time over which BBR takes the minimum round-trip time (MinRTTFilterLen).
        rtt_window: Duration = (Duration::from_millis(10_000)), in Range::above(0.0), from "draft-ietf-ccwg-bbr §2.15.1";
        /// Gain of cwnd in ProbeRTT (ProbeRTTCwndGain).
        probe_rtt_cwnd_gain: f64 = (0.5), in Range::between(0.1, 1.0), from "draft-ietf-ccwg-bbr §2.15.2";
        /// Minimum duration of ProbeRTT (ProbeRTTDuration).
        probe_rtt: Duration = (Duration::from_millis(200)), in Range::above(0.0), from "draft-ietf-ccwg-bbr §2.15.2";
        /// Minimum interval between two ProbeRTT states (ProbeRTTInterval).
        probe_rtt_interval: Duration = (Duration::from_millis(5_000)), in Range::above(0.0), from "draft-ietf-ccwg-bbr §2.15.2";
        /// Fraction by which the pacing rate is below the estimated bandwidth
        /// (PacingMarginPercent).
        pacing_margin: f64 = (0.01), in Range::between(0.0, 0.5), from "draft-ietf-ccwg-bbr §5.6.2: 1 %";
    }
}

rules! {
    /// Startup: cwnd grows by the delivered bytes until the bandwidth estimate stops growing.
    STARTUP = "bbr3-startup", from "draft-ietf-ccwg-bbr, SetCwnd()";
    /// Drain: cwnd follows its target while the queue of Startup drains.
    DRAIN = "bbr3-drain", from "draft-ietf-ccwg-bbr, SetCwnd()";
    /// ProbeBW_DOWN: cwnd is bounded while the queue of the last probe drains.
    DOWN = "bbr3-probe-bw-down", from "draft-ietf-ccwg-bbr, SetCwnd(), BoundCwndForModel()";
    /// ProbeBW_CRUISE: cwnd is bounded below the estimated maximum data in flight.
    CRUISE = "bbr3-probe-bw-cruise", from "draft-ietf-ccwg-bbr, SetCwnd(), BoundCwndForModel()";
    /// ProbeBW_REFILL: cwnd grows up to its target before the next probe.
    REFILL = "bbr3-probe-bw-refill", from "draft-ietf-ccwg-bbr, SetCwnd(), BoundCwndForModel()";
    /// ProbeBW_UP: cwnd grows to probe for more bandwidth.
    UP = "bbr3-probe-bw-up", from "draft-ietf-ccwg-bbr, SetCwnd(), BoundCwndForModel()";
    /// ProbeRTT: cwnd is half of the bandwidth-delay product.
    PROBE_RTT = "bbr3-probe-rtt", from "draft-ietf-ccwg-bbr, BoundCwndForProbeRTT()";
    /// Loss recovery: cwnd follows the model.
    RECOVERY = "bbr3-recovery", from "draft-ietf-ccwg-bbr, SetCwnd(), OnEnterFastRecovery()";
}

impl Control for Bbr3 {
    type State = Bbr3State;
    const RULES: &'static [Rule] = RULES;
    const MARKS: Marks = Marks::Ignored;
    /// Loss recovery by SACK, because the delivery rate counts the data that SACK reports.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRackPrr;
    /// False, because BBR has the state Startup instead of slow start.
    const HAS_SLOW_START: bool = false;

    fn new_state(&self, window: &Window) -> Self::State {
        Bbr3State::new(self, window)
    }
}

/// Length of the bandwidth filter in ProbeBW cycles (MaxBwFilterLen).
const MAX_BW_FILTER: usize = 2;
/// Length of the filter of aggregated ACKs in round trips (ExtraAckedFilterLen).
const EXTRA_ACKED_FILTER: usize = 10;
/// Number of losses in a round that can end Startup (BBRStartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;

/// State of BBR's state machine. `Down`, `Cruise`, `Refill` and `Up` are the phases of ProbeBW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// Return true in a phase of ProbeBW.
    fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// Return true in a state that increases the sending rate (IsProbingBW()).
    fn is_probing_bw(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }
}

/// Phase of the ACKs relative to a bandwidth probe (BBR.ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Bounds of the bandwidth and of the data in flight, which BBR sets after losses; infinite before
/// the first loss.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bounds {
    const UNBOUNDED: Bounds = Bounds {
        bw_shortterm: f64::INFINITY,
        inflight_shortterm: f64::INFINITY,
        inflight_longterm: f64::INFINITY,
    };

    /// Remove the short-term bounds.
    fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }
}

/// Rate sample of the current ACK (RS).
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    rate: f64,
    delivered: f64,
    prior_delivered: u64,
    app_limited: bool,
    newly_acked: f64,
    lost: f64,
    tx_in_flight: f64,
}

/// State of BBR version 3 in a connection.
#[derive(Clone, Debug)]
pub struct Bbr3State {
    params: Bbr3,
    initial_window: f64,
    smss: f64,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    rs: Sample,
    delivered: u64,
    cwnd: f64,
    inflight: f64,
    cwnd_limited: bool,
    // Rounds
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    rounds_since_probe_up: u64,
    drain_start_round: u64,
    /// Bytes declared lost so far.
    lost: u64,
    /// Totals of delivered bytes and of lost bytes at the start of the current round, and at the
    /// start of the previous round.
    loss_counts: [(u64, u64); 2],
    // Bandwidth
    max_bw: MaxFilter,
    cycle_count: u64,
    full: FullPipe,
    // Delivered and lost data of the current round
    bw_latest: f64,
    inflight_latest: f64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    losses_in_round: u32,
    bytes_lost_in_round: f64,
    recovery_round: Option<u64>,
    bounds: Bounds,
    // Aggregation of ACKs
    extra_acked: MaxFilter,
    aggregation: Aggregation,
    // Probing for bandwidth
    ack_phase: AckPhase,
    bw_probe_sample: bool,
    probe_up_rounds: u32,
    probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    cycle_stamp: Time,
    probe_wait: Duration,
    // Round-trip times
    min_rtt: Duration,
    min_rtt_stamp: Time,
    probe_rtt_min: Duration,
    probe_rtt_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    // Recovery
    saved: SavedCwnd,
    undo_mode: Option<Mode>,
    undo_bounds: Bounds,
    pacing: Pacing,
}

impl Bbr3State {
    /// Create the state of a connection before its first ACK (OnInit()).
    pub fn new(params: &Bbr3, window: &Window) -> Self {
        Bbr3State {
            params: params.clone(),
            initial_window: window.cwnd,
            smss: window.smss,
            mode: Mode::Startup,
            pacing_gain: params.startup_pacing_gain,
            cwnd_gain: params.cwnd_gain,
            rs: Sample::default(),
            delivered: 0,
            cwnd: 0.0,
            inflight: 0.0,
            cwnd_limited: false,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            rounds_since_probe_up: 0,
            drain_start_round: 0,
            lost: 0,
            loss_counts: [(0, 0); 2],
            max_bw: MaxFilter::default(),
            cycle_count: 0,
            full: FullPipe::default(),
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            losses_in_round: 0,
            bytes_lost_in_round: 0.0,
            recovery_round: None,
            bounds: Bounds::UNBOUNDED,
            extra_acked: MaxFilter::default(),
            aggregation: Aggregation::default(),
            ack_phase: AckPhase::Init,
            bw_probe_sample: false,
            probe_up_rounds: 0,
            probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            cycle_stamp: Time::ZERO,
            probe_wait: Duration::ZERO,
            min_rtt: UNMEASURED,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min: UNMEASURED,
            probe_rtt_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            saved: SavedCwnd::default(),
            undo_mode: None,
            undo_bounds: Bounds::UNBOUNDED,
            pacing: Pacing::default(),
        }
    }
}

impl CongestionControl for Bbr3State {
    /// Update the model and the state with an ACK (UpdateModelAndState()).
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.saved.on_ack(ack.in_recovery);
        if !ack.in_recovery {
            self.recovery_round = None;
        }
        self.generate_rate_sample(w, ack);
        let lost = ack.rate.map_or(0.0, |s| s.lost as f64);
        if lost > 0.0 {
            self.on_loss(w, ack.now, lost);
        }
        self.update_signals();
        self.update_aggregation(ack.now);
        if self.round_start && !self.rs.app_limited {
            self.full.check(self.rs.rate);
        }
        self.check_startup_done();
        self.check_drain_done(ack.now);
        self.update_cycle(ack.now);
        self.update_min_rtt(ack);
        self.check_probe_rtt(w, ack.now);
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (self.rs.rate, self.rs.delivered);
        }
        self.set_pacing_rate(self.pacing_gain, ack.srtt);
    }

    /// Return cwnd after an ACK (SetCwnd()).
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        let max_inflight = self.quantization_budget(self.bdp(self.bw(), self.cwnd_gain) + self.extra_acked());
        let cwnd = self.saved.take_restored(w.cwnd);
        let mut cwnd = self.full.grow_cwnd(cwnd, ack, max_inflight, self.initial_window).max(self.min_pipe());
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd(cwnd).max(w.smss)
    }

    /// Return cwnd at the beginning of recovery or after a timeout (OnEnterFastRecovery() and
    /// OnEnterRTO()).
    fn cwnd_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        match congestion {
            Congestion::Ecn => Some(w.cwnd),
            Congestion::FastRetransmit => {
                self.save_state_upon_loss(w);
                self.saved.in_recovery = true;
                self.recovery_round.get_or_insert(self.round_count);
                Some(w.cwnd)
            }
            Congestion::Timeout { .. } => {
                self.save_state_upon_loss(w);
                Some(w.smss)
            }
        }
    }

    /// Undo the response to a loss that was spurious (HandleSpuriousLossDetection()).
    fn undo(&mut self, _: &Window) {
        self.saved.restore = true;
        self.loss_in_round = false;
        self.full.reset(0.0);
        let (bounds, undo) = (&mut self.bounds, self.undo_bounds);
        bounds.bw_shortterm = bounds.bw_shortterm.max(undo.bw_shortterm);
        bounds.inflight_shortterm = bounds.inflight_shortterm.max(undo.inflight_shortterm);
        bounds.inflight_longterm = bounds.inflight_longterm.max(undo.inflight_longterm);
        match self.undo_mode.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.full.reached = false;
                if self.mode != Mode::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(Mode::Up) if !matches!(self.mode, Mode::Up | Mode::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }

    /// Process the restart after an idle time (HandleRestartFromIdle()).
    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.interval_start = now;
        if self.mode.is_probe_bw() {
            self.set_pacing_rate(1.0, Duration::ZERO);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, _w: &Window, srtt: Duration) -> Option<Rate> {
        Some(self.pacing.rate_or_initial(self.params.startup_pacing_gain * self.initial_window, srtt))
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn needs_delivery_rate(&self) -> bool {
        true
    }

    fn send_buffer_windows(&self) -> u64 {
        3 // Linux, bbr_sndbuf_expand
    }

    fn min_super_packet(&self, rate: Rate) -> u32 {
        super::min_super_packet(rate)
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        let _ = (window, after);
        match self.mode {
            _ if self.saved.in_recovery => &RECOVERY,
            Mode::Startup => &STARTUP,
            Mode::Drain => &DRAIN,
            Mode::Down => &DOWN,
            Mode::Cruise => &CRUISE,
            Mode::Refill => &REFILL,
            Mode::Up => &UP,
            Mode::ProbeRtt => &PROBE_RTT,
        }
    }
}

#[cfg(test)]
mod tests;
