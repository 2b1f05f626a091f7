//! Implementation of the system calls socket, bind, listen, accept, connect, shutdown and close.

use tcp::State;
use units::Duration;

use super::{Answer, CallContext, Reply, Socket, is_null};
use crate::constants::value as constant;
use crate::host::{ALL, Connection};

const NONBLOCK: i64 = 0o4000;

impl CallContext<'_> {
    pub(super) fn socket(&mut self) -> Answer {
        let nonblocking = self.value(1)? & NONBLOCK != 0;
        let fd = self.new_fd()?;
        if fd < 0 {
            return Err(Reply::Unsupported("a socket() that fails".into()));
        }
        let kernel = &self.host.kernel;
        let initial_buffers = kernel.first_buffers;
        let socket = Socket { nonblocking, initial_buffers, ..Socket::new(kernel.tcp.clone()) };
        self.host.sockets.insert(fd, socket);
        Ok(Reply::Done(fd))
    }

    pub(super) fn bind(&mut self) -> Answer {
        let fd = self.fd()?;
        if is_null(self.arg(1)?) {
            return Ok(Reply::Fails("EFAULT"));
        }
        let socket = self.socket_of(fd)?;
        if socket.bound {
            return Ok(Reply::Fails("EINVAL"));
        }
        socket.bound = true;
        Ok(Reply::Done(0))
    }

    pub(super) fn listen(&mut self) -> Answer {
        let (fd, backlog, most) = (self.fd()?, self.value(1)?, self.host.kernel.somaxconn);
        let every_listener = self.host.kernel.fast_open.every_listener();
        let socket = self.socket_of(fd)?;
        if socket.connection.is_some() || socket.fast_open.waits_for_data.is_some() {
            return Ok(Reply::Fails("EINVAL"));
        }
        let backlog = if backlog < 0 { most } else { backlog.min(most) }; // listen(2), somaxconn
        (socket.listens, socket.backlog) = (true, backlog);
        if every_listener && socket.fast_open.queue == 0 {
            socket.fast_open.queue = backlog; // Linux, __inet_listen_sk
        }
        self.host.listener = Some(fd);
        Ok(Reply::Done(0))
    }

    pub(super) fn accept(&mut self) -> Answer {
        let fd = self.fd()?;
        let flags = if self.call.name == "accept4" { self.value(3)? } else { 0 };
        if !self.socket_of(fd)?.listens {
            return Ok(Reply::Fails("EINVAL"));
        }
        let Some(index) = self.host.connections.iter().position(|c| c.waits_for_accept(fd)) else {
            return Ok(if self.socket_of(fd)?.nonblocking { Reply::Fails("EAGAIN") } else { self.blocks() });
        };
        let parent = self.socket_of(fd)?.clone(); // the new socket may reuse its number
        let new = self.new_fd()?;
        if new < 0 {
            return Ok(Reply::Done(0)); // the script expects an error, but accept succeeds
        }
        self.host.connections[index].waits_at = None;
        let socket = Socket {
            nonblocking: flags & NONBLOCK != 0,
            connection: Some(index),
            bound: true,
            listens: false,
            backlog: 0,
            ..parent
        };
        let dscp = self.host.connections[index].dscp;
        self.host.sockets.insert(new, Socket { dscp, ..socket });
        self.apply(new);
        Ok(Reply::Done(new))
    }

    pub(super) fn connect(&mut self) -> Answer {
        let fd = self.fd()?;
        if is_null(self.arg(1)?) {
            return Ok(Reply::Fails("EFAULT"));
        }
        let (socket, first) = (self.socket_of(fd)?, "ECONNABORTED");
        if socket.listens || socket.fast_open.waits_for_data.is_some() {
            return Ok(Reply::Fails("EISCONN"));
        }
        let nonblocking = socket.nonblocking;
        let Some(index) = socket.connection else {
            let opening = self.defer_connect(fd)?;
            if opening.is_some_and(|o| o.data) {
                return Ok(Reply::Done(0));
            }
            let mut connection = self.host.new_connection(fd, false);
            match opening {
                Some(opening) => {
                    connection.stack.connect_fast(opening);
                    connection.opens_fast = Some(self.destination(1));
                }
                None => connection.stack.connect(),
            }
            connection.connecting = true;
            self.begin_connecting(fd, connection)?;
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

    /// Open the connection of a socket by sending a SYN.
    pub(super) fn begin_connecting(&mut self, fd: i64, connection: Connection) -> Result<(), Reply> {
        let index = self.host.begin(connection);
        self.socket_of(fd)?.connection = Some(index);
        self.apply(fd);
        if let Some(quick) = self.socket_of(fd)?.option("TCP_QUICKACK") {
            self.apply_quickack(fd, quick != 0);
        }
        self.host.pump(index, self.now);
        Ok(())
    }

    pub(super) fn shutdown(&mut self) -> Answer {
        let (fd, how) = (self.fd()?, self.value(1)?);
        if !(0..=2).contains(&how) {
            return Ok(Reply::Fails("EINVAL"));
        }
        if self.socket_of(fd)?.listens {
            if Some(how) != constant("SHUT_WR") {
                self.socket_of(fd)?.listens = false;
                self.abandon(fd);
            }
            return Ok(Reply::Done(0));
        }
        let now = self.now;
        let (index, connection) = self.connection(fd, "ENOTCONN")?;
        match connection.state() {
            State::Closed => return Ok(Reply::Fails("ENOTCONN")),
            // A shutdown call ends a connect that is in progress (Linux, inet_shutdown,
            // tcp_disconnect).
            State::SynSent => {
                (connection.gone, connection.error) = (true, Some("ECONNRESET"));
                return Ok(Reply::Done(0));
            }
            _ => {}
        }
        if Some(how) != constant("SHUT_WR") {
            connection.read_shut = true;
        }
        if Some(how) != constant("SHUT_RD") && !connection.write_shut {
            connection.write_shut = true;
            connection.stack.close();
        }
        self.host.pump(index, now);
        self.host.wake(fd, ALL);
        Ok(Reply::Done(0))
    }

    pub(super) fn close(&mut self) -> Answer {
        let epoll = self.value(0)?;
        if self.host.epolls.contains_key(&epoll) {
            self.host.remove(epoll);
            return Ok(Reply::Done(0));
        }
        let (fd, now, since) = (self.fd()?, self.now, self.progress.since);
        let socket = self.socket_of(fd)?;
        let (listens, linger) = (socket.listens, socket.linger);
        let Some(index) = socket.connection else {
            self.host.remove(fd);
            if listens {
                self.abandon(fd);
            }
            return Ok(Reply::Done(0));
        };
        if !self.progress.again {
            self.release(index, linger == (1, 0));
        }
        let connection = &self.host.connections[index];
        let done = connection.broken()
            || !matches!(connection.state(), State::FinWait1 | State::LastAck | State::Closing);
        let until = since + Duration::from_seconds(linger.1 as f64);
        if linger.0 != 0 && !done && now < until {
            return Ok(Reply::Blocks(until));
        }
        self.host.remove(fd);
        Ok(Reply::Done(0))
    }

    /// When a listening socket is closed, close the connections that it has not accepted.
    /// Established connections are reset at once. Connections whose handshake is not complete are
    /// closed when their next segment arrives (Linux, inet_csk_listen_stop).
    fn abandon(&mut self, fd: i64) {
        for index in 0..self.host.connections.len() {
            let connection = &mut self.host.connections[index];
            if connection.waits_at == Some(fd) && !connection.gone {
                if connection.waits_for_accept(fd) {
                    connection.stack.abort();
                    self.host.pump(index, self.now);
                }
                self.host.connections[index].gone = true;
            }
        }
    }

    /// Close the connection of a socket because the application closes the socket. The endpoint
    /// normally sends a FIN. The endpoint sends a RST if data is unread (RFC 1122 §4.2.2.13), or if
    /// the linger time is 0 (socket(7)).
    fn release(&mut self, index: usize, at_once: bool) {
        let retries = self.host.kernel.orphan_retries;
        let connection = &mut self.host.connections[index];
        connection.orphan = true;
        connection.read_shut = true;
        if let Some(retries) = retries {
            let mut tcp = connection.tcp.clone();
            tcp.connection.retries = retries;
            connection.configure(tcp);
        }
        match connection.state() {
            State::Closed => {}
            State::SynSent => connection.gone = true,
            // A reset is not needed if both endpoints have already closed the connection (Linux,
            // tcp_need_reset).
            State::Closing | State::LastAck if at_once && connection.stack.unsent() == 0 => {
                connection.gone = true
            }
            State::TimeWait if at_once => connection.gone = true,
            _ if at_once || connection.stack.readable() > 0 => connection.stack.abort(),
            _ if !connection.write_shut => connection.stack.close(),
            _ => {}
        }
        connection.write_shut = true;
        self.host.pump(index, self.now);
    }
}
