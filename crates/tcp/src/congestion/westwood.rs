//! Westwood+ (`westwood`) of Mascolo et al., 2001 (`mascolo2001westwood`) and Grieco & Mascolo 2004
//! (`grieco2004westwood`): congestion sets the window to the measured bandwidth times the minimum
//! round-trip time.
//!
//! The plus in the name Westwood+ stands for one bandwidth sample per round trip. The two papers on
//! Westwood+ were not available for this implementation. The sampling, its minimum interval, the
//! unfiltered first sample and ssthresh (at least two segments) were checked against Linux's
//! `tcp_westwood`, which an author of Westwood+ wrote. According to lecture notes on the first
//! paper, congestion does not increase the window. In Linux, congestion sets cwnd to ssthresh even
//! if ssthresh is larger. The weight 0.9 of the filter is quoted from the second paper on
//! Westwood+. Linux uses the weight 7/8 and two filter stages (key `stages`).

use net::{Rule, rules};
use serde_json::json;
use units::param::Json;
use units::{Duration, Range, Time, params, words};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased, linux_ticks};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

words! {
    /// Value of cwnd during the loss recovery or the reduction that follows congestion.
    pub enum InRecovery {
        /// cwnd is the measured bandwidth-delay product as soon as the loss recovery or reduction
        /// begins.
        Pipe = "pipe",
        /// cwnd is half of the FlightSize, as in Reno. When the loss recovery or reduction ends,
        /// cwnd becomes the measured bandwidth-delay product (Linux).
        Half = "half",
    }
}

words! {
    /// Intervals over which the bandwidth is sampled.
    pub enum Samples {
        /// Each interval ends when a round trip ends, and lasts at least interval_min.
        Rounds = "rounds",
        /// Each interval ends with the first ACK that arrives after the interval has exceeded the
        /// last measured round-trip time and interval_min. The bytes of the ACK that ends an
        /// interval belong to the next interval. Times are in milliseconds, round-trip times are
        /// rounded up, and the bandwidth is in whole bytes per millisecond. A timeout resets RTTmin
        /// to the next round-trip time (Linux with HZ = 1000, westwood_update_window).
        Linux = "linux",
    }
}

words! {
    /// Number of filter stages of the bandwidth.
    pub enum Stages {
        /// One filter stage.
        One = "one",
        /// Two filter stages: the second filter smooths the output of the first (Linux).
        Two = "two",
    }
}

params! {
    /// Westwood+. cwnd grows as in Reno. Congestion sets the window to the measured bandwidth times
    /// the minimum round-trip time, so a random loss reduces the throughput only slightly. The
    /// bandwidth is estimated from the rate of ACKs.
    pub struct Westwood: "westwood" {
        /// Weight of the previous estimate in the bandwidth filter (α).
        filter: f64 = (0.9), in Range::between(0.0, 0.999), from "grieco2004westwood §2";
        /// Number of filter stages of the bandwidth.
        stages: Stages = (Stages::One), in Range::ANY, from "grieco2004westwood §2; Linux, tcp_westwood: twice";
        /// Value of cwnd during the loss recovery or the reduction that follows congestion.
        in_recovery: InRecovery = (InRecovery::Pipe), in Range::ANY, from "mascolo2001westwood §3; Linux, tcp_westwood: half";
        /// Intervals over which the bandwidth is sampled.
        samples: Samples = (Samples::Rounds), in Range::ANY, from "grieco2004westwood §2; Linux, tcp_westwood: linux";
        /// Minimum interval between two samples of the bandwidth.
        interval_min: Duration = (Duration::from_millis(50)), in Range::between(0.0, 10.0), from "Linux, tcp_westwood: 50 ms";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// Unit that congestion avoidance counts to increase cwnd: ACK, byte, or window of bytes.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "rfc5681 §3.1";
    }
}

rules! {
    /// A loss or a mark sets the window to the bandwidth-delay product.
    DECREASE = "westwood-bandwidth", from "mascolo2001westwood §3; grieco2004westwood §2";
    /// The reduction to half of the FlightSize is complete, and the window is the bandwidth-delay
    /// product (Linux).
    PIPE = "westwood-end-of-reduction", from "Linux, tcp_westwood: tcp_westwood_event";
}

impl Control for Westwood {
    type State = WestwoodState;
    const RULES: &'static [Rule] = RULES;

    fn new_state(&self, _: &Window) -> Self::State {
        WestwoodState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({
            "slow_start": slow_start::linux_defaults(),
            "avoidance": "per-window",
            "filter": 0.875,
            "samples": "linux",
            "stages": "two",
            "in_recovery": "half",
        })
    }
}

/// One tick of Linux with HZ = 1000: a millisecond, in picoseconds.
const TICK: u64 = 1_000_000_000;

/// State of Westwood+ in a connection.
#[derive(Clone, Debug)]
pub struct WestwoodState {
    params: Westwood,
    growth: Growth,
    /// Time at which the current interval began, and total of the bytes delivered before that time.
    interval_start: Option<(Time, u64)>,
    /// Bandwidth after each filter stage, in bytes per second.
    bandwidth: Option<[f64; 2]>,
    /// Last measured round-trip time; used only with Linux's intervals.
    rtt: Option<Duration>,
    /// True if a loss reduced cwnd, so that the reduction ends with loss recovery.
    reduced_for_loss: bool,
    /// True during a reduction to half of the FlightSize. cwnd becomes the bandwidth-delay product
    /// when this reduction ends.
    reducing: bool,
    rtt_min: Duration,
}

impl WestwoodState {
    /// Create the state of Westwood+ in a connection before the first ACK of the connection.
    pub fn new(params: &Westwood) -> Self {
        WestwoodState {
            params: params.clone(),
            growth: Growth::new(&params.slow_start, params.avoidance),
            interval_start: None,
            bandwidth: None,
            rtt: None,
            reduced_for_loss: false,
            reducing: false,
            rtt_min: Duration(u64::MAX),
        }
    }

    /// Filter a bandwidth sample: b̂_k = α b̂_{k−1} + (1 − α) b_k. The first sample is not
    /// filtered.
    fn sample(&mut self, bytes: f64, interval: f64) {
        let linux = self.is_linux();
        let rounded = |b: f64| if linux { (b / 1000.0).floor() * 1000.0 } else { b };
        let b = rounded(bytes / interval);
        let alpha = self.params.filter;
        let filtered = |last: f64, new: f64| rounded(alpha * last + (1.0 - alpha) * new);
        self.bandwidth = Some(self.bandwidth.map_or([b; 2], |[first, second]| {
            let first = filtered(first, b);
            [first, filtered(second, first)]
        }));
    }

    /// Return the bandwidth-delay product: the filtered bandwidth times RTTmin, at least two
    /// segments.
    fn pipe(&self, w: &Window) -> Option<f64> {
        let rtt_min = (self.rtt_min != Duration(u64::MAX)).then(|| self.rtt_min.seconds())?;
        let [first, second] = self.bandwidth?;
        let bandwidth = if self.params.stages == Stages::One { first } else { second };
        let pipe = bandwidth * rtt_min;
        let pipe = if self.is_linux() { (pipe / w.smss).floor() * w.smss } else { pipe };
        Some(pipe.max(2.0 * w.smss))
    }

    /// Return true if the bandwidth is sampled as in Linux.
    fn is_linux(&self) -> bool {
        self.params.samples == Samples::Linux
    }

    /// Return true if this ACK ends a reduction to half of the FlightSize.
    ///
    /// If loss recovery is in progress, the reduction ends with loss recovery. Otherwise the
    /// reduction ends after a round trip, with an ACK that may increase cwnd (`may_grow`).
    fn reduction_ends(&self, ack: &Ack, may_grow: bool) -> bool {
        self.reducing && !ack.in_recovery && (self.reduced_for_loss || (ack.round && may_grow))
    }

    /// Sample the bandwidth with an ACK (Linux, westwood_update_window).
    ///
    /// The round-trip time that this ACK measures does not affect the sample. The first interval
    /// begins with the connection, one round trip before the first ACK.
    fn observe_linux(&mut self, ack: &Ack) {
        let round_to_tick = |t: u64| Time(t / TICK * TICK);
        let now = round_to_tick(ack.now.0);
        let connection_start = || round_to_tick(ack.now.0.saturating_sub(ack.rtt.map_or(0, |rtt| rtt.0)));
        let before = ack.total_delivered.saturating_sub(u64::from(ack.delivered));
        let (interval_start, delivered) =
            *self.interval_start.get_or_insert_with(|| (connection_start(), before));
        if let Some(rtt) = self.rtt {
            let interval = now.since(interval_start);
            if interval > rtt.max(self.params.interval_min) {
                self.sample(before.saturating_sub(delivered) as f64, interval.seconds());
                self.interval_start = Some((now, before));
            }
            self.rtt_min = self.rtt_min.min(rtt);
        }
        self.rtt = ack.rtt.map(|rtt| Duration::from_millis(linux_ticks(rtt))).or(self.rtt);
    }
}

impl CongestionControl for WestwoodState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        // loss recovery may begin during a reduction for a mark
        self.reduced_for_loss |= ack.in_recovery;
        if self.is_linux() {
            return self.observe_linux(ack);
        }
        self.rtt_min = ack.rtt.map_or(self.rtt_min, |rtt| self.rtt_min.min(rtt));
        let Some((interval_start, delivered)) = self.interval_start else {
            self.interval_start = Some((ack.now, ack.total_delivered));
            return;
        };
        let interval = ack.now.since(interval_start);
        if ack.round && interval > Duration::ZERO && interval >= self.params.interval_min {
            self.sample(ack.total_delivered.saturating_sub(delivered) as f64, interval.seconds());
            self.interval_start = Some((ack.now, ack.total_delivered));
        }
    }

    fn on_ack(&mut self, w: &Window, ack: &Ack, may_grow: bool) -> (f64, Option<f64>) {
        self.observe(w, ack);
        if self.reduction_ends(ack, may_grow)
            && let Some(pipe) = self.pipe(w)
        {
            self.reducing = false;
            return (pipe, Some(pipe));
        }
        let cwnd = if may_grow { self.cwnd_on_ack(w, ack).max(w.smss) } else { w.cwnd };
        (cwnd, self.growth.take_slow_start_exit())
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.cwnd_limited { self.growth.cwnd_on_ack(w, ack, 1.0) } else { w.cwnd }
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let timeout = matches!(congestion, Congestion::Timeout { .. });
        self.reducing = !timeout && self.params.in_recovery == InRecovery::Half;
        self.reduced_for_loss = congestion == Congestion::FastRetransmit;
        let pipe = self.pipe(w);
        if timeout && self.is_linux() {
            self.rtt_min = Duration(u64::MAX); // reset_rtt_min
        }
        match pipe {
            Some(pipe) if !self.reducing => pipe,
            _ => decreased(w, 0.5, congestion),
        }
    }

    /// Limit cwnd to the bandwidth-delay product: "if cwnd > ssthresh, cwnd = ssthresh". The
    /// response to congestion therefore never increases cwnd.
    fn cwnd_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        let pipe = self.pipe(w)?;
        let sets_pipe = !matches!(congestion, Congestion::Timeout { .. }) && !self.reducing;
        sets_pipe.then(|| pipe.min(w.cwnd))
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    /// Exclude idle time from the bandwidth samples. Linux includes idle time.
    fn on_restart(&mut self, _now: Time, _idle: Duration) {
        if !self.is_linux() {
            self.interval_start = None;
        }
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        if window.cwnd >= window.ssthresh && after[1] != window.ssthresh {
            return &PIPE;
        }
        self.growth.rule(window, after, None)
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        (!self.reducing && !matches!(congestion, Congestion::Timeout { .. })).then_some(&DECREASE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, linux, window};
    use units::param::defaults;

    fn westwood() -> WestwoodState {
        WestwoodState::new(&defaults())
    }

    /// If the bandwidth changes from b₀ to b, the filter returns b + (b₀ − b)·0.9^n after n
    /// samples.
    #[test]
    fn filter_keeps_nine_tenths_of_the_estimate_per_sample() {
        let mut w = westwood();
        w.sample(1000.0, 1.0);
        assert_eq!(w.bandwidth, Some([1000.0; 2]));
        for n in 1..=30 {
            w.sample(250.0, 0.5);
            let expected = 500.0 + 500.0 * 0.9f64.powi(n);
            assert!((w.bandwidth.unwrap()[0] - expected).abs() < 1e-9);
        }
    }

    /// The expected samples follow Linux's westwood_update_window. ACKs of 1000 bytes arrive every
    /// millisecond, the first one 10 ms after the connection began. A sample ends with the first
    /// ACK after more than 50 ms, and the bytes of that ACK belong to the next sample. The first
    /// sample has 41 kB in 51 ms, and the second sample has 51 kB in 51 ms. westwood_filter
    /// computes in integers: (7 * 803 + 1000) >> 3 = 827, (7 * 803 + 827) >> 3 = 806.
    #[test]
    fn linux_samples_after_a_round_trip_and_50_ms() {
        let mut c = WestwoodState::new(&linux());
        let w = window(10.0, 5.0, 10.0);
        let mut changes = Vec::new();
        for n in 0..93 {
            let mut a = ack_at(1.0 + 0.001 * f64::from(n), 0.0096, 1.0);
            a.total_delivered = (n as u64 + 1) * MSS as u64;
            c.observe(&w, &a);
            if changes.last().is_none_or(|&(_, b)| b != c.bandwidth) {
                changes.push((n, c.bandwidth));
            }
        }
        assert_eq!(changes, [(0, None), (41, Some([803e3; 2])), (92, Some([827e3, 806e3]))]);
        assert_eq!(c.rtt_min, Duration::from_millis(10), "the round-trip time is rounded up");
        // The bandwidth-delay product is 806 B/ms times 10 ms.
        assert_eq!(
            c.ssthresh_on_congestion(&w, Congestion::Timeout { repeated: false }, Time::ZERO),
            8.0 * MSS
        );
        assert_eq!(c.rtt_min, Duration(u64::MAX));
    }

    /// tcp_end_cwnd_reduction: cwnd becomes the bandwidth-delay product when loss recovery ends, at
    /// any point of a round trip.
    #[test]
    fn linux_sets_the_bandwidth_delay_product_at_the_end_of_recovery() {
        let mut c = WestwoodState::new(&linux());
        (c.bandwidth, c.rtt_min) = (Some([1e6; 2]), Duration::from_millis(80));
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 50.0 * MSS);
        let w = window(50.0, 50.0, 50.0);
        let mut a = ack_at(1.0, 0.1, 1.0);
        (a.in_recovery, a.round) = (true, true);
        assert_eq!(c.on_ack(&w, &a, false), (50.0 * MSS, None));
        (a.in_recovery, a.round, a.cwnd_limited) = (false, false, false);
        assert_eq!(c.on_ack(&w, &a, false), (80.0 * MSS, Some(80.0 * MSS)));
    }

    #[test]
    fn congestion_sets_the_window_to_bandwidth_times_minimum_round_trip_time() {
        let mut c = westwood();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 50.0 * MSS);
        assert_eq!(c.cwnd_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), None);
        (c.bandwidth, c.rtt_min) = (Some([1e6; 2]), Duration::from_millis(80));
        assert_eq!(c.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 80.0 * MSS);
        assert_eq!(c.cwnd_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), Some(80.0 * MSS));
        let small = window(60.0, 50.0, 60.0);
        assert_eq!(c.cwnd_on_congestion(&small, Congestion::FastRetransmit, Time::ZERO), Some(60.0 * MSS));
        assert_eq!(c.cwnd_on_congestion(&small, Congestion::Timeout { repeated: false }, Time::ZERO), None);
    }

    /// The estimated bandwidth is the rate of a busy bottleneck. Congestion reduces the window to
    /// the bandwidth-delay product of this bottleneck.
    #[test]
    fn bandwidth_estimate_is_the_rate_of_a_busy_bottleneck() {
        let path = Path { buffer: 100, ..Path::new(16_000_000, 50) };
        let mut sim = Sim::new(westwood(), path, 10.0, 120.0);
        sim.run(40.0, |_| {});
        let [b, _] = sim.controller.bandwidth.unwrap();
        assert!((b / 2e6 - 1.0).abs() < 0.01, "{b}");
        assert!(sim.events.len() > 1);
        assert!((sim.ssthresh / MSS - 101.0).abs() < 2.0, "{}", sim.ssthresh);
    }
}
