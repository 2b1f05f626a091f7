//! Round robin, which several schedulers use: the list of active classes, and for each class a
//! counter that limits the length of its turn.
//!
//! Source: Shreedhar & Varghese 1996 (`shreedhar1996drr`), figure 2: the active list and the
//! deficit counters. If the queue of a class can send its next packet only at a later time, the
//! class loses its turn and remains in the list.

use std::collections::VecDeque;

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::Time;

use super::{Classes, HasClasses, Soonest};

/// Unit of the counter of a class, and condition to send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The counter is in bytes. A class may send a packet if the counter is at least the size of
    /// the packet.
    Covered,
    /// The counter is in bytes. A class may send a packet while the counter is positive. If the
    /// packet exceeds the counter, the excess is subtracted from the next turn.
    Overdrawn,
    /// The counter is in packets. A class may send a packet while the counter is positive.
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

/// State of a class in the round robin.
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
    /// Classes with waiting packets, in the order of their next turns (ActiveList).
    active: VecDeque<usize>,
    /// True while the first class of `active` has its turn.
    begun: bool,
}

impl Round {
    /// Create a round robin. At the beginning of a turn the quantum of the class is added to its
    /// counter.
    pub fn new(turn: Turn, quanta: impl Iterator<Item = u64>) -> Self {
        let member = |quantum: u64| Member { quantum: quantum as i64, counter: 0, active: false };
        let members: Vec<Member> = quanta.map(member).collect();
        Round { turn, active: VecDeque::with_capacity(members.len()), members, begun: false }
    }

    /// Record that a packet arrived in a class.
    pub fn arrived(&mut self, class: usize, classes: &Classes) {
        if !self.members[class].active && classes.waits(class) {
            self.members[class].active = true;
            self.active.push_back(class);
        }
    }

    /// Return false while the turn of a class is in progress, and true otherwise.
    pub fn between_turns(&self) -> bool {
        !self.begun
    }

    /// End the turn of the first class in the list of active classes. If `stays` is true, move the
    /// class to the end of the list, or else remove the class from the list.
    fn end_turn(&mut self, class: usize, stays: bool) {
        self.begun = false;
        self.active.pop_front();
        if stays {
            self.active.push_back(class);
        } else {
            // A class that leaves the list loses the unused part of its counter, but a negative
            // counter remains.
            let member = &mut self.members[class];
            (member.active, member.counter) = (false, member.counter.min(0));
        }
    }

    /// Return the next packet of the class that has the turn.
    pub fn dequeue(&mut self, classes: &mut Classes, now: Time, fates: &mut Fates) -> Next {
        self.dequeue_some(classes, |_| true, now, fates)
            .map_or_else(Soonest::next, |(_, held)| Next::Packet(held))
    }

    /// Return the next packet and its class. Only the classes for which `may` returns true may
    /// send. If no class has a packet to send now, return the earliest time of the next packet.
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

/// Queue discipline whose classes take turns.
#[derive(Debug)]
pub struct RoundQueue {
    pub(crate) classes: Classes,
    round: Round,
}

impl RoundQueue {
    /// Create the queue discipline from its classes and a round robin.
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
