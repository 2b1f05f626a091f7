//! A connection: its two endpoints and their applications.

use std::collections::VecDeque;
use std::sync::Arc;

use net::Seq;
use tcp::{Endpoint, Tcp};
use units::{Duration, Time};

use super::counters::Counters;

/// Event after which an application closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closes {
    /// The application closes with its last write.
    #[default]
    AfterWrites,
    /// The application closes when all its data is written and the other side has closed.
    AfterPeer,
    /// The application never closes.
    Never,
}

/// An application.
#[derive(Clone, Debug, Default)]
pub struct App {
    /// Times and sizes of the application's writes, in ascending order of time.
    pub writes: VecDeque<(Time, u64)>,
    pub closes: Closes,
    /// Delay and maximum size of a read, or `None` if the application reads all data at once.
    pub reads: Option<(Duration, u32)>,
}

impl App {
    /// Create an application that writes `bytes` bytes at the beginning, then closes.
    pub fn writes(bytes: u64) -> Self {
        App { writes: [(Time::ZERO, bytes)].into(), ..App::default() }
    }

    /// Create an application that writes no data, and closes after the other side has closed.
    pub fn listens() -> Self {
        App { closes: Closes::AfterPeer, ..App::default() }
    }
}

/// Response of the second endpoint to data in a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fast {
    /// The cookie is right.
    Accepted,
    /// The cookie is wrong.
    Refused,
    /// The endpoint does not support Fast Open.
    Unknown,
}

/// A connection.
pub struct Pair {
    /// The endpoint that opens the connection, and the other endpoint.
    pub ends: [Endpoint; 2],
    pub apps: [App; 2],
    /// Propagation delay from each endpoint to the other.
    pub delays: [Duration; 2],
    /// Time at which the connection opens.
    pub opens: Time,
    pub(super) opened: bool,
    pub(super) both_open: bool,
    pub(super) fast: Option<Fast>,
    /// True if a host answered a segment of the connection with a reset after TIME-WAIT had ended.
    pub(super) reset_by_host: bool,
    pub(super) counters: [Counters; 2],
    pub(super) next_read: [Option<Time>; 2],
    pub(super) sent: [u64; 2],
    pub(super) data: [u64; 2],
}

impl Pair {
    /// Create two endpoints with these parameters, with half a round-trip time between them.
    pub fn new(tcps: [Tcp; 2], rtt: Duration, apps: [App; 2]) -> Self {
        let ends = tcps.map(|tcp| Endpoint::new(Arc::new(tcp), Duration::ZERO));
        let half = Duration(rtt.0 / 2);
        Pair {
            ends,
            apps,
            delays: [half, Duration(rtt.0 - half.0)],
            opens: Time::ZERO,
            opened: false,
            both_open: false,
            fast: None,
            reset_by_host: false,
            counters: Default::default(),
            next_read: [None; 2],
            sent: [0; 2],
            data: [0; 2],
        }
    }

    /// Set the initial sequence numbers.
    pub fn set_iss(&mut self, iss: [u32; 2]) {
        for (i, iss) in iss.into_iter().enumerate() {
            self.ends[i].set_iss(Seq(iss));
            self.counters[i].iss = Seq(iss);
        }
    }

    /// Let both endpoints open actively.
    pub fn open_at_once(&mut self) {
        self.both_open = true;
    }

    /// Let the first endpoint open with data in its SYN.
    pub fn open_fast(&mut self, fast: Option<Fast>) {
        self.fast = fast;
    }

    /// Return the number of bytes that endpoint `end` sent and that arrived in order at the other
    /// side.
    pub fn delivered(&self, end: usize) -> u64 {
        self.counters[end].in_order()
    }

    /// Return true if all data that each endpoint wrote was delivered, acknowledged and read.
    pub fn is_complete(&self) -> bool {
        (0..2).all(|i| {
            let counters = &self.counters[i];
            let (here, there) = (&self.ends[i], &self.ends[1 - i]);
            let read = self.apps[1 - i].reads.is_none() || counters.read == counters.written;
            // A host may answer with a reset after TIME-WAIT if the last ACK was lost.
            read && (here.acked() == counters.written || self.reset_by_host)
                && counters.in_order() == counters.written
                && counters.acked >= counters.written
                && there.readable() == 0
                && self.apps[i].writes.is_empty()
        })
    }

    /// Return true if both endpoints are closed.
    pub fn is_closed(&self) -> bool {
        self.ends.iter().all(Endpoint::is_closed)
    }

    /// Return the state of both endpoints and their counters, for a message.
    pub fn describe(&self) -> String {
        format!(
            "{:?} {:?}\n{:?} {:?}\n{:?}\n{:?}",
            self.ends[0].state(),
            self.ends[0].error(),
            self.ends[1].state(),
            self.ends[1].error(),
            self.counters[0],
            self.counters[1]
        )
    }
}
