//! Sockets and their options.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use tcp::Tcp;
use units::Duration;

use crate::constants;
use crate::kernel::fast_open::Keys;
use crate::own::Own;

/// TCP Fast Open options of a socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenOptions {
    /// Socket option TCP_FASTOPEN: maximum number of connections whose handshake is not complete.
    pub queue: i64,
    /// TCP_FASTOPEN_CONNECT.
    pub connect: bool,
    /// TCP_FASTOPEN_NO_COOKIE.
    pub no_cookie: bool,
    /// TCP_FASTOPEN_KEY.
    pub keys: Option<Keys>,
    /// Destination of a connect that has returned although its SYN is not yet sent. A SYN that was
    /// not yet sent will be sent with the first data.
    pub waits_for_data: Option<Ipv4Addr>,
}

/// A socket.
#[derive(Clone, Debug)]
pub struct Socket {
    /// TCP parameters that the host had when the socket was created.
    pub initial_tcp: Tcp,
    /// TCP parameters that options of the socket set.
    pub own: Own,
    /// Default sizes of the receive buffer and the send buffer when the socket was created, in
    /// bytes of kernel memory.
    pub initial_buffers: (i64, i64),
    /// Socket option SO_RCVBUF, in bytes of kernel memory.
    pub receive_buffer: Option<u64>,
    /// Socket option SO_SNDBUF, in bytes of kernel memory.
    pub send_buffer: Option<u64>,
    /// DSCP of the packets that the socket sends (IP_TOS).
    pub dscp: u8,
    /// O_NONBLOCK.
    pub nonblocking: bool,
    /// True after bind.
    pub bound: bool,
    /// True after listen.
    pub listens: bool,
    /// Maximum number of established connections that may wait for an accept call, minus one.
    pub backlog: i64,
    /// Index of its connection.
    pub connection: Option<usize>,
    /// Values of the socket options that the script set, by level and option number.
    pub options: BTreeMap<(i64, i64), i64>,
    /// Value of the socket option TCP_LINGER2, if the script set it.
    pub linger2: Option<Option<Duration>>,
    /// Socket option SO_LINGER: on or off, and the linger time in seconds.
    pub linger: (i64, i64),
    /// Fast Open options.
    pub fast_open: FastOpenOptions,
}

impl Socket {
    /// Create a new socket.
    pub fn new(initial_tcp: Tcp) -> Self {
        Socket {
            initial_tcp,
            own: Own::default(),
            initial_buffers: (0, 0),
            receive_buffer: None,
            send_buffer: None,
            dscp: 0,
            nonblocking: false,
            bound: false,
            listens: false,
            backlog: 0,
            connection: None,
            options: BTreeMap::new(),
            linger2: None,
            linger: (0, 0),
            fast_open: FastOpenOptions::default(),
        }
    }

    /// Return the value of a socket option at the level SOL_TCP, if the script set this option.
    pub fn option(&self, name: &str) -> Option<i64> {
        constants::value(name).and_then(|o| self.options.get(&(6, o))).copied()
    }

    /// Return the limit of unsent data in bytes: the socket accepts data only below this limit. The
    /// default of this limit is the setting tcp_notsent_lowat of the host.
    pub fn lowat(&self, default: u32) -> u32 {
        let own = self.option("TCP_NOTSENT_LOWAT").map_or(0, |value| value as u32);
        if own == 0 { default } else { own }
    }
}
