//! Kinds of queues: their names in a scenario, and a function that builds each kind.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use net::{Declared, Rule, Variable};
use units::param::{Invalid, Json, Renamed, choice_schema, page, split_kind, with_kind};
use units::{Params, Read, Room};

use super::{Discipline, Storing, StoringQueue};
use crate::aqm::{AqmParams, DisciplineParams, QueueContext};
use crate::drop_tail::{DropTail, NoAqm};
use crate::fifo::{Buffer, DropFrom, Fifo, HUNDRED_PACKETS, MarkAt};
use crate::schedulers::{Child, Classes, HasClasses, Schedules};
use crate::storing::StoringFifo;

/// Kinds of queues, in the order of the manual. A new kind of queue adds one line: [`aqm`] if the
/// queue decides on packets at their arrival, [`discipline`] if it stores its packets, and
/// [`scheduler`] if it has classes.
static KINDS: &[Entry] = &[
    aqm::<crate::drop_tail::DropTail>(),
    aqm::<crate::red::Red>(),
    aqm::<crate::tc_red::TcRed>(),
    aqm::<crate::adaptive_red::AdaptiveRed>(),
    aqm::<crate::self_configuring_red::SelfConfiguringRed>(),
    aqm::<crate::nonlinear_red::NonlinearRed>(),
    aqm::<crate::red_pd::RedPd>(),
    aqm::<crate::wred::Wred>(),
    aqm::<crate::rio::Rio>(),
    aqm::<crate::fred::Fred>(),
    aqm::<crate::sred::Sred>(),
    aqm::<crate::threshold::Threshold>(),
    aqm::<crate::blue::Blue>(),
    aqm::<crate::sfb::Sfb>(),
    aqm::<crate::tc_sfb::TcSfb>(),
    aqm::<crate::rem::Rem>(),
    aqm::<crate::pi::Pi>(),
    aqm::<crate::avq::Avq>(),
    aqm::<crate::pie::Pie>(),
    aqm::<crate::pie_enhanced::PieEnhanced>(),
    aqm::<crate::tc_pie::TcPie>(),
    aqm::<crate::pi2::Pi2>(),
    discipline::<crate::choke::Choke>(),
    discipline::<crate::codel::Codel>(),
    discipline::<crate::fq_codel::FqCodel>(),
    discipline::<crate::cobalt::Cobalt>(),
    discipline::<crate::fq_pie::FqPie>(),
    discipline::<crate::dualpi2::DualPi2>(),
    composed::<crate::diffserv::phb::Phb>(),
    discipline::<crate::schedulers::sfq::Sfq>(),
    scheduler::<crate::schedulers::priority::Priority>(),
    scheduler::<crate::schedulers::wrr::Wrr>(),
    scheduler::<crate::schedulers::drr::Drr>(),
    scheduler::<crate::schedulers::mdrr::Mdrr>(),
    scheduler::<crate::schedulers::wfq::Wfq>(),
    scheduler::<crate::schedulers::scfq::Scfq>(),
    scheduler::<crate::schedulers::tbf::Tbf>(),
    scheduler::<crate::schedulers::htb::Htb>(),
    scheduler::<crate::schedulers::cbq::Cbq>(),
    aqm::<crate::custom::Custom>(),
];

/// Function that reads the parameters of a kind of queue.
type ReadParams = fn(&Json, &str) -> Result<Arc<dyn QueueParams>, Invalid>;

/// Entry of the table of kinds of queues.
#[derive(Debug)]
struct Entry {
    key: &'static str,
    keys: &'static [&'static str],
    former_keys: &'static [Renamed],
    limit: Room,
    /// True if only the arriving packet may be dropped when the buffer is full.
    counts_on_order: bool,
    /// True if this kind of queue itself chooses the packets that it marks.
    places_marks: bool,
    has_buffer: bool,
    /// Rules and variables of the kind, without those of the buffer.
    declared: &'static [Declared],
    read: ReadParams,
    schema: fn() -> Json,
    page: fn() -> Json,
}

/// Return the table entry of a kind of queue that decides on packets at their arrival.
const fn aqm<P: AqmParams + fmt::Debug + Send + Sync>() -> Entry {
    Entry {
        key: P::KEY,
        keys: P::KEYS,
        former_keys: P::RENAMED,
        limit: P::LIMIT,
        counts_on_order: P::COUNTS_ON_ORDER,
        places_marks: false,
        has_buffer: true,
        declared: P::DECLARED,
        read: |value, path| Ok(Arc::new(AqmKind(P::read(value, path)?))),
        schema: P::schema,
        page: page::<P>,
    }
}

/// Return the table entry of a kind of queue that stores its packets.
const fn discipline<P: DisciplineParams + fmt::Debug + Send + Sync>() -> Entry {
    Entry {
        key: P::KEY,
        keys: P::KEYS,
        former_keys: P::RENAMED,
        limit: P::LIMIT,
        counts_on_order: true,
        places_marks: true,
        has_buffer: true,
        declared: P::DECLARED,
        read: |value, path| {
            let params = P::read(value, path)?;
            Ok(Arc::new(DisciplineKind { params, children: |_| Vec::new(), classes: |_| None }))
        },
        schema: P::schema,
        page: page::<P>,
    }
}

/// Return the table entry of a kind of queue that has fixed classes, which the scenario does not
/// list.
const fn composed<P: DisciplineParams<Discipline: HasClasses> + fmt::Debug + Send + Sync>() -> Entry {
    Entry {
        read: |value, path| {
            let params = P::read(value, path)?;
            Ok(Arc::new(DisciplineKind {
                params,
                children: |_| Vec::new(),
                classes: |queue| Some(queue.classes()),
            }))
        },
        ..discipline::<P>()
    }
}

/// Return the table entry of a scheduler, whose classes the scenario lists.
const fn scheduler<P: Schedules<Discipline: HasClasses> + fmt::Debug + Send + Sync>() -> Entry {
    Entry {
        has_buffer: false,
        read: |value, path| {
            let params = P::read(value, path)?;
            Ok(Arc::new(DisciplineKind {
                params,
                children: P::children,
                classes: |queue| Some(queue.classes()),
            }))
        },
        ..discipline::<P>()
    }
}

/// Parameters of a queue of any kind.
trait QueueParams: fmt::Debug + Send + Sync {
    /// Return the parameters themselves.
    fn params(&self) -> &dyn Any;
    /// Return the parameters in the form in which a scenario writes them.
    fn write(&self) -> Json;
    /// Return the classes that the scenario lists if the queue is a scheduler, or else an empty
    /// list.
    fn children(&self) -> Vec<Child<'_>>;
    /// Build a queue of this kind. If the kind allows, the queue decides on each packet when the
    /// packet arrives, and stores no packets.
    fn build(&self, buffer: &Buffer, context: QueueContext) -> Discipline;
    /// Build a queue that stores its packets.
    fn build_storing(&self, buffer: &Buffer, context: QueueContext) -> Box<dyn StoringQueue>;
}

/// Kind of queue that decides on packets at their arrival.
#[derive(Debug)]
struct AqmKind<P>(P);

impl<P: AqmParams + fmt::Debug + Send + Sync> QueueParams for AqmKind<P> {
    fn params(&self) -> &dyn Any {
        &self.0
    }

    fn write(&self) -> Json {
        with_kind(&self.0)
    }

    fn children(&self) -> Vec<Child<'_>> {
        Vec::new()
    }

    fn build(&self, buffer: &Buffer, context: QueueContext) -> Discipline {
        let limit = context.limit;
        Discipline::Aqm(Box::new(Fifo::new(buffer, limit, self.0.aqm(context))))
    }

    fn build_storing(&self, buffer: &Buffer, context: QueueContext) -> Box<dyn StoringQueue> {
        let (limit, victims) = (context.limit, context.random.branch("victims"));
        let discipline = StoringFifo::new(buffer, limit, self.0.aqm(context), victims);
        Box::new(Storing { discipline, classes: |_| None })
    }
}

/// Kind of queue that stores its packets.
#[derive(Debug)]
struct DisciplineKind<P: DisciplineParams> {
    params: P,
    children: fn(&P) -> Vec<Child<'_>>,
    classes: fn(&P::Discipline) -> Option<&Classes>,
}

impl<P: DisciplineParams + fmt::Debug + Send + Sync> QueueParams for DisciplineKind<P> {
    fn params(&self) -> &dyn Any {
        &self.params
    }

    fn write(&self) -> Json {
        with_kind(&self.params)
    }

    fn children(&self) -> Vec<Child<'_>> {
        (self.children)(&self.params)
    }

    fn build(&self, buffer: &Buffer, context: QueueContext) -> Discipline {
        Discipline::Storing(self.build_storing(buffer, context))
    }

    fn build_storing(&self, buffer: &Buffer, context: QueueContext) -> Box<dyn StoringQueue> {
        let discipline = self.params.discipline(buffer, context);
        Box::new(Storing { discipline, classes: self.classes })
    }
}

/// Add rules and variables to a manual page.
fn with_declared(mut page: Json, declared: &[Declared]) -> Json {
    page["rules"] = declared.iter().flat_map(|d| d.rules).map(Rule::entry).collect();
    page["variables"] = declared.iter().flat_map(|d| d.variables).map(Variable::entry).collect();
    page
}

/// Kind of a queue, with its parameters.
#[derive(Clone, Debug)]
pub struct Kind {
    entry: &'static Entry,
    params: Arc<dyn QueueParams>,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.write() == other.write()
    }
}

/// Return the table entry of the kind of queue with this name, or `None` if no kind has this name.
fn entry(kind: &str) -> Option<&'static Entry> {
    KINDS.iter().find(|entry| entry.key == kind)
}

impl Kind {
    /// Return the manual page of each kind of queue.
    pub fn pages() -> Vec<Json> {
        KINDS.iter().map(|entry| with_declared((entry.page)(), entry.declared)).collect()
    }

    /// Return the rules and variables of the kind, without those of the buffer.
    pub(super) fn declared(&self) -> &'static [Declared] {
        self.entry.declared
    }

    /// Return the names of the parameters of a kind of queue, or `None` if the kind does not exist.
    pub fn keys_of(kind: &str) -> Option<&'static [&'static str]> {
        entry(kind).map(|entry| entry.keys)
    }

    /// Return the former keys of a kind of queue, which are no longer valid. The reader of the
    /// parameters refuses a scenario with a former key.
    pub fn former_keys_of(kind: &str) -> &'static [Renamed] {
        entry(kind).map_or(&[], |entry| entry.former_keys)
    }

    /// Return true if the kind of queue is a scheduler, which has no buffer of its own.
    pub(super) fn is_scheduler(kind: &str) -> bool {
        entry(kind).is_some_and(|entry| !entry.has_buffer)
    }

    /// Return the default limit of the buffer of a kind of queue.
    pub(super) fn limit_of(kind: &str) -> Room {
        entry(kind).map_or(HUNDRED_PACKETS, |entry| entry.limit)
    }

    /// Return the parameters of the queue if their type is `P`, or else `None`.
    pub fn params<P: Params + 'static>(&self) -> Option<&P> {
        self.params.params().downcast_ref()
    }

    /// Return the classes of the queue if the queue is a scheduler.
    pub(super) fn children(&self) -> Vec<Child<'_>> {
        self.params.children()
    }

    /// Return true if only the arriving packet may be dropped when the buffer is full.
    pub(super) fn counts_on_order(&self) -> bool {
        self.entry.counts_on_order
    }

    /// Return true if this kind of queue itself chooses the packets that it marks.
    pub(super) fn places_marks(&self) -> bool {
        self.entry.places_marks
    }

    /// Build the queue with the buffer `buffer`.
    pub(super) fn build(&self, buffer: &Buffer, context: QueueContext) -> Discipline {
        if buffer.drop_from != DropFrom::Tail || buffer.mark_at != MarkAt::Tail {
            return Discipline::Storing(self.build_storing(buffer, context));
        }
        if self.params::<DropTail>().is_some() {
            return Discipline::DropTail(Fifo::new(buffer, context.limit, NoAqm));
        }
        self.params.build(buffer, context)
    }

    /// Build the queue as a queue discipline that stores its packets until they are dequeued.
    pub(super) fn build_storing(&self, buffer: &Buffer, context: QueueContext) -> Box<dyn StoringQueue> {
        self.params.build_storing(buffer, context)
    }
}

impl Read for Kind {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        let names: Vec<&str> = KINDS.iter().map(|entry| entry.key).collect();
        let (kind, rest) = split_kind(value, path, &names)?;
        let entry = entry(&kind).expect("split_kind returns a known kind");
        Ok(Kind { entry, params: (entry.read)(&rest, path)? })
    }

    fn write(&self) -> Json {
        self.params.write()
    }

    fn schema() -> Json {
        choice_schema(KINDS.iter().map(|entry| (entry.key, (entry.schema)())).collect())
    }
}
