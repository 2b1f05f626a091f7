//! Flows that open connections during the run, and the totals of their closed connections.

use std::sync::Arc;

use tcp::{Endpoint, Tcp};
use traffic::opener::Progress;
use units::Duration;

use crate::histogram::Histogram;
use crate::totals::ConnectionTotals;

/// Flow that opens connections during the run.
#[derive(Debug)]
pub struct ArrivingFlow {
    /// Index of the flow.
    pub flow: u32,
    /// First hops of the forward route and of the reverse route for the connections of the flow.
    pub first_hop: [u32; 2],
    /// DSCP of the packets on the connections of the flow.
    pub dscp: u8,
    /// TCP parameters and clock offset of the sending host, then of the receiving host.
    pub hosts: [(Arc<Tcp>, Duration); 2],
    /// True if the connections record the changes of cwnd and ssthresh.
    pub records_changes: bool,
    /// State of the opener, the component that opens the connections of the flow.
    pub progress: Progress,
    /// True after the opener opened its last connection.
    pub finished: bool,
    /// Index of the totals to which the closed connections of the flow are added.
    pub totals: usize,
    /// Durations of the completed connections, from the opening to the last acknowledgement of
    /// data.
    pub durations: Histogram,
    /// Acknowledged bytes of the completed connections.
    pub completed_bytes: u64,
}

/// Totals over the closed connections of one flow, or of all flows of a `[[flows]]` table. With
/// `record.flows = "table"` all flows of a `[[flows]]` table share one total, so that a million
/// flows need little memory.
#[derive(Debug)]
pub struct FlowTotals {
    /// Index of the flow whose connections are totalled. If all flows of a `[[flows]]` table share
    /// the totals, this is the index of the first flow of the table.
    pub flow: u32,
    /// Totals of the counts for data in the forward direction.
    pub forward: ConnectionTotals,
    /// Totals of the counts for data in the reverse direction, or `None` if the flow has only
    /// forward data.
    pub reverse: Option<ConnectionTotals>,
}

impl ArrivingFlow {
    /// Return the two endpoints of a new connection.
    pub fn endpoints(&self) -> [Endpoint; 2] {
        [0, 1].map(|side| {
            let (tcp, clock) = &self.hosts[side];
            let mut endpoint = Endpoint::new(tcp.clone(), *clock);
            if self.records_changes {
                endpoint.record_cwnd_changes();
            }
            endpoint
        })
    }

    /// Add the duration and the acknowledged bytes of a closed connection, if all its data was
    /// acknowledged.
    pub fn count(&mut self, connection: &ConnectionTotals) {
        if connection.milestones[1] != units::Time::NEVER {
            self.durations.add(connection.milestones[1].since(connection.start));
            self.completed_bytes += connection.counts.acked_bytes;
        }
    }
}
