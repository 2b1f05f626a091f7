//! How long packets wait in the queue of a link: from their arrival there to the beginning of their
//! transmission. Each packet that is sent counts, none is sampled (RFC 7928 §2.7).

use std::sync::Arc;

use units::Duration;

use crate::histogram::Histogram;
use crate::record::{Column, Table};

/// The delays of the links that are recorded, by number of the link.
#[derive(Debug)]
pub struct Delays {
    links: Vec<u32>,
    /// By link: its place in `links`.
    places: Vec<Option<u32>>,
    histograms: Vec<Histogram>,
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
            histograms: vec![Histogram::default(); links.len()],
        }
    }

    /// A packet waited this long for the transmitter of a link.
    pub fn add(&mut self, link: u32, waited: Duration) {
        if let Some(place) = self.places[link as usize] {
            self.histograms[place as usize].add(waited);
        }
    }

    /// As a table.
    pub fn table(&self, names: &Arc<Vec<String>>) -> Table {
        let float = |get: fn(&Histogram) -> f64| Column::Float(self.histograms.iter().map(get).collect());
        Table {
            name: "delays",
            columns: vec![
                ("link", Column::Name(self.links.clone(), names.clone())),
                ("packets", Column::Count(self.histograms.iter().map(Histogram::count).collect())),
                ("mean_delay_s", float(Histogram::mean_s)),
                ("median_delay_s", float(|h| h.percentile_s(0.5))),
                ("p95_delay_s", float(|h| h.percentile_s(0.95))),
                ("p99_delay_s", float(|h| h.percentile_s(0.99))),
                ("longest_delay_s", float(Histogram::longest_s)),
            ],
        }
    }
}
