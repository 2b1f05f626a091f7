//! Hierarchical token bucket (HTB).
//!
//! Sources: Devera 2002, the user guide (`devera2002htb`) and "HTB theory" (`devera2002theory`). A
//! class is green while it does not exceed its rate, yellow while it exceeds its rate but not its
//! ceil, and red while it exceeds its ceil. A yellow class may send with bandwidth that it borrows
//! from a green ancestor. The scheduler serves the lowest level first, and on each level the lowest
//! priority number first. Leaves with the same level and priority share the bandwidth by deficit
//! round robin, with their quanta.
//!
//! The following rules are those of Linux's sch_htb. A sent packet costs tokens of its class and of
//! all ancestors. If a class lends bandwidth, the class and all ancestors of the class pay tokens
//! from two buckets: the bucket of the rate and the bucket of the ceil. The classes below the
//! lending class pay only from the bucket of the ceil. A debt of a bucket is limited to the tokens
//! of one minute. A leaf has a separate deficit for each level. A feed is the set of active classes
//! of one priority that borrow from one parent. Each feed stores the class that has the next turn.
//! In aqmlab all times of HTB are exact to the picosecond.
//!
//! The parameter `hysteresis` selects the hysteresis in sch_htb's `htb_class_mode`. With hysteresis
//! a green class stays green until the debt of its rate bucket exceeds its burst. A green or yellow
//! class turns red only when its debt at its ceil exceeds its cburst. The packets of a class
//! therefore leave in bursts. Linux 2.4 and early versions of Linux 2.6 are compiled with
//! hysteresis (HTB_HYSTERESIS is 1). In current Linux the module parameter htb_hysteresis turns
//! hysteresis on, and it is off by default. If the scenario sets `hz` but not the bursts, the
//! default bursts are computed as in tc (tc/q_htb.c). In a kernel with timer ticks, a class that
//! waits can send only from the next tick on. The wait for the next timer tick is not modelled in
//! aqmlab.
//!
//! The authors of aqmlab had access to the user guide of HTB. The tests contain the examples of §2
//! to §6 of the user guide. All other rules of HTB were compared with sch_htb.c of Linux 2.6 and 6.

mod node;
mod ring;

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Rate, Read, Time, params};

use super::bucket::{brings, price};
use super::tree::{Entry, InTree, Tree, leaves};
use super::{Child, Classes, HasClasses, Schedules, Soonest, check_children};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;
use node::{LEVELS, Mode, Node, PRIORITIES, Side};
use ring::Ring;

params! {
    /// Class of HTB. A class that other classes name as their parent lends bandwidth to these
    /// classes. All other classes are leaves. Only leaves have queues of packets.
    pub struct HtbClass: "htb_class", checked by check_class {
        /// Name of the class, by which other classes refer to it as their parent.
        name: Option<String> = (None), in Range::ANY, from "";
        /// Name of the parent class, which must be earlier in the list. A class without a parent
        /// does not borrow.
        parent: Option<String> = (None), in Range::ANY, from "devera2002htb §3";
        /// Condition that selects the packets of this class, if the class is a leaf. A leaf without
        /// match gets all packets that no other leaf gets. A packet that matches several classes
        /// belongs to the first of these classes.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Rate that is guaranteed to the class together with all classes below it.
        rate: Rate = required, in Range::ANY, from "devera2002htb §2";
        /// Maximum rate of the class, including borrowed bandwidth. By default ceil is equal to
        /// rate.
        ceil: Option<Rate> = (None), in Range::ANY, from "devera2002htb §4: the default ceil is the same as the rate";
        /// Number of bytes that the class may send at once in excess of its rate. The default burst
        /// is 1600 B. If hz is given, the default burst is larger by the bytes of one tick at the
        /// rate.
        burst: Option<Bytes> = (None), in Range::between(1.0, 1e12), from "tc/q_htb.c: rate / HZ + 1600 B";
        /// Number of bytes that the class may send at once in excess of its ceil. The default
        /// cburst is 1600 B. If hz is given, the default cburst is larger by the bytes of one tick
        /// at the ceil.
        cburst: Option<Bytes> = (None), in Range::between(1.0, 1e12), from "tc/q_htb.c: ceil / HZ + 1600 B";
        /// Priority of the class, if the class is a leaf. Leaves with priority 0 may borrow
        /// bandwidth first.
        prio: u64 = (0), in Range::between(0.0, 7.0), from "devera2002htb §6; tc_htb: 0";
        /// Number of bytes that the class may send per turn, if several leaves take turns to borrow
        /// from the same class. The default quantum is the rate divided by r2q.
        quantum: Option<Bytes> = (None), in Range::between(1.0, 1e9), from "devera2002htb §2";
        /// Queue of a leaf, which may be of any kind. By default the queue is a Drop Tail queue.
        queue: Option<Queue> = (None), in Range::ANY, from "devera2002htb §2: pfifo";
    }
}

fn check_class(class: &HtbClass, path: &str) -> Result<(), Invalid> {
    match class.ceil {
        Some(ceil) if ceil.0 < class.rate.0 => {
            let problem = format!("must be at least the rate ({})", class.rate);
            Err(Invalid::new(&join(path, "ceil"), &ceil.write(), problem).remedy("raise ceil or lower rate"))
        }
        _ => Ok(()),
    }
}

params! {
    /// Hierarchical token bucket: each class has a guaranteed rate. A class that needs more than
    /// its rate may borrow unused bandwidth from its parent, up to its ceil. Leaves with a lower
    /// priority number are served first. Leaves with the same priority share the bandwidth in
    /// proportion to their quanta. A class without a parent does not borrow. To share the bandwidth
    /// of a whole link, put all classes below one class whose rate is at most the rate of the link.
    pub struct Htb: "htb", checked by check {
        /// List of classes, each an htb_class. A class follows its parent in the list. The leaf
        /// without match gets the packets that no other leaf gets.
        classes: Vec<HtbClass> = required, in Range::ANY, from "devera2002htb §3";
        /// Divisor that determines the default quantum: the rate in bytes per second divided by
        /// r2q, but at least 1000 B and at most 200 000 B.
        r2q: f64 = (10.0), in Range::at_least(1e-3), from "devera2002htb §2: 10";
        /// If hysteresis is true, packets leave in bursts: a class sends until its debt equals its
        /// burst (or, at its ceil, its cburst), and then waits until the debt is paid.
        hysteresis: bool = (false), in Range::ANY, from "sch_htb.c: HTB_HYSTERESIS is 1 in Linux 2.4 and early 2.6; htb_hysteresis is 0 today";
        /// Timer frequency of a kernel without high-resolution timers, in ticks per second. The
        /// frequency determines the default bursts. If hz is 100, a class of 10 Mbit/s has a
        /// default burst of 14100 B. Without hz the default burst is 1600 B.
        hz: Option<u64> = (None), in Range::between(1.0, 10_000.0), from "tc/q_htb.c: get_hz() is 100 in Linux 2.4; with high-resolution timers no tokens arrive within a tick";
    }
}

/// Maximum packet size (mtu) from which tc computes the default bursts (q_htb.c).
const MTU: u64 = 1600;

impl Htb {
    /// Return the default burst for a rate, as tc computes it in whole bytes.
    fn default_burst(&self, rate: Rate) -> Bytes {
        Bytes(self.hz.map_or(0, |hz| rate.0 / 8 / hz) + MTU)
    }
}

const LEAST_QUANTUM: f64 = 1000.0;
const MOST_QUANTUM: f64 = 200_000.0;

fn check(htb: &Htb, path: &str) -> Result<(), Invalid> {
    let tree = Tree::read(&htb.classes, path)?;
    let deep = |&i: &usize| tree.depth(i) > LEVELS - 1 - usize::from(tree.inner[i]);
    if let Some(i) = (0..htb.classes.len()).find(deep) {
        return Err(Invalid::at(&join(&join(path, "classes"), i), "is more than 8 levels deep")
            .remedy("remove a level"));
    }
    check_children(&htb.children(), path)
}

impl InTree for HtbClass {
    fn entry(&self) -> Entry<'_> {
        let HtbClass { name, parent, r#match: takes, queue, rate, .. } = self;
        Entry { name, parent, takes, queue, rate: *rate }
    }
}

impl DisciplineParams for Htb {
    type Discipline = HtbQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> HtbQueue {
        let tree = Tree::of(&self.classes);
        let mut leaves = Vec::new();
        let node = |(i, class): (usize, &HtbClass)| {
            let quantum = (class.rate.0 as f64 / 8.0 / self.r2q).clamp(LEAST_QUANTUM, MOST_QUANTUM);
            let level = if tree.inner[i] { LEVELS - 1 - tree.depth(i) } else { 0 };
            let leaf = leaves.len();
            let ceil = class.ceil.unwrap_or(class.rate);
            if !tree.inner[i] {
                leaves.push(i as u32);
            }
            Node {
                parent: tree.parents[i],
                level,
                prio: class.prio as usize,
                class: leaf,
                quantum: class.quantum.map_or(quantum as i64, |q| q.0 as i64),
                deficit: [0; LEVELS],
                rate: Side::new(class.rate, class.burst.unwrap_or(self.default_burst(class.rate))),
                ceil: Side::new(ceil, class.cburst.unwrap_or(self.default_burst(ceil))),
                hysteresis: self.hysteresis,
                since: Time::ZERO,
                mode: Mode::Green,
                wakes: None,
                active: 0,
                feeds: Default::default(),
            }
        };
        let nodes = self.classes.iter().enumerate().map(node).collect();
        HtbQueue {
            classes: Classes::new(&self.children(), &context),
            nodes,
            leaves,
            rows: Default::default(),
            waiting: Vec::new(),
        }
    }
}

impl Schedules for Htb {
    fn children(&self) -> Vec<Child<'_>> {
        leaves(&self.classes)
    }
}

fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |prio| mask & 1 << prio != 0)
}

/// Place of a ring in the tree.
#[derive(Clone, Copy, Debug)]
enum Where {
    Row,
    Feed(usize),
}

/// State of HTB.
#[derive(Debug)]
pub struct HtbQueue {
    pub(crate) classes: Classes,
    nodes: Vec<Node>,
    /// Index in `nodes` of each leaf.
    leaves: Vec<u32>,
    /// One ring per level and priority: the green classes that have packets, or that have packets
    /// below them.
    rows: Box<[[Ring; PRIORITIES]; LEVELS]>,
    /// Classes with a scheduled update of their mode, in the order of the scheduled times, the
    /// latest first.
    waiting: Vec<(Time, u32)>,
}

impl HtbQueue {
    /// Add an active class to a ring: to that of its own level if the class is green, or to that of
    /// its parent if the class is yellow.
    fn activate(&mut self, mut n: usize) {
        let mut mask = self.nodes[n].active;
        while self.nodes[n].mode == Mode::Yellow && mask != 0 {
            let Some(p) = self.nodes[n].parent else { return };
            for prio in bits(mask) {
                let feed = &mut self.nodes[p].feeds[prio];
                if !feed.members.is_empty() {
                    mask &= !(1 << prio); // the parent is active already
                }
                feed.add(n as u32);
            }
            self.nodes[p].active |= mask;
            n = p;
        }
        if self.nodes[n].mode == Mode::Green {
            let level = self.nodes[n].level;
            bits(mask).for_each(|prio| self.rows[level][prio].add(n as u32));
        }
    }

    /// Remove an active class from the ring to which [`HtbQueue::activate`] added it.
    fn deactivate(&mut self, mut n: usize) {
        let mut mask = self.nodes[n].active;
        while self.nodes[n].mode == Mode::Yellow && mask != 0 {
            let Some(p) = self.nodes[n].parent else { return };
            let mut emptied = 0;
            for prio in bits(mask) {
                let feed = &mut self.nodes[p].feeds[prio];
                if feed.at == Some(n as u32) {
                    (feed.at, feed.left_at) = (None, Some(n as u32));
                }
                feed.remove(n as u32);
                if feed.members.is_empty() {
                    emptied |= 1 << prio;
                }
            }
            mask = emptied;
            self.nodes[p].active &= !mask;
            n = p;
        }
        if self.nodes[n].mode == Mode::Green {
            let level = self.nodes[n].level;
            for prio in bits(mask) {
                let row = &mut self.rows[level][prio];
                if row.at == Some(n as u32) {
                    row.advance();
                }
                row.remove(n as u32);
            }
        }
    }

    /// Compute the mode of a class from its tokens. Return the time after which the mode may
    /// change.
    fn update_mode(&mut self, n: usize, span: Duration) -> Duration {
        let (mode, wait) = self.nodes[n].mode(span);
        if mode != self.nodes[n].mode {
            let active = self.nodes[n].active != 0;
            if active && self.nodes[n].mode != Mode::Red {
                self.deactivate(n);
            }
            self.nodes[n].mode = mode;
            if active && mode != Mode::Red {
                self.activate(n);
            }
        }
        wait
    }

    /// Schedule the next update of the mode of a class.
    fn wake(&mut self, n: usize, time: Time) {
        self.nodes[n].wakes = Some(time);
        let entry = (time, n as u32);
        let place = self.waiting.partition_point(|e| *e > entry);
        self.waiting.insert(place, entry);
    }

    fn forget_wake(&mut self, n: usize) {
        if let Some(time) = self.nodes[n].wakes.take() {
            let entry = (time, n as u32);
            let place = self.waiting.partition_point(|e| *e > entry);
            self.waiting.remove(place);
        }
    }

    /// Update the modes of all classes whose scheduled time has passed.
    fn do_events(&mut self, now: Time) {
        while let Some(&(time, n)) = self.waiting.last()
            && time <= now
        {
            self.waiting.pop();
            let n = n as usize;
            self.nodes[n].wakes = None;
            let wait = self.update_mode(n, self.nodes[n].span(now));
            if self.nodes[n].mode != Mode::Green {
                self.wake(n, now + wait.max(Duration(1)));
            }
        }
    }

    fn ring(&mut self, place: Where, level: usize, prio: usize) -> &mut Ring {
        match place {
            Where::Row => &mut self.rows[level][prio],
            Where::Feed(node) => &mut self.nodes[node].feeds[prio],
        }
    }

    /// Return the leaf that may send next on a level and priority. The search starts at the ring of
    /// the level, and goes from each class to the child that is next in the round robin, down to a
    /// leaf.
    fn find_leaf(&mut self, level: usize, prio: usize) -> Option<usize> {
        let mut path = [Where::Row; LEVELS];
        let mut top = 0;
        loop {
            let ring = self.ring(path[top], level, prio);
            if let Some(left) = ring.left_at.take()
                && ring.at.is_none()
            {
                ring.at = ring.from(left);
            }
            let (at, first) = (ring.at, ring.members.first().copied());
            match at {
                // After the turn of the last class of a feed, restart the feed at its first class,
                // and advance the level above to the next class.
                None => {
                    ring.at = first;
                    first?;
                    if top > 0 {
                        top -= 1;
                        let above = self.ring(path[top], level, prio);
                        above.at?;
                        above.advance();
                    }
                }
                Some(node) if self.nodes[node as usize].level == 0 => return Some(node as usize),
                Some(node) => {
                    top += 1;
                    path[top] = Where::Feed(node as usize);
                }
            }
        }
    }

    /// Advance the round robin that contains the leaf `n` on the given level to the next class.
    fn next_turn(&mut self, n: usize, level: usize, prio: usize) {
        match self.nodes[n].parent.filter(|_| level > 0) {
            Some(parent) => self.nodes[parent].feeds[prio].advance(),
            None => self.rows[level][prio].advance(),
        }
    }

    /// Activate or deactivate a leaf after its backlog changed.
    fn note(&mut self, n: usize) {
        let waits = self.classes.waits(self.nodes[n].class);
        if waits && self.nodes[n].active == 0 {
            self.nodes[n].active = 1 << self.nodes[n].prio;
            self.activate(n);
        } else if !waits && self.nodes[n].active != 0 {
            self.deactivate(n);
            self.nodes[n].active = 0;
        }
    }

    /// Charge the packet of a leaf to the buckets of the leaf and of its ancestors. The class on
    /// `level`, which is the leaf or an ancestor, provides the bandwidth.
    fn charge(&mut self, leaf: usize, level: usize, bytes: u64, now: Time) {
        let mut next = Some(leaf);
        while let Some(n) = next {
            let node = &mut self.nodes[n];
            let span = node.span(now);
            if node.level >= level {
                node.rate.charge(span, price(bytes));
            } else {
                node.rate.tokens += brings(span, node.rate.rate); // borrowed: only the elapsed time counts
            }
            node.ceil.charge(span, price(bytes));
            node.since = now;
            let before = node.mode;
            let wait = self.update_mode(n, Duration::ZERO);
            let mode = self.nodes[n].mode;
            if mode != before {
                self.forget_wake(n);
                if mode != Mode::Green {
                    self.wake(n, now + wait.max(Duration(1)));
                }
            }
            next = self.nodes[n].parent;
        }
    }

    /// Return a packet of the leaf that has the turn on a level and priority.
    fn take(
        &mut self,
        level: usize,
        prio: usize,
        now: Time,
        soonest: &mut Soonest,
        fates: &mut Fates,
    ) -> Option<QueuedPacket> {
        let mut refused = 0;
        while refused <= self.leaves.len() {
            let n = self.find_leaf(level, prio)?;
            match self.classes.dequeue(self.nodes[n].class, now, fates) {
                Next::Packet(held) => {
                    let node = &mut self.nodes[n];
                    node.deficit[level] -= i64::from(held.packet.size);
                    if node.deficit[level] < 0 {
                        node.deficit[level] += node.quantum;
                        self.next_turn(n, level, prio);
                    }
                    self.note(n);
                    self.charge(n, level, u64::from(held.packet.size), now);
                    return Some(held);
                }
                Next::Empty => self.note(n),
                Next::Later(time) => {
                    soonest.later(time);
                    refused += 1;
                    self.next_turn(n, level, prio);
                }
            }
        }
        None
    }
}

impl HasClasses for HtbQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for HtbQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        let class = self.classes.enqueue(held, at.now, fates);
        self.note(self.leaves[class] as usize);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        if self.classes.backlog().packets == 0 {
            return Next::Empty;
        }
        self.do_events(now);
        let mut soonest = Soonest::default();
        for level in 0..LEVELS {
            for prio in 0..PRIORITIES {
                if !self.rows[level][prio].members.is_empty()
                    && let Some(held) = self.take(level, prio, now, &mut soonest, fates)
                {
                    return Next::Packet(held);
                }
            }
        }
        if let Some(&(time, _)) = self.waiting.last() {
            soonest.later(time);
        }
        if self.classes.backlog().packets == 0 { Next::Empty } else { soonest.next() }
    }

    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.classes.each(see);
    }
}

#[cfg(test)]
mod tests {
    use engine::Stream;
    use net::Packet;
    use serde_json::json;
    use units::{Depth, Read};

    use super::*;

    fn read(value: &serde_json::Value) -> Htb {
        Htb::read(value, "queue").unwrap()
    }

    /// Return the times in ms at which five waiting packets of 1500 B leave a class. The class has
    /// a rate of 120 kbit/s (15 B per ms), a burst of 1600 B and a cburst of 1600 B.
    fn departures(hysteresis: bool) -> Vec<f64> {
        let classes = json!([{ "rate": "120 kbit/s" }]);
        let htb = read(&json!({ "hysteresis": hysteresis, "classes": classes }));
        let context = QueueContext::new(Rate(1_000_000_000), Depth::Packets(100.0), Stream::new(1, "htb"));
        let mut queue = htb.discipline(&Buffer::read(&json!({}), "queue").unwrap(), context);
        let (mut fates, mut now, mut left) = (Fates::default(), Time::ZERO, Vec::new());
        let at = Arrival { now, backlog: Backlog::default(), free_at: Time::NEVER };
        for _ in 0..5 {
            let packet = Packet { size: 1500, ..Packet::default() };
            queue.enqueue(QueuedPacket { packet, entered: now, source: 0 }, &at, &mut fates);
        }
        loop {
            match queue.dequeue(now, &mut fates) {
                Next::Packet(_) => left.push(now.seconds() * 1e3),
                Next::Later(time) => now = time,
                Next::Empty => return left,
            }
        }
    }

    /// The expected times were computed by hand from htb_class_mode of sch_htb.c. With a full
    /// bucket of 1600 B the class sends two packets, and then has a debt of 1400 B. Without
    /// hysteresis the class waits 93.3 ms until the debt of 1400 B is paid. With hysteresis the
    /// class sends a third packet, because the debt is at most 1600 B. The class then has a debt of
    /// 2900 B and waits 193.3 ms until the debt is paid. Afterwards the class sends two packets
    /// every 200 ms.
    #[test]
    fn hysteresis_sends_in_bursts() {
        let near =
            |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        let third = 1400.0 / 15.0;
        let smooth = departures(false);
        assert!(near(&smooth, &[0.0, 0.0, third, third + 100.0, third + 200.0]), "{smooth:?}");
        let bursts = departures(true);
        assert!(near(&bursts, &[0.0, 0.0, 0.0, third + 100.0, third + 100.0]), "{bursts:?}");
    }

    /// The default burst in bytes is that of tc/q_htb.c: rate / get_hz() + mtu.
    #[test]
    fn the_default_burst_is_that_of_tc() {
        for (hz, expected) in [(json!(100), 14_100), (json!(1000), 2_850), (json!(null), 1_600)] {
            let mut htb = json!({ "classes": [{ "rate": "10 Mbit/s" }] });
            if !hz.is_null() {
                htb["hz"] = hz.clone();
            }
            assert_eq!(read(&htb).default_burst(Rate(10_000_000)), Bytes(expected), "{hz}");
        }
    }
}
