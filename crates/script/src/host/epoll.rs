//! Epoll instances and their events (epoll(7)).

use std::collections::VecDeque;

/// Events of a readable socket (EPOLLIN, EPOLLRDNORM and others).
pub const IN: i64 = 0x1 | 0x2 | 0x40 | 0x80;
/// Events of a writable socket.
pub const OUT: i64 = 0x4 | 0x100 | 0x200;
/// Event of an entry in the error queue.
pub const ERR: i64 = 0x8;
/// All events, after a change of state.
pub const ALL: i64 = -1;
/// Edge-triggered delivery (EPOLLET).
pub const EDGE: i64 = 1 << 31;
/// Flag for the delivery of one event only (EPOLLONESHOT).
pub const ONCE: i64 = 1 << 30;
/// Events that are delivered without a request (EPOLLERR, EPOLLHUP).
pub const ALWAYS: i64 = 0x8 | 0x10;

/// A descriptor that an epoll instance watches.
#[derive(Clone, Copy, Debug)]
pub struct Interest {
    /// The descriptor.
    pub fd: i64,
    /// Requested events, and the flags of their delivery.
    pub events: i64,
    /// User data, which is delivered with each event.
    pub data: i64,
}

/// An epoll instance (epoll(7)).
#[derive(Clone, Debug, Default)]
pub struct Epoll {
    /// Watched descriptors.
    pub interests: Vec<Interest>,
    /// Descriptors that may be ready, in the order in which they became ready.
    pub ready: VecDeque<i64>,
}

impl Epoll {
    /// Return the entry of a watched descriptor.
    pub fn interest(&mut self, fd: i64) -> Option<&mut Interest> {
        self.interests.iter_mut().find(|i| i.fd == fd)
    }

    /// Stop watching a descriptor.
    pub fn forget(&mut self, fd: i64) {
        self.interests.retain(|i| i.fd != fd);
        self.ready.retain(|r| *r != fd);
    }

    /// Change the number of a watched descriptor.
    pub fn rename(&mut self, from: i64, to: i64) {
        let numbers = self.interests.iter_mut().map(|i| &mut i.fd).chain(&mut self.ready);
        numbers.filter(|fd| **fd == from).for_each(|fd| *fd = to);
    }

    /// Add a descriptor to the ready list if it watches one of these events.
    pub fn wake(&mut self, fd: i64, mask: i64) {
        let wanted = self.interest(fd).is_some_and(|i| i.events & !(EDGE | ONCE) & mask != 0);
        if wanted && !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }
}
