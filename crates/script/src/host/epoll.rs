//! Epoll instances, and the events that they are told of (epoll(7)).

use std::collections::VecDeque;

/// Readable (EPOLLIN, EPOLLRDNORM and their kin).
pub const IN: i64 = 0x1 | 0x2 | 0x40 | 0x80;
/// Writable.
pub const OUT: i64 = 0x4 | 0x100 | 0x200;
/// The error queue has an entry.
pub const ERR: i64 = 0x8;
/// Everything: the state has changed.
pub const ALL: i64 = -1;
/// Only a change is told of, not a state (EPOLLET), and only once (EPOLLONESHOT).
pub const EDGE: i64 = 1 << 31;
/// See [`EDGE`].
pub const ONCE: i64 = 1 << 30;
/// What is told whether it is asked for or not (EPOLLERR, EPOLLHUP).
pub const ALWAYS: i64 = 0x8 | 0x10;

/// A descriptor that an epoll instance looks at.
#[derive(Clone, Copy, Debug)]
pub struct Interest {
    /// The descriptor.
    pub fd: i64,
    /// The events, and how they are told.
    pub events: i64,
    /// What is told with them.
    pub data: i64,
}

/// An epoll instance (epoll(7)).
#[derive(Clone, Debug, Default)]
pub struct Epoll {
    /// What it looks at.
    pub interests: Vec<Interest>,
    /// Descriptors that may be ready, in the order in which they became so.
    pub ready: VecDeque<i64>,
}

impl Epoll {
    /// What it looks at a descriptor for.
    pub fn interest(&mut self, fd: i64) -> Option<&mut Interest> {
        self.interests.iter_mut().find(|i| i.fd == fd)
    }

    /// Looks at a descriptor no more.
    pub fn forget(&mut self, fd: i64) {
        self.interests.retain(|i| i.fd != fd);
        self.ready.retain(|r| *r != fd);
    }

    /// Watch a descriptor under another number.
    pub fn rename(&mut self, from: i64, to: i64) {
        let numbers = self.interests.iter_mut().map(|i| &mut i.fd).chain(&mut self.ready);
        numbers.filter(|fd| **fd == from).for_each(|fd| *fd = to);
    }

    /// A descriptor may be ready.
    pub fn wake(&mut self, fd: i64, mask: i64) {
        let wanted = self.interest(fd).is_some_and(|i| i.events & !(EDGE | ONCE) & mask != 0);
        if wanted && !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }
}
