//! The simulated host: its connections, and the packets that it sent and that the script has not
//! yet compared.

mod connection;
mod epoll;
pub mod error_queue;
mod fast_open;
mod socket;
pub mod stamps;
mod wakes;
mod zero_copy;

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use tcp::fast_open::CookieCache;
use tcp::{State, Tcp};
use units::{Duration, Time};

pub use connection::{Connection, Origin};
pub use epoll::{ALL, ALWAYS, EDGE, Epoll, Interest, ONCE};
pub use socket::Socket;

use crate::kernel::Kernel;
use crate::stack::Header;
use crate::syntax::Flags;

/// A packet that the host sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Time of sending.
    pub at: Time,
    /// Index of the connection that sent the packet.
    pub connection: usize,
    /// TCP header.
    pub header: Header,
}

/// Recipient of a packet that the script injects.
#[derive(Clone, Copy, Debug)]
pub enum Addressee {
    /// The connection with the given index.
    Is(usize),
    /// The packet is addressed to a port without a connection.
    Unknown,
    /// The host ignores the packet.
    Nobody,
}

/// The host under test.
#[derive(Debug)]
pub struct Host {
    /// Settings that apply to the whole host.
    pub kernel: Kernel,
    /// Sockets by descriptor.
    pub sockets: BTreeMap<i64, Socket>,
    /// Epoll instances by descriptor.
    pub epolls: BTreeMap<i64, Epoll>,
    /// Connections in the order in which they were opened.
    pub connections: Vec<Connection>,
    /// Connection to which the packets in the script belong, which is the connection that was
    /// opened last.
    pub current: Option<usize>,
    /// Listening socket that will receive the next SYN. A `listen` call sets the field `listener`,
    /// and the opening of the next connection clears the field.
    pub listener: Option<i64>,
    /// Packets that the current connection sent and that the script has not yet expected.
    pub sent: VecDeque<Sent>,
    /// Packets of earlier connections that the script had not yet expected when the next connection
    /// was opened.
    pub missed: Vec<Sent>,
    /// Fast Open cookies that the host has cached, per server.
    pub servers: BTreeMap<Ipv4Addr, CookieCache>,
    /// Descriptor numbers that each stand for two open descriptors in the script. Each element
    /// contains the number in the script, which denotes the newer descriptor, and the internal
    /// number of the older descriptor.
    pub hidden: Vec<(i64, i64)>,
    /// Tolerance for times that a system call returns, such as timestamps.
    pub tolerance: Duration,
}

/// Number of segments at the beginning of a connection that are not paced by the queue discipline.
const UNPACED: u64 = 10;
/// First internal number for an older descriptor whose number now denotes a newer descriptor.
const HIDDEN: i64 = 1 << 40;

impl Host {
    /// Create a host that has no sockets.
    pub fn new(tcp: Tcp) -> Self {
        Host {
            kernel: Kernel::new(tcp),
            sockets: BTreeMap::new(),
            epolls: BTreeMap::new(),
            connections: Vec::new(),
            current: None,
            listener: None,
            sent: VecDeque::new(),
            missed: Vec::new(),
            servers: BTreeMap::new(),
            hidden: Vec::new(),
            tolerance: Duration::ZERO,
        }
    }

    /// Return true if the queue discipline paces packets, but a connection has a congestion control
    /// without pacing.
    ///
    /// The queue discipline `fq` does not pace the first ten segments of a connection (Linux,
    /// tcp_update_skb_after_send).
    pub fn lacks_pacing(&self) -> bool {
        let lacks = |c: &Connection| c.data_segments > UNPACED && !c.gone && !c.stack.paces();
        self.kernel.paces && self.connections.iter().any(lacks)
    }

    /// Return true if the descriptor number is in use.
    pub fn is_open(&self, fd: i64) -> bool {
        self.sockets.contains_key(&fd) || self.epolls.contains_key(&fd)
    }

    /// Close a descriptor, and remove it from all epoll instances. If the closed descriptor had
    /// taken its number from an older descriptor, the older descriptor gets the number back.
    pub fn remove(&mut self, fd: i64) {
        self.sockets.remove(&fd);
        self.epolls.remove(&fd);
        self.epolls.values_mut().for_each(|epoll| epoll.forget(fd));
        if let Some(i) = self.hidden.iter().rposition(|h| h.0 == fd) {
            let (_, stand_in) = self.hidden.remove(i);
            self.rename(stand_in, fd);
        }
    }

    /// Rename an open descriptor to an internal number, so that a newer descriptor can use the
    /// previous number until the newer descriptor is closed.
    pub fn hide(&mut self, fd: i64) {
        let stand_in = HIDDEN.max(self.hidden.last().map_or(0, |h| h.1 + 1));
        self.hidden.push((fd, stand_in));
        self.rename(fd, stand_in);
    }

    fn rename(&mut self, from: i64, to: i64) {
        if let Some(socket) = self.sockets.remove(&from) {
            self.sockets.insert(to, socket);
        }
        if let Some(epoll) = self.epolls.remove(&from) {
            self.epolls.insert(to, epoll);
        }
        self.epolls.values_mut().for_each(|epoll| epoll.rename(from, to));
        let waiting = self.connections.iter_mut().flat_map(|c| [&mut c.waits_at, &mut c.came_to]);
        waiting.chain([&mut self.listener]).flatten().filter(|fd| **fd == from).for_each(|fd| *fd = to);
    }

    /// Add a connection to the host and return its index. From now on, packets in the script belong
    /// to the added connection.
    pub fn begin(&mut self, connection: Connection) -> usize {
        self.connections.push(connection);
        let index = self.connections.len() - 1;
        (self.current, self.listener) = (Some(index), None);
        self.missed.extend(self.sent.drain(..));
        index
    }

    /// Return the time when the next timer of any connection expires.
    pub fn deadline(&self) -> Time {
        let alive = self.connections.iter().filter(|c| !c.gone);
        alive.map(|c| c.stack.deadline().min(c.until)).min().unwrap_or(Time::NEVER)
    }

    /// Process all timers that have expired at the time `now`.
    pub fn on_timer(&mut self, now: Time) {
        for i in 0..self.connections.len() {
            let connection = &mut self.connections[i];
            connection.gone |= connection.until <= now;
            if !connection.gone && connection.stack.deadline() <= now {
                connection.stack.on_timer(now);
                self.pump(i, now);
            }
        }
    }

    /// Send all packets that a connection can send now, and notify the calls that wait for this
    /// connection.
    pub fn pump(&mut self, index: usize, now: Time) {
        let connection = &mut self.connections[index];
        let acked = connection.stack.acked();
        connection.stamps.on_acked(now, acked, &mut connection.errors);
        connection.zero_copy.on_acked(acked, &mut connection.errors);
        while let Some(mut header) = connection.stack.poll(now) {
            header.dscp = connection.dscp;
            connection.last_ecn = header.ecn;
            if header.len > 0 {
                connection.data_segments += 1;
                let first = connection.stack.iss().unwrap_or(0).wrapping_add(1);
                let before = header.seq.wrapping_sub(first);
                connection.stamps.on_sent(now, before, header.len, &mut connection.errors);
            }
            if Some(index) == self.current && !connection.gone {
                self.sent.push_back(Sent { at: now, connection: index, header });
            }
        }
        connection.stack.settle(now, connection.no_space);
        connection.record_error();
        if connection.broken() {
            connection.zero_copy.on_acked(u64::MAX, &mut connection.errors); // the kernel frees its buffers
        }
        self.learn(index);
        let connection = &mut self.connections[index];
        connection.bound_fin_wait(now, connection.linger2.unwrap_or(self.kernel.fin_timeout));
        self.wake_for(index);
    }

    /// Return the recipient of a packet that the script injects.
    pub fn addressee(&mut self, now: Time, flags: Flags) -> Addressee {
        let opens = flags.has(Flags::SYN) && !flags.has(Flags::ACK);
        let over = self.current.is_none_or(|i| {
            let connection = &self.connections[i];
            connection.orphan || matches!(connection.state(), State::Closed | State::TimeWait)
        });
        let listens = |fd: &i64| self.sockets.get(fd).is_some_and(|s| s.listens);
        let asked = self.listener.filter(listens);
        let any = || self.sockets.keys().copied().find(listens);
        match asked.or_else(|| if over { any() } else { None }) {
            Some(fd) if opens && self.is_full(fd) => Addressee::Nobody, // Linux, tcp_conn_request
            Some(fd) if opens => {
                let mut connection = self.new_connection(fd, true);
                (connection.waits_at, connection.came_to) = (Some(fd), Some(fd));
                match self.at_listener(fd, now) {
                    Some(server) => connection.stack.listen_fast(server),
                    None => connection.stack.listen(),
                }
                Addressee::Is(self.begin(connection))
            }
            _ => self.current.map_or(Addressee::Unknown, Addressee::Is),
        }
    }

    /// Create a connection with the TCP parameters of a socket.
    pub fn new_connection(&self, fd: i64, passive: bool) -> Connection {
        let Some(socket) = self.sockets.get(&fd) else { return Connection::new(self.kernel.tcp.clone()) };
        let tcp = self.kernel.parameters(&socket.initial_tcp, &socket.own, passive);
        let mut connection = Connection::new(tcp);
        connection.own = socket.own.clone();
        (connection.linger2, connection.dscp) = (socket.linger2, socket.dscp);
        connection
    }

    /// Apply changed kernel settings to the existing connections, if Linux does so for the changed
    /// setting.
    pub fn heed_settings(&mut self) {
        for connection in &mut self.connections {
            let tcp = self.kernel.heeded(&connection.tcp, &connection.own);
            connection.configure(tcp);
        }
        for socket in self.sockets.values() {
            if let Some(index) = socket.connection {
                self.connections[index].lowat = socket.lowat(self.kernel.notsent_lowat);
            }
        }
    }

    /// Return true if the accept queue of a listening socket is full. The accept queue has space
    /// for one more connection than the backlog argument of `listen` (Linux, sk_acceptq_is_full).
    fn is_full(&self, fd: i64) -> bool {
        let waiting = self.connections.iter().filter(|c| c.waits_for_accept(fd)).count();
        self.sockets.get(&fd).is_some_and(|s| waiting as i64 > s.backlog)
    }

    /// Process a packet that arrives for a connection. The sequence numbers of the packet have
    /// already been converted from those of the script to those of the endpoint.
    pub fn receive(&mut self, now: Time, to: Addressee, header: &Header) {
        let index = match to {
            Addressee::Nobody => return,
            Addressee::Is(index) => index,
            Addressee::Unknown => {
                let index = self.begin(Connection::new(self.kernel.tcp.clone()));
                self.connections[index].note_syn(header);
                self.connections[index].gone = true;
                return self.refuse(now, index, header);
            }
        };
        if self.overflows(index, header) {
            if self.kernel.abort_on_overflow {
                self.connections[index].gone = true;
                self.refuse(now, index, header);
            }
            return;
        }
        let connection = &mut self.connections[index];
        connection.note_syn(header);
        if self.kernel.reflect_tos && header.flags.has(Flags::SYN) && connection.state() == State::Listen {
            connection.dscp = header.dscp;
        }
        if self.kernel.rfc1337 && connection.state() == State::TimeWait && header.flags.has(Flags::RST) {
            return; // RFC 1337 §3, fix 1
        }
        // Data arrives although the application has closed the socket or will not read any more
        // (RFC 9293 §3.6.1; RFC 1122 §4.2.2.13).
        let unwanted = connection.read_shut
            && header.len > 0
            && matches!(connection.state(), State::FinWait1 | State::FinWait2)
            && header.seq.wrapping_add(header.len).wrapping_sub(connection.stack.expects()) as i32 > 0;
        if unwanted {
            connection.gone = true;
        }
        if connection.state() == State::Closed {
            return self.refuse(now, index, header);
        }
        let early = connection.stack.is_early();
        connection.stack.on_segment(now, header);
        if early && header.flags.has(Flags::RST) && connection.state() == State::Closed {
            connection.reset_early = Some(now);
        }
        self.pump(index, now);
    }

    /// Return true if the packet would complete a handshake, but the accept queue of the listening
    /// socket is full. The host ignores an ACK that would complete a handshake while the accept
    /// queue is full (listen(2); Linux, tcp_v4_syn_recv_sock).
    fn overflows(&self, index: usize, header: &Header) -> bool {
        let connection = &self.connections[index];
        let ends = connection.state() == State::SynReceived
            && !connection.stack.is_early()
            && header.flags.has(Flags::ACK)
            && !header.flags.has(Flags::RST)
            && !header.flags.has(Flags::SYN);
        ends && connection.waits_at.is_some_and(|fd| self.is_full(fd))
    }

    /// Send a reset in response to a segment that belongs to no connection (RFC 9293 §3.10.7.1).
    fn refuse(&mut self, now: Time, index: usize, header: &Header) {
        if header.flags.has(Flags::RST) {
            return;
        }
        let answer = if header.flags.has(Flags::ACK) {
            Header { seq: header.ack, flags: Flags::RST, ..Header::default() }
        } else {
            let ack = header.seq.wrapping_add(header.seq_len());
            Header { ack, flags: Flags::RST | Flags::ACK, ..Header::default() }
        };
        self.sent.push_back(Sent { at: now, connection: index, header: answer });
    }
}
