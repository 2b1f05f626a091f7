//! How long packets wait in the queues of links, summed up.

use net::Packet;
use units::Time;

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use super::waiting::Waiting;
use crate::columns::{self, Definition as _};
use crate::histogram::Histogram;
use crate::record::{Column, Table};

columns::tables! {
    /// How long packets wait in the queue of each link: mean, percentiles, longest.
    Columns "delays" {
        link in "": "Where.";
        packets in "packets": "Packets that left its queue: `departed_packets` of the link.";
        mean_delay_s in "s": "Mean of the time from a packet's arrival at the queue to the beginning of its transmission.";
        median_delay_s in "s": "Median of these (nearest rank), within 0.8 %.";
        p95_delay_s in "s": "95th percentile.";
        p99_delay_s in "s": "99th percentile.";
        longest_delay_s in "s": "The longest.";
    }
}

/// The delays of the links that are recorded.
#[derive(Debug)]
pub struct Delays {
    waiting: Waiting,
}

impl Recorder for Delays {
    type Table = Columns;
    const NEEDS: Needs = Needs { packets: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Delays { waiting: Waiting::begin(start) }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::default() // a row a link, however long the run
    }

    fn on_link(&mut self, now: Time, link: u32, from: [Time; 2], _: &Packet) {
        self.waiting.add(now, link, from);
    }

    fn end(&mut self, now: Time) {
        self.waiting.end(now);
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let each = || self.waiting.each().map(|(_, histogram)| histogram);
        let float = |get: fn(&Histogram) -> f64| Column::Float(each().map(get).collect());
        let columns = Columns {
            link: Column::Name(self.waiting.links.clone(), names.links().clone()),
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
