//! Trait of a series: a recorder that receives the events of a run and returns tables.

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

/// Hooks and data that a series needs. A run spends time only on the needs of its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// True to call [`Recorder::sample`] at each interval of the scenario.
    pub samples: bool,
    /// True if a sample reads the queues of the recorded links. For such a series, the run
    /// simulates every event of the recorded links, and performs their dequeues up to the time of
    /// the sample.
    pub queues: bool,
    /// True to call [`Recorder::on_link`], [`Recorder::at_host`] and [`Recorder::at_endpoint`] for
    /// each packet.
    pub packets: bool,
    /// True if the senders have to measure their delivery rate.
    pub rates: bool,
}

impl Needs {
    /// The needs of a series that uses only the hooks for rare events.
    pub const NOTHING: Needs = Needs { samples: false, queues: false, packets: false, rates: false };
}

/// Flow with a single connection.
#[derive(Clone, Copy, Debug)]
pub struct SingleFlow {
    /// Index of the flow.
    pub flow: u32,
    /// True if both hosts of the flow send data.
    pub is_bidirectional: bool,
    /// True if `record.traced` names the flow or is empty.
    pub traced: bool,
}

/// Plan of a run, which each series receives at the beginning of the run.
#[derive(Debug)]
pub struct RunStart<'a> {
    /// End of the warm-up. The series records no events before this time.
    pub begins: Time,
    /// Number of links.
    pub links: usize,
    /// Indices of the links that `record.links` names, or of all links if that list is empty.
    pub recorded: &'a [u32],
    /// Flows with a single connection. The flow at index `s` has slot `s`.
    pub single: &'a [SingleFlow],
}

/// Numbers of sampled links and flows of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct SampledCounts {
    /// Number of links whose queues are sampled.
    pub links: u64,
    /// Number of flows with a single connection.
    pub single: u64,
    /// Number of flows with a single connection in which both hosts send data.
    pub bidirectional: u64,
}

/// Request of an application.
#[derive(Clone, Copy, Debug)]
pub struct RequestRecord {
    /// Index of the flow.
    pub flow: u32,
    /// Number of the connection within the flow.
    pub connection: u32,
    /// Time at which the client wrote the request.
    pub since: Time,
    /// Time at which the client completed the handshake of the connection, or [`Time::NEVER`].
    pub opened: Time,
    /// Time at which the response was complete, or [`Time::NEVER`].
    pub completed: Time,
    /// Retransmission timeouts of the client and of the server of the connection until the response
    /// was complete.
    pub timeouts: [u32; 2],
    /// Sizes of the request and of its response in bytes.
    pub bytes: [u64; 2],
}

/// State of a run at the time of a sample.
pub struct Snapshot<'a> {
    /// Time of the snapshot.
    pub now: Time,
    /// All links of the network. The recorded links are up to date if a series needs queues.
    pub links: &'a mut [Link<Discipline>],
    /// Endpoints of all connections.
    pub endpoints: &'a Endpoints,
}

/// Names of links and flows for the tables. The names of the flows take memory, so they are created
/// only when a table requests them.
pub struct Names<'a> {
    links: Arc<Vec<String>>,
    flows: OnceCell<Arc<Vec<String>>>,
    make_flows: &'a dyn Fn() -> Vec<String>,
}

impl<'a> Names<'a> {
    /// Return the names for tables, from the names of the links and a function that returns the
    /// names of the flows.
    pub fn new(links: Vec<String>, make_flows: &'a dyn Fn() -> Vec<String>) -> Self {
        Names { links: Arc::new(links), flows: OnceCell::new(), make_flows }
    }

    /// Return the names of the links.
    pub fn links(&self) -> &Arc<Vec<String>> {
        &self.links
    }

    /// Return the names of the flows.
    pub fn flows(&self) -> &Arc<Vec<String>> {
        self.flows.get_or_init(|| Arc::new((self.make_flows)()))
    }
}

/// Rows that a series stores.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredRows {
    /// Number of rows.
    pub rows: usize,
    /// True if a row was not stored for lack of memory.
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
/// `always` stands for a hook without a need.
macro_rules! hooks {
    ($with:ident $argument:tt) => {
        $with! {
            $argument
            /// Take a sample at the end of each interval of `record.interval`.
            samples fn sample(snapshot: &mut Snapshot);
            /// Record a packet that arrived at the queue of a link at `times[0]` and whose
            /// transmission began, or will begin, at `times[1]`.
            packets fn on_link(now: Time, link: u32, times: [Time; 2], packet: &Packet);
            /// Record a packet that the host of an endpoint sends or receives. `acked` is the
            /// number of acknowledged bytes of the client and of the server.
            packets fn at_host(now: Time, end: End, observed: &ObservedPacket, acked: [u64; 2]);
            /// Record an endpoint that processed a segment, a timer or a request of its
            /// application.
            packets fn at_endpoint(now: Time, end: End, flow: u32, endpoint: &Endpoint);
            /// Record the drop or the mark of a packet at a link.
            always fn on_fate(at: Time, link: u32, flow: u32, fate: &Fate);
            /// Record a request when its response is complete, or when its connection or the run
            /// ends without a complete response.
            always fn on_request(request: &RequestRecord);
            /// Record a connection of a flow with `arrivals` when it closes, or at the end of the
            /// run if it is still open.
            always fn on_connection_end(flow: u32, totals: &ConnectionTotals);
            /// Finish the rows of the series at the end of the run.
            always fn end(now: Time);
        }
    };
}

/// Define the trait [`Recorder`] from the list of hooks.
macro_rules! recorder_trait {
    ([] $($(#[$doc:meta])+ $need:ident fn $hook:ident($($argument:ident: $Type:ty),+);)+) => {
        /// A series, which receives the plan of a run and then events, stores rows, and returns
        /// tables. A hook that a series does not implement does nothing.
        pub trait Recorder: Debug + Sized {
            /// Columns of its table.
            type Table: Definition;
            /// Name of the series in `record.series`.
            const NAME: &'static str = Self::Table::DEFINITION.names[0];
            /// Description of the series in the reference, one sentence.
            const ABOUT: &'static str = Self::Table::DEFINITION.about;
            /// Hooks and data that the series needs.
            const NEEDS: Needs;

            /// Return the series of a run that begins.
            fn begin(start: &RunStart) -> Self;

            /// Return the number of rows per sample. A scenario with too many samples is refused.
            fn rows_per_sample(_counts: &SampledCounts) -> u64 {
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
