//! CUBIC, RFC 9438 (`rfc9438`): cwnd follows a cubic of the time since the last congestion, and never
//! less than an estimate of what Reno would have.
//!
//! Windows are in segments within this file. (target − cwnd)/cwnd is added for every segment
//! acknowledged, where §4.4 says for every ACK: with delayed ACKs cwnd would otherwise lag behind
//! its curve by half (Linux counts segments too). Where cwnd is not below W_max when congestion
//! avoidance begins, K is 0 and W_max is cwnd; equation 2 would make K negative.
//! An epoch begins with the first ACK that opens cwnd after a recovery, as Linux's does. §4.2 of
//! the RFC begins it when congestion avoidance starts; the two differ only where a recovery ends
//! with nothing in flight.
//! Missing: the rate-limited window validation of RFC 7661, which is the sender's. What Linux has instead is in `linux.rs`.

mod linux;

use serde_json::json;
use units::param::Json;
use units::{Duration, Range, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::SlowStart;
use crate::window::Window;

words! {
    /// Whether a flow whose window shrinks from one congestion to the next gives up more.
    pub enum FastConvergence {
        /// W_max becomes cwnd (1 + β)/2 when cwnd has not reached the last W_max (RFC 9438 §4.7).
        On = "on",
        /// W_max is always cwnd: for a flow that is alone.
        Off = "off",
    }
}

words! {
    /// What the curve is followed in.
    pub enum Arithmetic {
        /// Real numbers, by RFC 9438.
        Rfc9438 = "rfc9438",
        /// Whole segments, in the integers of Linux's tcp_cubic: β and C are in 1024ths, 717 and 410 of them if nothing is said.
        Linux = "linux",
    }
}

params! {
    /// CUBIC: after congestion cwnd grows as C(t − K)³ + W_max, fast towards the window at which
    /// congestion came, slowly around it, fast again beyond, whatever the round trip; where Reno
    /// would have more, cwnd is what Reno would have.
    pub struct Cubic: "cubic" {
        /// Aggressiveness (C), in segments/s³.
        c: f64 = (0.4), in Range::between(0.001, 1000.0), from "rfc9438 §5";
        /// What congestion leaves of the window (β_cubic).
        beta: f64 = (0.7), in Range::between(0.1, 0.95), from "rfc9438 §4.6";
        /// Fast convergence.
        fast_convergence: FastConvergence = (FastConvergence::On), in Range::ANY, from "rfc9438 §4.7";
        /// What the curve is followed in.
        arithmetic: Arithmetic = (Arithmetic::Rfc9438), in Range::ANY, from "rfc9438 §4.2; Linux, tcp_cubic";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::hystart()), in Range::ANY, from "rfc9438 §4.10: should be HyStart++";
    }
}

impl Control for Cubic {
    type State = CubicState;
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRackPrr; // RFC 9438 §3.1 names RACK, §4.6 allows PRR

    fn begin(&self, _: &Window) -> Self::State {
        CubicState::new(self)
    }

    fn in_linux() -> Json {
        json!({"slow_start": {"kind": "hybrid"}, "arithmetic": "linux"})
    }
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    /// t_epoch; moves on while cwnd does not limit what is sent.
    began: Time,
    /// K, in seconds.
    k: f64,
    /// W_est.
    w_est: f64,
}

/// What congestion changes and [`CongestionControl::undo`] takes back.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// W_max; none before the first congestion and after a timeout (§4.8).
    w_max: Option<f64>,
    /// cwnd_prior; none before ssthresh was first set.
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
}

/// State of CUBIC.
#[derive(Clone, Debug)]
pub struct CubicState {
    params: Cubic,
    growth: Growth,
    curve: Curve,
    /// The same in Linux's integers.
    linux: linux::Curve,
    scale: linux::Scale,
    before: Option<Curve>,
    /// Since when something else than cwnd limits what is sent.
    limited_since: Option<Time>,
}

/// W_cubic(t), equation 1.
fn w_cubic(c: f64, t: f64, k: f64, w_max: f64) -> f64 {
    let d = t - k;
    c * d * d * d + w_max
}

/// K, equation 2.
fn k(c: f64, w_max: f64, cwnd_epoch: f64) -> f64 {
    libm::cbrt((w_max - cwnd_epoch) / c)
}

/// α_cubic, the increase with which AIMD(α, β) has the average window of AIMD(1, ½) (§4.3).
fn alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

impl CubicState {
    /// Before the first ACK.
    pub fn new(params: &Cubic) -> Self {
        CubicState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, Avoidance::PerByte),
            curve: Curve { w_max: None, cwnd_prior: None, epoch: None },
            linux: linux::Curve::default(),
            scale: linux::Scale::of(params),
            before: None,
            limited_since: None,
        }
    }

    /// The stage under way, or a new one (§4.2, §4.8, §4.10).
    fn epoch(&mut self, cwnd: f64, now: Time) -> Epoch {
        if let Some(epoch) = self.curve.epoch {
            return epoch;
        }
        let w_max = match self.curve.w_max {
            Some(w_max) if w_max > cwnd => w_max,
            Some(_) => cwnd,
            None => cwnd,
        };
        self.curve.cwnd_prior.get_or_insert(cwnd); // §4.10: slow start was left without congestion
        self.curve.w_max = Some(w_max);
        Epoch { began: now, k: k(self.params.c, w_max, cwnd), w_est: cwnd }
    }

    /// cwnd after an ACK in congestion avoidance (§4.2 to §4.5).
    fn avoid(&mut self, cwnd: f64, segments_acked: f64, now: Time, rtt: Duration) -> f64 {
        let mut epoch = self.epoch(cwnd, now);
        if let Some(since) = self.limited_since.take() {
            epoch.began += now.since(since);
        }
        let w_max = self.curve.w_max.unwrap_or(cwnd);
        let t = now.since(epoch.began).seconds();
        let prior = self.curve.cwnd_prior.unwrap_or(cwnd);
        let alpha = if epoch.w_est >= prior { 1.0 } else { alpha(self.params.beta) }; // §4.3
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
            if self.linux.is_young(ack.now) {
                return;
            }
            if let Some(rtt) = ack.rtt {
                self.linux.least_rtt = Some(self.linux.least_rtt.map_or(rtt, |least| least.min(rtt)));
            }
        }
        self.growth.observe(w, ack, false);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            self.limited_since.get_or_insert(ack.now);
            return w.cwnd;
        }
        let (cwnd, rest) = self.growth.slow_start(w, ack);
        if w.cwnd < w.ssthresh {
            self.limited_since = None;
        }
        if rest == 0 {
            return cwnd;
        }
        if self.params.arithmetic == Arithmetic::Linux {
            let segments = |bytes: f64| (bytes / w.smss + 1e-6) as u64;
            let every = self.linux.every(&self.scale, [segments(cwnd), segments(f64::from(rest))], ack.now);
            let window = every.saturating_mul(w.smss as u64).min(u64::from(u32::MAX)) as u32;
            return self.growth.count_bytes(cwnd, w.smss, rest, window);
        }
        w.smss * self.avoid(cwnd / w.smss, f64::from(rest) / w.smss, ack.now, ack.srtt)
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let cwnd = w.cwnd / w.smss;
        if self.params.arithmetic == Arithmetic::Linux {
            let converges = self.params.fast_convergence == FastConvergence::On;
            let left = self.linux.on_congestion(&self.scale, (cwnd + 1e-6) as u64, converges);
            return match congestion {
                Congestion::Timeout { again } => {
                    self.linux.forget();
                    if again { w.ssthresh } else { left as f64 * w.smss }
                }
                _ => left as f64 * w.smss,
            };
        }
        let beta = self.params.beta;
        self.before = Some(self.curve);
        let converging = self.params.fast_convergence == FastConvergence::On
            && self.curve.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = match congestion {
            Congestion::Timeout { .. } => None,
            _ if converging => Some(cwnd * (1.0 + beta) / 2.0),
            _ => Some(cwnd),
        };
        // A segment that times out again does not set ssthresh: cwnd_prior stays (§4.1.2).
        let sets = congestion != Congestion::Timeout { again: true };
        let cwnd_prior = if sets { Some(cwnd) } else { self.curve.cwnd_prior };
        self.curve = Curve { w_max, cwnd_prior, epoch: None };
        self.limited_since = None;
        decreased(w, beta, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    /// §4.9.2: only while cwnd is below cwnd_prior.
    fn undo(&mut self, w: &Window) {
        let below = self.curve.cwnd_prior.is_some_and(|prior| w.cwnd < prior * w.smss);
        if let Some(before) = self.before.take().filter(|_| below) {
            self.curve = before;
        }
    }

    /// The time without data is no part of the stage (§5.8).
    fn on_restart(&mut self, now: Time, idle: Duration) {
        self.linux.on_restart(now, idle);
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.began += idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};

    fn params() -> Cubic {
        defaults()
    }

    fn cubic() -> CubicState {
        CubicState::new(&params())
    }

    /// Worked by hand: W_max 100, β 0.7, C 0.4: K = ∛(30/0.4) = ∛75 = 4.2172 s; W(0) = 70, W(K) = 100,
    /// W(2K) = 130.
    #[test]
    fn the_curve_in_closed_form() {
        let k = k(0.4, 100.0, 70.0);
        assert!((k - 4.217_163_326_508_746).abs() < 1e-12);
        for (t, w) in [(0.0, 70.0), (k, 100.0), (2.0 * k, 130.0)] {
            assert!((w_cubic(0.4, t, k, 100.0) - w).abs() < 1e-9);
        }
        assert!((alpha(0.7) - 9.0 / 17.0).abs() < 1e-15, "0.529");
        assert_eq!(alpha(0.5), 1.0);
    }

    #[test]
    fn congestion_leaves_seven_tenths_and_remembers_the_window() {
        let mut c = cubic();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 70.0 * MSS);
        assert_eq!(c.curve.w_max, Some(100.0));
        // §4.7: below the last W_max, W_max is 80 × 1.7/2 = 68.
        c.ssthresh_on(&window(80.0, 70.0, 80.0), Congestion::FastRetransmit, Time::ZERO);
        assert_eq!(c.curve.w_max, Some(68.0));
        assert_eq!(c.curve.cwnd_prior, Some(80.0));
        c.undo(&window(68.0, 56.0, 68.0));
        assert_eq!(c.curve.w_max, Some(100.0));
        let mut alone = CubicState::new(&Cubic { fast_convergence: FastConvergence::Off, ..params() });
        alone.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO);
        alone.ssthresh_on(&window(80.0, 70.0, 80.0), Congestion::FastRetransmit, Time::ZERO);
        assert_eq!(alone.curve.w_max, Some(80.0));
    }

    /// §4.8: after a timeout K is 0 and W_max what cwnd is when congestion avoidance begins.
    #[test]
    fn after_a_timeout_the_curve_begins_at_cwnd() {
        let mut c = cubic();
        c.ssthresh_on(&window(100.0, 50.0, 100.0), Congestion::Timeout { again: false }, Time::ZERO);
        c.cwnd_on_ack(&window(70.0, 70.0, 70.0), &ack_at(3.0, 0.1, 1.0));
        let epoch = c.curve.epoch.unwrap();
        assert_eq!((epoch.k, c.curve.w_max), (0.0, Some(70.0)));
    }

    /// §4.3, §4.8: W_est grows by α_cubic until it is what cwnd was before the timeout, though the segment timed out twice.
    #[test]
    fn after_a_timeout_alpha_is_one_from_the_old_window_on() {
        let mut c = cubic();
        c.ssthresh_on(&window(100.0, 50.0, 100.0), Congestion::Timeout { again: false }, Time::ZERO);
        c.ssthresh_on(&window(1.0, 70.0, 1.0), Congestion::Timeout { again: true }, Time::ZERO);
        c.cwnd_on_ack(&window(70.0, 70.0, 70.0), &ack_at(3.0, 0.1, 70.0));
        assert!((c.curve.epoch.unwrap().w_est - 70.0 - 9.0 / 17.0).abs() < 1e-9);
        c.curve.epoch.as_mut().unwrap().w_est = 100.0;
        c.cwnd_on_ack(&window(100.0, 70.0, 100.0), &ack_at(9.0, 0.1, 100.0));
        assert!((c.curve.epoch.unwrap().w_est - 101.0).abs() < 1e-9);
    }

    /// §4.2: the target is at most one and a half windows a round trip.
    #[test]
    fn growth_is_bounded_by_half_a_window_a_round_trip() {
        let mut c = cubic();
        let w = window(10.0, 10.0, 10.0);
        c.cwnd_on_ack(&w, &ack_at(0.0, 0.1, 1.0));
        assert_eq!(c.cwnd_on_ack(&w, &ack_at(100.0, 0.1, 1.0)), 10_500.0);
    }

    /// A single sender whose every ACK clocks it out: cwnd is W_cubic(t) within 1 % over the concave
    /// and the convex part, with an ACK for every packet and for every second one.
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
                    let t = sim.now.since(epoch.began).seconds();
                    // cwnd heads for where the curve is a round trip later and is there when all of
                    // the window is acknowledged.
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

    /// Short round trip, small window: CUBIC is AIMD(0.529, 0.7), and its average window that of Reno,
    /// √(3/2p) segments, for the same deterministic loss (§4.3, equation 3).
    #[test]
    fn where_reno_would_have_more_cwnd_is_renos() {
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
    fn time_limited_by_others_is_no_part_of_the_stage() {
        let mut c = cubic();
        c.ssthresh_on(&window(100.0, 50.0, 100.0), Congestion::FastRetransmit, Time::ZERO);
        let w = window(70.0, 70.0, 70.0);
        c.cwnd_on_ack(&w, &ack_at(1.0, 0.1, 1.0));
        let mut idle = ack_at(2.0, 0.1, 1.0);
        idle.cwnd_limited = false;
        assert_eq!(c.cwnd_on_ack(&w, &idle), w.cwnd);
        c.cwnd_on_ack(&w, &ack_at(7.0, 0.1, 1.0));
        assert_eq!(c.curve.epoch.unwrap().began.seconds(), 6.0);
        c.on_restart(Time::ZERO, Duration::from_millis(500));
        assert_eq!(c.curve.epoch.unwrap().began.seconds(), 6.5);
    }

    /// HyStart++ ends slow start on the rise of the round trip; standard slow start overflows the queue.
    /// Worked out: of the rounds of 10, 20, … 640 segments the last is the first whose segments all find
    /// a queue, 120 of them or 12 ms; after eight of its ACKs CSS grows by a quarter for five rounds, the
    /// first of them partial: (648 + 632/4)·1.25⁴ = 1968.
    #[test]
    fn hystart_leaves_before_the_queue_overflows() {
        let path = Path { buffer: 2200, ..Path::new(80_000_000, 20) }; // 200 packets
        let mut hystart = Sim::new(cubic(), path, 10.0, f64::INFINITY);
        let mut left = None;
        hystart.run(2.0, |sim| {
            if left.is_none() && sim.ssthresh.is_finite() {
                left = Some((sim.segments(), sim.events.len()));
            }
        });
        let (cwnd, losses) = left.expect("left slow start");
        assert!(losses == 0 && (cwnd / 1968.0 - 1.0).abs() < 0.01, "{cwnd} {losses}");
        let slow_start = SlowStart::standard();
        let standard = CubicState::new(&Cubic { slow_start, ..params() });
        let mut standard = Sim::new(standard, path, 10.0, f64::INFINITY);
        standard.run(2.0, |_| {});
        assert!(!standard.events.is_empty());
    }
}
