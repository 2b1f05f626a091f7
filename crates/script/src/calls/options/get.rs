//! The system call getsockopt.

use units::Duration;

use super::{Answer, CallContext, Expr, Reply, constant, is_null, member, number};

impl CallContext<'_> {
    pub(in crate::calls) fn getsockopt(&mut self) -> Answer {
        let fd = self.fd()?;
        let (level, option, name) = self.option()?;
        let expected = self.arg(3)?.clone();
        if is_null(&expected) || self.call.args.get(4).is_some_and(is_null) {
            return Ok(Reply::Fails("EFAULT"));
        }
        if let ("TCP_CONGESTION", Expr::Text(kind)) = (name, &expected) {
            let real = self.congestion_of(fd)?;
            let same = kind == real.as_bytes();
            return Ok(if same {
                Reply::Done(0)
            } else {
                Reply::Differs(format!("TCP_CONGESTION is {real:?}"))
            });
        }
        if let ("SO_LINGER", Expr::Struct(fields)) = (name, &expected) {
            let linger = self.socket_of(fd)?.linger;
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
        let kernel = self.host.kernel.clone();
        let socket = self.socket_of(fd)?;
        let set = socket.options.get(&(level, option)).copied();
        let (connection, early) = (socket.connection, socket.connection.is_none());
        Ok(match name {
            "SO_TYPE" => 1,
            "SO_DOMAIN" => 2,
            "SO_PROTOCOL" => 6,
            "SO_ACCEPTCONN" => i64::from(socket.listens),
            "SO_RCVBUF" | "SO_RCVBUFFORCE" => {
                socket.receive_buffer.map_or(socket.initial_buffers.0, |size| size as i64)
            }
            "SO_SNDBUF" | "SO_SNDBUFFORCE" => match socket.send_buffer {
                Some(size) => size as i64,
                None if early => socket.initial_buffers.1,
                None => return Err(Reply::Unsupported(format!("{name} with automatic tuning"))),
            },
            "SO_RCVLOWAT" | "IP_MTU_DISCOVER" => set.unwrap_or(1), // IP_PMTUDISC_WANT
            "TCP_NOTSENT_LOWAT" => i64::from(set.unwrap_or(0) as u32 as i32),
            "TCP_MAXSEG" => match connection {
                Some(index) => i64::from(self.host.connections[index].stack.segment_size()),
                None => socket.own.mss.map_or(536, |mss| mss as i64), // default before a connection (RFC 9293 §3.7.1)
            },
            "TCP_USER_TIMEOUT" => {
                (socket.own.user_timeout.unwrap_or(Duration::ZERO).0 / 1_000_000_000) as i64
            }
            "TCP_SYNCNT" => socket.own.syn_retries.unwrap_or(kernel.tcp.connection.syn_retries) as i64,
            "TCP_LINGER2" => {
                let timeout = socket.linger2.unwrap_or(kernel.fin_timeout).unwrap_or(Duration::ZERO);
                (timeout.0 / 1_000_000_000_000) as i64
            }
            "TCP_FASTOPEN" => socket.fast_open.queue,
            "TCP_FASTOPEN_CONNECT" => i64::from(socket.fast_open.connect),
            "TCP_FASTOPEN_NO_COOKIE" => i64::from(socket.fast_open.no_cookie),
            "TCP_FASTOPEN_KEY" => return Err(Reply::Unsupported("getsockopt of TCP_FASTOPEN_KEY".into())),
            "TCP_NODELAY" | "TCP_CORK" => i64::from(set.is_some_and(|v| v != 0)),
            "TCP_QUICKACK" => match connection {
                Some(index) => i64::from(self.host.connections[index].stack.acks_quickly()),
                None => set.map_or(1, |v| i64::from(v != 0)),
            },
            "IP_TOS" => {
                let ecn = connection.map_or(0, |index| self.host.connections[index].last_ecn as i64);
                i64::from(socket_dscp(self, fd)?) << 2 | ecn
            }
            "SO_ERROR" => {
                let Some(index) = connection else { return Ok(0) };
                let error = self.host.connections[index].error.take();
                error.and_then(constant).unwrap_or(0)
            }
            _ => set.unwrap_or(0),
        })
    }
}

/// Return the DSCP of the packets that a socket sends. If the setting tcp_reflect_tos is on, the
/// DSCP of the connection is the DSCP of the received SYN.
fn socket_dscp(context: &mut CallContext, fd: i64) -> Result<u8, Reply> {
    let socket = context.socket_of(fd)?;
    let (dscp, connection) = (socket.dscp, socket.connection);
    Ok(connection.map_or(dscp, |index| context.host.connections[index].dscp))
}
