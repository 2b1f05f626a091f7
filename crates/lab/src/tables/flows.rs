//! The table of flows that TCP carries: a row a flow, or a row a table of the scenario.

use std::sync::Arc;

use net::Direction;
use units::Time;

use crate::baseline::Baseline;
use crate::columns;
use crate::record::{Column, names_of, seconds};
use crate::run::Simulation;
use crate::totals::{ConnectionTotals, Counts};

/// A column of counts as it grows: most are small, and of the others the few are kept apart, since the endpoints still
/// need their room.
struct Growing {
    small: Vec<u32>,
    large: Vec<(usize, u64)>,
}

impl Growing {
    fn new(rows: usize) -> Self {
        Growing { small: Vec::with_capacity(rows), large: Vec::new() }
    }

    fn push(&mut self, count: u64) {
        let small = u32::try_from(count).unwrap_or_else(|_| {
            self.large.push((self.small.len(), count));
            0
        });
        self.small.push(small);
    }

    fn column(self) -> Column {
        let mut counts: Vec<u64> = self.small.into_iter().map(u64::from).collect();
        self.large.into_iter().for_each(|(row, count)| counts[row] = count);
        Column::Count(counts)
    }
}

/// The table of flows as it grows, row by row.
pub(super) struct FlowTable {
    start: Vec<f64>,
    established: Vec<f64>,
    completed: Vec<f64>,
    closed: Vec<f64>,
    goodput: Vec<f64>,
    counts: Counts<Growing>,
}

impl FlowTable {
    fn new(rows: usize) -> Self {
        let times = || Vec::with_capacity(rows);
        FlowTable {
            start: times(),
            established: times(),
            completed: times(),
            closed: times(),
            goodput: times(),
            counts: Counts::each(|| Growing::new(rows)),
        }
    }

    /// Add the row of a totals that is counted between two times.
    fn push(&mut self, totals: &ConnectionTotals, counted: [Time; 2]) {
        self.start.push(seconds(totals.start));
        self.established.push(seconds(totals.reached(0)));
        self.completed.push(seconds(totals.reached(1)));
        self.closed.push(seconds(totals.reached(2)));
        self.goodput.push(totals.goodput_bps(counted));
        self.counts.zip(&totals.counts, |column, &count| column.push(count));
    }

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
    /// Each flow with the totals of its data that goes one way: that of its connection, or of all its connections. Of flows that have one account
    /// together, the first has the totals.
    fn each_flow(&self, direction: Direction, mut see: impl FnMut(usize, &ConnectionTotals)) {
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
                    .for_each(|totals| see(f, &totals.since(arriving.get(index))));
                k += 1;
            } else {
                if direction == Direction::Forward || self.plan.is_bidirectional(f) {
                    see(f, &self.connections.totals_of(slot, direction).since(single.get(slot)));
                }
                slot += 1;
            }
        }
    }

    /// A row a flow of TCP whose data goes this way, and which.
    pub(super) fn rows_by_flow(&self, direction: Direction) -> (Vec<u32>, FlowTable) {
        let goes = |f: &u32| match direction {
            Direction::Forward => !self.plan.traffic(*f as usize).is_datagrams(),
            Direction::Reverse => self.plan.is_bidirectional(*f as usize),
        };
        let flows: Vec<u32> = (0..self.plan.flows() as u32).filter(goes).collect();
        let mut table = FlowTable::new(flows.len());
        self.each_flow(direction, |_, totals| table.push(totals, [self.begins(), self.end]));
        (flows, table)
    }

    /// What each of these flows is called, and between whom its data goes.
    pub(super) fn texts_by_flow(
        &self,
        direction: Direction,
        flows: Vec<u32>,
        names: &Arc<Vec<String>>,
    ) -> [Column; 3] {
        let text = |get: &dyn Fn(usize) -> String| names_of(flows.iter().map(|&f| get(f as usize)));
        let hosts = [text(&|f| self.plan.from(f)), text(&|f| self.plan.to(f))];
        between(Column::Name(flows, names.clone()), hosts, direction)
    }

    /// A row a table of the scenario, of TCP with data that goes this way, and which.
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

    /// What the scenario says of each of these tables of flows.
    pub(super) fn texts_by_table(&self, direction: Direction, tables: &[u32]) -> [Column; 3] {
        let text =
            |which: usize| names_of(tables.iter().map(|&t| self.plan.texts(t as usize)[which].to_string()));
        between(text(0), [text(1), text(2)], direction)
    }
}

/// Name, and hosts in the order in which data goes from one to the other.
fn between(name: Column, [from, to]: [Column; 2], direction: Direction) -> [Column; 3] {
    if direction == Direction::Forward { [name, from, to] } else { [name, to, from] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_kept_whole() {
        let values = [3, u64::from(u32::MAX), u64::from(u32::MAX) + 1, 0, u64::MAX];
        let mut counts = Growing::new(values.len());
        values.iter().for_each(|&count| counts.push(count));
        assert!(matches!(counts.column(), Column::Count(column) if column == values));
    }
}
