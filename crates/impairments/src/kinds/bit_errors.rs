//! Losses because of bit errors, which are more likely for larger packets.

use engine::Stream;
use net::Why;
use units::{Probability, Range, params};

use crate::effect::{Effect, Impair, Kind, Passage};

params! {
    /// Independent bit errors, which the link detects. The link discards each packet that has a bit
    /// error. A packet of n bytes is lost with probability 1 − (1 − rate)^(8n).
    pub struct BitErrors: "bit_errors" {
        /// Bit error rate: the probability that one bit is wrong.
        rate: Probability = required, in Range::ANY, from "rfc3819: a link detects bit errors and discards the damaged packets";
    }
}

/// State of bit errors.
#[derive(Clone, Debug)]
pub struct Bits {
    /// Natural logarithm of 1 − rate, where 1 − rate is the probability that one bit is right.
    log_right: f64,
    random: Stream,
}

impl Bits {
    /// Return the probability that a packet of this size has at least one bit error.
    pub fn error(&self, size: u16) -> f64 {
        -libm::expm1(8.0 * f64::from(size.max(1)) * self.log_right)
    }
}

impl Kind for BitErrors {
    type State = Bits;

    fn start(&self, random: Stream) -> Bits {
        Bits { log_right: libm::log1p(-self.rate.0), random }
    }
}

impl Impair for Bits {
    fn act(&mut self, packet: &Passage) -> Effect {
        let error = self.error(packet.size);
        if self.random.uniform() < error { Effect::Lose(Why::Corruption) } else { Effect::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_lost_if_any_bit_is_wrong() {
        let error = |rate, size| BitErrors { rate: Probability(rate) }.start(Stream::new(1, "")).error(size);
        assert_eq!((error(0.0, 1500), error(1.0, 40)), (0.0, 1.0));
        for (rate, size) in [(1e-5, 1500), (1e-3, 40), (0.25, 1)] {
            let product = 1.0 - (0..8 * u32::from(size)).fold(1.0, |q, _| q * (1.0 - rate));
            assert!((error(rate, size) - product).abs() < 1e-10, "{rate} {size}");
        }
    }
}
