//! Proportional rate reduction, RFC 6937 §3 (`rfc6937`), with either reduction bound, or with that of slow start as
//! long as ACKs advance and find no further losses (as Linux chooses).

use units::words;

words! {
    /// How the window comes down when it is cut.
    pub enum RateReduction {
        /// At once to ssthresh (RFC 5681, RFC 6675).
        AtOnce = "halve",
        /// Over a round trip, in proportion to what is delivered (RFC 6937).
        Prr = "prr",
    }
}

words! {
    /// Bounds of what proportional rate reduction sends below ssthresh.
    pub enum PrrBound {
        /// Conservative: what was delivered (RFC 6937 §3, CRB).
        Crb = "crb",
        /// As slow start: one segment more (SSRB).
        Ssrb = "ssrb",
        /// SSRB while the ACK advances and finds no further loss, else CRB (Linux; RFC 9937).
        Either = "either",
    }
}

words! {
    /// When a reduction for a mark ends.
    pub enum MarkReductionEnds {
        /// With the ACK of all that was sent before it.
        At = "at",
        /// With the first ACK of more: CWR has reached the receiver by then (Linux, tcp_fastretrans_alert).
        Above = "above",
    }
}

/// State of a reduction, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// prr_delivered.
    delivered: f64,
    /// prr_out.
    out: f64,
    /// RecoverFS, the flight when the reduction began; cwnd where ssthresh comes from that.
    recover_flight: f64,
}

impl Prr {
    /// A reduction begins.
    pub fn begin(flight: f64) -> Self {
        Prr { recover_flight: flight.max(1.0), ..Prr::default() }
    }

    /// Data went out.
    pub fn on_sent(&mut self, bytes: f64) {
        self.out += bytes;
    }

    /// cwnd after an ACK that delivered `delivered` bytes; `safe`: it advanced SND.UNA and found no loss.
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
            // Proportional: CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out, in whole segments.
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
        // The fast retransmit itself always goes.
        let least = if self.out == 0.0 { smss } else { 0.0 };
        pipe + sndcnt.max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 §4, the first example: 20 segments, the first lost, window to 10: after the
    /// retransmission one segment goes for every two delivered.
    #[test]
    fn one_segment_for_two_while_above_ssthresh() {
        let mut prr = Prr::begin(20.0);
        let mut pipe = 19.0 - 3.0; // three were SACKed when the recovery began
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
    fn below_ssthresh_it_sends_what_was_delivered_and_one_more_when_safe() {
        let mut prr = Prr::begin(20.0);
        prr.on_sent(1.0);
        assert_eq!(prr.cwnd(1.0, 4.0, 10.0, 1.0, PrrBound::Either, false), 5.0);
        prr.on_sent(1.0);
        assert_eq!(prr.cwnd(1.0, 4.0, 10.0, 1.0, PrrBound::Either, true), 6.0);
    }

    /// Three sent and two delivered, one of them now: the conservative bound lets nothing go, the other two.
    #[test]
    fn the_conservative_bound_is_what_is_banked() {
        for (bound, sends) in [(PrrBound::Crb, 0.0), (PrrBound::Ssrb, 2.0)] {
            let mut prr = Prr::begin(20.0);
            prr.cwnd(1.0, 4.0, 10.0, 1.0, bound, false);
            prr.on_sent(3.0);
            assert_eq!(prr.cwnd(1.0, 4.0, 10.0, 1.0, bound, false), 4.0 + sends);
        }
    }
}
