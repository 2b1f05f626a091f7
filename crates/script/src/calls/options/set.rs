//! The system call setsockopt.

use tcp::State;
use units::Duration;

use super::{Answer, CallContext, Expr, Reply, TIMESTAMPING, is_null, member, number};
use crate::calls::Socket;
use crate::host::stamps::{OPT_ID, OPT_TSONLY};
use crate::kernel::fast_open::Keys;

/// Flags of SO_TIMESTAMPING (linux/net_tstamp.h).
const RX_SOFTWARE: i64 = 1 << 3;
const OPT_STATS: i64 = 1 << 12;
const BIND_PHC: i64 = 1 << 15;
const OPT_ID_TCP: i64 = 1 << 16;
const ALL_FLAGS: i64 = (1 << 18) - 1;

/// Minimum sizes of the send buffer and of the receive buffer, in bytes of kernel memory
/// (SOCK_MIN_SNDBUF and SOCK_MIN_RCVBUF of Linux). The kernel applies these minimums after it has
/// doubled the size that the application requests (socket(7)).
const MIN_BUFFERS: (i64, i64) = (4608, 2304);

impl CallContext<'_> {
    pub(in crate::calls) fn setsockopt(&mut self) -> Answer {
        let fd = self.fd()?;
        let (level, option, name) = self.option()?;
        let given = self.arg(3)?.clone();
        if is_null(&given) {
            return Ok(Reply::Fails("EFAULT"));
        }
        match (name, &given) {
            ("SO_LINGER", Expr::Struct(fields)) => {
                let get = |n: &str| member(fields, n).map_or(Ok(0), number);
                self.socket_of(fd)?.linger = (get("onoff")?, get("linger")?);
                return Ok(Reply::Done(0));
            }
            ("TCP_CONGESTION", Expr::Text(kind)) => {
                return self.set_congestion(fd, &String::from_utf8_lossy(kind));
            }
            ("TCP_FASTOPEN_KEY", Expr::Text(key)) => {
                let Some(keys) = Keys::of_bytes(key) else { return Ok(Reply::Fails("EINVAL")) };
                self.socket_of(fd)?.fast_open.keys = Some(keys);
                return Ok(Reply::Done(0));
            }
            ("TCP_FASTOPEN_KEY", other) => {
                return Err(Reply::Unsupported(format!("TCP_FASTOPEN_KEY {other}")));
            }
            _ => {}
        }
        if self.call.args.get(4).is_some_and(|len| number(len).is_ok_and(|len| len < 4)) {
            return Ok(Reply::Fails("EINVAL"));
        }
        let value = number(&given)?;
        if let Some(error) = self.set_parameter(fd, name, value)? {
            return Ok(Reply::Fails(error));
        }
        self.socket_of(fd)?.options.insert((level, option), value);
        self.apply(fd);
        if name == "TCP_QUICKACK" {
            self.apply_quickack(fd, value != 0);
        }
        if let Some(index) = self.socket_of(fd)?.connection {
            self.host.pump(index, self.now); // send uncorked data, or a delayed ACK
        }
        Ok(Reply::Done(0))
    }

    /// Apply a socket option whose effect goes beyond storing its value. Return the error with
    /// which setsockopt fails, or `None`.
    fn set_parameter(&mut self, fd: i64, name: &str, value: i64) -> Result<Option<&'static str>, Reply> {
        if name == "SO_TIMESTAMPING" {
            return self.set_timestamping(fd, value);
        }
        let (max_receive_buffer, max_send_buffer) = self.host.kernel.buffers;
        let (max_backlog, client) = (self.host.kernel.somaxconn, self.host.kernel.fast_open.client());
        let socket = self.socket_of(fd)?;
        let begun = socket.connection.is_some() || socket.fast_open.waits_for_data.is_some();
        match name {
            "TCP_FASTOPEN" if value < 0 || begun => return Ok(Some("EINVAL")),
            "TCP_FASTOPEN" => socket.fast_open.queue = value.min(max_backlog),
            "TCP_FASTOPEN_CONNECT" if !(0..=1).contains(&value) => return Ok(Some("EINVAL")),
            "TCP_FASTOPEN_CONNECT" if !client => return Ok(Some("EOPNOTSUPP")),
            "TCP_FASTOPEN_CONNECT" if begun || socket.listens => return Ok(Some("EINVAL")),
            "TCP_FASTOPEN_CONNECT" => socket.fast_open.connect = value != 0,
            "TCP_FASTOPEN_NO_COOKIE" if !(0..=1).contains(&value) || begun => return Ok(Some("EINVAL")),
            "TCP_FASTOPEN_NO_COOKIE" => socket.fast_open.no_cookie = value != 0,
            "TCP_MAXSEG" if value != 0 && !(88..=32_767).contains(&value) => return Ok(Some("EINVAL")),
            "TCP_MAXSEG" => socket.own.mss = (value != 0).then_some(value as u64),
            "TCP_USER_TIMEOUT" if value < 0 => return Ok(Some("EINVAL")),
            "TCP_USER_TIMEOUT" => {
                socket.own.user_timeout = Some(Duration::from_millis((value as u64).min(i32::MAX as u64)));
            }
            "TCP_SYNCNT" if !(1..=127).contains(&value) => return Ok(Some("EINVAL")),
            "TCP_SYNCNT" => socket.own.syn_retries = Some(value as u64),
            "TCP_LINGER2" if value < 0 => return Err(Reply::Unsupported("TCP_LINGER2 below 0".into())),
            "TCP_LINGER2" => {
                let seconds = (value > 0).then(|| value.min(120) as u64 * 1000);
                socket.linger2 = seconds.map(|ms| Some(Duration::from_millis(ms)));
            }
            "TCP_INQ" | "SO_ZEROCOPY" if !(0..=1).contains(&value) => return Ok(Some("EINVAL")),
            "IP_MTU_DISCOVER" if !(0..=5).contains(&value) => return Ok(Some("EINVAL")),
            "IP_TOS" => socket.dscp = (value as u8) >> 2, // the other bits are the ECN field (Linux, __ip_sock_set_tos)
            "SO_SNDBUF" => socket.set_send_buffer(value.min(max_send_buffer)),
            "SO_SNDBUFFORCE" => socket.set_send_buffer(value),
            "SO_RCVBUF" => socket.set_receive_buffer(value.min(max_receive_buffer)),
            "SO_RCVBUFFORCE" => socket.set_receive_buffer(value),
            "SO_TYPE" | "SO_DOMAIN" | "SO_PROTOCOL" | "SO_ACCEPTCONN" | "SO_ERROR" => {
                return Ok(Some("ENOPROTOOPT"));
            }
            _ => {}
        }
        Ok(None)
    }

    /// Check the flags of SO_TIMESTAMPING. If the flags request numbers, number the bytes of the
    /// connection from now on (Linux, sock_set_timestamping).
    fn set_timestamping(&mut self, fd: i64, value: i64) -> Result<Option<&'static str>, Reply> {
        let socket = self.socket_of(fd)?;
        let before = socket.options.get(&(1, TIMESTAMPING)).copied().unwrap_or(0);
        let connection = socket.connection.map(|index| &mut self.host.connections[index]);
        let connection = connection.filter(|c| !matches!(c.state(), State::Closed | State::Listen));
        let counts = value & OPT_ID != 0 && before & OPT_ID == 0;
        let wrong = value & !ALL_FLAGS != 0
            || value & (OPT_ID | OPT_ID_TCP) == OPT_ID_TCP
            || (counts && connection.is_none())
            || value & (OPT_STATS | OPT_TSONLY) == OPT_STATS;
        if wrong {
            return Ok(Some("EINVAL"));
        }
        for (flag, what) in [
            (RX_SOFTWARE, "SOF_TIMESTAMPING_RX_SOFTWARE: timestamps of received data"),
            (OPT_STATS, "SOF_TIMESTAMPING_OPT_STATS: statistics that accompany a timestamp"),
            (BIND_PHC, "SOF_TIMESTAMPING_BIND_PHC: timestamps from a hardware clock"),
        ] {
            if value & flag != 0 {
                return Err(Reply::Unsupported(what.into()));
            }
        }
        if let (Some(connection), true) = (connection, counts) {
            let (acked, held) = (connection.stack.acked() as i64, connection.stack.held() as i64);
            connection.stamps.base = match connection.state() {
                _ if value & OPT_ID_TCP != 0 => acked.saturating_add(held),
                State::SynSent => -1, // the SYN is counted too
                _ => acked,
            };
        }
        Ok(None)
    }

    fn set_congestion(&mut self, fd: i64, kind: &str) -> Answer {
        if self.congestion_of(fd)? != kind {
            let made = self.socket_of(fd)?.initial_tcp.clone();
            let tcp = self.host.kernel.with_congestion(&made, kind);
            let tcp = tcp.ok_or_else(|| Reply::Unsupported(format!("TCP_CONGESTION {kind}")))?;
            self.socket_of(fd)?.own.congestion = Some(tcp.congestion);
            self.apply(fd);
        }
        Ok(Reply::Done(0))
    }

    /// Apply the options that were set on a socket to the connection of the socket.
    pub(in crate::calls) fn apply(&mut self, fd: i64) {
        let Some(socket) = self.host.sockets.get(&fd) else { return };
        let Some(index) = socket.connection else { return };
        let connection = &mut self.host.connections[index];
        connection.own = socket.own.clone();
        (connection.linger2, connection.dscp) = (socket.linger2, socket.dscp);
        let mut tcp = connection.tcp.clone();
        let mss = tcp.mss;
        socket.own.lay_over(&mut tcp);
        tcp.mss = mss; // fixed by the handshake
        connection.configure(tcp);
        connection.stamps.flags = socket.options.get(&(1, TIMESTAMPING)).copied().unwrap_or(0);
        connection.lowat = socket.lowat(self.host.kernel.notsent_lowat);
        connection.stack.set_nodelay(socket.is_on("TCP_NODELAY"));
        connection.stack.set_cork(socket.is_on("TCP_CORK"));
    }

    /// Apply TCP_QUICKACK. The effect of the socket option TCP_QUICKACK is temporary (tcp(7)).
    pub(in crate::calls) fn apply_quickack(&mut self, fd: i64, on: bool) {
        if let Some(index) = self.host.sockets.get(&fd).and_then(|s| s.connection) {
            self.host.connections[index].stack.set_quickack(on);
        }
    }
}

impl Socket {
    fn is_on(&self, name: &str) -> bool {
        self.option(name).is_some_and(|v| v != 0)
    }

    /// Set the send buffer. The kernel doubles the requested size of a send buffer, because its own
    /// data structures need memory too (socket(7)).
    fn set_send_buffer(&mut self, value: i64) {
        self.send_buffer = Some(value.saturating_mul(2).clamp(MIN_BUFFERS.0, i32::MAX.into()) as u64);
    }

    /// Set the receive buffer. Half of the memory of the receive buffer is available as receive
    /// window (Linux, tcp_win_from_space).
    fn set_receive_buffer(&mut self, value: i64) {
        let size = value.saturating_mul(2).clamp(MIN_BUFFERS.1, i32::MAX.into()) as u64;
        self.receive_buffer = Some(size);
        self.own.receive_window = Some((size / 2).min(1_073_725_440));
    }
}
