//! Queueing delay of packets: the time from the arrival of a packet at the queue of a link to the
//! beginning of its transmission. Every packet whose transmission has begun is counted, and the
//! delays are not sampled (RFC 7928 §2.7).
//!
//! Some queues compute the delay of a packet when the packet arrives, and report in advance the
//! time at which its transmission will begin. The packets that wait in a queue at the end of the
//! run are not counted. If the end of the run is not known in advance, the series therefore counts
//! the delay of a packet only when the transmission begins.

use std::collections::VecDeque;

use units::{Duration, Time};

use super::recorder::RunStart;
use crate::histogram::Histogram;

/// Queueing delays of the recorded links. The packets of a link can be divided into groups.
#[derive(Debug)]
pub struct QueueDelays {
    /// Indices of the recorded links.
    pub links: Vec<u32>,
    /// For each link of the network, its index in `links`, or `None` for a link that is not
    /// recorded.
    places: Vec<Option<u32>>,
    /// Number of groups of packets per link.
    groups: usize,
    /// Delays of each group of the first link, then of each group of the second link, and so on.
    of_groups: Vec<GroupDelays>,
    /// End of the warm-up.
    begins: Time,
    /// End of the run, if it is known in advance.
    ends: Option<Time>,
}

/// Queueing delays of a group of packets at one link.
#[derive(Clone, Debug, Default)]
struct GroupDelays {
    histogram: Histogram,
    /// Transmissions that may begin after the end of the run, in the order of time: the time of the
    /// beginning, and the queueing delay of the packet.
    upcoming: VecDeque<(Time, Duration)>,
}

/// Return true if a transmission that begins at the time `begins` is after the warm-up. Without a
/// warm-up, all transmissions are.
#[inline]
pub fn is_after_warm_up(begins: Time, warm_up_end: Time) -> bool {
    begins > warm_up_end || warm_up_end == Time::ZERO
}

impl GroupDelays {
    /// Count a transmission, unless it begins during the warm-up.
    #[inline]
    fn count(&mut self, begins: Time, delay: Duration, warm_up_end: Time) {
        if is_after_warm_up(begins, warm_up_end) {
            self.histogram.add(delay);
        }
    }

    /// Count the transmissions that begin up to the time `until`.
    #[cold]
    fn settle(&mut self, until: Time, warm_up_end: Time) {
        while let Some(&(begins, delay)) = self.upcoming.front()
            && begins <= until
        {
            self.count(begins, delay, warm_up_end);
            self.upcoming.pop_front();
        }
    }
}

impl QueueDelays {
    /// Return empty histograms for the recorded links, with `groups` groups of packets per link.
    pub fn begin(start: &RunStart, groups: usize) -> Self {
        let mut places = vec![None; start.links];
        for (place, &link) in start.recorded.iter().enumerate() {
            places[link as usize] = Some(place as u32);
        }
        QueueDelays {
            links: start.recorded.to_vec(),
            places,
            groups,
            of_groups: vec![GroupDelays::default(); start.recorded.len() * groups],
            begins: start.begins,
            ends: start.ends,
        }
    }

    /// Add a packet of a group that arrived at the queue of a link at the time `entered`. The
    /// transmission of the packet begins at the time `begins`, which may be in the future.
    #[inline]
    pub fn add(&mut self, now: Time, link: u32, group: u32, [entered, begins]: [Time; 2]) {
        if let Some(place) = self.places[link as usize] {
            let delays = &mut self.of_groups[place as usize * self.groups + group as usize];
            let (until, delay) = (self.ends.unwrap_or(now), begins.since(entered));
            if !delays.upcoming.is_empty() {
                delays.settle(until, self.begins);
            }
            if delays.upcoming.is_empty() && begins <= until {
                delays.count(begins, delay, self.begins);
            } else {
                delays.upcoming.push_back((begins, delay));
            }
        }
    }

    /// Count the transmissions that have begun up to the end of the run.
    pub fn end(&mut self, now: Time) {
        self.of_groups.iter_mut().for_each(|delays| delays.settle(now, self.begins));
    }

    /// Return each recorded link and group with the histogram of its queueing delays.
    pub fn each(&self) -> impl Iterator<Item = (u32, u32, &Histogram)> {
        self.of_groups
            .iter()
            .enumerate()
            .map(|(i, delays)| (self.links[i / self.groups], (i % self.groups) as u32, &delays.histogram))
    }
}
