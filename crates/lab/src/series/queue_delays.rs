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

/// Entry of [`QueueDelays::places`] for a link that is not recorded.
const ABSENT: usize = usize::MAX / 2;

/// Queueing delays of the recorded links. The packets of a link can be divided into groups.
#[derive(Debug)]
pub struct QueueDelays {
    /// Indices of the recorded links.
    pub links: Vec<u32>,
    /// For each link of the network, the index of its first group in `of_groups`, or [`ABSENT`].
    places: Vec<usize>,
    /// Number of groups of packets per link.
    groups: usize,
    /// Delays of each group of the first link, then of each group of the second link, and so on.
    of_groups: Vec<GroupDelays>,
    /// First time after the warm-up.
    first: Time,
    /// End of the run if it is known in advance, else zero.
    ends: Time,
    /// Number of times from `first` to `ends`; zero if the end of the run is not known in advance.
    counted: u64,
}

/// Queueing delays of a group of packets at one link.
#[derive(Clone, Debug, Default)]
struct GroupDelays {
    histogram: Histogram,
    /// Transmissions that may begin after the end of the run, in the order of time: the time of the
    /// beginning, and the queueing delay of the packet.
    upcoming: VecDeque<(Time, Duration)>,
}

impl GroupDelays {
    /// Count a transmission, unless it begins before the time `first`.
    #[inline]
    fn count(&mut self, begins: Time, delay: Duration, first: Time) {
        if begins >= first {
            self.histogram.add(delay);
        }
    }

    /// Count the transmissions that begin up to the time `until`.
    fn settle(&mut self, until: Time, first: Time) {
        while let Some(&(begins, delay)) = self.upcoming.front()
            && begins <= until
        {
            self.count(begins, delay, first);
            self.upcoming.pop_front();
        }
    }

    /// Count the transmissions that begin up to the time `until`, and add a transmission.
    #[cold]
    fn wait(&mut self, begins: Time, delay: Duration, [until, first]: [Time; 2]) {
        self.upcoming.push_back((begins, delay));
        self.settle(until, first);
    }
}

impl QueueDelays {
    /// Return empty histograms for the recorded links, with `groups` groups of packets per link.
    pub fn begin(start: &RunStart, groups: usize) -> Self {
        let mut places = vec![ABSENT; start.links];
        for (place, &link) in start.recorded.iter().enumerate() {
            places[link as usize] = place * groups;
        }
        let first = start.first_transmission();
        let ends = start.ends.unwrap_or(Time::ZERO);
        QueueDelays {
            links: start.recorded.to_vec(),
            places,
            groups,
            of_groups: vec![GroupDelays::default(); start.recorded.len() * groups],
            first,
            ends,
            counted: if start.ends.is_some() { ends.since(first).0.saturating_add(1) } else { 0 },
        }
    }

    /// Add a packet of a group that arrived at the queue of a link at the time `entered`. The
    /// transmission of the packet begins at the time `begins`, which may be in the future.
    #[inline(always)]
    pub fn add(&mut self, now: Time, link: u32, group: u32, [entered, begins]: [Time; 2]) {
        let Some(delays) = self.of_groups.get_mut(self.places[link as usize] + group as usize) else {
            return;
        };
        let delay = begins.since(entered);
        // A histogram does not depend on the order of its delays, so earlier transmissions may wait.
        if begins.0.wrapping_sub(self.first.0) < self.counted {
            delays.histogram.add(delay);
        } else {
            delays.wait(begins, delay, [self.ends.max(now), self.first]);
        }
    }

    /// Count the transmissions that have begun up to the end of the run.
    pub fn end(&mut self, now: Time) {
        self.of_groups.iter_mut().for_each(|delays| delays.settle(now, self.first));
    }

    /// Return each recorded link and group with the histogram of its queueing delays.
    pub fn each(&self) -> impl Iterator<Item = (u32, u32, &Histogram)> {
        self.of_groups
            .iter()
            .enumerate()
            .map(|(i, delays)| (self.links[i / self.groups], (i % self.groups) as u32, &delays.histogram))
    }
}
