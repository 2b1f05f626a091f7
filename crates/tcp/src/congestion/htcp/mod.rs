//! H-TCP (`htcp`), Leith & Shorten 2004 (`leith2004htcp`) and draft-leith-tcp-htcp-06
//! (`draft-leith-tcp-htcp`): the increase grows with the time since the last congestion, and the
//! decrease adapts to the round-trip times.
//!
//! The throughput B(k) of a congestion epoch is the maximum of the throughputs of its round trips.
//! The H-TCP paper and the draft were not available for this implementation. The following values
//! were checked against FreeBSD's `cc_htcp`, which implements the draft, and against Linux's
//! `tcp_htcp`: α(Δ), Δ_L, the bounds of β, the factor one half at the first congestion, and the
//! minimum 1 of the increase 2(1 − β)α(Δ). Δ_B was checked only against Linux. In FreeBSD and
//! Linux, RTTmax decreases by a twentieth of RTTmax − RTTmin at each congestion. In this
//! implementation RTTmax is the maximum of the epoch. Scaling of the increase by the round-trip
//! time is optional. As in FreeBSD and Linux, the scale is RTTmin/100 ms, limited to the range from
//! 0.1 to 2, and the scaled increase is at least one segment.

mod linux;

use net::{Rule, rules};
use serde_json::json;
use units::Read;
use units::param::{Invalid, Json, join};
use units::{Duration, Range, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

words! {
    /// Dependence of the increase on the round-trip time.
    pub enum RttScaling {
        /// The increase does not depend on the round-trip time.
        Off = "off",
        /// α(Δ) is multiplied by RTTmin/100 ms, limited to the range from 0.1 to 2. The scaled α(Δ)
        /// is at least 1 before it is multiplied by 2(1 − β). The scaling gives flows with
        /// different round-trip times the same rate of growth (Linux).
        On = "on",
    }
}

words! {
    /// Arithmetic of the increase α and the decrease factor β.
    pub enum Arithmetic {
        /// Real numbers, as in the equations of the H-TCP paper.
        Exact = "exact",
        /// Integers, as in Linux (tcp_htcp.c). α is computed when cwnd grows, which also restarts
        /// the count of acknowledged segments. β follows from a moving average of the throughput
        /// and from a maximum round-trip time that decreases at each congestion. The time since the
        /// last congestion counts from the end of loss recovery. β is between 0.5 and 0.8.
        Linux = "linux",
    }
}

params! {
    /// H-TCP. For one second after congestion H-TCP behaves as standard TCP. From one second after
    /// congestion on, the increase of cwnd grows with the square of the time since congestion.
    /// Congestion multiplies the window by RTTmin/RTTmax, which empties the queue but does not idle
    /// the link. If the throughput changed much between two congestion events, the second
    /// congestion event halves the window.
    pub struct Htcp: "htcp", checked by check {
        /// Time after congestion in which cwnd grows as in standard TCP (Δ_L).
        low_speed: Duration = (Duration::from_millis(1000)), in Range::between(0.0, 100.0), from "leith2004htcp §3";
        /// Minimum factor by which congestion multiplies the window (β).
        beta_min: f64 = (0.5), in Range::between(0.1, 0.95), from "leith2004htcp §3";
        /// Maximum factor by which congestion multiplies the window (β).
        beta_max: f64 = (0.8), in Range::between(0.1, 0.95), from "leith2004htcp §3";
        /// Relative change of the throughput between two congestion events beyond which congestion
        /// halves the window (Δ_B).
        throughput_change: f64 = (0.2), in Range::between(0.0, 10.0), from "leith2004htcp §3";
        /// Dependence of the increase on the round-trip time.
        rtt_scaling: RttScaling = (RttScaling::Off), in Range::ANY, from "leith2004htcp §3; draft-leith-tcp-htcp: optional; Linux, use_rtt_scaling: on";
        /// Arithmetic of the increase α and the decrease factor β.
        arithmetic: Arithmetic = (Arithmetic::Exact), in Range::ANY, from "leith2004htcp §3; Linux, tcp_htcp.c";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// Unit that congestion avoidance counts to increase cwnd: ACK, byte, or window of bytes.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "leith2004htcp §3: per ACK";
    }
}

rules! {
    /// cwnd grows by α segments per round trip, where α rises with the time since the last
    /// congestion.
    INCREASE = "htcp-increase", from "leith2004htcp §3";
    /// A loss or a mark multiplies the window by β, the ratio of the minimum to the maximum
    /// round-trip time.
    DECREASE = "htcp-decrease", from "leith2004htcp §3";
}

impl Control for Htcp {
    type State = HtcpState;
    const RULES: &'static [Rule] = RULES;
    /// Loss recovery by SACK, because cumulative ACKs repair only one loss per round trip in
    /// windows of thousands of segments.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::Sack;

    fn new_state(&self, _: &Window) -> Self::State {
        HtcpState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({
            "slow_start": slow_start::linux_defaults(),
            "avoidance": "per-window",
            "rtt_scaling": "on",
            "arithmetic": "linux",
        })
    }
}

/// Check that beta_min is at most beta_max.
fn check(p: &Htcp, path: &str) -> Result<(), Invalid> {
    if p.beta_min <= p.beta_max {
        return Ok(());
    }
    let problem = format!("must not exceed beta_max ({})", p.beta_max);
    Err(Invalid::new(&join(path, "beta_min"), &p.beta_min.write(), problem))
}

/// Return α(Δ), with Δ in seconds: 1 up to Δ_L, then 1 + 10(Δ − Δ_L) + ((Δ − Δ_L)/2)².
fn increase(elapsed: Duration, low_speed: Duration) -> f64 {
    let d = elapsed.seconds() - low_speed.seconds();
    if d <= 0.0 { 1.0 } else { 1.0 + 10.0 * d + (d / 2.0) * (d / 2.0) }
}

/// State of a congestion epoch, which each congestion event replaces.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Start of the epoch, which is the time of the last congestion.
    start: Option<Time>,
    /// Decrease factor β, which also scales the increase of cwnd.
    beta: f64,
    /// Throughput B(k) of the previous epoch, in bytes/s; 0 if it is unknown.
    throughput: f64,
}

/// State of H-TCP in a connection.
#[derive(Clone, Debug)]
pub struct HtcpState {
    params: Htcp,
    growth: Growth,
    epoch: Epoch,
    previous_epoch: Option<Epoch>,
    /// Maximum round-trip time of the epoch.
    rtt_max: Duration,
    rtt_min: Duration,
    /// Start time of the round trip, and the bytes delivered by this time.
    round_start: Option<(Time, u64)>,
    /// Maximum throughput of a round trip in this epoch.
    throughput: f64,
    /// State of H-TCP in the integer arithmetic of Linux; `None` if the parameters select other
    /// arithmetic.
    linux: Option<linux::LinuxState>,
}

impl HtcpState {
    /// Create the state of H-TCP in a connection before the first ACK of the connection.
    pub fn new(params: &Htcp) -> Self {
        HtcpState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, params.avoidance),
            epoch: Epoch { start: None, beta: params.beta_min, throughput: 0.0 },
            previous_epoch: None,
            rtt_max: Duration::ZERO,
            rtt_min: Duration(u64::MAX),
            round_start: None,
            throughput: 0.0,
            linux: (params.arithmetic == Arithmetic::Linux).then(linux::LinuxState::new),
        }
    }

    /// Return true if the increase depends on the round-trip time.
    fn scales_by_rtt(&self) -> bool {
        self.params.rtt_scaling == RttScaling::On
    }

    /// Return the factor RTTmin/100 ms of the increase.
    fn rtt_factor(&self) -> f64 {
        let measured = self.rtt_min != Duration(u64::MAX);
        if self.params.rtt_scaling == RttScaling::Off || !measured {
            return 1.0;
        }
        (self.rtt_min.seconds() / 0.1).clamp(0.1, 2.0)
    }

    /// Return β(k + 1) by adaptive backoff.
    fn beta(&self) -> f64 {
        let previous = self.epoch.throughput;
        let changed = (self.throughput - previous).abs() > self.params.throughput_change * previous;
        if changed || self.rtt_max == Duration::ZERO {
            return self.params.beta_min;
        }
        let ratio = self.rtt_min.seconds() / self.rtt_max.seconds();
        ratio.clamp(self.params.beta_min, self.params.beta_max)
    }
}

impl CongestionControl for HtcpState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        if let Some(linux) = &mut self.linux {
            let segments = |bytes: f64| (bytes / w.smss).ceil() as u64;
            let acked = segments(f64::from(ack.acked));
            return linux.observe(ack.now, segments(w.cwnd), acked, ack.rtt, ack.in_recovery);
        }
        if let Some(rtt) = ack.rtt {
            self.rtt_max = self.rtt_max.max(rtt);
            self.rtt_min = self.rtt_min.min(rtt);
        }
        if ack.round || self.round_start.is_none() {
            if let Some((start, delivered)) = self.round_start {
                let interval = ack.now.since(start).seconds();
                if interval > 0.0 {
                    let bytes = ack.total_delivered.saturating_sub(delivered) as f64;
                    self.throughput = self.throughput.max(bytes / interval);
                }
            }
            self.round_start = Some((ack.now, ack.total_delivered));
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            return w.cwnd;
        }
        if w.cwnd < w.ssthresh && self.linux.is_some() {
            return self.growth.slow_start(w, ack).0;
        }
        let scales_by_rtt = self.scales_by_rtt();
        if let Some(linux) = &mut self.linux {
            let grows = linux.grow(ack.now, (w.cwnd / w.smss) as u64, scales_by_rtt, self.params.low_speed);
            return w.cwnd + if grows { w.smss } else { 0.0 };
        }
        if w.cwnd < w.ssthresh {
            return self.growth.cwnd_on_ack(w, ack, 1.0);
        }
        let elapsed = ack.now.since(*self.epoch.start.get_or_insert(ack.now));
        // α = 2(1 − β)α(Δ) maintains fairness with a smaller decrease. The increase is at least
        // that of standard TCP.
        let factor = (increase(elapsed, self.params.low_speed) * self.rtt_factor()).max(1.0);
        let alpha = 2.0 * (1.0 - self.epoch.beta) * factor;
        let min_alpha = if self.params.rtt_scaling == RttScaling::Off { 1.0 } else { 0.0 };
        self.growth.cwnd_on_ack(w, ack, alpha.max(min_alpha))
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let scales_by_rtt = self.scales_by_rtt();
        if let Some(linux) = &mut self.linux {
            let cwnd = (w.flight / w.smss) as u64;
            let remaining =
                linux.on_congestion(now, cwnd, scales_by_rtt, self.params.low_speed) as f64 * w.smss;
            return if congestion == congestion.without_repetition() { remaining } else { w.ssthresh };
        }
        self.previous_epoch = Some(self.epoch);
        let beta = self.beta();
        self.epoch = Epoch { start: Some(now), beta, throughput: self.throughput };
        (self.throughput, self.rtt_max) = (0.0, Duration::ZERO);
        decreased(w, beta, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    fn undo(&mut self, _: &Window) {
        if let Some(linux) = &mut self.linux {
            linux.undo();
        }
        if let Some(previous_epoch) = self.previous_epoch.take() {
            self.epoch = previous_epoch;
        }
    }

    fn on_restart(&mut self, _now: Time, idle: Duration) {
        if let Some(start) = &mut self.epoch.start {
            *start += idle;
        }
        self.round_start = None;
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        self.growth.rule(window, after, Some(&INCREASE))
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        (!matches!(congestion, Congestion::Timeout { .. })).then_some(&DECREASE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};
    use units::param::defaults;

    fn htcp() -> HtcpState {
        HtcpState::new(&defaults())
    }

    /// After congestion α(Δ) is 1 during the first second, 11¼ (1 + 10 + ¼) after two seconds, and
    /// 45 (1 + 40 + 4) after five seconds.
    #[test]
    fn increase_follows_the_time_since_congestion() {
        let low = Duration::from_millis(1000);
        for (ms, alpha) in [(0, 1.0), (1000, 1.0), (2000, 11.25), (5000, 45.0)] {
            assert!((increase(Duration::from_millis(ms), low) - alpha).abs() < 1e-12);
        }
    }

    /// With β = 0.8 the increase of cwnd is 0.4 α(Δ) segments per round trip, and at least 1
    /// segment.
    #[test]
    fn increase_is_scaled_by_the_decrease() {
        let mut h = htcp();
        h.epoch = Epoch { start: Some(Time::ZERO), beta: 0.8, throughput: 1.0 };
        let w = window(100.0, 50.0, 100.0);
        let added = |h: &mut HtcpState, t| (h.cwnd_on_ack(&w, &ack_at(t, 0.1, 1.0)) - w.cwnd) / MSS * 100.0;
        assert!((added(&mut h, 0.5) - 1.0).abs() < 1e-9);
        assert!((added(&mut h, 2.0) - 0.4 * 11.25).abs() < 1e-9);
    }

    /// β is RTTmin/RTTmax, limited to the range from ½ to 0.8, if the throughput changes by at most
    /// a fifth. Otherwise β is ½.
    #[test]
    fn decrease_adapts_to_round_trips_and_throughput() {
        let mut h = htcp();
        let case = |h: &mut HtcpState, min, max, previous, now| {
            (h.rtt_min, h.rtt_max) = (Duration::from_millis(min), Duration::from_millis(max));
            (h.epoch.throughput, h.throughput) = (previous, now);
            h.beta()
        };
        assert!((case(&mut h, 70, 100, 1e6, 1.1e6) - 0.7).abs() < 1e-12);
        assert_eq!(case(&mut h, 95, 100, 1e6, 0.9e6), 0.8);
        assert_eq!(case(&mut h, 20, 100, 1e6, 1e6), 0.5);
        assert_eq!(case(&mut h, 70, 100, 1e6, 1.3e6), 0.5);
        assert_eq!(case(&mut h, 70, 100, 1e6, 0.7e6), 0.5);
    }

    /// A flow alone at a buffer of a third of the bandwidth-delay product has an RTTmax of 4/3
    /// RTTmin, so β approaches ¾ and the link stays full.
    #[test]
    fn congestion_just_empties_a_small_buffer() {
        let path = Path { buffer: 67, ..Path::new(16_000_000, 100) }; // the BDP is 200 packets
        let mut sim = Sim::new(htcp(), path, 10.0, 100.0);
        sim.run(20.0, |_| {});
        let before = sim.delivered;
        sim.run(60.0, |_| {});
        assert!((sim.controller.epoch.beta - 0.75).abs() < 0.02, "{}", sim.controller.epoch.beta);
        assert!((sim.delivered - before) as f64 > 0.98 * 2e6 * 40.0);
    }
}
