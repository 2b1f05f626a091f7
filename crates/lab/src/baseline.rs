//! Counts at the end of the warm-up, which the tables subtract.

use net::Count;
use queues::schedulers::ClassCounters;
use units::Duration;

use crate::totals::Counts;

/// Counts at the end of the warm-up, each list in the order of what it counts; empty lists in a run without.
#[derive(Debug, Default)]
pub struct Baseline {
    /// By link.
    pub links: Vec<LinkCounts>,
    /// By class of a scheduler, as the links tell of them.
    pub classes: Vec<ClassCounters>,
    /// By colour of a rule, as the conditioners tell of them.
    pub conditioners: Vec<Count>,
    /// By direction of the data, then by slot: flows that are one connection.
    pub single: [Vec<Counts>; 2],
    /// By direction of the data, then by account: flows with arrivals.
    pub flow_totals: [Vec<Counts>; 2],
    /// By source: connections that were opened.
    pub opened: Vec<u64>,
}

/// Counts of a link.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Packets that arrived at its queue.
    pub arrived: Count,
    /// Packets that were dropped.
    pub dropped: Count,
    /// Dropped packets by reason: full, early, threshold.
    pub dropped_why: [u64; 3],
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that left the queue.
    pub departed: Count,
    /// Packets that arrived at the far end.
    pub delivered: u64,
    /// Time that the transmitter was busy.
    pub busy: Duration,
}

impl LinkCounts {
    /// Counts since a baseline.
    pub fn since(&self, baseline: &LinkCounts) -> LinkCounts {
        LinkCounts {
            arrived: self.arrived - baseline.arrived,
            dropped: self.dropped - baseline.dropped,
            dropped_why: [0, 1, 2].map(|why| self.dropped_why[why] - baseline.dropped_why[why]),
            marked: self.marked - baseline.marked,
            departed: self.departed - baseline.departed,
            delivered: self.delivered - baseline.delivered,
            busy: Duration(self.busy.0 - baseline.busy.0),
        }
    }
}
