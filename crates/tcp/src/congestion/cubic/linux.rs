//! CUBIC in the integers of Linux's `tcp_cubic`: windows in whole segments, time in 1024ths of a second, one clock tick a
//! millisecond. cwnd grows by a segment each time that so many are acknowledged (`every`), and that number is computed anew
//! at most once a tick, and every 32nd of a second while cwnd does not move.
//!
//! Beside rounding it differs from RFC 9438 in this: the curve is read at t and the least round trip; below W_max and before any
//! congestion a window grows by a twentieth a round trip at least; the estimate of Reno's window grows by 8/15 of a
//! segment a window for ever, where the RFC goes on with a whole one above cwnd_prior; after a timeout nothing is remembered.

use units::{Duration, Time};

use super::Cubic;

/// What a loss leaves of the window, the scale of the curve and the growth of the estimate, in integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// β in 1024ths.
    beta: u64,
    /// C in 1024ths.
    c: f64,
    /// Eighths of a window for each segment of Reno's estimate: 8 (1 + β)/(3 (1 - β)), rounded down.
    reno_eighths: u64,
}

impl Scale {
    /// Of the parameters of CUBIC.
    pub(super) fn of(p: &Cubic) -> Self {
        let beta = (p.beta * ONE as f64 + 0.5) as u64;
        let c = (p.c * ONE as f64 / 10.0 + 0.5).floor() * 10.0; // bic_scale is a tenth of it
        Scale { beta, c, reno_eighths: 8 * (ONE + beta) / 3 / (ONE - beta) }
    }
}

/// 1 of β and C.
const ONE: u64 = 1024;
/// Segments for a segment where cwnd is at the curve or above it.
const HARDLY: u64 = 100;
/// The same at most before any congestion.
const BLIND: u64 = 20;
/// Ticks for which nothing is computed while cwnd does not move.
const CALM: u64 = 1000 / 32;

fn ticks(at: Time) -> u64 {
    at.0 / 1_000_000_000
}

/// The curve, and how far it has been followed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curve {
    /// Segments acknowledged for a segment of growth (cnt).
    every: u64,
    w_max: u64,
    /// cwnd when `every` was computed last, and when that was.
    cwnd: u64,
    computed: u64,
    /// What the curve is symmetric around, and when it is reached, in 1024ths of a second from the beginning (K).
    origin: u64,
    k: u64,
    /// When this stage began; none: with the next ACK.
    epoch: Option<u64>,
    /// Least round trip, in ticks rounded up.
    pub(super) least_rtt: Option<Duration>,
    /// Segments acknowledged that the estimate has not used, and the estimate.
    acked: u64,
    reno: u64,
}

impl Curve {
    /// Segments acknowledged for a segment of growth, when `acked` more are (bictcp_update).
    pub(super) fn every(&mut self, scale: &Scale, [cwnd, acked]: [u64; 2], now: Time) -> u64 {
        let now = ticks(now);
        self.acked += acked;
        if self.cwnd == cwnd && now.saturating_sub(self.computed) <= CALM {
            return self.every;
        }
        if self.epoch.is_none() || now != self.computed {
            (self.cwnd, self.computed) = (cwnd, now);
            self.every = self.by_curve(scale.c, [cwnd, acked], now);
        }
        self.every = self.every.min(self.by_reno(scale, cwnd)).max(2);
        self.every
    }

    fn by_curve(&mut self, c: f64, [cwnd, acked]: [u64; 2], now: u64) -> u64 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.acked, self.reno) = (acked, cwnd);
            (self.k, self.origin) = if self.w_max <= cwnd {
                (0, cwnd)
            } else {
                let away = (self.w_max - cwnd) as f64;
                (libm::cbrt(away * 1024.0 / c * 1024.0 * 1024.0 * 1024.0) as u64, self.w_max)
            };
            now
        });
        let least = self.least_rtt.map_or(0, |d| d.0.div_ceil(1_000_000_000));
        let t = (now - epoch + least) * 1024 / 1000;
        let off = t.abs_diff(self.k) as f64 / 1024.0;
        let delta = (c / 1024.0 * off * off * off) as u64;
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        let every = if target > cwnd { cwnd / (target - cwnd) } else { HARDLY * cwnd };
        if self.w_max == 0 { every.min(BLIND) } else { every }
    }

    /// The same by what Reno would have.
    fn by_reno(&mut self, scale: &Scale, cwnd: u64) -> u64 {
        let window = cwnd * scale.reno_eighths / 8;
        while self.acked > window {
            self.acked -= window;
            self.reno += 1;
        }
        if self.reno > cwnd { cwnd / (self.reno - cwnd) } else { u64::MAX }
    }

    /// Congestion: what is left of the window.
    pub(super) fn on_congestion(&mut self, scale: &Scale, cwnd: u64, converges: bool) -> u64 {
        self.epoch = None;
        let converging = converges && cwnd < self.w_max;
        self.w_max = if converging { cwnd * (ONE + scale.beta) / (2 * ONE) } else { cwnd };
        cwnd * scale.beta / ONE
    }

    /// A timeout.
    pub(super) fn forget(&mut self) {
        *self = Curve::default();
    }

    /// Data goes out after idleness: the stage goes on from there.
    pub(super) fn on_restart(&mut self, now: Time, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + idle.0 / 1_000_000_000).min(ticks(now));
        }
    }

    /// Whether the stage is younger than a second, whose round trips end no slow start.
    pub(super) fn is_young(&self, now: Time) -> bool {
        self.epoch.is_some_and(|epoch| ticks(now) - epoch < 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;

    /// β 717/1024, C 410/1024, and fifteen eighths.
    fn usual() -> Scale {
        let scale = Scale::of(&defaults());
        assert_eq!((scale.beta, scale.c, scale.reno_eighths), (717, 410.0, 15));
        scale
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Duration::from_seconds(seconds)
    }

    /// W_max 100, cwnd 70: K is 1024 ∛(30·1024/410) = 4316 of 1024ths; at K the curve is at 100, half as far in time it is
    /// 30/8 below.
    #[test]
    fn the_curve_goes_through_w_max() {
        let mut c = Curve { w_max: 100, ..Curve::default() };
        assert_eq!(
            c.every(&usual(), [70, 1], at(10.0)),
            70,
            "the curve has risen by less than one, which is rounded up"
        );
        assert_eq!((c.k, c.origin), (4316, 100));
        assert_eq!(c.by_curve(410.0, [90, 1], 10_000 + 2108), 90 / (97 - 90));
        assert_eq!(c.by_curve(410.0, [99, 1], 10_000 + 4215), 99);
        assert_eq!(c.by_curve(410.0, [100, 1], 10_000 + 4215), HARDLY * 100);
        assert_eq!(c.by_curve(410.0, [100, 1], 10_000 + 8430), 100 / 29);
    }

    #[test]
    fn before_congestion_a_window_grows_by_a_twentieth() {
        let mut c = Curve::default();
        assert_eq!(c.every(&usual(), [200, 1], at(1.0)), 20);
    }

    /// Reno's estimate grows by a segment for fifteen eighths of a window.
    #[test]
    fn the_estimate_of_reno() {
        let mut c = Curve { w_max: 16, ..Curve::default() };
        for _ in 0..=31 {
            assert_eq!(c.every(&usual(), [16, 1], at(1.0)), 1600);
        }
        c.cwnd = 0;
        assert_eq!(c.every(&usual(), [16, 1], at(1.1)), 16, "a window for a segment");
        assert_eq!(c.on_congestion(&usual(), 16, true), 11);
        assert_eq!(c.w_max, 16);
        assert_eq!(c.on_congestion(&usual(), 11, true), 7);
        assert_eq!(c.w_max, 11 * 1741 / 2048);
    }
}
