//! What a connection counted, and sums over connections: the rows of the table of flows.

use tcp::Endpoint;
use units::Time;

use crate::slot::Slot;

/// Counts of a [`Sum`] by the name of their column.
pub const COUNTS: [&str; 19] = [
    "acked_bytes",
    "packets_sent",
    "segments_sent",
    "bytes_sent",
    "retransmitted_segments",
    "retransmitted_bytes",
    "timeouts",
    "fast_retransmits",
    "ecn_reductions",
    "delivered_ce",
    "received_segments",
    "received_bytes",
    "duplicate_segments",
    "duplicate_bytes",
    "acks_sent",
    "dropped_packets",
    "marked_packets",
    "dropped_acks",
    "ecn",
];

/// One connection, or several together: the first start, the last of each milestone ([`Time::NEVER`]
/// if one has not reached it), and counts added up.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// How many connections.
    pub connections: u64,
    /// When the first was opened.
    pub start: Time,
    /// When the last was established, had its data acknowledged, was closed.
    pub milestones: [Time; 3],
    /// In the order of [`COUNTS`].
    pub counts: [u64; COUNTS.len()],
}

impl Default for Sum {
    fn default() -> Self {
        Sum { connections: 0, start: Time::NEVER, milestones: [Time::ZERO; 3], counts: [0; COUNTS.len()] }
    }
}

impl Sum {
    /// That of one connection.
    pub fn of(slot: &Slot, sender: &Endpoint, receiver: &Endpoint) -> Self {
        let (established, completed, closed) = sender.milestones();
        let (sent, got) = (sender.sender_stats(), receiver.receiver_stats());
        let counts = [
            sender.acked(),
            sender.sent().1,
            sent.segments,
            sent.bytes,
            sent.retransmitted_segments,
            sent.retransmitted_bytes,
            u64::from(sent.timeouts),
            u64::from(sent.fast_retransmits),
            u64::from(sent.ecn_cuts),
            u64::from(sent.delivered_ce),
            got.segments,
            got.bytes,
            got.duplicate_segments,
            got.duplicate_bytes,
            receiver.sent().0,
            u64::from(slot.ledger.dropped[0]),
            u64::from(slot.ledger.marked),
            u64::from(slot.ledger.dropped[1]),
            u64::from(sender.uses_ecn()),
        ];
        Sum { connections: 1, start: slot.start, milestones: [established, completed, closed], counts }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Sum) {
        self.connections += other.connections;
        self.start = self.start.min(other.start);
        for (mine, its) in self.milestones.iter_mut().zip(other.milestones) {
            *mine = (*mine).max(its);
        }
        for (mine, its) in self.counts.iter_mut().zip(other.counts) {
            *mine += its;
        }
    }

    /// A count by its name in [`COUNTS`]; 0 if there is none.
    pub fn count(&self, name: &str) -> u64 {
        COUNTS.iter().position(|n| *n == name).map_or(0, |i| self.counts[i])
    }

    /// When the last connection reached a milestone, if all have.
    pub fn reached(&self, milestone: usize) -> Time {
        if self.connections == 0 { Time::NEVER } else { self.milestones[milestone] }
    }

    /// Acknowledged bits over the time from the start to completion, or to the end of the run.
    pub fn goodput_bps(&self, end: Time) -> f64 {
        let until = self.reached(1);
        let until = if until == Time::NEVER { end } else { until };
        let elapsed = until.seconds() - self.start.seconds();
        if elapsed > 0.0 { self.counts[0] as f64 * 8.0 / elapsed } else { 0.0 }
    }
}
