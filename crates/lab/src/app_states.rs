//! Application states. An application state exists for each connection whose application still acts
//! after the opening of the connection. The application states are stored separately from the
//! connection slots, so a connection without an application state needs no memory for it.

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
    /// First byte of the received data that was not yet announced to the application.
    pub next: Seq,
    /// True after the application was notified that the connection is open.
    pub opened: bool,
    /// True after the application was notified that the peer closed the connection.
    pub ended: bool,
    /// True if the simulator notifies the application only of complete messages
    /// ([`Needs::messages`](traffic::application::Needs::messages)).
    pub whole: bool,
}

impl AppState {
    /// Application state at an endpoint of a new connection.
    pub const NEW: AppState = AppState {
        state: EndpointState { written: 0, received: 0, begun: 0, ended: 0, awaited: 0, since: Time::ZERO },
        wake: Time::NEVER,
        next: Seq(1), // The SYN has sequence number 0.
        opened: false,
        ended: false,
        whole: false,
    };
}

/// Index of a connection without application states. The indices of connections with application
/// states at both endpoints are smaller than `NONE`.
pub const NONE: u32 = u32::MAX;
/// Bit that is set in the index of a connection with application states at both endpoints.
const BOTH: u32 = 1 << 31;

/// Application states of all connections that have application states. If the application at the
/// server receives no events, only the client has an application state.
#[derive(Debug, Default)]
pub struct AppStates {
    both: Slab<[AppState; 2]>,
    clients: Slab<AppState>,
}

impl AppStates {
    /// Add the application states of a new connection and return their index. If `both` is true,
    /// both endpoints receive a state, otherwise only the client.
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

    /// Return mutable references to the application states of a connection, the client's state
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

    /// Return the application states of a connection, the client's state first.
    #[inline]
    pub fn get(&self, index: u32) -> &[AppState] {
        let at = (index & !BOTH) as usize;
        if index & BOTH != 0 {
            self.both.all.get(at).map_or(&[], |ends| &ends[..])
        } else {
            self.clients.all.get(at).map_or(&[], from_ref)
        }
    }

    /// Return the memory size of all application states in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.both.all[..]) + size_of_val(&self.clients.all[..])
    }
}

/// Vector that uses its freed elements again.
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
