//! The ECN nonce (RFC 3540, `rfc3540`): the choice between ECT(0) and ECT(1) is a random bit, and
//! the receiver returns the sum of the bits that arrived. A receiver that hides a mark must guess
//! the random bit that the mark erased, so the sender detects a hidden mark with probability 1/2.

use std::collections::VecDeque;

use net::{Ecn, Seq};

/// State of the nonce, of sender and receiver.
#[derive(Clone, Debug)]
pub struct Nonce {
    /// End of each sent segment, and the sender's sum of the nonces up to this end.
    sums: VecDeque<(Seq, bool)>,
    sum: bool,
    /// Sequence number up to which the nonce sums are not comparable, because of a mark or a loss
    /// (RFC 3540 §4.2).
    resynchronize: Option<Seq>,
    /// Difference between the sums of sender and receiver after a resynchronization.
    offset: bool,
    random: u64,
    /// Receiver's sum of the nonces of the data that arrived in order (RFC 3540 §3.3).
    received: bool,
    /// Nonces of the data that the receiver has not yet received in order, by first sequence
    /// number.
    out_of_order: Vec<(Seq, bool)>,
    /// Number of wrong sums.
    pub wrong: u32,
}

impl Default for Nonce {
    /// Return the initial state, in which the nonce sums of the sender and the receiver are 1 (RFC
    /// 3540 §5).
    fn default() -> Self {
        Nonce {
            sums: VecDeque::new(),
            sum: true,
            resynchronize: None,
            offset: false,
            random: 0,
            received: true,
            out_of_order: Vec::new(),
            wrong: 0,
        }
    }
}

impl Nonce {
    /// Return the ECN field of a new segment that ends at `end` (RFC 3540 §4.1).
    pub fn field(&mut self, end: Seq) -> Ecn {
        // A bit of xorshift64. The seed of the random nonces is the first sequence number, so that
        // runs are reproducible.
        if self.random == 0 {
            self.random = u64::from(end.0) | 0x9E37_79B9_0000_0001;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let bit = self.random & 1 == 1;
        self.sum ^= bit;
        self.sums.push_back((end, self.sum));
        if bit { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    /// Exclude the data before `max` from the check of the nonce sums, because a segment was
    /// retransmitted or marked by the network.
    pub fn on_congestion(&mut self, max: Seq) {
        self.resynchronize = Some(max);
    }

    /// Process an ACK with a nonce sum. Return true if the nonce sum of the ACK is wrong (RFC 3540
    /// §4.2).
    pub fn on_ack(&mut self, ack: Seq, sum: bool, echo: bool) -> bool {
        let mut expected = None;
        while self.sums.front().is_some_and(|s| !s.0.after(ack)) {
            expected = self.sums.pop_front().filter(|s| s.0 == ack).map(|s| s.1);
        }
        if echo {
            return false; // RFC 3540 §4.2: ACKs with ECN-Echo are not checked
        }
        let Some(expected) = expected else { return false };
        if let Some(max) = self.resynchronize {
            if ack.before(max) {
                return false;
            }
            self.resynchronize = None;
            self.offset = expected ^ sum;
        }
        let wrong = expected ^ self.offset != sum;
        self.wrong += u32::from(wrong);
        wrong
    }

    /// Record the ECN field of data that begins at `seq`.
    pub fn on_data(&mut self, field: Ecn, seq: Seq) {
        if field == Ecn::Ect1 {
            self.out_of_order.push((seq, true));
        }
    }

    /// Add the nonces of the data before `next` to the nonce sum, because this data is now in
    /// order.
    pub fn on_advance(&mut self, next: Seq) {
        let received = &mut self.received;
        self.out_of_order.retain(|&(seq, nonce)| {
            let counts = seq.before(next);
            *received ^= counts && nonce;
            !counts
        });
    }

    /// Return the nonce sum for an ACK.
    pub fn echo_sum(&self) -> bool {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver that hides marks must guess the erased nonces, so the sender soon detects it.
    #[test]
    fn the_nonce_detects_a_receiver_that_hides_marks_and_no_other() {
        for hides in [false, true] {
            let (mut sender, mut receiver) = (Nonce::default(), Nonce::default());
            let mut wrong = 0;
            for i in 1..=400u32 {
                let field = sender.field(Seq(i * 100));
                let marked = i % 10 == 0;
                let arrives = if marked { Ecn::Ce } else { field };
                receiver.on_data(arrives, Seq(i * 100 - 100));
                receiver.on_advance(Seq(i * 100));
                if marked && !hides {
                    sender.on_ack(Seq(i * 100), receiver.echo_sum(), true);
                    sender.on_congestion(Seq(i * 100 + 100));
                } else {
                    wrong += u32::from(sender.on_ack(Seq(i * 100), receiver.echo_sum(), false));
                }
            }
            assert_eq!(wrong > 10, hides, "{wrong}");
        }
    }
}
