//! H-TCP, Leith & Shorten 2004 (`leith2004htcp`) and draft-leith-tcp-htcp-06 (`draft-leith-tcp-htcp`):
//! the increase grows with the time since the last congestion, the decrease adapts to the round
//! trips.
//!
//! The throughput B(k) of a congestion epoch is the greatest that a round trip of it had. The texts were not at
//! hand. α(Δ) and Δ_L, the bounds of β, the half that the first congestion leaves, and 2(1 − β)α(Δ) of at least 1
//! were checked against FreeBSD's `cc_htcp`, which implements the draft, and Linux's `tcp_htcp`; Δ_B against the
//! second alone. Both let RTTmax fade by a twentieth of RTTmax − RTTmin a congestion, where here it is that
//! of the epoch. Scaling of the increase by the round trip is optional; that it is by RTTmin/100 ms between 0.1 and
//! 2, and of no less than a segment, is as in both.

mod linux;

use serde_json::json;
use units::Read;
use units::param::{Invalid, Json, join};
use units::{Duration, Range, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::Window;

words! {
    /// Whether the increase depends on the round trip.
    pub enum RttScaling {
        /// It does not.
        Off = "off",
        /// α(Δ) is multiplied by RTTmin/100 ms, between a tenth and two, and is then at least 1, before the factor 2(1 − β): flows of
        /// unlike round trips grow alike (Linux).
        On = "on",
    }
}

words! {
    /// How it is computed.
    pub enum Arithmetic {
        /// In full precision, as the equations are.
        Exact = "exact",
        /// In Linux's integers: α is computed when cwnd grows, and then the count of what was acknowledged begins anew; β is of an average of the
        /// throughput, and of a longest round trip that fades; time counts from the end of a recovery (tcp_htcp.c). β is between 0.5 and 0.8.
        Linux = "linux",
    }
}

params! {
    /// H-TCP: for a second after congestion it is standard TCP; then the increase grows with the
    /// square of the time since congestion. Congestion leaves RTTmin/RTTmax of the window, which just
    /// empties the queue, or a half when the throughput has changed.
    pub struct Htcp: "htcp", checked by check {
        /// Time after congestion for which it increases as standard TCP (Δ_L).
        low_speed: Duration = (Duration::from_millis(1000)), in Range::between(0.0, 100.0), from "leith2004htcp §3";
        /// Least part of the window that congestion leaves (β).
        beta_min: f64 = (0.5), in Range::between(0.1, 0.95), from "leith2004htcp §3";
        /// Greatest part of the window that congestion leaves (β).
        beta_max: f64 = (0.8), in Range::between(0.1, 0.95), from "leith2004htcp §3";
        /// Change of the throughput from one congestion to the next beyond which half of the window is left (Δ_B).
        throughput_change: f64 = (0.2), in Range::between(0.0, 10.0), from "leith2004htcp §3";
        /// Whether the increase depends on the round trip.
        rtt_scaling: RttScaling = (RttScaling::Off), in Range::ANY, from "leith2004htcp §3; draft-leith-tcp-htcp: optional; Linux, use_rtt_scaling: on";
        /// How it is computed.
        arithmetic: Arithmetic = (Arithmetic::Exact), in Range::ANY, from "leith2004htcp §3; Linux, tcp_htcp.c";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// What congestion avoidance counts.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "leith2004htcp §3: per ACK";
    }
}

impl Control for Htcp {
    type State = HtcpState;
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::Sack; // made for windows of thousands of segments, which SACK alone repairs in a round trip

    fn begin(&self, _: &Window) -> Self::State {
        HtcpState::new(self)
    }

    fn in_linux() -> Json {
        json!({
            "slow_start": slow_start::in_linux(),
            "avoidance": "per-window",
            "rtt_scaling": "on",
            "arithmetic": "linux",
        })
    }
}

fn check(p: &Htcp, path: &str) -> Result<(), Invalid> {
    if p.beta_min <= p.beta_max {
        return Ok(());
    }
    let problem = format!("must not exceed beta_max ({})", p.beta_max);
    Err(Invalid::new(&join(path, "beta_min"), &p.beta_min.write(), problem))
}

/// α(Δ): 1 up to Δ_L, then 1 + 10(Δ − Δ_L) + ((Δ − Δ_L)/2)², Δ in seconds.
fn increase(since: Duration, low_speed: Duration) -> f64 {
    let d = since.seconds() - low_speed.seconds();
    if d <= 0.0 { 1.0 } else { 1.0 + 10.0 * d + (d / 2.0) * (d / 2.0) }
}

/// What congestion changes.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began: the last congestion.
    began: Option<Time>,
    /// β, with which the increase is scaled too.
    beta: f64,
    /// B(k), in bytes/s; 0: unknown.
    throughput: f64,
}

/// State of H-TCP.
#[derive(Clone, Debug)]
pub struct HtcpState {
    params: Htcp,
    growth: Growth,
    epoch: Epoch,
    before: Option<Epoch>,
    /// Greatest round trip of the epoch.
    rtt_max: Duration,
    rtt_min: Duration,
    /// When the round began and how much had been delivered by then.
    round: Option<(Time, u64)>,
    /// Greatest throughput of a round trip in this epoch.
    throughput: f64,
    kernel: Option<linux::Kernel>,
}

impl HtcpState {
    /// Before the first ACK.
    pub fn new(params: &Htcp) -> Self {
        HtcpState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, params.avoidance),
            epoch: Epoch { began: None, beta: params.beta_min, throughput: 0.0 },
            before: None,
            rtt_max: Duration::ZERO,
            rtt_min: Duration(u64::MAX),
            round: None,
            throughput: 0.0,
            kernel: (params.arithmetic == Arithmetic::Linux).then(linux::Kernel::new),
        }
    }

    /// Whether the increase depends on the round trip.
    fn scales(&self) -> bool {
        self.params.rtt_scaling == RttScaling::On
    }

    /// What the increase is multiplied by: RTTmin/100 ms.
    fn scale(&self) -> f64 {
        let measured = self.rtt_min != Duration(u64::MAX);
        if self.params.rtt_scaling == RttScaling::Off || !measured {
            return 1.0;
        }
        (self.rtt_min.seconds() / 0.1).clamp(0.1, 2.0)
    }

    /// β(k + 1): adaptive backoff.
    fn beta(&self) -> f64 {
        let was = self.epoch.throughput;
        let changed = (self.throughput - was).abs() > self.params.throughput_change * was;
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
        if let Some(kernel) = &mut self.kernel {
            let segments = |bytes: f64| (bytes / w.smss).ceil() as u64;
            let acked = segments(f64::from(ack.acked));
            return kernel.observe(ack.now, segments(w.cwnd), acked, ack.rtt, ack.in_recovery);
        }
        if let Some(rtt) = ack.rtt {
            self.rtt_max = self.rtt_max.max(rtt);
            self.rtt_min = self.rtt_min.min(rtt);
        }
        if ack.round || self.round.is_none() {
            if let Some((began, delivered)) = self.round {
                let interval = ack.now.since(began).seconds();
                if interval > 0.0 {
                    let bytes = ack.total_delivered.saturating_sub(delivered) as f64;
                    self.throughput = self.throughput.max(bytes / interval);
                }
            }
            self.round = Some((ack.now, ack.total_delivered));
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            return w.cwnd;
        }
        if w.cwnd < w.ssthresh && self.kernel.is_some() {
            return self.growth.slow_start(w, ack).0;
        }
        let scales = self.scales();
        if let Some(kernel) = &mut self.kernel {
            let grows = kernel.grows(ack.now, (w.cwnd / w.smss) as u64, scales, self.params.low_speed);
            return w.cwnd + if grows { w.smss } else { 0.0 };
        }
        if w.cwnd < w.ssthresh {
            return self.growth.cwnd_on_ack(w, ack, 1.0);
        }
        let since = ack.now.since(*self.epoch.began.get_or_insert(ack.now));
        // α = 2(1 − β)α(Δ): as fair with a smaller decrease; never below standard TCP's.
        let factor = (increase(since, self.params.low_speed) * self.scale()).max(1.0);
        let alpha = 2.0 * (1.0 - self.epoch.beta) * factor;
        let least = if self.params.rtt_scaling == RttScaling::Off { 1.0 } else { 0.0 };
        self.growth.cwnd_on_ack(w, ack, alpha.max(least))
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let scales = self.scales();
        if let Some(kernel) = &mut self.kernel {
            let cwnd = (w.flight / w.smss) as u64;
            let left = kernel.on_congestion(now, cwnd, scales, self.params.low_speed) as f64 * w.smss;
            return if congestion == congestion.first() { left } else { w.ssthresh };
        }
        self.before = Some(self.epoch);
        let beta = self.beta();
        self.epoch = Epoch { began: Some(now), beta, throughput: self.throughput };
        (self.throughput, self.rtt_max) = (0.0, Duration::ZERO);
        decreased(w, beta, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    fn undo(&mut self, _: &Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.undo();
        }
        if let Some(before) = self.before.take() {
            self.epoch = before;
        }
    }

    fn on_restart(&mut self, _now: Time, idle: Duration) {
        if let Some(began) = &mut self.epoch.began {
            *began += idle;
        }
        self.round = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};

    fn htcp() -> HtcpState {
        HtcpState::new(&defaults())
    }

    /// α(Δ) by hand: 1 up to a second; 1 + 10 + ¼ a second later; 1 + 40 + 4 four seconds later.
    #[test]
    fn increase_by_the_time_since_congestion() {
        let low = Duration::from_millis(1000);
        for (ms, alpha) in [(0, 1.0), (1000, 1.0), (2000, 11.25), (5000, 45.0)] {
            assert!((increase(Duration::from_millis(ms), low) - alpha).abs() < 1e-12);
        }
    }

    /// With β = 0.8 the increase is 0.4 α(Δ), at least 1.
    #[test]
    fn increase_is_scaled_by_the_decrease() {
        let mut h = htcp();
        h.epoch = Epoch { began: Some(Time::ZERO), beta: 0.8, throughput: 1.0 };
        let w = window(100.0, 50.0, 100.0);
        let added = |h: &mut HtcpState, t| (h.cwnd_on_ack(&w, &ack_at(t, 0.1, 1.0)) - w.cwnd) / MSS * 100.0;
        assert!((added(&mut h, 0.5) - 1.0).abs() < 1e-9);
        assert!((added(&mut h, 2.0) - 0.4 * 11.25).abs() < 1e-9);
    }

    /// β is RTTmin/RTTmax within ½ and 0.8 while the throughput changes by at most a fifth, else ½.
    #[test]
    fn decrease_adapts_to_round_trips_and_throughput() {
        let mut h = htcp();
        let case = |h: &mut HtcpState, min, max, was, now| {
            (h.rtt_min, h.rtt_max) = (Duration::from_millis(min), Duration::from_millis(max));
            (h.epoch.throughput, h.throughput) = (was, now);
            h.beta()
        };
        assert!((case(&mut h, 70, 100, 1e6, 1.1e6) - 0.7).abs() < 1e-12);
        assert_eq!(case(&mut h, 95, 100, 1e6, 0.9e6), 0.8);
        assert_eq!(case(&mut h, 20, 100, 1e6, 1e6), 0.5);
        assert_eq!(case(&mut h, 70, 100, 1e6, 1.3e6), 0.5);
        assert_eq!(case(&mut h, 70, 100, 1e6, 0.7e6), 0.5);
    }

    /// A single flow with a buffer of a third of the bandwidth-delay product: RTTmax is 4/3 RTTmin, so β
    /// settles at ¾ and the link stays full.
    #[test]
    fn a_small_buffer_is_emptied_and_no_more() {
        let path = Path { buffer: 67, ..Path::new(16_000_000, 100) }; // 200 packets
        let mut sim = Sim::new(htcp(), path, 10.0, 100.0);
        sim.run(20.0, |_| {});
        let before = sim.delivered;
        sim.run(60.0, |_| {});
        assert!((sim.controller.epoch.beta - 0.75).abs() < 0.02, "{}", sim.controller.epoch.beta);
        assert!((sim.delivered - before) as f64 > 0.98 * 2e6 * 40.0);
    }
}
