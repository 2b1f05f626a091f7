//! Round robin of several schedulers: the list of active classes, and the counter that limits what
//! a class sends in its turn.
//!
//! Source: Shreedhar & Varghese 1996 (`shreedhar1996drr`), figure 2: the active list and the
//! deficit counters. A class whose queue has no packet before a later time loses its turn and
//! remains in the list.

use std::collections::VecDeque;

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::Time;

use super::{Classes, HasClasses, Soonest};

/// Unit of the counter that limits a turn, and condition to send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Bytes: a packet is sent if the counter is at least the size of the packet.
    Covered,
    /// Bytes: a packet is sent while the counter is positive, and the bytes beyond the counter are
    /// subtracted from the next turn.
    Overdrawn,
    /// Packets.
    Packets,
}

impl Turn {
    /// Return true if a class with this counter may send a packet of this size.
    fn allows(self, counter: i64, size: u64) -> bool {
        match self {
            Turn::Covered => counter >= size as i64,
            Turn::Overdrawn | Turn::Packets => counter > 0,
        }
    }

    fn price(self, held: &QueuedPacket) -> i64 {
        if self == Turn::Packets { 1 } else { i64::from(held.packet.size) }
    }
}

/// State of a class in the round.
#[derive(Clone, Copy, Debug)]
struct Member {
    quantum: i64,
    counter: i64,
    active: bool,
}

/// Round robin over classes.
#[derive(Debug)]
pub struct Round {
    turn: Turn,
    members: Vec<Member>,
    /// Classes with waiting packets (ActiveList).
    active: VecDeque<usize>,
    /// True while the first class of the list has its turn.
    begun: bool,
}

impl Round {
    /// Create a round in which each turn adds the quantum of the class to its counter.
    pub fn new(turn: Turn, quanta: impl Iterator<Item = u64>) -> Self {
        let member = |quantum: u64| Member { quantum: quantum as i64, counter: 0, active: false };
        let members: Vec<Member> = quanta.map(member).collect();
        Round { turn, active: VecDeque::with_capacity(members.len()), members, begun: false }
    }

    /// Record the arrival of a packet in a class.
    pub fn arrived(&mut self, class: usize, classes: &Classes) {
        if !self.members[class].active && classes.waits(class) {
            self.members[class].active = true;
            self.active.push_back(class);
        }
    }

    /// Return true if no class is in the middle of its turn.
    pub fn between_turns(&self) -> bool {
        !self.begun
    }

    /// End the turn of the first class. If `stays` is true the class moves to the end of the list
    /// of active classes, else the class leaves the list.
    fn end_turn(&mut self, class: usize, stays: bool) {
        self.begun = false;
        self.active.pop_front();
        if stays {
            self.active.push_back(class);
        } else {
            // A class that leaves the list loses the unused bytes of its counter, but a negative
            // counter remains.
            let member = &mut self.members[class];
            (member.active, member.counter) = (false, member.counter.min(0));
        }
    }

    /// Return the next packet of the class whose turn it is.
    pub fn dequeue(&mut self, classes: &mut Classes, now: Time, fates: &mut Fates) -> Next {
        self.dequeue_some(classes, |_| true, now, fates)
            .map_or_else(Soonest::next, |(_, held)| Next::Packet(held))
    }

    /// Return the next packet and its class, among the classes that may send now. If no class has a
    /// packet to send now, return the earliest time of the next packet.
    pub(super) fn dequeue_some(
        &mut self,
        classes: &mut Classes,
        may: impl Fn(usize) -> bool,
        now: Time,
        fates: &mut Fates,
    ) -> Result<(usize, QueuedPacket), Soonest> {
        let (mut soonest, mut refused) = (Soonest::default(), 0);
        while let Some(&class) = self.active.front() {
            if !may(class) {
                self.begun = false;
                self.active.rotate_left(1);
                refused += 1;
                if refused >= self.active.len() {
                    break;
                }
                continue;
            }
            let member = &mut self.members[class];
            if !self.begun {
                member.counter += member.quantum;
                self.begun = true;
            }
            if !self.turn.allows(member.counter, classes.next_size(class)) {
                self.end_turn(class, classes.waits(class));
                refused = 0;
                continue;
            }
            match classes.dequeue(class, now, fates) {
                Next::Packet(held) => {
                    member.counter -= self.turn.price(&held);
                    let counter = member.counter;
                    let waits = classes.waits(class);
                    if !waits || !self.turn.allows(counter, classes.next_size(class)) {
                        self.end_turn(class, waits);
                    }
                    return Ok((class, held));
                }
                Next::Later(time) => {
                    soonest.later(time);
                    member.counter = member.counter.min(0);
                    self.end_turn(class, true);
                    refused += 1;
                    if refused >= self.active.len() {
                        break;
                    }
                }
                Next::Empty => {
                    self.end_turn(class, false);
                    refused = 0;
                }
            }
        }
        Err(soonest)
    }
}

/// Queue discipline of classes that take turns.
#[derive(Debug)]
pub struct RoundQueue {
    pub(crate) classes: Classes,
    round: Round,
}

impl RoundQueue {
    /// Create the queue discipline from classes and their round.
    pub fn new(classes: Classes, round: Round) -> Self {
        RoundQueue { classes, round }
    }
}

impl HasClasses for RoundQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for RoundQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        let class = self.classes.enqueue(held, at.now, fates);
        self.round.arrived(class, &self.classes);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.round.dequeue(&mut self.classes, now, fates)
    }

    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.classes.each(see);
    }
}
