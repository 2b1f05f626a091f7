//! Implementation of the system calls setsockopt and getsockopt (socket(7), tcp(7), ip(7)).

mod get;
mod set;

use tcp::Tcp;

use super::{Answer, CallContext, Reply, is_null, member, number};
use crate::constants::value as constant;
use crate::syntax::Expr;

/// Level and name of each socket option that is supported.
pub const SUPPORTED: &[(&str, &str)] = &[
    ("SOL_SOCKET", "SO_REUSEADDR"),
    ("SOL_SOCKET", "SO_REUSEPORT"),
    ("SOL_SOCKET", "SO_PRIORITY"),
    ("SOL_SOCKET", "SO_BROADCAST"),
    ("SOL_SOCKET", "SO_TYPE"),
    ("SOL_SOCKET", "SO_DOMAIN"),
    ("SOL_SOCKET", "SO_PROTOCOL"),
    ("SOL_SOCKET", "SO_ACCEPTCONN"),
    ("SOL_SOCKET", "SO_ERROR"),
    ("SOL_SOCKET", "SO_LINGER"),
    ("SOL_SOCKET", "SO_SNDBUF"),
    ("SOL_SOCKET", "SO_SNDBUFFORCE"),
    ("SOL_SOCKET", "SO_RCVBUF"),
    ("SOL_SOCKET", "SO_RCVBUFFORCE"),
    ("SOL_SOCKET", "SO_RCVLOWAT"),
    ("SOL_SOCKET", "SO_TIMESTAMPING"),
    ("SOL_SOCKET", "SO_ZEROCOPY"),
    ("SOL_TCP", "TCP_NODELAY"),
    ("SOL_TCP", "TCP_CORK"),
    ("SOL_TCP", "TCP_QUICKACK"),
    ("SOL_TCP", "TCP_MAXSEG"),
    ("SOL_TCP", "TCP_SYNCNT"),
    ("SOL_TCP", "TCP_LINGER2"),
    ("SOL_TCP", "TCP_USER_TIMEOUT"),
    ("SOL_TCP", "TCP_NOTSENT_LOWAT"),
    ("SOL_TCP", "TCP_INQ"),
    ("SOL_TCP", "TCP_CONGESTION"),
    ("SOL_TCP", "TCP_FASTOPEN"),
    ("SOL_TCP", "TCP_FASTOPEN_CONNECT"),
    ("SOL_TCP", "TCP_FASTOPEN_KEY"),
    ("SOL_TCP", "TCP_FASTOPEN_NO_COOKIE"),
    ("SOL_IP", "IP_TOS"),
    ("SOL_IP", "IP_MTU_DISCOVER"),
    ("SOL_IP", "IP_RECVERR"),
];

/// Option number of SO_TIMESTAMPING.
pub(super) const TIMESTAMPING: i64 = 37;

fn name_of(level: i64, option: i64) -> Option<&'static str> {
    let found = SUPPORTED.iter().find(|s| constant(s.0) == Some(level) && constant(s.1) == Some(option));
    found.map(|s| s.1)
}

impl CallContext<'_> {
    fn option(&self) -> Result<(i64, i64, &'static str), Reply> {
        let (level, option) = (self.value(1)?, self.value(2)?);
        let name = name_of(level, option).ok_or_else(|| {
            Reply::Unsupported(format!(
                "socket option {} of {level}",
                self.arg(2).map_or(String::new(), ToString::to_string)
            ))
        })?;
        Ok((level, option, name))
    }

    /// Return the TCP parameters of a socket's connection. Without a connection, return the
    /// parameters that a new connection of the socket would have.
    pub(super) fn parameters(&mut self, fd: i64) -> Result<Tcp, Reply> {
        let (passive, connection) = (self.socket_of(fd)?.listens, self.socket_of(fd)?.connection);
        Ok(match connection {
            Some(index) => self.host.connections[index].tcp.clone(),
            None => self.host.new_connection(fd, passive).tcp,
        })
    }

    fn congestion_of(&mut self, fd: i64) -> Result<String, Reply> {
        use units::Read;
        let congestion = self.parameters(fd)?.congestion.write();
        let kind = congestion.as_str().or_else(|| congestion["kind"].as_str());
        Ok(kind.unwrap_or_default().to_string())
    }
}
