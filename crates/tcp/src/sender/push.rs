//! Where PSH goes: the end of the last write (RFC 9293 §3.9.1), or as Linux sets it.

use std::collections::VecDeque;

use net::Seq;
use units::words;

use super::{Outgoing, Sender, Tracking};

words! {
    /// Which segments of new data have PSH.
    pub enum Push {
        /// That in which the last write ends: a write that waits is one with the next (RFC 9293 §3.9.1).
        LastWrite = "last-write",
        /// Those in which a write ends, unless more is announced (MSG_MORE) or the next write fills the segment up; and the first by which half of the
        /// largest window that was ever offered has gone since the last PSH (Linux without segmentation offload, tcp_push, forced_push).
        Linux = "linux",
    }
}

/// What Linux remembers.
#[derive(Clone, Debug)]
pub(super) struct Pushes {
    /// Ends of writes before the last that wait.
    ends: VecDeque<Seq>,
    /// Where PSH was last (pushed_seq).
    last: Seq,
}

impl Pushes {
    /// Before the first segment.
    pub fn new(first: Seq) -> Self {
        Pushes { ends: VecDeque::new(), last: first }
    }

    /// New data goes out up to `end`; `pushed`: with PSH already. Whether it has PSH.
    fn on_sent(&mut self, end: Seq, pushed: bool, most_window: u32) -> bool {
        let mut push = pushed || end.after(self.last + most_window / 2);
        while self.ends.front().is_some_and(|e| !e.after(end)) {
            self.ends.pop_front();
            push = true;
        }
        if push {
            self.last = end;
        }
        push
    }
}

impl Tracking {
    /// A segment is about to go out.
    pub(super) fn push_as_linux(&mut self, outgoing: &mut Outgoing, most_window: u32) {
        let Some(pushes) = self.pushes.as_mut().filter(|_| outgoing.is_new && outgoing.len > 0) else {
            return;
        };
        outgoing.push = pushes.on_sent(outgoing.seq + outgoing.len, outgoing.push, most_window);
        if let Some(board) = self.board.as_mut().filter(|_| outgoing.push) {
            board.on_pushed();
        }
    }
}

impl Sender {
    /// A write of so many bytes goes behind what waits.
    pub(super) fn on_written(&mut self, bytes: u64) {
        let before = self.data_end() + self.unsent as u32;
        let announced = self.announces_more();
        if let Some(tracking) = &mut self.tracking
            && let Some(pushes) = &mut tracking.pushes
        {
            // A segment that is not full takes what is written next, unless a record ends with it.
            let full = self.unsent.is_multiple_of(u64::from(self.smss));
            let whole = full || tracking.records.back() == Some(&before);
            if whole && self.unsent > 0 && self.push == before {
                pushes.ends.push_back(before);
            }
            if announced {
                self.push = if whole { self.push } else { self.una };
                return;
            }
        }
        self.push = self.data_end() + self.unsent.saturating_add(bytes) as u32;
    }
}
