//! Recurring periods of time, such as outages and delay spikes.

use engine::Stream;
use traffic::Spacing;
use units::param::{Invalid, join};
use units::{Duration, Time};

/// Recurring periods of equal length, with an interval between two periods.
#[derive(Clone, Debug)]
pub struct Episodes {
    /// Start of the current period or, if no period is in progress, of the next period.
    begins: Time,
    length: Duration,
    interval: Option<Duration>,
    spacing: Spacing,
    random: Stream,
}

impl Episodes {
    /// Create periods. The first period begins at `start`. If `start` is absent, the first period
    /// begins one interval after time 0.
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

    /// Return the start of the next period, given that the previous period ended at `end`.
    fn after(&mut self, end: Time) -> Time {
        let Some(interval) = self.interval else { return Time::NEVER };
        end + self.spacing.draw(interval, self.random.uniform())
    }

    /// Return the end of the period that contains the time `now`, or `None` if `now` is between two
    /// periods. From call to call, the time `now` must not decrease.
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

/// Minimum interval between two periods, such as outages, in seconds. A minimum interval is needed
/// because a run steps through every period, so short intervals would slow down the run.
pub const MIN_INTERVAL: f64 = 1e-3;

/// Refuse recurring periods if both their start and their interval are absent, because such periods
/// would never begin.
pub fn needs_a_beginning(
    start: Option<Duration>,
    interval: Option<Duration>,
    path: &str,
) -> Result<(), Invalid> {
    if start.is_none() && interval.is_none() {
        return Err(Invalid::at(&join(path, "start"), "is missing, and the key interval is missing too")
            .remedy("set start, interval, or both"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    #[test]
    fn periods_have_their_start_length_and_interval() {
        let ends = |start, interval| {
            let millis = Duration::from_millis;
            let random = Stream::new(1, "");
            let mut e = Episodes::new(start, millis(10), interval, Spacing::Constant, random);
            [0, 5, 14, 15, 40, 49, 50].map(|t| e.end_at(ms(t)))
        };
        let (interval, start) = (Some(Duration::from_millis(25)), Some(Duration::from_millis(5)));
        assert_eq!(ends(start, None), [None, Some(ms(15)), Some(ms(15)), None, None, None, None]);
        let recurring = [None, Some(ms(15)), Some(ms(15)), None, Some(ms(50)), Some(ms(50)), None];
        assert_eq!(ends(start, interval), recurring);
        assert_eq!(ends(None, interval)[5], None);
        assert_eq!(ends(None, None), [None; 7]);
    }

    /// The fraction of time in periods is length/(length + interval), within six standard errors.
    /// The standard error is that of a renewal process, whose relative error is 1/√n.
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
