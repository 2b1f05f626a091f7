//! NewReno (RFC 6582 §3.2, `rfc6582`): a recovery lasts until all data that was sent before the
//! recovery is acknowledged. At a partial ACK, the sender retransmits the next missing segment at
//! once.

use net::Seq;

/// Effect of an ACK of new data on a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnNewAck {
    /// The recovery ends.
    Ends,
    /// The ACK is partial. The sender retransmits the next segment and deflates cwnd by the
    /// acknowledged bytes less one segment.
    Partial,
}

/// Return the effect of an ACK on a recovery that began when `recover` was the highest sequence
/// number sent.
pub fn on_new_ack(ack: Seq, recover: Seq) -> OnNewAck {
    if ack.before(recover) { OnNewAck::Partial } else { OnNewAck::Ends }
}

/// Return the inflation of cwnd after a partial ACK of `acked` bytes (RFC 6582 §3.2, step 3). A
/// partial ACK reduces the inflation of cwnd by `acked`. If `acked` is at least one segment, the
/// inflation of cwnd is then increased by one segment.
pub fn inflation(inflation: u32, acked: u32, smss: u32) -> u32 {
    inflation.saturating_sub(acked) + if acked >= smss { smss } else { 0 }
}

/// Return cwnd after the ACK that ends the recovery, in bytes. The limit on cwnd prevents a burst
/// after the recovery (RFC 6582 §3.2, step 3, option 1).
pub fn cwnd_at_end(ssthresh: f64, flight: f64, smss: f64) -> f64 {
    ssthresh.min(flight.max(smss) + smss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_ack_deflates_and_adds_back_one() {
        assert_eq!(on_new_ack(Seq(5), Seq(9)), OnNewAck::Partial);
        assert_eq!(on_new_ack(Seq(9), Seq(9)), OnNewAck::Ends);
        assert_eq!(inflation(7000, 2000, 1000), 6000);
        assert_eq!(inflation(7000, 500, 1000), 6500);
        assert_eq!(inflation(1000, 5000, 1000), 1000);
    }

    #[test]
    fn the_end_of_recovery_sends_no_burst() {
        assert_eq!(cwnd_at_end(8000.0, 0.0, 1000.0), 2000.0);
        assert_eq!(cwnd_at_end(8000.0, 20_000.0, 1000.0), 8000.0);
    }
}
