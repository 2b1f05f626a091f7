//! What is kept of connections whose application does something after the opening, beside their slots: flows without
//! such an application have nothing here.

use std::slice::{from_mut, from_ref};

use net::Seq;
use traffic::application::EndpointState;
use units::Time;

/// An end of such a connection.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// What the application remembers.
    pub memory: EndpointState,
    /// When it is woken; [`Time::NEVER`]: it is not.
    pub wake: Time,
    /// The first byte that it was not told of.
    pub next: Seq,
    /// Whether it was told that the connection is open, and that the other end has closed.
    pub opened: bool,
    pub ended: bool,
    /// Whether it is told of whole things alone ([`Needs::messages`](traffic::application::Needs::whole)).
    pub whole: bool,
}

impl Actor {
    /// An end of a new connection.
    pub const NEW: Actor = Actor {
        memory: EndpointState { written: 0, received: 0, begun: 0, ended: 0, awaited: 0, since: Time::ZERO },
        wake: Time::NEVER,
        next: Seq(1), // every first sequence number is 0
        opened: false,
        ended: false,
        whole: false,
    };
}

/// The place of a connection that has none here: none of two ends is that far.
pub const NONE: u32 = u32::MAX;
/// What the number of a place begins with where both ends have one.
const BOTH: u32 = 1 << 31;

/// The ends of all such connections: where an application is told nothing at the server's end, the client's alone.
#[derive(Debug, Default)]
pub struct Acting {
    both: Places<[Actor; 2]>,
    clients: Places<Actor>,
}

impl Acting {
    /// A place for a new connection; `both`: for both its ends.
    pub fn add(&mut self, both: bool) -> u32 {
        if both { self.both.add([Actor::NEW; 2]) | BOTH } else { self.clients.add(Actor::NEW) }
    }

    /// The place of a connection that is over.
    pub fn free(&mut self, place: u32) {
        match place {
            NONE => {}
            place if place & BOTH != 0 => self.both.free.push(place & !BOTH),
            place => self.clients.free.push(place),
        }
    }

    /// The ends of a connection that have a place, that which opened it first.
    #[inline]
    pub fn of(&mut self, place: u32) -> &mut [Actor] {
        let at = (place & !BOTH) as usize;
        if place & BOTH != 0 {
            self.both.all.get_mut(at).map_or(&mut [], |ends| &mut ends[..])
        } else {
            self.clients.all.get_mut(at).map_or(&mut [], from_mut)
        }
    }

    /// The same, to look at.
    #[inline]
    pub fn get(&self, place: u32) -> &[Actor] {
        let at = (place & !BOTH) as usize;
        if place & BOTH != 0 {
            self.both.all.get(at).map_or(&[], |ends| &ends[..])
        } else {
            self.clients.all.get(at).map_or(&[], from_ref)
        }
    }

    /// What it takes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.both.all[..]) + size_of_val(&self.clients.all[..])
    }
}

/// Places that are used again.
#[derive(Debug)]
struct Places<T> {
    all: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Places { all: Vec::new(), free: Vec::new() }
    }
}

impl<T> Places<T> {
    fn add(&mut self, new: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.all[place as usize] = new;
            return place;
        }
        if self.all.len() == self.all.capacity() {
            self.all.reserve_exact(self.all.len() / 4 + 64); // among a million, doubling would leave much unused
        }
        self.all.push(new);
        self.all.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_of_one_end_or_of_two_and_is_used_again() {
        let mut acting = Acting::default();
        let places = [false, true, false].map(|both| acting.add(both));
        for (i, &place) in places.iter().enumerate() {
            acting.of(place).iter_mut().for_each(|actor| actor.memory.begun = i as u32 + 1);
        }
        let seen =
            |acting: &Acting, place| acting.get(place).iter().map(|a| a.memory.begun).collect::<Vec<_>>();
        assert_eq!(places.map(|place| seen(&acting, place)), [vec![1], vec![2, 2], vec![3]]);
        assert!(acting.get(NONE).is_empty() && acting.of(NONE).is_empty());
        places.iter().for_each(|&place| acting.free(place));
        assert_eq!([true, false].map(|both| acting.add(both)), [places[1], places[2]]);
        assert_eq!([1, 2].map(|i| seen(&acting, places[i])), [vec![0, 0], vec![0]]);
        assert_eq!(acting.bytes(), 4 * size_of::<Actor>());
    }
}
