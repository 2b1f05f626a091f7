//! Summary of the queueing delays of links.

use units::Time;

use super::queue_delays::QueueDelays;
use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::histogram::Histogram;
use crate::record::{Column, Table};

columns::tables! {
    /// Queueing delay of the packets of each link: mean, percentiles and maximum.
    Columns "delays" {
        link in "": "Name of the link, in the form from>to.";
        packets in "packets": "Packets that left the queue of the link, as many as `departed_packets` in the table `links`.";
        mean_delay_s in "s": "Mean queueing delay. The queueing delay of a packet is the time from its arrival at the queue to the beginning of its transmission.";
        median_delay_s in "s": "Median (nearest rank) of the queueing delays, accurate to 0.8 %.";
        p95_delay_s in "s": "95th percentile of the queueing delays, accurate to 0.8 %.";
        p99_delay_s in "s": "99th percentile of the queueing delays, accurate to 0.8 %.";
        longest_delay_s in "s": "Maximum queueing delay.";
    }
}

/// Queueing delays of the recorded links.
#[derive(Debug)]
pub struct Delays {
    delays: QueueDelays,
}

impl Recorder for Delays {
    type Table = Columns;
    const NEEDS: Needs = Needs { links: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Delays { delays: QueueDelays::begin(start, 1) }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::default() // One row per link, for a run of any duration.
    }

    #[inline(always)]
    fn on_link(&mut self, now: Time, link: u32, times: [Time; 2], _: u32) {
        self.delays.add(now, link, 0, times);
    }

    fn end(&mut self, now: Time) {
        self.delays.end(now);
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let each = || self.delays.each().map(|(_, _, histogram)| histogram);
        let float = |get: fn(&Histogram) -> f64| Column::Float(each().map(get).collect());
        let columns = Columns {
            link: Column::Name(self.delays.links.clone(), names.links().clone()),
            packets: Column::Count(each().map(Histogram::count).collect()),
            mean_delay_s: float(Histogram::mean_s),
            median_delay_s: float(|h| h.percentile_s(0.5)),
            p95_delay_s: float(|h| h.percentile_s(0.95)),
            p99_delay_s: float(|h| h.percentile_s(0.99)),
            longest_delay_s: float(Histogram::longest_s),
        };
        vec![columns.table()]
    }
}
