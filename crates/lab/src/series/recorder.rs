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
    pub is_bidirectional: bool,
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
    pub bidirectional: u64,
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

/// Call the macro `$with` with `$argument` and the list of all hooks of a series.
///
/// A hook is declared here only: [`Recorder`] has a method of this signature, and
/// [`RecordedSeries`](super::RecordedSeries) calls that method of each series that the run records.
/// The word before `fn` is the entry of [`Needs`] that a series must declare to be called;
/// `always` stands for none.
macro_rules! hooks {
    ($with:ident $argument:tt) => {
        $with! {
            $argument
            /// Take a sample: an interval of `record.interval` is over.
            samples fn sample(snapshot: &mut Snapshot);
            /// Record a packet that arrived at the queue of a link at `times[0]` and whose transmission
            /// began, or will begin, at `times[1]`.
            packets fn on_link(now: Time, link: u32, times: [Time; 2], packet: &Packet);
            /// Record a packet that the host of an endpoint sends or receives. `acked` is the number of
            /// acknowledged bytes of the client and of the server.
            packets fn at_host(now: Time, end: End, observed: &ObservedPacket, acked: [u64; 2]);
            /// Record an endpoint that processed a segment, a timer or a request of its application.
            packets fn at_endpoint(now: Time, end: End, flow: u32, endpoint: &Endpoint);
            /// Record the drop or the mark of a packet at a link.
            always fn on_fate(at: Time, link: u32, flow: u32, fate: &Fate);
            /// Record a request that has its response, or whose connection or run ended without one.
            always fn on_request(request: &RequestRecord);
            /// Record a connection of a flow with arrivals that closed, or that was open at the end of
            /// the run.
            always fn on_connection_end(flow: u32, totals: &ConnectionTotals);
            /// Finish the records at the end of the run.
            always fn end(now: Time);
        }
    };
}

/// Define the trait [`Recorder`] from the list of hooks.
macro_rules! recorder_trait {
    ([] $($(#[$doc:meta])+ $need:ident fn $hook:ident($($argument:ident: $Type:ty),+);)+) => {
        /// A series. It receives the plan of a run and then events, stores rows, and returns tables.
        /// A hook that a series does not implement does nothing.
        pub trait Recorder: Debug + Sized {
            /// Columns of its table.
            type Table: Definition;
            /// Name of the series in `record.series`.
            const WORD: &'static str = Self::Table::IS.names[0];
            /// Description of the series in the reference, one sentence.
            const ABOUT: &'static str = Self::Table::IS.about;
            /// Hooks and data that the series needs.
            const NEEDS: Needs;

            /// Return the series of a run that begins.
            fn begin(start: &RunStart) -> Self;

            /// Return the number of rows per sample. A scenario with too many samples is refused.
            fn rows_per_sample(_of: &SampledCounts) -> u64 {
                0
            }

            /// Return the rows stored so far, if their number grows with the run.
            fn stored_rows(&self) -> StoredRows;

            $($(#[$doc])+ fn $hook(&mut self, $($argument: $Type),+) { let _ = ($($argument,)+); })+

            /// Return the tables of the series.
            fn tables(self, names: &Names) -> Vec<Table>;
        }
    };
}

hooks! { recorder_trait [] }

pub(super) use hooks;
