//! A connection of the host, whether a socket stands for it or not.

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

/// What an interface takes at once (Linux, GSO_LEGACY_MAX_SIZE less headers).
const INTERFACE: u64 = 65_215;
/// What the kernel counts for a buffer beside its bytes: its header, the headers to come, and the shared part (Linux,
/// SKB_TRUESIZE of MAX_TCP_HEADER).
const OVERHEAD: u64 = 896;

/// What who waits has been told of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub(super) readable: u64,
    pub(super) ended: bool,
    pub(super) over: bool,
    pub(super) opened: bool,
    pub(super) fin_acknowledged: bool,
    pub(super) reports: u64,
}

/// The same place in sequence space, as the endpoint and as the script counts.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    live: u32,
    script: u32,
}

impl Origin {
    /// From the script's numbers to the endpoint's.
    pub fn to_live(self, number: u32) -> u32 {
        number.wrapping_sub(self.script).wrapping_add(self.live)
    }

    /// The other way.
    pub fn to_script(self, number: u32) -> u32 {
        number.wrapping_sub(self.live).wrapping_add(self.script)
    }
}

/// Timestamps that were sent, as the script and as the endpoint has them.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    first: Option<(u32, u32)>,
    /// The endpoint's for each of the script's; the last, where it has one number for several.
    last: BTreeMap<u32, u32>,
}

impl Clock {
    /// The endpoint sent `live` where the script says `script`.
    pub fn sent(&mut self, script: u32, live: u32) {
        self.first.get_or_insert((script, live));
        self.last.insert(script, live);
    }

    /// A timestamp of the endpoint in the script's numbers, which count from the first that was sent.
    pub fn to_script(&self, live: u32) -> u32 {
        self.first.map_or(live, |(script, first)| live.wrapping_sub(first).wrapping_add(script))
    }

    /// What the script's echo means.
    pub fn echo_to_live(&self, script: u32) -> u32 {
        let counted = || match self.first {
            Some((first, live)) if script != 0 => script.wrapping_sub(first).wrapping_add(live),
            _ => script,
        };
        self.last.get(&script).copied().unwrap_or_else(counted)
    }
}

/// A connection, whether a socket stands for it or not.
#[derive(Debug)]
pub struct Connection {
    /// The endpoint.
    pub stack: Stack,
    /// Its parameters, and what of them its socket set.
    pub tcp: Tcp,
    /// See `tcp`.
    pub own: Own,
    /// The DSCP of what it sends.
    pub dscp: u8,
    /// The ECN field of what it sent last.
    pub last_ecn: net::Ecn,
    /// The script's number of our SYN.
    pub script_iss: u32,
    /// The number of the other side's SYN, which the endpoint gets as the script has it.
    pub irs: u32,
    /// Its timestamps in the script's numbers.
    pub clock: Clock,
    /// Descriptor of the listening socket that it came by, until it is accepted.
    pub waits_at: Option<i64>,
    /// The same for good.
    pub came_to: Option<i64>,
    /// The application has closed its socket.
    pub orphan: bool,
    /// The application reads, or writes, no more.
    pub read_shut: bool,
    /// The application writes no more.
    pub write_shut: bool,
    /// A non-blocking connect whose end has not been told.
    pub connecting: bool,
    /// Whom it opens fast to, until it is known how that was answered.
    pub opens_fast: Option<Ipv4Addr>,
    /// When it was reset while it was open before its handshake had ended.
    pub reset_early: Option<Time>,
    /// It is gone, whatever its endpoint thinks.
    pub gone: bool,
    /// A write found no room, or a poll.
    pub no_space: bool,
    /// Number of unsent bytes from which on the socket accepts no more (TCP_NOTSENT_LOWAT).
    pub lowat: u32,
    /// Number of data segments that the connection has sent.
    pub data_segments: u64,
    /// Times of sent data.
    pub stamps: Stamps,
    /// Calls with MSG_ZEROCOPY.
    pub zero_copy: ZeroCopy,
    /// Error queue, which reports the times and the calls with MSG_ZEROCOPY.
    pub errors: ErrorQueue,
    /// What who waits has been told of.
    pub seen: Seen,
    /// Whether who waits at its listening socket has been told of it.
    pub told_listener: bool,
    /// How long FIN-WAIT-2 may last, if its socket said so (TCP_LINGER2).
    pub linger2: Option<Option<Duration>>,
    /// When FIN-WAIT-2 ends, as no application is there.
    pub until: Time,
    /// The error that the next call returns.
    pub error: Option<&'static str>,
    broken: bool,
    opened: bool,
    state: State,
}

impl Connection {
    /// One that has not begun.
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
            seen: Seen::default(),
            told_listener: false,
            linger2: None,
            until: Time::NEVER,
            error: None,
            broken: false,
            opened: false,
            state: State::Closed,
        }
    }

    /// Its parameters are these from now on.
    pub fn configure(&mut self, tcp: Tcp) {
        if self.tcp != tcp {
            self.stack.configure(Arc::new(tcp.clone()));
            self.tcp = tcp;
        }
    }

    /// Its state.
    pub fn state(&self) -> State {
        if self.gone { State::Closed } else { self.stack.state() }
    }

    /// Whether the handshake is over.
    pub fn established(&self) -> bool {
        !matches!(self.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// Whether a listening socket has it to accept: its handshake came to its end, whatever happened since.
    pub fn waits_for_accept(&self, fd: i64) -> bool {
        self.waits_at == Some(fd) && self.opened
    }

    /// Nobody stands behind it any more: how long FIN-WAIT-2 lasts is bounded (tcp(7), TCP_LINGER2; Linux, tcp_fin_time).
    pub fn bound_fin_wait(&mut self, now: Time, timeout: Option<Duration>) {
        if self.orphan && self.state() == State::FinWait2 && self.until == Time::NEVER {
            let least = Duration(self.stack.rto().0 / 2 * 7);
            self.until = timeout.map_or(Time::NEVER, |timeout| now + timeout.max(least));
        }
    }

    /// Whether it was reset or given up.
    pub fn broken(&self) -> bool {
        self.broken
    }

    /// Return the number of bytes that a send buffer of this size, in the kernel's count, still accepts.
    ///
    /// While any memory is free and less than `lowat` is unsent, the kernel fills a buffer of its own
    /// size (Linux, tcp_sendmsg_locked, sk_stream_memory_free). Data that the windows allow leaves
    /// during the copy.
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

    /// Return whether a third of a send buffer of this size is free, and less than half of `lowat`
    /// is unsent (Linux, __sk_stream_is_writeable, tcp_stream_memory_free).
    pub fn is_writable(&self, limit: Option<u64>) -> bool {
        let queued = self.queued();
        let unsent = self.lowat == u32::MAX || self.stack.unsent().saturating_mul(2) < u64::from(self.lowat);
        unsent && limit.is_none_or(|limit| queued.saturating_add(queued / 2) <= limit && queued < limit)
    }

    /// Memory that what waits takes, as the kernel counts it. A script may write more than any memory holds.
    fn queued(&self) -> u64 {
        let held = self.stack.held();
        held.saturating_add(held.div_ceil(self.goal()).saturating_mul(OVERHEAD))
    }

    /// Bytes that go into one buffer of the kernel: whole segments, up to what an interface takes at once and half of
    /// the other side's window (Linux, tcp_xmit_size_goal).
    pub fn goal(&self) -> u64 {
        let (mss, window) = (u64::from(self.stack.segment_size().max(1)), self.stack.peer_window());
        let most = if window > 536 { INTERFACE.min(window / 2) } else { INTERFACE };
        (most / mss).max(1) * mss
    }

    /// Whether nothing more can be written.
    pub fn deaf(&self) -> bool {
        self.broken || self.gone || self.write_shut || self.state() == State::Closed
    }

    /// Our first sequence number, of the endpoint's and of the script's numbers of it. In a SYN these are as it has
    /// them; elsewhere they are relative: byte 1 is the first.
    pub fn ours(&self, syn: bool) -> Origin {
        Origin { live: self.stack.iss().unwrap_or(0), script: if syn { self.script_iss } else { 0 } }
    }

    /// The same of the other side's.
    pub fn theirs(&self, syn: bool) -> Origin {
        Origin { live: self.irs, script: if syn { self.irs } else { 0 } }
    }

    /// Notes where the other side begins to count.
    pub fn note_syn(&mut self, header: &Header) {
        let open = matches!(self.state(), State::Closed | State::Listen | State::SynSent);
        if open && header.flags.has(Flags::SYN) {
            self.irs = header.seq;
        }
    }

    /// Notes how the connection ended, once (tcp(7), ERRORS).
    pub fn notice(&mut self) {
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
