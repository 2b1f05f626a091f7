//! Traits and context from which each queue of a scenario is built. The file `aqm.rs` does not
//! depend on any AQM.

use std::fmt;

use engine::Stream;
use net::{Aqm, Backlog, Declared, QueueDiscipline};
use units::param::Renamed;
use units::{Bytes, Depth, Params, Rate, Room};

use crate::diffserv::{Flows, NoFlows};
use crate::fifo::{Buffer, HUNDRED_PACKETS};

/// Former key `least_backlog`, which several AQMs now call `min_backlog`.
pub const FORMER_BACKLOG_KEY: &[Renamed] = &[Renamed::key("least_backlog", "min_backlog")];

/// Link, buffer limit and random stream for which a queue is built.
#[derive(Clone)]
pub struct QueueContext<'a> {
    /// Rate of the link. If the queue belongs to a class with a rate, `rate` is the rate of the
    /// class.
    pub rate: Rate,
    /// Transmission rate of the link.
    pub link: Rate,
    /// Limit of the buffer.
    pub limit: Depth,
    /// Random stream of this queue.
    pub random: Stream,
    /// Flows of the scenario, for queues that classify packets by flow.
    pub flows: &'a dyn Flows,
    /// Name of the link.
    pub name: &'a str,
    /// AQMs that the calling program supplies.
    pub custom: &'a dyn CustomAqms,
}

impl QueueContext<'_> {
    /// Create the context of a link with the rate `rate`, without flows and without custom AQMs.
    pub fn new(rate: Rate, limit: Depth, random: Stream) -> Self {
        QueueContext { rate, link: rate, limit, random, flows: &NoFlows, name: "link", custom: &NoCustomAqms }
    }

    /// Return the number of packets of this size that the queue can send per second.
    pub fn packets_per_second(&self, size: Bytes) -> f64 {
        self.rate.0 as f64 / (8.0 * size.0 as f64)
    }
}

/// Supplier of AQMs that this crate does not contain.
pub trait CustomAqms {
    /// Return true if the supplier has an AQM of this name.
    fn has(&self, name: &str) -> bool;
    /// Create an AQM of this name for the link `link`.
    ///
    /// # Panics
    /// The function panics if the supplier does not have an AQM of this name.
    fn aqm(&self, name: &str, link: &str, context: QueueContext) -> Box<dyn Aqm + Send>;
}

/// Supplier without any AQM.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCustomAqms;

impl CustomAqms for NoCustomAqms {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn aqm(&self, name: &str, _: &str, _: QueueContext) -> Box<dyn Aqm + Send> {
        panic!("no program supplied the AQM {name}");
    }
}

/// Parameters of an AQM that decides on each packet at the packet's arrival.
pub trait AqmParams: Params + 'static {
    /// AQM that has these parameters.
    type Aqm: Aqm + fmt::Debug + Send + 'static;
    /// True if the AQM requires that admitted packets leave in order and at times that are known at
    /// their admission. If this constant is true, a full buffer drops only the arriving packet.
    const COUNTS_ON_ORDER: bool = false;
    /// Default limit of the buffer, for a scenario that does not set a limit.
    const LIMIT: Room = HUNDRED_PACKETS;
    /// Rules and variables of the AQM, by which it explains its drops and marks.
    const DECLARED: &'static [Declared] = &[];
    /// Create the AQM for a link.
    fn aqm(&self, context: QueueContext) -> Self::Aqm;
}

/// Parameters of a queue discipline that stores its packets until they are sent.
pub trait DisciplineParams: Params + 'static {
    /// Queue discipline that has these parameters.
    type Discipline: QueueDiscipline + fmt::Debug + Send + 'static;
    /// Default limit of the buffer, for a scenario without a limit.
    const LIMIT: Room = HUNDRED_PACKETS;
    /// Rules and variables of the queue discipline, by which it explains its drops and marks.
    const DECLARED: &'static [Declared] = &[];
    /// Create the queue discipline for a link, with the limits of `buffer`.
    fn discipline(&self, buffer: &Buffer, context: QueueContext) -> Self::Discipline;
}

/// Return the backlog in packets if `like` is in packets, or else in bytes.
#[inline]
pub fn measure(backlog: Backlog, like: Depth) -> f64 {
    match like {
        Depth::Packets(_) => f64::from(backlog.packets),
        Depth::Bytes(_) => backlog.bytes as f64,
    }
}
