//! TCP connections of the simulated host.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tcp::{Error, State, Tcp};
use units::{Duration, Time};

use super::error_queue::ErrorQueue;
use super::stamps::Stamps;
use super::zero_copy::ZeroCopy;
use crate::own::Own;
use crate::stack::{Header, Stack};
use crate::syntax::Flags;

/// Maximum size of a segment that the network interface accepts (Linux, GSO_LEGACY_MAX_SIZE minus
/// headers).
const INTERFACE: u64 = 65_215;
/// Memory of a kernel buffer in addition to its data, in bytes: the header of the buffer, space for
/// packet headers, and the shared part (Linux, SKB_TRUESIZE of MAX_TCP_HEADER).
const OVERHEAD: u64 = 896;

/// State of a connection at the last notification of the waiting calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notified {
    pub(super) readable: u64,
    pub(super) ended: bool,
    pub(super) over: bool,
    pub(super) opened: bool,
    pub(super) fin_acknowledged: bool,
    pub(super) reports: u64,
}

/// Correspondence between the sequence numbers in the script and the sequence numbers of the
/// endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    live: u32,
    script: u32,
}

impl Origin {
    /// Convert a sequence number in the script to the sequence number of the endpoint.
    pub fn to_live(self, number: u32) -> u32 {
        number.wrapping_sub(self.script).wrapping_add(self.live)
    }

    /// Convert a sequence number of the endpoint to the sequence number in the script.
    pub fn to_script(self, number: u32) -> u32 {
        number.wrapping_sub(self.live).wrapping_add(self.script)
    }
}

/// Correspondence between the timestamps in the script and the timestamps of the endpoint.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    first: Option<(u32, u32)>,
    /// Map from each timestamp in the script to the timestamp that the endpoint sent in its place.
    /// One timestamp in the script can stand for several timestamps of the endpoint, in which case
    /// the last of these timestamps is stored.
    last: BTreeMap<u32, u32>,
}

impl Clock {
    /// Record that the endpoint sent the timestamp `live` in a segment for which the script expects
    /// the timestamp `script`.
    pub fn sent(&mut self, script: u32, live: u32) {
        self.first.get_or_insert((script, live));
        self.last.insert(script, live);
    }

    /// Convert a timestamp of the endpoint to the timestamp in the script. Timestamps of the
    /// endpoint and of the script both count from the first timestamp that the endpoint sent.
    pub fn to_script(&self, live: u32) -> u32 {
        self.first.map_or(live, |(script, first)| live.wrapping_sub(first).wrapping_add(script))
    }

    /// Convert a timestamp echo reply in the script to the timestamp that the endpoint sent.
    pub fn echo_to_live(&self, script: u32) -> u32 {
        let counted = || match self.first {
            Some((first, live)) if script != 0 => script.wrapping_sub(first).wrapping_add(live),
            _ => script,
        };
        self.last.get(&script).copied().unwrap_or_else(counted)
    }
}

/// A TCP connection of the host, with or without a socket.
#[derive(Debug)]
pub struct Connection {
    /// The TCP endpoint.
    pub stack: Stack,
    /// TCP parameters.
    pub tcp: Tcp,
    /// TCP parameters that options of the socket set.
    pub own: Own,
    /// DSCP of sent packets.
    pub dscp: u8,
    /// ECN field of the packet that was sent last.
    pub last_ecn: net::Ecn,
    /// Sequence number of the endpoint's SYN, as the script gives it.
    pub script_iss: u32,
    /// Sequence number of the SYN that the peer sent. The script and the endpoint use the same
    /// sequence number for the SYN of the peer.
    pub irs: u32,
    /// Correspondence of timestamps.
    pub clock: Clock,
    /// Descriptor of the listening socket. The descriptor is `None` after the connection is
    /// accepted.
    pub waits_at: Option<i64>,
    /// Descriptor of the listening socket from which the connection came, even after the connection
    /// is accepted.
    pub came_to: Option<i64>,
    /// True after the application has closed the socket.
    pub orphan: bool,
    /// True if the application will not read any more data.
    pub read_shut: bool,
    /// True if the application will not write any more data.
    pub write_shut: bool,
    /// True while a non-blocking connect is in progress or its result has not yet been reported.
    pub connecting: bool,
    /// Address of the server of a connect with TCP Fast Open, until the server has answered the
    /// SYN.
    pub opens_fast: Option<Ipv4Addr>,
    /// Time when a reset arrived during the handshake of a Fast Open connection.
    pub reset_early: Option<Time>,
    /// True if the host has discarded the connection, in whatever state the endpoint is.
    pub gone: bool,
    /// True after a write or a poll call found the send buffer full.
    pub no_space: bool,
    /// Limit of unsent data in bytes: the socket accepts data only below this limit
    /// (TCP_NOTSENT_LOWAT).
    pub lowat: u32,
    /// Number of data segments that the connection has sent.
    pub data_segments: u64,
    /// Times of sent data.
    pub stamps: Stamps,
    /// Calls with MSG_ZEROCOPY.
    pub zero_copy: ZeroCopy,
    /// Error queue of the socket, which reports timestamps of sent data and the completion of calls
    /// with MSG_ZEROCOPY.
    pub errors: ErrorQueue,
    /// State of the connection at the last notification of the waiting calls.
    pub notified: Notified,
    /// True after the calls that wait at the listening socket were notified of this connection.
    pub listener_notified: bool,
    /// Maximum time in the state FIN-WAIT-2, if the socket option TCP_LINGER2 gives a maximum.
    pub linger2: Option<Option<Duration>>,
    /// Time when the state FIN-WAIT-2 ends, if the application has closed the connection.
    pub until: Time,
    /// Error that the next call on the socket returns.
    pub error: Option<&'static str>,
    broken: bool,
    opened: bool,
    state: State,
}

impl Connection {
    /// Create a connection that has neither sent nor received a segment.
    pub fn new(tcp: Tcp) -> Self {
        Connection {
            stack: Stack::new(tcp.clone()),
            tcp,
            own: Own::default(),
            dscp: 0,
            last_ecn: net::Ecn::NotEct,
            script_iss: 0,
            irs: 0,
            clock: Clock::default(),
            waits_at: None,
            came_to: None,
            orphan: false,
            read_shut: false,
            write_shut: false,
            connecting: false,
            opens_fast: None,
            reset_early: None,
            gone: false,
            no_space: false,
            lowat: u32::MAX,
            data_segments: 0,
            stamps: Stamps::default(),
            zero_copy: ZeroCopy::default(),
            errors: ErrorQueue::default(),
            notified: Notified::default(),
            listener_notified: false,
            linger2: None,
            until: Time::NEVER,
            error: None,
            broken: false,
            opened: false,
            state: State::Closed,
        }
    }

    /// Change the TCP parameters.
    pub fn configure(&mut self, tcp: Tcp) {
        if self.tcp != tcp {
            self.stack.configure(Arc::new(tcp.clone()));
            self.tcp = tcp;
        }
    }

    /// Return the state.
    pub fn state(&self) -> State {
        if self.gone { State::Closed } else { self.stack.state() }
    }

    /// Return true if the handshake of the connection is complete.
    pub fn established(&self) -> bool {
        !matches!(self.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// Return true if the listening socket `fd` can accept the connection. A connection can be
    /// accepted once its handshake is complete. The peer may already have closed a connection
    /// before it is accepted.
    pub fn waits_for_accept(&self, fd: i64) -> bool {
        self.waits_at == Some(fd) && self.opened
    }

    /// Limit the time that a connection without an application stays in FIN-WAIT-2 (tcp(7),
    /// TCP_LINGER2; Linux, tcp_fin_time).
    pub fn bound_fin_wait(&mut self, now: Time, timeout: Option<Duration>) {
        if self.orphan && self.state() == State::FinWait2 && self.until == Time::NEVER {
            let min = Duration(self.stack.rto().0 / 2 * 7);
            self.until = timeout.map_or(Time::NEVER, |timeout| now + timeout.max(min));
        }
    }

    /// Return true if the connection was reset or timed out.
    pub fn broken(&self) -> bool {
        self.broken
    }

    /// Return the number of bytes that the application can still write to the send buffer, whose
    /// limit is in bytes of kernel memory.
    ///
    /// While the send buffer has free memory and fewer than `lowat` bytes are unsent, the kernel
    /// can fill one more buffer of its own (Linux, tcp_sendmsg_locked, sk_stream_memory_free).
    /// While a write is being copied into the send buffer, the kernel already sends the data that
    /// the windows allow.
    pub fn room(&self, limit: Option<u64>) -> u64 {
        let lowat = u64::from(self.lowat);
        if limit.is_none() && self.lowat == u32::MAX {
            return u64::MAX;
        }
        let (held, goal, unsent) = (self.stack.held(), self.goal(), self.stack.unsent());
        let last = if unsent > 0 { (goal - held % goal) % goal } else { 0 };
        let most = match lowat {
            0 => 0,
            _ if self.lowat == u32::MAX => u64::MAX,
            _ => {
                let free = (lowat + self.stack.sendable()).saturating_sub(unsent.saturating_add(last));
                free.div_ceil(goal)
            }
        };
        let Some(limit) = limit else { return last + most * goal };
        let (mut room, mut buffers) = (last, 0);
        let queued = self.queued();
        while buffers < most && queued.saturating_add(room + buffers * OVERHEAD) < limit {
            room += goal;
            buffers += 1;
        }
        room
    }

    /// Return true if at least a third of the send buffer is free, and fewer than half of `lowat`
    /// bytes are unsent (Linux, __sk_stream_is_writeable, tcp_stream_memory_free).
    pub fn is_writable(&self, limit: Option<u64>) -> bool {
        let queued = self.queued();
        let unsent = self.lowat == u32::MAX || self.stack.unsent().saturating_mul(2) < u64::from(self.lowat);
        unsent && limit.is_none_or(|limit| queued.saturating_add(queued / 2) <= limit && queued < limit)
    }

    /// Return the kernel memory that the unacknowledged data uses, in bytes. The sum saturates,
    /// because a script may write more bytes than a 64-bit number can count.
    fn queued(&self) -> u64 {
        let held = self.stack.held();
        held.saturating_add(held.div_ceil(self.goal()).saturating_mul(OVERHEAD))
    }

    /// Return the size of the data in one kernel buffer: a whole number of segments, at most the
    /// maximum of the interface and half of the peer's window (Linux, tcp_xmit_size_goal).
    pub fn goal(&self) -> u64 {
        let (mss, window) = (u64::from(self.stack.segment_size().max(1)), self.stack.peer_window());
        let most = if window > 536 { INTERFACE.min(window / 2) } else { INTERFACE };
        (most / mss).max(1) * mss
    }

    /// Return true if the connection does not accept any more data from the application.
    pub fn cannot_send(&self) -> bool {
        self.broken || self.gone || self.write_shut || self.state() == State::Closed
    }

    /// Return the conversion between the sequence numbers of the endpoint in the script and in the
    /// run. In a SYN, the sequence number in the script is absolute. In segments other than a SYN,
    /// sequence numbers in the script are relative, and the first byte of data has the number 1.
    pub fn ours(&self, syn: bool) -> Origin {
        Origin { live: self.stack.iss().unwrap_or(0), script: if syn { self.script_iss } else { 0 } }
    }

    /// Return the conversion between the sequence numbers of the peer in the script and in the run.
    pub fn theirs(&self, syn: bool) -> Origin {
        Origin { live: self.irs, script: if syn { self.irs } else { 0 } }
    }

    /// Record the initial sequence number of the peer.
    pub fn note_syn(&mut self, header: &Header) {
        let open = matches!(self.state(), State::Closed | State::Listen | State::SynSent);
        if open && header.flags.has(Flags::SYN) {
            self.irs = header.seq;
        }
    }

    /// Record the error that ended the connection, at most once (tcp(7), ERRORS).
    pub fn record_error(&mut self) {
        if let (Some(why), false) = (self.stack.error(), self.broken) {
            self.broken = true;
            self.error = Some(match why {
                Error::Reset if self.state == State::CloseWait => "EPIPE",
                Error::Reset => "ECONNRESET",
                Error::Refused => "ECONNREFUSED",
                Error::TimedOut => "ETIMEDOUT",
            });
        }
        self.state = self.state();
        self.opened |= self.established() || self.stack.is_early();
    }
}
