//! Series with a row per connection of a flow with `arrivals`.

use units::Time;

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table, seconds};
use crate::totals::ConnectionTotals;

columns::tables! {
    /// Every connection of the flows with `arrivals`.
    Columns "transfers" {
        flow in "": "Flow of the connection.";
        start_s in "s": "Time at which the connection was opened.";
        completed_s in "s": "Time at which the sender received the ACK of its last byte of data. The column is empty if the transfer was not completed.";
        duration_s in "s": "Time from `start_s` to `completed_s`.";
        acked_bytes in "bytes": "Acknowledged data. If the transfer was completed, `acked_bytes` is the size of the transfer.";
        segments_sent in "segments": "Segments with data that the sender sent, including retransmissions.";
        retransmitted_segments in "segments": "Retransmitted segments of the sender, which `segments_sent` includes.";
        timeouts in "times": "Retransmission timeouts of the sender.";
        dropped_packets in "packets": "Packets from the sender that were dropped on any link.";
        marked_packets in "packets": "Packets from the sender that were marked on any link.";
    }
}

/// Connection of a flow with `arrivals`, as a row of the series.
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

/// Connections: first the closed connections in the order of their end, then the open connections.
#[derive(Debug)]
pub struct Transfers {
    list: List<Transfer>,
    begins: Time,
}

impl Recorder for Transfers {
    type Table = Columns;
    const NEEDS: Needs = Needs::NOTHING;

    fn begin(start: &RunStart) -> Self {
        Transfers { list: List::default(), begins: start.begins }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::from(&self.list)
    }

    fn on_connection_end(&mut self, [flow, _]: [u32; 2], totals: &ConnectionTotals) {
        if totals.start < self.begins {
            return;
        }
        let counts = &totals.counts;
        let [_, completed, _] = totals.milestones;
        self.list.push(Transfer {
            flow,
            start: totals.start,
            completed,
            acked: counts.acked_bytes,
            segments: counts.segments_sent as u32,
            retransmitted: counts.retransmitted_segments as u32,
            timeouts: counts.timeouts as u32,
            dropped: counts.dropped_packets as u32,
            marked: counts.marked_packets as u32,
        });
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let list = &self.list;
        let float = |get: &dyn Fn(&Transfer) -> f64| Column::Float(list.iter().map(get).collect());
        let count =
            |get: &dyn Fn(&Transfer) -> u32| Column::Count(list.iter().map(|t| u64::from(get(t))).collect());
        let duration = |t: &Transfer| match t.completed {
            Time::NEVER => f64::NAN,
            completed => completed.since(t.start).seconds(),
        };
        let columns = Columns {
            flow: Column::Name(list.iter().map(|t| t.flow).collect(), names.flows().clone()),
            start_s: float(&|t| t.start.seconds()),
            completed_s: float(&|t| seconds(t.completed)),
            duration_s: float(&duration),
            acked_bytes: Column::Count(list.iter().map(|t| t.acked).collect()),
            segments_sent: count(&|t| t.segments),
            retransmitted_segments: count(&|t| t.retransmitted),
            timeouts: count(&|t| t.timeouts),
            dropped_packets: count(&|t| t.dropped),
            marked_packets: count(&|t| t.marked),
        };
        vec![columns.table()]
    }
}
