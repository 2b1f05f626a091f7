//! How many packets waited how long in the queues of links.

use net::Packet;
use units::Time;

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use super::waiting::Waiting;
use crate::columns::{self, Definition as _};
use crate::record::{Column, Table};

columns::tables! {
    /// How many packets waited how long in the queue of each link: what `delays` sums up.
    Columns "waits" {
        link in "": "Where.";
        wait_s in "s": "The middle of a bucket, which is within 0.8 % of all that it holds.";
        packets in "packets": "Packets that waited so long; a bucket without any has no row.";
    }
}

/// The histograms of the links that are recorded.
#[derive(Debug)]
pub struct Waits {
    waiting: Waiting,
}

impl Recorder for Waits {
    type Table = Columns;
    const NEEDS: Needs = Needs { packets: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Waits { waiting: Waiting::begin(start) }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::default() // a row a bucket, however long the run
    }

    fn on_link(&mut self, now: Time, link: u32, from: [Time; 2], _: &Packet) {
        self.waiting.add(now, link, from);
    }

    fn end(&mut self, now: Time) {
        self.waiting.end(now);
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let (mut links, mut waits, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        for (link, histogram) in self.waiting.each() {
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
