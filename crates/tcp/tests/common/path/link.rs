//! A FIFO link.

use std::collections::VecDeque;

use units::{Bytes, Rate, Time};

/// A FIFO link; without a rate nothing queues.
#[derive(Clone, Debug, Default)]
pub struct Link {
    pub rate: Option<Rate>,
    /// Packets it holds, that in service included.
    pub limit: usize,
    pub drops: u64,
    leaving: VecDeque<Time>,
}

impl Link {
    /// A bottleneck.
    pub fn new(rate: Rate, limit: usize) -> Self {
        Link { rate: Some(rate), limit, ..Link::default() }
    }

    /// When a packet that arrives now has left; `None`: it was dropped.
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
