//! Westwood+, Mascolo et al. 2001 (`mascolo2001westwood`) and Grieco & Mascolo 2004
//! (`grieco2004westwood`): congestion sets the window to the bandwidth that was measured times the least
//! round trip, instead of halving it.
//!
//! The bandwidth is sampled once a round trip, which is what the plus stands for. The papers were not
//! at hand. That sampling and its least interval, the first sample that is taken as it is, and ssthresh (at least
//! two segments) were checked against Linux's `tcp_westwood`, by an author of Westwood+; that congestion does
//! not open the window, against lecture notes on the first paper (Linux sets cwnd to ssthresh either way).
//! The 0.9 of the filter is as the second paper is quoted; Linux has 7/8, and filters twice (`stages`).

use serde_json::json;
use units::param::Json;
use units::{Duration, Range, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::Window;

words! {
    /// What cwnd is while a congestion is repaired.
    pub enum InRecovery {
        /// What fills the pipe, from the start.
        Pipe = "pipe",
        /// Half of it, as Reno's; what fills the pipe when the repair is complete (Linux).
        Half = "half",
    }
}

words! {
    /// How often the bandwidth is filtered.
    pub enum Stages {
        /// Once.
        One = "one",
        /// Twice: the filter's output is filtered again (Linux).
        Two = "two",
    }
}

params! {
    /// Westwood+: grows as Reno does; congestion leaves what fills the pipe, by the rate at which ACKs
    /// came back, so that random losses cost little.
    pub struct Westwood: "westwood" {
        /// Weight of the past in the filter of the bandwidth (α).
        filter: f64 = (0.9), in Range::between(0.0, 0.999), from "grieco2004westwood §2";
        /// How often the bandwidth is filtered.
        stages: Stages = (Stages::One), in Range::ANY, from "grieco2004westwood §2; Linux, tcp_westwood: twice";
        /// What cwnd is while a congestion is repaired.
        in_recovery: InRecovery = (InRecovery::Pipe), in Range::ANY, from "mascolo2001westwood §3; Linux, tcp_westwood: half";
        /// Least time between two samples of the bandwidth.
        interval_min: Duration = (Duration::from_millis(50)), in Range::between(0.0, 10.0), from "Linux, tcp_westwood: 50 ms";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// What congestion avoidance counts.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "rfc5681 §3.1";
    }
}

impl Control for Westwood {
    type State = WestwoodState;

    fn begin(&self, _: &Window) -> Self::State {
        WestwoodState::new(self)
    }

    fn in_linux() -> Json {
        json!({
            "slow_start": slow_start::in_linux(),
            "avoidance": "per-window",
            "filter": 0.875,
            "stages": "two",
            "in_recovery": "half",
        })
    }
}

/// State of Westwood+.
#[derive(Clone, Debug)]
pub struct WestwoodState {
    params: Westwood,
    growth: Growth,
    /// When the interval began and how much had been delivered by then.
    began: Option<(Time, u64)>,
    /// Bandwidth after each filter, in bytes/s.
    bandwidth: Option<[f64; 2]>,
    /// What the window was cut for is being repaired; cwnd is what fills the pipe from then on.
    repairing: bool,
    /// The repair has ended at this cwnd, which is ssthresh too.
    ended_at: Option<f64>,
    rtt_min: Duration,
}

impl WestwoodState {
    /// Before the first ACK.
    pub fn new(params: &Westwood) -> Self {
        WestwoodState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, params.avoidance),
            began: None,
            bandwidth: None,
            repairing: false,
            ended_at: None,
            rtt_min: Duration(u64::MAX),
        }
    }

    /// b̂_k = α b̂_{k−1} + (1 − α) b_k; the first sample is taken as it is.
    fn sample(&mut self, bytes: f64, interval: f64) {
        let b = bytes / interval;
        let alpha = self.params.filter;
        let filtered = |was: f64, new: f64| alpha * was + (1.0 - alpha) * new;
        self.bandwidth = Some(self.bandwidth.map_or([b; 2], |[first, second]| {
            let first = filtered(first, b);
            [first, filtered(second, first)]
        }));
    }

    /// What fills the pipe: bandwidth times RTTmin.
    fn pipe(&self, w: &Window) -> Option<f64> {
        let rtt_min = (self.rtt_min != Duration(u64::MAX)).then(|| self.rtt_min.seconds())?;
        let [first, second] = self.bandwidth?;
        let bandwidth = if self.params.stages == Stages::One { first } else { second };
        Some((bandwidth * rtt_min).max(2.0 * w.smss))
    }

    /// The repair that began with a cut to a half is complete with this ACK.
    fn repaired(&self, ack: &Ack) -> bool {
        self.repairing && ack.round && !ack.in_recovery
    }
}

impl CongestionControl for WestwoodState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        self.rtt_min = ack.rtt.map_or(self.rtt_min, |rtt| self.rtt_min.min(rtt));
        let Some((began, delivered)) = self.began else {
            self.began = Some((ack.now, ack.total_delivered));
            return;
        };
        let interval = ack.now.since(began);
        if ack.round && interval > Duration::ZERO && interval >= self.params.interval_min {
            self.sample(ack.total_delivered.saturating_sub(delivered) as f64, interval.seconds());
            self.began = Some((ack.now, ack.total_delivered));
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if self.repaired(ack)
            && let Some(pipe) = self.pipe(w)
        {
            self.repairing = false;
            self.ended_at = Some(pipe);
            return pipe;
        }
        if ack.cwnd_limited { self.growth.cwnd_on_ack(w, ack, 1.0) } else { w.cwnd }
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let timeout = matches!(congestion, Congestion::Timeout { .. });
        self.repairing = !timeout && self.params.in_recovery == InRecovery::Half;
        match self.pipe(w) {
            Some(pipe) if !self.repairing => pipe,
            _ => decreased(w, 0.5, congestion),
        }
    }

    /// "if cwnd > ssthresh, cwnd = ssthresh": congestion does not open the window.
    fn cwnd_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        let pipe = self.pipe(w)?;
        let cuts = !matches!(congestion, Congestion::Timeout { .. }) && !self.repairing;
        cuts.then(|| pipe.min(w.cwnd))
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.ended_at.take().or_else(|| self.growth.left_slow_start())
    }

    /// Silence is no measure of the bandwidth.
    fn on_restart(&mut self, _now: Time, _idle: Duration) {
        self.began = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, window};

    fn westwood() -> WestwoodState {
        WestwoodState::new(&defaults())
    }

    /// The step response of the filter: b + (b₀ − b)·0.9^n.
    #[test]
    fn the_filter_forgets_by_a_tenth_a_sample() {
        let mut w = westwood();
        w.sample(1000.0, 1.0);
        assert_eq!(w.bandwidth, Some([1000.0; 2]));
        for n in 1..=30 {
            w.sample(250.0, 0.5);
            let closed = 500.0 + 500.0 * 0.9f64.powi(n);
            assert!((w.bandwidth.unwrap()[0] - closed).abs() < 1e-9);
        }
    }

    #[test]
    fn congestion_leaves_bandwidth_times_least_round_trip() {
        let mut c = westwood();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 50.0 * MSS);
        assert_eq!(c.cwnd_on(&w, Congestion::FastRetransmit, Time::ZERO), None);
        (c.bandwidth, c.rtt_min) = (Some([1e6; 2]), Duration::from_millis(80));
        assert_eq!(c.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 80.0 * MSS);
        assert_eq!(c.cwnd_on(&w, Congestion::FastRetransmit, Time::ZERO), Some(80.0 * MSS));
        let small = window(60.0, 50.0, 60.0);
        assert_eq!(c.cwnd_on(&small, Congestion::FastRetransmit, Time::ZERO), Some(60.0 * MSS));
        assert_eq!(c.cwnd_on(&small, Congestion::Timeout { again: false }, Time::ZERO), None);
    }

    /// The estimate is the rate of a bottleneck kept busy, and the cut its bandwidth-delay product.
    #[test]
    fn the_bandwidth_of_a_busy_bottleneck() {
        let path = Path { buffer: 100, ..Path::new(16_000_000, 50) };
        let mut sim = Sim::new(westwood(), path, 10.0, 120.0);
        sim.run(40.0, |_| {});
        let [b, _] = sim.controller.bandwidth.unwrap();
        assert!((b / 2e6 - 1.0).abs() < 0.01, "{b}");
        assert!(sim.events.len() > 1);
        assert!((sim.ssthresh / MSS - 101.0).abs() < 2.0, "{}", sim.ssthresh);
    }
}
