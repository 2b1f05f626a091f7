//! Series that are sampled: at each instant the same things, in the same order, so that neither the
//! time nor the name is kept for each. Samples are kept as they are taken and become columns at the end.

use std::sync::Arc;

use net::{Fifo, Link};
use queues::Discipline;
use tcp::Endpoint;
use units::{Duration, Time};

use crate::columns;
use crate::record::{Column, Table};

/// The samples of a run.
#[derive(Debug)]
pub struct Samples<S> {
    times: Vec<Time>,
    rows: Vec<S>,
}

impl<S> Default for Samples<S> {
    fn default() -> Self {
        Samples { times: Vec::new(), rows: Vec::new() }
    }
}

impl<S> Samples<S> {
    /// Takes a sample of each.
    #[inline]
    pub fn take(&mut self, now: Time, of_each: impl Iterator<Item = S>) {
        self.times.push(now);
        self.rows.extend(of_each);
    }

    /// The time of each sample, where so many things are sampled each time.
    fn times(&self, sampled: usize) -> Column {
        Column::Float(self.times.iter().flat_map(|t| std::iter::repeat_n(t.seconds(), sampled)).collect())
    }

    /// What each is a sample of.
    fn keys(&self, sampled: &[u32], names: &Arc<Vec<String>>) -> Column {
        Column::Name(self.times.iter().flat_map(|_| sampled.iter().copied()).collect(), names.clone())
    }

    fn column(&self, value: impl Fn(&S) -> f64) -> Column {
        Column::Float(self.rows.iter().map(value).collect())
    }
}

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

/// A sender at an instant. Windows to seven digits; what is exact is in halves, so that a sample has no
/// gaps: the room that samples take is most of what they cost.
#[derive(Clone, Copy, Debug)]
pub struct WindowSample {
    acked: [u32; 2],
    rto: [u32; 2],
    cwnd: f32,
    ssthresh: f32,
    flight: u32,
}

fn halves(x: u64) -> [u32; 2] {
    [(x >> 32) as u32, x as u32]
}

fn whole([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

impl WindowSample {
    /// That of a sender now.
    #[inline]
    pub fn of(sender: &Endpoint) -> Self {
        let w = sender.window();
        WindowSample {
            acked: halves(sender.acked()),
            rto: halves(sender.rto().0),
            cwnd: w.cwnd as f32,
            ssthresh: w.ssthresh as f32,
            flight: w.flight as u32,
        }
    }
}

impl Samples<WindowSample> {
    /// As a table, given the flows that were sampled each time.
    pub fn table(self, flows: &[u32], names: &Arc<Vec<String>>) -> Table {
        columns::Window {
            time_s: self.times(flows.len()),
            flow: self.keys(flows, names),
            cwnd_bytes: self.column(|s| f64::from(s.cwnd)),
            ssthresh_bytes: self.column(|s| f64::from(s.ssthresh)),
            flight_bytes: self.column(|s| f64::from(s.flight)),
            acked_bytes: self.column(|s| whole(s.acked) as f64),
            rto_s: self.column(|s| Duration(whole(s.rto)).seconds()),
        }
        .table()
    }
}
