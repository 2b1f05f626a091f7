//! What a connection counted, and sums over connections: the rows of the table of flows.

use net::Direction;
use tcp::Endpoint;
use units::Time;

use crate::slot::Slot;

/// Defines the counts of a connection, each named as its column.
macro_rules! counts {
    ($($name:ident,)+) => {
        /// The counts of connections, or what stands for each.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Counts<T = u64> {
            $(pub $name: T,)+
        }

        impl<T> Counts<T> {
            /// Makes each.
            pub fn each(make: impl Fn() -> T) -> Self {
                Counts { $($name: make(),)+ }
            }

            /// Does something with each and its counterpart.
            pub fn zip<U>(&mut self, others: &Counts<U>, act: impl Fn(&mut T, &U)) {
                $(act(&mut self.$name, &others.$name);)+
            }
        }
    };
}

counts! {
    acked_bytes,
    packets_sent,
    segments_sent,
    bytes_sent,
    retransmitted_segments,
    retransmitted_bytes,
    timeouts,
    fast_retransmits,
    ecn_reductions,
    delivered_ce,
    received_segments,
    received_bytes,
    duplicate_segments,
    duplicate_bytes,
    acks_sent,
    dropped_packets,
    marked_packets,
    dropped_acks,
    ecn,
}

/// One connection, or several together: the first start, the last of each milestone ([`Time::NEVER`]
/// if one has not reached it), and counts added up.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTotals {
    /// How many connections.
    pub connections: u64,
    /// When the first was opened.
    pub start: Time,
    /// When the last was established, had its data acknowledged, was closed.
    pub milestones: [Time; 3],
    /// Counts.
    pub counts: Counts,
}

impl Default for ConnectionTotals {
    fn default() -> Self {
        ConnectionTotals {
            connections: 0,
            start: Time::NEVER,
            milestones: [Time::ZERO; 3],
            counts: Counts::default(),
        }
    }
}

impl ConnectionTotals {
    /// That of the data that goes one way in a connection.
    pub fn of(slot: &Slot, direction: Direction, [sender, receiver]: [&Endpoint; 2]) -> Self {
        let (there, back) = (direction.index(), direction.opposite().index());
        let (established, completed, closed) = sender.milestones();
        let (sent, got) = (sender.sender_stats(), receiver.receiver_stats());
        let counts = Counts {
            acked_bytes: sender.acked(),
            packets_sent: sender.sent().1,
            segments_sent: sent.segments,
            bytes_sent: sent.bytes,
            retransmitted_segments: sent.retransmitted_segments,
            retransmitted_bytes: sent.retransmitted_bytes,
            timeouts: u64::from(sent.timeouts),
            fast_retransmits: u64::from(sent.fast_retransmits),
            ecn_reductions: u64::from(sent.ecn_cuts),
            delivered_ce: u64::from(sent.delivered_ce),
            received_segments: got.segments,
            received_bytes: got.bytes,
            duplicate_segments: got.duplicate_segments,
            duplicate_bytes: got.duplicate_bytes,
            acks_sent: receiver.sent().0,
            dropped_packets: u64::from(slot.counters.dropped[there]),
            marked_packets: u64::from(slot.counters.marked[there]),
            dropped_acks: u64::from(slot.counters.dropped[back]),
            ecn: u64::from(sender.uses_ecn()),
        };
        ConnectionTotals {
            connections: 1,
            start: slot.start,
            milestones: [established, completed, closed],
            counts,
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &ConnectionTotals) {
        self.connections += other.connections;
        self.start = self.start.min(other.start);
        for (mine, its) in self.milestones.iter_mut().zip(other.milestones) {
            *mine = (*mine).max(its);
        }
        self.counts.zip(&other.counts, |mine, its| *mine += its);
    }

    /// The same with the counts since a baseline. Whether ECN was negotiated is a state, so it stays.
    pub fn since(&self, baseline: Option<&Counts>) -> ConnectionTotals {
        let mut totals = *self;
        if let Some(baseline) = baseline {
            totals.counts.zip(baseline, |mine, before| *mine -= before);
            totals.counts.ecn = self.counts.ecn;
        }
        totals
    }

    /// When the last connection reached a milestone, if all have.
    pub fn reached(&self, milestone: usize) -> Time {
        if self.connections == 0 { Time::NEVER } else { self.milestones[milestone] }
    }

    /// Acknowledged bits over the time from the start to completion, as far as it is counted: between two times.
    pub fn goodput_bps(&self, [begins, end]: [Time; 2]) -> f64 {
        let until = self.reached(1);
        let until = if until == Time::NEVER { end } else { until };
        let elapsed = until.seconds() - self.start.max(begins).seconds();
        if elapsed > 0.0 { self.counts.acked_bytes as f64 * 8.0 / elapsed } else { 0.0 }
    }
}
