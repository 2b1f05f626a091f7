//! Tail loss probe (RFC 8985 §7, `rfc8985`): if the end of a flight is not acknowledged within two
//! round trips, the sender sends new data or retransmits the last segment. The SACK of the tail
//! loss probe reveals a loss before the retransmission timer expires.

use net::Seq;
use units::Duration;

/// Probe timeout before the first round-trip time is measured (RFC 8985 §7.2).
const INITIAL: Duration = Duration::from_millis(1000);

/// State of the tail loss probe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tlp {
    /// TLP.end_seq; `None` if no probe is in flight.
    pub end: Option<Seq>,
    /// TLP.is_retrans: true if the probe was a retransmission.
    pub retransmitted: bool,
    /// True while no round-trip time has been measured since the last probe.
    unmeasured: bool,
}

/// Return the probe timeout (RFC 8985 §7.2): 2 SRTT plus `delay`, which is the maximum ACK delay if
/// one segment is in flight.
pub fn timeout(srtt: Duration, delay: Duration) -> Duration {
    if srtt == Duration::ZERO {
        return INITIAL;
    }
    Duration(srtt.0.saturating_mul(2).saturating_add(delay.0))
}

/// Outcome of a tail loss probe after an ACK (RFC 8985 §7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The outcome of the probe is not known yet.
    Pending,
    /// No segment was lost: the original and the probe arrived, or the probe was new data.
    NoLoss,
    /// The probe repaired a loss: the sender must reduce cwnd.
    Repaired,
}

impl Tlp {
    /// Return true if a tail loss probe may be sent (RFC 8985 §7.3): no probe is in flight, and a
    /// round-trip time has been measured since the last probe.
    pub fn may_probe(&self) -> bool {
        self.end.is_none() && !self.unmeasured
    }

    /// Record a probe. `end` is the highest sequence number in flight after the probe was sent.
    pub fn on_probe(&mut self, end: Seq, retransmitted: bool) {
        *self = Tlp { end: Some(end), retransmitted, unmeasured: true };
    }

    /// Record the measurement of a round-trip time.
    pub fn on_sample(&mut self) {
        self.unmeasured = false;
    }

    /// Return the outcome of the tail loss probe after an ACK. `dsack` is true if the ACK reports a
    /// duplicate. `plain_duplicate` is true if the ACK is a duplicate ACK without SACK blocks.
    pub fn on_ack(&mut self, ack: Seq, dsack: bool, plain_duplicate: bool) -> Verdict {
        let Some(end) = self.end else { return Verdict::Pending };
        if ack.before(end) {
            return Verdict::Pending;
        }
        let verdict = if !self.retransmitted || dsack {
            Verdict::NoLoss
        } else if ack.after(end) {
            Verdict::Repaired
        } else if plain_duplicate {
            Verdict::NoLoss // the receiver acknowledged both the original and the probe
        } else {
            return Verdict::Pending;
        };
        self.end = None;
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(retransmitted: bool) -> Tlp {
        Tlp { end: Some(Seq(10)), retransmitted, unmeasured: true }
    }

    #[test]
    fn a_probe_has_the_outcomes_of_rfc_8985_section_7_4_2() {
        assert_eq!(probe(true).on_ack(Seq(9), false, false), Verdict::Pending);
        assert_eq!(probe(true).on_ack(Seq(10), true, false), Verdict::NoLoss);
        assert_eq!(probe(true).on_ack(Seq(11), false, false), Verdict::Repaired);
        assert_eq!(probe(true).on_ack(Seq(10), false, true), Verdict::NoLoss);
        assert_eq!(probe(true).on_ack(Seq(10), false, false), Verdict::Pending);
        assert_eq!(probe(false).on_ack(Seq(10), false, false), Verdict::NoLoss);
    }

    #[test]
    fn the_probe_timeout_of_one_segment_includes_the_ack_delay() {
        let srtt = Duration::from_millis(100);
        assert_eq!(timeout(srtt, Duration::from_millis(200)), Duration::from_millis(400));
        assert_eq!(timeout(srtt, Duration::ZERO), Duration::from_millis(200));
        assert_eq!(timeout(Duration::ZERO, Duration::ZERO), Duration::from_millis(1000));
    }
}
