//! TCP Fast Open with system calls: a connect that waits for data, and a sendto that opens the
//! connection (tcp(7); Linux, tcp_sendmsg_fastopen).

use std::net::Ipv4Addr;

use net::{Cookie, FastOpen};
use tcp::fast_open::Opening;

use super::data::{Buffer, has};
use super::{Answer, CallContext, Reply, member};
use crate::syntax::Expr;

/// Return the IPv4 address of a socket address, written as `{sa_family = AF_INET, …, sin_addr =
/// inet_addr("192.0.2.1")}`.
fn address(e: &Expr) -> Option<Ipv4Addr> {
    let Expr::Struct(fields) = e else { return None };
    match member(fields, "sin_addr")? {
        Expr::Call(_, args) => match args.first()? {
            Expr::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

impl CallContext<'_> {
    /// Return the destination address of a call, which is one of its arguments or a member of its
    /// message.
    pub(super) fn destination(&self, i: usize) -> Ipv4Addr {
        let given = match self.call.args.get(i) {
            Some(Expr::Struct(fields)) if self.call.name == "sendmsg" => member(fields, "msg_name"),
            other => other,
        };
        given.and_then(address).unwrap_or(self.host.kernel.fast_open.remote)
    }

    fn opening(&mut self, fd: i64, to: Ipv4Addr) -> Result<Opening, Reply> {
        let no_cookie = self.socket_of(fd)?.fast_open.no_cookie;
        let needs = self.host.kernel.fast_open.client_needs_cookie() && !no_cookie;
        Ok(self.host.servers.get(&to).copied().unwrap_or_default().opening(needs))
    }

    /// Start the connect of a socket with the option TCP_FASTOPEN_CONNECT, and return the state of
    /// its cookie. Return `None` if the socket does not have this option. If the SYN can carry
    /// data, connect returns at once, and the socket sends its SYN with the first data (Linux,
    /// tcp_fastopen_defer_connect).
    pub(super) fn defer_connect(&mut self, fd: i64) -> Result<Option<Opening>, Reply> {
        if !self.socket_of(fd)?.fast_open.connect {
            return Ok(None);
        }
        let to = self.destination(1);
        let opening = self.opening(fd, to)?;
        if opening.data {
            self.socket_of(fd)?.fast_open.waits_for_data = Some(to);
        }
        Ok(Some(opening))
    }

    /// Return true if a write to the socket must first open the connection.
    pub(super) fn opens_by_write(&mut self, fd: i64, flags: i64) -> Result<bool, Reply> {
        Ok(has(flags, "MSG_FASTOPEN") || self.socket_of(fd)?.fast_open.waits_for_data.is_some())
    }

    /// Execute a write that also opens the connection of its socket.
    pub(super) fn write_fast(&mut self, fd: i64, buffer: &Buffer) -> Answer {
        let &Buffer { size, flags, null } = buffer;
        let by_flag = has(flags, "MSG_FASTOPEN");
        if !self.host.kernel.fast_open.client() {
            return Ok(Reply::Fails("EOPNOTSUPP"));
        }
        let socket = self.socket_of(fd)?;
        let waits = !socket.nonblocking && !has(flags, "MSG_DONTWAIT");
        let (deferred, limit) = (socket.fast_open.waits_for_data.take(), socket.send_buffer);
        if by_flag && !matches!(self.call.name.as_str(), "sendto" | "sendmsg") && deferred.is_none() {
            return Err(Reply::Unsupported(format!("{} with MSG_FASTOPEN", self.call.name)));
        }
        let socket = self.socket_of(fd)?;
        if let Some(index) = socket.connection {
            let connecting = self.host.connections[index].connecting;
            return Ok(Reply::Fails(if connecting { "EALREADY" } else { "EISCONN" }));
        }
        if socket.listens {
            return Ok(Reply::Fails("EISCONN"));
        }
        let to =
            deferred.unwrap_or_else(|| self.destination(if self.call.name == "sendmsg" { 1 } else { 4 }));
        let mut opening = self.opening(fd, to)?;
        if null && opening.data {
            // A SYN without data only requests a cookie from the server (Linux, tcp_send_syn_data).
            let request = |option: FastOpen| FastOpen { cookie: Cookie::REQUEST, ..option };
            (opening.option, opening.data) = (opening.option.map(request), false);
        }
        let mut connection = self.host.new_connection(fd, false);
        connection.stack.connect_fast(opening);
        (connection.connecting, connection.opens_fast) = (true, Some(to));
        let taken = match (opening.data, waits) {
            (false, _) => 0,
            (true, true) => size.min(connection.room(limit)),
            (true, false) => size.min(u64::from(opening.max_data(&connection.tcp))),
        };
        if taken > 0 {
            connection.stack.write(taken);
        }
        self.progress.bytes = taken;
        self.begin_connecting(fd, connection)?;
        Ok(match taken {
            _ if waits => self.blocks(),
            0 => Reply::Fails("EINPROGRESS"),
            n => Reply::Done(n as i64),
        })
    }
}
