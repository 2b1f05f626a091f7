//! A class of the tree: its buckets, and its colour.

use units::{Bytes, Duration, Rate, Time};

use super::super::bucket::{brings, price, time_for};
use super::ring::Ring;

pub(super) const PRIORITIES: usize = 8;
/// Levels of a tree: leaves are on 0, classes without a parent on 7.
pub(super) const LEVELS: usize = 8;
/// How long a debt is remembered.
pub(super) const MEMORY: Duration = Duration::from_millis(60_000);

/// What a class may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Neither send nor borrow: it exceeds its ceil.
    Red,
    /// Borrow.
    Yellow,
    /// Send.
    Green,
}

/// One of the two buckets of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) rate: Rate,
    pub(super) depth: i128,
    pub(super) tokens: i128,
}

impl Side {
    pub(super) fn new(rate: Rate, burst: Bytes) -> Self {
        Side { rate, depth: price(burst.0), tokens: price(burst.0) }
    }

    /// Adds what a span brought, and takes a price.
    pub(super) fn charge(&mut self, span: Duration, price: i128) {
        let most = brings(MEMORY, self.rate);
        let tokens = (self.tokens + brings(span, self.rate)).min(self.depth) - price;
        self.tokens = tokens.max(1 - most);
    }

    /// How long, a span after the last charge, until it is out of debt.
    pub(super) fn debt(&self, span: Duration) -> Option<Duration> {
        let tokens = self.tokens + brings(span, self.rate);
        (tokens < 0).then(|| time_for(-tokens, self.rate))
    }
}

/// A class.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: Option<usize>,
    pub(super) level: usize,
    pub(super) prio: usize,
    /// Its place among the leaves.
    pub(super) class: usize,
    pub(super) quantum: i64,
    /// For each level from which it borrows.
    pub(super) deficit: [i64; LEVELS],
    pub(super) rate: Side,
    pub(super) ceil: Side,
    /// When tokens were counted last.
    pub(super) since: Time,
    pub(super) mode: Mode,
    /// When its mode may change by itself.
    pub(super) wakes: Option<Time>,
    /// The priorities at which it, or what is below it, has packets: a bit each.
    pub(super) active: u8,
    /// The yellow classes below it that have packets, for each priority.
    pub(super) feeds: [Ring; PRIORITIES],
}

impl Node {
    pub(super) fn span(&self, now: Time) -> Duration {
        now.since(self.since).min(MEMORY)
    }

    /// Its mode, and how long that lasts if nothing is sent.
    pub(super) fn mode(&self, span: Duration) -> (Mode, Duration) {
        if let Some(wait) = self.ceil.debt(span) {
            return (Mode::Red, wait);
        }
        match self.rate.debt(span) {
            None => (Mode::Green, Duration::ZERO),
            Some(wait) => (Mode::Yellow, wait),
        }
    }
}
