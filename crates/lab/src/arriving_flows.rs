//! Flows whose connections come and go: what each keeps while its connections pass through the slots.

use std::sync::Arc;

use tcp::{Endpoint, Tcp};
use traffic::opener::Progress;
use units::Duration;

use crate::histogram::Histogram;
use crate::totals::ConnectionTotals;

/// A flow with arrivals.
#[derive(Debug)]
pub struct ArrivingFlow {
    /// The flow.
    pub flow: u32,
    /// Where the routes of its connections begin, there and back.
    pub first_hop: [u32; 2],
    /// The DSCP of what its connections send.
    pub dscp: u8,
    /// Parameters and clock of the sending and of the receiving host.
    pub hosts: [(Arc<Tcp>, Duration); 2],
    /// How far the opening of its connections is, and whether there are no more.
    pub progress: Progress,
    pub finished: bool,
    /// Which of the accounts has its connections that are over.
    pub totals: usize,
    /// Of those whose data was acknowledged, the times from opening to then.
    pub durations: Histogram,
    /// The data of these.
    pub completed_bytes: u64,
}

/// The connections that are over: of one flow, or of all flows of a table where this has one row. So those of many flows are added up
/// in one place.
#[derive(Debug)]
pub struct FlowTotals {
    /// The flow, or the first of them.
    pub flow: u32,
    /// Their sum.
    pub forward: ConnectionTotals,
    /// The same of the data that comes back, if any does.
    pub reverse: Option<ConnectionTotals>,
}

impl ArrivingFlow {
    /// The endpoints of a new connection.
    pub fn endpoints(&self) -> [Endpoint; 2] {
        [0, 1].map(|side| {
            let (tcp, clock) = &self.hosts[side];
            Endpoint::new(tcp.clone(), *clock)
        })
    }

    /// Counts the time that a connection took, the last time that it is seen.
    pub fn count(&mut self, connection: &ConnectionTotals) {
        if connection.milestones[1] != units::Time::NEVER {
            self.durations.add(connection.milestones[1].since(connection.start));
            self.completed_bytes += connection.counts.acked_bytes;
        }
    }
}
