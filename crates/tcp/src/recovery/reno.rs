//! Reno's fast retransmit and fast recovery (RFC 5681 §3.2, `rfc5681`), with limited transmit (RFC
//! 3042, `rfc3042`). Every ACK of new data ends the recovery, even a partial ACK. If a window has
//! several losses, each further loss needs its own duplicate ACKs or the retransmission timer.
//! [`tahoe`](crate::recovery::tahoe) and [`newreno`](crate::recovery::newreno) define how Tahoe and
//! NewReno differ from Reno.

/// Maximum number of segments that limited transmit sends.
const LIMITED: u32 = 2;

/// Action on a duplicate ACK, without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The sender sends no segment.
    Wait,
    /// Limited transmit: the sender sends one new segment (RFC 3042).
    Transmit,
    /// The sender retransmits the first unacknowledged segment and begins recovery.
    Retransmit,
    /// The duplicate ACK shows that a segment has left the network, so the sender inflates cwnd by
    /// one segment.
    Inflate,
}

/// Count of duplicate ACKs, and state of the recovery that they start.
#[derive(Clone, Copy, Debug, Default)]
pub struct DuplicateAcks {
    count: u16,
    active: bool,
    /// True after a partial ACK in this recovery.
    partial_seen: bool,
}

impl DuplicateAcks {
    /// Count a duplicate ACK. The duplicate ACK with the number `threshold` starts a fast
    /// retransmit, if a fast retransmit is `allowed`. For an earlier duplicate ACK, the sender
    /// sends new data if limited transmit is on (`limited`).
    pub fn on_duplicate(&mut self, threshold: u32, allowed: bool, limited: bool) -> OnDuplicate {
        self.count = self.count.saturating_add(1);
        let count = u32::from(self.count);
        if count == threshold && allowed {
            self.active = true;
            OnDuplicate::Retransmit // RFC 5681 §3.2, step 2
        } else if count > threshold && self.active {
            OnDuplicate::Inflate // RFC 5681 §3.2, step 4
        } else if count <= LIMITED && count < threshold && limited {
            OnDuplicate::Transmit // RFC 5681 §3.2, step 1
        } else {
            OnDuplicate::Wait
        }
    }

    /// End the recovery at an ACK of new data, and reset the count of duplicate ACKs (RFC 5681
    /// §3.2, step 6). Return true if a recovery was in progress.
    pub fn end(&mut self) -> bool {
        std::mem::take(self).active
    }

    /// Cancel the recovery that the fast retransmit began, so that later duplicate ACKs do not
    /// inflate cwnd.
    pub fn suppress_recovery(&mut self) {
        self.active = false;
    }

    /// Record a partial ACK. Return true if this partial ACK is the first of the recovery.
    pub fn on_partial(&mut self) -> bool {
        !std::mem::replace(&mut self.partial_seen, true)
    }

    /// Return true during a recovery.
    pub fn in_recovery(&self) -> bool {
        self.active
    }

    /// Limit the count of duplicate ACKs to `max`. Return true if the count of duplicate ACKs was
    /// larger than `max`.
    pub fn limit(&mut self, max: u32) -> bool {
        let more = self.count() > max;
        self.count = self.count.min(max.min(u32::from(u16::MAX)) as u16);
        more
    }

    /// Reduce the count of duplicate ACKs for `segments` newly acknowledged segments: one of the
    /// segments was missing, and each of the others has caused a duplicate ACK (Linux,
    /// tcp_remove_reno_sacks). Return the number of acknowledged segments for which no duplicate
    /// ACK had arrived.
    pub fn acknowledged(&mut self, segments: u32) -> u32 {
        let unreported = segments.saturating_sub(self.count()).max(1);
        self.count = self.count.saturating_sub(segments.saturating_sub(1).min(u32::from(u16::MAX)) as u16);
        unreported
    }

    /// Return the number of duplicate ACKs.
    pub fn count(&self) -> u32 {
        u32::from(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OnDuplicate::{Inflate, Retransmit, Transmit, Wait};

    #[test]
    fn the_third_duplicate_retransmits_and_the_rest_inflate() {
        let mut r = DuplicateAcks::default();
        let seen: Vec<_> = (0..5).map(|_| r.on_duplicate(3, true, false)).collect();
        assert_eq!(seen, [Wait, Wait, Retransmit, Inflate, Inflate]);
        assert!(r.end() && !r.end());
        assert_eq!(r.on_duplicate(3, true, false), Wait);
    }

    /// Tahoe retransmits once for the duplicate ACKs of one window.
    #[test]
    fn without_recovery_later_duplicates_do_nothing() {
        let mut r = DuplicateAcks::default();
        let seen: Vec<_> = (0..8)
            .map(|_| {
                let action = r.on_duplicate(3, true, false);
                r.suppress_recovery();
                action
            })
            .collect();
        assert_eq!(seen, [Wait, Wait, Retransmit, Wait, Wait, Wait, Wait, Wait]);
    }

    #[test]
    fn a_forbidden_retransmit_does_not_inflate() {
        let mut r = DuplicateAcks::default();
        let seen: Vec<_> = (0..5).map(|_| r.on_duplicate(3, false, false)).collect();
        assert_eq!(seen, [Wait; 5]);
        assert!(!r.end());
    }

    /// Each of the four cases begins with three duplicate ACKs. The next ACK acknowledges 4, 2, 1
    /// or 9 segments.
    #[test]
    fn reported_segments_are_not_delivered_twice() {
        for (acked, unreported, left) in [(4, 1, 0), (2, 1, 2), (1, 1, 3), (9, 6, 0)] {
            let mut r = DuplicateAcks { count: 3, ..DuplicateAcks::default() };
            assert_eq!((r.acknowledged(acked), r.count()), (unreported, left));
        }
        let mut r = DuplicateAcks { count: 3, ..DuplicateAcks::default() };
        assert!(!r.limit(3) && r.limit(2) && r.count() == 2);
    }

    #[test]
    fn limited_transmit_sends_on_the_first_two() {
        let mut r = DuplicateAcks::default();
        let seen: Vec<_> = (0..4).map(|_| r.on_duplicate(3, true, true)).collect();
        assert_eq!(seen, [Transmit, Transmit, Retransmit, Inflate]);
    }
}
