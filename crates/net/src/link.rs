//! Link: queue → transmitter → propagation, with at most one pending event.
//!
//! The queue decides on arrival and serves first in, first out. When it admits a packet, the
//! packet's times are therefore known: the begin and end of its transmission, and its arrival at
//! the far end. The packet enters the pipe, a queue in the network's store of packets in flight,
//! with its arrival time. The link's only event is the first arrival in the pipe. The backlog at a
//! time consists of the packets whose transmission has not begun by then.
//!
//! This file defines the struct `Link`. The functions of `Link` are in one file per task.

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

pub use admission::Received;
use flight::Pipe;
pub use flight::{Flight, InPipe, Position};
pub use pace::{Opportunities, Pace, Steps};
use pass_on::NO_LINK;
pub use transmitter::{byte_time, time_to_send};

/// Observer of drops and marks at a link.
pub trait Probe {
    /// Record that a packet was dropped or marked.
    fn fate(&mut self, now: Time, fate: &Fate);
}

/// Probe that ignores all drops and marks.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn fate(&mut self, _: Time, _: &Fate) {}
}

/// One-way link. The fields that every packet uses come first, in the order of cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link<Q> {
    /// Time at which the transmitter finishes all packets admitted so far.
    free_at: Time,
    /// Transmission time per byte in picoseconds, times 2^FRACTION.
    byte_time: u64,
    delay: Duration,
    /// Packets that were admitted and not delivered, in order of arrival.
    pipe: Pipe,
    waiting_bytes: u64,
    /// Remaining transmission time below which the queue certainly admits a packet, so that the
    /// backlog is not counted ([`Link::leave_uncounted`]).
    uncounted: Duration,
    /// Number of the link before this link if this link only delays packets, else [`NO_LINK`].
    feeder: u32,
    /// True if the link requests the next packet from a queue that stores its packets at `free_at`.
    /// `resumes` is true if the queue itself returned the time of the event, instead of a packet in
    /// service.
    asks: bool,
    resumes: bool,
    /// True if the queue certainly admits a packet that arrives while the transmitter is idle.
    takes_when_free: bool,
    counters: LinkCounters,
    /// Queue of the link.
    queue: Q,
    /// Start of the transmission, and size, of each packet that waits in the queue of the link.
    waiting: VecDeque<(Time, u16)>,
    fates: Fates,
    /// Changes of the link's rate, if the rate is variable.
    pace: Option<Box<Pace>>,
}

impl<Q: LinkQueue> Link<Q> {
    /// Create a link with this rate and propagation delay behind `queue`.
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

    /// Return the queue.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// Return the counters, which include the packets that the previous link has scheduled to
    /// enter.
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }
}
