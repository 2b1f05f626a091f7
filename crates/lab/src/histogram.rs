//! Times in buckets of a fixed relative width: percentiles of millions within 0.8 %, without keeping
//! them. (The plan of HdrHistogram: 64 buckets an octave.)

use units::Duration;

/// Binary digits of the place within an octave.
const DIGITS: u32 = 6;

/// A histogram of times.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The buckets from the first that holds any to the last: a flow's times are not far from each other.
    buckets: Vec<u64>,
    first: usize,
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
}

/// The bucket of a value: its own below 2^(DIGITS + 1), one of 64 an octave above.
fn bucket(x: u64) -> usize {
    let octave = x.checked_ilog2().unwrap_or(0).saturating_sub(DIGITS);
    ((u64::from(octave) << DIGITS) + (x >> octave)) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let octave = (bucket >> DIGITS).saturating_sub(1) as u32;
    let first = (bucket as u64 - (u64::from(octave) << DIGITS)) << octave;
    first + ((1 << octave) >> 1)
}

impl Histogram {
    /// Counts a time.
    pub fn add(&mut self, time: Duration) {
        let b = bucket(time.0);
        if b.wrapping_sub(self.first) >= self.buckets.len() {
            self.reach(b);
        }
        self.buckets[b - self.first] += 1;
        self.least = if self.count == 0 { time.0 } else { self.least.min(time.0) };
        self.greatest = self.greatest.max(time.0);
        self.count += 1;
        self.sum += u128::from(time.0);
    }

    /// Makes a bucket for what falls outside those that are there.
    #[cold]
    fn reach(&mut self, b: usize) {
        if self.buckets.is_empty() {
            self.first = b;
        }
        let before = self.first.saturating_sub(b);
        self.buckets.splice(..0, std::iter::repeat_n(0, before));
        self.first -= before;
        self.buckets.resize(self.buckets.len().max(b - self.first + 1), 0);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean in seconds; NaN if there are none.
    pub fn mean_s(&self) -> f64 {
        self.sum as f64 / self.count as f64 / Duration::from_seconds(1.0).0 as f64
    }

    /// The shortest in seconds; NaN if there are none.
    pub fn shortest_s(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { Duration(self.least).seconds() }
    }

    /// The longest in seconds; NaN if there are none.
    pub fn longest_s(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { Duration(self.greatest).seconds() }
    }

    /// The buckets that hold any, in order: the middle of each in seconds, and how many are there.
    pub fn occupied_buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let of = |(b, &count): (usize, &u64)| (count > 0).then(|| (Duration(middle(b)).seconds(), count));
        (self.first..).zip(&self.buckets).filter_map(of)
    }

    /// The least time that `share` of them do not exceed (nearest rank), in seconds; NaN if there are none.
    pub fn percentile_s(&self, share: f64) -> f64 {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.buckets.iter().position(|n| {
            seen += n;
            seen >= rank
        });
        found
            .map_or(f64::NAN, |b| Duration(middle(self.first + b).clamp(self.least, self.greatest)).seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn none_have_no_mean() {
        let h = Histogram::default();
        assert!(h.mean_s().is_nan() && h.percentile_s(0.5).is_nan());
    }

    proptest! {
        /// Against the sorted list.
        #[test]
        fn percentiles_are_within_a_hundredth(
            values in prop::collection::vec((0u32..60, 0u64..1 << 40), 1..300), share in 0.0..=1.0f64,
        ) {
            let mut values: Vec<u64> = values.into_iter().map(|(shift, x)| x >> (shift % 40)).collect();
            let mut h = Histogram::default();
            values.iter().for_each(|&x| h.add(Duration(x)));
            values.sort_unstable();
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
            let exact = Duration(values[rank - 1]).seconds();
            let found = h.percentile_s(share);
            prop_assert!((found - exact).abs() <= 0.008 * exact, "{found} {exact}");
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64 * 1e-12;
            prop_assert!((h.mean_s() - mean).abs() <= 1e-9 * mean);
            let held: Vec<(f64, u64)> = h.occupied_buckets().collect();
            prop_assert_eq!(held.iter().map(|(_, n)| n).sum::<u64>(), h.count());
            prop_assert!(held.is_sorted_by(|a, b| a.0 < b.0) && held.iter().all(|(_, n)| *n > 0));
        }
    }
}
