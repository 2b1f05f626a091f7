//! What is kept of connections whose application does something after the opening, beside their slots: flows without
//! such an application have nothing here.

use net::Seq;
use traffic::application::Memory;
use units::Time;

/// An end of such a connection.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// What the application remembers.
    pub memory: Memory,
    /// When it is woken; [`Time::NEVER`]: it is not.
    pub wake: Time,
    /// The first byte that it was not told of.
    pub next: Seq,
    /// Whether it was told that the connection is open, and that the other end has closed.
    pub opened: bool,
    pub ended: bool,
    /// Whether it is told of whole things alone ([`Wants::whole`](traffic::application::Wants::whole)).
    pub whole: bool,
}

impl Actor {
    /// An end of a new connection.
    pub const NEW: Actor = Actor {
        memory: Memory { written: 0, received: 0, begun: 0, ended: 0, place: 0, since: Time::ZERO },
        wake: Time::NEVER,
        next: Seq(1), // every first sequence number is 0
        opened: false,
        ended: false,
        whole: false,
    };
}

/// The place of a connection that has none here.
pub const NONE: u32 = u32::MAX;

/// The ends of all such connections.
#[derive(Debug, Default)]
pub struct Acting {
    ends: Vec<[Actor; 2]>,
    free: Vec<u32>,
}

impl Acting {
    /// A place for a new connection.
    pub fn add(&mut self) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.ends[place as usize] = [Actor::NEW; 2];
                place
            }
            None => {
                self.ends.push([Actor::NEW; 2]);
                self.ends.len() as u32 - 1
            }
        }
    }

    /// The place of a connection that is over.
    pub fn free(&mut self, place: u32) {
        if place != NONE {
            self.free.push(place);
        }
    }

    /// The ends of a connection, that which opened it first; none: it has no place.
    pub fn of(&mut self, place: u32) -> Option<&mut [Actor; 2]> {
        self.ends.get_mut(place as usize)
    }

    /// The same, to look at.
    pub fn get(&self, place: u32) -> Option<&[Actor; 2]> {
        self.ends.get(place as usize)
    }

    /// What it takes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.ends[..])
    }
}
