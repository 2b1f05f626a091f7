//! Exact count of the tokens of a bucket, which arrive one by one. Each token permits one byte.
//!
//! Source: RFC 2697 §3 and RFC 2698 §3 (`rfc2697`, `rfc2698`): a count is incremented by one at the
//! token rate. The k-th token of a rate of R bit/s arrives at k·8/R seconds. The number of tokens
//! that have arrived by a given time is therefore a whole number, and is computed without rounding
//! errors.

use units::{Rate, Time};

/// Picoseconds per second times bits per byte.
const BIT_PICOSECONDS: u128 = 8_000_000_000_000;

/// Counter of the tokens that arrive at a rate.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    rate: Rate,
    /// Number of tokens that had arrived at the time of the last query.
    seen: u64,
}

impl Tokens {
    /// Create a counter of tokens that arrive at this rate from time 0 on.
    pub fn new(rate: Rate) -> Self {
        Tokens { rate, seen: 0 }
    }

    /// Return the number of tokens that have arrived since the last query.
    #[inline]
    pub fn come(&mut self, now: Time) -> u64 {
        let all = u128::from(self.rate.0) * u128::from(now.0) / BIT_PICOSECONDS;
        let all = all.min(u128::from(u64::MAX)) as u64;
        let new = all - self.seen;
        self.seen = all;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_arrives_now_counts() {
        let mut tokens = Tokens::new(Rate(8_000)); // one per millisecond
        assert_eq!([999_999_999, 1_000_000_000, 1_000_000_000].map(|t| tokens.come(Time(t))), [0, 1, 0]);
        assert_eq!(tokens.come(Time(5_500_000_000)), 4);
    }

    /// At 3 bit/s a token arrives every 2 2/3 s. In 8 s exactly 3 tokens arrive, for any number of
    /// queries during the 8 s.
    #[test]
    fn queries_do_not_lose_fractions_of_tokens() {
        let mut tokens = Tokens::new(Rate(3));
        let come: u64 = (1..=80_000).map(|i| tokens.come(Time(i * 1_000_000_000))).sum();
        assert_eq!(come, 30);
        assert_eq!(Tokens::new(Rate(10_000_000_000_000)).come(Time::NEVER), u64::MAX);
    }
}
