//! Histograms of the queueing delays of links.

use units::Time;

use super::queue_delays::QueueDelays;
use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::record::{Column, Table};

columns::tables! {
    /// Histogram of the queueing delays of each link, which `delays` summarises.
    Columns "waits" {
        link in "": "Name of the link, in the form from>to.";
        wait_s in "s": "Queueing delay in the middle of a bucket of the histogram. All delays in the bucket differ from the middle by at most 0.8 %.";
        packets in "packets": "Number of packets whose queueing delay is in the bucket. An empty bucket has no row.";
    }
}

/// Histograms of the queueing delays of the recorded links.
#[derive(Debug)]
pub struct Waits {
    delays: QueueDelays,
}

impl Recorder for Waits {
    type Table = Columns;
    const NEEDS: Needs = Needs { links: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Waits { delays: QueueDelays::begin(start, 1) }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::default() // One row per bucket, for a run of any duration.
    }

    fn on_link(&mut self, now: Time, link: u32, times: [Time; 2], _: u32) {
        self.delays.add(now, link, 0, times);
    }

    fn end(&mut self, now: Time) {
        self.delays.end(now);
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let (mut links, mut waits, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        for (link, _, histogram) in self.delays.each() {
            for (wait_s, count) in histogram.occupied_buckets() {
                links.push(link);
                waits.push(wait_s);
                packets.push(count);
            }
        }
        let columns = Columns {
            link: Column::Name(links, names.links().clone()),
            wait_s: Column::Float(waits),
            packets: Column::Count(packets),
        };
        vec![columns.table()]
    }
}
