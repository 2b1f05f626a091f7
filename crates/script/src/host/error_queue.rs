//! The error queue of a socket, which reports timestamps of sent data and completed zero-copy calls
//! to the application (ip(7), IP_RECVERR).

use std::collections::VecDeque;

use units::Time;

/// Event of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteEvent {
    /// The byte was sent by the host (SCM_TSTAMP_SND).
    Sent = 0,
    /// The byte arrived at the queue discipline (SCM_TSTAMP_SCHED).
    Scheduled = 1,
    /// The byte was acknowledged (SCM_TSTAMP_ACK).
    Acknowledged = 2,
}

/// Report of the time at which an event happened to a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Time of the event.
    pub at: Time,
    /// The event.
    pub event: ByteEvent,
    /// Number of the byte that the event concerns, or 0 if the application did not request numbers
    /// of bytes.
    pub id: u32,
    /// True if the report includes a copy of the packet.
    pub packet: bool,
}

/// An entry of a socket's error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Timestamp of a byte.
    Stamp(Stamp),
    /// Completion of calls with MSG_ZEROCOPY, from the number of the first call to the number of
    /// the last call.
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
    /// Append an entry. If the new entry and the last entry report completions of consecutive
    /// calls, they become one entry (Linux, skb_zerocopy_notify_extend).
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

    /// Remove and return the first entry of the error queue.
    pub fn pop(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    /// Return true if the error queue is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
