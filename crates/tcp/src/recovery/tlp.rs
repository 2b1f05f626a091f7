//! Tail loss probe, RFC 8985 §7 (`rfc8985`): when the end of a flight is not acknowledged for two round
//! trips, new data or the last segment is sent, so that SACK finds the loss without the timer.

use net::Seq;
use units::Duration;

/// The probe timeout before a round trip was measured (§7.2).
const INITIAL: Duration = Duration::from_millis(1000);

/// State of the probe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tlp {
    /// TLP.end_seq; `None`: no probe is out.
    pub end: Option<Seq>,
    /// TLP.is_retrans.
    pub retransmitted: bool,
    /// No round trip was measured since the last probe.
    unmeasured: bool,
}

/// The probe timeout (§7.2): 2 SRTT, and a delay: that of an ACK if one segment is out.
pub fn timeout(srtt: Duration, delay: Duration) -> Duration {
    if srtt == Duration::ZERO {
        return INITIAL;
    }
    Duration(srtt.0.saturating_mul(2).saturating_add(delay.0))
}

/// What an ACK says of the probe (§7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Pending,
    /// Both the original and the probe arrived, or the probe was new data.
    NoLoss,
    /// The probe repaired a loss: the window is to be cut.
    Repaired,
}

impl Tlp {
    /// Whether a probe may go (§7.3): none is out, and a round trip was measured since the last.
    pub fn may_probe(&self) -> bool {
        self.end.is_none() && !self.unmeasured
    }

    /// A probe goes out; all that is out then ends at `end`.
    pub fn on_probe(&mut self, end: Seq, retransmitted: bool) {
        *self = Tlp { end: Some(end), retransmitted, unmeasured: true };
    }

    /// A round trip was measured.
    pub fn on_sample(&mut self) {
        self.unmeasured = false;
    }

    /// An ACK arrived. `dsack`: it reports a duplicate; `plain_duplicate`: it neither advances nor SACKs.
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
            Verdict::NoLoss // the original and the probe were both acknowledged
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
    fn the_table_of_section_7_4_2() {
        assert_eq!(probe(true).on_ack(Seq(9), false, false), Verdict::Pending);
        assert_eq!(probe(true).on_ack(Seq(10), true, false), Verdict::NoLoss);
        assert_eq!(probe(true).on_ack(Seq(11), false, false), Verdict::Repaired);
        assert_eq!(probe(true).on_ack(Seq(10), false, true), Verdict::NoLoss);
        assert_eq!(probe(true).on_ack(Seq(10), false, false), Verdict::Pending);
        assert_eq!(probe(false).on_ack(Seq(10), false, false), Verdict::NoLoss);
    }

    #[test]
    fn one_segment_waits_for_a_delayed_ack() {
        let srtt = Duration::from_millis(100);
        assert_eq!(timeout(srtt, Duration::from_millis(200)), Duration::from_millis(400));
        assert_eq!(timeout(srtt, Duration::ZERO), Duration::from_millis(200));
        assert_eq!(timeout(Duration::ZERO, Duration::ZERO), Duration::from_millis(1000));
    }
}
