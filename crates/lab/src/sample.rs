//! Series that are sampled: at each instant the same things, in the same order, so that neither the
//! time nor the name is kept for each. Samples are kept as they are taken and become columns at the end.

use std::sync::Arc;

use net::{Fifo, Link};
use queues::Discipline;
use tcp::Endpoint;
use units::{Duration, Time};

use crate::memory::List;
use crate::record::{Column, Table};

/// What is sampled.
pub trait Sample: Copy {
    /// Names of its columns.
    const COLUMNS: &'static [&'static str];
    /// Its value in a column.
    fn value(&self, column: usize) -> f64;
}

/// The samples of a run.
#[derive(Debug)]
pub struct Samples<S> {
    times: List<Time>,
    rows: List<S>,
}

impl<S> Default for Samples<S> {
    fn default() -> Self {
        Samples { times: List::default(), rows: List::default() }
    }
}

impl<S: Sample> Samples<S> {
    /// Takes a sample of each of `n`.
    #[inline]
    pub fn take(&mut self, now: Time, n: usize, of_each: impl Iterator<Item = S>) {
        self.times.push(now);
        self.rows.extend(n, of_each);
    }

    /// How many were taken.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether one was left away.
    pub fn is_full(&self) -> bool {
        self.times.is_full() || self.rows.is_full()
    }

    /// As a table, given what was sampled each time.
    pub fn table(
        self,
        name: &'static str,
        key: &'static str,
        sampled: &[u32],
        names: &Arc<Vec<String>>,
    ) -> Table {
        let n = sampled.len();
        let times = self.times.iter().flat_map(|t| std::iter::repeat_n(t.seconds(), n)).collect();
        let codes = self.times.iter().flat_map(|_| sampled.iter().copied()).collect();
        let mut columns = vec![("time_s", Column::Float(times)), (key, Column::Name(codes, names.clone()))];
        columns.extend(
            S::COLUMNS.iter().enumerate().map(|(i, &column)| {
                (column, Column::Float(self.rows.iter().map(|row| row.value(i)).collect()))
            }),
        );
        Table { name, columns }
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

impl Sample for QueueSample {
    const COLUMNS: &'static [&'static str] =
        &["queue_packets", "queue_bytes", "average_packets", "transmitting"];
    fn value(&self, column: usize) -> f64 {
        match column {
            0 => f64::from(self.packets),
            1 => self.bytes as f64,
            2 => self.average,
            _ => f64::from(u8::from(self.transmitting)),
        }
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

impl Sample for WindowSample {
    const COLUMNS: &'static [&'static str] =
        &["cwnd_bytes", "ssthresh_bytes", "flight_bytes", "acked_bytes", "rto_s"];
    fn value(&self, column: usize) -> f64 {
        match column {
            0 => f64::from(self.cwnd),
            1 => f64::from(self.ssthresh),
            2 => f64::from(self.flight),
            3 => whole(self.acked) as f64,
            _ => Duration(whole(self.rto)).seconds(),
        }
    }
}
