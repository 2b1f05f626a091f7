//! A connection: its two ends and their applications.

use std::collections::VecDeque;
use std::sync::Arc;

use net::Seq;
use tcp::{Endpoint, Tcp};
use units::{Duration, Time};

use super::counters::Counters;

/// When an application closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closes {
    /// With its last write.
    #[default]
    AfterWrites,
    /// When it has written all and the other side has closed.
    AfterPeer,
    /// Never.
    Never,
}

/// An application.
#[derive(Clone, Debug, Default)]
pub struct App {
    /// What it writes, in order of time.
    pub writes: VecDeque<(Time, u64)>,
    pub closes: Closes,
    /// How long it takes to read, and how many bytes then; otherwise it reads everything at once.
    pub reads: Option<(Duration, u32)>,
}

impl App {
    /// Writes this much at the beginning, then closes.
    pub fn writes(bytes: u64) -> Self {
        App { writes: [(Time::ZERO, bytes)].into(), ..App::default() }
    }

    /// Writes nothing, and closes when the other side does.
    pub fn listens() -> Self {
        App { closes: Closes::AfterPeer, ..App::default() }
    }
}

/// What the other end does with data on a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fast {
    /// The cookie is right.
    Accepted,
    /// It is not.
    Refused,
    /// Fast Open is not known there.
    Unknown,
}

/// A connection.
pub struct Pair {
    /// The end that opens, and the other.
    pub ends: [Endpoint; 2],
    pub apps: [App; 2],
    /// Propagation from each end to the other.
    pub delays: [Duration; 2],
    /// When it opens.
    pub opens: Time,
    pub(super) opened: bool,
    pub(super) both_open: bool,
    pub(super) fast: Option<Fast>,
    /// A host answered a segment of it with a reset, after TIME-WAIT.
    pub(super) reset_by_host: bool,
    pub(super) counters: [Counters; 2],
    pub(super) next_read: [Option<Time>; 2],
    pub(super) sent: [u64; 2],
    pub(super) data: [u64; 2],
}

impl Pair {
    /// Two ends with these parameters, half a round trip apart.
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

    /// First sequence numbers.
    pub fn set_iss(&mut self, iss: [u32; 2]) {
        for (i, iss) in iss.into_iter().enumerate() {
            self.ends[i].set_iss(Seq(iss));
            self.counters[i].iss = Seq(iss);
        }
    }

    /// Both ends open actively.
    pub fn open_at_once(&mut self) {
        self.both_open = true;
    }

    /// The first end opens with data on its SYN.
    pub fn open_fast(&mut self, fast: Option<Fast>) {
        self.fast = fast;
    }

    /// Bytes that arrived in order at the other side of `end`.
    pub fn delivered(&self, end: usize) -> u64 {
        self.counters[end].in_order()
    }

    /// Whether everything each end wrote was delivered, acknowledged and read.
    pub fn is_complete(&self) -> bool {
        (0..2).all(|i| {
            let counters = &self.counters[i];
            let (here, there) = (&self.ends[i], &self.ends[1 - i]);
            let read = self.apps[1 - i].reads.is_none() || counters.read == counters.written;
            // An end whose last ACK was lost may hear from a host that has forgotten the connection.
            read && (here.acked() == counters.written || self.reset_by_host)
                && counters.in_order() == counters.written
                && counters.acked >= counters.written
                && there.readable() == 0
                && self.apps[i].writes.is_empty()
        })
    }

    /// Whether both ends are closed.
    pub fn is_closed(&self) -> bool {
        self.ends.iter().all(Endpoint::is_closed)
    }

    /// What is known, for a message.
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
