//! The error queue of a socket: what it tells the application about data that was sent (ip(7), IP_RECVERR).

use std::collections::VecDeque;

use units::Time;

/// What happened to a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It left (SCM_TSTAMP_SND).
    Sent = 0,
    /// It came to the queue discipline (SCM_TSTAMP_SCHED).
    Scheduled = 1,
    /// It was acknowledged (SCM_TSTAMP_ACK).
    Acknowledged = 2,
}

/// The time of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// When.
    pub at: Time,
    /// What.
    pub happened: Happened,
    /// The byte, counted as the application asked; 0 if it did not.
    pub id: u32,
    /// Whether the packet comes with it.
    pub packet: bool,
}

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The time of a byte.
    Stamp(Stamp),
    /// The kernel is done with the buffers of these calls with MSG_ZEROCOPY, the first and the last.
    Done(u32, u32),
}

/// An error queue.
#[derive(Clone, Debug, Default)]
pub struct ErrorQueue {
    entries: VecDeque<Entry>,
    /// Times that something was reported.
    pub reports: u64,
}

impl ErrorQueue {
    /// Append an entry. One about buffers joins one before it that ends where it begins (Linux,
    /// skb_zerocopy_notify_extend).
    pub fn push(&mut self, entry: Entry) {
        self.reports += 1;
        if let (Some(Entry::Done(_, end)), Entry::Done(first, last)) = (self.entries.back_mut(), entry)
            && end.wrapping_add(1) == first
        {
            *end = last;
            return;
        }
        self.entries.push_back(entry);
    }

    /// Take the first entry.
    pub fn pop(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    /// Return whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
