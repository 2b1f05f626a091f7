//! socket, bind, listen, accept, connect, shutdown, close.

use tcp::State;
use units::Duration;

use super::{Answer, Making, Reply, Socket};
use crate::constants::value as constant;
use crate::host::Connection;

const NONBLOCK: i64 = 0o4000;

impl Making<'_> {
    pub(super) fn socket(&mut self) -> Answer {
        let nonblocking = self.value(1)? & NONBLOCK != 0;
        let fd = self.new_fd()?;
        if fd < 0 {
            return Err(Reply::Unsupported("a socket() that fails".into()));
        }
        let socket = Socket { nonblocking, ..Socket::new(self.host.tcp.clone()) };
        self.host.sockets.insert(fd, socket);
        Ok(Reply::Done(fd))
    }

    pub(super) fn bind(&mut self) -> Answer {
        let fd = self.fd()?;
        let socket = self.socket_of(fd)?;
        if socket.bound {
            return Ok(Reply::Fails("EINVAL"));
        }
        socket.bound = true;
        Ok(Reply::Done(0))
    }

    pub(super) fn listen(&mut self) -> Answer {
        let fd = self.fd()?;
        let socket = self.socket_of(fd)?;
        if socket.connection.is_some() {
            return Ok(Reply::Fails("EINVAL"));
        }
        socket.listens = true;
        Ok(Reply::Done(0))
    }

    pub(super) fn accept(&mut self) -> Answer {
        let fd = self.fd()?;
        let flags = if self.call.name == "accept4" { self.value(3)? } else { 0 };
        if !self.socket_of(fd)?.listens {
            return Ok(Reply::Fails("EINVAL"));
        }
        let ready = |c: &Connection| c.waits_at == Some(fd) && (c.established() || c.broken());
        let Some(index) = self.host.connections.iter().position(ready) else {
            return Ok(if self.socket_of(fd)?.nonblocking { Reply::Fails("EAGAIN") } else { self.blocks() });
        };
        let new = self.new_fd()?;
        if new < 0 {
            return Ok(Reply::Done(0)); // the script expects an error, and there is none
        }
        self.host.connections[index].waits_at = None;
        let parent = self.socket_of(fd)?;
        let (tcp, options, linger) = (parent.tcp.clone(), parent.options.clone(), parent.linger);
        let nonblocking = flags & NONBLOCK != 0;
        let socket =
            Socket { nonblocking, connection: Some(index), bound: true, options, linger, ..Socket::new(tcp) };
        self.host.sockets.insert(new, socket);
        self.apply(new);
        Ok(Reply::Done(new))
    }

    pub(super) fn connect(&mut self) -> Answer {
        let fd = self.fd()?;
        let (socket, first) = (self.socket_of(fd)?, "ECONNABORTED");
        if socket.listens {
            return Ok(Reply::Fails("EISCONN"));
        }
        let nonblocking = socket.nonblocking;
        let Some(index) = socket.connection else {
            let tcp = socket.tcp.clone();
            let mut connection = Connection::new(tcp);
            connection.stack.connect();
            connection.connecting = true;
            let index = self.host.begin(connection);
            self.socket_of(fd)?.connection = Some(index);
            self.apply(fd);
            self.host.pump(index, self.now);
            return Ok(if nonblocking { Reply::Fails("EINPROGRESS") } else { self.blocks() });
        };
        let connection = &mut self.host.connections[index];
        if !connection.connecting {
            return Ok(Reply::Fails("EISCONN"));
        }
        if connection.established() {
            connection.connecting = false;
            return Ok(Reply::Done(0));
        }
        if connection.broken() {
            let error = connection.error.take().unwrap_or(first);
            self.socket_of(fd)?.connection = None;
            return Ok(Reply::Fails(error));
        }
        Ok(if nonblocking { Reply::Fails("EALREADY") } else { self.blocks() })
    }

    pub(super) fn shutdown(&mut self) -> Answer {
        let (fd, how) = (self.fd()?, self.value(1)?);
        if !(0..=2).contains(&how) {
            return Ok(Reply::Fails("EINVAL"));
        }
        if self.socket_of(fd)?.listens {
            if Some(how) != constant("SHUT_WR") {
                self.socket_of(fd)?.listens = false;
            }
            return Ok(Reply::Done(0));
        }
        let now = self.now;
        let (index, connection) = self.connection(fd, "ENOTCONN")?;
        if !connection.established() {
            return Ok(Reply::Fails("ENOTCONN"));
        }
        if Some(how) != constant("SHUT_WR") {
            connection.read_shut = true;
        }
        if Some(how) != constant("SHUT_RD") && !connection.write_shut {
            connection.write_shut = true;
            connection.stack.close();
        }
        self.host.pump(index, now);
        Ok(Reply::Done(0))
    }

    pub(super) fn close(&mut self) -> Answer {
        let (fd, now, since) = (self.fd()?, self.now, self.progress.since);
        let socket = self.socket_of(fd)?;
        let (listens, linger, nonblocking) = (socket.listens, socket.linger, socket.nonblocking);
        let Some(index) = socket.connection else {
            self.host.sockets.remove(&fd);
            if listens {
                self.abandon(fd);
            }
            return Ok(Reply::Done(0));
        };
        if !self.progress.again {
            self.let_go(index, linger == (1, 0));
        }
        let connection = &self.host.connections[index];
        let done = connection.broken()
            || !matches!(connection.state(), State::FinWait1 | State::LastAck | State::Closing);
        let until = since + Duration::from_seconds(linger.1 as f64);
        if linger.0 != 0 && !nonblocking && !done && now < until {
            return Ok(Reply::Blocks(until));
        }
        self.host.sockets.remove(&fd);
        Ok(Reply::Done(0))
    }

    /// Connections that nobody accepted end with the socket that they waited at.
    fn abandon(&mut self, fd: i64) {
        for index in 0..self.host.connections.len() {
            if self.host.connections[index].waits_at == Some(fd) {
                self.host.connections[index].stack.abort();
                self.host.pump(index, self.now);
                self.host.connections[index].gone = true;
            }
        }
    }

    /// The application leaves a connection: with a FIN, or with a RST when it leaves data unread
    /// (RFC 1122 §4.2.2.13) or lingers for no time (socket(7)).
    fn let_go(&mut self, index: usize, at_once: bool) {
        let connection = &mut self.host.connections[index];
        connection.orphan = true;
        connection.read_shut = true;
        match connection.state() {
            State::Closed => {}
            State::SynSent => connection.gone = true,
            _ if at_once || connection.stack.readable() > 0 => connection.stack.abort(),
            _ if !connection.write_shut => connection.stack.close(),
            _ => {}
        }
        connection.write_shut = true;
        self.host.pump(index, self.now);
    }
}
