//! Reno's fast retransmit and fast recovery, RFC 5681 §3.2 (`rfc5681`), with limited transmit, RFC 3042
//! (`rfc3042`). Every ACK of new data ends the recovery, a partial one too: further losses in the
//! window need duplicates of their own or the timer. [`tahoe`](crate::recovery::tahoe) and
//! [`newreno`](crate::recovery::newreno) differ from it in a line each.

/// Most segments that limited transmit sends.
const LIMITED: u32 = 2;

/// What to do on a duplicate ACK, without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Nothing yet.
    Wait,
    /// Limited transmit: the first duplicates each let a new segment go (RFC 3042).
    Transmit,
    /// Retransmit the first unacknowledged segment and begin recovery.
    Retransmit,
    /// A segment has left the network: inflate the window by one.
    Inflate,
}

/// Duplicate ACKs, and whether a recovery is under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct DuplicateAcks {
    count: u16,
    active: bool,
    /// An ACK of a part came in this recovery.
    partial_seen: bool,
}

impl DuplicateAcks {
    /// A duplicate ACK arrived. `threshold` duplicates start a fast retransmit if it is `allowed`;
    /// those before it send new data if `limited` transmit is on.
    pub fn on_duplicate(&mut self, threshold: u32, allowed: bool, limited: bool) -> OnDuplicate {
        self.count = self.count.saturating_add(1);
        let count = u32::from(self.count);
        if count == threshold && allowed {
            self.active = true;
            OnDuplicate::Retransmit // step 2
        } else if count > threshold && self.active {
            OnDuplicate::Inflate // step 4
        } else if count <= LIMITED && count < threshold && limited {
            OnDuplicate::Transmit // step 1
        } else {
            OnDuplicate::Wait
        }
    }

    /// An ACK of new data arrived that ends what is under way: whether it was a recovery (step 6).
    pub fn end(&mut self) -> bool {
        std::mem::take(self).active
    }

    /// The fast retransmit begins no recovery: the duplicates that follow do nothing.
    pub fn suppress_recovery(&mut self) {
        self.active = false;
    }

    /// An ACK of a part of what a recovery is about: whether it is the first.
    pub fn on_partial(&mut self) -> bool {
        !std::mem::replace(&mut self.partial_seen, true)
    }

    /// Whether a recovery is under way.
    pub fn in_recovery(&self) -> bool {
        self.active
    }

    /// No more than so many count. Whether there were more.
    pub fn limit(&mut self, max: u32) -> bool {
        let more = self.count() > max;
        self.count = self.count.min(max.min(u32::from(u16::MAX)) as u16);
        more
    }

    /// So many segments are acknowledged: one was missing, the rest had each its duplicate (Linux, tcp_remove_reno_sacks). Those that no
    /// duplicate told of.
    pub fn acknowledged(&mut self, segments: u32) -> u32 {
        let unreported = segments.saturating_sub(self.count()).max(1);
        self.count = self.count.saturating_sub(segments.saturating_sub(1).min(u32::from(u16::MAX)) as u16);
        unreported
    }

    /// DuplicateAcks so far.
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

    /// Tahoe: one window's duplicates retransmit once.
    #[test]
    fn without_recovery_later_duplicates_do_nothing() {
        let mut r = DuplicateAcks::default();
        let seen: Vec<_> = (0..8)
            .map(|_| {
                let what = r.on_duplicate(3, true, false);
                r.suppress_recovery();
                what
            })
            .collect();
        assert_eq!(seen, [Wait, Wait, Retransmit, Wait, Wait, Wait, Wait, Wait]);
    }

    #[test]
    fn a_refused_retransmit_does_not_inflate() {
        let mut r = DuplicateAcks::default();
        let seen: Vec<_> = (0..5).map(|_| r.on_duplicate(3, false, false)).collect();
        assert_eq!(seen, [Wait; 5]);
        assert!(!r.end());
    }

    /// Three duplicates, then an ACK of four segments, of two, of one.
    #[test]
    fn what_was_told_is_not_delivered_again() {
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
