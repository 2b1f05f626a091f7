//! How long packets wait in the queue of a link: from their arrival there to the beginning of their
//! transmission. Each packet counts whose transmission has begun, none is sampled (RFC 7928 §2.7).
//!
//! A queue that decides on arrival says beforehand when a transmission begins. Until then the packet waits here
//! too: one that is still in the queue when the run ends has not left it, whatever kind of queue it is.

use std::collections::VecDeque;
use std::sync::Arc;

use units::{Duration, Time};

use crate::columns;
use crate::histogram::Histogram;
use crate::record::{Column, Table};

/// The delays of the links that are recorded, by number of the link.
#[derive(Debug)]
pub struct Delays {
    links: Vec<u32>,
    /// By link: its place in `links`.
    places: Vec<Option<u32>>,
    of_each: Vec<Waits>,
}

/// The delays of one link.
#[derive(Clone, Debug, Default)]
struct Waits {
    histogram: Histogram,
    /// When the transmissions begin that have not begun, in order, and what their packets will have waited.
    to_begin: VecDeque<(Time, Duration)>,
}

impl Waits {
    /// Counts what has begun by now.
    fn settle(&mut self, now: Time) {
        while let Some(&(begins, waited)) = self.to_begin.front()
            && begins <= now
        {
            self.histogram.add(waited);
            self.to_begin.pop_front();
        }
    }
}

impl Delays {
    /// None yet, of these links among `all`.
    pub fn of(links: &[usize], all: usize) -> Self {
        let mut places = vec![None; all];
        for (place, &link) in links.iter().enumerate() {
            places[link] = Some(place as u32);
        }
        Delays {
            links: links.iter().map(|&l| l as u32).collect(),
            places,
            of_each: vec![Waits::default(); links.len()],
        }
    }

    /// The transmission of a packet that entered the queue of a link at `entered` begins, or has begun, at `begins`.
    pub fn add(&mut self, now: Time, link: u32, [entered, begins]: [Time; 2]) {
        if let Some(place) = self.places[link as usize] {
            let waits = &mut self.of_each[place as usize];
            waits.to_begin.push_back((begins, begins.since(entered)));
            waits.settle(now);
        }
    }

    /// The run ends.
    pub fn end(&mut self, now: Time) {
        self.of_each.iter_mut().for_each(|waits| waits.settle(now));
    }

    /// How many packets waited how long, as a table.
    pub fn waits(&self, names: &Arc<Vec<String>>) -> Table {
        let (mut links, mut waits, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        for (&link, of) in self.links.iter().zip(&self.of_each) {
            for (wait_s, count) in of.histogram.held() {
                links.push(link);
                waits.push(wait_s);
                packets.push(count);
            }
        }
        columns::Waits {
            link: Column::Name(links, names.clone()),
            wait_s: Column::Float(waits),
            packets: Column::Count(packets),
        }
        .table()
    }

    /// As a table.
    pub fn table(&self, names: &Arc<Vec<String>>) -> Table {
        let float = |get: fn(&Histogram) -> f64| {
            Column::Float(self.of_each.iter().map(|waits| get(&waits.histogram)).collect())
        };
        let counts = self.of_each.iter().map(|waits| waits.histogram.count()).collect();
        columns::Delays {
            link: Column::Name(self.links.clone(), names.clone()),
            packets: Column::Count(counts),
            mean_delay_s: float(Histogram::mean_s),
            median_delay_s: float(|h| h.percentile_s(0.5)),
            p95_delay_s: float(|h| h.percentile_s(0.95)),
            p99_delay_s: float(|h| h.percentile_s(0.99)),
            longest_delay_s: float(Histogram::longest_s),
        }
        .table()
    }
}
