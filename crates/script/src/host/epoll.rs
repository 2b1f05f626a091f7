//! Epoll instances, and the events that they deliver (epoll(7)).

use std::collections::VecDeque;

/// Epoll events of a readable socket (EPOLLIN, EPOLLRDNORM and others).
pub const IN: i64 = 0x1 | 0x2 | 0x40 | 0x80;
/// Epoll events of a writable socket.
pub const OUT: i64 = 0x4 | 0x100 | 0x200;
/// Epoll event that means that the error queue has an entry.
pub const ERR: i64 = 0x8;
/// All epoll events. Epoll checks all events after the state of a connection changed.
pub const ALL: i64 = -1;
/// Edge-triggered delivery (EPOLLET).
pub const EDGE: i64 = 1 << 31;
/// Flag of a descriptor for which epoll delivers only one event (EPOLLONESHOT).
pub const ONCE: i64 = 1 << 30;
/// Epoll events that are delivered even if they were not requested (EPOLLERR, EPOLLHUP).
pub const ALWAYS: i64 = 0x8 | 0x10;

/// A descriptor that an epoll instance watches.
#[derive(Clone, Copy, Debug)]
pub struct Interest {
    /// The descriptor.
    pub fd: i64,
    /// Epoll events that the application requested, and flags that control their delivery.
    pub events: i64,
    /// User data of the application, which epoll delivers with each event.
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
    /// Return the entry of a descriptor that the epoll instance watches.
    pub fn interest(&mut self, fd: i64) -> Option<&mut Interest> {
        self.interests.iter_mut().find(|i| i.fd == fd)
    }

    /// Stop watching a descriptor.
    pub fn forget(&mut self, fd: i64) {
        self.interests.retain(|i| i.fd != fd);
        self.ready.retain(|r| *r != fd);
    }

    /// Change the number of a descriptor that the epoll instance watches.
    pub fn rename(&mut self, from: i64, to: i64) {
        let numbers = self.interests.iter_mut().map(|i| &mut i.fd).chain(&mut self.ready);
        numbers.filter(|fd| **fd == from).for_each(|fd| *fd = to);
    }

    /// Add a descriptor to the ready list if the epoll instance watches it for at least one of the
    /// given events.
    pub fn wake(&mut self, fd: i64, mask: i64) {
        let wanted = self.interest(fd).is_some_and(|i| i.events & !(EDGE | ONCE) & mask != 0);
        if wanted && !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }
}
