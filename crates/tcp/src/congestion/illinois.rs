//! TCP-Illinois, Liu, Başar & Srikant 2006 (`liu2006illinois`): losses say when the window is cut,
//! queueing delay says by how much and how fast it grows back.
//!
//! The paper's equations (5) to (9), their constants and θ were checked against what quotes them and against
//! Linux's `tcp_illinois`, of which an author of the paper is one; the paper itself was not at hand. As there
//! the greatest delay is that of single round trips. The θ round trips of little delay follow each
//! other here; Linux counts them even if others come between (`rules`).

use serde_json::json;
use units::Read;
use units::param::{Invalid, Json, join};
use units::{Duration, Packets, Range, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, decreased, decreased_in_segments,
};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::Window;

words! {
    /// Arithmetic of α and β, and what they do to the window.
    pub enum IllinoisRules {
        /// α and β in full precision, from every round trip; the remainder of a segment of growth
        /// counts for the next segment.
        Liu2006 = "liu2006",
        /// α in 128ths and β in 64ths, rounded down, from round trips in whole microseconds, and
        /// not during a recovery. With each segment of growth the count of acknowledged segments
        /// begins anew, and a decrease takes whole segments away (Linux, tcp_illinois).
        Linux = "linux",
    }
}

params! {
    /// TCP-Illinois: the increase α falls and the decrease β rises with the average queueing delay,
    /// measured once a round trip against the greatest seen.
    pub struct Illinois: "illinois", checked by check {
        /// Least increase, in segments a round trip (α_min).
        alpha_min: f64 = (0.3), in Range::between(0.01, 100.0), from "liu2006illinois §4";
        /// Greatest increase, in segments a round trip (α_max).
        alpha_max: f64 = (10.0), in Range::between(0.01, 1000.0), from "liu2006illinois §4";
        /// Least part of the window that congestion takes away (β_min).
        beta_min: f64 = (0.125), in Range::between(0.01, 0.9), from "liu2006illinois §4";
        /// Greatest part of the window that congestion takes away (β_max).
        beta_max: f64 = (0.5), in Range::between(0.01, 0.9), from "liu2006illinois §4";
        /// Up to this part of the greatest queueing delay the increase is alpha_max (η1).
        eta_1: f64 = (0.01), in Range::between(0.0, 1.0), from "liu2006illinois §4";
        /// Up to this part of it the decrease is beta_min (η2).
        eta_2: f64 = (0.1), in Range::between(0.0, 1.0), from "liu2006illinois §4";
        /// From this part of it the decrease is beta_max (η3).
        eta_3: f64 = (0.8), in Range::between(0.0, 1.0), from "liu2006illinois §4";
        /// Round trips of little delay before the increase is alpha_max again (θ).
        theta: Packets = (Packets(5.0)), in Range::between(1.0, 1000.0).whole(), from "liu2006illinois §4";
        /// Window below which it is standard TCP (W_thresh).
        window_threshold: Packets = (Packets(15.0)), in Range::between(0.0, 1e6), from "liu2006illinois §4";
        /// Arithmetic of α and β, and what they do to the window.
        rules: IllinoisRules = (IllinoisRules::Liu2006), in Range::ANY, from "liu2006illinois §4; Linux, tcp_illinois: linux";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// What congestion avoidance counts.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "liu2006illinois §2: per ACK";
    }
}

impl Control for Illinois {
    type State = IllinoisState;
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::Sack; // made for windows of thousands of segments, which SACK alone repairs in a round trip

    fn begin(&self, _: &Window) -> Self::State {
        IllinoisState::new(self)
    }

    fn in_linux() -> Json {
        json!({"slow_start": slow_start::in_linux(), "avoidance": "per-window", "rules": "linux"})
    }
}

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

/// α = f1(da): α_max up to d1, then κ1/(κ2 + da), which is α_max at d1 and α_min at the greatest delay dm.
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

/// β = f2(da): β_min up to d2, β_max from d3, linear between.
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

/// Units of α and β in Linux (ALPHA_SCALE, BETA_SCALE).
const ALPHA_UNIT: f64 = 128.0;
const BETA_UNIT: f64 = 64.0;

/// α as Linux computes it, for an average delay `da` above d1; delays in whole microseconds
/// (tcp_illinois.c, alpha).
fn increase_in_integers(p: &Illinois, da: u64, dm: u64) -> f64 {
    let [least, greatest] = [p.alpha_min, p.alpha_max].map(|alpha| (alpha * ALPHA_UNIT) as u64);
    let d1 = (p.eta_1 * dm as f64) as u64;
    let (da, dm) = (da - d1, dm - d1);
    (dm * greatest / (dm + da * (greatest - least) / least.max(1)).max(1)) as f64 / ALPHA_UNIT
}

/// β as Linux computes it (tcp_illinois.c, beta).
fn decrease_in_integers(p: &Illinois, da: u64, dm: u64) -> f64 {
    let [least, greatest] = [p.beta_min, p.beta_max].map(|beta| (beta * BETA_UNIT) as u64);
    let [d2, d3] = [p.eta_2, p.eta_3].map(|eta| (eta * dm as f64) as u64);
    let beta = if da <= d2 {
        least
    } else if da >= d3 || d3 <= d2 {
        greatest
    } else {
        least + (greatest - least) * (da - d2) / (d3 - d2)
    };
    beta as f64 / BETA_UNIT
}

/// State of TCP-Illinois.
#[derive(Clone, Debug)]
pub struct IllinoisState {
    params: Illinois,
    growth: Growth,
    alpha: f64,
    beta: f64,
    least: Duration,
    greatest: Duration,
    /// Sum and number of this round's round trips.
    sum: f64,
    samples: u32,
    /// Round trips of little delay since the last of more.
    calm: u32,
    /// The delay was once more than little, so that θ counts.
    delayed: bool,
    /// True if a round trip has passed since α and β were computed.
    round: bool,
    /// Number of segments acknowledged since the last segment of growth, by Linux's rules (snd_cwnd_cnt).
    counted: u64,
}

impl IllinoisState {
    /// Before the first ACK.
    pub fn new(params: &Illinois) -> Self {
        IllinoisState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, params.avoidance),
            alpha: 1.0,
            beta: 0.5,
            least: Duration(u64::MAX),
            greatest: Duration::ZERO,
            sum: 0.0,
            samples: 0,
            calm: 0,
            delayed: false,
            round: false,
            counted: 0,
        }
    }

    fn is_linux(&self) -> bool {
        self.params.rules == IllinoisRules::Linux
    }

    /// Computes α and β as update_params of tcp_illinois.c does.
    fn update_by_linux(&mut self, w: &Window) {
        let (sum, samples) = (std::mem::take(&mut self.sum), std::mem::take(&mut self.samples));
        if w.cwnd < self.params.window_threshold.0 * w.smss {
            (self.alpha, self.beta) = (1.0, 0.5);
            return;
        }
        if samples == 0 {
            return;
        }
        let micros = |d: Duration| d.0 / 1_000_000;
        let dm = micros(self.greatest) - micros(self.least);
        let da = ((sum / f64::from(samples) * 1e6) as u64).saturating_sub(micros(self.least));
        self.beta = decrease_in_integers(&self.params, da, dm);
        if da > (self.params.eta_1 * dm as f64) as u64 {
            self.delayed = true;
            self.alpha = increase_in_integers(&self.params, da, dm);
            return;
        }
        if self.delayed {
            self.calm += 1;
            if f64::from(self.calm) < self.params.theta.0 {
                return;
            }
            (self.calm, self.delayed) = (0, false);
        }
        self.alpha = self.params.alpha_max;
    }

    /// cwnd above ssthresh after an ACK of `acked` bytes, as tcp_illinois_cong_avoid computes it:
    /// the remainder is discarded.
    fn grow_by_linux(&mut self, w: &Window, acked: u32) -> f64 {
        let cwnd = (w.cwnd / w.smss) as u64;
        self.counted += u64::from(acked).div_ceil((w.smss as u64).max(1));
        let delta = self.counted * (self.alpha * ALPHA_UNIT) as u64 / ALPHA_UNIT as u64;
        if delta < cwnd.max(1) {
            return w.cwnd;
        }
        self.counted = 0;
        w.cwnd + (delta / cwnd.max(1)) as f64 * w.smss
    }

    /// A round trip has gone by: α and β from its average queueing delay.
    fn update(&mut self, w: &Window) {
        if self.samples == 0 {
            return;
        }
        let da = (self.sum / f64::from(self.samples) - self.least.seconds()).max(0.0);
        let dm = (self.greatest.seconds() - self.least.seconds()).max(0.0);
        (self.sum, self.samples) = (0.0, 0);
        if w.cwnd < self.params.window_threshold.0 * w.smss {
            (self.alpha, self.beta) = (1.0, 0.5);
            return;
        }
        let alpha = increase(&self.params, da, dm);
        let calm = da <= self.params.eta_1 * dm;
        self.calm = if calm { self.calm.saturating_add(1) } else { 0 };
        self.delayed |= !calm;
        // Once there was delay, α is α_max again only after it stayed below d1 for θ round trips.
        if alpha < self.params.alpha_max || !self.delayed || f64::from(self.calm) >= self.params.theta.0 {
            self.alpha = alpha;
        }
        self.beta = decrease(&self.params, da, dm);
    }
}

impl CongestionControl for IllinoisState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        if let Some(rtt) = ack.rtt {
            self.least = self.least.min(rtt);
            self.greatest = self.greatest.max(rtt);
            self.sum += rtt.seconds();
            self.samples += 1;
        }
        self.round |= ack.round;
        if self.round && !(self.is_linux() && ack.in_recovery) {
            self.round = false;
            if self.is_linux() { self.update_by_linux(w) } else { self.update(w) }
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            return w.cwnd;
        }
        if self.is_linux() {
            let slow_start = w.cwnd < w.ssthresh;
            return if slow_start {
                self.growth.slow_start(w, ack).0
            } else {
                self.grow_by_linux(w, ack.acked)
            };
        }
        self.growth.cwnd_on_ack(w, ack, self.alpha)
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        self.counted = 0;
        let beta = self.beta;
        if matches!(congestion, Congestion::Timeout { .. }) {
            (self.alpha, self.beta, self.calm, self.delayed) = (1.0, 0.5, 0, false);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack, ack_at, linux, window};

    fn p() -> Illinois {
        defaults()
    }

    /// By hand for dm = 100 ms: κ1 = 99·3/9.7 = 30.62, κ2 = 99·0.3/9.7 − 1 = 2.062 (ms).
    #[test]
    fn increase_curve() {
        for (da, alpha) in [(0.0, 10.0), (0.001, 10.0), (0.010, 2.538_4), (0.050, 0.588_1), (0.100, 0.3)] {
            let got = increase(&p(), da, 0.1);
            assert!((got - alpha).abs() < 2e-4, "{da} {got}");
        }
    }

    #[test]
    fn decrease_curve() {
        for (da, beta) in [(0.0, 0.125), (0.010, 0.125), (0.045, 0.3125), (0.080, 0.5), (0.1, 0.5)] {
            assert!((decrease(&p(), da, 0.1) - beta).abs() < 1e-12, "{da}");
        }
    }

    /// α falls at once with delay, and rises to α_max only after five calm round trips.
    #[test]
    fn theta_calm_rounds_before_the_greatest_increase() {
        let mut i = IllinoisState::new(&p());
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
        assert_eq!((i.alpha, i.beta), (1.0, 0.5), "standard below W_thresh");
    }

    /// As long as the delay never was more than little, α is α_max (Linux, tcp_illinois); a timeout begins anew.
    #[test]
    fn the_greatest_increase_at_once_before_any_delay() {
        let mut i = IllinoisState::new(&p());
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
        i.ssthresh_on(&w, Congestion::Timeout { again: false }, Time::ZERO);
        i.observe(&w, &a);
        assert_eq!(i.alpha, 10.0);
    }

    #[test]
    fn a_timeout_makes_it_standard() {
        let mut i = IllinoisState::new(&p());
        (i.alpha, i.beta) = (10.0, 0.125);
        let w = window(100.0, 50.0, 100.0);
        let left = i.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO);
        assert_eq!(left, 87.5 * MSS);
        i.ssthresh_on(&w, Congestion::Timeout { again: false }, Time::ZERO);
        assert_eq!((i.alpha, i.beta), (1.0, 0.5));
    }

    /// tcp_illinois_ssthresh: cwnd - ((cwnd * beta) >> 6). An eighth of 23 are two whole segments.
    #[test]
    fn linux_takes_whole_segments_away() {
        let mut i = IllinoisState::new(&linux());
        i.beta = 0.125;
        let w = window(23.0, 5.0, 23.0);
        assert_eq!(i.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 21.0 * MSS);
    }

    /// tcp_illinois_cong_avoid, with α = 10 and ACKs of two segments: cwnd 21 grows with the second
    /// ACK, for which 4 * 10 / 21 is 1, and what is above that is forgotten. Appropriate byte
    /// counting would have grown it by two with the third.
    #[test]
    fn linux_forgets_the_remainder() {
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

    /// alpha() and beta() of tcp_illinois.c by hand for dm = 100 ms, d1 = 1 ms. da = 10 ms: 99000 *
    /// 1280 / (99000 + 9000 * 1242 / 38) = 322 (2.52); da = 45 ms: (8 * 80 - 32 * 10 + 24 * 45) /
    /// 70 = 20 (0.3125).
    #[test]
    fn linux_computes_in_integers() {
        assert_eq!(increase_in_integers(&p(), 10_000, 100_000) * 128.0, 322.0);
        assert_eq!(increase_in_integers(&p(), 100_000, 100_000) * 128.0, 38.0);
        for (da, beta) in [(0, 8.0), (10_000, 8.0), (45_000, 20.0), (46_000, 20.0), (80_000, 32.0)] {
            assert_eq!(decrease_in_integers(&p(), da, 100_000) * 64.0, beta, "{da}");
        }
    }

    /// alpha() of tcp_illinois.c: five calm round trips, though others come between; none is
    /// counted during a recovery.
    #[test]
    fn linux_counts_calm_rounds_that_do_not_follow_each_other() {
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

    /// The window is concave: it grows faster after a cut than before the next.
    #[test]
    fn growth_slows_as_the_queue_builds() {
        let path = Path { buffer: 200, ..Path::new(80_000_000, 20) };
        let mut sim = Sim::new(IllinoisState::new(&p()), path, 10.0, 150.0);
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
