//! State machine of BBR version 3 (draft §5.3): Startup, Drain, the phases of ProbeBW, and
//! ProbeRTT.

use units::{Duration, Time};

use super::{AckPhase, Bbr3State, Mode, STARTUP_LOSSES};
use crate::window::Window;

/// Return a number from 0 to 1 that is a hash of the time.
fn random_fraction(now: Time) -> f64 {
    (now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1u64 << 24) as f64
}

impl Bbr3State {
    /// Reduce BBR.inflight_longterm after high losses, and end the probe (HandleInflightTooHigh()).
    pub(super) fn handle_inflight_too_high(&mut self, now: Time) {
        self.prev_probe_too_high = true;
        self.bw_probe_sample = false; // one reaction per probe
        if !self.rs.app_limited {
            let min_inflight = self.target_inflight() * self.params.beta;
            self.bounds.inflight_longterm = self.rs.tx_in_flight.max(min_inflight);
        }
        if self.mode == Mode::Up {
            self.undo_mode = Some(Mode::Up);
            self.start_down(now);
        }
    }

    /// Leave Startup if the pipe is full, or if losses are high in a whole round of loss recovery
    /// (CheckStartupDone()).
    pub(super) fn check_startup_done(&mut self) {
        let round_in_recovery = self.recovery_round.is_some_and(|start| self.round_count > start);
        let lost = self.bytes_lost_in_round;
        let high_loss = lost > self.params.loss_threshold.0 * (lost + self.inflight_latest);
        if self.mode == Mode::Startup
            && self.round_start
            && round_in_recovery
            && high_loss
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

    /// Leave Drain once the queue is empty, or after three rounds (CheckDrainDone()).
    pub(super) fn check_drain_done(&mut self, now: Time) {
        let drained = self.inflight <= self.inflight_at(self.bw(), 1.0)
            || self.round_count > self.drain_start_round + 3;
        if self.mode == Mode::Drain && drained {
            self.start_down(now);
        }
    }

    /// Enter a state, and set the gains of the state.
    fn enter(&mut self, mode: Mode, pacing_gain: f64, cwnd_gain: f64) {
        (self.mode, self.pacing_gain, self.cwnd_gain) = (mode, pacing_gain, cwnd_gain);
    }

    /// Enter ProbeBW_DOWN (StartProbeBW_DOWN()).
    fn start_down(&mut self, now: Time) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait() of the draft chooses a random time until the next bandwidth probe
        self.rounds_since_probe_up = u64::from(random_fraction(now) < 0.5);
        self.probe_wait = Duration::from_seconds(2.0 + random_fraction(Time(now.0.wrapping_add(1))));
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.enter(Mode::Down, 0.9, self.params.cwnd_gain);
    }

    /// Enter ProbeBW_CRUISE (StartProbeBW_CRUISE()).
    fn start_cruise(&mut self) {
        self.enter(Mode::Cruise, 1.0, self.params.cwnd_gain);
    }

    /// Enter ProbeBW_REFILL (StartProbeBW_REFILL()).
    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_short_term();
        (self.probe_up_rounds, self.probe_up_acked) = (0, 0.0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.enter(Mode::Refill, 1.0, self.params.cwnd_gain);
    }

    /// Enter ProbeBW_UP (StartProbeBW_UP()).
    fn start_up(&mut self) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.full.reset(self.rs.rate);
        self.enter(Mode::Up, 1.25, self.params.cwnd_gain + 0.25);
        self.raise_slope();
    }

    /// Double the rate at which BBR.inflight_longterm grows (RaiseInflightLongtermSlope()).
    fn raise_slope(&mut self) {
        let growth = (1u64 << self.probe_up_rounds) as f64;
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(self.smss);
    }

    /// Increase BBR.inflight_longterm while probing (ProbeInflightLongtermUpward()).
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

    /// Adapt BBR.inflight_longterm, and return true if the next state was entered
    /// (AdaptLongTermModel()).
    fn adapt_long_term(&mut self) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
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

    /// Return true if the next bandwidth probe is due (IsTimeToProbeBW()).
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = (self.target_inflight() / self.smss).min(63.0);
        now > self.cycle_stamp + self.probe_wait || self.rounds_since_probe_up as f64 >= reno_rounds
    }

    /// Return true if ProbeBW_DOWN is complete (IsTimeToCruise()).
    fn is_time_to_cruise(&self) -> bool {
        self.inflight <= self.inflight_with_headroom()
            && self.inflight <= self.inflight_at(self.max_bw(), 1.0)
    }

    /// Return true if ProbeBW_UP is complete (IsTimeToGoDown()).
    fn is_time_to_go_down(&mut self) -> bool {
        if self.prev_probe_too_high && self.inflight >= self.bounds.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.cwnd_limited && self.cwnd >= self.bounds.inflight_longterm {
            self.full.reset(self.rs.rate); // inflight_longterm limits the bandwidth
            return false;
        }
        self.full.full_bw_now
    }

    /// Advance the phases of ProbeBW (UpdateProbeBWCyclePhase()).
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

    /// Return the window of ProbeRTT in bytes (ProbeRTTCwnd()).
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.bw(), self.params.probe_rtt_cwnd_gain).max(self.min_pipe())
    }

    /// Enter ProbeRTT if it is due, and process the ACKs that arrive during ProbeRTT
    /// (CheckProbeRTT()).
    pub(super) fn check_probe_rtt(&mut self, w: &Window, now: Time) {
        if self.mode != Mode::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(w);
            self.enter(Mode::ProbeRtt, 1.0, self.params.probe_rtt_cwnd_gain);
            self.probe_rtt_done = None;
            self.ack_phase = AckPhase::ProbeStopping;
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

    /// Leave ProbeRTT once it has lasted long enough (CheckProbeRTTDone()).
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_some_and(|done| now > done) {
            self.probe_rtt_stamp = now;
            self.saved.restore = true;
            // ExitProbeRTT() of the draft returns to ProbeBW, or to Startup if the pipe was never
            // full
            self.bounds.reset_short_term();
            if self.full.reached {
                self.start_down(now);
                self.start_cruise();
            } else {
                self.enter_startup();
            }
        }
    }

    /// Enter Startup (EnterStartup()).
    pub(super) fn enter_startup(&mut self) {
        self.enter(Mode::Startup, self.params.startup_pacing_gain, self.params.cwnd_gain);
    }

    /// Save the last good cwnd (SaveCwnd()).
    fn save_cwnd(&mut self, w: &Window) {
        self.saved.save(w.cwnd, self.mode == Mode::ProbeRtt);
    }

    /// Save the state that a spurious loss restores (SaveStateUponLoss()).
    pub(super) fn save_state_upon_loss(&mut self, w: &Window) {
        self.save_cwnd(w);
        self.undo_mode = None;
        self.undo_bounds = self.bounds;
    }
}
