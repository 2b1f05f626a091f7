//! Trait of a series: a recorder that receives the events of a run, and returns tables at the end.

use std::cell::OnceCell;
use std::fmt::Debug;
use std::sync::Arc;

use net::{End, Explanation, Fate, Link, Variable};
use queues::Discipline;
use tcp::{CwndChange, Endpoint};
use units::{Duration, Time};

use crate::columns::Definition;
use crate::memory::List;
use crate::observed_packet::ObservedPacket;
use crate::real_ends::KernelState;
use crate::record::Table;
use crate::senders::Senders;
use crate::totals::ConnectionTotals;

/// Hooks and data that the recording of a series requires. A series is a table that is recorded
/// during a run. A run spends computing time only on the needs of the series that it records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// True if the run calls [`Recorder::sample`] at each interval of `record.interval`.
    pub samples: bool,
    /// True if a sample reads the state of the queues of the recorded links. If `queues` is true,
    /// the run simulates every event of the recorded links, and performs all dequeues of their
    /// queues up to the time of the sample.
    pub queues: bool,
    /// True if the run calls [`Recorder::on_link`] for each packet on the recorded links.
    pub links: bool,
    /// True if the run calls [`Recorder::at_host`] and [`Recorder::at_endpoint`] for each packet.
    pub hosts: bool,
    /// True if the senders have to compute their delivery rate.
    pub rates: bool,
    /// True if real hosts report the state of their kernel at each interval of `record.interval`
    /// ([`Recorder::at_kernel`]).
    pub reports: bool,
    /// True if the queues explain their drops and marks ([`Recorder::on_fate`]).
    pub explanations: bool,
    /// True if the senders record the changes of cwnd and ssthresh
    /// ([`Recorder::on_cwnd_change`]).
    pub changes: bool,
}

impl Needs {
    /// Requirements of a series that uses only the hooks for rare events, such as drops.
    pub const NOTHING: Needs = Needs {
        samples: false,
        queues: false,
        links: false,
        hosts: false,
        rates: false,
        reports: false,
        explanations: false,
        changes: false,
    };

    /// Return true if the series reads the state of endpoints, so that all endpoints must be at the
    /// same simulated time.
    pub fn reads_endpoints(&self) -> bool {
        self.hosts || (self.samples && !self.queues)
    }
}

/// Flow with a single connection.
#[derive(Clone, Copy, Debug)]
pub struct SingleFlow {
    /// Index of the flow.
    pub flow: u32,
    /// True if both hosts of the flow send data.
    pub is_bidirectional: bool,
    /// True if the list `record.traced` contains the name of the flow or is empty.
    pub traced: bool,
}

/// Plan of a run, which each recorded series receives at the beginning of the run.
#[derive(Debug)]
pub struct RunStart<'a> {
    /// End of the warm-up. The series records no events before the end of the warm-up.
    pub begins: Time,
    /// End of the run, if the scenario sets a duration.
    pub ends: Option<Time>,
    /// Number of links.
    pub links: usize,
    /// Indices of the links in the list `record.links`, or of all links if the list is empty.
    pub recorded: &'a [u32],
    /// Variables by which the queues of the links explain their drops and marks. The list is empty
    /// unless a series needs explanations.
    pub variables: &'a [&'static Variable],
    /// Flows with a single connection. The connection of the flow at index `s` is stored in slot
    /// `s`.
    pub single: &'a [SingleFlow],
    /// Index of the first flow of each `[[flows]]` table.
    pub tables: &'a [u32],
}

impl RunStart<'_> {
    /// Return the time from which on the beginnings of transmissions are recorded: after the end of
    /// the warm-up, or from the beginning of a run without a warm-up.
    pub fn first_transmission(&self) -> Time {
        if self.begins == Time::ZERO { Time::ZERO } else { self.begins + Duration(1) }
    }
}

/// Counts of the links and flows that each sample covers.
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
    /// Retransmission timeouts of the client and of the server of the connection, up to the
    /// completion of the response.
    pub timeouts: [u32; 2],
    /// Sizes of the request and of its response in bytes.
    pub bytes: [u64; 2],
}

/// State of a run at the time of a sample.
pub struct Snapshot<'a> {
    /// Time of the snapshot.
    pub now: Time,
    /// All links of the network. If `Needs::queues` is true for a recorded series, the recorded
    /// links have simulated all events up to the time of the snapshot.
    pub links: &'a mut [Link<Discipline>],
    /// Senders of all connections.
    pub senders: Senders<'a>,
}

/// Names of links and flows for the tables. The names of the flows need much memory, so they are
/// computed only when a table requests the names.
pub struct Names<'a> {
    links: Arc<Vec<String>>,
    flows: OnceCell<Arc<Vec<String>>>,
    make_flows: &'a dyn Fn() -> Vec<String>,
    tables: Arc<Vec<String>>,
}

impl<'a> Names<'a> {
    /// Create the names of links and flows that result tables contain. `links` has the names of the
    /// links, `make_flows` computes the names of the flows, and `tables` has the names of the
    /// `[[flows]]` tables.
    pub fn new(links: Vec<String>, make_flows: &'a dyn Fn() -> Vec<String>, tables: Vec<String>) -> Self {
        Names { links: Arc::new(links), flows: OnceCell::new(), make_flows, tables: Arc::new(tables) }
    }

    /// Return the names of the `[[flows]]` tables.
    pub fn tables(&self) -> &Arc<Vec<String>> {
        &self.tables
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

/// Number of rows that a series stores.
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
/// The list below is the only declaration of the hooks. Each hook is a method of [`Recorder`]. A
/// method of [`RecordedSeries`](super::RecordedSeries) with the same name calls the hook of every
/// recorded series. The word before `fn` is the field of [`Needs`] that a series sets to true to
/// receive the calls of the hook. The run calls a hook with the word `always` for every recorded
/// series.
macro_rules! hooks {
    ($with:ident $argument:tt) => {
        $with! {
            $argument
            /// Take a sample. The run calls this hook at the end of each interval of
            /// `record.interval`.
            samples fn sample(snapshot: &mut Snapshot);
            /// Record a packet of a flow that arrived at the queue of a link at the time
            /// `times[0]`. The transmission of the packet begins at the time `times[1]`, which may
            /// be in the future. The calls of one link are in the order of time. The calls of
            /// different links may be out of order.
            links fn on_link(now: Time, link: u32, times: [Time; 2], flow: u32);
            /// Record a packet that the host of an endpoint sends or receives. `acked` has the
            /// number of acknowledged bytes of the client's data and of the server's data.
            hosts fn at_host(now: Time, end: End, observed: &ObservedPacket, acked: [u64; 2]);
            /// Record the state of an endpoint after the endpoint processed a segment, a timer or a
            /// request of its application.
            hosts fn at_endpoint(now: Time, end: End, flow: u32, endpoint: &Endpoint);
            /// Record the state of a real endpoint that its kernel reports.
            reports fn at_kernel(now: Time, end: End, flow: u32, kernel: &KernelState);
            /// Record the drop or the mark of a packet at a link. The calls of one link are in the
            /// order of time. The calls of different links may be out of order. `explanation` has
            /// the rule and the variables of the queue if a series declares `explanations` and the
            /// queue dropped or marked the packet.
            always fn on_fate(at: Time, link: u32, flow: u32, fate: &Fate, explanation: Option<&Explanation>);
            /// Record a change of cwnd or ssthresh of an endpoint. `connection` is the number of
            /// the connection within the flow. The calls of one endpoint are in the order of time.
            /// The calls of different endpoints may be out of order.
            changes fn on_cwnd_change(now: Time, end: End, of: [u32; 2], change: &CwndChange);
            /// Record a request when its response is complete. A request without a complete
            /// response is recorded when its connection or the run ends.
            always fn on_request(request: &RequestRecord);
            /// Record a connection that closes, or that is still open at the end of the run.
            /// `connection` has the index of the flow, and the number of the connection within the
            /// flow. The run calls this hook only for connections that are opened during the run.
            always fn on_connection_end(connection: [u32; 2], totals: &ConnectionTotals);
            /// Finish the rows of the series at the end of the run.
            always fn end(now: Time);
        }
    };
}

/// Define the trait [`Recorder`] from the list of hooks.
macro_rules! recorder_trait {
    ([] $($(#[$doc:meta])+ $need:ident fn $hook:ident($($argument:ident: $Type:ty),+);)+) => {
        /// Recorder of one series. The recorder receives the plan of a run and then the events of
        /// the run, stores rows, and returns tables. If a series does not implement a hook, a call
        /// of the hook has no effect.
        pub trait Recorder: Debug + Sized {
            /// Columns of its table.
            type Table: Definition;
            /// Name of the series in `record.series`.
            const NAME: &'static str = Self::Table::DEFINITION.names[0];
            /// Description of the series for the reference documentation, one sentence.
            const ABOUT: &'static str = Self::Table::DEFINITION.about;
            /// Hooks and data that the series needs.
            const NEEDS: Needs;

            /// Return the series for a run that begins.
            fn begin(start: &RunStart) -> Self;

            /// Return the number of rows that one sample adds. The simulator refuses a scenario
            /// whose samples would have too many rows.
            fn rows_per_sample(_counts: &SampledCounts) -> u64 {
                0
            }

            /// Return the number of rows stored so far, if this number grows with the duration of
            /// the run.
            fn stored_rows(&self) -> StoredRows;

            $($(#[$doc])+ fn $hook(&mut self, $($argument: $Type),+) { let _ = ($($argument,)+); })+

            /// Return the tables of the series.
            fn tables(self, names: &Names) -> Vec<Table>;
        }
    };
}

hooks! { recorder_trait [] }

pub(super) use hooks;
