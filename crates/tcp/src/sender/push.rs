//! Segments with PSH: the segment that ends the last write (RFC 9293 §3.9.1), or the segments that
//! Linux chooses.

use std::collections::VecDeque;

use net::Seq;

use super::Sender;
use super::outgoing::Outgoing;

/// State of Linux's algorithm for PSH.
#[derive(Clone, Debug)]
pub(super) struct PushState {
    /// End sequence numbers of the writes whose data waits in the send buffer. The last write is
    /// excluded.
    ends: VecDeque<Seq>,
    /// End of the last segment with PSH (pushed_seq).
    last: Seq,
}

impl PushState {
    /// Create the state of a connection whose first byte of data is `first`.
    pub fn new(first: Seq) -> Self {
        PushState { ends: VecDeque::new(), last: first }
    }

    /// Set the PSH flag of a segment of new data, if Linux's algorithm requires the flag.
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
    /// Add `bytes` of data that the application writes.
    pub fn write(&mut self, bytes: u64) {
        if bytes != u64::MAX && self.tcb.unsent != u64::MAX {
            self.on_written(bytes);
        }
        self.tcb.unsent = self.tcb.unsent.saturating_add(bytes);
        self.tcb.on_write();
    }

    /// Record the end of a write of `bytes` bytes behind the waiting data.
    fn on_written(&mut self, bytes: u64) {
        let tracking = self.kind.tracking_mut();
        let tcb = &mut self.tcb;
        let before = tcb.data_end() + tcb.unsent as u32;
        if let Some(tracking) = tracking
            && let Some(pushes) = &mut tracking.push_state
        {
            // The next write fills up a segment that is not full, unless a record ends with that
            // segment.
            let full = tcb.unsent.is_multiple_of(u64::from(tcb.smss));
            let whole = full || tracking.records.back() == Some(&before);
            if whole && tcb.unsent > 0 && tcb.write_end == before {
                pushes.ends.push_back(before);
            }
            if tcb.expects_more() {
                tcb.write_end = if whole { tcb.write_end } else { tcb.una };
                return;
            }
        }
        tcb.write_end = tcb.data_end() + tcb.unsent.saturating_add(bytes) as u32;
    }
}
