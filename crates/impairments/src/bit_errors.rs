//! Losses from bit errors: the larger a packet, the likelier.

use engine::Stream;
use net::Why;
use units::{Probability, Range, params};

use crate::act::Act;

params! {
    /// Independent bit errors: the link discards a packet with an error in any of its bits, so a packet of n
    /// bytes is lost with probability 1 − (1 − rate)^(8n).
    pub struct BitErrors: "bit_errors" {
        /// Probability that a bit is wrong (bit error rate).
        rate: Probability = required, in Range::ANY, from "rfc3819: links detect errors and discard what has them";
    }
}

/// Its working.
#[derive(Clone, Debug)]
pub struct Bits {
    /// ln (1 − rate).
    log_right: f64,
    random: Stream,
}

impl Bits {
    /// Of this rate.
    pub fn new(p: &BitErrors, random: Stream) -> Self {
        Bits { log_right: libm::log1p(-p.rate.0), random }
    }

    /// Probability that a packet of this size has an error.
    pub fn error(&self, size: u16) -> f64 {
        -libm::expm1(8.0 * f64::from(size.max(1)) * self.log_right)
    }

    /// What becomes of a packet of this size.
    pub fn act(&mut self, size: u16) -> Act {
        if self.random.uniform() < self.error(size) { Act::Lose(Why::Corruption) } else { Act::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_that_of_any_bit() {
        let error =
            |rate, size| Bits::new(&BitErrors { rate: Probability(rate) }, Stream::new(1, "")).error(size);
        assert_eq!((error(0.0, 1500), error(1.0, 40)), (0.0, 1.0));
        for (rate, size) in [(1e-5, 1500), (1e-3, 40), (0.25, 1)] {
            let literal = 1.0 - (0..8 * u32::from(size)).fold(1.0, |q, _| q * (1.0 - rate));
            assert!((error(rate, size) - literal).abs() < 1e-10, "{rate} {size}");
        }
    }
}
