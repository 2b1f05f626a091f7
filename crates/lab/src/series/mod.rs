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
use crate::record::Table;
use crate::seen::Seen;
use crate::sum::Sum;

pub use recorder::{Asked, Instant, Lasting, Names, Sizes, Start};

use recorder::{Held, Recorder, Wants};

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
            pub fn wants(self) -> Wants {
                match self { $(Series::$Type => $module::$Type::WANTS,)+ }
            }

            /// Its table.
            pub fn table(self) -> Described {
                match self { $(Series::$Type => <$module::$Type as Recorder>::Table::IS,)+ }
            }

            /// How many rows a sample of it makes.
            pub fn rows_a_sample(self, of: &Sizes) -> u64 {
                match self { $(Series::$Type => $module::$Type::rows_a_sample(of),)+ }
            }
        }

        /// The series that a run records. Each is told of what it wants; the others cost a look at whether they are there,
        /// and where a series does nothing not even that.
        #[derive(Debug, Default)]
        pub struct Recorded { $($module: Option<$module::$Type>,)+ }

        impl Recorded {
            /// Those that a scenario asks for.
            pub fn begin(asked: &[Series], start: &Start) -> Self {
                let wanted = |series| asked.contains(&series);
                Recorded { $($module: wanted(Series::$Type).then(|| Recorder::begin(start)),)+ }
            }

            /// What a series holds.
            fn held(&self, series: Series) -> Held {
                match series { $(Series::$Type => self.$module.as_ref().map_or_else(Held::default, Recorder::held),)+ }
            }

            /// See [`Recorder::sample`].
            pub fn sample(&mut self, at: &mut Instant) {
                $(if $module::$Type::WANTS.samples && let Some(series) = &mut self.$module {
                    series.sample(at);
                })+
            }

            /// See [`Recorder::on_link`].
            pub fn on_link(&mut self, now: Time, link: u32, from: [Time; 2], packet: &Packet) {
                $(if $module::$Type::WANTS.packets && let Some(series) = &mut self.$module {
                    series.on_link(now, link, from, packet);
                })+
            }

            /// See [`Recorder::at_host`].
            pub fn at_host(&mut self, now: Time, end: End, seen: &Seen, acked: [u64; 2]) {
                $(if $module::$Type::WANTS.packets && let Some(series) = &mut self.$module {
                    series.at_host(now, end, seen, acked);
                })+
            }

            /// See [`Recorder::told`].
            pub fn told(&mut self, now: Time, end: End, flow: u32, endpoint: &Endpoint) {
                $(if $module::$Type::WANTS.packets && let Some(series) = &mut self.$module {
                    series.told(now, end, flow, endpoint);
                })+
            }

            /// See [`Recorder::fate`].
            pub fn fate(&mut self, at: Time, link: u32, flow: u32, fate: &Fate) {
                $(self.$module.iter_mut().for_each(|series| series.fate(at, link, flow, fate));)+
            }

            /// See [`Recorder::asked`].
            pub fn asked(&mut self, asked: &Asked) {
                $(self.$module.iter_mut().for_each(|series| series.asked(asked));)+
            }

            /// See [`Recorder::transferred`].
            pub fn transferred(&mut self, flow: u32, sum: &Sum) {
                $(self.$module.iter_mut().for_each(|series| series.transferred(flow, sum));)+
            }

            /// See [`Recorder::end`].
            pub fn end(&mut self, now: Time) {
                $(self.$module.iter_mut().for_each(|series| series.end(now));)+
            }

            /// The tables of a series, which is over then.
            pub fn tables(&mut self, series: Series, names: &Names) -> Vec<Table> {
                match series { $(Series::$Type => self.$module.take().map_or_else(Vec::new, |s| s.tables(names)),)+ }
            }
        }

    };
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

impl Recorded {
    /// Whether something was left away for lack of memory.
    pub fn is_full(&self) -> bool {
        Series::ALL.iter().any(|&series| self.held(series).full)
    }

    /// What the tables of those that are sampled take so far, and what those of all do, in bytes.
    pub fn bytes(&self) -> [u64; 2] {
        let bytes = |series: &&Series| (self.held(**series).rows * series.table().row()) as u64;
        let sampled = Series::ALL.iter().filter(|series| series.wants().samples);
        [sampled.map(|series| bytes(&series)).sum(), Series::ALL.iter().map(|series| bytes(&series)).sum()]
    }
}
