//! Class-based queueing (CBQ).
//!
//! Source: Floyd & Van Jacobson 1995, "Link-sharing and resource management models for packet
//! networks" (`floyd1995cbq`).
//!
//! Estimator (appendix A): idle is computed for each packet. The value of idle is the time since
//! the previous packet minus the time that the previous packet takes at the rate of the class. The
//! moving average of idle is called avgidle. The average avgidle has the weight w = 2^-ewma and the
//! maximum maxidle. A class is over its limit while avgidle is at most zero. The state "over its
//! limit" ends at the time undertime: a packet that is sent at this time brings avgidle to zero.
//!
//! Link sharing (§4, the formal guidelines): a class over its limit may send if an ancestor on some
//! level i is not over its own limit and no class below level i is unsatisfied. A class is
//! unsatisfied if it is not over its limit and packets wait in it or in the classes below it. The
//! general scheduler (§5) uses priorities and weighted round robin. Quanta are proportional to the
//! rates. Within each priority, the smallest quantum is one packet of mean size. The formula of
//! maxidle is from Floyd's notes on parameters (`floyd1995parameters`). The unit of the stored
//! avgidle is w picoseconds, so that a bounded class gets exactly its rate.
//!
//! The papers on CBQ were not available, so their formulas and section numbers are from memory. The
//! estimator was compared with those of ns-2 (queue/cbq.cc, by the author's group) and of Linux
//! (net/sched/sch_cbq.c). If avgidle is negative, a class waits for the time (1 - w) |avgidle| / w,
//! in ns-2, in Linux and in aqmlab. Both ns-2 and Linux compute the value `idle` from the times at
//! which the transmissions of two packets end, and from the size of the later packet. In aqmlab the
//! value `idle` is computed from the times at which the transmissions of two packets begin, and
//! from the size of the earlier packet. If all packets have the same size, the two methods give the
//! same value. If the packet sizes differ, only the method of aqmlab is exact.
//!
//! If a class sends a packet by a time t too early, the class later waits only for the time (1 - w)
//! t. A class that competes with other classes therefore gets more than its rate, at the expense of
//! the other classes: up to w / 2 more, or up to w more if its packets differ in size. The formula
//! of the estimator is the reason why a class exceeds its rate. The smaller w is, the less a class
//! exceeds its rate.

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
    /// Rule that says if a class may use bandwidth that other classes leave unused.
    pub enum Borrowing {
        /// The class may borrow from its ancestors.
        Ancestors = "ancestors",
        /// The class may not borrow: the class is bounded.
        Bounded = "bounded",
    }
}

words! {
    /// Rule that says which other classes may use the bandwidth that a class leaves unused.
    pub enum Lending {
        /// All classes below the ancestors of this class may use its unused bandwidth.
        Others = "others",
        /// Only the classes below this class may use its unused bandwidth: the class is isolated.
        Isolated = "isolated",
    }
}

params! {
    /// Class of CBQ. A class that other classes name as their parent lends bandwidth to these
    /// classes. All other classes are leaves. Only leaves have queues of packets.
    pub struct CbqClass: "cbq_class" {
        /// Name of the class, by which other classes refer to it as their parent.
        name: Option<String> = (None), in Range::ANY, from "";
        /// Name of the parent class, which must be earlier in the list. A class without a parent
        /// does not borrow.
        parent: Option<String> = (None), in Range::ANY, from "floyd1995cbq §3";
        /// Condition that selects the packets of this class, if the class is a leaf. A leaf without
        /// match gets all packets that no other leaf gets. A packet that matches several classes
        /// belongs to the first of these classes.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Rate that is allotted to the class together with all classes below it.
        rate: Rate = required, in Range::ANY, from "floyd1995cbq §3";
        /// Priority of the class, if the class is a leaf. Priority 0 is served first, and priority
        /// 7 last.
        priority: u64 = (0), in Range::between(0.0, 7.0), from "floyd1995cbq §5";
        /// Rule that says if this class may use bandwidth that other classes leave unused.
        borrow: Borrowing = (Borrowing::Ancestors), in Range::ANY, from "floyd1995cbq §4: bounded classes";
        /// Rule that says which other classes may use the bandwidth that this class leaves unused.
        lend: Lending = (Lending::Others), in Range::ANY, from "floyd1995cbq §4: isolated classes";
        /// Number of packets that the class may send back to back after it was idle.
        max_burst: u64 = (16), in Range::between(0.0, 1000.0), from "floyd1995parameters: 16 packets";
        /// Queue of a leaf, which may be of any kind. By default the queue is a Drop Tail queue.
        queue: Option<Queue> = (None), in Range::ANY, from "";
    }
}

params! {
    /// Class-based queueing: each class has an allotted rate. A class that is within its rate may
    /// always send. A class that exceeds its rate may send only while an ancestor is within its
    /// rate and no class below that ancestor is unsatisfied. A class that may not send is delayed.
    /// A bounded class therefore behaves like a slower link. Unused bandwidth goes first to the
    /// classes with the same parent.
    pub struct Cbq: "cbq", checked by check {
        /// List of classes, each a cbq_class. A class follows its parent in the list. The leaf
        /// without match gets the packets that no other leaf gets.
        classes: Vec<CbqClass> = required, in Range::ANY, from "floyd1995cbq §3";
        /// Mean packet size, from which the quanta are computed. The mean packet size also converts
        /// max_burst into a time.
        mean_packet_size: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "floyd1995parameters: the operator chooses the size; 1000 B is a common value";
        /// Exponent of the weight 2^-ewma that one packet has in avgidle. If a class sends a packet
        /// by a time t too early, the class later waits only for the time (1 - 2^-ewma) t. A class
        /// that competes with other classes may therefore exceed its rate by a fraction of up to
        /// 2^-(ewma + 1), or up to 2^-ewma if its packets differ in size. With ewma = 4 a class
        /// exceeds its rate by at most about 3 % if its packets have equal sizes, and by at most
        /// about 6 % if its packets differ in size. With ewma = 8 a class exceeds its rate by less
        /// than half a percent.
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
    /// Return the rate of a class minus the rates of the isolated classes directly below it.
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

/// Return Floyd's maxidle, t (1/p - 1) (1 - g^n) / g^n with g = 1 - 2^-ewma, in units of 2^-ewma
/// picoseconds. Here n is the number of packets of the burst, t is the transmission time of a
/// packet on the link, and p is the class's share of the link.
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
    /// Level of the class in the tree. Leaves are on level 1.
    level: u32,
    rate: Rate,
    bounded: bool,
    isolated: bool,
    ewma: u32,
    /// Maximum of avgidle (maxidle). Both `most` and `avgidle` are in units of 2^-ewma picoseconds.
    most: i64,
    avgidle: i64,
    /// Time at which the last packet was sent, and the transmission time of that packet at the rate
    /// of the class.
    last: Option<(Time, Duration)>,
    /// Time until which the class is over its limit.
    undertime: Time,
}

impl Node {
    /// Update the estimator for a packet that is sent by this class or by a class below it.
    fn update(&mut self, now: Time, bytes: u64) {
        let time = self.rate.transmission_time(Bytes(bytes));
        if let Some((last, takes)) = self.last.replace((now, time)) {
            let idle = now.since(last).0 as i64 - takes.0 as i64;
            self.avgidle = self.avgidle.saturating_add(idle - (self.avgidle >> self.ewma)).min(self.most);
        }
        if self.avgidle <= 0 {
            // A packet that is sent at the end of the time `wait` brings avgidle to zero.
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
    /// Index in `nodes` of each leaf. `priority` has the priority of each leaf.
    leaves: Vec<usize>,
    priority: Vec<usize>,
    /// One round robin over all leaves for each priority.
    rounds: Vec<Round>,
    /// One flag per leaf: true if the leaf was allowed to send at the last dequeue.
    open: Vec<bool>,
}

impl CbqQueue {
    fn path(&self, leaf: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(leaf), |&n| self.nodes[n].parent)
    }

    /// Return the lowest level of the tree that has an unsatisfied class.
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

    /// Return true if a leaf may send, according to the guidelines of §4.
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

    /// Update the estimators of a leaf and of its ancestors for a sent packet. The update does not
    /// continue above an isolated class, unless the leaf borrowed the bandwidth.
    fn sent(&mut self, leaf: usize, bytes: u64, now: Time) {
        let borrowed = self.nodes[leaf].undertime > now;
        let mut next = Some(leaf);
        while let Some(n) = next {
            let node = &mut self.nodes[n];
            node.update(now, bytes);
            next = node.parent.filter(|_| borrowed || !node.isolated);
        }
    }

    /// Return the earliest time at which a class with waiting packets, or one of its ancestors, is
    /// no longer over its limit.
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
