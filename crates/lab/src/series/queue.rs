//! The queues of links, sampled.

use std::sync::Arc;

use net::{Link, LinkQueue};
use queues::Discipline;
use units::Time;

use super::samples::Samples;
use crate::columns;
use crate::record::Table;

/// A queue at an instant.
#[derive(Clone, Copy, Debug)]
pub struct QueueSample {
    bytes: u64,
    average: f64,
    packets: u32,
    transmitting: bool,
}

impl QueueSample {
    /// That of a link now.
    pub fn of(link: &mut Link<Discipline>, now: Time) -> Self {
        let backlog = link.backlog(now);
        QueueSample {
            bytes: backlog.bytes,
            average: link.queue().average().unwrap_or(f64::NAN),
            packets: backlog.packets,
            transmitting: link.is_transmitting(now),
        }
    }
}

impl Samples<QueueSample> {
    /// As a table, given the links that were sampled each time.
    pub fn table(self, links: &[u32], names: &Arc<Vec<String>>) -> Table {
        columns::Queue {
            time_s: self.times(links.len()),
            link: self.keys(links, names),
            queue_packets: self.column(|s| f64::from(s.packets)),
            queue_bytes: self.column(|s| s.bytes as f64),
            average_packets: self.column(|s| s.average),
            transmitting: self.column(|s| f64::from(u8::from(s.transmitting))),
        }
        .table()
    }
}
