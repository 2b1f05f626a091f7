//! TCP Fast Open of the host: its listening sockets, and the cookies that it has cached for
//! servers.

use tcp::fast_open::Server;
use units::{Duration, Time};

use super::Host;

/// Duration for which a connection that was reset during its handshake still counts in the queue of
/// its listening socket. The queue counts connections that were reset during the handshake, which
/// limits attacks with SYNs from forged addresses (RFC 7413 §5.1; Linux, reqsk_fastopen_remove).
const REMEMBERED: Duration = Duration::from_millis(60_000);

impl Host {
    /// Return the Fast Open parameters of a listening socket, if the socket accepts data in a SYN
    /// at present (Linux, tcp_try_fastopen).
    pub(super) fn at_listener(&self, fd: i64, now: Time) -> Option<Server> {
        let settings = &self.kernel.fast_open;
        let own = &self.sockets.get(&fd)?.fast_open;
        let waits = |c: &&super::Connection| c.came_to == Some(fd) && c.counts_as_early(now);
        let waiting = self.connections.iter().filter(waits).count();
        let room = (waiting as i64) < own.queue;
        (settings.server() && room).then(|| settings.at_listener(own.keys, own.no_cookie))
    }

    /// Record the response of a server to a SYN with the Fast Open option.
    pub(super) fn learn(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if let Some(answer) = connection.stack.fast_open_answer()
            && let Some(server) = connection.opens_fast.take()
        {
            self.servers.entry(server).or_default().update(&answer);
        }
    }
}

impl super::Connection {
    fn counts_as_early(&self, now: Time) -> bool {
        let reset = self.reset_early.is_some_and(|at| now < at + REMEMBERED);
        reset || (self.stack.is_early() && !self.gone)
    }
}
