//! Histogram of durations, with buckets of a fixed relative width. The histogram stores the number
//! of durations per bucket instead of the durations. Percentiles of the histogram are accurate to
//! 0.8 %. The layout of the buckets is the layout of HdrHistogram with 64 buckets per octave.

use units::Duration;

/// Number of bits of a bucket's position within its octave.
const DIGITS: u32 = 6;

/// Number of durations from which on a histogram stores all buckets, so that an addition is fast.
const MANY: u64 = 1000;

/// Histogram of durations.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Buckets,
    sum: u128,
    /// The largest number, if the histogram is empty.
    minimum: u64,
    maximum: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { buckets: Buckets::default(), sum: 0, minimum: u64::MAX, maximum: 0 }
    }
}

/// Number of durations in each bucket. A run of web users has two histograms per user, each with
/// few durations, so a histogram with few durations stores only the occupied buckets.
#[derive(Clone, Debug)]
enum Buckets {
    /// Occupied buckets in ascending order, each with its number of durations, and the number of
    /// all durations, which is less than [`MANY`].
    Occupied(Vec<(u16, u16)>, u64),
    /// All buckets from the bucket with the index `first` to the last occupied bucket.
    All { first: usize, counts: Vec<u64> },
}

impl Default for Buckets {
    fn default() -> Self {
        Buckets::Occupied(Vec::new(), 0)
    }
}

impl Buckets {
    /// Count a duration in bucket `b`.
    #[inline]
    fn add(&mut self, b: usize) {
        if let Buckets::All { first, counts } = self
            && let Some(of_bucket) = counts.get_mut(b.wrapping_sub(*first))
        {
            *of_bucket += 1;
        } else {
            self.insert(b);
        }
    }

    /// Count a duration whose bucket `b` is not yet in the list of all buckets.
    #[cold]
    fn insert(&mut self, b: usize) {
        match self {
            Buckets::Occupied(occupied, count) => {
                match occupied.binary_search_by_key(&b, |one| usize::from(one.0)) {
                    Ok(i) => occupied[i].1 += 1,
                    Err(i) => occupied.insert(i, (b as u16, 1)),
                }
                *count += 1;
                if *count >= MANY {
                    let [first, last] = [occupied[0].0, occupied[occupied.len() - 1].0].map(usize::from);
                    let mut counts = vec![0; last - first + 1];
                    occupied.iter().for_each(|&(b, n)| counts[usize::from(b) - first] = u64::from(n));
                    *self = Buckets::All { first, counts };
                }
            }
            Buckets::All { first, counts } => {
                let before = first.saturating_sub(b);
                counts.splice(..0, std::iter::repeat_n(0, before));
                *first -= before;
                counts.resize(counts.len().max(b - *first + 1), 0);
                counts[b - *first] += 1;
            }
        }
    }

    /// Return the number of all durations.
    fn count(&self) -> u64 {
        match self {
            Buckets::Occupied(_, count) => *count,
            Buckets::All { counts, .. } => counts.iter().sum(),
        }
    }

    /// Return the occupied buckets in ascending order, each with its number of durations.
    fn occupied(&self) -> impl Iterator<Item = (usize, u64)> {
        let (few, first, all) = match self {
            Buckets::Occupied(occupied, _) => (&occupied[..], 0, &[][..]),
            Buckets::All { first, counts } => (&[][..], *first, &counts[..]),
        };
        let few = few.iter().map(|&(b, n)| (usize::from(b), u64::from(n)));
        few.chain((first..).zip(all.iter().copied()).filter(|(_, n)| *n > 0))
    }
}

/// Return the index of the bucket that contains a value. Each value below 2^(DIGITS + 1) is alone
/// in its bucket. At and above 2^(DIGITS + 1), each octave of values has 64 buckets of equal width.
fn bucket(x: u64) -> usize {
    let octave = (x | (1 << DIGITS)).ilog2() - DIGITS;
    ((u64::from(octave) << DIGITS) + (x >> octave)) as usize
}

/// Return the value in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let octave = (bucket >> DIGITS).saturating_sub(1) as u32;
    let first = (bucket as u64 - (u64::from(octave) << DIGITS)) << octave;
    first + ((1 << octave) >> 1)
}

impl Histogram {
    /// Add a duration.
    #[inline]
    pub fn add(&mut self, time: Duration) {
        if time.0 < self.minimum {
            self.minimum = time.0;
        }
        if time.0 > self.maximum {
            self.maximum = time.0;
        }
        self.buckets.add(bucket(time.0));
        self.sum += u128::from(time.0);
    }

    /// Return the number of durations in the histogram.
    pub fn count(&self) -> u64 {
        self.buckets.count()
    }

    /// Return the mean duration in seconds, or NaN for an empty histogram.
    pub fn mean_s(&self) -> f64 {
        self.sum as f64 / self.count() as f64 / Duration::from_seconds(1.0).0 as f64
    }

    /// Return the minimum duration in seconds, or NaN for an empty histogram.
    pub fn shortest_s(&self) -> f64 {
        if self.count() == 0 { f64::NAN } else { Duration(self.minimum).seconds() }
    }

    /// Return the maximum duration in seconds, or NaN for an empty histogram.
    pub fn longest_s(&self) -> f64 {
        if self.count() == 0 { f64::NAN } else { Duration(self.maximum).seconds() }
    }

    /// Return the occupied buckets in ascending order: the middle of the bucket in seconds, and the
    /// number of durations in the bucket.
    pub fn occupied_buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        self.buckets.occupied().map(|(b, count)| (Duration(middle(b)).seconds(), count))
    }

    /// Return a percentile by nearest rank: the shortest duration such that at least the share
    /// `share` of the durations are not longer. The percentile is in seconds. The percentile of an
    /// empty histogram is NaN.
    pub fn percentile_s(&self, share: f64) -> f64 {
        let rank = (share * self.count() as f64).ceil().max(1.0) as u64;
        let mut cumulative = 0;
        let bucket = self.buckets.occupied().find(|(_, n)| {
            cumulative += n;
            cumulative >= rank
        });
        bucket.map_or(f64::NAN, |(b, _)| Duration(middle(b).clamp(self.minimum, self.maximum)).seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_has_no_mean() {
        let h = Histogram::default();
        assert!(h.mean_s().is_nan() && h.percentile_s(0.5).is_nan());
    }

    proptest! {
        /// Compare the percentiles, mean and buckets of the histogram with the sorted list of the
        /// durations.
        #[test]
        fn percentiles_are_accurate_to_0_8_percent(
            values in prop::collection::vec((0u32..60, 0u64..1 << 40), 1..3000), share in 0.0..=1.0f64,
        ) {
            let mut values: Vec<u64> = values.into_iter().map(|(shift, x)| x >> (shift % 40)).collect();
            let mut h = Histogram::default();
            values.iter().for_each(|&x| h.add(Duration(x)));
            values.sort_unstable();
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
            let exact = Duration(values[rank - 1]).seconds();
            let percentile = h.percentile_s(share);
            prop_assert!((percentile - exact).abs() <= 0.008 * exact, "{percentile} {exact}");
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64 * 1e-12;
            prop_assert!((h.mean_s() - mean).abs() <= 1e-9 * mean);
            let occupied: Vec<(f64, u64)> = h.occupied_buckets().collect();
            prop_assert_eq!(occupied.iter().map(|(_, n)| n).sum::<u64>(), h.count());
            prop_assert!(occupied.is_sorted_by(|a, b| a.0 < b.0) && occupied.iter().all(|(_, n)| *n > 0));
        }
    }
}
