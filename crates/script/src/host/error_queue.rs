//! The error queue of a socket: its reports to the application about sent data (ip(7), IP_RECVERR).

use std::collections::VecDeque;

use units::Time;

/// Event of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteEvent {
    /// The byte left the host (SCM_TSTAMP_SND).
    Sent = 0,
    /// The byte arrived at the queue discipline (SCM_TSTAMP_SCHED).
    Scheduled = 1,
    /// The byte was acknowledged (SCM_TSTAMP_ACK).
    Acknowledged = 2,
}

/// Report about the time of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Time of the event.
    pub at: Time,
    /// The event.
    pub event: ByteEvent,
    /// Number of the byte that the event concerns, or 0 if the application did not request numbers.
    pub id: u32,
    /// True if the packet comes with the report.
    pub packet: bool,
}

/// An entry of the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The time of a byte.
    Stamp(Stamp),
    /// Completion of calls with MSG_ZEROCOPY: the numbers of the first and the last call.
    Done(u32, u32),
}

/// An error queue.
#[derive(Clone, Debug, Default)]
pub struct ErrorQueue {
    entries: VecDeque<Entry>,
    /// Number of reports.
    pub reports: u64,
}

impl ErrorQueue {
    /// Append an entry. A completion joins the last entry if the calls of both are consecutive
    /// (Linux, skb_zerocopy_notify_extend).
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

    /// Remove and return the first entry.
    pub fn pop(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    /// Return whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
