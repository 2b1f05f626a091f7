//! Proportional rate reduction (RFC 6937 §3, `rfc6937`), with both of its reduction bounds: CRB and
//! SSRB. Linux selects the slow-start bound while ACKs advance SND.UNA and detect no further loss.

use units::words;

words! {
    /// Course of a reduction of cwnd.
    pub enum RateReduction {
        /// The sender sets cwnd to ssthresh at once (RFC 5681, RFC 6675).
        AtOnce = "halve",
        /// The sender reduces cwnd over a round trip, in proportion to the delivered data (RFC
        /// 6937).
        Prr = "prr",
    }
}

words! {
    /// Bounds on the data that proportional rate reduction sends while pipe is below ssthresh.
    pub enum PrrBound {
        /// Conservative reduction bound: the sender sends at most the delivered data (RFC 6937 §3,
        /// CRB).
        Crb = "crb",
        /// Slow-start reduction bound: the sender sends at most one segment more than the delivered
        /// data (RFC 6937 §3, SSRB).
        Ssrb = "ssrb",
        /// SSRB for an ACK that advances SND.UNA and detects no further loss, otherwise CRB (Linux;
        /// RFC 9937).
        Either = "either",
    }
}

words! {
    /// Event that ends a reduction for a mark.
    pub enum MarkReductionEnds {
        /// The ACK of all data sent before the reduction ends the reduction.
        At = "at",
        /// The first ACK of data sent after the reduction began ends the reduction, because the
        /// receiver must have received CWR before it sent such an ACK (Linux,
        /// tcp_fastretrans_alert).
        Above = "above",
    }
}

/// State of a reduction of cwnd, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// prr_delivered: data delivered since the reduction began.
    delivered: f64,
    /// prr_out: data sent since the reduction began.
    out: f64,
    /// RecoverFS: the data in flight when the reduction began, or cwnd if ssthresh is derived from
    /// cwnd.
    recover_flight: f64,
}

impl Prr {
    /// Begin a reduction of cwnd.
    pub fn begin(flight: f64) -> Self {
        Prr { recover_flight: flight.max(1.0), ..Prr::default() }
    }

    /// Record sent data.
    pub fn on_sent(&mut self, bytes: f64) {
        self.out += bytes;
    }

    /// Return cwnd after an ACK that delivered `delivered` bytes. `safe` is true if the ACK
    /// advanced SND.UNA and detected no loss.
    pub fn cwnd(
        &mut self,
        delivered: f64,
        pipe: f64,
        ssthresh: f64,
        smss: f64,
        bound: PrrBound,
        safe: bool,
    ) -> f64 {
        self.delivered += delivered;
        let sndcnt = if pipe > ssthresh {
            // Proportional part: CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out, in whole
            // segments.
            let share = self.delivered * ssthresh / self.recover_flight;
            (share / smss).ceil() * smss - self.out
        } else {
            let banked = self.delivered - self.out;
            let limit = match bound {
                PrrBound::Crb => banked,
                PrrBound::Either if !safe => banked.max(delivered),
                PrrBound::Ssrb | PrrBound::Either => banked.max(delivered) + smss,
            };
            limit.min(ssthresh - pipe)
        };
        // The reduction bound never prevents the fast retransmit.
        let min = if self.out == 0.0 { smss } else { 0.0 };
        pipe + sndcnt.max(min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First example of RFC 6937 §4: the first of 20 segments is lost, and ssthresh is 10. After
    /// the fast retransmit the sender sends one segment for every two delivered segments.
    #[test]
    fn above_ssthresh_one_segment_is_sent_for_two_delivered() {
        let mut prr = Prr::begin(20.0);
        let mut pipe = 19.0 - 3.0; // three segments were SACKed when the recovery began
        let mut sent = Vec::new();
        for i in 0..18 {
            if i > 0 {
                pipe -= 1.0;
            }
            let cwnd = prr.cwnd(1.0, pipe, 10.0, 1.0, PrrBound::Crb, false);
            let n = (cwnd - pipe).max(0.0);
            prr.on_sent(n);
            pipe += n;
            sent.push(n as u32);
        }
        assert_eq!(&sent[..9], [1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert!((pipe - 10.0).abs() <= 1.0, "{pipe}");
    }

    #[test]
    fn below_ssthresh_a_safe_ack_sends_one_segment_more_than_was_delivered() {
        let mut prr = Prr::begin(20.0);
        prr.on_sent(1.0);
        assert_eq!(prr.cwnd(1.0, 4.0, 10.0, 1.0, PrrBound::Either, false), 5.0);
        prr.on_sent(1.0);
        assert_eq!(prr.cwnd(1.0, 4.0, 10.0, 1.0, PrrBound::Either, true), 6.0);
    }

    /// In this test, the sender has sent three segments in the reduction. Two segments were
    /// delivered, one of them by the current ACK. For the current ACK, CRB permits 0 segments and
    /// SSRB permits 2 segments.
    #[test]
    fn the_conservative_bound_is_the_delivered_data() {
        for (bound, sends) in [(PrrBound::Crb, 0.0), (PrrBound::Ssrb, 2.0)] {
            let mut prr = Prr::begin(20.0);
            prr.cwnd(1.0, 4.0, 10.0, 1.0, bound, false);
            prr.on_sent(3.0);
            assert_eq!(prr.cwnd(1.0, 4.0, 10.0, 1.0, bound, false), 4.0 + sends);
        }
    }
}
