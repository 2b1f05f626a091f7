//! Series that a scenario can record. Each series has its own source file, and the list in the
//! macro `series!` below names all series.

mod delays;
mod delivery_rate;
mod drops;
mod flow_delays;
mod incidents;
mod marks;
mod packet_delays;
mod queue;
mod queue_delays;
mod recorder;
mod requests;
mod rtt;
mod samples;
mod segments;
mod traced;
mod transfers;
mod waits;
mod why;
mod why_cwnd;
mod window;

use net::{End, Explanation, Fate};
use tcp::{CwndChange, Endpoint};
use units::param::{Invalid, Json, did_you_mean, words_schema};
use units::{Read, Time};

use crate::columns::{Definition, TableDefinition};
use crate::observed_packet::ObservedPacket;
use crate::real_ends::KernelState;
use crate::record::Table;
use crate::totals::ConnectionTotals;

pub use why::is_column_of_why;

pub use recorder::{Names, RequestRecord, RunStart, SampledCounts, SingleFlow, Snapshot};

use recorder::{Needs, Recorder, StoredRows, hooks};

/// From a list of types, define the enum of all series and the struct of the series that a run
/// records.
macro_rules! series {
    ($($module:ident::$Type:ident,)+) => {
        /// Name of a series.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Series { $(#[doc = concat!("Series of `", stringify!($module), ".rs`.")] $Type,)+ }

        impl Series {
            /// All series.
            pub const ALL: &[Series] = &[$(Series::$Type),+];

            /// Return the name of the series in a scenario.
            fn name(self) -> &'static str {
                match self { $(Series::$Type => $module::$Type::NAME,)+ }
            }

            /// Return the description of the series.
            fn about(self) -> &'static str {
                match self { $(Series::$Type => $module::$Type::ABOUT,)+ }
            }

            /// Return the hooks and data that the series needs.
            pub fn needs(self) -> Needs {
                match self { $(Series::$Type => $module::$Type::NEEDS,)+ }
            }

            /// Return the definition of the table of the series.
            pub fn table(self) -> TableDefinition {
                match self { $(Series::$Type => <$module::$Type as Recorder>::Table::DEFINITION,)+ }
            }

            /// Return the number of rows that one sample of the series adds.
            pub fn rows_per_sample(self, counts: &SampledCounts) -> u64 {
                match self { $(Series::$Type => $module::$Type::rows_per_sample(counts),)+ }
            }
        }

        /// Series that a run records. A call of a hook reaches each recorded series that needs the
        /// hook. If the run does not record a series, a call of a hook that the series needs costs
        /// one test.
        #[derive(Debug, Default)]
        pub struct RecordedSeries { $($module: Option<$module::$Type>,)+ }

        impl RecordedSeries {
            /// Return the series that the scenario selects, at the beginning of a run.
            pub fn begin(selected: &[Series], start: &RunStart) -> Self {
                let is_selected = |series| selected.contains(&series);
                RecordedSeries { $($module: is_selected(Series::$Type).then(|| Recorder::begin(start)),)+ }
            }

            /// Return the number of stored rows of a series.
            fn stored_rows(&self, series: Series) -> StoredRows {
                match series { $(Series::$Type => self.$module.as_ref().map_or_else(StoredRows::default, Recorder::stored_rows),)+ }
            }

            /// Remove a series from the recorded series and return its tables.
            pub fn tables(&mut self, series: Series, names: &Names) -> Vec<Table> {
                match series { $(Series::$Type => self.$module.take().map_or_else(Vec::new, |s| s.tables(names)),)+ }
            }
        }

        hooks! { forward_hooks [$($module::$Type)+] }
    };
}

/// For each hook, define the method of [`RecordedSeries`] that calls the hook of every recorded
/// series.
macro_rules! forward_hooks {
    ($series:tt $($(#[$doc:meta])+ $need:ident fn $hook:ident($($argument:ident: $Type:ty),+);)+) => {
        impl RecordedSeries {
            $($(#[$doc])+ #[inline] pub fn $hook(&mut self, $($argument: $Type),+) {
                call_hook!(self $series $need $hook($($argument),+));
            })+
        }
    };
}

/// Call a hook of every recorded series that needs the hook according to [`Needs`]. Each type of
/// series that needs the hook costs one test per call, even if the run does not record the series.
/// A type of series that does not need the hook costs nothing.
macro_rules! call_hook {
    ($all:ident [$($module:ident::$Type:ident)+] always $hook:ident $arguments:tt) => {
        $($all.$module.iter_mut().for_each(|series| call!(series $hook $arguments));)+
    };
    ($all:ident [$($module:ident::$Type:ident)+] $need:ident $hook:ident $arguments:tt) => {
        $(if $module::$Type::NEEDS.$need && let Some(series) = &mut $all.$module {
            call!(series $hook $arguments);
        })+
    };
}

/// Call a method, whose arguments are in parentheses.
macro_rules! call {
    ($series:ident $hook:ident ($($argument:ident),+)) => { $series.$hook($($argument),+) };
}

series! {
    queue::Queue,
    delays::Delays,
    flow_delays::FlowDelays,
    waits::Waits,
    packet_delays::PacketDelays,
    window::Window,
    delivery_rate::DeliveryRate,
    drops::Drops,
    marks::Marks,
    transfers::Transfers,
    requests::Requests,
    segments::Segments,
    rtt::Rtt,
    why::Why,
    why_cwnd::WhyCwnd,
}

impl Read for Series {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        let known = Series::ALL.iter().find(|series| value.as_str() == Some(series.name()));
        known.copied().ok_or_else(|| {
            if value == "carried" {
                return Invalid::new(path, value, "was removed, because all tables exclude the warm-up")
                    .remedy("set warm_up and read the table links");
            }
            let names: Vec<&str> = Series::ALL.iter().map(|series| series.name()).collect();
            Invalid::new(path, value, "is not one of the choices")
                .remedy(did_you_mean(value.as_str().unwrap_or(""), &names))
        })
    }
    fn write(&self) -> Json {
        Json::from(self.name())
    }
    fn schema() -> Json {
        let meaning = |series: &Series| (series.name(), series.about().to_string());
        words_schema(&Series::ALL.iter().map(meaning).collect::<Vec<_>>())
    }
}

impl RecordedSeries {
    /// Report a packet to the series of delays, as [`RecordedSeries::on_link`] does for all series.
    /// Return false if the run does not record the series of delays.
    #[inline]
    pub fn add_delay(&mut self, now: Time, link: u32, times: [Time; 2]) -> bool {
        let Some(delays) = &mut self.delays else { return false };
        delays.on_link(now, link, times, 0);
        true
    }

    /// Return true if a series could not store a row for lack of memory.
    pub fn is_full(&self) -> bool {
        Series::ALL.iter().any(|&series| self.stored_rows(series).full)
    }

    /// Return two approximate sizes in bytes: of the tables of all sampled series, and of the
    /// tables of all series.
    pub fn bytes(&self) -> [u64; 2] {
        let bytes =
            |series: &&Series| (self.stored_rows(**series).rows * series.table().bytes_per_row()) as u64;
        let sampled = Series::ALL.iter().filter(|series| series.needs().samples);
        [sampled.map(|series| bytes(&series)).sum(), Series::ALL.iter().map(|series| bytes(&series)).sum()]
    }
}
