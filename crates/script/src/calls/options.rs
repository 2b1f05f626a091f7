//! setsockopt, getsockopt, fcntl, ioctl.

use serde_json::json;
use tcp::State;

use super::{Answer, Making, Reply, Socket, member, number};
use crate::constants::value as constant;
use crate::settings;
use crate::syntax::Expr;

/// Options that can be set and asked for: level and name.
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
    ("SOL_SOCKET", "SO_RCVBUF"),
    ("SOL_SOCKET", "SO_RCVLOWAT"),
    ("SOL_TCP", "TCP_NODELAY"),
    ("SOL_TCP", "TCP_CORK"),
    ("SOL_TCP", "TCP_QUICKACK"),
    ("SOL_TCP", "TCP_MAXSEG"),
    ("SOL_TCP", "TCP_SYNCNT"),
    ("SOL_TCP", "TCP_USER_TIMEOUT"),
    ("SOL_TCP", "TCP_CONGESTION"),
    ("SOL_IP", "IP_MTU_DISCOVER"),
];

/// Whether an option of TCP is on.
pub(super) fn is_on(socket: &Socket, name: &str) -> bool {
    constant(name).and_then(|o| socket.options.get(&(6, o))).is_some_and(|&v| v != 0)
}

fn name_of(level: i64, option: i64) -> Option<&'static str> {
    let found = SUPPORTED.iter().find(|s| constant(s.0) == Some(level) && constant(s.1) == Some(option));
    found.map(|s| s.1)
}

impl Making<'_> {
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

    pub(super) fn setsockopt(&mut self) -> Answer {
        let fd = self.fd()?;
        let (level, option, name) = self.option()?;
        match (name, self.arg(3)?.clone()) {
            ("SO_LINGER", Expr::Struct(fields)) => {
                let get = |n: &str| member(&fields, n).map_or(Ok(0), number);
                self.socket_of(fd)?.linger = (get("onoff")?, get("linger")?);
                return Ok(Reply::Done(0));
            }
            ("TCP_CONGESTION", Expr::Text(kind)) => return self.set_congestion(fd, &kind),
            _ => {}
        }
        let value = self.value(3)?;
        match name {
            "TCP_MAXSEG" => self.set(fd, name, &[("mss", json!(format!("{value} B")))])?,
            "TCP_USER_TIMEOUT" if value > 0 => {
                self.set(fd, name, &[("user_timeout", json!(format!("{value} ms")))])?;
            }
            "TCP_SYNCNT" => self.set(fd, name, &[("syn_retries", json!(value))])?,
            // socket(7): the kernel doubles the value, and half of the buffer becomes window.
            "SO_RCVBUF" => {
                self.set(fd, name, &[("receive_window", json!(format!("{} B", value.max(1152))))])?
            }
            "SO_TYPE" | "SO_DOMAIN" | "SO_PROTOCOL" | "SO_ACCEPTCONN" | "SO_ERROR" => {
                return Ok(Reply::Fails("ENOPROTOOPT"));
            }
            _ => {}
        }
        self.socket_of(fd)?.options.insert((level, option), value);
        self.apply(fd);
        if let Some(index) = self.socket_of(fd)?.connection {
            self.host.pump(index, self.now); // uncorked data, an ACK that waited
        }
        Ok(Reply::Done(0))
    }

    /// Changes parameters of connections that are to come.
    fn set(
        &mut self,
        fd: i64,
        what: &str,
        changes: &[(&'static str, serde_json::Value)],
    ) -> Result<(), Reply> {
        let socket = self.socket_of(fd)?;
        if socket.connection.is_some() {
            return Err(Reply::Unsupported(format!("{what} on a connection")));
        }
        socket.tcp =
            settings::change(&socket.tcp, changes).map_err(|e| Reply::Unsupported(format!("{what}: {e}")))?;
        Ok(())
    }

    fn set_congestion(&mut self, fd: i64, kind: &str) -> Answer {
        let kind_now = self.congestion_of(fd)?;
        if kind_now != kind {
            self.set(fd, "TCP_CONGESTION", &[("congestion", json!(kind))])?;
        }
        self.socket_of(fd)?.congestion = Some(kind.into());
        Ok(Reply::Done(0))
    }

    fn congestion_of(&mut self, fd: i64) -> Result<String, Reply> {
        use units::Read;
        let socket = self.socket_of(fd)?;
        let document = socket.tcp.write();
        Ok(document["congestion"]
            .as_str()
            .map_or_else(|| document["congestion"]["kind"].to_string(), String::from))
    }

    /// Tells the endpoint of options that it has switches for.
    pub(super) fn apply(&mut self, fd: i64) {
        let Some(socket) = self.host.sockets.get(&fd) else { return };
        let Some(index) = socket.connection else { return };
        let on = |name: &str| is_on(socket, name);
        let quick = constant("TCP_QUICKACK").and_then(|o| socket.options.get(&(6, o)));
        let stack = &mut self.host.connections[index].stack;
        stack.set_nodelay(on("TCP_NODELAY"));
        stack.set_cork(on("TCP_CORK"));
        if let Some(&quick) = quick {
            stack.set_quickack(quick != 0);
        }
    }

    pub(super) fn getsockopt(&mut self) -> Answer {
        let fd = self.fd()?;
        let (level, option, name) = self.option()?;
        let expected = self.arg(3)?.clone();
        if let ("TCP_CONGESTION", Expr::Text(kind)) = (name, &expected) {
            let real = self.congestion_of(fd)?;
            return Ok(if *kind == real {
                Reply::Done(0)
            } else {
                Reply::Differs(format!("TCP_CONGESTION is {real:?}"))
            });
        }
        let linger = self.socket_of(fd)?.linger;
        if let ("SO_LINGER", Expr::Struct(fields)) = (name, &expected) {
            let get = |n: &str| member(fields, n).map_or(Ok(0), number);
            let same = (get("onoff")?, get("linger")?) == linger;
            return Ok(if same {
                Reply::Done(0)
            } else {
                Reply::Differs(format!("SO_LINGER is {linger:?}"))
            });
        }
        let real = self.option_value(fd, level, option, name)?;
        Ok(match &expected {
            Expr::Ellipsis => Reply::Done(0),
            Expr::List(l) if matches!(l[..], [Expr::Ellipsis]) => Reply::Done(0),
            other => match number(other)? {
                e if e == real => Reply::Done(0),
                e => Reply::Differs(format!("{name}: {e} expected, {real} returned")),
            },
        })
    }

    fn option_value(&mut self, fd: i64, level: i64, option: i64, name: &str) -> Result<i64, Reply> {
        let socket = self.socket_of(fd)?;
        let set = socket.options.get(&(level, option)).copied();
        Ok(match name {
            "SO_TYPE" => 1,
            "SO_DOMAIN" => 2,
            "SO_PROTOCOL" => 6,
            "SO_ACCEPTCONN" => i64::from(socket.listens),
            "SO_SNDBUF" | "SO_RCVBUF" => {
                let set =
                    set.ok_or_else(|| Reply::Unsupported(format!("{name} as the kernel sets it by itself")))?;
                set.saturating_mul(2)
            }
            "SO_RCVLOWAT" => set.unwrap_or(1),
            "TCP_MAXSEG" => socket.tcp.mss.0 as i64,
            "SO_ERROR" => {
                let Some(index) = socket.connection else { return Ok(0) };
                let error = self.host.connections[index].error.take();
                error.and_then(constant).unwrap_or(0)
            }
            _ => set.unwrap_or(0),
        })
    }

    pub(super) fn fcntl(&mut self) -> Answer {
        let (fd, command) = (self.fd()?, self.value(1)?);
        let nonblock = constant("O_NONBLOCK").unwrap_or(0);
        if Some(command) == constant("F_GETFL") {
            let flags = if self.socket_of(fd)?.nonblocking { nonblock } else { 0 };
            return Ok(Reply::Done(flags | 2));
        }
        if Some(command) == constant("F_SETFL") {
            let flags = self.value(2)?;
            self.socket_of(fd)?.nonblocking = flags & nonblock != 0;
            return Ok(Reply::Done(0));
        }
        Err(Reply::Unsupported(format!("fcntl command {command}")))
    }

    pub(super) fn ioctl(&mut self) -> Answer {
        let (fd, request) = (self.fd()?, self.value(1)?);
        if self.socket_of(fd)?.listens {
            return Ok(Reply::Fails("EINVAL"));
        }
        let real = match self.socket_of(fd)?.connection {
            None => 0,
            Some(index) => {
                let connection = &self.host.connections[index];
                let stack = &connection.stack;
                let early = matches!(connection.state(), State::SynSent | State::SynReceived);
                match request {
                    _ if early => 0,
                    r if Some(r) == constant("SIOCINQ") => stack.readable(),
                    r if Some(r) == constant("SIOCOUTQ") => stack.held(),
                    r if Some(r) == constant("SIOCOUTQNSD") => stack.unsent(),
                    other => return Err(Reply::Unsupported(format!("ioctl {other:#x}"))),
                }
            }
        };
        let expected = self.value(2)?;
        let differs = || Reply::Differs(format!("{expected} expected, {real} returned"));
        Ok(if expected == real as i64 { Reply::Done(0) } else { differs() })
    }
}
