//! Summary of the queueing delays of links, per `[[flows]]` table. The summary shows the delay of
//! each class of traffic, for example of L4S flows and of Classic flows at DualPI2.

use units::Time;

use super::queue_delays::QueueDelays;
use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::histogram::Histogram;
use crate::record::{Column, Table};

columns::tables! {
    /// Queueing delay of the packets of each `[[flows]]` table at each link that they crossed.
    Columns "flow_delays" {
        link in "": "Name of the link, in the form from>to.";
        flow in "": "Name of the `[[flows]]` table.";
        packets in "packets": "Packets of the flows that left the queue of the link.";
        mean_delay_s in "s": "Mean queueing delay.";
        median_delay_s in "s": "Median (nearest rank) of the queueing delays, accurate to 0.8 %.";
        p95_delay_s in "s": "95th percentile of the queueing delays, accurate to 0.8 %.";
        p99_delay_s in "s": "99th percentile of the queueing delays, accurate to 0.8 %.";
        longest_delay_s in "s": "Maximum queueing delay.";
    }
}

/// Queueing delays of the recorded links, per `[[flows]]` table.
#[derive(Debug)]
pub struct FlowDelays {
    delays: QueueDelays,
    /// Index of the first flow of each `[[flows]]` table.
    tables: Vec<u32>,
}

impl Recorder for FlowDelays {
    type Table = Columns;
    const NEEDS: Needs = Needs { links: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        FlowDelays { delays: QueueDelays::begin(start, start.tables.len()), tables: start.tables.to_vec() }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::default() // One row per link and table, for a run of any duration.
    }

    fn on_link(&mut self, now: Time, link: u32, times: [Time; 2], flow: u32) {
        let table = self.tables.partition_point(|&first| first <= flow) - 1;
        self.delays.add(now, link, table as u32, times);
    }

    fn end(&mut self, now: Time) {
        self.delays.end(now);
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let each: Vec<_> = self.delays.each().filter(|(_, _, histogram)| histogram.count() > 0).collect();
        let float = |get: fn(&Histogram) -> f64| Column::Float(each.iter().map(|(_, _, h)| get(h)).collect());
        let columns = Columns {
            link: Column::Name(each.iter().map(|&(link, _, _)| link).collect(), names.links().clone()),
            flow: Column::Name(each.iter().map(|&(_, table, _)| table).collect(), names.tables().clone()),
            packets: Column::Count(each.iter().map(|(_, _, h)| h.count()).collect()),
            mean_delay_s: float(Histogram::mean_s),
            median_delay_s: float(|h| h.percentile_s(0.5)),
            p95_delay_s: float(|h| h.percentile_s(0.95)),
            p99_delay_s: float(|h| h.percentile_s(0.99)),
            longest_delay_s: float(Histogram::longest_s),
        };
        vec![columns.table()]
    }
}
