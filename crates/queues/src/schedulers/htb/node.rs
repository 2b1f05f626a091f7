//! Class of the HTB tree with its token buckets and its mode.

use units::{Bytes, Duration, Rate, Time};

use super::super::bucket::{brings, price, time_for};
use super::ring::Ring;

pub(super) const PRIORITIES: usize = 8;
/// Number of levels of a tree. Leaves are on level 0, and classes without a parent on level 7.
pub(super) const LEVELS: usize = 8;
/// Maximum time that a class takes to pay a debt, which limits the debt.
pub(super) const MEMORY: Duration = Duration::from_millis(60_000);

/// Permission of a class to send with its own bandwidth or with borrowed bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The class may neither send nor borrow, because it exceeds its ceil.
    Red,
    /// The class may send with borrowed bandwidth, because it exceeds its rate but not its ceil.
    Yellow,
    /// The class may send with its own bandwidth, because it does not exceed its rate.
    Green,
}

/// Token bucket of a class: that of the rate or that of the ceil.
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

    /// Add the tokens that arrive in the time `span`, and subtract the tokens for a packet.
    pub(super) fn charge(&mut self, span: Duration, price: i128) {
        let most = brings(MEMORY, self.rate);
        let tokens = (self.tokens + brings(span, self.rate)).min(self.depth) - price;
        self.tokens = tokens.max(1 - most);
    }

    /// Return the remaining time until the debt of the bucket is paid, if the time `span` has
    /// passed since the last charge. If the debt is at most `allowed` tokens, return `None`.
    pub(super) fn debt(&self, span: Duration, allowed: i128) -> Option<Duration> {
        let tokens = self.tokens + brings(span, self.rate);
        (tokens < -allowed).then(|| time_for(-tokens, self.rate))
    }
}

/// State of a class.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: Option<usize>,
    pub(super) level: usize,
    pub(super) prio: usize,
    /// Index of the leaf in the list of leaves.
    pub(super) class: usize,
    pub(super) quantum: i64,
    /// Deficit of a leaf for each level whose bandwidth the leaf uses.
    pub(super) deficit: [i64; LEVELS],
    pub(super) rate: Side,
    pub(super) ceil: Side,
    /// True if the class keeps its mode until its debt exceeds its burst or cburst.
    pub(super) hysteresis: bool,
    /// Time up to which tokens have been added.
    pub(super) since: Time,
    pub(super) mode: Mode,
    /// Time at which the mode may change although no packet is sent, because tokens arrive.
    pub(super) wakes: Option<Time>,
    /// Bit mask of the priorities at which the class, or a class below it, has packets.
    pub(super) active: u8,
    /// One ring per priority: the yellow classes with packets that borrow from this class.
    pub(super) feeds: [Ring; PRIORITIES],
}

impl Node {
    pub(super) fn span(&self, now: Time) -> Duration {
        now.since(self.since).min(MEMORY)
    }

    /// Return the maximum debts at the rate and at the ceil with which the class keeps its mode
    /// (htb_hiwater and htb_lowater of sch_htb.c).
    fn allowed(&self) -> (i128, i128) {
        match self.mode {
            Mode::Green if self.hysteresis => (self.rate.depth, self.ceil.depth),
            Mode::Yellow if self.hysteresis => (0, self.ceil.depth),
            _ => (0, 0),
        }
    }

    /// Return the mode of the class, and the time for which the class stays in this mode if it does
    /// not send a packet (htb_class_mode of sch_htb.c).
    pub(super) fn mode(&self, span: Duration) -> (Mode, Duration) {
        let (at_rate, at_ceil) = self.allowed();
        if let Some(wait) = self.ceil.debt(span, at_ceil) {
            return (Mode::Red, wait);
        }
        match self.rate.debt(span, at_rate) {
            None => (Mode::Green, Duration::ZERO),
            Some(wait) => (Mode::Yellow, wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modes agree with htb_class_mode of sch_htb.c, with htb_hysteresis 1 and 0, for each
    /// previous mode and for tokens around 0 and -1600 bytes. The debt at which the mode changes
    /// depends on the previous mode: green, yellow or red.
    #[test]
    fn modes_are_those_of_the_kernel() {
        use Mode::{Green, Red, Yellow};
        let mode = |before, hysteresis, tokens: [i64; 2]| {
            let side = |bytes: i64| Side {
                tokens: i128::from(bytes) * price(1),
                ..Side::new(Rate(8000), Bytes(1600))
            };
            let node = Node {
                parent: None,
                level: 0,
                prio: 0,
                class: 0,
                quantum: 1000,
                deficit: [0; LEVELS],
                rate: side(tokens[0]),
                ceil: side(tokens[1]),
                hysteresis,
                since: Time::ZERO,
                mode: before,
                wakes: None,
                active: 0,
                feeds: Default::default(),
            };
            node.mode(Duration::ZERO)
        };
        for (tokens, without, [green, yellow, red]) in [
            ([0, 0], Green, [Green, Green, Green]),
            ([-1, 0], Yellow, [Green, Yellow, Yellow]),
            ([-1600, 0], Yellow, [Green, Yellow, Yellow]),
            ([-1601, 0], Yellow, [Yellow, Yellow, Yellow]),
            ([0, -1], Red, [Green, Green, Red]),
            ([-1, -1600], Red, [Green, Yellow, Red]),
            ([-1601, -1600], Red, [Yellow, Yellow, Red]),
            ([0, -1601], Red, [Red, Red, Red]),
        ] {
            for (before, with) in [(Green, green), (Yellow, yellow), (Red, red)] {
                assert_eq!(mode(before, false, tokens).0, without, "{before:?} {tokens:?}");
                assert_eq!(mode(before, true, tokens).0, with, "{before:?} {tokens:?}");
            }
        }
        // A class that has to wait pays its whole debt before it sends again, even if hysteresis
        // allows a debt of up to the burst. At 1 kB/s a debt of 1601 B takes 1.601 s.
        assert_eq!(mode(Green, true, [-1601, 0]).1, Duration::from_millis(1601));
        assert_eq!(mode(Yellow, true, [0, -1601]).1, Duration::from_millis(1601));
    }
}
