//! The model (§5.5): the rate sample, bandwidth, losses, aggregation, round trips, and the volumes that follow.

use units::{Duration, Time};

use super::{Bbr3State, EXTRA_ACKED_FILTER, MAX_BW_FILTER, Mode, NONE, Sample};
use crate::congestion::control::{Ack, RateSample};
use crate::window::Window;

impl Bbr3State {
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw.get(MAX_BW_FILTER)
    }

    /// BoundBWForModel().
    pub(super) fn bw(&self) -> f64 {
        self.max_bw().min(self.bounds.bw_shortterm)
    }

    pub(super) fn min_pipe(&self) -> f64 {
        self.params.min_pipe.0 * self.smss
    }

    /// BDPMultiple(gain) of a bandwidth.
    pub(super) fn bdp(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == NONE { self.initial_window } else { gain * bw * self.min_rtt.seconds() }
    }

    /// SetSendQuantum().
    fn send_quantum(&self) -> f64 {
        (self.pacing.rate() * 1e-3).min(64_000.0).max(2.0 * self.smss)
    }

    /// QuantizationBudget().
    pub(super) fn quantized(&self, inflight: f64) -> f64 {
        let up = if self.mode == Mode::Up { 2.0 * self.smss } else { 0.0 };
        inflight.max(3.0 * self.send_quantum()).max(self.min_pipe()) + up
    }

    /// Inflight(bw, gain).
    pub(super) fn inflight_at(&self, bw: f64, gain: f64) -> f64 {
        self.quantized(self.bdp(bw, gain))
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let safe = self.bounds.inflight_longterm;
        if safe == f64::INFINITY {
            return safe;
        }
        (safe - self.smss.max(self.params.headroom * safe)).max(self.min_pipe())
    }

    /// TargetInflight().
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(self.bw(), 1.0).min(self.cwnd)
    }

    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// GenerateRateSample(): what the ACK says, with what was lost since the packet it is of was sent.
    pub(super) fn sample(&mut self, w: &Window, ack: &Ack) {
        (self.delivered, self.cwnd, self.inflight) = (ack.total_delivered, w.cwnd, w.pipe);
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
    pub(super) fn on_loss(&mut self, w: &Window, now: Time, lost: f64) {
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

    pub(super) fn inflight_too_high(&self) -> bool {
        self.rs.lost > self.rs.tx_in_flight * self.params.loss_threshold.0
    }

    /// At what volume in flight losses passed LossThresh.
    pub(super) fn inflight_at_loss(&self, lost: f64) -> f64 {
        let threshold = self.params.loss_threshold.0;
        let previous = (self.rs.tx_in_flight - lost).max(0.0);
        let lost_previous = (self.rs.lost - lost).max(0.0);
        let prefix = (threshold * previous - lost_previous) / (1.0 - threshold);
        (previous + prefix).max(0.0)
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
    pub(super) fn update_signals(&mut self) {
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
    pub(super) fn lower_bounds(&mut self) {
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

    pub(super) fn update_aggregation(&mut self, now: Time) {
        let extra = self.aggregation.update(now, self.bw(), self.rs.newly_acked, self.cwnd);
        self.extra_acked.update(self.round_count, extra);
    }

    pub(super) fn extra_acked(&self) -> f64 {
        self.extra_acked.get(if self.full.reached { EXTRA_ACKED_FILTER } else { 1 })
    }

    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        // The stamps begin with the connection: before the first round trip nothing expires.
        self.probe_rtt_expired =
            self.probe_rtt_min != NONE && ack.now > self.probe_rtt_stamp + self.params.probe_rtt_interval;
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

    /// SetPacingRate(): never down before the pipe is full.
    pub(super) fn set_pacing_rate(&mut self, gain: f64, srtt: Duration) {
        self.pacing.begin(self.params.startup_pacing_gain * self.initial_window, srtt);
        let rate = gain * self.bw() * (1.0 - self.params.pacing_margin);
        self.pacing.set(rate, self.full.reached);
    }

    /// BoundCwndForModel().
    pub(super) fn bounded(&self, cwnd: f64) -> f64 {
        let cap = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_longterm,
            Mode::ProbeRtt | Mode::Cruise => self.inflight_with_headroom(),
            Mode::Startup | Mode::Drain => f64::INFINITY,
        };
        cwnd.min(cap.min(self.bounds.inflight_shortterm).max(self.min_pipe()))
    }
}
