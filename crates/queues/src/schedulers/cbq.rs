//! Class-based queueing.
//!
//! Source: Floyd & Van Jacobson 1995, "Link-sharing and resource management models for packet networks" (`floyd1995cbq`).
//! Estimator (appendix A): for each packet idle is the time since the last one less the time that one takes at the class's rate,
//! avgidle its moving average with weight w = 2^-ewma, at most maxidle; a class is over its limit when avgidle is not
//! above zero, until the time at which a packet would bring it to zero (undertime).
//! Link sharing (§4, the formal guidelines): a class that is over its limit may send if an ancestor on level i is not over
//! its own and no class below level i is unsatisfied, that is not over its limit with packets waiting below it. The general
//! scheduler (§5) is by priority and weighted round robin. Quanta are as the rates, the smallest of a
//! priority being a packet of mean size. maxidle is that of Floyd's notes on parameters (`floyd1995parameters`). avgidle
//! is counted in picoseconds by w, so that a class held to its rate keeps it exactly.
//!
//! The papers were not at hand: formulas and section numbers are from memory. The estimator was held against ns-2's
//! (queue/cbq.cc, by the author's group) and Linux's (net/sched/sch_cbq.c): both wait (1 - w) of what avgidle / w lacks, as here. They
//! take idle between the ends of packets and from the size of the later one; between their beginnings and from the earlier it comes
//! to the same for packets of one size, and is exact for others.
//!
//! So an average forgets w of what a class sent too early, and one that competes gets up to w / 2 more than its rate (w if its
//! packets differ in size), which others lack. That is the estimator's; a smaller w makes it as exact as one likes.

use net::{Arrival, Backlog, Fates, Held, Next, QueueDiscipline};
use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Rate, Read, Time, params, words};

use super::round::{Round, Turn};
use super::tree::{Entry, InTree, Tree, leaves};
use super::{Child, Classes, Schedules, Soonest, check_children};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;
use crate::law::{Keeps, Place};

words! {
    /// Whether a class may use what others leave.
    pub enum Borrowing {
        /// From its ancestors.
        Ancestors = "ancestors",
        /// Not at all: it is bounded.
        Bounded = "bounded",
    }
}

words! {
    /// Whether others may use what a class leaves.
    pub enum Lending {
        /// Those below its ancestors may.
        Others = "others",
        /// None but those below it: it is isolated.
        Isolated = "isolated",
    }
}

params! {
    /// A class of CBQ. One that others name as their parent lends to them; the others are leaves and have packets.
    pub struct CbqClass: "cbq_class" {
        /// Its name, for those below it.
        name: Option<String> = (None), in Range::ANY, from "";
        /// The class above it, which stands before it in the list; absent: it borrows from nobody.
        parent: Option<String> = (None), in Range::ANY, from "floyd1995cbq §3";
        /// Which packets it takes, if it is a leaf; absent: those that no other class takes. Of several that would take one the first has it.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// The rate that it is allotted, with all below it.
        rate: Rate = required, in Range::ANY, from "floyd1995cbq §3";
        /// Its priority, if it is a leaf: 0 is served first.
        priority: u64 = (0), in Range::between(0.0, 7.0), from "floyd1995cbq §5";
        /// Whether it may use what others leave.
        borrow: Borrowing = (Borrowing::Ancestors), in Range::ANY, from "floyd1995cbq §4: bounded classes";
        /// Whether others may use what it leaves.
        lend: Lending = (Lending::Others), in Range::ANY, from "floyd1995cbq §4: isolated classes";
        /// Packets that it may send back to back after a calm.
        max_burst: u64 = (16), in Range::between(0.0, 1000.0), from "floyd1995parameters: 16 packets";
        /// Its queue, of any kind, if it is a leaf; absent: Drop Tail.
        queue: Option<Queue> = (None), in Range::ANY, from "";
    }
}

params! {
    /// Class-based queueing: each class is allotted a rate. A class that keeps it may always send; one that exceeds it
    /// may send while an ancestor keeps its own and no class below that is unsatisfied, and is held back
    /// otherwise. So a class bounded to a rate is a slower link, and what classes leave unused stays near them.
    pub struct Cbq: "cbq", checked by check {
        /// The classes, each a cbq_class that stands after its parent; the leaf without match takes the rest.
        classes: Vec<CbqClass> = required, in Range::ANY, from "floyd1995cbq §3";
        /// Mean size of packets, for quanta and max_burst.
        mean_packet_size: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "floyd1995parameters leaves it to the operator; 1000 B is a common setting";
        /// The weight of a packet in avgidle is 2^-ewma. Of what a class sends too early 2^-ewma is forgotten, so that one that
        /// competes may get up to 2^-(ewma + 1) more than its rate, or twice that if its packets differ in size: 3 % and
        /// 6 %, and with 8 less than half a percent.
        ewma: u64 = (4), in Range::between(1.0, 31.0), from "floyd1995cbq app. A: 1/16; tc_cbq: ewma";
    }
}

fn check(cbq: &Cbq, path: &str) -> Result<(), Invalid> {
    let tree = Tree::read(&cbq.classes, path)?;
    for i in 0..cbq.classes.len() {
        if tree.inner[i] && cbq.lent(&tree, i) == 0 {
            let path = join(&join(&join(path, "classes"), i), "rate");
            let problem = "is no more than its isolated classes have, which leaves nothing to the others";
            return Err(Invalid::new(&path, &cbq.classes[i].rate.write(), problem));
        }
    }
    check_children(&cbq.children(), path)
}

impl Cbq {
    /// The rate of a class without what is isolated below it, which nobody else may use.
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

impl Keeps for Cbq {
    type Discipline = CbqQueue;

    fn discipline(&self, _: &Buffer, place: Place) -> CbqQueue {
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
            let most = max_idle(class.max_burst, self.ewma as u32, rate, place.link, packet);
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
            classes: Classes::new(&self.children(), &place),
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

/// Floyd's maxidle, t (1/p - 1) (1 - g^n) / g^n for n packets that take t on the link, of which p is the class's share, g being
/// 1 - 2^-ewma; in picoseconds by 2^-ewma.
fn max_idle(burst: u64, ewma: u32, rate: Rate, link: Rate, packet: Bytes) -> i64 {
    let scale = (1_u64 << ewma) as f64;
    let (t, g) = (link.transmission_time(packet).0 as f64, (scale - 1.0) / scale);
    let gn = (0..burst).fold(1.0, |gn, _| gn * g);
    let share = (rate.0 as f64 / link.0 as f64).min(1.0);
    (scale * t * (1.0 / share - 1.0) * (1.0 - gn) / gn).clamp(0.0, 1e18) as i64
}

/// A class.
#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    /// 1 for leaves.
    level: u32,
    rate: Rate,
    bounded: bool,
    isolated: bool,
    ewma: u32,
    /// maxidle, in picoseconds by 2^-ewma, as is the next.
    most: i64,
    avgidle: i64,
    /// When its last packet was sent, and how long that takes at its rate.
    last: Option<(Time, Duration)>,
    /// Until when it is over its limit.
    undertime: Time,
}

impl Node {
    /// A packet of the class, or from below it, is sent.
    fn update(&mut self, now: Time, bytes: u64) {
        let time = self.rate.transmission_time(Bytes(bytes));
        if let Some((last, takes)) = self.last.replace((now, time)) {
            let idle = now.since(last).0 as i64 - takes.0 as i64;
            self.avgidle = self.avgidle.saturating_add(idle - (self.avgidle >> self.ewma)).min(self.most);
        }
        if self.avgidle <= 0 {
            // A packet sent then makes avgidle zero.
            let wait = -self.avgidle + (self.avgidle >> self.ewma);
            self.undertime = now + time + Duration(wait as u64);
        } else {
            self.undertime = now;
        }
    }
}

/// The state of CBQ.
#[derive(Debug)]
pub struct CbqQueue {
    pub(crate) classes: Classes,
    nodes: Vec<Node>,
    /// The node of each class of packets, and its priority.
    leaves: Vec<usize>,
    priority: Vec<usize>,
    /// For each priority, over all leaves.
    rounds: Vec<Round>,
    /// Which leaves may send, as found at the last look.
    open: Vec<bool>,
}

impl CbqQueue {
    fn path(&self, leaf: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(leaf), |&n| self.nodes[n].parent)
    }

    /// The lowest level with an unsatisfied class.
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

    /// Whether a leaf may send: the guidelines of §4.
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

    /// A packet was sent: it counts for the class and its ancestors, up to one that is isolated, unless it was borrowed.
    fn sent(&mut self, leaf: usize, bytes: u64, now: Time) {
        let borrowed = self.nodes[leaf].undertime > now;
        let mut next = Some(leaf);
        while let Some(n) = next {
            let node = &mut self.nodes[n];
            node.update(now, bytes);
            next = node.parent.filter(|_| borrowed || !node.isolated);
        }
    }

    /// When the limit of a class ends that keeps a packet from being sent.
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

impl QueueDiscipline for CbqQueue {
    fn enqueue(&mut self, held: Held, at: &Arrival, fates: &mut Fates) {
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

    fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.classes.each(see);
    }
}
