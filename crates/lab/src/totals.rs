//! Counts of one connection, and totals over connections. Each set of totals becomes one row of the
//! table `flows`.

use net::Direction;
use tcp::Endpoint;
use units::Time;

use crate::slot::Slot;

/// Define the struct of the counts of a connection. The name of each count is also the name of its
/// column in the table `flows`.
macro_rules! counts {
    ($($name:ident,)+) => {
        /// Counters of one connection, or sums over connections. With another type `T`, the struct
        /// stores one value of this type per count, for example a column of a result table.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Counts<T = u64> {
            $(pub $name: T,)+
        }

        impl<T> Counts<T> {
            /// Return a set of counts. Each value is the result of a call of `make`.
            pub fn each(make: impl Fn() -> T) -> Self {
                Counts { $($name: make(),)+ }
            }

            /// Call `act` with each value of this set and the value of the same count in `others`.
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

/// Counts of one connection, or totals over several connections. For several connections, `start`
/// is the earliest start of a connection. For several connections, each milestone is the time at
/// which the last connection reached the milestone, or [`Time::NEVER`] if a connection did not
/// reach the milestone. For several connections, each count is the sum over the connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTotals {
    /// Number of connections.
    pub connections: u64,
    /// Time at which the first connection was opened.
    pub start: Time,
    /// Times at which the last connection reached three milestones: the connection was established,
    /// its data was acknowledged, and it was closed.
    pub milestones: [Time; 3],
    /// Counts, each summed over the connections.
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
    /// Return the counts of the connection in a connection slot, for the data of one direction.
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
            ecn_reductions: u64::from(sent.ecn_reductions),
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

    /// Add other totals.
    pub fn add(&mut self, other: &ConnectionTotals) {
        self.connections += other.connections;
        self.start = self.start.min(other.start);
        for (own, others) in self.milestones.iter_mut().zip(other.milestones) {
            *own = (*own).max(others);
        }
        self.counts.zip(&other.counts, |own, others| *own += others);
    }

    /// Return these totals minus the counts of a baseline. The count `ecn` remains unchanged,
    /// because it is a state instead of a count.
    pub fn since(&self, baseline: Option<&Counts>) -> ConnectionTotals {
        let mut totals = *self;
        if let Some(baseline) = baseline {
            totals.counts.zip(baseline, |own, before| *own -= before);
            totals.counts.ecn = self.counts.ecn;
        }
        totals
    }

    /// Return the time at which the last connection reached a milestone, or [`Time::NEVER`] if a
    /// connection did not reach the milestone.
    pub fn reached(&self, milestone: usize) -> Time {
        if self.connections == 0 { Time::NEVER } else { self.milestones[milestone] }
    }

    /// Return the goodput in bits per second: the acknowledged data, divided by the time from the
    /// start of the connections to their completion. The elapsed time excludes the time before
    /// `begins` and after `end`.
    pub fn goodput_bps(&self, [begins, end]: [Time; 2]) -> f64 {
        let until = self.reached(1);
        let until = if until == Time::NEVER { end } else { until };
        let elapsed = until.seconds() - self.start.max(begins).seconds();
        if elapsed > 0.0 { self.counts.acked_bytes as f64 * 8.0 / elapsed } else { 0.0 }
    }
}
