//! Reno's fast retransmit and fast recovery, RFC 5681 §3.2 (`rfc5681`). Every ACK of new data ends
//! the recovery, a partial one too: further losses in the window need duplicates of their own or the
//! timer.

use crate::recovery::OnDuplicate;

/// State of the recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recovery {
    duplicates: u32,
    active: bool,
}

impl Recovery {
    /// A duplicate ACK arrived. `threshold` duplicates start a fast retransmit if it is `allowed`.
    pub fn on_duplicate(&mut self, threshold: u32, allowed: bool) -> OnDuplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == threshold && allowed {
            self.active = true;
            OnDuplicate::Retransmit // step 2
        } else if self.duplicates > threshold && self.active {
            OnDuplicate::Inflate // step 4
        } else {
            OnDuplicate::Wait
        }
    }

    /// An ACK of new data arrived: whether it ended a recovery (step 6).
    pub fn on_new_ack(&mut self) -> bool {
        std::mem::take(self).active
    }

    /// The timer expired.
    pub fn on_timeout(&mut self) {
        *self = Recovery::default();
    }

    /// Whether a recovery is under way.
    pub fn is_active(&self) -> bool {
        self.active
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OnDuplicate::{Inflate, Retransmit, Wait};

    #[test]
    fn the_third_duplicate_retransmits_and_the_rest_inflate() {
        let mut r = Recovery::default();
        let seen: Vec<_> = (0..5).map(|_| r.on_duplicate(3, true)).collect();
        assert_eq!(seen, [Wait, Wait, Retransmit, Inflate, Inflate]);
        assert!(r.on_new_ack() && !r.on_new_ack());
        assert_eq!(r.on_duplicate(3, true), Wait);
    }

    #[test]
    fn a_refused_retransmit_does_not_inflate() {
        let mut r = Recovery::default();
        let seen: Vec<_> = (0..5).map(|_| r.on_duplicate(3, false)).collect();
        assert_eq!(seen, [Wait; 5]);
        assert!(!r.on_new_ack());
    }
}
