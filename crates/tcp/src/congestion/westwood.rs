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

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased, linux_ticks};
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
    /// Intervals over which the bandwidth is sampled.
    pub enum Samples {
        /// Each ends with a round trip of the data, and after interval_min at least.
        Rounds = "rounds",
        /// Each ends with the first ACK later than the last round-trip time measured and later than
        /// interval_min, without the bytes of that ACK. Times are in milliseconds, round trips
        /// rounded up, and the bandwidth is in whole bytes per millisecond; a timeout makes the
        /// next round trip RTTmin (Linux with HZ = 1000, westwood_update_window).
        Linux = "linux",
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
        /// Intervals over which the bandwidth is sampled.
        samples: Samples = (Samples::Rounds), in Range::ANY, from "grieco2004westwood §2; Linux, tcp_westwood: linux";
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
            "samples": "linux",
            "stages": "two",
            "in_recovery": "half",
        })
    }
}

/// Millisecond: a tick of Linux with HZ = 1000.
const TICK: u64 = 1_000_000_000;

/// State of Westwood+.
#[derive(Clone, Debug)]
pub struct WestwoodState {
    params: Westwood,
    growth: Growth,
    /// When the interval began and how much had been delivered by then.
    began: Option<(Time, u64)>,
    /// Bandwidth after each filter, in bytes/s.
    bandwidth: Option<[f64; 2]>,
    /// Last round-trip time, by Linux's rules.
    rtt: Option<Duration>,
    /// True if cwnd was reduced for a loss, so that the recovery's end ends the repair.
    recovering: bool,
    /// What the window was cut for is being repaired; cwnd is what fills the pipe from then on.
    repairing: bool,
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
            rtt: None,
            recovering: false,
            repairing: false,
            rtt_min: Duration(u64::MAX),
        }
    }

    /// b̂_k = α b̂_{k−1} + (1 − α) b_k; the first sample is taken as it is.
    fn sample(&mut self, bytes: f64, interval: f64) {
        let linux = self.is_linux();
        let rounded = |b: f64| if linux { (b / 1000.0).floor() * 1000.0 } else { b };
        let b = rounded(bytes / interval);
        let alpha = self.params.filter;
        let filtered = |was: f64, new: f64| rounded(alpha * was + (1.0 - alpha) * new);
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
        let pipe = bandwidth * rtt_min;
        let pipe = if self.is_linux() { (pipe / w.smss).floor() * w.smss } else { pipe };
        Some(pipe.max(2.0 * w.smss))
    }

    fn is_linux(&self) -> bool {
        self.params.samples == Samples::Linux
    }

    /// Return whether this ACK completes the repair that began with a reduction to a half. The
    /// recovery is over, or, without a recovery, a round trip has gone by and the window `opens`.
    fn repaired(&self, ack: &Ack, opens: bool) -> bool {
        self.repairing && !ack.in_recovery && (self.recovering || (ack.round && opens))
    }

    /// Samples the bandwidth with an ACK as westwood_update_window does, where the round trip of
    /// the ACK itself comes last. The first interval begins with the connection, at a time that
    /// follows from the first round trip.
    fn observe_by_linux(&mut self, ack: &Ack) {
        let tick = |t: u64| Time(t / TICK * TICK);
        let now = tick(ack.now.0);
        let opened = || tick(ack.now.0.saturating_sub(ack.rtt.map_or(0, |rtt| rtt.0)));
        let before = ack.total_delivered.saturating_sub(u64::from(ack.delivered));
        let (began, delivered) = *self.began.get_or_insert_with(|| (opened(), before));
        if let Some(rtt) = self.rtt {
            let interval = now.since(began);
            if interval > rtt.max(self.params.interval_min) {
                self.sample(before.saturating_sub(delivered) as f64, interval.seconds());
                self.began = Some((now, before));
            }
            self.rtt_min = self.rtt_min.min(rtt);
        }
        self.rtt = ack.rtt.map(|rtt| Duration::from_millis(linux_ticks(rtt))).or(self.rtt);
    }
}

impl CongestionControl for WestwoodState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        self.recovering |= ack.in_recovery; // a mark's reduction may become one
        if self.is_linux() {
            return self.observe_by_linux(ack);
        }
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

    fn on_ack(&mut self, w: &Window, ack: &Ack, opens: bool) -> (f64, Option<f64>) {
        self.observe(w, ack);
        if self.repaired(ack, opens)
            && let Some(pipe) = self.pipe(w)
        {
            self.repairing = false;
            return (pipe, Some(pipe));
        }
        let cwnd = if opens { self.cwnd_on_ack(w, ack).max(w.smss) } else { w.cwnd };
        (cwnd, self.growth.take_slow_start_exit())
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.cwnd_limited { self.growth.cwnd_on_ack(w, ack, 1.0) } else { w.cwnd }
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let timeout = matches!(congestion, Congestion::Timeout { .. });
        self.repairing = !timeout && self.params.in_recovery == InRecovery::Half;
        self.recovering = congestion == Congestion::FastRetransmit;
        let pipe = self.pipe(w);
        if timeout && self.is_linux() {
            self.rtt_min = Duration(u64::MAX); // reset_rtt_min
        }
        match pipe {
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
        self.growth.take_slow_start_exit()
    }

    /// An idle time is part of no sample, but in Linux it is.
    fn on_restart(&mut self, _now: Time, _idle: Duration) {
        if !self.is_linux() {
            self.began = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, linux, window};

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

    /// westwood_update_window: ACKs of 1000 bytes every millisecond, the first 10 ms after the
    /// connection. A sample ends with the first ACK after more than 50 ms, whose bytes belong to
    /// the next: 41 kB in 51 ms, then 51 kB in 51 ms. westwood_filter, in integers: (7 * 803 +
    /// 1000) >> 3 = 827, (7 * 803 + 827) >> 3 = 806.
    #[test]
    fn linux_samples_after_a_round_trip_and_50_ms() {
        let mut c = WestwoodState::new(&linux());
        let w = window(10.0, 5.0, 10.0);
        let mut seen = Vec::new();
        for n in 0..93 {
            let mut a = ack_at(1.0 + 0.001 * f64::from(n), 0.0096, 1.0);
            a.total_delivered = (n as u64 + 1) * MSS as u64;
            c.observe(&w, &a);
            if seen.last().is_none_or(|&(_, b)| b != c.bandwidth) {
                seen.push((n, c.bandwidth));
            }
        }
        assert_eq!(seen, [(0, None), (41, Some([803e3; 2])), (92, Some([827e3, 806e3]))]);
        assert_eq!(c.rtt_min, Duration::from_millis(10), "rounded up");
        // 806 B/ms for 10 ms.
        assert_eq!(c.ssthresh_on(&w, Congestion::Timeout { again: false }, Time::ZERO), 8.0 * MSS);
        assert_eq!(c.rtt_min, Duration(u64::MAX));
    }

    /// tcp_end_cwnd_reduction: the window is what fills the pipe when the recovery is over,
    /// wherever that is in a round trip.
    #[test]
    fn linux_fills_the_pipe_at_the_end_of_a_recovery() {
        let mut c = WestwoodState::new(&linux());
        (c.bandwidth, c.rtt_min) = (Some([1e6; 2]), Duration::from_millis(80));
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 50.0 * MSS);
        let w = window(50.0, 50.0, 50.0);
        let mut a = ack_at(1.0, 0.1, 1.0);
        (a.in_recovery, a.round) = (true, true);
        assert_eq!(c.on_ack(&w, &a, false), (50.0 * MSS, None));
        (a.in_recovery, a.round, a.cwnd_limited) = (false, false, false);
        assert_eq!(c.on_ack(&w, &a, false), (80.0 * MSS, Some(80.0 * MSS)));
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
