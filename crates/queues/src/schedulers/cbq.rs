//! Class-based queueing (CBQ).
//!
//! Source: Floyd & Van Jacobson 1995, "Link-sharing and resource management models for packet
//! networks" (`floyd1995cbq`).
//!
//! Estimator (appendix A): for each packet, idle is the time since the previous packet minus the
//! time that packet takes at the rate of the class. avgidle is the moving average of idle with
//! weight w = 2^-ewma, at most maxidle. A class is over its limit while avgidle is at most zero.
//! This state ends at the time at which a packet would bring avgidle to zero (undertime).
//!
//! Link sharing (§4, the formal guidelines): a class over its limit may send if an ancestor on
//! level i is not over its own limit and no class below level i is unsatisfied. A class is
//! unsatisfied if it is not over its limit and packets wait in the class or in the classes below
//! it. The general scheduler (§5) uses priorities and weighted round robin. Quanta are proportional
//! to the rates, and the smallest quantum of a priority is a packet of mean size. maxidle follows
//! Floyd's notes on parameters (`floyd1995parameters`). avgidle is stored in picoseconds divided by
//! w, so that a class that is limited to its rate keeps that rate exactly.
//!
//! The papers on CBQ were not available, so their formulas and section numbers are from memory. The
//! estimator was compared with those of ns-2 (queue/cbq.cc, by the author's group) and Linux
//! (net/sched/sch_cbq.c). In ns-2 and Linux, as in this file, a class waits (1 - w) of the deficit
//! of avgidle / w. ns-2 and Linux measure idle between the ends of packets with the size of the
//! later packet. This file measures idle between the beginnings of packets with the size of the
//! earlier packet, which gives the same value for packets of one size and the exact value for
//! others.
//!
//! The average forgets the share w of what a class sent too early. A class that competes with
//! others therefore gets up to w / 2 more than its rate (w if its packets differ in size), at their
//! expense. This excess is a property of the estimator, and a smaller w reduces the excess.

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Rate, Read, Time, params, words};

use super::round::{Round, Turn};
use super::tree::{Entry, InTree, Tree, leaves};
use super::{Child, Classes, HasClasses, Schedules, Soonest, check_children};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;

words! {
    /// Permission of a class to use bandwidth that other classes leave unused.
    pub enum Borrowing {
        /// The class may borrow from its ancestors.
        Ancestors = "ancestors",
        /// The class may not borrow: the class is bounded.
        Bounded = "bounded",
    }
}

words! {
    /// Permission of other classes to use bandwidth that a class leaves unused.
    pub enum Lending {
        /// All classes below the ancestors of the class may use its unused bandwidth.
        Others = "others",
        /// Only classes below the class may use its unused bandwidth: the class is isolated.
        Isolated = "isolated",
    }
}

params! {
    /// Class of CBQ. A class that other classes name as their parent lends bandwidth to these
    /// classes. All other classes are leaves, and only leaves have packets.
    pub struct CbqClass: "cbq_class" {
        /// Name of the class, by which other classes refer to it as their parent.
        name: Option<String> = (None), in Range::ANY, from "";
        /// Name of the parent class, which must come earlier in the list. A class without a parent
        /// does not borrow.
        parent: Option<String> = (None), in Range::ANY, from "floyd1995cbq §3";
        /// Packets of this class if it is a leaf. A class without this key takes all packets that
        /// no other class takes. A packet that matches several classes belongs to the first of
        /// them.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Rate allotted to the class together with all classes below it.
        rate: Rate = required, in Range::ANY, from "floyd1995cbq §3";
        /// Priority of the class if it is a leaf. Priority 0 is served first.
        priority: u64 = (0), in Range::between(0.0, 7.0), from "floyd1995cbq §5";
        /// Permission of this class to use bandwidth that other classes leave unused.
        borrow: Borrowing = (Borrowing::Ancestors), in Range::ANY, from "floyd1995cbq §4: bounded classes";
        /// Permission of other classes to use bandwidth that this class leaves unused.
        lend: Lending = (Lending::Others), in Range::ANY, from "floyd1995cbq §4: isolated classes";
        /// Number of packets that the class may send back to back after an idle time of the class.
        max_burst: u64 = (16), in Range::between(0.0, 1000.0), from "floyd1995parameters: 16 packets";
        /// Queue of the class, of any kind, if it is a leaf. If the key is absent, the queue is a
        /// Drop Tail queue.
        queue: Option<Queue> = (None), in Range::ANY, from "";
    }
}

params! {
    /// Class-based queueing: each class has an allotted rate. A class within its rate may always
    /// send. A class above its rate may send while an ancestor is within its rate and no class
    /// below that ancestor is unsatisfied, and is delayed otherwise. A bounded class thus acts like
    /// a slower link, and unused bandwidth goes first to classes with the same parent.
    pub struct Cbq: "cbq", checked by check {
        /// List of classes, each a cbq_class that follows its parent. The leaf without the key
        /// match takes the packets that no other leaf takes.
        classes: Vec<CbqClass> = required, in Range::ANY, from "floyd1995cbq §3";
        /// Mean packet size, with which the quanta are computed and max_burst is converted into
        /// time.
        mean_packet_size: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "floyd1995parameters: the operator's choice; 1000 B is a common setting";
        /// Exponent of the weight 2^-ewma of a packet in avgidle. The average forgets the share
        /// 2^-ewma of what a class sends too early. A class that competes with others may therefore
        /// get up to 2^-(ewma + 1) more than its rate, or twice that if its packets differ in size:
        /// 3 % and 6 % with ewma = 4, and less than half a percent with ewma = 8.
        ewma: u64 = (4), in Range::between(1.0, 31.0), from "floyd1995cbq app. A: 1/16; tc_cbq: ewma";
    }
}

fn check(cbq: &Cbq, path: &str) -> Result<(), Invalid> {
    let tree = Tree::read(&cbq.classes, path)?;
    for i in 0..cbq.classes.len() {
        if tree.inner[i] && cbq.lent(&tree, i) == 0 {
            let path = join(&join(&join(path, "classes"), i), "rate");
            let problem =
                "is at most the sum of its isolated classes, so that the other classes get nothing; raise it";
            return Err(Invalid::new(&path, &cbq.classes[i].rate.write(), problem));
        }
    }
    check_children(&cbq.children(), path)
}

impl Cbq {
    /// Return the rate of a class without the isolated classes directly below it.
    fn lent(&self, tree: &Tree, i: usize) -> u64 {
        let isolated = (0..self.classes.len())
            .filter(|&c| tree.parents[c] == Some(i) && self.classes[c].lend == Lending::Isolated);
        self.classes[i].rate.0.saturating_sub(isolated.map(|c| self.classes[c].rate.0).sum())
    }
}

impl InTree for CbqClass {
    fn entry(&self) -> Entry<'_> {
        let CbqClass { name, parent, r#match: takes, queue, rate, .. } = self;
        Entry { name, parent, takes, queue, rate: *rate }
    }
}

impl DisciplineParams for Cbq {
    type Discipline = CbqQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> CbqQueue {
        let tree = Tree::of(&self.classes);
        let mut level = vec![1; self.classes.len()];
        for i in (0..self.classes.len()).rev() {
            if let Some(parent) = tree.parents[i] {
                level[parent] = level[parent].max(level[i] + 1);
            }
        }
        let packet = self.mean_packet_size;
        let node = |(i, class): (usize, &CbqClass)| {
            let rate = Rate(self.lent(&tree, i).max(1));
            let most = max_idle(class.max_burst, self.ewma as u32, rate, context.link, packet);
            Node {
                parent: tree.parents[i],
                level: level[i],
                rate,
                bounded: class.borrow == Borrowing::Bounded,
                isolated: class.lend == Lending::Isolated,
                ewma: self.ewma as u32,
                most,
                avgidle: most,
                last: None,
                undertime: Time::ZERO,
            }
        };
        let nodes: Vec<Node> = self.classes.iter().enumerate().map(node).collect();
        let leaves: Vec<usize> = (0..self.classes.len()).filter(|&i| !tree.inner[i]).collect();
        let priority = |i: usize| self.classes[i].priority as usize;
        let rounds = (0..8).map(|prio| {
            let rates = leaves.iter().filter(|&&i| priority(i) == prio).map(|&i| self.classes[i].rate.0);
            let least = rates.min().unwrap_or(1) as f64;
            let quantum =
                |&i: &usize| (packet.0 as f64 * self.classes[i].rate.0 as f64 / least).min(1e9) as u64;
            Round::new(Turn::Overdrawn, leaves.iter().map(quantum))
        });
        CbqQueue {
            classes: Classes::new(&self.children(), &context),
            rounds: rounds.collect(),
            priority: leaves.iter().map(|&i| priority(i)).collect(),
            open: vec![false; leaves.len()],
            leaves,
            nodes,
        }
    }
}

impl Schedules for Cbq {
    fn children(&self) -> Vec<Child<'_>> {
        leaves(&self.classes)
    }
}

/// Return Floyd's maxidle, t (1/p - 1) (1 - g^n) / g^n with g = 1 - 2^-ewma, in picoseconds divided
/// by 2^-ewma. n is the number of packets of the burst, t the transmission time of a packet on the
/// link, and p the class's share of the link.
fn max_idle(burst: u64, ewma: u32, rate: Rate, link: Rate, packet: Bytes) -> i64 {
    let scale = (1_u64 << ewma) as f64;
    let (t, g) = (link.transmission_time(packet).0 as f64, (scale - 1.0) / scale);
    let gn = (0..burst).fold(1.0, |gn, _| gn * g);
    let share = (rate.0 as f64 / link.0 as f64).min(1.0);
    (scale * t * (1.0 / share - 1.0) * (1.0 - gn) / gn).clamp(0.0, 1e18) as i64
}

/// State of a class.
#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    /// Level in the tree, which is 1 for leaves.
    level: u32,
    rate: Rate,
    bounded: bool,
    isolated: bool,
    ewma: u32,
    /// Maximum of avgidle (maxidle) in picoseconds divided by 2^-ewma, the unit of `avgidle` too.
    most: i64,
    avgidle: i64,
    /// Time at which the last packet was sent, and its transmission time at the rate of the class.
    last: Option<(Time, Duration)>,
    /// Time until which the class is over its limit.
    undertime: Time,
}

impl Node {
    /// Update the estimator for a packet that this class or a class below it sends.
    fn update(&mut self, now: Time, bytes: u64) {
        let time = self.rate.transmission_time(Bytes(bytes));
        if let Some((last, takes)) = self.last.replace((now, time)) {
            let idle = now.since(last).0 as i64 - takes.0 as i64;
            self.avgidle = self.avgidle.saturating_add(idle - (self.avgidle >> self.ewma)).min(self.most);
        }
        if self.avgidle <= 0 {
            // A packet that is sent at the end of this time brings avgidle to zero.
            let wait = -self.avgidle + (self.avgidle >> self.ewma);
            self.undertime = now + time + Duration(wait as u64);
        } else {
            self.undertime = now;
        }
    }
}

/// State of CBQ.
#[derive(Debug)]
pub struct CbqQueue {
    pub(crate) classes: Classes,
    nodes: Vec<Node>,
    /// Node of each leaf. `priority` is the priority of each leaf.
    leaves: Vec<usize>,
    priority: Vec<usize>,
    /// Round robin of each priority, over all leaves.
    rounds: Vec<Round>,
    /// True for each leaf that may send, as computed by the last dequeue.
    open: Vec<bool>,
}

impl CbqQueue {
    fn path(&self, leaf: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(leaf), |&n| self.nodes[n].parent)
    }

    /// Return the lowest level that has an unsatisfied class.
    fn lowest_unsatisfied(&self, now: Time) -> u32 {
        let mut lowest = u32::MAX;
        for class in (0..self.leaves.len()).filter(|&class| self.classes.waits(class)) {
            let satisfied = |n: &usize| self.nodes[*n].undertime > now;
            for n in self.path(self.leaves[class]).filter(|n| !satisfied(n)) {
                lowest = lowest.min(self.nodes[n].level);
            }
        }
        lowest
    }

    /// Return true if a leaf may send (the guidelines of §4).
    fn may_send(&self, leaf: usize, lowest: u32, now: Time) -> bool {
        for n in self.path(leaf) {
            let node = &self.nodes[n];
            if node.undertime <= now {
                return n == leaf || lowest >= node.level;
            }
            if node.bounded {
                return false;
            }
        }
        false
    }

    /// Count a sent packet for the class and its ancestors. Counting stops at an isolated class
    /// unless the bandwidth was borrowed.
    fn sent(&mut self, leaf: usize, bytes: u64, now: Time) {
        let borrowed = self.nodes[leaf].undertime > now;
        let mut next = Some(leaf);
        while let Some(n) = next {
            let node = &mut self.nodes[n];
            node.update(now, bytes);
            next = node.parent.filter(|_| borrowed || !node.isolated);
        }
    }

    /// Return the earliest time at which a class that delays a packet is no longer over its limit.
    fn limits_end(&self, now: Time) -> Soonest {
        let mut soonest = Soonest::default();
        for class in (0..self.leaves.len()).filter(|&class| self.classes.waits(class)) {
            for n in self.path(self.leaves[class]).filter(|&n| self.nodes[n].undertime > now) {
                soonest.later(self.nodes[n].undertime);
            }
        }
        soonest
    }
}

impl HasClasses for CbqQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for CbqQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        let class = self.classes.enqueue(held, at.now, fates);
        self.rounds[self.priority[class]].arrived(class, &self.classes);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let lowest = self.lowest_unsatisfied(now);
        for class in 0..self.leaves.len() {
            self.open[class] = self.may_send(self.leaves[class], lowest, now);
        }
        let mut soonest = Soonest::default();
        for round in &mut self.rounds {
            let open = &self.open;
            match round.dequeue_some(&mut self.classes, |class| open[class], now, fates) {
                Ok((class, held)) => {
                    self.sent(self.leaves[class], u64::from(held.packet.size), now);
                    return Next::Packet(held);
                }
                Err(later) => soonest.join(later),
            }
        }
        soonest.join(self.limits_end(now));
        soonest.next()
    }

    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.classes.each(see);
    }
}
