//! What is kept of connections whose application does something after the opening, beside their slots: flows without
//! such an application have nothing here.

use std::slice::{from_mut, from_ref};

use net::Seq;
use traffic::application::EndpointState;
use units::Time;

/// An end of such a connection.
#[derive(Clone, Copy, Debug)]
pub struct AppState {
    /// What the application remembers.
    pub state: EndpointState,
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

impl AppState {
    /// An end of a new connection.
    pub const NEW: AppState = AppState {
        state: EndpointState { written: 0, received: 0, begun: 0, ended: 0, awaited: 0, since: Time::ZERO },
        wake: Time::NEVER,
        next: Seq(1), // every first sequence number is 0
        opened: false,
        ended: false,
        whole: false,
    };
}

/// The index of a connection that has none here: none of two ends is that far.
pub const NONE: u32 = u32::MAX;
/// What the number of a index begins with where both ends have one.
const BOTH: u32 = 1 << 31;

/// The ends of all such connections: where an application is told nothing at the server's end, the client's alone.
#[derive(Debug, Default)]
pub struct AppStates {
    both: Slab<[AppState; 2]>,
    clients: Slab<AppState>,
}

impl AppStates {
    /// A index for a new connection; `both`: for both its ends.
    pub fn add(&mut self, both: bool) -> u32 {
        if both { self.both.add([AppState::NEW; 2]) | BOTH } else { self.clients.add(AppState::NEW) }
    }

    /// The index of a connection that is over.
    pub fn free(&mut self, index: u32) {
        match index {
            NONE => {}
            index if index & BOTH != 0 => self.both.free.push(index & !BOTH),
            index => self.clients.free.push(index),
        }
    }

    /// The ends of a connection that have a index, that which opened it first.
    #[inline]
    pub fn of(&mut self, index: u32) -> &mut [AppState] {
        let at = (index & !BOTH) as usize;
        if index & BOTH != 0 {
            self.both.all.get_mut(at).map_or(&mut [], |ends| &mut ends[..])
        } else {
            self.clients.all.get_mut(at).map_or(&mut [], from_mut)
        }
    }

    /// The same, to look at.
    #[inline]
    pub fn get(&self, index: u32) -> &[AppState] {
        let at = (index & !BOTH) as usize;
        if index & BOTH != 0 {
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

/// Slab that are used again.
#[derive(Debug)]
struct Slab<T> {
    all: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { all: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    fn add(&mut self, new: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.all[index as usize] = new;
            return index;
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
        let mut states = AppStates::default();
        let indices = [false, true, false].map(|both| states.add(both));
        for (i, &index) in indices.iter().enumerate() {
            states.of(index).iter_mut().for_each(|app| app.state.begun = i as u32 + 1);
        }
        let seen =
            |states: &AppStates, index| states.get(index).iter().map(|a| a.state.begun).collect::<Vec<_>>();
        assert_eq!(indices.map(|index| seen(&states, index)), [vec![1], vec![2, 2], vec![3]]);
        assert!(states.get(NONE).is_empty() && states.of(NONE).is_empty());
        indices.iter().for_each(|&index| states.free(index));
        assert_eq!([true, false].map(|both| states.add(both)), [indices[1], indices[2]]);
        assert_eq!([1, 2].map(|i| seen(&states, indices[i])), [vec![0, 0], vec![0]]);
        assert_eq!(states.bytes(), 4 * size_of::<AppState>());
    }
}
