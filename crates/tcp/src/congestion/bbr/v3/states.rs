//! The state machine (§5.3): Startup, Drain, the cycle of ProbeBW, ProbeRTT.

use units::{Duration, Time};

use super::{Acks, Bbr3State, Mode, STARTUP_LOSSES};
use crate::window::Window;

/// A number in 0..1 that the time decides.
fn hash(now: Time) -> f64 {
    (now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1u64 << 24) as f64
}

impl Bbr3State {
    pub(super) fn handle_inflight_too_high(&mut self, now: Time) {
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

    /// CheckStartupDone(): the pipe is full, or losses are high for a whole round of recovery.
    pub(super) fn check_startup_done(&mut self) {
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

    pub(super) fn check_drain_done(&mut self, now: Time) {
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

    pub(super) fn start_refill(&mut self) {
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
    pub(super) fn update_cycle(&mut self, now: Time) {
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

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.bw(), self.params.probe_rtt_cwnd_gain).max(self.min_pipe())
    }

    pub(super) fn check_probe_rtt(&mut self, w: &Window, now: Time) {
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

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_some_and(|done| now > done) {
            self.probe_rtt_stamp = now;
            self.prior.restore = true;
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

    pub(super) fn enter_startup(&mut self) {
        self.enter(Mode::Startup, self.params.startup_pacing_gain, self.params.cwnd_gain);
    }

    fn save_cwnd(&mut self, w: &Window) {
        self.prior.save(w.cwnd, self.mode == Mode::ProbeRtt);
    }

    pub(super) fn save_state_upon_loss(&mut self, w: &Window) {
        self.save_cwnd(w);
        self.undo_mode = None;
        self.undo_bounds = self.bounds;
    }
}
