//! The series that a scenario may ask for, a file each, all in the table below.

mod delays;
mod delivery_rate;
mod drops;
mod incidents;
mod marks;
mod queue;
mod recorder;
mod requests;
mod rtt;
mod samples;
mod segments;
mod traced;
mod transfers;
mod waiting;
mod waits;
mod window;

use net::{End, Fate, Packet};
use tcp::Endpoint;
use units::param::{Invalid, Json, did_you_mean, words_schema};
use units::{Read, Time};

use crate::columns::{Definition, Described};
use crate::observed_packet::ObservedPacket;
use crate::record::Table;
use crate::totals::ConnectionTotals;

pub use recorder::{Names, RequestRecord, RunStart, SampledCounts, SingleFlow, Snapshot};

use recorder::{Needs, Recorder, StoredRows, hooks};

/// Makes of the types of all series the choice among them, and what holds those that a run records.
macro_rules! series {
    ($($module:ident::$Type:ident,)+) => {
        /// A time series.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Series { $(#[doc = concat!("That of `", stringify!($module), ".rs`.")] $Type,)+ }

        impl Series {
            /// All there are.
            pub const ALL: &[Series] = &[$(Series::$Type),+];

            /// Its name in a scenario.
            fn word(self) -> &'static str {
                match self { $(Series::$Type => $module::$Type::WORD,)+ }
            }

            /// What it is.
            fn about(self) -> &'static str {
                match self { $(Series::$Type => $module::$Type::ABOUT,)+ }
            }

            /// What it is called for.
            pub fn needs(self) -> Needs {
                match self { $(Series::$Type => $module::$Type::NEEDS,)+ }
            }

            /// Its table.
            pub fn table(self) -> Described {
                match self { $(Series::$Type => <$module::$Type as Recorder>::Table::IS,)+ }
            }

            /// How many rows a sample of it makes.
            pub fn rows_per_sample(self, of: &SampledCounts) -> u64 {
                match self { $(Series::$Type => $module::$Type::rows_per_sample(of),)+ }
            }
        }

        /// The series that a run records. Each is told of what it wants; the others cost a look at whether they are there,
        /// and where a series does nothing not even that.
        #[derive(Debug, Default)]
        pub struct RecordedSeries { $($module: Option<$module::$Type>,)+ }

        impl RecordedSeries {
            /// Those that a scenario asks for.
            pub fn begin(asked: &[Series], start: &RunStart) -> Self {
                let wanted = |series| asked.contains(&series);
                RecordedSeries { $($module: wanted(Series::$Type).then(|| Recorder::begin(start)),)+ }
            }

            /// What a series holds.
            fn stored_rows(&self, series: Series) -> StoredRows {
                match series { $(Series::$Type => self.$module.as_ref().map_or_else(StoredRows::default, Recorder::stored_rows),)+ }
            }

            /// The tables of a series, which is over then.
            pub fn tables(&mut self, series: Series, names: &Names) -> Vec<Table> {
                match series { $(Series::$Type => self.$module.take().map_or_else(Vec::new, |s| s.tables(names)),)+ }
            }
        }

        hooks! { forward_hooks [$($module::$Type)+] }
    };
}

/// Define for each hook the method of [`RecordedSeries`] that calls the hook of every recorded series.
macro_rules! forward_hooks {
    ($series:tt $($(#[$doc:meta])+ $need:ident fn $hook:ident($($argument:ident: $Type:ty),+);)+) => {
        impl RecordedSeries {
            $($(#[$doc])+ pub fn $hook(&mut self, $($argument: $Type),+) {
                call_hook!(self $series $need $hook($($argument),+));
            })+
        }
    };
}

/// Call a hook of every recorded series that declares the need of the hook. A run without these
/// series pays one test per series, and no test for a series that does not declare the need.
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

/// Call a method with arguments in parentheses.
macro_rules! call {
    ($series:ident $hook:ident ($($argument:ident),+)) => { $series.$hook($($argument),+) };
}

series! {
    queue::Queue,
    delays::Delays,
    waits::Waits,
    window::Window,
    delivery_rate::DeliveryRate,
    drops::Drops,
    marks::Marks,
    transfers::Transfers,
    requests::Requests,
    segments::Segments,
    rtt::Rtt,
}

impl Read for Series {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        let known = Series::ALL.iter().find(|series| value.as_str() == Some(series.word()));
        known.copied().ok_or_else(|| {
            if value == "carried" {
                return Invalid::new(path, value, "is gone, because the tables begin after a warm-up")
                    .remedy("set warm_up, and read the table links");
            }
            let words: Vec<&str> = Series::ALL.iter().map(|series| series.word()).collect();
            Invalid::new(path, value, "is not one of the choices")
                .remedy(did_you_mean(value.as_str().unwrap_or(""), &words))
        })
    }
    fn write(&self) -> Json {
        Json::from(self.word())
    }
    fn schema() -> Json {
        let meaning = |series: &Series| (series.word(), series.about().to_string());
        words_schema(&Series::ALL.iter().map(meaning).collect::<Vec<_>>())
    }
}

impl RecordedSeries {
    /// Whether something was left away for lack of memory.
    pub fn is_full(&self) -> bool {
        Series::ALL.iter().any(|&series| self.stored_rows(series).full)
    }

    /// What the tables of those that are sampled take so far, and what those of all do, in bytes.
    pub fn bytes(&self) -> [u64; 2] {
        let bytes = |series: &&Series| (self.stored_rows(**series).rows * series.table().row()) as u64;
        let sampled = Series::ALL.iter().filter(|series| series.needs().samples);
        [sampled.map(|series| bytes(&series)).sum(), Series::ALL.iter().map(|series| bytes(&series)).sum()]
    }
}
