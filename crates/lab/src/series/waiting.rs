//! How long packets wait in the queue of a link: from their arrival there to the beginning of their
//! transmission. Each packet counts whose transmission has begun, none is sampled (RFC 7928 §2.7).
//!
//! A queue that decides on arrival says beforehand when a transmission begins. Until then the packet waits here
//! too: one that is still in the queue when the run ends has not left it, whatever kind of queue it is.

use std::collections::VecDeque;

use units::{Duration, Time};

use super::recorder::RunStart;
use crate::histogram::Histogram;

/// What packets wait at the links that are recorded.
#[derive(Debug)]
pub struct Waiting {
    /// The links.
    pub links: Vec<u32>,
    /// By link: its place in `links`.
    places: Vec<Option<u32>>,
    of_each: Vec<Waits>,
    /// The end of the warm-up.
    begins: Time,
}

/// What they wait at one link.
#[derive(Clone, Debug, Default)]
struct Waits {
    histogram: Histogram,
    /// When the transmissions begin that have not begun, in order, and what their packets will have waited.
    to_begin: VecDeque<(Time, Duration)>,
}

impl Waits {
    /// Counts what has begun by now, and after the warm-up, which ends at `after`.
    fn settle(&mut self, now: Time, after: Time) {
        while let Some(&(begins, waited)) = self.to_begin.front()
            && begins <= now
        {
            if begins > after || after == Time::ZERO {
                self.histogram.add(waited);
            }
            self.to_begin.pop_front();
        }
    }
}

impl Waiting {
    /// None yet.
    pub fn begin(start: &RunStart) -> Self {
        let mut places = vec![None; start.links];
        for (place, &link) in start.recorded.iter().enumerate() {
            places[link as usize] = Some(place as u32);
        }
        Waiting {
            links: start.recorded.to_vec(),
            places,
            of_each: vec![Waits::default(); start.recorded.len()],
            begins: start.begins,
        }
    }

    /// The transmission of a packet that entered the queue of a link at `entered` begins, or has begun, at `begins`.
    pub fn add(&mut self, now: Time, link: u32, [entered, begins]: [Time; 2]) {
        if let Some(place) = self.places[link as usize] {
            let waits = &mut self.of_each[place as usize];
            waits.to_begin.push_back((begins, begins.since(entered)));
            waits.settle(now, self.begins);
        }
    }

    /// The run ends.
    pub fn end(&mut self, now: Time) {
        self.of_each.iter_mut().for_each(|waits| waits.settle(now, self.begins));
    }

    /// Each link with how long its packets waited.
    pub fn each(&self) -> impl Iterator<Item = (u32, &Histogram)> {
        self.links.iter().copied().zip(self.of_each.iter().map(|waits| &waits.histogram))
    }
}
