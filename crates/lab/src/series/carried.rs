//! What links have done by then, sampled: differences of rows are what they did in between, such as after a warm-up.

use net::Link;
use queues::Discipline;
use units::Time;

use super::recorder::{Held, Instant, Names, Recorder, Sizes, Start, Wants};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;

columns::tables! {
    /// What each link has carried, dropped and marked by then, sampled.
    Columns "carried" {
        time_s in "s": "When.";
        link in "": "Where.";
        departed_packets in "packets": "What had left the queue for the transmitter.";
        departed_bytes in "bytes": "The size of these.";
        dropped_packets in "packets": "What had been dropped, for whatever reason.";
        marked_packets in "packets": "Packets that had been marked CE.";
    }
}

/// The counts of a link at an instant.
#[derive(Clone, Copy, Debug)]
struct Sample {
    departed: [u64; 2],
    dropped: u64,
    marked: u64,
}

impl Sample {
    /// Those of a link now, of what has come and neither waits nor was dropped.
    fn of(link: &mut Link<Discipline>, now: Time) -> Self {
        let waiting = link.backlog(now);
        let (arrived, signals) = (link.counters().arrived, link.counters().signals());
        Sample {
            departed: [
                arrived.packets - signals.dropped.packets - u64::from(waiting.packets),
                arrived.bytes - signals.dropped.bytes - waiting.bytes,
            ],
            dropped: signals.dropped.packets,
            marked: signals.marked(),
        }
    }
}

/// The counts of the links that are recorded.
#[derive(Debug)]
pub struct Carried {
    links: Vec<u32>,
    samples: Samples<Sample>,
}

impl Recorder for Carried {
    type Table = Columns;
    const WANTS: Wants = Wants { samples: true, queues: true, ..Wants::NOTHING };

    fn begin(start: &Start) -> Self {
        Carried { links: start.recorded.to_vec(), samples: Samples::default() }
    }

    fn rows_a_sample(of: &Sizes) -> u64 {
        of.links
    }

    fn held(&self) -> Held {
        self.samples.held()
    }

    fn sample(&mut self, at: &mut Instant) {
        let sample = |&l: &u32| Sample::of(&mut at.links[l as usize], at.now);
        self.samples.take(at.now, self.links.len(), self.links.iter().map(sample));
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let samples = &self.samples;
        let columns = Columns {
            time_s: samples.times(self.links.len()),
            link: samples.keys(&self.links, names.links()),
            departed_packets: samples.column(|s| s.departed[0] as f64),
            departed_bytes: samples.column(|s| s.departed[1] as f64),
            dropped_packets: samples.column(|s| s.dropped as f64),
            marked_packets: samples.column(|s| s.marked as f64),
        };
        vec![columns.table()]
    }
}
