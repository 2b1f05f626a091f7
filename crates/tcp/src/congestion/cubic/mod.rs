//! CUBIC (`cubic`), RFC 9438 (`rfc9438`): cwnd is a cubic function of the time since the last
//! congestion, and at least an estimate of Reno's cwnd.
//!
//! Windows in this file are in segments. Each acknowledged segment increases cwnd by (target −
//! cwnd)/cwnd, whereas in RFC 9438 §4.4 each ACK increases cwnd by this amount. With delayed ACKs,
//! one ACK acknowledges two segments, so an increase per ACK would halve the growth of cwnd. Linux
//! also increases cwnd for each acknowledged segment. If cwnd is at least W_max when congestion
//! avoidance begins, K is 0 and W_max is cwnd, because equation 2 would make K negative.
//!
//! An epoch begins with the first ACK after loss recovery that increases cwnd, as in Linux. RFC
//! 9438 §4.2 begins the epoch when congestion avoidance starts. The two definitions of an epoch
//! differ only if loss recovery ends without data in flight. The window validation of RFC 7661 for
//! rate-limited flows belongs to the sender. The file `linux.rs` contains the arithmetic of Linux.

mod linux;

use net::{Rule, rules};
use serde_json::json;
use units::param::Json;
use units::{Duration, Range, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::SlowStart;
use crate::window::{Window, Windows};

words! {
    /// Additional reduction of W_max for a flow whose window shrinks from one congestion event to
    /// the next.
    pub enum FastConvergence {
        /// W_max becomes cwnd (1 + β)/2 if cwnd has not reached the last W_max (RFC 9438 §4.7).
        On = "on",
        /// W_max is always cwnd. A W_max that is always cwnd suits a flow that does not share its
        /// bottleneck.
        Off = "off",
    }
}

words! {
    /// Arithmetic of the cubic function of the window.
    pub enum Arithmetic {
        /// Real numbers, as in RFC 9438.
        Rfc9438 = "rfc9438",
        /// Integers and whole segments, as in Linux's tcp_cubic. β and C are multiples of 1/1024,
        /// by default 717/1024 and 410/1024.
        Linux = "linux",
    }
}

params! {
    /// CUBIC. After congestion cwnd grows as C(t − K)³ + W_max: fast towards the window at which
    /// congestion occurred, slowly around it, and fast again beyond it. The growth does not depend
    /// on the round-trip time. If Reno's cwnd would be larger, cwnd follows the estimate of Reno's
    /// cwnd.
    pub struct Cubic: "cubic" {
        /// Aggressiveness of the growth (C), in segments/s³.
        c: f64 = (0.4), in Range::between(0.001, 1000.0), from "rfc9438 §5";
        /// Factor by which congestion multiplies the window (β_cubic).
        beta: f64 = (0.7), in Range::between(0.1, 0.95), from "rfc9438 §4.6";
        /// Additional reduction of W_max for a flow whose window shrinks from one congestion event
        /// to the next.
        fast_convergence: FastConvergence = (FastConvergence::On), in Range::ANY, from "rfc9438 §4.7";
        /// Arithmetic of the cubic function of the window.
        arithmetic: Arithmetic = (Arithmetic::Rfc9438), in Range::ANY, from "rfc9438 §4.2; Linux, tcp_cubic";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::hystart()), in Range::ANY, from "rfc9438 §4.10: CUBIC should use HyStart++";
    }
}

rules! {
    /// cwnd follows the estimate of Reno's cwnd, which is larger than the cubic function.
    FRIENDLY = "cubic-reno-friendly", from "rfc9438 §4.3";
    /// cwnd approaches W_max by the concave part of the cubic function.
    CONCAVE = "cubic-concave", from "rfc9438 §4.4";
    /// cwnd exceeds W_max and grows by the convex part of the cubic function.
    CONVEX = "cubic-convex", from "rfc9438 §4.5";
    /// cwnd is at least the cubic function, so that cwnd grows by one segment per 100 windows. Only
    /// Linux's arithmetic has this rule.
    ABOVE_CURVE = "cubic-above-curve", from "Linux, tcp_cubic: bictcp_update";
    /// Before the first congestion cwnd grows by one segment per 20 acknowledged segments, which is
    /// faster than the cubic function. Only Linux's arithmetic has this rule.
    BEFORE_CONGESTION = "cubic-before-congestion", from "Linux, tcp_cubic: bictcp_update";
    /// A loss multiplies the window by beta_cubic.
    LOSS = "cubic-loss", from "rfc9438 §4.6; Linux, tcp_cubic: cubictcp_recalc_ssthresh";
    /// A loss multiplies the window by beta_cubic. cwnd had not reached the last W_max, so fast
    /// convergence reduces W_max below cwnd.
    LOSS_CONVERGES = "cubic-loss-fast-convergence", from "rfc9438 §4.7; Linux, tcp_cubic: cubictcp_recalc_ssthresh";
    /// An ACK with ECN-Echo multiplies the window by beta_cubic.
    MARK = "cubic-mark", from "rfc9438 §4.6; Linux, tcp_cubic: cubictcp_recalc_ssthresh";
    /// An ACK with ECN-Echo multiplies the window by beta_cubic. cwnd had not reached the last
    /// W_max, so fast convergence reduces W_max below cwnd.
    MARK_CONVERGES = "cubic-mark-fast-convergence", from "rfc9438 §4.7; Linux, tcp_cubic: cubictcp_recalc_ssthresh";
}

impl Control for Cubic {
    type State = CubicState;
    const RULES: &'static [Rule] = RULES;
    /// Loss recovery by RACK, which RFC 9438 §3.1 names, and by PRR, which RFC 9438 §4.6 allows.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRackPrr;

    fn new_state(&self, _: &Window) -> Self::State {
        CubicState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({"slow_start": {"kind": "hybrid"}, "arithmetic": "linux"})
    }
}

/// Epoch: one congestion avoidance stage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    /// Start of the epoch (t_epoch). While cwnd does not limit the sender, the start of the epoch
    /// moves forward.
    start: Time,
    /// Time K in seconds at which the curve reaches W_max.
    k: f64,
    /// Estimate of the cwnd that Reno would have (W_est).
    w_est: f64,
}

/// State that a congestion event replaces, and that [`CongestionControl::undo`] restores.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// W_max; absent before the first congestion and after a timeout (RFC 9438 §4.8).
    w_max: Option<f64>,
    /// cwnd_prior; absent before ssthresh was first set.
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
}

/// State of CUBIC in a connection.
#[derive(Clone, Debug)]
pub struct CubicState {
    params: Cubic,
    growth: Growth,
    curve: Curve,
    /// State of the cubic curve in Linux's integer arithmetic.
    linux: linux::Curve,
    /// Parameters in Linux's arithmetic.
    linux_scale: linux::Scale,
    /// Curve before the last congestion event. If the response to the last congestion event is
    /// undone, `undo_curve` becomes the current curve.
    undo_curve: Option<Curve>,
    /// Time since which something other than cwnd limits the sender.
    limited_since: Option<Time>,
}

/// Return W_cubic(t), equation 1.
fn w_cubic(c: f64, t: f64, k: f64, w_max: f64) -> f64 {
    let d = t - k;
    c * d * d * d + w_max
}

/// Return K, equation 2.
fn k(c: f64, w_max: f64, cwnd_epoch: f64) -> f64 {
    libm::cbrt((w_max - cwnd_epoch) / c)
}

/// Return α_cubic, for which AIMD(α, β) has the same average window as AIMD(1, ½) (RFC 9438 §4.3).
fn alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

impl CubicState {
    /// Create the state of CUBIC in a connection before the first ACK of the connection.
    pub fn new(params: &Cubic) -> Self {
        CubicState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, Avoidance::PerByte),
            curve: Curve { w_max: None, cwnd_prior: None, epoch: None },
            linux: linux::Curve::default(),
            linux_scale: linux::Scale::new(params),
            undo_curve: None,
            limited_since: None,
        }
    }

    /// Return the current epoch, or begin a new one (RFC 9438 §4.2, §4.8, §4.10).
    fn epoch(&mut self, cwnd: f64, now: Time) -> Epoch {
        if let Some(epoch) = self.curve.epoch {
            return epoch;
        }
        let w_max = match self.curve.w_max {
            Some(w_max) if w_max > cwnd => w_max,
            Some(_) => cwnd,
            None => cwnd,
        };
        // RFC 9438 §4.10: slow start ended without congestion
        self.curve.cwnd_prior.get_or_insert(cwnd);
        self.curve.w_max = Some(w_max);
        Epoch { start: now, k: k(self.params.c, w_max, cwnd), w_est: cwnd }
    }

    /// Return cwnd after an ACK in congestion avoidance (RFC 9438 §4.2 to §4.5).
    fn congestion_avoidance(&mut self, cwnd: f64, segments_acked: f64, now: Time, rtt: Duration) -> f64 {
        let mut epoch = self.epoch(cwnd, now);
        if let Some(since) = self.limited_since.take() {
            epoch.start += now.since(since);
        }
        let w_max = self.curve.w_max.unwrap_or(cwnd);
        let t = now.since(epoch.start).seconds();
        let prior = self.curve.cwnd_prior.unwrap_or(cwnd);
        // RFC 9438 §4.3
        let alpha = if epoch.w_est >= prior { 1.0 } else { alpha(self.params.beta) };
        epoch.w_est += alpha * segments_acked / cwnd; // equation 4
        self.curve.epoch = Some(epoch);
        if w_cubic(self.params.c, t, epoch.k, w_max) < epoch.w_est {
            return cwnd.max(epoch.w_est); // the Reno-friendly region
        }
        let target = w_cubic(self.params.c, t + rtt.seconds(), epoch.k, w_max).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd * segments_acked.min(cwnd)
    }
}

impl CongestionControl for CubicState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        if self.params.arithmetic == Arithmetic::Linux {
            if self.linux.ignores_rtt(ack.now) {
                return;
            }
            if let Some(rtt) = ack.rtt {
                self.linux.min_rtt = Some(self.linux.min_rtt.map_or(rtt, |min| min.min(rtt)));
            }
        }
        self.growth.observe(w, ack, false);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            self.limited_since.get_or_insert(ack.now);
            return w.cwnd;
        }
        let (cwnd, remaining) = self.growth.slow_start(w, ack);
        if w.cwnd < w.ssthresh {
            self.limited_since = None;
        }
        if remaining == 0 {
            return cwnd;
        }
        if self.params.arithmetic == Arithmetic::Linux {
            let segments = |bytes: f64| (bytes / w.smss + 1e-6) as u64;
            let segments_per_increase = self.linux.segments_per_increase(
                &self.linux_scale,
                [segments(cwnd), segments(f64::from(remaining))],
                ack.now,
            );
            let window = segments_per_increase.saturating_mul(w.smss as u64).min(u64::from(u32::MAX)) as u32;
            return self.growth.count_bytes(cwnd, w.smss, remaining, window);
        }
        w.smss * self.congestion_avoidance(cwnd / w.smss, f64::from(remaining) / w.smss, ack.now, ack.srtt)
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let cwnd = w.cwnd / w.smss;
        if self.params.arithmetic == Arithmetic::Linux {
            let fast_convergence = self.params.fast_convergence == FastConvergence::On;
            let ssthresh =
                self.linux.on_congestion(&self.linux_scale, (cwnd + 1e-6) as u64, fast_convergence);
            return match congestion {
                Congestion::Timeout { repeated } => {
                    self.linux.reset();
                    if repeated { w.ssthresh } else { ssthresh as f64 * w.smss }
                }
                _ => ssthresh as f64 * w.smss,
            };
        }
        let beta = self.params.beta;
        self.undo_curve = Some(self.curve);
        let converges = self.params.fast_convergence == FastConvergence::On
            && self.curve.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = match congestion {
            Congestion::Timeout { .. } => None,
            _ if converges => Some(cwnd * (1.0 + beta) / 2.0),
            _ => Some(cwnd),
        };
        // A repeated timeout of a segment does not set ssthresh, so cwnd_prior is also unchanged
        // (RFC 9438 §4.1.2).
        let sets_ssthresh = congestion != Congestion::Timeout { repeated: true };
        let cwnd_prior = if sets_ssthresh { Some(cwnd) } else { self.curve.cwnd_prior };
        self.curve = Curve { w_max, cwnd_prior, epoch: None };
        self.limited_since = None;
        decreased(w, beta, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    /// Restore the curve from before the last congestion event, but only while cwnd is below
    /// cwnd_prior (RFC 9438 §4.9.2).
    fn undo(&mut self, w: &Window) {
        let below_prior = self.curve.cwnd_prior.is_some_and(|prior| w.cwnd < prior * w.smss);
        if let Some(undo_curve) = self.undo_curve.take().filter(|_| below_prior) {
            self.curve = undo_curve;
        }
    }

    /// Exclude the idle time from the epoch (RFC 9438 §5.8).
    fn on_restart(&mut self, now: Time, idle: Duration) {
        self.linux.on_restart(now, idle);
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.start += idle;
        }
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        let region = match &self.curve.epoch {
            _ if self.params.arithmetic == Arithmetic::Linux => self.linux.rule(),
            Some(epoch) if after[0] == window.smss * epoch.w_est => &FRIENDLY,
            _ if self.curve.w_max.is_some_and(|w_max| window.cwnd < w_max * window.smss) => &CONCAVE,
            _ => &CONVEX,
        };
        self.growth.rule(window, after, Some(region))
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        let converges = match self.params.arithmetic {
            Arithmetic::Linux => self.linux.converges,
            Arithmetic::Rfc9438 => self.curve.w_max < self.curve.cwnd_prior,
        };
        match congestion {
            Congestion::Timeout { .. } => None,
            Congestion::Ecn => Some(if converges { &MARK_CONVERGES } else { &MARK }),
            Congestion::FastRetransmit => Some(if converges { &LOSS_CONVERGES } else { &LOSS }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};
    use units::param::defaults;

    fn params() -> Cubic {
        defaults()
    }

    fn cubic() -> CubicState {
        CubicState::new(&params())
    }

    /// With W_max 100, β 0.7 and C 0.4, K is ∛(30/0.4) = ∛75 = 4.2172 s. W(0) = 70, W(K) = 100 and
    /// W(2K) = 130.
    #[test]
    fn curve_has_its_closed_form() {
        let k = k(0.4, 100.0, 70.0);
        assert!((k - 4.217_163_326_508_746).abs() < 1e-12);
        for (t, w) in [(0.0, 70.0), (k, 100.0), (2.0 * k, 130.0)] {
            assert!((w_cubic(0.4, t, k, 100.0) - w).abs() < 1e-9);
        }
        assert!((alpha(0.7) - 9.0 / 17.0).abs() < 1e-15, "α_cubic is 0.529");
        assert_eq!(alpha(0.5), 1.0);
    }

    #[test]
    fn congestion_multiplies_cwnd_by_0_7_and_stores_w_max() {
        let mut c = cubic();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 70.0 * MSS);
        assert_eq!(c.curve.w_max, Some(100.0));
        // RFC 9438 §4.7: if cwnd is below the last W_max, W_max becomes 80 × 1.7/2 = 68.
        c.ssthresh_on_congestion(&window(80.0, 70.0, 80.0), Congestion::FastRetransmit, Time::ZERO);
        assert_eq!(c.curve.w_max, Some(68.0));
        assert_eq!(c.curve.cwnd_prior, Some(80.0));
        c.undo(&window(68.0, 56.0, 68.0));
        assert_eq!(c.curve.w_max, Some(100.0));
        let mut alone = CubicState::new(&Cubic { fast_convergence: FastConvergence::Off, ..params() });
        alone.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO);
        alone.ssthresh_on_congestion(&window(80.0, 70.0, 80.0), Congestion::FastRetransmit, Time::ZERO);
        assert_eq!(alone.curve.w_max, Some(80.0));
    }

    /// The second congestion event occurs before cwnd has reached the first W_max.
    #[test]
    fn losses_and_marks_have_rules_with_and_without_fast_convergence() {
        for arithmetic in [Arithmetic::Rfc9438, Arithmetic::Linux] {
            for congestion in [Congestion::FastRetransmit, Congestion::Ecn] {
                let mut c = CubicState::new(&Cubic { arithmetic, ..params() });
                let rules = [100.0, 80.0].map(|cwnd| {
                    c.ssthresh_on_congestion(&window(cwnd, 50.0, cwnd), congestion, Time::ZERO);
                    c.rule_of_congestion(congestion)
                });
                let expected = match congestion {
                    Congestion::Ecn => [&MARK, &MARK_CONVERGES],
                    _ => [&LOSS, &LOSS_CONVERGES],
                };
                assert_eq!(rules, expected.map(Some), "{arithmetic:?}");
            }
        }
    }

    /// RFC 9438 §4.8: after a timeout K is 0, and W_max is cwnd at the beginning of congestion
    /// avoidance.
    #[test]
    fn curve_begins_at_cwnd_after_a_timeout() {
        let mut c = cubic();
        c.ssthresh_on_congestion(
            &window(100.0, 50.0, 100.0),
            Congestion::Timeout { repeated: false },
            Time::ZERO,
        );
        c.cwnd_on_ack(&window(70.0, 70.0, 70.0), &ack_at(3.0, 0.1, 1.0));
        let epoch = c.curve.epoch.unwrap();
        assert_eq!((epoch.k, c.curve.w_max), (0.0, Some(70.0)));
    }

    /// RFC 9438 §4.3, §4.8: after a timeout, W_est grows by α_cubic until W_est reaches the cwnd
    /// from before the timeout. A second timeout of the same segment does not change the growth of
    /// W_est. Once W_est has reached cwnd_prior, W_est grows by one segment per window.
    #[test]
    fn alpha_is_one_from_the_previous_window_on_after_a_timeout() {
        let mut c = cubic();
        c.ssthresh_on_congestion(
            &window(100.0, 50.0, 100.0),
            Congestion::Timeout { repeated: false },
            Time::ZERO,
        );
        c.ssthresh_on_congestion(&window(1.0, 70.0, 1.0), Congestion::Timeout { repeated: true }, Time::ZERO);
        c.cwnd_on_ack(&window(70.0, 70.0, 70.0), &ack_at(3.0, 0.1, 70.0));
        assert!((c.curve.epoch.unwrap().w_est - 70.0 - 9.0 / 17.0).abs() < 1e-9);
        c.curve.epoch.as_mut().unwrap().w_est = 100.0;
        c.cwnd_on_ack(&window(100.0, 70.0, 100.0), &ack_at(9.0, 0.1, 100.0));
        assert!((c.curve.epoch.unwrap().w_est - 101.0).abs() < 1e-9);
    }

    /// RFC 9438 §4.2: the target is at most 1.5 cwnd per round trip.
    #[test]
    fn growth_is_at_most_half_a_window_per_round_trip() {
        let mut c = cubic();
        let w = window(10.0, 10.0, 10.0);
        c.cwnd_on_ack(&w, &ack_at(0.0, 0.1, 1.0));
        assert_eq!(c.cwnd_on_ack(&w, &ack_at(100.0, 0.1, 1.0)), 10_500.0);
    }

    /// The cwnd of an ACK-clocked sender differs from W_cubic(t) by at most 1 %, on the concave and
    /// on the convex part of the curve. The test covers an ACK for every packet, and an ACK for
    /// every second packet.
    #[test]
    fn cwnd_follows_the_curve() {
        for ack_every in [1, 2] {
            let path = Path { ack_every, ..Path::new(1_000_000_000, 50) };
            let mut sim = Sim::new(cubic(), path, 400.0, 400.0);
            sim.run(0.2, |_| {});
            let lost_at = sim.next_number();
            sim.drop_number = Some(lost_at);
            while sim.events.is_empty() {
                sim.run(sim.now.seconds() + 0.01, |_| {});
            }
            let w_max = sim.controller.curve.w_max.unwrap();
            let (mut worst, mut checked) = (0.0f64, 0);
            sim.run(15.0, |sim| {
                if let Some(epoch) = sim.controller.curve.epoch {
                    let t = sim.now.since(epoch.start).seconds();
                    // The target of cwnd is the value that the curve has one round trip later. cwnd
                    // reaches the target once the whole window is acknowledged.
                    let curve = w_cubic(0.4, t, epoch.k, w_max);
                    worst = worst.max((sim.segments() / curve - 1.0).abs());
                    checked += 1;
                }
            });
            let epoch = sim.controller.curve.epoch.unwrap();
            assert!((epoch.k - libm::cbrt(0.3 * w_max / 0.4)).abs() < 0.05, "{epoch:?} {w_max}");
            assert!(sim.events.len() == 1 && sim.segments() > w_max * 1.2 && checked > 1000);
            assert!(worst < 0.01, "{worst} with an ACK every {ack_every}");
        }
    }

    /// With a short round-trip time and a small window, CUBIC is AIMD(0.529, 0.7). At the same
    /// deterministic loss, CUBIC has the average window of Reno, √(3/2p) segments (RFC 9438 §4.3,
    /// equation 3).
    #[test]
    fn cwnd_is_at_least_the_estimate_of_reno() {
        let average = |p: u64| {
            let slow_start = SlowStart::standard();
            let c =
                CubicState::new(&Cubic { slow_start, fast_convergence: FastConvergence::Off, ..params() });
            let mut sim = Sim::new(c, Path::new(10_000_000_000, 10), 10.0, 10.0);
            let (mut sum, mut n) = (0.0, 0.0);
            sim.drop_number = Some(p);
            sim.run(60.0, |sim| {
                if sim.drop_number.is_some_and(|number| sim.next_number() > number) {
                    sim.drop_number = Some(sim.next_number() + p);
                }
                if sim.now.seconds() > 10.0 {
                    (sum, n) = (sum + sim.cwnd / MSS, n + 1.0);
                }
            });
            sum / n
        };
        for p in [500, 1000] {
            let reno = (1.5 * p as f64).sqrt();
            let got = average(p);
            assert!((got / reno - 1.0).abs() < 0.15, "{got} {reno}");
        }
    }

    #[test]
    fn epoch_excludes_time_in_which_cwnd_does_not_limit_the_sender() {
        let mut c = cubic();
        c.ssthresh_on_congestion(&window(100.0, 50.0, 100.0), Congestion::FastRetransmit, Time::ZERO);
        let w = window(70.0, 70.0, 70.0);
        c.cwnd_on_ack(&w, &ack_at(1.0, 0.1, 1.0));
        let mut idle = ack_at(2.0, 0.1, 1.0);
        idle.cwnd_limited = false;
        assert_eq!(c.cwnd_on_ack(&w, &idle), w.cwnd);
        c.cwnd_on_ack(&w, &ack_at(7.0, 0.1, 1.0));
        assert_eq!(c.curve.epoch.unwrap().start.seconds(), 6.0);
        c.on_restart(Time::ZERO, Duration::from_millis(500));
        assert_eq!(c.curve.epoch.unwrap().start.seconds(), 6.5);
    }

    /// HyStart++ ends slow start when the round-trip time grows, whereas standard slow start
    /// overflows the queue.
    ///
    /// The rounds of slow start have 10, 20, … 640 segments. The round of 640 segments is the first
    /// round in which every segment arrives at a queue that is not empty. The queue in the round of
    /// 640 segments has 120 segments, a delay of 12 ms. Conservative Slow Start (CSS) begins after
    /// eight ACKs of the round of 640 segments. CSS has five rounds, the first of which is partial,
    /// and cwnd grows by a quarter in each round: (648 + 632/4)·1.25⁴ = 1968.
    #[test]
    fn hystart_ends_slow_start_before_the_queue_overflows() {
        let path = Path { buffer: 2200, ..Path::new(80_000_000, 20) }; // the BDP is 200 packets
        let mut hystart = Sim::new(cubic(), path, 10.0, f64::INFINITY);
        let mut exit = None;
        hystart.run(2.0, |sim| {
            if exit.is_none() && sim.ssthresh.is_finite() {
                exit = Some((sim.segments(), sim.events.len()));
            }
        });
        let (cwnd, losses) = exit.expect("slow start must end");
        assert!(losses == 0 && (cwnd / 1968.0 - 1.0).abs() < 0.01, "{cwnd} {losses}");
        let slow_start = SlowStart::standard();
        let standard = CubicState::new(&Cubic { slow_start, ..params() });
        let mut standard = Sim::new(standard, path, 10.0, f64::INFINITY);
        standard.run(2.0, |_| {});
        assert!(!standard.events.is_empty());
    }
}
