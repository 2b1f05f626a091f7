//! The host under test: its connections, and the packets that they sent and nobody has looked at.

use std::collections::{BTreeMap, VecDeque};

use tcp::{Error, State, Tcp};
use units::Time;

use crate::calls::Socket;
use crate::stack::{Header, Stack};
use crate::syntax::Flags;

/// A connection, whether a socket stands for it or not.
#[derive(Debug)]
pub struct Connection {
    /// The endpoint.
    pub stack: Stack,
    /// The script's number of our SYN.
    pub script_iss: u32,
    /// The endpoint's timestamp for each of the script's.
    pub timestamps: BTreeMap<u32, u32>,
    /// Descriptor of the listening socket that it came by, until it is accepted.
    pub waits_at: Option<i64>,
    /// The application has closed its socket.
    pub orphan: bool,
    /// The application reads, or writes, no more.
    pub read_shut: bool,
    /// The application writes no more.
    pub write_shut: bool,
    /// A non-blocking connect whose end has not been told.
    pub connecting: bool,
    /// It is gone, whatever its endpoint thinks.
    pub gone: bool,
    /// The error that the next call returns.
    pub error: Option<&'static str>,
    broken: bool,
    state: State,
}

impl Connection {
    /// One that has not begun.
    pub fn new(tcp: Tcp) -> Self {
        Connection {
            stack: Stack::new(tcp),
            script_iss: 0,
            timestamps: BTreeMap::new(),
            waits_at: None,
            orphan: false,
            read_shut: false,
            write_shut: false,
            connecting: false,
            gone: false,
            error: None,
            broken: false,
            state: State::Closed,
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

    /// Whether it was reset or given up.
    pub fn broken(&self) -> bool {
        self.broken
    }

    /// Whether nothing more can be written.
    pub fn deaf(&self) -> bool {
        self.broken || self.gone || self.write_shut || self.state() == State::Closed
    }

    /// From the script's numbers of our sequence space to the endpoint's.
    pub fn to_live(&self, number: u32) -> u32 {
        number.wrapping_sub(self.script_iss).wrapping_add(self.stack.iss().unwrap_or(0))
    }

    /// The other way.
    pub fn to_script(&self, number: u32) -> u32 {
        number.wrapping_sub(self.stack.iss().unwrap_or(0)).wrapping_add(self.script_iss)
    }

    /// Notes how the connection ended, once (tcp(7), ERRORS).
    fn notice(&mut self) {
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
    }
}

/// A packet that left the host.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When.
    pub at: Time,
    /// Index of its connection.
    pub connection: usize,
    /// What it said.
    pub header: Header,
}

/// The host.
#[derive(Debug)]
pub struct Host {
    /// Parameters of new sockets.
    pub tcp: Tcp,
    /// Sockets by descriptor.
    pub sockets: BTreeMap<i64, Socket>,
    /// Connections in the order in which they began.
    pub connections: Vec<Connection>,
    /// The connection that packets of the script belong to: the one begun last.
    pub current: Option<usize>,
    /// Packets of that connection which the script has not yet expected.
    pub sent: VecDeque<Sent>,
}

impl Host {
    /// One without sockets.
    pub fn new(tcp: Tcp) -> Self {
        Host { tcp, sockets: BTreeMap::new(), connections: Vec::new(), current: None, sent: VecDeque::new() }
    }

    /// Adds a connection, to which the packets of the script belong from now on.
    pub fn begin(&mut self, connection: Connection) -> usize {
        self.connections.push(connection);
        let index = self.connections.len() - 1;
        self.current = Some(index);
        index
    }

    /// When a timer of a connection is due.
    pub fn deadline(&self) -> Time {
        let alive = self.connections.iter().filter(|c| !c.gone);
        alive.map(|c| c.stack.deadline()).min().unwrap_or(Time::NEVER)
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        for i in 0..self.connections.len() {
            if !self.connections[i].gone && self.connections[i].stack.deadline() <= now {
                self.connections[i].stack.on_timer(now);
                self.pump(i, now);
            }
        }
    }

    /// Lets a connection send what it has to.
    pub fn pump(&mut self, index: usize, now: Time) {
        let connection = &mut self.connections[index];
        while let Some(header) = connection.stack.poll(now) {
            if Some(index) == self.current && !connection.gone {
                self.sent.push_back(Sent { at: now, connection: index, header });
            }
        }
        connection.notice();
    }

    /// The connection that a packet of the script, still in its numbers, is for.
    pub fn addressee(&mut self, flags: Flags) -> Option<usize> {
        let opens = flags.has(Flags::SYN) && !flags.has(Flags::ACK);
        let over = self.current.is_none_or(|i| {
            let connection = &self.connections[i];
            connection.orphan || matches!(connection.state(), State::Closed | State::TimeWait)
        });
        let listener = self.sockets.iter().find(|s| s.1.listens).map(|s| *s.0);
        match listener {
            Some(fd) if opens && over => {
                let mut connection = Connection::new(self.sockets[&fd].tcp.clone());
                connection.waits_at = Some(fd);
                connection.stack.listen();
                Some(self.begin(connection))
            }
            _ => self.current,
        }
    }

    /// A packet, in the endpoint's numbers, arrives for a connection; `None`: for no one.
    pub fn receive(&mut self, now: Time, to: Option<usize>, header: &Header) {
        let Some(index) = to else {
            let index = self.begin(Connection::new(self.tcp.clone()));
            self.connections[index].gone = true;
            return self.refuse(now, index, header);
        };
        let connection = &mut self.connections[index];
        // Data for an application that is no longer there (RFC 9293 §3.6.1; RFC 1122 §4.2.2.13).
        let unwanted = connection.orphan
            && header.len > 0
            && matches!(connection.state(), State::FinWait1 | State::FinWait2)
            && header.seq.wrapping_add(header.len).wrapping_sub(connection.stack.expects()) as i32 > 0;
        if unwanted {
            connection.gone = true;
        }
        if connection.state() == State::Closed {
            return self.refuse(now, index, header);
        }
        connection.stack.on_segment(now, header);
        self.pump(index, now);
    }

    /// Answers a segment that is for no connection (RFC 9293 §3.10.7.1).
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
