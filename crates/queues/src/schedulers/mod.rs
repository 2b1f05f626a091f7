//! Schedulers and shapers: queue disciplines with one queue per class. A scheduler chooses the
//! queue that sends the next packet.
//!
//! This module contains the parts that all schedulers use: the classes with their queues
//! ([`Classes`]), and the form in which a scenario writes the classes. The queue of a class may
//! have an AQM, store its packets itself, or be another scheduler. The scheduler reports each
//! departure to the AQM of the class, because only the scheduler knows the departure times. The
//! functions enqueue and dequeue make all decisions about a packet at their exact times.

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

use net::{Arrival, Backlog, Count, Fates, Next, QueuedPacket, Rule, Why, byte_time, time_to_send};
use units::param::{Invalid, Json, join, page};
use units::{Bytes, Depth, Rate, Time};

pub use counters::ClassCounters;

use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::{Classifier, Match};
use crate::discipline::{Queue, StoringQueue};

/// Maximum number of classes of a scheduler.
pub const MOST_CLASSES: usize = 1024;
/// Maximum number of levels of queues within queues.
pub const DEEPEST: usize = 12;

/// Class of a scheduler, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// Path of the class in the scenario, relative to the path of the scheduler. For the queue
    /// within a shaper, the path is an empty string.
    pub path: String,
    /// Condition that selects the packets of the class, or `None` for the class that gets all
    /// remaining packets.
    pub takes: Option<&'a Match>,
    /// Queue of the class.
    pub queue: &'a Queue,
    /// Rate of the class, or `None` if the scheduler does not assign rates. The scheduler limits
    /// the class to this rate or guarantees the rate.
    pub rate: Option<Rate>,
}

/// Parameters of a scheduler. A scheduler itself has no buffer, because the queues of its classes
/// limit and mark packets.
pub trait Schedules: DisciplineParams {
    /// Return the classes of the scheduler.
    fn children(&self) -> Vec<Child<'_>>;
}

/// Queue discipline with classes.
pub trait HasClasses {
    /// Return the classes of the scheduler.
    fn classes(&self) -> &Classes;
}

/// Return the classes that a scenario lists for a scheduler.
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

/// Refuse too many classes. Refuse a list unless exactly one of its classes has no match, which is
/// the class for the remaining packets.
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
            Err(Invalid::at(&list, "has a match in every class, so that some packets belong to no class")
                .remedy("remove match from one class, which then gets the remaining packets"))
        }
        (Some(first), Some(second)) => {
            let problem = format!("has no match, like {}", first.path);
            Err(Invalid::at(&join(path, &second.path), problem)
                .remedy("give a match to every class except one"))
        }
    }
}

/// Return the number of levels of queues within the JSON value of a queue. Count at most `left`
/// levels below the queue.
fn depth(queue: &Json, left: usize) -> usize {
    let Some(table) = queue.as_object().filter(|_| left > 0) else { return 1 };
    let classes = table.get("classes").and_then(Json::as_array).into_iter().flatten();
    // A class may be a list of classes instead of a queue.
    let in_class = |class: &'_ Json| match class.get("classes") {
        Some(_) => depth(class, left - 1),
        None => class.get("queue").map_or(0, |queue| depth(queue, left - 1)),
    };
    let inner = table.get("queue").map_or(0, |queue| depth(queue, left - 1));
    1 + classes.map(in_class).max().unwrap_or(0).max(inner)
}

/// Refuse a queue with too many levels of queues within it.
pub(crate) fn check_depth(queue: &Json, path: &str) -> Result<(), Invalid> {
    if depth(queue, DEEPEST + 1) > DEEPEST {
        return Err(Invalid::at(path, format!("has queues nested more than {DEEPEST} deep; remove a level")));
    }
    Ok(())
}

/// Queue of a class of a scheduler, with its counters.
#[derive(Debug)]
struct Leaf {
    /// Index of the class in the list of classes. The index is an empty string for the queue within
    /// a shaper.
    place: String,
    queue: Box<dyn StoringQueue>,
    counters: ClassCounters,
    /// Transmission time of one byte on the link, in the unit of [`time_to_send`].
    byte_time: u64,
    /// Time at which the link finishes, or has finished, the last packet of this queue.
    free_at: Time,
}

impl Leaf {
    fn enqueue(&mut self, held: QueuedPacket, now: Time, fates: &mut Fates) {
        let backlog = self.queue.backlog();
        // A queue with waiting packets is not idle, even while the scheduler serves another class.
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

/// Classes of a scheduler, with their classifier and their queues.
#[derive(Debug)]
pub struct Classes {
    classifier: Classifier,
    /// Index of the class to which each rule of the classifier belongs.
    of_rule: Vec<usize>,
    rest: usize,
    leaves: Vec<Leaf>,
    backlog: Backlog,
    /// Count of the packets that the scheduler did not admit to any class.
    refused: Count,
}

impl Classes {
    /// Create the classes of a scheduler on a link.
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

    /// Call the function `act` with the queue of a class, and then update the total backlog.
    fn with<T>(&mut self, class: usize, act: impl FnOnce(&mut Leaf) -> T) -> T {
        let leaf = &mut self.leaves[class];
        let before = leaf.queue.backlog();
        let done = act(leaf);
        let after = leaf.queue.backlog();
        self.backlog.packets = self.backlog.packets - before.packets + after.packets;
        self.backlog.bytes = self.backlog.bytes - before.bytes + after.bytes;
        done
    }

    /// Return the index of the class to which a packet belongs.
    pub fn class_of(&self, held: &QueuedPacket) -> usize {
        let rule = self.classifier.class_of(held.source, &held.packet);
        rule.map_or(self.rest, |rule| self.of_rule[rule])
    }

    /// Add a packet to the queue of its class. The queue may drop the packet. Return the index of
    /// the class.
    pub fn enqueue(&mut self, held: QueuedPacket, now: Time, fates: &mut Fates) -> usize {
        let class = self.class_of(&held);
        self.with(class, |leaf| leaf.enqueue(held, now, fates));
        class
    }

    /// Drop a packet that the scheduler does not admit to any class, by a rule of the scheduler.
    pub fn refuse(&mut self, held: QueuedPacket, rule: &'static Rule, fates: &mut Fates) {
        self.refused.add(&held.packet);
        fates.drop(held.packet, Why::Full, |to| {
            to.by(rule);
        });
    }

    /// Dequeue the next packet of a class.
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

    /// Return the size of the next packet of a class, or the expected size if the queue selects its
    /// packet only at dequeue.
    pub fn next_size(&self, class: usize) -> u64 {
        self.leaves[class].queue.next_size()
    }

    /// Return the total backlog of all classes.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// If exactly one class computes an average queue length, return this average.
    pub fn average(&self) -> Option<Depth> {
        let mut known = self.leaves.iter().filter_map(|leaf| leaf.queue.average());
        known.next().filter(|_| known.next().is_none())
    }

    /// Call the function `see` for each waiting packet.
    pub fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.leaves.iter().for_each(|leaf| leaf.queue.each(see));
    }
}

/// Earliest time at which any of the classes can send a packet. A scheduler that has no packet to
/// send now returns the earliest time to the link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Soonest(Option<Time>);

impl Soonest {
    /// Record that the next packet of a class may leave at the time `time`.
    pub fn later(&mut self, time: Time) {
        self.0 = Some(self.0.map_or(time, |first| first.min(time)));
    }

    /// Record the time that `other` contains, unless `other` is empty.
    pub fn join(&mut self, other: Soonest) {
        if let Some(time) = other.0 {
            self.later(time);
        }
    }

    /// Return `Next::Later` with the recorded time, or `Next::Empty` if no class has packets.
    pub fn next(self) -> Next {
        self.0.map_or(Next::Empty, Next::Later)
    }
}
