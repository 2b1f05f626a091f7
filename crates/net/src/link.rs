//! A link consists of a queue, a transmitter and the propagation, and has at most one pending
//! event.
//!
//! The queue decides on a packet at its arrival, and serves packets first in, first out. When the
//! queue admits a packet, the link therefore knows the beginning and the end of the packet's
//! transmission, and its arrival at the far end. The link puts an admitted packet with its arrival
//! time into its pipe, a queue of packets in flight. The only event of a link is the arrival of the
//! first packet in its pipe. The backlog at a time consists of the packets whose transmission has
//! not begun at that time.
//!
//! This file defines the struct `Link`. Each task of `Link` has its own file with the functions of
//! this task.

mod admission;
mod audit;
mod flight;
mod pace;
mod pass_on;
mod pipe;
mod storing;
#[cfg(test)]
mod tests;
mod transmitter;

use std::collections::VecDeque;

use units::{Duration, Rate, Time};

use crate::counters::LinkCounters;
use crate::discipline::{Fate, Fates, LinkQueue};
use crate::explanation::Explanation;

pub use admission::Received;
use flight::Pipe;
pub use flight::{Flight, InPipe, Position};
pub use pace::{Opportunities, Pace, Steps};
use pass_on::NO_LINK;
pub use transmitter::{byte_time, time_to_send};

/// Observer of drops and marks at a link.
pub trait Probe {
    /// Record that a packet was dropped or marked. `explanation` has the rule and the variables of
    /// the queue if the link [explains](Link::explain) its drops and marks.
    fn fate(&mut self, now: Time, fate: &Fate, explanation: Option<&Explanation>);
}

/// Probe that ignores all drops and marks.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn fate(&mut self, _: Time, _: &Fate, _: Option<&Explanation>) {}
}

/// One-way link. The order of the fields follows the cache lines: fields that every packet uses
/// come first.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link<Q> {
    /// Time at which the transmitter finishes all packets admitted so far.
    free_at: Time,
    /// Transmission time per byte in picoseconds, times 2^FRACTION.
    byte_time: u64,
    delay: Duration,
    /// Packets that the link admitted and has not yet delivered, in order of arrival.
    pipe: Pipe,
    waiting_bytes: u64,
    /// Limit of the remaining transmission time. Below this limit the queue admits every packet, so
    /// the link does not count its backlog ([`Link::leave_uncounted`]).
    uncounted: Duration,
    /// Number of the previous link, if this link only delays the packets of the previous link.
    /// If this link does not only delay packets, the value is [`NO_LINK`].
    feeder: u32,
    /// True if the link will request the next packet from its queue discipline at the time
    /// `free_at`. `resumes` is true if a shaper returned the time `free_at`. If `resumes` is false,
    /// `free_at` is the end of the transmission in progress.
    asks: bool,
    resumes: bool,
    /// True if the queue admits every packet that arrives while the transmitter is idle.
    takes_when_free: bool,
    counters: LinkCounters,
    /// Queue of the link.
    queue: Q,
    /// Start of transmission and size of each packet that waits in the queue of the link.
    waiting: VecDeque<(Time, u16)>,
    fates: Fates,
    /// Model of the link's rate, if the rate changes over time.
    pace: Option<Box<Pace>>,
}

impl<Q: LinkQueue> Link<Q> {
    /// Create a link from a rate, a propagation delay and a queue.
    pub fn new(rate: Rate, delay: Duration, queue: Q) -> Self {
        Link {
            free_at: Time::ZERO,
            byte_time: byte_time(rate),
            delay,
            pipe: Pipe::default(),
            waiting_bytes: 0,
            uncounted: Duration::ZERO,
            feeder: NO_LINK,
            asks: false,
            resumes: false,
            takes_when_free: queue.passes_below().is_some_and(|n| n > 0),
            counters: LinkCounters::default(),
            queue,
            waiting: VecDeque::new(),
            fates: Fates::default(),
            pace: None,
        }
    }

    /// Explain each drop and mark of the queue to the probe from now on.
    pub fn explain(&mut self) {
        self.fates.explain();
    }

    /// Return the queue.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// Return the queue, for a change from outside of the link. A change that makes a packet ready
    /// is followed by a call of [`Link::resume`].
    pub fn queue_mut(&mut self) -> &mut Q {
        &mut self.queue
    }

    /// Return the counters of the link. The counters include packets that the previous link has
    /// admitted and that enter this link later.
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }
}
