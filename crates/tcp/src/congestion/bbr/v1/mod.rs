//! BBR (`bbr`), version 1: draft-cardwell-iccrg-bbr-congestion-control-00
//! (`draft-cardwell-iccrg-bbr-00`) and Cardwell et al., 2016 (`cardwell2016bbr`).
//!
//! This file uses the names of the draft. The pseudo-code in §3.5 and §4 of the draft was compared
//! with this file line by line. The deviations are:
//!
//! - The draft begins ProbeBW with a random phase (§4.3.4.2). This implementation selects the first
//!   phase by a hash of the time, so that runs are repeatable.
//! - Only a smaller round-trip time refreshes RTprop, as in Linux (bbr_update_min_rtt), and an
//!   equal round-trip time does not. With the comparison "<=" of the draft (§4.1.2.3), RTprop would
//!   never expire on a path whose round-trip times are exactly equal.
//! - cwnd includes an allowance for aggregated ACKs, as in Linux. The draft has no allowance for
//!   aggregated ACKs.
//! - ECN is not negotiated, because marks (ECN-Echo) would have no effect.
//! - The long-term bandwidth estimate for policers is not implemented.

use std::ops::RangeInclusive;

use net::{Rule, rules};
use serde_json::json;
use units::param::Json;
use units::{Duration, Packets, Range, Rate, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, RateSample,
};
use crate::window::{Window, Windows};

use super::max_filter::{MAX_WINDOW, MaxFilter};
use super::{Aggregation, FullPipe, Pacing, SavedCwnd, UNMEASURED};

words! {
    /// Definition of the data in flight that BBR compares with a bound to end a phase of the gain
    /// cycle.
    pub enum PhaseEnds {
        /// Data in flight when the ACK arrived (draft-cardwell-iccrg-bbr-00 §4.3.4.3).
        InFlight = "in-flight",
        /// Data in flight when pacing allows the next segments to depart. If the pacing gain is
        /// above one, the data in flight includes the segments that depart next (Linux,
        /// bbr_packets_in_net_at_edt).
        AtDeparture = "at-departure",
    }
}

words! {
    /// Data that BBR adds to the product of bandwidth and RTprop, because offload and delayed ACKs
    /// retain segments in the hosts.
    pub enum Budget {
        /// Three send quanta (draft-cardwell-iccrg-bbr-00 §4.2.3.2).
        Quanta = "quanta",
        /// Three send quanta, rounded up to an even number of segments, and two more segments while
        /// the gain is above one (Linux, bbr_quantization_budget).
        Linux = "linux",
    }
}

params! {
    /// BBR (version 1). The pacing rate is the bandwidth of the bottleneck, which BBR estimates as
    /// the maximum delivery rate of ten round trips. The data in flight is limited to the bandwidth
    /// times the minimum round-trip time, which BBR measures over ten seconds. Losses have little
    /// effect.
    pub struct Bbr: "bbr" {
        /// Gain of the pacing rate and of cwnd in Startup (BBRHighGain): 2/ln 2.
        high_gain: f64 = (2.885), in Range::between(1.1, 10.0), from "draft-cardwell-iccrg-bbr-00 §4.3.2.1";
        /// Gain of cwnd in ProbeBW.
        cwnd_gain: f64 = (2.0), in Range::between(1.0, 10.0), from "draft-cardwell-iccrg-bbr-00 §4.3.4.3";
        /// Number of round trips over which BBR takes the maximum delivery rate (BtlBwFilterLen).
        bandwidth_window: Packets = (Packets(10.0)), in Range::between(1.0, 10.0).whole(), from "draft-cardwell-iccrg-bbr-00 §4.1.1.2";
        /// Length of time over which BBR takes the minimum round-trip time (RTpropFilterLen).
        rtt_window: Duration = (Duration::from_millis(10_000)), in Range::above(0.0), from "draft-cardwell-iccrg-bbr-00 §4.1.2.2";
        /// Minimum duration of ProbeRTT (ProbeRTTDuration).
        probe_rtt: Duration = (Duration::from_millis(200)), in Range::above(0.0), from "draft-cardwell-iccrg-bbr-00 §4.3.5";
        /// Fraction of the excess of aggregated ACKs that BBR adds to cwnd. If the fraction is 0,
        /// BBR adds no excess to cwnd.
        extra_acked_gain: f64 = (1.0), in Range::between(0.0, 10.0), from "Linux, tcp_bbr: 1; the draft does not add the excess";
        /// Definition of the data in flight that BBR compares with a bound to end a phase of the
        /// gain cycle.
        phase_ends: PhaseEnds = (PhaseEnds::InFlight), in Range::ANY, from "draft-cardwell-iccrg-bbr-00 §4.3.4.3; Linux, bbr_is_next_cycle_phase";
        /// Data that BBR adds to the product of bandwidth and RTprop.
        budget: Budget = (Budget::Quanta), in Range::ANY, from "draft-cardwell-iccrg-bbr-00 §4.2.3.2";
        /// Fraction by which the pacing rate is below the estimated bandwidth.
        pacing_margin: f64 = (0.0), in Range::between(0.0, 0.5), from "draft-cardwell-iccrg-bbr-00 §4.2.1: no margin; Linux, bbr_pacing_margin_percent: 1 %";
        /// Minimum congestion window (BBRMinPipeCwnd).
        min_pipe: Packets = (Packets(4.0)), in Range::between(1.0, 100.0), from "draft-cardwell-iccrg-bbr-00 §4.2.3.3";
    }
}

rules! {
    /// Startup: cwnd grows by the delivered bytes until the bandwidth estimate stops growing.
    STARTUP = "bbr-startup", from "draft-cardwell-iccrg-bbr-00 §4.3.2, §4.2.3.6";
    /// Drain: cwnd follows its target while the queue of Startup drains.
    DRAIN = "bbr-drain", from "draft-cardwell-iccrg-bbr-00 §4.3.3, §4.2.3.6";
    /// ProbeBW: cwnd follows its target, cwnd_gain times the estimated bandwidth-delay product.
    PROBE_BW = "bbr-probe-bw", from "draft-cardwell-iccrg-bbr-00 §4.3.4, §4.2.3.6";
    /// ProbeRTT: cwnd is the minimum, so that the minimum round-trip time can be measured.
    PROBE_RTT = "bbr-probe-rtt", from "draft-cardwell-iccrg-bbr-00 §4.3.5, §4.2.3.6";
    /// Loss recovery: cwnd follows the delivered and lost bytes (packet conservation).
    RECOVERY = "bbr-recovery", from "draft-cardwell-iccrg-bbr-00 §4.2.3.4";
    /// A loss sets cwnd to the data in flight, without a change of ssthresh.
    LOSS = "bbr-loss", from "draft-cardwell-iccrg-bbr-00 §4.2.3.4";
}

impl Control for Bbr {
    type State = BbrState;
    const RULES: &'static [Rule] = RULES;
    const MARKS: Marks = Marks::Ignored;
    /// Loss recovery by SACK, because the delivery rate counts the data that SACK reports.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRackPrr;
    /// False, because BBR has the state Startup instead of slow start.
    const HAS_SLOW_START: bool = false;

    fn new_state(&self, window: &Window) -> Self::State {
        BbrState::new(self, window)
    }

    fn linux_defaults() -> Json {
        json!({"budget": "linux", "phase_ends": "at-departure", "pacing_margin": 0.01})
    }
}

/// Time in seconds in which the bandwidth delivers the maximum allowance for aggregated ACKs
/// (Linux, bbr_extra_acked_max_us).
const MAX_EXTRA_ACKED: f64 = 0.1;
/// Pacing gains of the phases of ProbeBW (draft §4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// State of BBR's state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// State of BBR version 1 in a connection.
#[derive(Clone, Debug)]
pub struct BbrState {
    params: Bbr,
    /// InitialCwnd.
    initial_window: f64,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    bandwidth: MaxFilter,
    /// Minimum round-trip time in the last RTpropFilterLen (BBR.rtprop).
    rtprop: Duration,
    /// Time of the last measurement of `rtprop`.
    rtprop_stamp: Time,
    rtprop_expired: bool,
    /// Number of round trips, counted by delivered data.
    round_count: u64,
    next_round_delivered: u64,
    round_start: bool,
    full: FullPipe,
    /// Index of the phase in the gain cycle of ProbeBW (BBR.cycle_index).
    phase: usize,
    cycle_stamp: Time,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    /// Range of the total number of delivered bytes. Inside the range, delivery rate samples count
    /// as application-limited. The range extends from the start of ProbeRTT to the last byte sent
    /// during ProbeRTT (C.app_limited).
    app_limited_span: Option<RangeInclusive<u64>>,
    idle_restart: bool,
    saved: SavedCwnd,
    /// Round in which recovery began. Until the round in which recovery began has ended, BBR
    /// applies packet conservation.
    conservation_round: Option<u64>,
    /// Bytes that the current ACK declared lost.
    lost: f64,
    aggregation: Aggregation,
    extra_acked: MaxFilter,
    pacing: Pacing,
}

impl BbrState {
    /// Create the state of BBR in a connection before the first ACK of the connection.
    pub fn new(params: &Bbr, window: &Window) -> Self {
        BbrState {
            params: params.clone(),
            initial_window: window.cwnd,
            mode: Mode::Startup,
            pacing_gain: params.high_gain,
            cwnd_gain: params.high_gain,
            bandwidth: MaxFilter::default(),
            rtprop: UNMEASURED,
            rtprop_stamp: Time::ZERO,
            rtprop_expired: false,
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            full: FullPipe::default(),
            phase: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            app_limited_span: None,
            idle_restart: false,
            saved: SavedCwnd::default(),
            conservation_round: None,
            lost: 0.0,
            aggregation: Aggregation::default(),
            extra_acked: MaxFilter::default(),
            pacing: Pacing::default(),
        }
    }

    /// Return BBR.BtlBw, in bytes/s.
    fn btl_bw(&self) -> f64 {
        self.bandwidth.get(self.params.bandwidth_window.0 as usize)
    }

    /// Return BBR.send_quantum, in bytes (draft §4.2.2).
    fn send_quantum(&self, smss: f64) -> f64 {
        match self.pacing.rate() {
            rate if rate < 1.2e6 / 8.0 => smss,
            rate if rate < 24e6 / 8.0 => 2.0 * smss,
            rate => (rate * 1e-3).min(64_000.0).max(smss),
        }
    }

    /// Return the data in flight at a gain, in bytes (BBRInflight(gain), §4.2.3.2).
    fn inflight(&self, gain: f64, smss: f64) -> f64 {
        if self.rtprop == UNMEASURED {
            return self.initial_window; // no round-trip time was measured yet
        }
        self.quantization_budget(gain * self.btl_bw() * self.rtprop.seconds(), smss)
    }

    /// Return `inflight` plus an allowance for send quanta. The parameter `budget` selects the size
    /// of the allowance.
    fn quantization_budget(&self, inflight: f64, smss: f64) -> f64 {
        let inflight = inflight + 3.0 * self.send_quantum(smss);
        if self.params.budget == Budget::Quanta {
            return inflight;
        }
        let pairs = (inflight / (2.0 * smss)).ceil();
        let probes = self.mode == Mode::ProbeBw && self.phase == 0;
        2.0 * smss * (pairs + if probes { 1.0 } else { 0.0 })
    }

    /// Return the allowance for aggregated ACKs: the maximum excess of ten rounds, limited to 100
    /// ms of the bandwidth.
    fn extra_acked(&self) -> f64 {
        if !self.full.reached {
            return 0.0;
        }
        (self.params.extra_acked_gain * self.extra_acked.get(MAX_WINDOW)).min(self.btl_bw() * MAX_EXTRA_ACKED)
    }

    /// Count rounds (BBRUpdateRound()).
    fn update_round(&mut self, ack: &Ack) {
        self.round_start = match ack.rate {
            Some(sample) => sample.prior_delivered >= self.next_round_delivered,
            None => ack.round,
        };
        if self.round_start {
            self.next_round_delivered = ack.total_delivered;
            self.round_count += 1;
            if self.conservation_round.is_some_and(|start| self.round_count > start) {
                self.conservation_round = None;
            }
        }
    }

    /// Return rs.is_app_limited, which includes samples of data sent in ProbeRTT (draft §4.3.5).
    ///
    /// If samples of data sent in ProbeRTT were not application-limited, a ProbeRTT longer than the
    /// bandwidth filter would discard the bandwidth estimate.
    fn app_limited(&self, sample: &RateSample) -> bool {
        sample.app_limited
            || self.app_limited_span.as_ref().is_some_and(|s| s.contains(&sample.prior_delivered))
    }

    /// Update BBR.BtlBw (BBRUpdateBtlBw()).
    fn update_btl_bw(&mut self, ack: &Ack) {
        let Some(sample) = ack.rate.filter(|s| s.interval > Duration::ZERO) else { return };
        let rate = sample.delivered as f64 / sample.interval.seconds();
        if rate >= self.btl_bw() || !self.app_limited(&sample) {
            self.bandwidth.update(self.round_count, rate);
        }
    }

    /// Begin the next phase of the gain cycle if the current phase is over (BBRCheckCyclePhase()).
    fn check_cycle_phase(&mut self, w: &Window, ack: &Ack) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let full_length = ack.now.since(self.cycle_stamp) > self.rtprop;
        let prior = self.in_flight_for_phase(w, ack);
        let next = if self.pacing_gain > 1.0 {
            full_length && (self.lost > 0.0 || prior >= self.inflight(self.pacing_gain, w.smss))
        } else if self.pacing_gain < 1.0 {
            full_length || prior <= self.inflight(1.0, w.smss)
        } else {
            full_length
        };
        if next {
            self.begin_phase(self.phase + 1, ack.now);
        }
    }

    /// Return the data in flight when the ACK arrived (rs.prior_in_flight).
    ///
    /// Linux uses the data in flight when the next segments depart (bbr_packets_in_net_at_edt). If
    /// the pacing gain is above one, Linux counts the departing segments as data in flight.
    fn in_flight_for_phase(&self, w: &Window, ack: &Ack) -> f64 {
        let prior = w.pipe + f64::from(ack.delivered);
        if self.params.phase_ends == PhaseEnds::InFlight {
            return prior;
        }
        let next = if self.pacing_gain > 1.0 { self.send_quantum(w.smss) } else { 0.0 };
        (prior + next - self.btl_bw() * ack.pacing_delay.seconds()).max(0.0)
    }

    /// Begin a phase of the gain cycle.
    fn begin_phase(&mut self, phase: usize, now: Time) {
        self.phase = phase % CYCLE.len();
        self.pacing_gain = CYCLE[self.phase];
        self.cycle_stamp = now;
    }

    /// Update the full pipe estimator (BBRCheckFullPipe()).
    fn check_full_pipe(&mut self, ack: &Ack) {
        let app_limited = ack.rate.is_none_or(|s| self.app_limited(&s));
        if self.round_start && !app_limited {
            self.full.check(self.btl_bw());
        }
    }

    /// Enter Drain once the pipe is full, and leave it once the queue is empty (BBRCheckDrain()).
    fn check_drain(&mut self, w: &Window, now: Time) {
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.pacing_gain = 1.0 / self.params.high_gain;
            self.cwnd_gain = self.params.high_gain;
        }
        if self.mode == Mode::Drain && w.pipe <= self.inflight(1.0, w.smss) {
            self.enter_probe_bw(now);
        }
    }

    /// Enter ProbeBW. ProbeBW begins with any phase of the gain cycle except the phase that drains
    /// the queue (BBREnterProbeBW()).
    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cwnd_gain = self.params.cwnd_gain;
        let hash = now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let offset = (hash % (CYCLE.len() as u64 - 1)) as usize; // 0..=6
        self.begin_phase(CYCLE.len() - offset, now); // 8 (that is 0), 7, …, 2
    }

    /// Enter Startup (BBREnterStartup()).
    fn enter_startup(&mut self) {
        self.mode = Mode::Startup;
        (self.pacing_gain, self.cwnd_gain) = (self.params.high_gain, self.params.high_gain);
    }

    /// Update BBR.rtprop (BBRUpdateRTprop()).
    fn update_rtprop(&mut self, w: &Window, ack: &Ack) {
        if self.rtprop == UNMEASURED && ack.min_rtt != UNMEASURED {
            // Draft §4.3.1: the first value of RTprop includes the round-trip time of the handshake
            (self.rtprop, self.rtprop_stamp) = (ack.min_rtt, ack.now);
        }
        self.rtprop_expired =
            self.rtprop != UNMEASURED && ack.now > self.rtprop_stamp + self.params.rtt_window;
        // The receiver may have delayed an ACK of the only segment in flight (Linux,
        // FLAG_ACK_MAYBE_DELAYED).
        let delayed = ack.rate.is_some_and(|s| s.delivered as f64 <= w.smss);
        if let Some(rtt) = ack.rtt
            && (rtt < self.rtprop || (self.rtprop_expired && !delayed))
        {
            (self.rtprop, self.rtprop_stamp) = (rtt, ack.now);
        }
    }

    /// Enter ProbeRTT once BBR.rtprop has expired (BBRCheckProbeRTT()).
    fn check_probe_rtt(&mut self, w: &Window, ack: &Ack) {
        if self.mode != Mode::ProbeRtt && self.rtprop_expired && !self.idle_restart {
            self.mode = Mode::ProbeRtt;
            (self.pacing_gain, self.cwnd_gain) = (1.0, 1.0);
            self.save_cwnd(w);
            self.probe_rtt_done = None;
            self.app_limited_span = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(w, ack);
        }
        self.idle_restart = false;
    }

    /// Process an ACK in ProbeRTT (BBRHandleProbeRTT()).
    fn handle_probe_rtt(&mut self, w: &Window, ack: &Ack) {
        let start = self.app_limited_span.as_ref().map_or(ack.total_delivered, |s| *s.start());
        self.app_limited_span = Some(start..=ack.total_delivered + w.pipe as u64);
        match self.probe_rtt_done {
            None if w.pipe <= self.params.min_pipe.0 * w.smss => {
                self.probe_rtt_done = Some(ack.now + self.params.probe_rtt);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = ack.total_delivered;
            }
            None => {}
            Some(done) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done && ack.now > done {
                    self.rtprop_stamp = ack.now;
                    self.saved.restore = true;
                    if self.full.reached { self.enter_probe_bw(ack.now) } else { self.enter_startup() }
                }
            }
        }
    }

    /// Save the last good cwnd (BBRSaveCwnd()).
    fn save_cwnd(&mut self, w: &Window) {
        self.saved.save(w.cwnd, self.mode == Mode::ProbeRtt);
    }

    /// Set the pacing rate, which never falls before the pipe is full (BBRSetPacingRate()).
    fn set_pacing_rate(&mut self, srtt: Duration) {
        self.pacing.init(self.params.high_gain * self.initial_window, srtt);
        let rate = self.pacing_gain * self.btl_bw() * (1.0 - self.params.pacing_margin);
        self.pacing.set(rate, self.full.reached);
    }
}

impl CongestionControl for BbrState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.lost = ack.rate.map_or(0.0, |s| s.lost as f64);
        self.saved.on_ack(ack.in_recovery);
        if !ack.in_recovery {
            self.conservation_round = None;
        }
        self.update_round(ack);
        self.update_btl_bw(ack);
        let extra = self.aggregation.update(ack.now, self.btl_bw(), f64::from(ack.delivered), w.cwnd);
        self.extra_acked.update(self.round_count, extra);
        self.check_cycle_phase(w, ack);
        self.check_full_pipe(ack);
        self.check_drain(w, ack.now);
        self.update_rtprop(w, ack);
        self.check_probe_rtt(w, ack);
        self.set_pacing_rate(ack.srtt);
    }

    /// Return cwnd after an ACK (BBRSetCwnd(), §4.2.3.6).
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        let target = if self.rtprop == UNMEASURED {
            self.initial_window
        } else {
            let product = self.cwnd_gain * self.btl_bw() * self.rtprop.seconds();
            self.quantization_budget(product + self.extra_acked(), w.smss)
        };
        let mut cwnd = self.saved.take_restored(w.cwnd);
        if self.saved.in_recovery && self.lost > 0.0 {
            cwnd = (cwnd - self.lost).max(w.smss);
        }
        if self.conservation_round.is_some() {
            cwnd = cwnd.max(w.pipe + f64::from(ack.delivered));
        } else {
            cwnd = self
                .full
                .grow_cwnd(cwnd, ack, target, self.initial_window)
                .max(self.params.min_pipe.0 * w.smss);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(self.params.min_pipe.0 * w.smss);
        }
        cwnd.max(w.smss)
    }

    fn cwnd_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        match congestion {
            Congestion::Ecn => Some(w.cwnd),
            Congestion::FastRetransmit => {
                self.save_cwnd(w);
                self.saved.in_recovery = true;
                self.conservation_round = Some(self.round_count);
                Some(w.pipe + w.smss)
            }
            Congestion::Timeout { .. } => {
                self.save_cwnd(w);
                Some(w.smss)
            }
        }
    }

    fn undo(&mut self, _: &Window) {
        self.saved.restore = true;
    }

    /// Process the restart after an idle time (BBRHandleRestartFromIdle(), §4.3.4.4).
    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation = Aggregation { interval_start: now, delivered: 0.0 };
        if self.mode == Mode::ProbeBw && self.btl_bw() > 0.0 {
            self.pacing = Pacing(Some(self.btl_bw()));
        }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, _w: &Window, srtt: Duration) -> Option<Rate> {
        Some(self.pacing.rate_or_initial(self.params.high_gain * self.initial_window, srtt))
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
            Mode::ProbeBw => &PROBE_BW,
            Mode::ProbeRtt => &PROBE_RTT,
        }
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        (!matches!(congestion, Congestion::Timeout { .. })).then_some(&LOSS)
    }
}

#[cfg(test)]
mod tests;
