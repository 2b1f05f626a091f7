//! What every law of this crate is built from: its place, its parameters, and whoever gives the laws that are not here.
//! Imports no law.

use engine::Stream;
use net::{Aqm, Backlog, QueueDiscipline};
use units::{Bytes, Depth, Params, Rate, Room};

use crate::diffserv::{Flows, NoFlows};
use crate::fifo::{Buffer, HUNDRED_PACKETS};

/// Where a law is set up: its link, and its randomness.
#[derive(Clone)]
pub struct Place<'a> {
    /// The rate of the link, or that to which a shaper holds the class.
    pub rate: Rate,
    /// The rate at which the link sends.
    pub link: Rate,
    /// The limit of the buffer.
    pub limit: Depth,
    /// Randomness of the queue's own.
    pub random: Stream,
    /// The flows of the scenario, for those that tell them apart.
    pub flows: &'a dyn Flows,
    /// The name of the link.
    pub name: &'a str,
    /// The laws that this crate does not have.
    pub laws: &'a dyn Laws,
}

impl Place<'_> {
    /// On a link of this rate, where no flows are told apart and no law is given.
    pub fn new(rate: Rate, limit: Depth, random: Stream) -> Self {
        Place { rate, link: rate, limit, random, flows: &NoFlows, name: "link", laws: &NoLaws }
    }

    /// How many packets of this size the link sends in a second.
    pub fn packets_per_second(&self, size: Bytes) -> f64 {
        self.rate.0 as f64 / (8.0 * size.0 as f64)
    }
}

/// Gives the laws that this crate does not have.
pub trait Laws {
    /// Whether there is a law of this name.
    fn has(&self, name: &str) -> bool;
    /// A new law of this name at a place; `link` names the link.
    ///
    /// # Panics
    /// If there is none.
    fn law(&self, name: &str, link: &str, place: Place) -> Box<dyn Aqm + Send>;
}

/// Gives none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLaws;

impl Laws for NoLaws {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn law(&self, name: &str, _: &str, _: Place) -> Box<dyn Aqm + Send> {
        panic!("nobody gave the law {name}");
    }
}

/// The parameters of a law.
pub trait Configures: Params {
    /// The law.
    type Law: Aqm;
    /// Whether the law counts on what it lets in leaving in order, each at its time: then nothing but
    /// the tail may be dropped when the buffer is full.
    const COUNTS_ON_ORDER: bool = false;
    /// The limit of its buffer, unless it is given.
    const LIMIT: Room = HUNDRED_PACKETS;
    /// The law at a place.
    fn law(&self, place: Place) -> Self::Law;
}

/// The parameters of a discipline that keeps its packets until they are sent.
pub trait Keeps: Params {
    /// The discipline.
    type Discipline: QueueDiscipline;
    /// The limit of its buffer, unless it is given.
    const LIMIT: Room = HUNDRED_PACKETS;
    /// The discipline at a place, behind this buffer.
    fn discipline(&self, buffer: &Buffer, place: Place) -> Self::Discipline;
}

/// What waits, counted as `like` counts.
#[inline]
pub fn measure(backlog: Backlog, like: Depth) -> f64 {
    match like {
        Depth::Packets(_) => f64::from(backlog.packets),
        Depth::Bytes(_) => backlog.bytes as f64,
    }
}
