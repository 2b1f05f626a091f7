//! Hierarchical token bucket (HTB).
//!
//! Sources: Devera 2002, the user guide (`devera2002htb`) and "HTB theory" (`devera2002theory`). A
//! class is green while it is within its rate, yellow while it is only within its ceil, and red
//! otherwise. A yellow class may send with bandwidth that a green ancestor lends it. Among all
//! pairs of level and priority the lowest level is served first, and on that level the lowest
//! priority. Leaves of the same level and priority share by deficit round robin with their quanta.
//!
//! The following rules are those of Linux's sch_htb. Tokens are charged to the class and to all its
//! ancestors: on the lending level and above, to both the rate and the ceil of each class, and
//! below the lending level to the ceil alone. A debt is remembered for a minute. A leaf has a
//! deficit for each level. Each feed (the active classes of one priority that borrow from one
//! parent) stores whose turn it is. The times in this file are exact to the picosecond.
//!
//! The parameter `hysteresis` selects the hysteresis in sch_htb's `htb_class_mode`. A green class
//! stays green until its debt at its rate exceeds its burst, and a class that is not red turns red
//! only when its debt at its ceil exceeds its cburst. With hysteresis the packets of a class
//! therefore leave in bursts. Linux 2.4 and early 2.6 are compiled with hysteresis (HTB_HYSTERESIS
//! 1). In current Linux the module parameter htb_hysteresis turns hysteresis on, and its default is
//! 0. If the scenario does not set the bursts, the parameter `hz` determines the bursts as tc
//!    computes them (tc/q_htb.c). The timers of kernels with ticks, which wake a class at the next
//!    tick, are not modelled.
//!
//! The user guide was available, and the examples in its §2 to §6 are tests. The remaining rules
//! were compared with sch_htb.c of Linux 2.6 and 6.

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
    /// classes. All other classes are leaves, and only leaves have packets.
    pub struct HtbClass: "htb_class", checked by check_class {
        /// Name of the class, by which other classes refer to it as their parent.
        name: Option<String> = (None), in Range::ANY, from "";
        /// Name of the parent class, which must come earlier in the list. A class without a parent
        /// does not borrow.
        parent: Option<String> = (None), in Range::ANY, from "devera2002htb §3";
        /// Packets of this class if it is a leaf. A class without this key takes all packets that
        /// no other class takes. A packet that matches several classes belongs to the first of
        /// them.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Guaranteed rate of the class together with all classes below it.
        rate: Rate = required, in Range::ANY, from "devera2002htb §2";
        /// Maximum rate of the class, including borrowed bandwidth. If the key is absent, the value
        /// is the rate.
        ceil: Option<Rate> = (None), in Range::ANY, from "devera2002htb §4: the default ceil is the same as the rate";
        /// Number of bytes that the class may send at once beyond its rate. If the key is absent,
        /// the value is 1600 B, plus the bytes of one tick at its rate if hz is given.
        burst: Option<Bytes> = (None), in Range::between(1.0, 1e12), from "tc/q_htb.c: rate / HZ + 1600 B";
        /// Number of bytes that the class may send at once beyond its ceil. If the key is absent,
        /// the value is 1600 B, plus the bytes of one tick at its ceil if hz is given.
        cburst: Option<Bytes> = (None), in Range::between(1.0, 1e12), from "tc/q_htb.c: ceil / HZ + 1600 B";
        /// Priority of the class if it is a leaf. Bandwidth for borrowing is offered to priority 0
        /// first.
        prio: u64 = (0), in Range::between(0.0, 7.0), from "devera2002htb §6; tc_htb: 0";
        /// Number of bytes that the class sends per turn when several leaves borrow from the same
        /// class. If the key is absent, the value is the rate divided by r2q.
        quantum: Option<Bytes> = (None), in Range::between(1.0, 1e9), from "devera2002htb §2";
        /// Queue of the class, of any kind, if it is a leaf. If the key is absent, the queue is a
        /// Drop Tail queue.
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
    /// Hierarchical token bucket: each class has a guaranteed rate. Bandwidth that classes leave
    /// unused is lent by their parents to classes that want more, up to their ceil. Leaves with a
    /// lower priority number are served first, and leaves of equal priority share in proportion to
    /// their quanta. Classes without a parent do not borrow. To share a whole link, put all classes
    /// below one class whose rate is at most that of the link.
    pub struct Htb: "htb", checked by check {
        /// List of classes, each an htb_class that follows its parent. The leaf without the key
        /// match takes the packets that no other leaf takes.
        classes: Vec<HtbClass> = required, in Range::ANY, from "devera2002htb §3";
        /// Divisor for the default quantum, which is the rate in bytes per second divided by r2q,
        /// between 1000 and 200 000 B.
        r2q: f64 = (10.0), in Range::at_least(1e-3), from "devera2002htb §2: 10";
        /// If true, a class sends until its debt is its burst (at its ceil: its cburst) and then
        /// waits until the debt is paid, so that packets leave in bursts.
        hysteresis: bool = (false), in Range::ANY, from "sch_htb.c: HTB_HYSTERESIS 1 in Linux 2.4 and early 2.6; htb_hysteresis 0 today";
        /// Timer frequency (ticks per second) of a kernel without high-resolution timers, which
        /// sets the default bursts. With 100 a class of 10 Mbit/s has a burst of 14100 B. If the
        /// key is absent, the value is 1600 B.
        hz: Option<u64> = (None), in Range::between(1.0, 10_000.0), from "tc/q_htb.c: get_hz(), 100 in Linux 2.4; with high-resolution timers a tick brings nothing";
    }
}

/// Maximum packet size in tc's computation (q_htb.c: mtu).
const MTU: u64 = 1600;

impl Htb {
    /// Return the burst of a class without a burst of its own, as tc computes it in whole bytes.
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

/// Position of a ring in the tree.
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
    /// Node of each leaf.
    leaves: Vec<u32>,
    /// Green classes with packets, or with packets below them, for each level and priority.
    rows: Box<[[Ring; PRIORITIES]; LEVELS]>,
    /// Classes whose mode will change, sorted by time, the latest first.
    waiting: Vec<(Time, u32)>,
}

impl HtbQueue {
    /// Add an active class to the turns: at its own level if it is green, at its parent if it is
    /// yellow.
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

    /// Remove a class from the turns, as the reverse of [`HtbQueue::activate`].
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

    /// Set the mode of a class from its tokens. Return the time until the mode may change.
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

    /// Schedule the next update of a class's mode.
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

    /// Update the modes of the classes whose scheduled time of update has passed.
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

    /// Return the leaf whose turn it is on a level and priority, by following the feeds at their
    /// positions.
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
                // At the end of a feed the position returns to its first class, and the turn passes
                // on at the level above.
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

    /// End the turn of a leaf on this level.
    fn next_turn(&mut self, n: usize, level: usize, prio: usize) {
        match self.nodes[n].parent.filter(|_| level > 0) {
            Some(parent) => self.nodes[parent].feeds[prio].advance(),
            None => self.rows[level][prio].advance(),
        }
    }

    /// Update whether a leaf is active after its backlog changed.
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

    /// Charge a packet of a leaf, which a class on `level` (the leaf or an ancestor) paid for.
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

    /// Return a packet of the leaf whose turn it is on a level and priority.
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

    /// Return the times in ms at which five waiting packets of 1500 B leave a class of 120 kbit/s,
    /// which sends 15 B per ms, with a burst and a cburst of 1600 B.
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

    /// Computed by hand from htb_class_mode of sch_htb.c. A full bucket of 1600 B allows two
    /// packets and leaves a debt of 1400 B. Without hysteresis the class then waits 93.3 ms until
    /// the debt of 1400 B is paid. With hysteresis a third packet leaves, because the debt is at
    /// most 1600 B. The debt is then 2900 B, for 193.3 ms, and from then on two packets leave every
    /// 200 ms.
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

    /// The default burst is that of tc/q_htb.c: rate / get_hz() + mtu, in bytes.
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
