//! Samples of the queues of links.

use net::{Link, LinkQueue};
use queues::Discipline;
use units::{Depth, Time};

use super::recorder::{Names, Needs, Recorder, RunStart, SampledCounts, Snapshot, StoredRows};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;

columns::tables! {
    /// Samples of the queue length and of the average queue length of each link.
    Columns "queue" {
        time_s in "s": "Time of the sample.";
        link in "": "Name of the link, in the form from>to.";
        queue_packets in "packets": "Packets that wait in the queue at the time of the sample.";
        queue_bytes in "bytes": "Total size of the packets that wait in the queue.";
        average_packets in "packets": "Average queue length, if the AQM of the link computes an average in packets. A scheduler has an average if exactly one of its classes computes an average. The column is empty for all other queues.";
        average_bytes in "bytes": "Average queue length, if the AQM of the link computes an average in bytes. A scheduler has an average if exactly one of its classes computes an average. The column is empty for all other queues.";
        transmitting in "0 or 1": "1 if the link is transmitting a packet at the time of the sample, otherwise 0.";
    }
}

/// State of the queue of a link at the time of a sample.
#[derive(Clone, Copy, Debug)]
struct Sample {
    bytes: u64,
    average_packets: f64,
    average_bytes: f64,
    packets: u32,
    transmitting: bool,
}

impl Sample {
    /// Return the state of the queue of a link.
    fn of(link: &mut Link<Discipline>, now: Time) -> Self {
        let backlog = link.backlog(now);
        let (average_packets, average_bytes) = match link.queue().average() {
            Some(Depth::Packets(n)) => (n, f64::NAN),
            Some(Depth::Bytes(n)) => (f64::NAN, n),
            None => (f64::NAN, f64::NAN),
        };
        Sample {
            bytes: backlog.bytes,
            average_packets,
            average_bytes,
            packets: backlog.packets,
            transmitting: link.is_transmitting(now),
        }
    }
}

/// Queues of the recorded links.
#[derive(Debug)]
pub struct Queue {
    links: Vec<u32>,
    samples: Samples<Sample>,
}

impl Recorder for Queue {
    type Table = Columns;
    const NEEDS: Needs = Needs { samples: true, queues: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Queue { links: start.recorded.to_vec(), samples: Samples::default() }
    }

    fn rows_per_sample(counts: &SampledCounts) -> u64 {
        counts.links
    }

    fn stored_rows(&self) -> StoredRows {
        self.samples.stored_rows()
    }

    fn sample(&mut self, snapshot: &mut Snapshot) {
        let sample = |&l: &u32| Sample::of(&mut snapshot.links[l as usize], snapshot.now);
        self.samples.take(snapshot.now, self.links.len(), self.links.iter().map(sample));
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let samples = &self.samples;
        let columns = Columns {
            time_s: samples.times(self.links.len()),
            link: samples.keys(&self.links, names.links()),
            queue_packets: samples.column(|s| f64::from(s.packets)),
            queue_bytes: samples.column(|s| s.bytes as f64),
            average_packets: samples.column(|s| s.average_packets),
            average_bytes: samples.column(|s| s.average_bytes),
            transmitting: samples.column(|s| f64::from(u8::from(s.transmitting))),
        };
        vec![columns.table()]
    }
}
