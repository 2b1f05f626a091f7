//! What wakes who waits for a socket, as Linux's sockets wake their wait queues: new data, room to write, changes of state.

use std::collections::VecDeque;

use tcp::State;

use super::{Connection, Host};

/// Readable (EPOLLIN, EPOLLRDNORM and their kin).
pub const IN: i64 = 0x1 | 0x2 | 0x40 | 0x80;
/// Writable.
pub const OUT: i64 = 0x4 | 0x100 | 0x200;
/// Everything: the state has changed.
pub const ALL: i64 = -1;
/// Only a change is told of, not a state (EPOLLET), and only once (EPOLLONESHOT).
pub const EDGE: i64 = 1 << 31;
/// See [`EDGE`].
pub const ONCE: i64 = 1 << 30;
/// What is told whether it is asked for or not (EPOLLERR, EPOLLHUP).
pub const ALWAYS: i64 = 0x8 | 0x10;

/// What who waits has been told of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    readable: u64,
    ended: bool,
    over: bool,
    opened: bool,
    fin_acknowledged: bool,
}

impl Connection {
    /// What has happened since it was last asked: who waits for any of these is woken. `limit`: of its send buffer.
    pub fn wakes(&mut self, limit: Option<u64>) -> i64 {
        let fin_acknowledged = matches!(self.state(), State::FinWait2 | State::TimeWait);
        let now = Seen {
            readable: self.stack.readable(),
            ended: self.stack.peer_closed(),
            over: self.broken() || self.gone,
            opened: self.established() || self.stack.is_early(),
            fin_acknowledged,
        };
        let was = std::mem::replace(&mut self.seen, now);
        let changed =
            (now.ended, now.over, now.fin_acknowledged) != (was.ended, was.over, was.fin_acknowledged);
        let mut mask = if changed || (now.opened && !was.opened) { ALL } else { 0 };
        if now.readable > was.readable {
            mask |= IN;
        }
        if self.no_space && self.is_writable(limit) {
            self.no_space = false;
            mask |= OUT;
        }
        mask
    }
}

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

    /// A descriptor may be ready.
    pub fn wake(&mut self, fd: i64, mask: i64) {
        let wanted = self.interest(fd).is_some_and(|i| i.events & !(EDGE | ONCE) & mask != 0);
        if wanted && !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }
}

impl Host {
    /// Wakes who waits for what has happened to a connection.
    pub(super) fn wake_for(&mut self, index: usize) {
        let socket =
            self.sockets.iter().find(|s| s.1.connection == Some(index)).map(|s| (*s.0, s.1.send_buffer));
        let connection = &mut self.connections[index];
        let became_ready = !connection.told_listener
            && connection.waits_at.is_some_and(|fd| connection.waits_for_accept(fd));
        let mask = connection.wakes(socket.and_then(|s| s.1));
        if became_ready {
            connection.told_listener = true;
        }
        let listener = connection.waits_at.filter(|_| became_ready);
        if mask != 0
            && let Some((fd, _)) = socket
        {
            self.wake(fd, mask);
        }
        if let Some(fd) = listener {
            self.wake(fd, IN);
        }
    }

    /// Wakes who waits for a descriptor.
    pub fn wake(&mut self, fd: i64, mask: i64) {
        self.epolls.values_mut().for_each(|epoll| epoll.wake(fd, mask));
    }
}
