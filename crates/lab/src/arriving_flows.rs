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
    /// First hop of the forward route and of the reverse route of the flow's connections.
    pub first_hop: [u32; 2],
    /// DSCP of the packets of the flow's connections.
    pub dscp: u8,
    /// TCP parameters and clock offset of the sending and of the receiving host.
    pub hosts: [(Arc<Tcp>, Duration); 2],
    /// State of the opener, which opens the flow's connections.
    pub progress: Progress,
    /// True after the opener opened its last connection.
    pub finished: bool,
    /// Index of the totals that contain the flow's closed connections.
    pub totals: usize,
    /// Times from the opening of a connection to the last acknowledgement of its data, over the
    /// connections that completed.
    pub durations: Histogram,
    /// Acknowledged bytes of the connections that completed.
    pub completed_bytes: u64,
}

/// Totals of closed connections, of one flow or of all flows of a table. With `record.flows =
/// "table"` the flows of a table share one total, so that a million flows need little memory.
#[derive(Debug)]
pub struct FlowTotals {
    /// Index of the flow, or of the first flow whose connections these totals contain.
    pub flow: u32,
    /// Totals of the connections for the data in the forward direction.
    pub forward: ConnectionTotals,
    /// Totals of the connections for the data in the reverse direction; `None` if the flow has only
    /// forward data.
    pub reverse: Option<ConnectionTotals>,
}

impl ArrivingFlow {
    /// Return the two endpoints of a new connection.
    pub fn endpoints(&self) -> [Endpoint; 2] {
        [0, 1].map(|side| {
            let (tcp, clock) = &self.hosts[side];
            Endpoint::new(tcp.clone(), *clock)
        })
    }

    /// Add the duration and the bytes of a connection that closed, if all its data was
    /// acknowledged.
    pub fn count(&mut self, connection: &ConnectionTotals) {
        if connection.milestones[1] != units::Time::NEVER {
            self.durations.add(connection.milestones[1].since(connection.start));
            self.completed_bytes += connection.counts.acked_bytes;
        }
    }
}
