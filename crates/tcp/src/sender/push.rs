//! Where PSH goes: the end of the last write (RFC 9293 §3.9.1), or as Linux sets it.

use std::collections::VecDeque;

use net::Seq;

use super::Sender;
use super::outgoing::Outgoing;

/// What Linux remembers.
#[derive(Clone, Debug)]
pub(super) struct PushState {
    /// Ends of writes before the last that wait.
    ends: VecDeque<Seq>,
    /// Where PSH was last (pushed_seq).
    last: Seq,
}

impl PushState {
    /// Before the first segment.
    pub fn new(first: Seq) -> Self {
        PushState { ends: VecDeque::new(), last: first }
    }

    /// New data is about to go out: whether it has PSH.
    pub fn on_sent(&mut self, outgoing: &mut Outgoing, max_window: u32) {
        let end = outgoing.seq + outgoing.len;
        outgoing.push |= end.after(self.last + max_window / 2);
        while self.ends.front().is_some_and(|e| !e.after(end)) {
            self.ends.pop_front();
            outgoing.push = true;
        }
        if outgoing.push {
            self.last = end;
        }
    }
}

impl Sender {
    /// The application writes.
    pub fn write(&mut self, bytes: u64) {
        if bytes != u64::MAX && self.tcb.unsent != u64::MAX {
            self.on_written(bytes);
        }
        self.tcb.unsent = self.tcb.unsent.saturating_add(bytes);
        self.tcb.on_write();
    }

    /// A write of so many bytes goes behind what waits.
    fn on_written(&mut self, bytes: u64) {
        let tracking = self.kind.tracking_mut();
        let tcb = &mut self.tcb;
        let before = tcb.data_end() + tcb.unsent as u32;
        if let Some(tracking) = tracking
            && let Some(pushes) = &mut tracking.push_state
        {
            // A segment that is not full takes what is written next, unless a record ends with it.
            let full = tcb.unsent.is_multiple_of(u64::from(tcb.smss));
            let whole = full || tracking.records.back() == Some(&before);
            if whole && tcb.unsent > 0 && tcb.push == before {
                pushes.ends.push_back(before);
            }
            if tcb.expects_more() {
                tcb.push = if whole { tcb.push } else { tcb.una };
                return;
            }
        }
        tcb.push = tcb.data_end() + tcb.unsent.saturating_add(bytes) as u32;
    }
}
