//! CUBIC in the integer arithmetic of Linux's `tcp_cubic`.
//!
//! Windows are in whole segments and times in 1024ths of a second. One clock tick is a millisecond.
//! cwnd grows by one segment each time `segments_per_increase` segments are acknowledged. The value
//! of `segments_per_increase` is computed at most once per tick. While cwnd does not change, the
//! value is computed at most once per 1/32 s.
//!
//! Apart from rounding, Linux differs from RFC 9438 as follows. Linux evaluates the cubic curve at
//! t plus the minimum round-trip time. Before any congestion, Linux increases cwnd by at least a
//! twentieth per round trip. In Linux the estimate of Reno's window always grows by 8/15 segment
//! per window. In RFC 9438 the growth is one segment per window once the estimate exceeds
//! cwnd_prior. In Linux a timeout resets all state of CUBIC.

use net::Rule;
use units::{Duration, Time};

use super::{ABOVE_CURVE, BEFORE_CONGESTION, CONCAVE, CONVEX, Cubic, FRIENDLY};

/// Parameters of CUBIC as integers: the decrease, the scale of the curve, and the growth of the
/// estimate of Reno's cwnd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// β in 1024ths.
    beta: u64,
    /// C in 1024ths.
    c: f64,
    /// Number of eighths of a window that must be acknowledged before the estimate of Reno's cwnd
    /// grows by one segment: 8 (1 + β)/(3 (1 - β)), rounded down.
    reno_eighths: u64,
}

impl Scale {
    /// Convert the parameters of CUBIC to integers.
    pub(super) fn new(p: &Cubic) -> Self {
        let beta = (p.beta * SCALE_UNIT as f64 + 0.5) as u64;
        // Linux's bic_scale is a tenth of c
        let c = (p.c * SCALE_UNIT as f64 / 10.0 + 0.5).floor() * 10.0;
        Scale { beta, c, reno_eighths: 8 * (SCALE_UNIT + beta) / 3 / (SCALE_UNIT - beta) }
    }
}

/// Value 1 in the fixed-point numbers β and C.
const SCALE_UNIT: u64 = 1024;
/// Number of windows that must be acknowledged before cwnd grows by one segment, if cwnd is at or
/// above the curve.
const SLOW_GROWTH: u64 = 100;
/// Maximum number of segments that must be acknowledged before cwnd grows by one segment, before
/// any congestion.
const MAX_WITHOUT_LOSS: u64 = 20;
/// Minimum number of clock ticks between two computations of `segments_per_increase` while cwnd
/// does not change.
const REFRESH_TICKS: u64 = 1000 / 32;

/// Return a time in ticks.
fn ticks(at: Time) -> u64 {
    at.0 / 1_000_000_000
}

/// Rule that determines `segments_per_increase` (bictcp_update).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Region {
    /// cwnd is below the origin, which is W_max (RFC 9438 §4.4).
    #[default]
    Concave,
    /// cwnd is at or above the origin (RFC 9438 §4.5).
    Convex,
    /// cwnd is at or above the curve.
    AboveCurve,
    /// No congestion has occurred, and the growth by the curve would be slower.
    BeforeCongestion,
    /// The growth of the estimate of Reno's cwnd is faster.
    RenoFriendly,
}

/// Cubic curve of a connection, and the progress of cwnd along the curve.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curve {
    /// Number of segments that must be acknowledged before cwnd grows by one segment (cnt).
    segments_per_increase: u64,
    /// W_max.
    w_max: u64,
    /// cwnd at the last computation of `segments_per_increase`.
    cwnd: u64,
    /// Time of the last computation of `segments_per_increase`.
    updated_at: u64,
    /// Window around which the curve is symmetric.
    origin: u64,
    /// Time K from the start of the epoch to `origin`, in 1024ths of a second.
    k: u64,
    /// Start of the epoch; absent until the next ACK begins an epoch.
    epoch: Option<u64>,
    /// Minimum round-trip time.
    pub(super) min_rtt: Option<Duration>,
    /// Number of acknowledged segments that the estimate of Reno's cwnd has not used.
    acked_for_reno: u64,
    /// Estimate of the cwnd that Reno would have.
    reno_cwnd: u64,
    /// Rule that determined `segments_per_increase`.
    region: Region,
    /// True if fast convergence reduced W_max at the last congestion event.
    pub(super) converges: bool,
}

impl Curve {
    /// Count `acked` more segments, and return the number of segments that must be acknowledged
    /// before cwnd grows by one segment (bictcp_update).
    pub(super) fn segments_per_increase(&mut self, scale: &Scale, [cwnd, acked]: [u64; 2], now: Time) -> u64 {
        let now = ticks(now);
        self.acked_for_reno += acked;
        if self.cwnd == cwnd && now.saturating_sub(self.updated_at) <= REFRESH_TICKS {
            return self.segments_per_increase;
        }
        if self.epoch.is_none() || now != self.updated_at {
            (self.cwnd, self.updated_at) = (cwnd, now);
            self.segments_per_increase = self.segments_by_curve(scale.c, [cwnd, acked], now);
        }
        let by_reno = self.segments_by_reno(scale, cwnd);
        if by_reno < self.segments_per_increase {
            (self.segments_per_increase, self.region) = (by_reno, Region::RenoFriendly);
        }
        self.segments_per_increase = self.segments_per_increase.max(2);
        self.segments_per_increase
    }

    /// Return the rule by which cwnd grows.
    pub(super) fn rule(&self) -> &'static Rule {
        match self.region {
            Region::Concave => &CONCAVE,
            Region::Convex => &CONVEX,
            Region::AboveCurve => &ABOVE_CURVE,
            Region::BeforeCongestion => &BEFORE_CONGESTION,
            Region::RenoFriendly => &FRIENDLY,
        }
    }

    fn segments_by_curve(&mut self, c: f64, [cwnd, acked]: [u64; 2], now: u64) -> u64 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.acked_for_reno, self.reno_cwnd) = (acked, cwnd);
            (self.k, self.origin) = if self.w_max <= cwnd {
                (0, cwnd)
            } else {
                let distance = (self.w_max - cwnd) as f64;
                (libm::cbrt(distance * 1024.0 / c * 1024.0 * 1024.0 * 1024.0) as u64, self.w_max)
            };
            now
        });
        let min_rtt = self.min_rtt.map_or(0, |d| d.0.div_ceil(1_000_000_000));
        let t = (now - epoch + min_rtt) * 1024 / 1000;
        let distance = t.abs_diff(self.k) as f64 / 1024.0;
        let delta = (c / 1024.0 * distance * distance * distance) as u64;
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        let (segments, region) = if target > cwnd {
            let region = if cwnd < self.origin { Region::Concave } else { Region::Convex };
            (cwnd / (target - cwnd), region)
        } else {
            (SLOW_GROWTH * cwnd, Region::AboveCurve)
        };
        let is_first = self.w_max == 0 && segments > MAX_WITHOUT_LOSS;
        self.region = if is_first { Region::BeforeCongestion } else { region };
        if is_first { MAX_WITHOUT_LOSS } else { segments }
    }

    /// Return the number of acknowledged segments after which cwnd grows by one segment towards the
    /// estimate of Reno's cwnd.
    fn segments_by_reno(&mut self, scale: &Scale, cwnd: u64) -> u64 {
        let window = cwnd * scale.reno_eighths / 8;
        while self.acked_for_reno > window {
            self.acked_for_reno -= window;
            self.reno_cwnd += 1;
        }
        if self.reno_cwnd > cwnd { cwnd / (self.reno_cwnd - cwnd) } else { u64::MAX }
    }

    /// Return cwnd after a congestion event.
    pub(super) fn on_congestion(&mut self, scale: &Scale, cwnd: u64, fast_convergence: bool) -> u64 {
        self.epoch = None;
        self.converges = fast_convergence && cwnd < self.w_max;
        self.w_max = if self.converges { cwnd * (SCALE_UNIT + scale.beta) / (2 * SCALE_UNIT) } else { cwnd };
        cwnd * scale.beta / SCALE_UNIT
    }

    /// Reset the curve after a timeout.
    pub(super) fn reset(&mut self) {
        *self = Curve::default();
    }

    /// Exclude an idle time of `idle` from the epoch.
    pub(super) fn on_restart(&mut self, now: Time, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + idle.0 / 1_000_000_000).min(ticks(now));
        }
    }

    /// Return true in the first second of an epoch, in which round-trip times do not end slow
    /// start.
    pub(super) fn ignores_rtt(&self, now: Time) -> bool {
        self.epoch.is_some_and(|epoch| ticks(now) - epoch < 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::param::defaults;

    /// Return the scale of the default parameters: β is 717/1024, C is 410/1024, and the estimate
    /// of Reno's cwnd grows by one segment per 15/8 windows.
    fn default_scale() -> Scale {
        let scale = Scale::new(&defaults());
        assert_eq!((scale.beta, scale.c, scale.reno_eighths), (717, 410.0, 15));
        scale
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Duration::from_seconds(seconds)
    }

    /// With W_max 100 and cwnd 70, K is 1024 ∛(30·1024/410) = 4316, in 1024ths of a second. At the
    /// time K the curve is at 100 segments. At the time K/2 the curve is 30/8 segments below 100
    /// segments.
    #[test]
    fn curve_reaches_w_max_at_k() {
        let mut c = Curve { w_max: 100, ..Curve::default() };
        assert_eq!(
            c.segments_per_increase(&default_scale(), [70, 1], at(10.0)),
            70,
            "the curve has grown by less than one segment, which is rounded up"
        );
        assert_eq!((c.k, c.origin), (4316, 100));
        for (cwnd, since_start, segments, region) in [
            (90, 2108, 90 / (97 - 90), Region::Concave),
            (99, 4215, 99, Region::Concave),
            (100, 4215, SLOW_GROWTH * 100, Region::AboveCurve),
            (100, 8430, 100 / 29, Region::Convex),
        ] {
            assert_eq!(c.segments_by_curve(410.0, [cwnd, 1], 10_000 + since_start), segments);
            assert_eq!(c.region, region);
        }
    }

    #[test]
    fn cwnd_grows_by_a_twentieth_per_window_before_congestion() {
        let mut c = Curve::default();
        assert_eq!(c.segments_per_increase(&default_scale(), [200, 1], at(1.0)), 20);
        assert_eq!(c.region, Region::BeforeCongestion);
    }

    /// The estimate of Reno's cwnd grows by one segment per 15/8 windows.
    #[test]
    fn reno_estimate_grows_per_15_eighths_of_a_window() {
        let mut c = Curve { w_max: 16, ..Curve::default() };
        for _ in 0..=31 {
            assert_eq!(c.segments_per_increase(&default_scale(), [16, 1], at(1.0)), 1600);
        }
        assert_eq!(c.region, Region::AboveCurve);
        c.cwnd = 0;
        assert_eq!(c.segments_per_increase(&default_scale(), [16, 1], at(1.1)), 16, "one window per segment");
        assert_eq!(c.region, Region::RenoFriendly);
        assert_eq!(c.on_congestion(&default_scale(), 16, true), 11);
        assert_eq!((c.w_max, c.converges), (16, false));
        assert_eq!(c.on_congestion(&default_scale(), 11, true), 7);
        assert_eq!((c.w_max, c.converges), (11 * 1741 / 2048, true));
    }
}
