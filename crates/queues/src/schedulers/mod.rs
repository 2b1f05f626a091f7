//! Schedulers and shapers: queue disciplines with one queue per class, which choose the next queue
//! to serve.
//!
//! This file has the parts that all schedulers need: the classes with their queues ([`Classes`]),
//! and the form in which a scenario writes the classes. The queue of a class may have an AQM, store
//! its packets itself, or be another scheduler. The scheduler notifies an AQM of departures,
//! because only the scheduler knows their times. All decisions about a packet happen in enqueue and
//! dequeue, at the exact time.

mod bucket;
pub mod cbq;
mod counters;
pub mod drr;
pub mod htb;
pub mod mdrr;
pub mod priority;
mod round;
pub mod scfq;
pub mod sfq;
pub mod tbf;
mod tree;
pub mod wfq;
pub mod wrr;

use net::{Arrival, Backlog, Count, Fates, Next, QueuedPacket, Why, byte_time, time_to_send};
use units::param::{Invalid, Json, join, page};
use units::{Bytes, Depth, Rate, Time};

pub use counters::ClassCounters;

use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::{Classifier, Match};
use crate::discipline::{Queue, StoringQueue};

/// Maximum number of classes of a scheduler.
pub const MOST_CLASSES: usize = 1024;
/// Maximum number of nested levels of queues.
pub const DEEPEST: usize = 12;

/// Class of a scheduler, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// Path of the class relative to the path of the scheduler, or an empty string for a shaper's
    /// only queue.
    pub path: String,
    /// Packets of the class, or `None` for the packets that no other class takes.
    pub takes: Option<&'a Match>,
    /// Queue of the class.
    pub queue: &'a Queue,
    /// Rate to which the scheduler limits the class, or which it guarantees to the class, if the
    /// scheduler assigns rates.
    pub rate: Option<Rate>,
}

/// Parameters of a scheduler. A scheduler has no buffer of its own, because the limits and marks
/// are those of the queues of its classes.
pub trait Schedules: DisciplineParams {
    /// Return the classes.
    fn children(&self) -> Vec<Child<'_>>;
}

/// Queue discipline with classes.
pub trait HasClasses {
    /// Return the classes.
    fn classes(&self) -> &Classes;
}

/// Return the classes of a scheduler that writes them as a list.
pub(crate) fn listed<'a>(classes: impl Iterator<Item = (&'a Option<Match>, &'a Queue)>) -> Vec<Child<'a>> {
    let child = |(i, (takes, queue)): (usize, (&'a Option<Match>, &'a Queue))| Child {
        path: format!("classes.{i}"),
        takes: takes.as_ref(),
        queue,
        rate: None,
    };
    classes.enumerate().map(child).collect()
}

/// Return the manual pages of the classes of all schedulers.
pub fn pages() -> Vec<Json> {
    vec![
        page::<priority::PriorityClass>(),
        page::<wrr::WrrClass>(),
        page::<drr::DrrClass>(),
        page::<mdrr::MdrrClass>(),
        page::<scfq::FairClass>(),
        page::<htb::HtbClass>(),
        page::<cbq::CbqClass>(),
    ]
}

/// Refuse too many classes, and a list in which no class or more than one class takes the packets
/// that match no class.
pub(crate) fn check_children(children: &[Child], path: &str) -> Result<(), Invalid> {
    let list = join(path, "classes");
    if children.is_empty() || children.len() > MOST_CLASSES {
        let problem = format!("must have between 1 and {MOST_CLASSES} classes, and has {}", children.len());
        return Err(Invalid::at(&list, problem));
    }
    let mut rest = children.iter().filter(|child| child.takes.is_none());
    match (rest.next(), rest.next()) {
        (Some(_), None) => Ok(()),
        (None, _) => {
            Err(Invalid::at(&list, "has a match in every class, so that some packets belong to none")
                .remedy("remove match from one class, which then takes the remaining packets"))
        }
        (Some(first), Some(second)) => {
            let problem = format!("has no match, like {}", first.path);
            Err(Invalid::at(&join(path, &second.path), problem).remedy("give every class but one a match"))
        }
    }
}

/// Return the number of nested levels of queues in the JSON value of a queue, counted up to `left`.
fn depth(queue: &Json, left: usize) -> usize {
    let Some(table) = queue.as_object().filter(|_| left > 0) else { return 1 };
    let classes = table.get("classes").and_then(Json::as_array).into_iter().flatten();
    // A class may contain classes instead of a queue.
    let in_class = |class: &'_ Json| match class.get("classes") {
        Some(_) => depth(class, left - 1),
        None => class.get("queue").map_or(0, |queue| depth(queue, left - 1)),
    };
    let inner = table.get("queue").map_or(0, |queue| depth(queue, left - 1));
    1 + classes.map(in_class).max().unwrap_or(0).max(inner)
}

/// Refuse queues that are nested too deeply.
pub(crate) fn check_depth(queue: &Json, path: &str) -> Result<(), Invalid> {
    if depth(queue, DEEPEST + 1) > DEEPEST {
        return Err(Invalid::at(path, format!("has queues nested more than {DEEPEST} deep; remove a level")));
    }
    Ok(())
}

/// Queue of a class of a scheduler.
#[derive(Debug)]
struct Leaf {
    /// Index in the list of classes, or an empty string for a shaper's only queue.
    place: String,
    queue: Box<dyn StoringQueue>,
    counters: ClassCounters,
    /// Transmission time per byte of the link, in the unit of [`time_to_send`].
    byte_time: u64,
    /// Time at which the link finishes, or finished, the last packet from this queue.
    free_at: Time,
}

impl Leaf {
    fn enqueue(&mut self, held: QueuedPacket, now: Time, fates: &mut Fates) {
        let backlog = self.queue.backlog();
        // A queue with waiting packets is not idle, even while another class is being served.
        let free_at = if backlog.packets > 0 { Time::NEVER } else { self.free_at };
        let reported = fates.count();
        self.counters.arrive(&held);
        self.queue.enqueue(held, &Arrival { now, backlog, free_at }, fates);
        self.counters.note(fates.since(reported));
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let reported = fates.count();
        let next = self.queue.dequeue(now, fates);
        self.counters.note(fates.since(reported));
        if let Next::Packet(held) = &next {
            self.counters.depart(held);
            self.free_at = now + time_to_send(self.byte_time, Bytes(u64::from(held.packet.size)));
        }
        next
    }
}

/// Classes of a scheduler: their classifier and their queues.
#[derive(Debug)]
pub struct Classes {
    classifier: Classifier,
    /// Class of each rule of the classifier.
    of_rule: Vec<usize>,
    rest: usize,
    leaves: Vec<Leaf>,
    backlog: Backlog,
    /// Packets that the scheduler admitted to no class.
    refused: Count,
}

impl Classes {
    /// Create the classes for a link.
    pub fn new(children: &[Child], context: &QueueContext) -> Self {
        let rules = children.iter().enumerate().filter_map(|(i, child)| Some((i, child.takes?)));
        let leaf = |(i, child): (usize, &Child)| {
            let random = context.random.branch(&format!("class-{i}"));
            let rate = child.rate.unwrap_or(context.rate);
            let context =
                QueueContext { rate, limit: child.queue.buffer.limit.at(rate), random, ..context.clone() };
            let byte_time = byte_time(context.link);
            Leaf {
                place: child.path.trim_start_matches("classes.").to_string(),
                queue: child.queue.build_storing(context),
                counters: ClassCounters::default(),
                byte_time,
                free_at: Time::ZERO,
            }
        };
        Classes {
            classifier: Classifier::new(rules.clone().map(|(_, takes)| takes), context.flows),
            of_rule: rules.map(|(i, _)| i).collect(),
            rest: children.iter().position(|child| child.takes.is_none()).unwrap_or(0),
            leaves: children.iter().enumerate().map(leaf).collect(),
            backlog: Backlog::default(),
            refused: Count::default(),
        }
    }

    /// Return the number of classes.
    pub fn count(&self) -> usize {
        self.leaves.len()
    }

    /// Call `act` with the queue of a class and update the total backlog.
    fn with<T>(&mut self, class: usize, act: impl FnOnce(&mut Leaf) -> T) -> T {
        let leaf = &mut self.leaves[class];
        let before = leaf.queue.backlog();
        let done = act(leaf);
        let after = leaf.queue.backlog();
        self.backlog.packets = self.backlog.packets - before.packets + after.packets;
        self.backlog.bytes = self.backlog.bytes - before.bytes + after.bytes;
        done
    }

    /// Return the class of a packet.
    pub fn class_of(&self, held: &QueuedPacket) -> usize {
        let rule = self.classifier.class_of(held.source, &held.packet);
        rule.map_or(self.rest, |rule| self.of_rule[rule])
    }

    /// Add a packet to the queue of its class, which may drop it. Return the class.
    pub fn enqueue(&mut self, held: QueuedPacket, now: Time, fates: &mut Fates) -> usize {
        let class = self.class_of(&held);
        self.with(class, |leaf| leaf.enqueue(held, now, fates));
        class
    }

    /// Drop a packet that the scheduler admits to no class.
    pub fn refuse(&mut self, held: QueuedPacket, fates: &mut Fates) {
        self.refused.add(&held.packet);
        fates.drop(held.packet, Why::Full);
    }

    /// Request the next packet of a class.
    pub fn dequeue(&mut self, class: usize, now: Time, fates: &mut Fates) -> Next {
        self.with(class, |leaf| leaf.dequeue(now, fates))
    }

    /// Return true if a class has waiting packets.
    pub fn waits(&self, class: usize) -> bool {
        self.leaves[class].queue.backlog().packets > 0
    }

    /// Return the backlog of a class.
    pub fn backlog_of(&self, class: usize) -> Backlog {
        self.leaves[class].queue.backlog()
    }

    /// Return the size of the next packet of a class, or its expected size.
    pub fn next_size(&self, class: usize) -> u64 {
        self.leaves[class].queue.next_size()
    }

    /// Return the backlog of all classes together.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Return the average queue length of the class that computes one, if exactly one class does.
    pub fn average(&self) -> Option<Depth> {
        let mut known = self.leaves.iter().filter_map(|leaf| leaf.queue.average());
        known.next().filter(|_| known.next().is_none())
    }

    /// Call `see` for each waiting packet.
    pub fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.leaves.iter().for_each(|leaf| leaf.queue.each(see));
    }
}

/// Earliest time at which one of the classes has a packet, for the answer of a scheduler without a
/// packet now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Soonest(Option<Time>);

impl Soonest {
    /// Record a class whose next packet may leave at this time.
    pub fn later(&mut self, time: Time) {
        self.0 = Some(self.0.map_or(time, |first| first.min(time)));
    }

    /// Record the earliest time that another `Soonest` contains.
    pub fn join(&mut self, other: Soonest) {
        if let Some(time) = other.0 {
            self.later(time);
        }
    }

    /// Return the answer of the scheduler to the link.
    pub fn next(self) -> Next {
        self.0.map_or(Next::Empty, Next::Later)
    }
}
