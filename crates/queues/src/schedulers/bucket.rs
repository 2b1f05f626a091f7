//! Exact token buckets. One token stands for 10^-12 bit, so that a rate of R bit/s adds R tokens
//! per picosecond.

use units::{Duration, Rate, Time};

/// Return the number of tokens that a packet of `bytes` bytes needs.
pub fn price(bytes: u64) -> i128 {
    i128::from(bytes) * 8_000_000_000_000
}

/// Return the time in which the rate `rate` adds `tokens` tokens, rounded up to a picosecond.
pub fn time_for(tokens: i128, rate: Rate) -> Duration {
    let time = u128::try_from(tokens).unwrap_or(0).div_ceil(u128::from(rate.0));
    Duration(u64::try_from(time).unwrap_or(u64::MAX >> 1))
}

/// Return the number of tokens that the rate `rate` adds in the time `span`.
pub fn brings(span: Duration, rate: Rate) -> i128 {
    i128::from(span.0) * i128::from(rate.0)
}

/// Token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: Rate,
    depth: i128,
    level: i128,
    /// Time up to which tokens have been added.
    at: Time,
}

impl Bucket {
    /// Create a full bucket whose depth is `bytes` bytes.
    pub fn new(rate: Rate, bytes: u64) -> Self {
        Bucket { rate, depth: price(bytes), level: price(bytes), at: Time::ZERO }
    }

    /// Add the tokens that have arrived by the time `now`.
    pub fn fill(&mut self, now: Time) {
        self.level = (self.level + brings(now.since(self.at), self.rate)).min(self.depth);
        self.at = now;
    }

    /// Return the time until the bucket has enough tokens for a packet of `bytes` bytes.
    pub fn wait(&self, bytes: u64) -> Duration {
        time_for(price(bytes) - self.level, self.rate)
    }

    /// Remove the tokens for a packet of `bytes` bytes.
    pub fn take(&mut self, bytes: u64) {
        self.level -= price(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 3 bit/s the tokens for one byte arrive within 8/3 s, which the bucket rounds up to a
    /// picosecond.
    #[test]
    fn waiting_times_are_exact_to_the_picosecond() {
        let mut bucket = Bucket::new(Rate(3), 2);
        assert_eq!(bucket.wait(2), Duration::ZERO);
        bucket.take(2);
        let wait = bucket.wait(1);
        assert_eq!(wait, Duration(2_666_666_666_667));
        bucket.fill(Time::ZERO + Duration(wait.0 - 1));
        assert_eq!(bucket.wait(1), Duration(1));
        bucket.fill(Time::ZERO + wait);
        bucket.take(1);
        // The rounding does not accumulate: after exactly 8 s the bucket has the tokens for three
        // bytes.
        bucket.fill(Time(8_000_000_000_000));
        assert_eq!((bucket.wait(2), bucket.wait(3)), (Duration::ZERO, Duration(2_666_666_666_667)));
        bucket.fill(Time(800_000_000_000_000));
        assert_eq!(bucket.wait(3), Duration(2_666_666_666_667));
    }
}
