//! The estimator of Jacobson 1988, appendix A (`jacobson1988`): scaled integers, in ticks of the
//! host's clock, as in 4.3BSD-Reno and ns-2. A round-trip time is measured as the number of ticks
//! that occur during the round trip, at least one.

use units::{Duration, Time};

/// State of the estimator, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Jacobson1988 {
    /// Mean times 8 (sa).
    scaled_mean: i32,
    /// Mean deviation times 4 (sv).
    scaled_deviation: i32,
    phase: Duration,
}

impl Jacobson1988 {
    /// Create the estimator. `phase` is the part of a clock tick that has passed at time zero.
    pub fn new(phase: Duration) -> Self {
        Jacobson1988 { scaled_mean: 0, scaled_deviation: 0, phase }
    }

    fn ticks(&self, at: Time, tick: Duration) -> u64 {
        (at + self.phase).0 / tick.0
    }

    /// Record that a segment sent at `sent` is acknowledged at `now`. Return the new timeout.
    pub fn on_sample(&mut self, sent: Time, now: Time, tick: Duration) -> Duration {
        let elapsed = self.ticks(now, tick) - self.ticks(sent, tick);
        let m = i32::try_from(elapsed).unwrap_or(i32::MAX / 64).max(1);
        if self.scaled_mean == 0 {
            self.scaled_mean = m << 3;
            self.scaled_deviation = m << 1; // the first deviation is half the mean
        } else {
            let mut error = m - (self.scaled_mean >> 3);
            self.scaled_mean = (self.scaled_mean + error).max(1);
            error = error.abs() - (self.scaled_deviation >> 2);
            self.scaled_deviation = (self.scaled_deviation + error).max(1);
        }
        // (sa + 8 * 4 * deviation) / 8 is the mean plus 4 deviations.
        let ticks = ((self.scaled_deviation << 3) + self.scaled_mean) >> 3;
        Duration(ticks as u64 * tick.0)
    }

    /// Return the smoothed round-trip time and its mean deviation.
    pub fn smoothed(&self, tick: Duration) -> (Duration, Duration) {
        let of = |x: i32| Duration(x.max(0) as u64 * tick.0);
        (of(self.scaled_mean >> 3), of(self.scaled_deviation >> 2))
    }

    /// Discard the smoothed round-trip time, which is unreliable after many back-offs, and add its
    /// value to the deviation (4.3BSD).
    pub fn discard_mean(&mut self) {
        self.scaled_deviation += self.scaled_mean >> 3;
        self.scaled_mean = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    /// By hand: the first sample of 2 ticks gives a mean of 2 and a deviation of 1, so the timeout
    /// is 2 + 4 = 6 ticks.
    #[test]
    fn the_estimator_follows_the_integer_arithmetic() {
        let tick = Duration::from_millis(100);
        let mut e = Jacobson1988::new(Duration::ZERO);
        assert_eq!(e.on_sample(ms(50), ms(250), tick), Duration::from_millis(600));
        // error = 1 - 2 = -1: sa = 15, |error| - 1 = 0: sv = 4; (32 + 15) >> 3 = 5 ticks
        assert_eq!(e.on_sample(ms(300), ms(340), tick), Duration::from_millis(500));
    }

    #[test]
    fn the_phase_moves_the_ticks() {
        let tick = Duration::from_millis(100);
        let rto = |phase| Jacobson1988::new(Duration::from_millis(phase)).on_sample(ms(0), ms(150), tick);
        assert_eq!((rto(0), rto(60)), (Duration::from_millis(300), Duration::from_millis(600)));
    }
}
