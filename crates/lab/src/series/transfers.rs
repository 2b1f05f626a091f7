//! Every connection of flows with arrivals.

use std::sync::Arc;

use units::Time;

use crate::columns;
use crate::memory::List;
use crate::record::{Column, Table, seconds};
use crate::sum::Sum;

/// A connection of a flow with arrivals.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    flow: u32,
    start: Time,
    completed: Time,
    acked: u64,
    segments: u32,
    retransmitted: u32,
    timeouts: u32,
    dropped: u32,
    marked: u32,
}

/// Connections in the order in which they were over, then those that were not.
#[derive(Debug, Default)]
pub struct Transfers {
    list: List<Transfer>,
}

impl Transfers {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether one was left away.
    pub fn is_full(&self) -> bool {
        self.list.is_full()
    }

    /// Adds one.
    pub fn push(&mut self, flow: u32, sum: &Sum) {
        let counts = &sum.counts;
        let [_, completed, _] = sum.milestones;
        self.list.push(Transfer {
            flow,
            start: sum.start,
            completed,
            acked: counts.acked_bytes,
            segments: counts.segments_sent as u32,
            retransmitted: counts.retransmitted_segments as u32,
            timeouts: counts.timeouts as u32,
            dropped: counts.dropped_packets as u32,
            marked: counts.marked_packets as u32,
        });
    }

    /// As a table.
    pub fn table(&self, flows: &Arc<Vec<String>>) -> Table {
        let list = &self.list;
        let float = |get: &dyn Fn(&Transfer) -> f64| Column::Float(list.iter().map(get).collect());
        let count =
            |get: &dyn Fn(&Transfer) -> u32| Column::Count(list.iter().map(|t| u64::from(get(t))).collect());
        let duration = |t: &Transfer| match t.completed {
            Time::NEVER => f64::NAN,
            completed => completed.since(t.start).seconds(),
        };
        columns::Transfers {
            flow: Column::Name(list.iter().map(|t| t.flow).collect(), flows.clone()),
            start_s: float(&|t| t.start.seconds()),
            completed_s: float(&|t| seconds(t.completed)),
            duration_s: float(&duration),
            acked_bytes: Column::Count(list.iter().map(|t| t.acked).collect()),
            segments_sent: count(&|t| t.segments),
            retransmitted_segments: count(&|t| t.retransmitted),
            timeouts: count(&|t| t.timeouts),
            dropped_packets: count(&|t| t.dropped),
            marked_packets: count(&|t| t.marked),
        }
        .table()
    }
}
