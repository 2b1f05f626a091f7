//! Notification of waiting calls and of epoll instances, as with the wait queues of Linux: new
//! data, space to write, and changes of state.

use tcp::State;

use super::Host;
use super::connection::{Connection, Notified};
use super::epoll::{ALL, ERR, IN, OUT};

impl Connection {
    /// Return the epoll events of a connection since the previous call of this function. The
    /// argument `limit` is the size of the send buffer.
    pub fn wakes(&mut self, limit: Option<u64>) -> i64 {
        let fin_acknowledged = matches!(self.state(), State::FinWait2 | State::TimeWait);
        let now = Notified {
            readable: self.stack.readable(),
            ended: self.stack.peer_closed(),
            over: self.broken() || self.gone,
            opened: self.established() || self.stack.is_early(),
            fin_acknowledged,
            reports: self.errors.reports,
        };
        let was = std::mem::replace(&mut self.notified, now);
        let changed =
            (now.ended, now.over, now.fin_acknowledged) != (was.ended, was.over, was.fin_acknowledged);
        let mut mask = if changed || (now.opened && !was.opened) { ALL } else { 0 };
        if now.readable > was.readable {
            mask |= IN;
        }
        if now.reports > was.reports {
            mask |= ERR;
        }
        if self.no_space && self.is_writable(limit) {
            self.no_space = false;
            mask |= OUT;
        }
        mask
    }
}

impl Host {
    /// Notify the calls and epoll instances that wait for a connection.
    pub(super) fn wake_for(&mut self, index: usize) {
        let socket =
            self.sockets.iter().find(|s| s.1.connection == Some(index)).map(|s| (*s.0, s.1.send_buffer));
        let connection = &mut self.connections[index];
        let became_ready = !connection.listener_notified
            && connection.waits_at.is_some_and(|fd| connection.waits_for_accept(fd));
        let mask = connection.wakes(socket.and_then(|s| s.1));
        if became_ready {
            connection.listener_notified = true;
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

    /// Notify the calls and epoll instances that wait for a descriptor.
    pub fn wake(&mut self, fd: i64, mask: i64) {
        self.epolls.values_mut().for_each(|epoll| epoll.wake(fd, mask));
    }
}
