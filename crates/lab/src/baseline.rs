//! Counts at the end of the warm-up. A result table contains the counts at the end of the run minus
//! the counts at the end of the warm-up.

use net::Count;
use queues::schedulers::ClassCounters;
use units::Duration;

use crate::totals::Counts;

/// Counts at the end of the warm-up, or empty lists in a run without a warm-up.
#[derive(Debug, Default)]
pub struct Baseline {
    /// Counts of the links.
    pub links: Vec<LinkCounts>,
    /// Counters of the classes of schedulers, in the order in which the links report the classes.
    pub classes: Vec<ClassCounters>,
    /// Packets per colour of a conditioner rule, in the order in which the conditioners report the
    /// colours.
    pub conditioners: Vec<Count>,
    /// Counts of the flows with a single connection, for each direction of the data, in the order
    /// of these flows.
    pub single: [Vec<Counts>; 2],
    /// Totals of the flows that open connections during the run, for each direction of the data, in
    /// the order of `flow_totals`.
    pub flow_totals: [Vec<Counts>; 2],
    /// Number of connections that each flow had opened by the end of the warm-up.
    pub opened: Vec<u64>,
}

/// Counts of a link.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Packets that arrived at the queue.
    pub arrived: Count,
    /// Dropped packets.
    pub dropped: Count,
    /// Number of packets that the queue dropped for the reasons full, early and threshold, in this
    /// order.
    pub dropped_why: [u64; 3],
    /// Number of marked packets.
    pub marked: u64,
    /// Packets that left the queue.
    pub departed: Count,
    /// Number of packets that arrived at the far end of the link.
    pub delivered: u64,
    /// Time during which the link transmitted.
    pub busy: Duration,
}

impl LinkCounts {
    /// Return the counts of the link minus the counts in `baseline`.
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
