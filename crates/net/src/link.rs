//! A link: queue → transmitter → propagation, with at most one pending event.
//!
//! The queue decides on arrival and serves first in, first out, so when a packet is admitted its
//! times are known: when its transmission begins, when it ends, when it reaches the far end. It goes
//! into the pipe, a queue in the network's store of what is in flight, with its arrival, and the link's only event is the first arrival in the pipe. How much
//! waits at some instant is what has not begun by then.
//!
//! The struct stands here; what it does is in a file a job.

mod admission;
mod audit;
mod flight;
mod holding;
mod pace;
mod pass_on;
mod pipe;
#[cfg(test)]
mod tests;
mod transmitter;

use std::collections::VecDeque;

use units::{Duration, Rate, Time};

use crate::discipline::{Fate, Fates, LinkQueue};
use crate::ledger::Ledger;

pub use admission::Received;
use flight::Pipe;
pub use flight::{Flight, InPipe, Position};
pub use pace::{Opportunities, Pace, Steps};
use pass_on::NO_LINK;
pub use transmitter::{byte_time, time_to_send};

/// Sees what becomes of packets at a link.
pub trait Probe {
    /// A packet was dropped or marked.
    fn fate(&mut self, now: Time, fate: &Fate);
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn fate(&mut self, _: Time, _: &Fate) {}
}

/// A one-way link. What every packet touches comes first, in the order of cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link<Q> {
    /// When the transmitter has sent everything admitted so far.
    free_at: Time,
    /// Picoseconds to send a byte, times 2^FRACTION.
    byte_time: u64,
    delay: Duration,
    /// Everything admitted and not delivered, in order of arrival.
    pipe: Pipe,
    waiting_bytes: u64,
    /// While less than this is to be sent, packets surely find room and what waits is not counted ([`Link::leave_uncounted`]).
    uncounted: Duration,
    /// The one link before this one, if this one only delays; else [`NO_LINK`].
    feeder: u32,
    /// Where the queue keeps its packets: whether it is asked for the next one at `free_at`, and whether that is
    /// because it told the time, not because a packet is in service until then.
    asks: bool,
    resumes: bool,
    /// Whether the queue surely takes what finds the transmitter free.
    takes_when_free: bool,
    ledger: Ledger,
    /// Its queue.
    queue: Q,
    /// Of what waits: when its transmission begins, and its size.
    waiting: VecDeque<(Time, u16)>,
    fates: Fates,
    /// How its rate changes, if it does.
    pace: Option<Box<Pace>>,
}

impl<Q: LinkQueue> Link<Q> {
    /// A link of this rate and propagation delay behind `queue`.
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
            ledger: Ledger::default(),
            queue,
            waiting: VecDeque::new(),
            fates: Fates::default(),
            pace: None,
        }
    }

    /// Its queue.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// The ledger, with everything that was promised by the link before it.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}
