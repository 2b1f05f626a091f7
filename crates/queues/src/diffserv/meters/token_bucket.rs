//! Token bucket as a meter.
//!
//! Source: RFC 2475 §2.3.2 and §2.3.3.1 (`rfc2475`): a profile is a rate and a burst size, and
//! packets are in profile or out of profile. RFC 3290 §5.1.3 (`rfc3290`), which was not available,
//! defines strict and loose conformance.

use net::Packet;
use units::{Bytes, Range, Rate, Time, params, words};

use crate::diffserv::colour::Colour;
use crate::diffserv::tokens::Tokens;

words! {
    /// Condition for a packet to be in profile.
    pub enum Conformance {
        /// Strict conformance: the packet is in profile if the bucket has tokens for all its bytes.
        Strict = "strict",
        /// Loose conformance: the packet is in profile if the bucket has at least one token. If the
        /// bucket has fewer tokens than the packet has bytes, the missing tokens are subtracted
        /// from tokens that arrive later.
        Loose = "loose",
    }
}

params! {
    /// A token bucket assigns two colours: green packets are in profile, red packets are out of
    /// profile. Tokens of one byte each arrive at the rate until the bucket has as many tokens as
    /// the burst has bytes. A packet in profile removes as many tokens as it has bytes.
    ///
    /// The bucket is full at the start.
    pub struct TokenBucket: "token_bucket" {
        /// Rate of the tokens.
        rate: Rate = required, in Range::ANY, from "rfc2475 §2.3.2";
        /// Depth of the bucket: maximum number of tokens.
        burst: Bytes = required, in Range::between(1.0, 4e18), from "rfc2475 §2.3.2";
        /// Condition for a packet to be in profile.
        conformance: Conformance = (Conformance::Strict), in Range::ANY, from "rfc3290 §5.1.3; rfc2697 §3 is strict";
    }
}

impl TokenBucket {
    /// Create the state of the meter at time 0.
    pub fn build(&self) -> TokenBucketState {
        let burst = self.burst.0 as i64;
        let TokenBucket { rate, conformance, .. } = *self;
        TokenBucketState { tokens: Tokens::new(rate), burst, conformance, held: burst }
    }
}

/// State of a token bucket.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucketState {
    tokens: Tokens,
    burst: i64,
    conformance: Conformance,
    /// Number of tokens in the bucket. A negative number is a debt, which tokens that arrive later
    /// pay.
    held: i64,
}

impl TokenBucketState {
    /// Return the colour of an arriving packet.
    pub fn colour(&mut self, now: Time, packet: &Packet) -> Colour {
        self.held = self.held.saturating_add_unsigned(self.tokens.come(now)).min(self.burst);
        let size = i64::from(packet.size);
        let needed = match self.conformance {
            Conformance::Strict => size,
            Conformance::Loose => 1,
        };
        if self.held < needed {
            return Colour::Red;
        }
        self.held -= size;
        Colour::Green
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::colours;
    use serde_json::json;

    /// One token arrives per millisecond, and the bucket has at most 1000 tokens.
    #[test]
    fn strict_and_loose_conformance_as_worked_out_by_hand() {
        let bucket = |conformance| json!({"kind": "token_bucket", "rate": "8 kbit/s", "burst": "1000 B", "conformance": conformance});
        let packets = [
            (0, 600, 0),     // G 400 | G 400
            (0, 600, 0),     // R     | G -200
            (200, 600, 0),   // G 0   | R 0
            (201, 600, 0),   // R 1   | G -599
            (801, 1, 0),     // G 600 | G 0, after 600 - 599 = 1
            (5000, 1000, 0), // G 0 | G 0
        ];
        assert_eq!(colours(bucket("strict"), &packets), "GRGRGG");
        assert_eq!(colours(bucket("loose"), &packets), "GGRGGG");
    }
}
