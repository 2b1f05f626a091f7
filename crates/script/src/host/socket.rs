//! A socket, and what was set of it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use tcp::Tcp;
use units::Duration;

use crate::constants;
use crate::kernel::fast_open::Keys;
use crate::own::Own;

/// What a socket was told of Fast Open.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfSocket {
    /// TCP_FASTOPEN: most connections that are open before their handshakes ended.
    pub queue: i64,
    /// TCP_FASTOPEN_CONNECT.
    pub connect: bool,
    /// TCP_FASTOPEN_NO_COOKIE.
    pub no_cookie: bool,
    /// TCP_FASTOPEN_KEY.
    pub keys: Option<Keys>,
    /// Whom it has been connected to, as far as the application knows: the SYN waits for data.
    pub waits_for_data: Option<Ipv4Addr>,
}

/// A socket.
#[derive(Clone, Debug)]
pub struct Socket {
    /// Parameters of TCP when it was made.
    pub made: Tcp,
    /// What its options set of them.
    pub own: Own,
    /// Sizes of the buffers for receiving and sending when it was made, as the kernel counts them.
    pub made_with_buffers: (i64, i64),
    /// SO_RCVBUF and SO_SNDBUF, as the kernel counts them.
    pub receive_buffer: Option<u64>,
    /// See `receive_buffer`.
    pub send_buffer: Option<u64>,
    /// The DSCP of what it sends (IP_TOS).
    pub dscp: u8,
    /// O_NONBLOCK.
    pub nonblocking: bool,
    /// It was bound.
    pub bound: bool,
    /// It waits for connections.
    pub listens: bool,
    /// How many may wait at it, but for one.
    pub backlog: i64,
    /// Index of its connection.
    pub connection: Option<usize>,
    /// Options that were set, by level and name.
    pub options: BTreeMap<(i64, i64), i64>,
    /// TCP_LINGER2, if it was set.
    pub linger2: Option<Option<Duration>>,
    /// SO_LINGER: on, and for how many seconds.
    pub linger: (i64, i64),
    /// Fast Open.
    pub fast_open: OfSocket,
}

impl Socket {
    /// One that was just made.
    pub fn new(made: Tcp) -> Self {
        Socket {
            made,
            own: Own::default(),
            made_with_buffers: (0, 0),
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
            fast_open: OfSocket::default(),
        }
    }

    /// Return the value of an option of TCP, if it was set.
    pub fn option(&self, name: &str) -> Option<i64> {
        constants::value(name).and_then(|o| self.options.get(&(6, o))).copied()
    }

    /// Return the number of unsent bytes from which on the socket accepts no more; `usual` is that of
    /// the host (Linux, tcp_notsent_lowat).
    pub fn lowat(&self, usual: u32) -> u32 {
        let own = self.option("TCP_NOTSENT_LOWAT").map_or(0, |value| value as u32);
        if own == 0 { usual } else { own }
    }
}
