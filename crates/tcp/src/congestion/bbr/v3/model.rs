//! Model of BBR version 3 (draft §5.5): rate sample, bandwidth, losses, aggregation, round-trip
//! times, and the resulting volumes in flight.

use units::{Duration, Time};

use super::{Bbr3State, EXTRA_ACKED_FILTER, MAX_BW_FILTER, Mode, Sample, UNMEASURED};
use crate::congestion::event::{Ack, RateSample};
use crate::window::Window;

impl Bbr3State {
    /// Return BBR.max_bw, in bytes/s.
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw.get(MAX_BW_FILTER)
    }

    /// Return BBR.bw, the bandwidth within the short-term bound (BoundBWForModel()).
    pub(super) fn bw(&self) -> f64 {
        self.max_bw().min(self.bounds.bw_shortterm)
    }

    /// Return MinPipeCwnd in bytes.
    pub(super) fn min_pipe(&self) -> f64 {
        self.params.min_pipe.0 * self.smss
    }

    /// Return `gain` times the bandwidth-delay product of a bandwidth (BDPMultiple(gain)).
    pub(super) fn bdp(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == UNMEASURED { self.initial_window } else { gain * bw * self.min_rtt.seconds() }
    }

    /// Return BBR.send_quantum in bytes (SetSendQuantum()).
    fn send_quantum(&self) -> f64 {
        (self.pacing.rate() * 1e-3).min(64_000.0).max(2.0 * self.smss)
    }

    /// Return a volume in flight, increased as the send quantum and the minimum window require
    /// (QuantizationBudget()).
    pub(super) fn quantization_budget(&self, inflight: f64) -> f64 {
        let probe_up = if self.mode == Mode::Up { 2.0 * self.smss } else { 0.0 };
        inflight.max(3.0 * self.send_quantum()).max(self.min_pipe()) + probe_up
    }

    /// Return the volume in flight for a bandwidth and a gain (Inflight(bw, gain)).
    pub(super) fn inflight_at(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp(bw, gain))
    }

    /// Return BBR.inflight_longterm less the headroom for other flows (InflightWithHeadroom()).
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let inflight_longterm = self.bounds.inflight_longterm;
        if inflight_longterm == f64::INFINITY {
            return inflight_longterm;
        }
        (inflight_longterm - self.smss.max(self.params.headroom * inflight_longterm)).max(self.min_pipe())
    }

    /// Return the bandwidth-delay product, at most cwnd (TargetInflight()).
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(self.bw(), 1.0).min(self.cwnd)
    }

    /// Start a round (StartRound()).
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// Compute the delivery rate sample of an ACK, with the losses since the acknowledged packet
    /// was sent (GenerateRateSample()).
    pub(super) fn generate_rate_sample(&mut self, w: &Window, ack: &Ack) {
        (self.delivered, self.cwnd, self.inflight) = (ack.total_delivered, w.cwnd, w.pipe);
        self.cwnd_limited = ack.cwnd_limited;
        let newly_lost = ack.rate.map_or(0, |s| s.lost);
        self.lost += newly_lost;
        let Some(RateSample { delivered, interval, app_limited, prior_delivered, .. }) = ack.rate else {
            self.rs = Sample { newly_acked: f64::from(ack.delivered), app_limited: true, ..self.rs };
            self.rs.lost = newly_lost as f64;
            return;
        };
        let counts =
            self.loss_counts.iter().find(|at| at.0 <= prior_delivered).unwrap_or(&self.loss_counts[1]);
        let lost = (self.lost - counts.1) as f64;
        self.rs = Sample {
            rate: if interval > Duration::ZERO { delivered as f64 / interval.seconds() } else { 0.0 },
            delivered: delivered as f64,
            prior_delivered,
            // Draft §5.5: "Ignore low rate samples during ProbeRTT."
            app_limited: app_limited || self.mode == Mode::ProbeRtt,
            newly_acked: f64::from(ack.delivered),
            lost,
            tx_in_flight: delivered as f64 + lost,
        };
    }

    /// Process the losses that an ACK declared (HandleLostPacket()).
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

    /// Return true if the loss rate exceeds LossThresh (IsInflightTooHigh()).
    pub(super) fn inflight_too_high(&self) -> bool {
        self.rs.lost > self.rs.tx_in_flight * self.params.loss_threshold.0
    }

    /// Return the volume in flight at which the losses exceeded LossThresh (InflightAtLoss()).
    pub(super) fn inflight_at_loss(&self, lost: f64) -> f64 {
        let threshold = self.params.loss_threshold.0;
        let previous = (self.rs.tx_in_flight - lost).max(0.0);
        let lost_previous = (self.rs.lost - lost).max(0.0);
        let prefix = (threshold * previous - lost_previous) / (1.0 - threshold);
        (previous + prefix).max(0.0)
    }

    /// Count rounds (UpdateRound()).
    fn update_round(&mut self) {
        self.round_start = self.rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.loss_counts = [(self.delivered, self.lost), self.loss_counts[0]];
        }
    }

    /// Update the signals of delivery and congestion (UpdateLatestDeliverySignals() and
    /// UpdateCongestionSignals()).
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
            if self.loss_in_round && !self.mode.is_probing_bw() {
                self.adapt_lower_bounds();
            }
            self.loss_in_round = false;
        }
    }

    /// Set the short-term bounds after a round with losses (InitLowerBounds() and
    /// LossLowerBounds()).
    pub(super) fn adapt_lower_bounds(&mut self) {
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

    /// Update the filter of aggregated ACKs (UpdateACKAggregation()).
    pub(super) fn update_aggregation(&mut self, now: Time) {
        let extra = self.aggregation.update(now, self.bw(), self.rs.newly_acked, self.cwnd);
        self.extra_acked.update(self.round_count, extra);
    }

    /// Return BBR.extra_acked in bytes.
    pub(super) fn extra_acked(&self) -> f64 {
        self.extra_acked.get(if self.full.reached { EXTRA_ACKED_FILTER } else { 1 })
    }

    /// Update BBR.min_rtt (UpdateMinRTT()).
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        // The initial value of the time stamps is the time at which the connection begins, so the
        // minimum round-trip time cannot expire before the first measurement.
        self.probe_rtt_expired = self.probe_rtt_min != UNMEASURED
            && ack.now > self.probe_rtt_stamp + self.params.probe_rtt_interval;
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

    /// Set the pacing rate. Before the pipe is full, the pacing rate never falls (SetPacingRate()).
    pub(super) fn set_pacing_rate(&mut self, gain: f64, srtt: Duration) {
        self.pacing.init(self.params.startup_pacing_gain * self.initial_window, srtt);
        let rate = gain * self.bw() * (1.0 - self.params.pacing_margin);
        self.pacing.set(rate, self.full.reached);
    }

    /// Return cwnd within the bounds of the state (BoundCwndForModel()).
    pub(super) fn bound_cwnd(&self, cwnd: f64) -> f64 {
        let cap = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_longterm,
            Mode::ProbeRtt | Mode::Cruise => self.inflight_with_headroom(),
            Mode::Startup | Mode::Drain => f64::INFINITY,
        };
        cwnd.min(cap.min(self.bounds.inflight_shortterm).max(self.min_pipe()))
    }
}
