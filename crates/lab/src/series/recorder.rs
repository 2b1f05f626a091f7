//! What a series is: a recorder that is told of what happens in a run, and leaves a table.

use std::cell::OnceCell;
use std::fmt::Debug;
use std::sync::Arc;

use net::{End, Fate, Link, Packet};
use queues::Discipline;
use tcp::Endpoint;
use units::Time;

use crate::columns::Definition;
use crate::endpoints::Endpoints;
use crate::memory::List;
use crate::observed_packet::ObservedPacket;
use crate::record::Table;
use crate::totals::ConnectionTotals;

/// What a series has to be called for, so that a run pays only for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// [`Recorder::sample`], at every interval of the scenario.
    pub samples: bool,
    /// The queues of the recorded links there: these links are simulated whatever they do, and are made up to the instant.
    pub queues: bool,
    /// [`Recorder::on_link`], [`Recorder::at_host`] and [`Recorder::at_endpoint`], packet by packet.
    pub packets: bool,
    /// Senders that measure their delivery rate.
    pub rates: bool,
}

impl Needs {
    /// Neither samples nor packets: only what is rare.
    pub const NOTHING: Needs = Needs { samples: false, queues: false, packets: false, rates: false };
}

/// A flow that is one connection.
#[derive(Clone, Copy, Debug)]
pub struct SingleFlow {
    /// The flow.
    pub flow: u32,
    /// Whether both its hosts send data.
    pub converses: bool,
    /// Whether `record.traced` names it, or nothing.
    pub traced: bool,
}

/// What is known when a run begins.
#[derive(Debug)]
pub struct RunStart<'a> {
    /// The end of the warm-up: what happens before it is not recorded.
    pub begins: Time,
    /// How many links there are.
    pub links: usize,
    /// Those that `record.links` names, or all.
    pub recorded: &'a [u32],
    /// The flows that are one connection: number `s` has slot `s`.
    pub single: &'a [SingleFlow],
}

/// What a scenario has that is sampled.
#[derive(Clone, Copy, Debug)]
pub struct SampledCounts {
    /// Links whose queue is.
    pub links: u64,
    /// Flows that are one connection.
    pub single: u64,
    /// Of these, those whose two hosts send data.
    pub conversing: u64,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct RequestRecord {
    /// Its flow.
    pub flow: u32,
    /// Its connection, by the number that this has in its flow.
    pub connection: u32,
    /// When it was written.
    pub since: Time,
    /// When its connection was established at the client; [`Time::NEVER`]: it was not.
    pub opened: Time,
    /// When it had its response whole; [`Time::NEVER`]: it has not.
    pub completed: Time,
    /// Timeouts of the connection's client and of its server by then.
    pub timeouts: [u32; 2],
    /// The sizes of the request and of its response.
    pub bytes: [u64; 2],
}

/// What is observed of a run at an instant.
pub struct Snapshot<'a> {
    /// When.
    pub now: Time,
    /// The links; those recorded are made up to now, if the series wants queues.
    pub links: &'a mut [Link<Discipline>],
    /// The ends of all connections.
    pub endpoints: &'a Endpoints,
}

/// The names that tables have: those of flows cost text, and are made when a table asks for them.
pub struct Names<'a> {
    links: Arc<Vec<String>>,
    flows: OnceCell<Arc<Vec<String>>>,
    make_flows: &'a dyn Fn() -> Vec<String>,
}

impl<'a> Names<'a> {
    /// Those of links, and how those of flows are made.
    pub fn new(links: Vec<String>, make_flows: &'a dyn Fn() -> Vec<String>) -> Self {
        Names { links: Arc::new(links), flows: OnceCell::new(), make_flows }
    }

    /// Those of links.
    pub fn links(&self) -> &Arc<Vec<String>> {
        &self.links
    }

    /// Those of flows.
    pub fn flows(&self) -> &Arc<Vec<String>> {
        self.flows.get_or_init(|| Arc::new((self.make_flows)()))
    }
}

/// The rows that a series holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredRows {
    /// How many there are.
    pub rows: usize,
    /// Whether one was left away for lack of memory.
    pub full: bool,
}

impl<T> From<&List<T>> for StoredRows {
    fn from(list: &List<T>) -> Self {
        StoredRows { rows: list.len(), full: list.is_full() }
    }
}

impl std::ops::Add for StoredRows {
    type Output = StoredRows;
    fn add(self, other: StoredRows) -> StoredRows {
        StoredRows { rows: self.rows + other.rows, full: self.full || other.full }
    }
}

/// A series: from the plan of a run to a table. What it is not interested in does nothing.
pub trait Recorder: Debug + Sized {
    /// The columns of its table.
    type Table: Definition;
    /// Its name in `record.series`.
    const WORD: &'static str = Self::Table::IS.names[0];
    /// What it is, in a sentence: for the reference.
    const ABOUT: &'static str = Self::Table::IS.about;
    /// What it is called for.
    const NEEDS: Needs;

    /// That of a run that begins.
    fn begin(start: &RunStart) -> Self;

    /// How many rows a sample makes, by which too many are refused before the run.
    fn rows_per_sample(_of: &SampledCounts) -> u64 {
        0
    }

    /// The rows so far, where their number grows with the run.
    fn stored_rows(&self) -> StoredRows;

    /// An interval is over.
    fn sample(&mut self, _at: &mut Snapshot) {}

    /// A packet that came to the queue of a link at the first of two times is, or was, transmitted from the second on.
    fn on_link(&mut self, _now: Time, _link: u32, _from: [Time; 2], _packet: &Packet) {}

    /// The host of an end sends a packet or receives one, when so many bytes of data are acknowledged to the client
    /// and to the server.
    fn at_host(&mut self, _now: Time, _end: End, _observed: &ObservedPacket, _acked: [u64; 2]) {}

    /// An end of a connection of this flow was told of a segment, of time, or of its application's wishes.
    fn at_endpoint(&mut self, _now: Time, _end: End, _flow: u32, _endpoint: &Endpoint) {}

    /// A packet of a flow is dropped or marked at a link.
    fn on_fate(&mut self, _at: Time, _link: u32, _flow: u32, _fate: &Fate) {}

    /// A request has its response, or the run ends and it has not.
    fn on_request(&mut self, _request: &RequestRecord) {}

    /// A connection of a flow with arrivals is over, or the run is: what it counted.
    fn on_connection_end(&mut self, _flow: u32, _totals: &ConnectionTotals) {}

    /// The run ends.
    fn end(&mut self, _now: Time) {}

    /// What it leaves, under the names of its table.
    fn tables(self, names: &Names) -> Vec<Table>;
}
