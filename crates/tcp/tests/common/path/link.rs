//! A FIFO link.

use std::collections::VecDeque;

use units::{Bytes, Rate, Time};

/// A FIFO link. If the link has no rate, packets pass it without a service time.
#[derive(Clone, Debug, Default)]
pub struct Link {
    pub rate: Option<Rate>,
    /// Maximum number of packets on the link, including the packet in service.
    pub limit: usize,
    pub drops: u64,
    leaving: VecDeque<Time>,
}

impl Link {
    /// Create a link with a rate and a limit.
    pub fn new(rate: Rate, limit: usize) -> Self {
        Link { rate: Some(rate), limit, ..Link::default() }
    }

    /// Return the time at which a packet that arrives now leaves the link, or `None` if the link
    /// drops the packet.
    pub fn pass(&mut self, now: Time, size: u16) -> Option<Time> {
        let Some(rate) = self.rate else { return Some(now) };
        while self.leaving.front().is_some_and(|&t| t <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() >= self.limit {
            self.drops += 1;
            return None;
        }
        let start = self.leaving.back().copied().unwrap_or(now);
        let left = start + rate.transmission_time(Bytes(u64::from(size)));
        self.leaving.push_back(left);
        Some(left)
    }
}
