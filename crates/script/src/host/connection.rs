//! Connections of the host under test.

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

/// Maximum size of a segment that an interface accepts (Linux, GSO_LEGACY_MAX_SIZE minus headers).
const INTERFACE: u64 = 65_215;
/// Memory per kernel buffer in addition to its data, in bytes: its own header, space for packet
/// headers, and the shared part (Linux, SKB_TRUESIZE of MAX_TCP_HEADER).
const OVERHEAD: u64 = 896;

/// State of a connection when its waiters were last notified.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notified {
    pub(super) readable: u64,
    pub(super) ended: bool,
    pub(super) over: bool,
    pub(super) opened: bool,
    pub(super) fin_acknowledged: bool,
    pub(super) reports: u64,
}

/// Correspondence between the endpoint's and the script's sequence numbers.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    live: u32,
    script: u32,
}

impl Origin {
    /// Convert a sequence number of the script to the endpoint's.
    pub fn to_live(self, number: u32) -> u32 {
        number.wrapping_sub(self.script).wrapping_add(self.live)
    }

    /// Convert a sequence number of the endpoint to the script's.
    pub fn to_script(self, number: u32) -> u32 {
        number.wrapping_sub(self.live).wrapping_add(self.script)
    }
}

/// Correspondence between the endpoint's and the script's timestamps.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    first: Option<(u32, u32)>,
    /// Timestamp of the endpoint for each timestamp of the script. If one timestamp of the script
    /// stands for several timestamps of the endpoint, the last one counts.
    last: BTreeMap<u32, u32>,
}

impl Clock {
    /// Record that the endpoint sent the timestamp `live` where the script has the timestamp
    /// `script`.
    pub fn sent(&mut self, script: u32, live: u32) {
        self.first.get_or_insert((script, live));
        self.last.insert(script, live);
    }

    /// Convert a timestamp of the endpoint to the script's. Both timestamps count from the first
    /// timestamp sent.
    pub fn to_script(&self, live: u32) -> u32 {
        self.first.map_or(live, |(script, first)| live.wrapping_sub(first).wrapping_add(script))
    }

    /// Convert an echoed timestamp of the script to the endpoint's.
    pub fn echo_to_live(&self, script: u32) -> u32 {
        let counted = || match self.first {
            Some((first, live)) if script != 0 => script.wrapping_sub(first).wrapping_add(live),
            _ => script,
        };
        self.last.get(&script).copied().unwrap_or_else(counted)
    }
}

/// A connection, with or without a socket.
#[derive(Debug)]
pub struct Connection {
    /// The TCP endpoint.
    pub stack: Stack,
    /// TCP parameters.
    pub tcp: Tcp,
    /// TCP parameters that the socket's options set.
    pub own: Own,
    /// DSCP of sent packets.
    pub dscp: u8,
    /// ECN field of the last sent packet.
    pub last_ecn: net::Ecn,
    /// Sequence number of the endpoint's SYN in the script.
    pub script_iss: u32,
    /// Sequence number of the peer's SYN. The endpoint uses this number as it is in the script.
    pub irs: u32,
    /// Correspondence of timestamps.
    pub clock: Clock,
    /// Descriptor of the listening socket, until the connection is accepted.
    pub waits_at: Option<i64>,
    /// Descriptor of the listening socket, also after the connection is accepted.
    pub came_to: Option<i64>,
    /// True after the application has closed the socket.
    pub orphan: bool,
    /// True if the application reads no more.
    pub read_shut: bool,
    /// True if the application writes no more.
    pub write_shut: bool,
    /// True while a non-blocking connect has not reported its result.
    pub connecting: bool,
    /// Address of the server of a connect with Fast Open, until the answer of the server is known.
    pub opens_fast: Option<Ipv4Addr>,
    /// Time of a reset that arrived before the handshake of a Fast Open connection was complete.
    pub reset_early: Option<Time>,
    /// True if the host has discarded the connection, whatever the endpoint's state.
    pub gone: bool,
    /// True after a write or poll found the send buffer full.
    pub no_space: bool,
    /// Number of unsent bytes from which on the socket accepts no more data (TCP_NOTSENT_LOWAT).
    pub lowat: u32,
    /// Number of data segments that the connection has sent.
    pub data_segments: u64,
    /// Times of sent data.
    pub stamps: Stamps,
    /// Calls with MSG_ZEROCOPY.
    pub zero_copy: ZeroCopy,
    /// Error queue of the socket, which reports the times of sent data and the calls with
    /// MSG_ZEROCOPY.
    pub errors: ErrorQueue,
    /// State of the connection when its waiters were last notified.
    pub notified: Notified,
    /// True after the waiters of the listening socket were notified of this connection.
    pub listener_notified: bool,
    /// Maximum time in FIN-WAIT-2, if TCP_LINGER2 of the socket sets this maximum.
    pub linger2: Option<Option<Duration>>,
    /// Time when FIN-WAIT-2 ends because the application has closed.
    pub until: Time,
    /// Error that the next call returns.
    pub error: Option<&'static str>,
    broken: bool,
    opened: bool,
    state: State,
}

impl Connection {
    /// Create a connection that has sent and received no segment.
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

    /// Return true if the handshake is complete.
    pub fn established(&self) -> bool {
        !matches!(self.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// Return true if a listening socket can accept the connection. A connection that can be
    /// accepted has a complete handshake. The peer may have closed the connection since the
    /// handshake.
    pub fn waits_for_accept(&self, fd: i64) -> bool {
        self.waits_at == Some(fd) && self.opened
    }

    /// Limit the time in FIN-WAIT-2 of a connection without an application (tcp(7), TCP_LINGER2;
    /// Linux, tcp_fin_time).
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

    /// Return the number of bytes that a send buffer of this size, as the kernel counts it, still
    /// accepts.
    ///
    /// While the buffer has free memory and fewer than `lowat` bytes are unsent, the kernel fills
    /// one of its own buffers (Linux, tcp_sendmsg_locked, sk_stream_memory_free). While the kernel
    /// copies the data of a write, it sends the data that the windows allow.
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

    /// Return true if a third of a send buffer of this size is free, and fewer than half of `lowat`
    /// bytes are unsent (Linux, __sk_stream_is_writeable, tcp_stream_memory_free).
    pub fn is_writable(&self, limit: Option<u64>) -> bool {
        let queued = self.queued();
        let unsent = self.lowat == u32::MAX || self.stack.unsent().saturating_mul(2) < u64::from(self.lowat);
        unsent && limit.is_none_or(|limit| queued.saturating_add(queued / 2) <= limit && queued < limit)
    }

    /// Return the memory of the unacknowledged data, as the kernel counts it. A script may write
    /// more bytes than a 64-bit number counts, so the sum saturates.
    fn queued(&self) -> u64 {
        let held = self.stack.held();
        held.saturating_add(held.div_ceil(self.goal()).saturating_mul(OVERHEAD))
    }

    /// Return the size of one kernel buffer: whole segments, up to the maximum of the interface and
    /// half of the peer's window (Linux, tcp_xmit_size_goal).
    pub fn goal(&self) -> u64 {
        let (mss, window) = (u64::from(self.stack.segment_size().max(1)), self.stack.peer_window());
        let most = if window > 536 { INTERFACE.min(window / 2) } else { INTERFACE };
        (most / mss).max(1) * mss
    }

    /// Return true if the connection accepts no more data for sending.
    pub fn cannot_send(&self) -> bool {
        self.broken || self.gone || self.write_shut || self.state() == State::Closed
    }

    /// Return the origin of the endpoint's sequence numbers. In a SYN, the script's sequence
    /// numbers are absolute. In other segments the script's sequence numbers are relative, and the
    /// first byte of data has the number 1.
    pub fn ours(&self, syn: bool) -> Origin {
        Origin { live: self.stack.iss().unwrap_or(0), script: if syn { self.script_iss } else { 0 } }
    }

    /// Return the origin of the peer's sequence numbers.
    pub fn theirs(&self, syn: bool) -> Origin {
        Origin { live: self.irs, script: if syn { self.irs } else { 0 } }
    }

    /// Record the peer's initial sequence number.
    pub fn note_syn(&mut self, header: &Header) {
        let open = matches!(self.state(), State::Closed | State::Listen | State::SynSent);
        if open && header.flags.has(Flags::SYN) {
            self.irs = header.seq;
        }
    }

    /// Record the error with which the connection ended, once (tcp(7), ERRORS).
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
