//! The ECN nonce, RFC 3540 (`rfc3540`): the choice between ECT(0) and ECT(1) is a random bit, the receiver
//! returns the sum of those it got, and one that hides a mark is found out one time in two.

use std::collections::VecDeque;

use net::{Ecn, Seq};

/// Both halves of the nonce.
#[derive(Clone, Debug)]
pub struct Nonce {
    /// Sender: where each segment ends, and the sum of nonces up to there.
    sums: VecDeque<(Seq, bool)>,
    sum: bool,
    /// Sums are not comparable until this is acknowledged (§4.2: after a mark or a loss).
    resynchronize: Option<Seq>,
    /// What must be added to the receiver's sum.
    offset: bool,
    random: u64,
    /// Receiver: the sum of what arrived in order (§3.3).
    received: bool,
    /// Nonces of what is not in order yet, by the first sequence number.
    out_of_order: Vec<(Seq, bool)>,
    /// Wrong sums.
    pub wrong: u32,
}

impl Default for Nonce {
    /// Sums begin with 1 (§5).
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
    /// The field of a new segment that ends at `end` (§4.1).
    pub fn field(&mut self, end: Seq) -> Ecn {
        // A bit of xorshift64; the seed is the first sequence number, so that runs repeat.
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

    /// A segment is sent again, or the network marked: sums count again from `max`.
    pub fn on_congestion(&mut self, max: Seq) {
        self.resynchronize = Some(max);
    }

    /// An ACK with this nonce sum arrives; whether the sum is wrong (§4.2).
    pub fn on_ack(&mut self, ack: Seq, sum: bool, echo: bool) -> bool {
        let mut expected = None;
        while self.sums.front().is_some_and(|s| !s.0.after(ack)) {
            expected = self.sums.pop_front().filter(|s| s.0 == ack).map(|s| s.1);
        }
        if echo {
            return false; // §4.2: no sum is expected while congestion is echoed
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

    /// Data arrived, in this field.
    pub fn on_data(&mut self, field: Ecn, seq: Seq) {
        if field == Ecn::Ect1 {
            self.out_of_order.push((seq, true));
        }
    }

    /// The data before `next` is in order: its nonces count.
    pub fn on_advance(&mut self, next: Seq) {
        let received = &mut self.received;
        self.out_of_order.retain(|&(seq, nonce)| {
            let counts = seq.before(next);
            *received ^= counts && nonce;
            !counts
        });
    }

    /// The sum for an ACK.
    pub fn echo_sum(&self) -> bool {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver that hides marks must guess the erased nonces: it is found out soon.
    #[test]
    fn a_liar_is_found_out_and_an_honest_receiver_is_not() {
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
