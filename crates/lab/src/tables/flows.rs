//! Table of the TCP flows, with one row per flow or one row per `[[flows]]` table of the scenario.

use std::sync::Arc;

use net::Direction;
use units::Time;

use crate::baseline::Baseline;
use crate::columns;
use crate::record::{Column, names_of, seconds};
use crate::run::Simulation;
use crate::totals::{ConnectionTotals, Counts};

/// Column of counts that is under construction. Nearly all counts fit into 32 bits. A count that
/// needs more than 32 bits is stored separately, with the index of its row. The column must use
/// little memory, because the endpoints of all connections are still in memory while the column is
/// built.
struct CompactCounts {
    /// Counts of all rows. The entry of a row is 0 if the count of the row needs more than 32 bits.
    small: Vec<u32>,
    /// Row and value of each count that needs more than 32 bits.
    large: Vec<(usize, u64)>,
}

impl CompactCounts {
    /// Return an empty column with capacity for `rows` counts.
    fn new(rows: usize) -> Self {
        CompactCounts { small: Vec::with_capacity(rows), large: Vec::new() }
    }

    /// Append a count.
    fn push(&mut self, count: u64) {
        let small = u32::try_from(count).unwrap_or_else(|_| {
            self.large.push((self.small.len(), count));
            0
        });
        self.small.push(small);
    }

    /// Return the finished column.
    fn column(self) -> Column {
        let mut counts: Vec<u64> = self.small.into_iter().map(u64::from).collect();
        self.large.into_iter().for_each(|(row, count)| counts[row] = count);
        Column::Count(counts)
    }
}

/// Table of flows that is under construction. The table has no names of flows and hosts yet.
pub(super) struct FlowTable {
    start: Vec<f64>,
    established: Vec<f64>,
    completed: Vec<f64>,
    closed: Vec<f64>,
    goodput: Vec<f64>,
    counts: Counts<CompactCounts>,
}

impl FlowTable {
    /// Return an empty table with capacity for a number of rows.
    fn new(rows: usize) -> Self {
        let times = || Vec::with_capacity(rows);
        FlowTable {
            start: times(),
            established: times(),
            completed: times(),
            closed: times(),
            goodput: times(),
            counts: Counts::each(|| CompactCounts::new(rows)),
        }
    }

    /// Add a row with the totals of one or several connections, which were counted between two
    /// times.
    fn push(&mut self, totals: &ConnectionTotals, counted: [Time; 2]) {
        self.start.push(seconds(totals.start));
        self.established.push(seconds(totals.reached(0)));
        self.completed.push(seconds(totals.reached(1)));
        self.closed.push(seconds(totals.reached(2)));
        self.goodput.push(totals.goodput_bps(counted));
        self.counts.zip(&totals.counts, |column, &count| column.push(count));
    }

    /// Return the columns of the finished table, including the given columns of flow names and of
    /// host names.
    pub(super) fn columns(self, [flow, from, to]: [Column; 3]) -> columns::Flows {
        let counts = self.counts;
        columns::Flows {
            flow,
            from,
            to,
            start_s: Column::Float(self.start),
            established_s: Column::Float(self.established),
            completed_s: Column::Float(self.completed),
            closed_s: Column::Float(self.closed),
            acked_bytes: counts.acked_bytes.column(),
            goodput_bps: Column::Float(self.goodput),
            packets_sent: counts.packets_sent.column(),
            segments_sent: counts.segments_sent.column(),
            bytes_sent: counts.bytes_sent.column(),
            retransmitted_segments: counts.retransmitted_segments.column(),
            retransmitted_bytes: counts.retransmitted_bytes.column(),
            timeouts: counts.timeouts.column(),
            fast_retransmits: counts.fast_retransmits.column(),
            ecn_reductions: counts.ecn_reductions.column(),
            delivered_ce: counts.delivered_ce.column(),
            received_segments: counts.received_segments.column(),
            received_bytes: counts.received_bytes.column(),
            duplicate_segments: counts.duplicate_segments.column(),
            duplicate_bytes: counts.duplicate_bytes.column(),
            acks_sent: counts.acks_sent.column(),
            dropped_packets: counts.dropped_packets.column(),
            marked_packets: counts.marked_packets.column(),
            dropped_acks: counts.dropped_acks.column(),
            ecn: counts.ecn.column(),
        }
    }
}

impl Simulation<'_> {
    /// Call `visit` for each flow and the totals of its connections, for the data of the direction
    /// `direction`. If the totals belong to several flows, the function calls `visit` once, with
    /// the first of the flows.
    fn each_flow(&self, direction: Direction, mut visit: impl FnMut(usize, &ConnectionTotals)) {
        let (mut slot, mut k) = (0, 0);
        let Baseline { single, flow_totals, .. } = &self.baseline;
        let [single, arriving] = [single, flow_totals].map(|of| &of[direction.index()]);
        for f in 0..self.plan.flows() {
            if self.plan.traffic(f).is_datagrams() {
                continue;
            }
            if self.plan.opener(f).is_some() {
                let index = self.connections.arriving_flows[k].totals;
                let of = &self.connections.flow_totals[index];
                let totals =
                    if direction == Direction::Forward { Some(&of.forward) } else { of.reverse.as_ref() };
                totals
                    .filter(|_| of.flow as usize == f)
                    .into_iter()
                    .for_each(|totals| visit(f, &totals.since(arriving.get(index))));
                k += 1;
            } else {
                if direction == Direction::Forward || self.plan.is_bidirectional(f) {
                    visit(f, &self.connections.totals_of(slot, direction).since(single.get(slot)));
                }
                slot += 1;
            }
        }
    }

    /// Return the TCP flows with data in the direction `direction`, and a table with one row per
    /// flow.
    pub(super) fn rows_by_flow(&self, direction: Direction) -> (Vec<u32>, FlowTable) {
        let sends_data = |f: &u32| match direction {
            Direction::Forward => !self.plan.traffic(*f as usize).is_datagrams(),
            Direction::Reverse => self.plan.is_bidirectional(*f as usize),
        };
        let flows: Vec<u32> = (0..self.plan.flows() as u32).filter(sends_data).collect();
        let mut table = FlowTable::new(flows.len());
        self.each_flow(direction, |_, totals| table.push(totals, [self.begins(), self.end]));
        (flows, table)
    }

    /// Return three columns with one row per flow: the name of the flow, the host that sends data,
    /// and the host that receives data.
    pub(super) fn names_by_flow(
        &self,
        direction: Direction,
        flows: Vec<u32>,
        names: &Arc<Vec<String>>,
    ) -> [Column; 3] {
        let column = |get: &dyn Fn(usize) -> String| names_of(flows.iter().map(|&f| get(f as usize)));
        let hosts = [column(&|f| self.plan.from(f)), column(&|f| self.plan.to(f))];
        in_direction(Column::Name(flows, names.clone()), hosts, direction)
    }

    /// Return the indices of the `[[flows]]` tables whose TCP flows have data in the direction
    /// `direction`, and a result table with one row per index.
    pub(super) fn rows_by_table(&self, direction: Direction) -> (Vec<u32>, FlowTable) {
        let mut by_table = vec![None; self.plan.tables()];
        self.each_flow(direction, |f, totals| {
            by_table[self.plan.table(f)].get_or_insert_with(ConnectionTotals::default).add(totals)
        });
        let tables: Vec<u32> =
            (0..by_table.len() as u32).filter(|&t| by_table[t as usize].is_some()).collect();
        let mut table = FlowTable::new(tables.len());
        by_table.iter().flatten().for_each(|totals| table.push(totals, [self.begins(), self.end]));
        (tables, table)
    }

    /// Return three columns with one row per `[[flows]]` table: the name, the host that sends data,
    /// and the host that receives data.
    pub(super) fn names_by_table(&self, direction: Direction, tables: &[u32]) -> [Column; 3] {
        let column =
            |which: usize| names_of(tables.iter().map(|&t| self.plan.texts(t as usize)[which].to_string()));
        in_direction(column(0), [column(1), column(2)], direction)
    }
}

/// For data of the direction `direction`, return the columns of names, sending hosts and receiving
/// hosts.
fn in_direction(name: Column, [from, to]: [Column; 2], direction: Direction) -> [Column; 3] {
    if direction == Direction::Forward { [name, from, to] } else { [name, to, from] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_above_32_bits_are_exact() {
        let values = [3, u64::from(u32::MAX), u64::from(u32::MAX) + 1, 0, u64::MAX];
        let mut counts = CompactCounts::new(values.len());
        values.iter().for_each(|&count| counts.push(count));
        assert!(matches!(counts.column(), Column::Count(column) if column == values));
    }
}
