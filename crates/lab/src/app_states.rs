//! States of applications that act after the opening of their connection. The states are stored
//! beside the slots of connections, so that a flow without such an application needs no memory
//! here.

use std::slice::{from_mut, from_ref};

use net::Seq;
use traffic::application::EndpointState;
use units::Time;

/// State of the application at one endpoint.
#[derive(Clone, Copy, Debug)]
pub struct AppState {
    /// State that the application stores from one event to the next.
    pub state: EndpointState,
    /// Time of the application's next wake-up, or [`Time::NEVER`] if the application has set none.
    pub wake: Time,
    /// First byte whose arrival the application was not yet notified of.
    pub next: Seq,
    /// True after the application was notified that the connection is open.
    pub opened: bool,
    /// True after the application was notified that the peer closed the connection.
    pub ended: bool,
    /// True if the application is notified of complete messages only
    /// ([`Needs::messages`](traffic::application::Needs::messages)).
    pub whole: bool,
}

impl AppState {
    /// State at an endpoint of a new connection.
    pub const NEW: AppState = AppState {
        state: EndpointState { written: 0, received: 0, begun: 0, ended: 0, awaited: 0, since: Time::ZERO },
        wake: Time::NEVER,
        next: Seq(1), // The SYN has sequence number 0.
        opened: false,
        ended: false,
        whole: false,
    };
}

/// Index that stands for a connection without application states. This index is larger than the
/// index of any connection with states at both endpoints.
pub const NONE: u32 = u32::MAX;
/// Bit that is set in the index of a connection with states at both endpoints.
const BOTH: u32 = 1 << 31;

/// States of the applications of all connections that have such states. If the application at the
/// server receives no events, the connection has a state at the client only.
#[derive(Debug, Default)]
pub struct AppStates {
    both: Slab<[AppState; 2]>,
    clients: Slab<AppState>,
}

impl AppStates {
    /// Add the application states of a new connection and return their index. If `both` is true,
    /// both endpoints have a state.
    pub fn add(&mut self, both: bool) -> u32 {
        if both { self.both.add([AppState::NEW; 2]) | BOTH } else { self.clients.add(AppState::NEW) }
    }

    /// Free the application states of a closed connection.
    pub fn free(&mut self, index: u32) {
        match index {
            NONE => {}
            index if index & BOTH != 0 => self.both.free.push(index & !BOTH),
            index => self.clients.free.push(index),
        }
    }

    /// Return mutable references to the application states of a connection, the state of the client
    /// first.
    #[inline]
    pub fn of(&mut self, index: u32) -> &mut [AppState] {
        let at = (index & !BOTH) as usize;
        if index & BOTH != 0 {
            self.both.all.get_mut(at).map_or(&mut [], |ends| &mut ends[..])
        } else {
            self.clients.all.get_mut(at).map_or(&mut [], from_mut)
        }
    }

    /// Return the application states of a connection, the state of the client first.
    #[inline]
    pub fn get(&self, index: u32) -> &[AppState] {
        let at = (index & !BOTH) as usize;
        if index & BOTH != 0 {
            self.both.all.get(at).map_or(&[], |ends| &ends[..])
        } else {
            self.clients.all.get(at).map_or(&[], from_ref)
        }
    }

    /// Return the memory of all application states in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.both.all[..]) + size_of_val(&self.clients.all[..])
    }
}

/// Vector whose freed elements are used again.
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
            self.all.reserve_exact(self.all.len() / 4 + 64); // Doubling a million would waste memory.
        }
        self.all.push(new);
        self.all.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_states_are_used_again_by_connections_of_the_same_kind() {
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
