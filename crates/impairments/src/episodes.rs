//! Stretches of time that come again and again: outages, delay spikes.

use engine::Stream;
use traffic::Spacing;
use units::{Duration, Time};

/// Stretches of one length with intervals between them.
#[derive(Clone, Debug)]
pub struct Episodes {
    begins: Time,
    length: Duration,
    interval: Option<Duration>,
    spacing: Spacing,
    random: Stream,
}

impl Episodes {
    /// The first begins at `start`, or, without one, an interval after time 0.
    pub fn new(
        start: Option<Duration>,
        length: Duration,
        interval: Option<Duration>,
        spacing: Spacing,
        random: Stream,
    ) -> Self {
        let mut episodes = Episodes { begins: Time::ZERO, length, interval, spacing, random };
        episodes.begins = match start {
            Some(start) => Time::ZERO + start,
            None => episodes.after(Time::ZERO),
        };
        episodes
    }

    /// When the next begins if the last ended at `end`.
    fn after(&mut self, end: Time) -> Time {
        let Some(interval) = self.interval else { return Time::NEVER };
        end + self.spacing.draw(interval, self.random.uniform())
    }

    /// When the one that goes on at `now` ends, if one does. Times must not fall.
    pub fn end_at(&mut self, now: Time) -> Option<Time> {
        while self.begins <= now {
            let end = self.begins + self.length;
            if now < end {
                return Some(end);
            }
            self.begins = self.after(end);
        }
        None
    }
}

/// The shortest interval between two: a run steps through all of them.
pub const LEAST_INTERVAL: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    #[test]
    fn episodes_begin_and_end_when_they_should() {
        let of = |start, interval| {
            let millis = Duration::from_millis;
            let random = Stream::new(1, "");
            let mut e = Episodes::new(start, millis(10), interval, Spacing::Constant, random);
            [0, 5, 14, 15, 40, 49, 50].map(|t| e.end_at(ms(t)))
        };
        let (second, fifth) = (Some(Duration::from_millis(25)), Some(Duration::from_millis(5)));
        assert_eq!(of(fifth, None), [None, Some(ms(15)), Some(ms(15)), None, None, None, None]);
        let again = [None, Some(ms(15)), Some(ms(15)), None, Some(ms(50)), Some(ms(50)), None];
        assert_eq!(of(fifth, second), again);
        assert_eq!(of(None, second)[5], None);
        assert_eq!(of(None, None), [None; 7]);
    }

    /// The share of time in them is length/(length + interval), within six standard errors of a
    /// renewal process's (the intervals' relative error is 1/√n).
    #[test]
    fn random_intervals_have_their_mean() {
        let millis = Duration::from_millis;
        let mut e =
            Episodes::new(None, millis(10), Some(millis(40)), Spacing::Exponential, Stream::new(1, "e"));
        let n = 1_000_000;
        let inside = (0..n).filter(|&t| e.end_at(ms(t)).is_some()).count() as f64 / n as f64;
        let cycles = n as f64 / 50.0;
        assert!((inside - 0.2).abs() < 6.0 * 0.2 * 0.8 / f64::sqrt(cycles), "{inside}");
    }
}
