//! TCP-Illinois (`illinois`), Liu, Başar & Srikant 2006 (`liu2006illinois`): losses trigger a
//! reduction of the window, and the queueing delay determines the size of the reduction and the
//! growth that follows.
//!
//! The paper on TCP-Illinois was not available for this implementation. Equations (5) to (9), their
//! constants and θ were checked against quotations of the paper and against Linux's `tcp_illinois`,
//! written by one of the paper's authors. As in Linux, the maximum queueing delay is the maximum
//! over single round-trip times, not over averages. The θ round trips of low delay must be
//! consecutive, except with Linux's rules (key `rules`).

use net::{Rule, rules};
use serde_json::json;
use units::Read;
use units::param::{Invalid, Json, join};
use units::{Duration, Packets, Range, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased, decreased_in_segments,
};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

words! {
    /// Arithmetic of the increase α and the decrease β, and their effect on the window.
    pub enum IllinoisRules {
        /// α and β are real numbers, computed from every round-trip time. If cwnd has grown by one
        /// segment, the remaining acknowledged bytes count for the next segment.
        Liu2006 = "liu2006",
        /// α is in 128ths and β in 64ths, both rounded down. α and β are computed from round-trip
        /// times in whole microseconds, and not during loss recovery. Each increase of cwnd by one
        /// segment resets the count of acknowledged segments to 0. A decrease of cwnd is rounded
        /// down to whole segments (Linux, tcp_illinois).
        Linux = "linux",
    }
}

params! {
    /// TCP-Illinois. The increase α falls and the decrease β rises with the average queueing delay,
    /// which is measured once per round trip relative to the maximum queueing delay.
    pub struct Illinois: "illinois", checked by check {
        /// Minimum increase of cwnd, in segments per round trip (α_min).
        alpha_min: f64 = (0.3), in Range::between(0.01, 100.0), from "liu2006illinois §4";
        /// Maximum increase of cwnd, in segments per round trip (α_max).
        alpha_max: f64 = (10.0), in Range::between(0.01, 1000.0), from "liu2006illinois §4";
        /// Minimum fraction by which congestion reduces the window (β_min).
        beta_min: f64 = (0.125), in Range::between(0.01, 0.9), from "liu2006illinois §4";
        /// Maximum fraction by which congestion reduces the window (β_max).
        beta_max: f64 = (0.5), in Range::between(0.01, 0.9), from "liu2006illinois §4";
        /// Fraction of the maximum queueing delay up to which the increase is alpha_max (η1).
        eta_1: f64 = (0.01), in Range::between(0.0, 1.0), from "liu2006illinois §4";
        /// Fraction of the maximum queueing delay up to which the decrease is beta_min (η2).
        eta_2: f64 = (0.1), in Range::between(0.0, 1.0), from "liu2006illinois §4";
        /// Fraction of the maximum queueing delay from which the decrease is beta_max (η3).
        eta_3: f64 = (0.8), in Range::between(0.0, 1.0), from "liu2006illinois §4";
        /// Number of round trips of low delay before the increase is alpha_max again (θ).
        theta: Packets = (Packets(5.0)), in Range::between(1.0, 1000.0).whole(), from "liu2006illinois §4";
        /// Window below which the control behaves as standard TCP (W_thresh).
        window_threshold: Packets = (Packets(15.0)), in Range::between(0.0, 1e6), from "liu2006illinois §4";
        /// Arithmetic of the increase α and the decrease β, and their effect on the window.
        rules: IllinoisRules = (IllinoisRules::Liu2006), in Range::ANY, from "liu2006illinois §4; Linux, tcp_illinois: linux";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// Unit that congestion avoidance counts to increase cwnd: ACK, byte, or window of bytes.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "liu2006illinois §2: per ACK";
    }
}

rules! {
    /// cwnd grows by α segments per round trip, where α falls with the queueing delay.
    INCREASE = "illinois-increase", from "liu2006illinois §3";
    /// A loss or a mark reduces the window by the fraction β, which rises with the queueing delay.
    DECREASE = "illinois-decrease", from "liu2006illinois §3";
}

impl Control for Illinois {
    type State = IllinoisState;
    const RULES: &'static [Rule] = RULES;
    /// Loss recovery by SACK, because cumulative ACKs repair only one loss per round trip in
    /// windows of thousands of segments.
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::Sack;

    fn new_state(&self, _: &Window) -> Self::State {
        IllinoisState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({"slow_start": slow_start::linux_defaults(), "avoidance": "per-window", "rules": "linux"})
    }
}

/// Check that alpha_min is below alpha_max, beta_min below beta_max, and eta_2 below eta_3.
fn check(p: &Illinois, path: &str) -> Result<(), Invalid> {
    for (key, low, high_key, high) in [
        ("alpha_min", p.alpha_min, "alpha_max", p.alpha_max),
        ("beta_min", p.beta_min, "beta_max", p.beta_max),
        ("eta_2", p.eta_2, "eta_3", p.eta_3),
    ] {
        if low >= high {
            let problem = format!("must be below {high_key} ({high})");
            return Err(Invalid::new(&join(path, key), &low.write(), problem));
        }
    }
    Ok(())
}

/// Return α = f1(da): α_max up to d1, then κ1/(κ2 + da), which is α_max at d1 and α_min at the
/// maximum delay dm.
fn increase(p: &Illinois, da: f64, dm: f64) -> f64 {
    let d1 = p.eta_1 * dm;
    if da <= d1 {
        return p.alpha_max;
    }
    let spread = p.alpha_max - p.alpha_min;
    let kappa_1 = (dm - d1) * p.alpha_min * p.alpha_max / spread;
    let kappa_2 = (dm - d1) * p.alpha_min / spread - d1;
    (kappa_1 / (kappa_2 + da)).clamp(p.alpha_min, p.alpha_max)
}

/// Return β = f2(da): β_min up to d2, β_max from d3, and linear interpolation between d2 and d3.
fn decrease(p: &Illinois, da: f64, dm: f64) -> f64 {
    let (d2, d3) = (p.eta_2 * dm, p.eta_3 * dm);
    if da <= d2 {
        p.beta_min
    } else if da >= d3 {
        p.beta_max
    } else {
        p.beta_min + (p.beta_max - p.beta_min) * (da - d2) / (d3 - d2)
    }
}

/// Value of α = 1 in Linux's integers (ALPHA_SCALE).
const ALPHA_UNIT: f64 = 128.0;
/// Value of β = 1 in Linux's integers (BETA_SCALE).
const BETA_UNIT: f64 = 64.0;

/// Return the increase α as Linux computes it, for an average delay `da` above d1, with delays in
/// whole microseconds (tcp_illinois.c, alpha).
fn increase_in_integers(p: &Illinois, da: u64, dm: u64) -> f64 {
    let [min, max] = [p.alpha_min, p.alpha_max].map(|alpha| (alpha * ALPHA_UNIT) as u64);
    let d1 = (p.eta_1 * dm as f64) as u64;
    let (da, dm) = (da - d1, dm - d1);
    (dm * max / (dm + da * (max - min) / min.max(1)).max(1)) as f64 / ALPHA_UNIT
}

/// Return the decrease β as Linux computes it (tcp_illinois.c, beta).
fn decrease_in_integers(p: &Illinois, da: u64, dm: u64) -> f64 {
    let [min, max] = [p.beta_min, p.beta_max].map(|beta| (beta * BETA_UNIT) as u64);
    let [d2, d3] = [p.eta_2, p.eta_3].map(|eta| (eta * dm as f64) as u64);
    let beta = if da <= d2 {
        min
    } else if da >= d3 || d3 <= d2 {
        max
    } else {
        min + (max - min) * (da - d2) / (d3 - d2)
    };
    beta as f64 / BETA_UNIT
}

/// State of TCP-Illinois in a connection.
#[derive(Clone, Debug)]
pub struct IllinoisState {
    params: Illinois,
    growth: Growth,
    alpha: f64,
    beta: f64,
    min_rtt: Duration,
    max_rtt: Duration,
    /// Sum of the round-trip times in this round, in seconds.
    sum: f64,
    /// Number of measurements of the round-trip time in this round.
    samples: u32,
    /// Number of round trips of low delay since the last round trip of higher delay.
    low_delay_rounds: u32,
    /// True after the first round trip whose queueing delay was not low. Until `had_delay` is true,
    /// α returns to the maximum without a wait of θ round trips.
    had_delay: bool,
    /// True if a round trip has ended since α and β were computed.
    round_ended: bool,
    /// Number of segments acknowledged since cwnd last grew, by Linux's rules (snd_cwnd_cnt).
    counted: u64,
}

impl IllinoisState {
    /// Create the state of TCP-Illinois in a connection before the first ACK of the connection.
    pub fn new(params: &Illinois) -> Self {
        IllinoisState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, params.avoidance),
            alpha: 1.0,
            beta: 0.5,
            min_rtt: Duration(u64::MAX),
            max_rtt: Duration::ZERO,
            sum: 0.0,
            samples: 0,
            low_delay_rounds: 0,
            had_delay: false,
            round_ended: false,
            counted: 0,
        }
    }

    /// Return true if Linux's rules apply.
    fn is_linux(&self) -> bool {
        self.params.rules == IllinoisRules::Linux
    }

    /// Compute α and β by Linux's rules (update_params of tcp_illinois.c).
    fn update_linux(&mut self, w: &Window) {
        let (sum, samples) = (std::mem::take(&mut self.sum), std::mem::take(&mut self.samples));
        if w.cwnd < self.params.window_threshold.0 * w.smss {
            (self.alpha, self.beta) = (1.0, 0.5);
            return;
        }
        if samples == 0 {
            return;
        }
        let microseconds = |d: Duration| d.0 / 1_000_000;
        let dm = microseconds(self.max_rtt) - microseconds(self.min_rtt);
        let da = ((sum / f64::from(samples) * 1e6) as u64).saturating_sub(microseconds(self.min_rtt));
        self.beta = decrease_in_integers(&self.params, da, dm);
        if da > (self.params.eta_1 * dm as f64) as u64 {
            self.had_delay = true;
            self.alpha = increase_in_integers(&self.params, da, dm);
            return;
        }
        if self.had_delay {
            self.low_delay_rounds += 1;
            if f64::from(self.low_delay_rounds) < self.params.theta.0 {
                return;
            }
            (self.low_delay_rounds, self.had_delay) = (0, false);
        }
        self.alpha = self.params.alpha_max;
    }

    /// Return cwnd above ssthresh after an ACK of `acked` bytes, by Linux's rules.
    ///
    /// Each increase of cwnd discards the acknowledged segments that exceed the required number
    /// (tcp_illinois_cong_avoid).
    fn grow_linux(&mut self, w: &Window, acked: u32) -> f64 {
        let cwnd = (w.cwnd / w.smss) as u64;
        self.counted += u64::from(acked).div_ceil((w.smss as u64).max(1));
        let delta = self.counted * (self.alpha * ALPHA_UNIT) as u64 / ALPHA_UNIT as u64;
        if delta < cwnd.max(1) {
            return w.cwnd;
        }
        self.counted = 0;
        w.cwnd + (delta / cwnd.max(1)) as f64 * w.smss
    }

    /// Compute α and β from the average queueing delay of the round trip that has ended.
    fn update(&mut self, w: &Window) {
        if self.samples == 0 {
            return;
        }
        let da = (self.sum / f64::from(self.samples) - self.min_rtt.seconds()).max(0.0);
        let dm = (self.max_rtt.seconds() - self.min_rtt.seconds()).max(0.0);
        (self.sum, self.samples) = (0.0, 0);
        if w.cwnd < self.params.window_threshold.0 * w.smss {
            (self.alpha, self.beta) = (1.0, 0.5);
            return;
        }
        let alpha = increase(&self.params, da, dm);
        let delay_is_low = da <= self.params.eta_1 * dm;
        self.low_delay_rounds = if delay_is_low { self.low_delay_rounds.saturating_add(1) } else { 0 };
        self.had_delay |= !delay_is_low;
        // After a higher queueing delay, α becomes α_max again only once the queueing delay was
        // below d1 for θ round trips.
        if alpha < self.params.alpha_max
            || !self.had_delay
            || f64::from(self.low_delay_rounds) >= self.params.theta.0
        {
            self.alpha = alpha;
        }
        self.beta = decrease(&self.params, da, dm);
    }
}

impl CongestionControl for IllinoisState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        if let Some(rtt) = ack.rtt {
            self.min_rtt = self.min_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
            self.sum += rtt.seconds();
            self.samples += 1;
        }
        self.round_ended |= ack.round;
        if self.round_ended && !(self.is_linux() && ack.in_recovery) {
            self.round_ended = false;
            if self.is_linux() { self.update_linux(w) } else { self.update(w) }
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            return w.cwnd;
        }
        if self.is_linux() {
            let slow_start = w.cwnd < w.ssthresh;
            return if slow_start { self.growth.slow_start(w, ack).0 } else { self.grow_linux(w, ack.acked) };
        }
        self.growth.cwnd_on_ack(w, ack, self.alpha)
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        self.counted = 0;
        let beta = self.beta;
        if matches!(congestion, Congestion::Timeout { .. }) {
            (self.alpha, self.beta, self.low_delay_rounds, self.had_delay) = (1.0, 0.5, 0, false);
            (self.sum, self.samples) = (0.0, 0);
        }
        if self.is_linux() {
            return decreased_in_segments(w, congestion, |cwnd| cwnd - (cwnd as f64 * beta) as u64);
        }
        decreased(w, 1.0 - beta, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
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
    use crate::congestion::harness::{MSS, Path, Sim, ack, ack_at, linux, window};
    use units::param::defaults;

    /// Return the default parameters.
    fn params() -> Illinois {
        defaults()
    }

    /// For dm = 100 ms, κ1 = 99·3/9.7 = 30.62 and κ2 = 99·0.3/9.7 − 1 = 2.062, both in ms.
    #[test]
    fn increase_follows_the_curve_of_the_paper() {
        for (da, alpha) in [(0.0, 10.0), (0.001, 10.0), (0.010, 2.538_4), (0.050, 0.588_1), (0.100, 0.3)] {
            let value = increase(&params(), da, 0.1);
            assert!((value - alpha).abs() < 2e-4, "{da} {value}");
        }
    }

    #[test]
    fn decrease_follows_the_curve_of_the_paper() {
        for (da, beta) in [(0.0, 0.125), (0.010, 0.125), (0.045, 0.3125), (0.080, 0.5), (0.1, 0.5)] {
            assert!((decrease(&params(), da, 0.1) - beta).abs() < 1e-12, "{da}");
        }
    }

    /// α falls immediately when the queueing delay rises, and becomes α_max again only after five
    /// round trips of low delay.
    #[test]
    fn maximum_increase_returns_after_theta_round_trips_of_low_delay() {
        let mut i = IllinoisState::new(&params());
        let w = window(100.0, 50.0, 100.0);
        let round = |i: &mut IllinoisState, rtt: f64| {
            let mut a = ack_at(0.0, rtt, 1.0);
            a.round = true;
            i.observe(&w, &a);
        };
        round(&mut i, 0.1);
        round(&mut i, 0.2);
        assert!((i.alpha - 0.3).abs() < 1e-9 && i.beta == 0.5);
        for n in 1..=5 {
            assert!(i.alpha < 1.0, "{n}");
            round(&mut i, 0.1);
        }
        assert_eq!((i.alpha, i.beta), (10.0, 0.125));
        let small = window(10.0, 5.0, 10.0);
        let mut a = ack_at(0.0, 0.1, 1.0);
        a.round = true;
        i.observe(&small, &a);
        assert_eq!((i.alpha, i.beta), (1.0, 0.5), "standard TCP below W_thresh");
    }

    /// Until the first round trip whose queueing delay is not low, α is α_max (Linux,
    /// tcp_illinois). A timeout restores the initial value of the increase α.
    #[test]
    fn increase_is_maximal_before_any_delay() {
        let mut i = IllinoisState::new(&params());
        let w = window(100.0, 50.0, 100.0);
        let mut a = ack_at(0.0, 0.1, 1.0);
        a.round = true;
        i.observe(&w, &a);
        assert_eq!((i.alpha, i.beta), (10.0, 0.125));
        a.rtt = Some(Duration::from_millis(200));
        i.observe(&w, &a);
        a.rtt = Some(Duration::from_millis(100));
        i.observe(&w, &a);
        assert!(i.alpha < 1.0, "{}", i.alpha);
        i.ssthresh_on_congestion(&w, Congestion::Timeout { repeated: false }, Time::ZERO);
        i.observe(&w, &a);
        assert_eq!(i.alpha, 10.0);
    }

    #[test]
    fn timeout_resets_alpha_and_beta_to_standard_tcp() {
        let mut i = IllinoisState::new(&params());
        (i.alpha, i.beta) = (10.0, 0.125);
        let w = window(100.0, 50.0, 100.0);
        let ssthresh = i.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO);
        assert_eq!(ssthresh, 87.5 * MSS);
        i.ssthresh_on_congestion(&w, Congestion::Timeout { repeated: false }, Time::ZERO);
        assert_eq!((i.alpha, i.beta), (1.0, 0.5));
    }

    /// tcp_illinois_ssthresh: cwnd - ((cwnd * beta) >> 6). With β = 1/8 and a cwnd of 23 segments,
    /// the decrease of 23/8 segments is rounded down to two segments.
    #[test]
    fn linux_reduces_cwnd_by_whole_segments() {
        let mut i = IllinoisState::new(&linux());
        i.beta = 0.125;
        let w = window(23.0, 5.0, 23.0);
        assert_eq!(i.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 21.0 * MSS);
    }

    /// tcp_illinois_cong_avoid is tested with α = 10 and ACKs of two segments. A cwnd of 21
    /// segments grows with the second ACK, because 4 * 10 / 21 is 1 in integers, and the remainder
    /// is discarded. With Appropriate Byte Counting, the third ACK would increase cwnd by two
    /// segments.
    #[test]
    fn linux_discards_the_remainder_of_growth() {
        let mut i = IllinoisState::new(&linux());
        i.alpha = 10.0;
        let mut w = window(21.0, 5.0, 21.0);
        let mut grown = Vec::new();
        for _ in 0..6 {
            w.cwnd = i.cwnd_on_ack(&w, &ack(2.0));
            grown.push(w.cwnd / MSS);
        }
        assert_eq!(grown, [21.0, 22.0, 22.0, 23.0, 23.0, 24.0]);
    }

    /// The expected results of alpha() and beta() in tcp_illinois.c were computed by hand for dm =
    /// 100 ms and d1 = 1 ms. At da = 10 ms, α is 99000 * 1280 / (99000 + 9000 * 1242 / 38) = 322
    /// (2.52). At da = 45 ms, β is 20 (0.3125), computed as (8 * 80 - 32 * 10 + 24 * 45) / 70.
    #[test]
    fn linux_computes_alpha_and_beta_in_integers() {
        assert_eq!(increase_in_integers(&params(), 10_000, 100_000) * 128.0, 322.0);
        assert_eq!(increase_in_integers(&params(), 100_000, 100_000) * 128.0, 38.0);
        for (da, beta) in [(0, 8.0), (10_000, 8.0), (45_000, 20.0), (46_000, 20.0), (80_000, 32.0)] {
            assert_eq!(decrease_in_integers(&params(), da, 100_000) * 64.0, beta, "{da}");
        }
    }

    /// alpha() of tcp_illinois.c requires five round trips of low delay, which need not be
    /// consecutive. Round trips during loss recovery do not count as round trips of low delay.
    #[test]
    fn linux_counts_low_delay_round_trips_that_are_not_consecutive() {
        let mut i = IllinoisState::new(&linux());
        let w = window(100.0, 50.0, 100.0);
        let round = |i: &mut IllinoisState, rtt: f64, in_recovery: bool| {
            let a = Ack { round: true, in_recovery, ..ack_at(0.0, rtt, 1.0) };
            i.observe(&w, &a);
            (i.alpha * 128.0) as u32
        };
        assert_eq!(round(&mut i, 0.1, false), 1280);
        assert_eq!(round(&mut i, 0.2, false), 38);
        for rtt in [0.1, 0.1, 0.1, 0.2, 0.1] {
            assert_eq!(round(&mut i, rtt, false), 38);
        }
        assert_eq!(round(&mut i, 0.1, true), 38);
        assert_eq!(round(&mut i, 0.1, false), 1280);
    }

    /// The window is a concave function of time: it grows fast after a reduction, and more slowly
    /// until the next reduction.
    #[test]
    fn growth_slows_as_the_queue_builds() {
        let path = Path { buffer: 200, ..Path::new(80_000_000, 20) };
        let mut sim = Sim::new(IllinoisState::new(&params()), path, 10.0, 150.0);
        let (mut fast, mut slow) = (0.0f64, f64::INFINITY);
        sim.run(100.0, |sim| {
            if sim.now.seconds() > 30.0 && sim.ssthresh <= sim.cwnd {
                fast = fast.max(sim.controller.alpha);
                slow = slow.min(sim.controller.alpha);
            }
        });
        assert!(fast > 9.0 && slow < 0.4, "{fast} {slow}");
        assert!(sim.events.len() > 1);
    }
}
