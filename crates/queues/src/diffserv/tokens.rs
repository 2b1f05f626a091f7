//! Tokens that come one by one, a byte each.
//!
//! Source: RFC 2697 §3 and RFC 2698 §3 (`rfc2697`, `rfc2698`): a count is incremented by one so many times a
//! second. The k-th token of a rate of R bit/s comes at k·8/R seconds, so how many have come by a time is a
//! whole number, which no rounding ever changes.

use units::{Rate, Time};

/// Picoseconds in a second, times the bits of a byte.
const BIT_PICOSECONDS: u128 = 8_000_000_000_000;

/// Counts the tokens of a rate.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    rate: Rate,
    /// Those that came by the last look.
    seen: u64,
}

impl Tokens {
    /// Tokens of this rate, from time 0 on.
    pub fn new(rate: Rate) -> Self {
        Tokens { rate, seen: 0 }
    }

    /// How many came since the last look.
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
    fn the_token_that_comes_now_has_come() {
        let mut tokens = Tokens::new(Rate(8_000)); // one a millisecond
        assert_eq!([999_999_999, 1_000_000_000, 1_000_000_000].map(|t| tokens.come(Time(t))), [0, 1, 0]);
        assert_eq!(tokens.come(Time(5_500_000_000)), 4);
    }

    /// 3 bit/s: a token each 2 2/3 s. However often one looks, 3 in 8 s.
    #[test]
    fn no_look_loses_a_part() {
        let mut tokens = Tokens::new(Rate(3));
        let come: u64 = (1..=80_000).map(|i| tokens.come(Time(i * 1_000_000_000))).sum();
        assert_eq!(come, 30);
        assert_eq!(Tokens::new(Rate(10_000_000_000_000)).come(Time::NEVER), u64::MAX);
    }
}
