//! BBR, version 1: draft-cardwell-iccrg-bbr-congestion-control-00 (`draft-cardwell-iccrg-bbr-00`) and Cardwell et al.
//! 2016 (`cardwell2016bbr`). The names are the draft's; its pseudo-code of §3.5 and §4 was held against this
//! file line by line.
//!
//! Deviations: the phase in which ProbeBW begins, random in the draft (§4.3.4.2), is a hash of the time, so that
//! runs repeat. RTprop is refreshed by a smaller round trip, not by an equal one, as in Linux (bbr_update_min_rtt): the draft's
//! "<=" (§4.1.2.3) never lets it expire where round trips repeat to the last bit. What ACKs deliver in bunches is allowed for, as
//! in Linux; the draft lacks it. Marks (ECN-Echo) would change nothing, so no ECN is negotiated.
//! Missing: the long-term bandwidth estimate against policers.

use std::ops::RangeInclusive;

use serde_json::json;
use units::param::Json;
use units::{Duration, Packets, Range, Rate, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, RateSample,
};
use crate::window::Window;

use super::max_filter::{LONGEST, MaxFilter};
use super::{Aggregation, FullPipe, NONE, Pacing, Prior};

words! {
    /// By what a phase of the gain ends that tests what is in flight.
    pub enum PhaseEnds {
        /// By what was in flight when the ACK came (draft-cardwell-iccrg-bbr-00 §4.3.4.3).
        InFlight = "in-flight",
        /// By what will be when the pace lets the next segments go, these included where the gain is above one (Linux, bbr_packets_in_net_at_edt).
        AtDeparture = "at-departure",
    }
}

words! {
    /// What BBR adds to bandwidth times RTprop for the segments that hosts hold.
    pub enum Budget {
        /// Three quanta (draft-cardwell-iccrg-bbr-00 §4.2.3.2).
        Quanta = "quanta",
        /// Three quanta, an even number of segments, and two more while the gain is above one (Linux, bbr_quantization_budget).
        Linux = "linux",
    }
}

params! {
    /// BBR (version 1): paces at the bottleneck's bandwidth, the greatest delivery rate of ten round trips,
    /// and limits what is in flight by that bandwidth times the least round trip of ten seconds. Losses
    /// matter little.
    pub struct Bbr: "bbr" {
        /// Gain of pacing and cwnd in Startup (BBRHighGain): 2/ln 2.
        high_gain: f64 = (2.885), in Range::between(1.1, 10.0), from "draft-cardwell-iccrg-bbr-00 §4.3.2.1";
        /// Gain of cwnd in ProbeBW.
        cwnd_gain: f64 = (2.0), in Range::between(1.0, 10.0), from "draft-cardwell-iccrg-bbr-00 §4.3.4.3";
        /// Round trips whose delivery rates are kept (BtlBwFilterLen).
        bandwidth_window: Packets = (Packets(10.0)), in Range::between(1.0, 10.0).whole(), from "draft-cardwell-iccrg-bbr-00 §4.1.1.2";
        /// Time for which the least round trip is kept (RTpropFilterLen).
        rtt_window: Duration = (Duration::from_millis(10_000)), in Range::above(0.0), from "draft-cardwell-iccrg-bbr-00 §4.1.2.2";
        /// Least time spent in ProbeRTT (ProbeRTTDuration).
        probe_rtt: Duration = (Duration::from_millis(200)), in Range::above(0.0), from "draft-cardwell-iccrg-bbr-00 §4.3.5";
        /// Part of what ACKs deliver in bunches, beyond what the bandwidth explains, by which cwnd is larger; 0: none.
        extra_acked_gain: f64 = (1.0), in Range::between(0.0, 10.0), from "Linux, tcp_bbr: 1; the draft has none";
        /// By what is in flight a phase of the gain ends.
        phase_ends: PhaseEnds = (PhaseEnds::InFlight), in Range::ANY, from "draft-cardwell-iccrg-bbr-00 §4.3.4.3; Linux, bbr_is_next_cycle_phase";
        /// What is added to bandwidth times RTprop.
        budget: Budget = (Budget::Quanta), in Range::ANY, from "draft-cardwell-iccrg-bbr-00 §4.2.3.2";
        /// What is paced below the bandwidth.
        pacing_margin: f64 = (0.0), in Range::between(0.0, 0.5), from "draft-cardwell-iccrg-bbr-00 §4.2.1: nothing; Linux, bbr_pacing_margin_percent: 1 %";
        /// Least window (BBRMinPipeCwnd).
        min_pipe: Packets = (Packets(4.0)), in Range::between(1.0, 100.0), from "draft-cardwell-iccrg-bbr-00 §4.2.3.3";
    }
}

impl Control for Bbr {
    type State = BbrState;
    const MARKS: Marks = Marks::Unanswered;
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRackPrr; // it measures what SACK delivers
    const HAS_SLOW_START: bool = false; // Startup is another

    fn begin(&self, window: &Window) -> Self::State {
        BbrState::new(self, window)
    }

    fn in_linux() -> Json {
        json!({"budget": "linux", "phase_ends": "at-departure", "pacing_margin": 0.01})
    }
}

/// Time of whose bandwidth the allowance for bunches is no more, in seconds (Linux, bbr_extra_acked_max_us).
const MOST_EXTRA: f64 = 0.1;
/// Pacing gains of the phases of ProbeBW (§4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// State of BBR, version 1.
#[derive(Clone, Debug)]
pub struct BbrState {
    params: Bbr,
    /// InitialCwnd.
    initial_window: f64,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    bandwidth: MaxFilter,
    /// BBR.rtprop and when it was measured.
    rtprop: Duration,
    rtprop_stamp: Time,
    rtprop_expired: bool,
    /// Rounds by data delivered.
    round_count: u64,
    next_round_delivered: u64,
    round_start: bool,
    full: FullPipe,
    cycle: usize,
    cycle_stamp: Time,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    /// Bytes delivered when ProbeRTT began, and when all that was sent in it will be (C.app_limited).
    slowed: Option<RangeInclusive<u64>>,
    idle_restart: bool,
    prior: Prior,
    /// The round in which recovery began: until it ends, as much is sent as is delivered.
    conservation: Option<u64>,
    /// Bytes found lost with the ACK at hand.
    lost: f64,
    aggregation: Aggregation,
    extra_acked: MaxFilter,
    pacing: Pacing,
}

impl BbrState {
    /// Before the first ACK.
    pub fn new(params: &Bbr, window: &Window) -> Self {
        BbrState {
            params: params.clone(),
            initial_window: window.cwnd,
            mode: Mode::Startup,
            pacing_gain: params.high_gain,
            cwnd_gain: params.high_gain,
            bandwidth: MaxFilter::default(),
            rtprop: NONE,
            rtprop_stamp: Time::ZERO,
            rtprop_expired: false,
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            full: FullPipe::default(),
            cycle: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            slowed: None,
            idle_restart: false,
            prior: Prior::default(),
            conservation: None,
            lost: 0.0,
            aggregation: Aggregation::default(),
            extra_acked: MaxFilter::default(),
            pacing: Pacing::default(),
        }
    }

    /// BBR.BtlBw, in bytes/s.
    fn btl_bw(&self) -> f64 {
        self.bandwidth.get(self.params.bandwidth_window.0 as usize)
    }

    /// BBR.send_quantum, in bytes (§4.2.2).
    fn send_quantum(&self, smss: f64) -> f64 {
        match self.pacing.rate() {
            rate if rate < 1.2e6 / 8.0 => smss,
            rate if rate < 24e6 / 8.0 => 2.0 * smss,
            rate => (rate * 1e-3).min(64_000.0).max(smss),
        }
    }

    /// BBRInflight(gain) (§4.2.3.2).
    fn inflight(&self, gain: f64, smss: f64) -> f64 {
        if self.rtprop == NONE {
            return self.initial_window; // no valid round trip yet
        }
        self.budgeted(gain * self.btl_bw() * self.rtprop.seconds(), smss)
    }

    fn budgeted(&self, inflight: f64, smss: f64) -> f64 {
        let inflight = inflight + 3.0 * self.send_quantum(smss);
        if self.params.budget == Budget::Quanta {
            return inflight;
        }
        let pairs = (inflight / (2.0 * smss)).ceil();
        let probes = self.mode == Mode::ProbeBw && self.cycle == 0;
        2.0 * smss * (pairs + if probes { 1.0 } else { 0.0 })
    }

    /// The excess that ACKs bring in bunches, of the last ten rounds; no more than the bandwidth of 100 ms.
    fn extra_acked(&self) -> f64 {
        if !self.full.reached {
            return 0.0;
        }
        (self.params.extra_acked_gain * self.extra_acked.get(LONGEST)).min(self.btl_bw() * MOST_EXTRA)
    }

    fn update_round(&mut self, ack: &Ack) {
        self.round_start = match ack.rate {
            Some(sample) => sample.prior_delivered >= self.next_round_delivered,
            None => ack.round,
        };
        if self.round_start {
            self.next_round_delivered = ack.total_delivered;
            self.round_count += 1;
            if self.conservation.is_some_and(|began| self.round_count > began) {
                self.conservation = None;
            }
        }
    }

    /// rs.is_app_limited: what was sent in ProbeRTT counts as such (§4.3.5), or a probe of more round trips
    /// than the filter has would leave nothing of the bandwidth.
    fn app_limited(&self, sample: &RateSample) -> bool {
        sample.app_limited || self.slowed.as_ref().is_some_and(|s| s.contains(&sample.prior_delivered))
    }

    fn update_btl_bw(&mut self, ack: &Ack) {
        let Some(sample) = ack.rate.filter(|s| s.interval > Duration::ZERO) else { return };
        let rate = sample.delivered as f64 / sample.interval.seconds();
        if rate >= self.btl_bw() || !self.app_limited(&sample) {
            self.bandwidth.update(self.round_count, rate);
        }
    }

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
            self.begin_phase(self.cycle + 1, ack.now);
        }
    }

    /// What was in flight when the ACK came (rs.prior_in_flight). Linux reckons with what will be when the next segment may go, with
    /// that where the gain is above one (bbr_packets_in_net_at_edt).
    fn in_flight_for_phase(&self, w: &Window, ack: &Ack) -> f64 {
        let prior = w.pipe + f64::from(ack.delivered);
        if self.params.phase_ends == PhaseEnds::InFlight {
            return prior;
        }
        let next = if self.pacing_gain > 1.0 { self.send_quantum(w.smss) } else { 0.0 };
        (prior + next - self.btl_bw() * ack.held_for.seconds()).max(0.0)
    }

    fn begin_phase(&mut self, cycle: usize, now: Time) {
        self.cycle = cycle % CYCLE.len();
        self.pacing_gain = CYCLE[self.cycle];
        self.cycle_stamp = now;
    }

    fn check_full_pipe(&mut self, ack: &Ack) {
        let app_limited = ack.rate.is_none_or(|s| self.app_limited(&s));
        if self.round_start && !app_limited {
            self.full.check(self.btl_bw());
        }
    }

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

    /// Any phase but the one that drains.
    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cwnd_gain = self.params.cwnd_gain;
        let hash = now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let offset = (hash % (CYCLE.len() as u64 - 1)) as usize; // 0..=6
        self.begin_phase(CYCLE.len() - offset, now); // 8 (that is 0), 7, …, 2
    }

    fn enter_startup(&mut self) {
        self.mode = Mode::Startup;
        (self.pacing_gain, self.cwnd_gain) = (self.params.high_gain, self.params.high_gain);
    }

    fn update_rtprop(&mut self, w: &Window, ack: &Ack) {
        if self.rtprop == NONE && ack.min_rtt != NONE {
            (self.rtprop, self.rtprop_stamp) = (ack.min_rtt, ack.now); // §4.3.1: with the handshake's round trip
        }
        self.rtprop_expired = self.rtprop != NONE && ack.now > self.rtprop_stamp + self.params.rtt_window;
        // An ACK of the one segment that was out may have been delayed (Linux, FLAG_ACK_MAYBE_DELAYED).
        let delayed = ack.rate.is_some_and(|s| s.delivered as f64 <= w.smss);
        if let Some(rtt) = ack.rtt
            && (rtt < self.rtprop || (self.rtprop_expired && !delayed))
        {
            (self.rtprop, self.rtprop_stamp) = (rtt, ack.now);
        }
    }

    fn check_probe_rtt(&mut self, w: &Window, ack: &Ack) {
        if self.mode != Mode::ProbeRtt && self.rtprop_expired && !self.idle_restart {
            self.mode = Mode::ProbeRtt;
            (self.pacing_gain, self.cwnd_gain) = (1.0, 1.0);
            self.save_cwnd(w);
            self.probe_rtt_done = None;
            self.slowed = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(w, ack);
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, w: &Window, ack: &Ack) {
        let began = self.slowed.as_ref().map_or(ack.total_delivered, |s| *s.start());
        self.slowed = Some(began..=ack.total_delivered + w.pipe as u64);
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
                    self.prior.restore = true;
                    if self.full.reached { self.enter_probe_bw(ack.now) } else { self.enter_startup() }
                }
            }
        }
    }

    fn save_cwnd(&mut self, w: &Window) {
        self.prior.save(w.cwnd, self.mode == Mode::ProbeRtt);
    }

    /// BBRSetPacingRate: never down before the pipe is filled.
    fn set_pacing_rate(&mut self, srtt: Duration) {
        self.pacing.begin(self.params.high_gain * self.initial_window, srtt);
        let paced = self.pacing_gain * self.btl_bw() * (1.0 - self.params.pacing_margin);
        self.pacing.set(paced, self.full.reached);
    }
}

impl CongestionControl for BbrState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.lost = ack.rate.map_or(0.0, |s| s.lost as f64);
        self.prior.on_ack(ack.in_recovery);
        if !ack.in_recovery {
            self.conservation = None;
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

    /// BBRSetCwnd() (§4.2.3.6).
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        let target = if self.rtprop == NONE {
            self.initial_window
        } else {
            let product = self.cwnd_gain * self.btl_bw() * self.rtprop.seconds();
            self.budgeted(product + self.extra_acked(), w.smss)
        };
        let mut cwnd = self.prior.restored(w.cwnd);
        if self.prior.in_recovery && self.lost > 0.0 {
            cwnd = (cwnd - self.lost).max(w.smss);
        }
        if self.conservation.is_some() {
            cwnd = cwnd.max(w.pipe + f64::from(ack.delivered));
        } else {
            cwnd =
                self.full.grown(cwnd, ack, target, self.initial_window).max(self.params.min_pipe.0 * w.smss);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(self.params.min_pipe.0 * w.smss);
        }
        cwnd.max(w.smss)
    }

    fn cwnd_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        match congestion {
            Congestion::Ecn => Some(w.cwnd),
            Congestion::FastRetransmit => {
                self.save_cwnd(w);
                self.prior.in_recovery = true;
                self.conservation = Some(self.round_count);
                Some(w.pipe + w.smss)
            }
            Congestion::Timeout { .. } => {
                self.save_cwnd(w);
                Some(w.smss)
            }
        }
    }

    fn undo(&mut self, _: &Window) {
        self.prior.restore = true;
    }

    /// BBRHandleRestartFromIdle() (§4.3.4.4).
    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation = Aggregation { since: now, delivered: 0.0 };
        if self.mode == Mode::ProbeBw && self.btl_bw() > 0.0 {
            self.pacing = Pacing(Some(self.btl_bw()));
        }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, _w: &Window, srtt: Duration) -> Option<Rate> {
        Some(self.pacing.or_first(self.params.high_gain * self.initial_window, srtt))
    }

    fn rules_recovery(&self) -> bool {
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
}

#[cfg(test)]
mod tests;
