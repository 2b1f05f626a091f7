//! Schedulers and shapers: queues that hold other queues, a class each, and say whose turn it is.
//!
//! What all of them need is here: the classes with their queues ([`Classes`]), and how a scenario writes
//! them. A class's queue may be any, a law (which is then told of departures, as only the scheduler knows
//! them), a discipline that keeps its packets, or another scheduler. Whoever asks a scheduler asks one of
//! its queues in turn, so what happens to a packet happens in enqueue and dequeue, at its time.

mod account;
mod bucket;
pub mod cbq;
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

use net::{Arrival, Backlog, Count, Fates, Held, Next, QueueDiscipline, Why, byte_time, time_to_send};
use units::param::{Invalid, Json, join, page};
use units::{Bytes, Depth, Rate, Time};

pub use account::Account;

use crate::diffserv::{Classifier, Match};
use crate::discipline::{Keeping, Queue};
use crate::law::{Keeps, Place};

/// Most classes that a scheduler may have.
pub const MOST_CLASSES: usize = 1024;
/// Most queues that may stand within each other.
pub const DEEPEST: usize = 12;

/// What a scheduler holds, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// Where it is written, below the scheduler; empty: there itself.
    pub path: String,
    /// Which packets it takes; `None`: those that no other takes.
    pub takes: Option<&'a Match>,
    /// Its queue.
    pub queue: &'a Queue,
    /// The rate to which it is held, or which it is given, if the scheduler gives rates.
    pub rate: Option<Rate>,
}

/// The parameters of a scheduler: limits and marks are those of the queues that it holds, and it has no buffer.
pub trait Schedules: Keeps {
    /// The queues that it holds.
    fn children(&self) -> Vec<Child<'_>>;
}

/// The children of a scheduler whose classes stand in a list.
pub(crate) fn listed<'a>(classes: impl Iterator<Item = (&'a Option<Match>, &'a Queue)>) -> Vec<Child<'a>> {
    let child = |(i, (takes, queue)): (usize, (&'a Option<Match>, &'a Queue))| Child {
        path: format!("classes.{i}"),
        takes: takes.as_ref(),
        queue,
        rate: None,
    };
    classes.enumerate().map(child).collect()
}

/// The manual pages of the classes of all schedulers.
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

/// Refuses too many classes, and a list of which not just one takes the rest.
pub(crate) fn check_children(children: &[Child], path: &str) -> Result<(), Invalid> {
    let list = join(path, "classes");
    if children.is_empty() || children.len() > MOST_CLASSES {
        let problem = format!("must hold between 1 and {MOST_CLASSES} classes, and holds {}", children.len());
        return Err(Invalid::at(&list, problem));
    }
    let mut rest = children.iter().filter(|child| child.takes.is_none());
    match (rest.next(), rest.next()) {
        (Some(_), None) => Ok(()),
        (None, _) => Err(Invalid::at(&list, "leaves packets that no class takes")
            .remedy("leave match away in one class: it takes what no other does")),
        (Some(first), Some(second)) => {
            let problem = format!("takes the rest, as {} does", first.path);
            Err(Invalid::at(&join(path, &second.path), problem).remedy("give all classes but one a match"))
        }
    }
}

/// How deep queues stand within each other in what a scenario says of a queue; it looks no deeper than is allowed.
fn depth(queue: &Json, left: usize) -> usize {
    let Some(table) = queue.as_object().filter(|_| left > 0) else { return 1 };
    let classes = table.get("classes").and_then(Json::as_array).into_iter().flatten();
    // A class may have classes of its own instead of a queue.
    let in_class = |class: &'_ Json| match class.get("classes") {
        Some(_) => depth(class, left - 1),
        None => class.get("queue").map_or(0, |queue| depth(queue, left - 1)),
    };
    let inner = table.get("queue").map_or(0, |queue| depth(queue, left - 1));
    1 + classes.map(in_class).max().unwrap_or(0).max(inner)
}

/// Refuses queues that stand too deep within each other.
pub(crate) fn check_depth(queue: &Json, path: &str) -> Result<(), Invalid> {
    if depth(queue, DEEPEST + 1) > DEEPEST {
        return Err(Invalid::at(path, format!("has queues more than {DEEPEST} deep in each other")));
    }
    Ok(())
}

/// A queue in a scheduler.
#[derive(Debug)]
struct Leaf {
    /// Its place in the list of classes; empty: it is no class.
    place: String,
    queue: Box<Keeping>,
    account: Account,
    /// Of the link, as [`time_to_send`] wants it.
    byte_time: u64,
    /// When the link has sent the last packet that came from here, or had.
    free_at: Time,
}

impl Leaf {
    fn enqueue(&mut self, held: Held, now: Time, fates: &mut Fates) {
        let backlog = self.queue.backlog();
        // While something waits the queue is not idle, whoever is being served.
        let free_at = if backlog.packets > 0 { Time::NEVER } else { self.free_at };
        let told = fates.count();
        self.account.arrive(&held);
        self.queue.enqueue(held, &Arrival { now, backlog, free_at }, fates);
        self.account.note(fates.since(told));
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let told = fates.count();
        let next = self.queue.dequeue(now, fates);
        self.account.note(fates.since(told));
        if let Next::Packet(held) = &next {
            self.account.depart(held);
            self.free_at = now + time_to_send(self.byte_time, Bytes(u64::from(held.packet.size)));
        }
        next
    }
}

/// The classes of a scheduler: which packet is of which, and what waits in each.
#[derive(Debug)]
pub struct Classes {
    classifier: Classifier,
    /// The class of each rule of the classifier.
    of_rule: Vec<usize>,
    rest: usize,
    leaves: Vec<Leaf>,
    backlog: Backlog,
    /// What came into no class.
    refused: Count,
}

impl Classes {
    /// The classes at this place.
    pub fn new(children: &[Child], place: &Place) -> Self {
        let rules = children.iter().enumerate().filter_map(|(i, child)| Some((i, child.takes?)));
        let leaf = |(i, child): (usize, &Child)| {
            let random = place.random.branch(&format!("class-{i}"));
            let rate = child.rate.unwrap_or(place.rate);
            let place = Place { rate, limit: child.queue.buffer.limit.at(rate), random, ..place.clone() };
            let byte_time = byte_time(place.link);
            Leaf {
                place: child.path.trim_start_matches("classes.").to_string(),
                queue: Box::new(child.queue.keep(place)),
                account: Account::default(),
                byte_time,
                free_at: Time::ZERO,
            }
        };
        Classes {
            classifier: Classifier::new(rules.clone().map(|(_, takes)| takes), place.flows),
            of_rule: rules.map(|(i, _)| i).collect(),
            rest: children.iter().position(|child| child.takes.is_none()).unwrap_or(0),
            leaves: children.iter().enumerate().map(leaf).collect(),
            backlog: Backlog::default(),
            refused: Count::default(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.leaves.len()
    }

    /// Does something to the queue of a class, and keeps count.
    fn with<T>(&mut self, class: usize, act: impl FnOnce(&mut Leaf) -> T) -> T {
        let leaf = &mut self.leaves[class];
        let before = leaf.queue.backlog();
        let done = act(leaf);
        let after = leaf.queue.backlog();
        self.backlog.packets = self.backlog.packets - before.packets + after.packets;
        self.backlog.bytes = self.backlog.bytes - before.bytes + after.bytes;
        done
    }

    /// The class of a packet.
    pub fn class_of(&self, held: &Held) -> usize {
        let rule = self.classifier.class_of(held.source, &held.packet);
        rule.map_or(self.rest, |rule| self.of_rule[rule])
    }

    /// A packet arrives in its class, and may be dropped there: which class that is.
    pub fn enqueue(&mut self, held: Held, now: Time, fates: &mut Fates) -> usize {
        let class = self.class_of(&held);
        self.with(class, |leaf| leaf.enqueue(held, now, fates));
        class
    }

    /// A packet that the scheduler lets into no class.
    pub fn refuse(&mut self, held: Held, fates: &mut Fates) {
        self.refused.add(&held.packet);
        fates.drop(held.packet, Why::Full);
    }

    /// Asks a class for its next packet.
    pub fn dequeue(&mut self, class: usize, now: Time, fates: &mut Fates) -> Next {
        self.with(class, |leaf| leaf.dequeue(now, fates))
    }

    /// Whether a class has packets.
    pub fn waits(&self, class: usize) -> bool {
        self.leaves[class].queue.backlog().packets > 0
    }

    /// What waits in a class.
    pub fn backlog_of(&self, class: usize) -> Backlog {
        self.leaves[class].queue.backlog()
    }

    /// Size of the packet that a class would give next, or is expected to.
    pub fn next_size(&self, class: usize) -> u64 {
        self.leaves[class].queue.next_size()
    }

    /// What waits in all.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The average queue of the only class that keeps one; none if several do.
    pub fn average(&self) -> Option<Depth> {
        let mut known = self.leaves.iter().filter_map(|leaf| leaf.queue.average());
        known.next().filter(|_| known.next().is_none())
    }

    /// Shows every packet that waits.
    pub fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.leaves.iter().for_each(|leaf| leaf.queue.each(see));
    }
}

/// What a scheduler answers when none of its classes has a packet now: the first time that one told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Soonest(Option<Time>);

impl Soonest {
    /// A class has packets, but not before this time.
    pub fn later(&mut self, time: Time) {
        self.0 = Some(self.0.map_or(time, |first| first.min(time)));
    }

    /// What another answered.
    pub fn join(&mut self, other: Soonest) {
        if let Some(time) = other.0 {
            self.later(time);
        }
    }

    /// The answer.
    pub fn next(self) -> Next {
        self.0.map_or(Next::Empty, Next::Later)
    }
}
