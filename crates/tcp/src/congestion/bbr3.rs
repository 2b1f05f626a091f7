//! BBR, version 3: draft-ietf-ccwg-bbr (`draft-ietf-ccwg-bbr`), the text after its revision 06. The names
//! are the draft's, and so is the order of steps.
//!
//! Deviations: random numbers are a hash of the time, so that runs repeat. What is in flight is
//! FlightSize, which in recovery counts what was SACKed too. What was in flight when a packet was sent
//! (tx_in_flight) is what was delivered and found lost since, which is the same without
//! reordering; what was lost since it was sent is counted from the round in which it was sent. Losses are
//! judged an ACK at a time, not a packet, so InflightAtLoss() is that of the ACK; an ACK that finds losses
//! counts as one lost range. Missing: ECN, as in the draft.

use units::{Duration, Packets, Probability, Range, Rate, Time, params};

use crate::config::Tcp;
use crate::congestion::bbr::paced;
use crate::congestion::max_filter::MaxFilter;
use crate::congestion::{Ack, Congestion, CongestionControl, RateSample};
use crate::sender::Window;

params! {
    /// BBR (version 3): as version 1 a model of bandwidth and least round trip, and of the volume in
    /// flight at which losses exceed 2 %; it probes for bandwidth every two to three seconds, or as often
    /// as Reno would, and yields to losses between.
    pub struct Bbr3: "bbr3" {
        /// Gain of pacing in Startup (StartupPacingGain): 4 ln 2.
        startup_pacing_gain: f64 = (2.77), in Range::between(1.1, 10.0), from "draft-ietf-ccwg-bbr §5.3.1.1";
        /// Gain of pacing in Drain (DrainPacingGain).
        drain_pacing_gain: f64 = (0.5), in Range::between(0.1, 0.99), from "draft-ietf-ccwg-bbr §5.3.2";
        /// Gain of cwnd (DefaultCwndGain).
        cwnd_gain: f64 = (2.0), in Range::between(1.0, 10.0), from "draft-ietf-ccwg-bbr §5.3.1.1";
        /// Loss rate of a round trip that is tolerated while probing (LossThresh).
        loss_threshold: Probability = (Probability(0.02)), in Range::between(0.0, 0.5), from "draft-ietf-ccwg-bbr §2.7";
        /// What a round trip with losses leaves at least of the short-term model (Beta).
        beta: f64 = (0.7), in Range::between(0.1, 0.99), from "draft-ietf-ccwg-bbr §2.7";
        /// Part of the safe volume that is left to others (Headroom).
        headroom: f64 = (0.15), in Range::between(0.0, 0.9), from "draft-ietf-ccwg-bbr §2.7";
        /// Least window (MinPipeCwnd).
        min_pipe: Packets = (Packets(4.0)), in Range::between(1.0, 100.0), from "draft-ietf-ccwg-bbr §2.7";
        /// Time for which the least round trip is kept (MinRTTFilterLen).
        rtt_window: Duration = (Duration::from_millis(10_000)), in Range::above(0.0), from "draft-ietf-ccwg-bbr §2.15.1";
        /// Gain of cwnd in ProbeRTT (ProbeRTTCwndGain).
        probe_rtt_cwnd_gain: f64 = (0.5), in Range::between(0.1, 1.0), from "draft-ietf-ccwg-bbr §2.15.2";
        /// Least time spent in ProbeRTT (ProbeRTTDuration).
        probe_rtt: Duration = (Duration::from_millis(200)), in Range::above(0.0), from "draft-ietf-ccwg-bbr §2.15.2";
        /// Least time between two of them (ProbeRTTInterval).
        probe_rtt_interval: Duration = (Duration::from_millis(5_000)), in Range::above(0.0), from "draft-ietf-ccwg-bbr §2.15.2";
        /// What is paced below the bandwidth (PacingMarginPercent).
        pacing_margin: f64 = (0.01), in Range::between(0.0, 0.5), from "draft-ietf-ccwg-bbr §5.6.2: 1 %";
    }
}

/// MaxBwFilterLen, in ProbeBW cycles.
const MAX_BW_FILTER: usize = 2;
/// ExtraAckedFilterLen, in round trips.
const EXTRA_ACKED_FILTER: usize = 10;
/// BBRStartupFullLossCnt.
const STARTUP_LOSSES: u32 = 6;
const NONE: Duration = Duration(u64::MAX);

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
    fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// IsProbingBW().
    fn accelerates(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }
}

/// BBR.ack_phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The full pipe estimator (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct FullBw {
    baseline: f64,
    count: u32,
    now: bool,
    reached: bool,
}

impl FullBw {
    fn reset(&mut self, baseline: f64) {
        (self.baseline, self.count, self.now) = (baseline, 0, false);
    }

    /// CheckFullBWReached(), at the start of a round that was not application-limited.
    fn check(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= self.baseline * 1.25 {
            return self.reset(rate);
        }
        self.count += 1;
        self.now = self.count >= 3;
        self.reached |= self.now;
    }
}

/// Bounds that losses set: infinite until they do.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bounds {
    const NONE: Bounds = Bounds {
        bw_shortterm: f64::INFINITY,
        inflight_shortterm: f64::INFINITY,
        inflight_longterm: f64::INFINITY,
    };

    fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }
}

/// The rate sample of the ACK at hand (RS).
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

/// State of BBR, version 3.
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
    // Rounds.
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    rounds_since_probe_up: u64,
    drain_start_round: u64,
    /// Bytes lost in all, and at the start of this round and the one before: (delivered, lost).
    lost: u64,
    lost_at: [(u64, u64); 2],
    // Bandwidth.
    max_bw: MaxFilter,
    cycle_count: u64,
    full: FullBw,
    // Delivery and losses of the round.
    bw_latest: f64,
    inflight_latest: f64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    losses_in_round: u32,
    bytes_lost_in_round: f64,
    recovery_round: Option<u64>,
    bounds: Bounds,
    // Aggregation.
    extra_acked: MaxFilter,
    extra_interval: Time,
    extra_delivered: f64,
    // Probing.
    acks: Acks,
    bw_probe_sample: bool,
    probe_up_rounds: u32,
    probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    cycle_stamp: Time,
    probe_wait: Duration,
    // Round trips.
    min_rtt: Duration,
    min_rtt_stamp: Time,
    probe_rtt_min: Duration,
    probe_rtt_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    // Recovery.
    prior_cwnd: f64,
    in_recovery: bool,
    restore: bool,
    undo_mode: Option<Mode>,
    undo_bounds: Bounds,
    /// In bytes/s; none before the first round trip.
    pacing: Option<f64>,
}

/// A number in 0..1 that the time decides.
fn hash(now: Time) -> f64 {
    (now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1u64 << 24) as f64
}

impl Bbr3State {
    /// OnInit().
    pub fn new(params: &Bbr3, tcp: &Tcp) -> Self {
        let smss = tcp.mss.0 as f64;
        Bbr3State {
            params: params.clone(),
            initial_window: tcp.initial_window.bytes(smss),
            smss,
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
            lost_at: [(0, 0); 2],
            max_bw: MaxFilter::default(),
            cycle_count: 0,
            full: FullBw::default(),
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            losses_in_round: 0,
            bytes_lost_in_round: 0.0,
            recovery_round: None,
            bounds: Bounds::NONE,
            extra_acked: MaxFilter::default(),
            extra_interval: Time::ZERO,
            extra_delivered: 0.0,
            acks: Acks::Init,
            bw_probe_sample: false,
            probe_up_rounds: 0,
            probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            cycle_stamp: Time::ZERO,
            probe_wait: Duration::ZERO,
            min_rtt: NONE,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min: NONE,
            probe_rtt_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            prior_cwnd: 0.0,
            in_recovery: false,
            restore: false,
            undo_mode: None,
            undo_bounds: Bounds::NONE,
            pacing: None,
        }
    }

    fn max_bw(&self) -> f64 {
        self.max_bw.get(MAX_BW_FILTER)
    }

    /// BoundBWForModel().
    fn bw(&self) -> f64 {
        self.max_bw().min(self.bounds.bw_shortterm)
    }

    fn min_pipe(&self) -> f64 {
        self.params.min_pipe.0 * self.smss
    }

    /// BDPMultiple(gain) of a bandwidth.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == NONE { self.initial_window } else { gain * bw * self.min_rtt.seconds() }
    }

    /// SetSendQuantum().
    fn send_quantum(&self) -> f64 {
        (self.pacing.unwrap_or(0.0) * 1e-3).min(64_000.0).max(2.0 * self.smss)
    }

    /// QuantizationBudget().
    fn quantized(&self, inflight: f64) -> f64 {
        let up = if self.mode == Mode::Up { 2.0 * self.smss } else { 0.0 };
        inflight.max(3.0 * self.send_quantum()).max(self.min_pipe()) + up
    }

    /// Inflight(bw, gain).
    fn inflight_at(&self, bw: f64, gain: f64) -> f64 {
        self.quantized(self.bdp(bw, gain))
    }

    fn inflight_with_headroom(&self) -> f64 {
        let safe = self.bounds.inflight_longterm;
        if safe == f64::INFINITY {
            return safe;
        }
        (safe - self.smss.max(self.params.headroom * safe)).max(self.min_pipe())
    }

    /// TargetInflight().
    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw(), 1.0).min(self.cwnd)
    }

    fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// GenerateRateSample(): what the ACK says, with what was lost since the packet it is of was sent.
    fn sample(&mut self, w: &Window, ack: &Ack) {
        (self.delivered, self.cwnd, self.inflight) = (ack.total_delivered, w.cwnd, w.flight);
        self.cwnd_limited = ack.cwnd_limited;
        let newly_lost = ack.rate.map_or(0, |s| s.lost);
        self.lost += newly_lost;
        let Some(RateSample { delivered, interval, app_limited, prior_delivered, .. }) = ack.rate else {
            self.rs = Sample { newly_acked: f64::from(ack.delivered), app_limited: true, ..self.rs };
            self.rs.lost = newly_lost as f64;
            return;
        };
        let since = self.lost_at.iter().find(|at| at.0 <= prior_delivered).unwrap_or(&self.lost_at[1]);
        let lost = (self.lost - since.1) as f64;
        self.rs = Sample {
            rate: if interval > Duration::ZERO { delivered as f64 / interval.seconds() } else { 0.0 },
            delivered: delivered as f64,
            prior_delivered,
            // "Ignore low rate samples during ProbeRTT."
            app_limited: app_limited || self.mode == Mode::ProbeRtt,
            newly_acked: f64::from(ack.delivered),
            lost,
            tx_in_flight: delivered as f64 + lost,
        };
    }

    /// HandleLostPacket(), for all that this ACK found lost.
    fn on_loss(&mut self, w: &Window, now: Time, lost: f64) {
        if !self.loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.save_state_upon_loss(w);
        }
        self.loss_in_round = true;
        self.losses_in_round += 1;
        self.bytes_lost_in_round += lost;
        if self.bw_probe_sample && self.inflight_too_high() {
            self.rs.tx_in_flight = self.inflight_at_loss(lost);
            self.handle_inflight_too_high(now);
        }
    }

    fn inflight_too_high(&self) -> bool {
        self.rs.lost > self.rs.tx_in_flight * self.params.loss_threshold.0
    }

    /// At what volume in flight losses passed LossThresh.
    fn inflight_at_loss(&self, lost: f64) -> f64 {
        let threshold = self.params.loss_threshold.0;
        let previous = (self.rs.tx_in_flight - lost).max(0.0);
        let lost_previous = (self.rs.lost - lost).max(0.0);
        let prefix = (threshold * previous - lost_previous) / (1.0 - threshold);
        (previous + prefix).max(0.0)
    }

    fn handle_inflight_too_high(&mut self, now: Time) {
        self.prev_probe_too_high = true;
        self.bw_probe_sample = false; // only react once a probe
        if !self.rs.app_limited {
            let least = self.target_inflight() * self.params.beta;
            self.bounds.inflight_longterm = self.rs.tx_in_flight.max(least);
        }
        if self.mode == Mode::Up {
            self.undo_mode = Some(Mode::Up);
            self.start_down(now);
        }
    }

    fn update_round(&mut self) {
        self.round_start = self.rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.lost_at = [(self.delivered, self.lost), self.lost_at[0]];
        }
    }

    /// UpdateLatestDeliverySignals() and UpdateCongestionSignals().
    fn update_signals(&mut self) {
        self.bw_latest = self.bw_latest.max(self.rs.rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered);
        self.loss_round_start = self.rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
        self.update_round();
        if self.rs.rate > 0.0 && (self.rs.rate >= self.max_bw() || !self.rs.app_limited) {
            self.max_bw.update(self.cycle_count, self.rs.rate);
        }
        if self.loss_round_start {
            if self.loss_in_round && !self.mode.accelerates() {
                self.lower_bounds();
            }
            self.loss_in_round = false;
        }
    }

    /// InitLowerBounds() and LossLowerBounds().
    fn lower_bounds(&mut self) {
        let b = &mut self.bounds;
        if b.bw_shortterm == f64::INFINITY {
            b.bw_shortterm = self.max_bw.get(MAX_BW_FILTER);
        }
        if b.inflight_shortterm == f64::INFINITY {
            b.inflight_shortterm = self.cwnd;
        }
        b.bw_shortterm = self.bw_latest.max(self.params.beta * b.bw_shortterm);
        b.inflight_shortterm = self.inflight_latest.max(self.params.beta * b.inflight_shortterm);
    }

    fn update_aggregation(&mut self, now: Time) {
        let mut expected = self.bw() * now.since(self.extra_interval).seconds();
        if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_interval, expected) = (0.0, now, 0.0);
        }
        self.extra_delivered += self.rs.newly_acked;
        let extra = (self.extra_delivered - expected).min(self.cwnd);
        self.extra_acked.update(self.round_count, extra);
    }

    fn extra_acked(&self) -> f64 {
        self.extra_acked.get(if self.full.reached { EXTRA_ACKED_FILTER } else { 1 })
    }

    /// CheckStartupDone(): the pipe is full, or losses are high for a whole round of recovery.
    fn check_startup_done(&mut self) {
        let recovering = self.recovery_round.is_some_and(|began| self.round_count > began);
        let lost = self.bytes_lost_in_round;
        let high = lost > self.params.loss_threshold.0 * (lost + self.inflight_latest);
        if self.mode == Mode::Startup
            && self.round_start
            && recovering
            && high
            && self.losses_in_round >= STARTUP_LOSSES
        {
            self.undo_mode = Some(Mode::Startup);
            self.full.reached = true;
            self.bounds.inflight_longterm = self.bdp(self.bw(), 1.0).max(self.inflight_latest);
        }
        if self.round_start {
            (self.losses_in_round, self.bytes_lost_in_round) = (0, 0.0);
        }
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.pacing_gain = self.params.drain_pacing_gain;
            self.cwnd_gain = self.params.cwnd_gain;
            self.drain_start_round = self.round_count;
        }
    }

    fn check_drain_done(&mut self, now: Time) {
        let drained = self.inflight <= self.inflight_at(self.bw(), 1.0)
            || self.round_count > self.drain_start_round + 3;
        if self.mode == Mode::Drain && drained {
            self.start_down(now);
        }
    }

    fn enter(&mut self, mode: Mode, pacing_gain: f64, cwnd_gain: f64) {
        (self.mode, self.pacing_gain, self.cwnd_gain) = (mode, pacing_gain, cwnd_gain);
    }

    fn start_down(&mut self, now: Time) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait().
        self.rounds_since_probe_up = u64::from(hash(now) < 0.5);
        self.probe_wait = Duration::from_seconds(2.0 + hash(Time(now.0.wrapping_add(1))));
        self.cycle_stamp = now;
        self.acks = Acks::ProbeStopping;
        self.start_round();
        self.enter(Mode::Down, 0.9, self.params.cwnd_gain);
    }

    fn start_cruise(&mut self) {
        self.enter(Mode::Cruise, 1.0, self.params.cwnd_gain);
    }

    fn start_refill(&mut self) {
        self.bounds.reset_short_term();
        (self.probe_up_rounds, self.probe_up_acked) = (0, 0.0);
        self.prev_probe_precautionary = false;
        self.acks = Acks::Refilling;
        self.start_round();
        self.enter(Mode::Refill, 1.0, self.params.cwnd_gain);
    }

    fn start_up(&mut self) {
        self.acks = Acks::ProbeStarting;
        self.start_round();
        self.full.reset(self.rs.rate);
        self.enter(Mode::Up, 1.25, self.params.cwnd_gain + 0.25);
        self.raise_slope();
    }

    /// RaiseInflightLongtermSlope().
    fn raise_slope(&mut self) {
        let growth = (1u64 << self.probe_up_rounds) as f64;
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(self.smss);
    }

    /// ProbeInflightLongtermUpward().
    fn probe_upward(&mut self) {
        if !self.cwnd_limited || self.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.probe_up_acked += self.rs.newly_acked;
        if self.probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.bounds.inflight_longterm += delta * self.smss;
        }
        if self.round_start {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel(): whether it decided the next state.
    fn adapt_long_term(&mut self) -> bool {
        if self.acks == Acks::ProbeStarting && self.round_start {
            self.acks = Acks::ProbeFeedback;
        }
        if self.acks == Acks::ProbeStopping && self.round_start {
            self.bw_probe_sample = false;
            self.acks = Acks::Init;
            if self.mode.is_probe_bw() && !self.rs.app_limited {
                self.cycle_count += 1; // AdvanceMaxBwFilter()
            }
            if self.mode.is_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.inflight_too_high() && self.bounds.inflight_longterm != f64::INFINITY {
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(self.rs.tx_in_flight);
            if self.mode == Mode::Up {
                self.probe_upward();
            }
        }
        false
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = (self.target_inflight() / self.smss).min(63.0);
        now > self.cycle_stamp + self.probe_wait || self.rounds_since_probe_up as f64 >= reno_rounds
    }

    fn is_time_to_cruise(&self) -> bool {
        self.inflight <= self.inflight_with_headroom()
            && self.inflight <= self.inflight_at(self.max_bw(), 1.0)
    }

    fn is_time_to_go_down(&mut self) -> bool {
        if self.prev_probe_too_high && self.inflight >= self.bounds.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.cwnd_limited && self.cwnd >= self.bounds.inflight_longterm {
            self.full.reset(self.rs.rate); // bandwidth is limited by inflight_longterm
            return false;
        }
        self.full.now
    }

    /// UpdateProbeBWCyclePhase().
    fn update_cycle(&mut self, now: Time) {
        if !self.full.reached || self.adapt_long_term() {
            return;
        }
        let mode = self.mode;
        match mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(now) => self.start_refill(),
            Mode::Down if self.is_time_to_cruise() => self.start_cruise(),
            Mode::Refill if self.round_start => {
                self.bw_probe_sample = true;
                self.start_up();
            }
            Mode::Up if self.is_time_to_go_down() => {
                self.prev_probe_too_high = false;
                self.start_down(now);
            }
            _ => {}
        }
    }

    fn update_min_rtt(&mut self, ack: &Ack) {
        self.probe_rtt_expired = ack.now > self.probe_rtt_stamp + self.params.probe_rtt_interval;
        if let Some(rtt) = ack.rtt
            && (rtt < self.probe_rtt_min || self.probe_rtt_expired)
        {
            (self.probe_rtt_min, self.probe_rtt_stamp) = (rtt, ack.now);
        }
        let expired = ack.now > self.min_rtt_stamp + self.params.rtt_window;
        if self.probe_rtt_min < self.min_rtt || expired {
            (self.min_rtt, self.min_rtt_stamp) = (self.probe_rtt_min, self.probe_rtt_stamp);
        }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.bw(), self.params.probe_rtt_cwnd_gain).max(self.min_pipe())
    }

    fn check_probe_rtt(&mut self, w: &Window, now: Time) {
        if self.mode != Mode::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(w);
            self.enter(Mode::ProbeRtt, 1.0, self.params.probe_rtt_cwnd_gain);
            self.probe_rtt_done = None;
            self.acks = Acks::ProbeStopping;
            self.start_round();
        }
        if self.mode == Mode::ProbeRtt {
            match self.probe_rtt_done {
                None if self.inflight <= self.probe_rtt_cwnd() => {
                    self.probe_rtt_done = Some(now + self.params.probe_rtt);
                    self.probe_rtt_round_done = false;
                    self.start_round();
                }
                None => {}
                Some(_) => {
                    self.probe_rtt_round_done |= self.round_start;
                    if self.probe_rtt_round_done {
                        self.check_probe_rtt_done(now);
                    }
                }
            }
        }
        if self.rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_some_and(|done| now > done) {
            self.probe_rtt_stamp = now;
            self.restore = true;
            // ExitProbeRTT().
            self.bounds.reset_short_term();
            if self.full.reached {
                self.start_down(now);
                self.start_cruise();
            } else {
                self.enter_startup();
            }
        }
    }

    fn enter_startup(&mut self) {
        self.enter(Mode::Startup, self.params.startup_pacing_gain, self.params.cwnd_gain);
    }

    fn save_cwnd(&mut self, w: &Window) {
        self.prior_cwnd = if !self.in_recovery && self.mode != Mode::ProbeRtt {
            w.cwnd
        } else {
            self.prior_cwnd.max(w.cwnd)
        };
    }

    fn save_state_upon_loss(&mut self, w: &Window) {
        self.save_cwnd(w);
        self.undo_mode = None;
        self.undo_bounds = self.bounds;
    }

    /// SetPacingRate(): never down before the pipe is full.
    fn set_pacing_rate(&mut self, gain: f64, srtt: Duration) {
        if self.pacing.is_none() && srtt > Duration::ZERO {
            self.pacing = Some(self.params.startup_pacing_gain * self.initial_window / srtt.seconds());
        }
        let rate = gain * self.bw() * (1.0 - self.params.pacing_margin);
        if rate > 0.0 && (self.full.reached || self.pacing.is_none_or(|now| rate > now)) {
            self.pacing = Some(rate);
        }
    }

    /// BoundCwndForModel().
    fn bounded(&self, cwnd: f64) -> f64 {
        let cap = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_longterm,
            Mode::ProbeRtt | Mode::Cruise => self.inflight_with_headroom(),
            Mode::Startup | Mode::Drain => f64::INFINITY,
        };
        cwnd.min(cap.min(self.bounds.inflight_shortterm).max(self.min_pipe()))
    }
}

impl CongestionControl for Bbr3State {
    /// UpdateModelAndState().
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.restore = self.in_recovery && !ack.in_recovery;
        self.in_recovery = ack.in_recovery;
        if !self.in_recovery {
            self.recovery_round = None;
        }
        self.sample(w, ack);
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

    /// SetCwnd().
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        let max_inflight = self.quantized(self.bdp(self.bw(), self.cwnd_gain) + self.extra_acked());
        let acked = f64::from(ack.delivered);
        let mut cwnd = w.cwnd;
        if std::mem::take(&mut self.restore) {
            cwnd = cwnd.max(self.prior_cwnd);
        }
        if self.full.reached {
            cwnd = (cwnd + acked).min(max_inflight);
        } else if cwnd < max_inflight || (ack.total_delivered as f64) < self.initial_window {
            cwnd += acked;
        }
        cwnd = cwnd.max(self.min_pipe());
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        self.bounded(cwnd).max(w.smss)
    }

    /// BBR has no ssthresh.
    fn ssthresh_on(&mut self, w: &Window, _congestion: Congestion, _now: Time) -> f64 {
        w.ssthresh
    }

    /// OnEnterFastRecovery() and OnEnterRTO().
    fn cwnd_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        match congestion {
            Congestion::Ecn => Some(w.cwnd),
            Congestion::FastRetransmit => {
                self.save_state_upon_loss(w);
                self.in_recovery = true;
                self.recovery_round.get_or_insert(self.round_count);
                Some(w.cwnd)
            }
            Congestion::Timeout { .. } => {
                self.save_state_upon_loss(w);
                Some(w.smss)
            }
        }
    }

    /// HandleSpuriousLossDetection().
    fn undo(&mut self, _: &Window) {
        self.restore = true;
        self.loss_in_round = false;
        self.full.reset(0.0);
        let (now, was) = (&mut self.bounds, self.undo_bounds);
        now.bw_shortterm = now.bw_shortterm.max(was.bw_shortterm);
        now.inflight_shortterm = now.inflight_shortterm.max(was.inflight_shortterm);
        now.inflight_longterm = now.inflight_longterm.max(was.inflight_longterm);
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

    /// HandleRestartFromIdle().
    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.idle_restart = true;
        self.extra_interval = now;
        if self.mode.is_probe_bw() {
            self.set_pacing_rate(1.0, Duration::ZERO);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    fn pacing_rate(&self, _w: &Window, srtt: Duration) -> Option<Rate> {
        let rtt = if srtt == Duration::ZERO { 1e-3 } else { srtt.seconds() };
        let first = self.params.startup_pacing_gain * self.initial_window / rtt; // InitPacingRate()
        Some(paced(self.pacing.unwrap_or(first)))
    }

    fn rules_recovery(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim};
    use units::Bytes;

    /// 2 MB/s, 50 ms: 100 packets.
    fn sim(buffer: usize) -> Sim<Bbr3State> {
        let tcp = Tcp { mss: Bytes(MSS as u64), ..Tcp::default() };
        let bbr = Bbr3State::new(&super::super::defaults(), &tcp);
        Sim::new(bbr, Path { buffer, ..Path::new(16_000_000, 50) }, 10.0, f64::INFINITY)
    }

    /// Draft, figure of §5.1.1: Startup, Drain, then DOWN, CRUISE, REFILL, UP and again, with ProbeRTT. An
    /// ACK that ends Drain finds the queue drained, and DOWN over at once.
    #[test]
    fn the_states_follow_the_diagram() {
        let mut sim = sim(1000);
        let mut modes = vec![Mode::Startup];
        sim.run(12.0, |sim| {
            let mode = sim.controller.mode;
            if modes.last() != Some(&mode) {
                modes.push(mode);
            }
        });
        assert_eq!(modes[..2], [Mode::Startup, Mode::Drain], "{modes:?}");
        for pair in modes.windows(2) {
            let next = pair[1];
            let allowed = match pair[0] {
                Mode::Startup => next == Mode::Drain,
                Mode::Drain => matches!(next, Mode::Down | Mode::Cruise),
                Mode::Down => matches!(next, Mode::Cruise | Mode::Refill | Mode::ProbeRtt),
                Mode::Cruise => matches!(next, Mode::Refill | Mode::ProbeRtt),
                Mode::Refill => matches!(next, Mode::Up | Mode::ProbeRtt),
                Mode::Up => matches!(next, Mode::Down | Mode::ProbeRtt),
                Mode::ProbeRtt => matches!(next, Mode::Cruise | Mode::Startup),
            };
            assert!(allowed, "{pair:?}");
        }
        for mode in [Mode::Down, Mode::Cruise, Mode::Refill, Mode::Up, Mode::ProbeRtt] {
            assert!(modes.contains(&mode), "{modes:?}");
        }
    }

    #[test]
    fn the_model_is_the_path() {
        let mut sim = sim(1000);
        sim.run(3.0, |_| {});
        let before = sim.delivered;
        sim.run(9.0, |_| {});
        let bbr = &sim.controller;
        assert!((bbr.max_bw() / 2e6 - 1.0).abs() < 0.01, "{}", bbr.max_bw());
        assert!((bbr.min_rtt.seconds() / 0.0505 - 1.0).abs() < 0.01, "{:?}", bbr.min_rtt);
        assert!((sim.delivered - before) as f64 > 0.95 * 2e6 * 6.0);
        assert!(sim.events.is_empty());
    }

    /// ProbeRTT every five seconds, with half the bandwidth-delay product for 200 ms and a round trip.
    #[test]
    fn probe_rtt_halves_the_window() {
        let mut sim = sim(1000);
        let (mut entered, mut left, mut least) = (None, None, f64::INFINITY);
        sim.run(9.0, |sim| {
            let probing = sim.controller.mode == Mode::ProbeRtt;
            if probing && left.is_none() {
                entered.get_or_insert(sim.now.seconds());
                least = least.min(sim.segments());
            } else if entered.is_some() {
                left.get_or_insert(sim.now.seconds());
            }
        });
        let spent = left.unwrap() - entered.unwrap();
        assert!((5.0..7.0).contains(&entered.unwrap()), "{entered:?}");
        assert!((0.2..0.45).contains(&spent), "{spent}");
        assert!((45.0..56.0).contains(&least), "{least}");
    }

    /// The full pipe estimator: three rounds of less than a quarter of growth.
    #[test]
    fn three_rounds_without_growth_are_a_full_pipe() {
        let mut full = FullBw::default();
        for (rate, now) in [(1.0, false), (2.0, false), (2.4, false), (2.49, false), (2.4, true)] {
            full.check(rate);
            assert_eq!(full.now, now, "{rate}");
        }
        full.reset(0.0);
        assert!(full.reached && !full.now);
    }

    /// InflightAtLoss() by hand: 100 in flight of which 4 are lost, 3 of them with this ACK: 97 before, 1 lost:
    /// (0.02·97 − 1)/0.98 = 0.96 more cross the threshold.
    #[test]
    fn the_volume_at_which_losses_pass_the_threshold() {
        let mut sim = sim(1000);
        sim.controller.rs = Sample { tx_in_flight: 100.0, lost: 4.0, ..Sample::default() };
        assert!((sim.controller.inflight_at_loss(3.0) - (97.0 + 0.94 / 0.98)).abs() < 1e-12);
    }

    /// A round with losses while not probing leaves at least 0.7 of the short-term model.
    #[test]
    fn losses_lower_the_short_term_bounds_by_at_most_three_tenths() {
        let mut b = sim(1000).controller;
        b.max_bw.update(0, 1000.0);
        (b.cwnd, b.bw_latest, b.inflight_latest) = (500.0, 100.0, 450.0);
        b.lower_bounds();
        assert!((b.bounds.bw_shortterm - 700.0).abs() < 1e-9);
        assert!((b.bounds.inflight_shortterm - 450.0).abs() < 1e-9);
        b.lower_bounds();
        assert!((b.bounds.bw_shortterm - 490.0).abs() < 1e-9);
    }

    /// A small buffer: the safe volume is found, losses stay few, and the link is nearly full.
    #[test]
    fn a_small_buffer_bounds_what_is_in_flight() {
        let mut sim = sim(40);
        sim.run(4.0, |_| {});
        let (before, sent) = (sim.delivered, sim.next_number());
        sim.run(16.0, |_| {});
        let delivered = (sim.delivered - before) as f64;
        let lost = 1.0 - delivered / MSS / (sim.next_number() - sent) as f64;
        assert!(delivered > 0.8 * 2e6 * 12.0, "{delivered}");
        assert!(lost < 0.03, "{lost}");
    }
}
