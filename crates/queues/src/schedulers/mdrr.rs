//! Modified deficit round robin, with a low-latency queue.
//!
//! Source: Cisco, "Understanding and configuring MDRR/WRED on the Cisco 12000 series Internet router" (`cisco2006mdrr`) and
//! "Configuring modular QoS congestion management" (`cisco2008congestion`): a queue is served while its counter is greater than
//! zero; each packet reduces the counter by its length; each new round adds the quantum, so what was sent too
//! much is missing then. Quantum = MTU + (weight - 1) 512 B. The low-latency queue is served before all
//! others (strict), or between any two turns of others, by its own counter (alternate).
//!
//! The documents were not at hand: the alternate mode and the quantum are from memory.

use net::{Arrival, Backlog, Fates, Held, Next, QueueDiscipline};
use units::param::{Invalid, join};
use units::{Bytes, Range, Read, Time, params, words};

use super::round::{Round, Turn};
use super::{Child, Classes, Schedules, Soonest, check_children, listed};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;
use crate::law::{Keeps, Place};

words! {
    /// How a class of MDRR is served.
    pub enum Service {
        /// In the round, by its weight.
        Round = "round",
        /// Low latency: whenever it has packets, before all others. Those may starve.
        Strict = "strict",
        /// Low latency: a turn of its own after each turn of another class.
        Alternate = "alternate",
    }
}

params! {
    /// A class of a modified deficit round robin.
    pub struct MdrrClass: "mdrr_class" {
        /// Which packets it takes; absent: those that no other class takes. Of several that would take one the first has it.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// How it is served; at most one class is of low latency.
        service: Service = (Service::Round), in Range::ANY, from "cisco2006mdrr: strict priority and alternate priority";
        /// Its turn is worth mtu + (weight - 1) 512 B.
        weight: u64 = (1), in Range::between(1.0, 1e6), from "cisco2006mdrr";
        /// Its queue, of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Modified deficit round robin: classes take turns; a class sends while its counter is above zero, and owes what its
    /// last packet was too large by. One class may be a low-latency queue: served before all others (strict), or
    /// between any two of their turns (alternate).
    pub struct Mdrr: "mdrr", checked by check {
        /// The classes, each an mdrr_class; the one without match takes the rest.
        classes: Vec<MdrrClass> = required, in Range::ANY, from "cisco2006mdrr";
        /// The largest packet of the link, the least worth of a turn.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "cisco2006mdrr: quantum = MTU + (weight - 1) 512";
    }
}

fn check(mdrr: &Mdrr, path: &str) -> Result<(), Invalid> {
    check_children(&mdrr.children(), path)?;
    let low = |i: &usize| mdrr.classes[*i].service != Service::Round;
    if let Some(second) = (0..mdrr.classes.len()).filter(low).nth(1) {
        let path = join(&join(&join(path, "classes"), second), "service");
        return Err(Invalid::new(
            &path,
            &mdrr.classes[second].service.write(),
            "makes a second low-latency queue",
        )
        .remedy("let all classes but one be served in the round"));
    }
    Ok(())
}

impl Keeps for Mdrr {
    type Discipline = MdrrQueue;

    fn discipline(&self, _: &Buffer, place: Place) -> MdrrQueue {
        let quantum = |class: &MdrrClass| self.mtu.0 + (class.weight - 1) * 512;
        let urgent = self.classes.iter().position(|class| class.service != Service::Round);
        MdrrQueue {
            classes: Classes::new(&self.children(), &place),
            round: Round::new(Turn::Overdrawn, self.classes.iter().map(quantum)),
            urgent: urgent.map(|class| Urgent {
                class,
                service: self.classes[class].service,
                quantum: quantum(&self.classes[class]) as i64,
                counter: 0,
                turn: false,
            }),
        }
    }
}

impl Schedules for Mdrr {
    fn children(&self) -> Vec<Child<'_>> {
        listed(self.classes.iter().map(|class| (&class.r#match, &class.queue)))
    }
}

/// The low-latency queue.
#[derive(Debug)]
struct Urgent {
    class: usize,
    service: Service,
    quantum: i64,
    counter: i64,
    /// Whether it has its turn.
    turn: bool,
}

/// The state of a modified deficit round robin.
#[derive(Debug)]
pub struct MdrrQueue {
    pub(crate) classes: Classes,
    round: Round,
    urgent: Option<Urgent>,
}

impl Urgent {
    /// Whether it may send now; a turn begins when another class's has ended.
    fn may_send(&mut self, others_between_turns: bool) -> bool {
        if self.service == Service::Strict {
            return true;
        }
        if self.turn && self.counter <= 0 {
            self.turn = false;
            return false;
        }
        self.turn && others_between_turns
    }

    /// It sent a packet of this size, or has nothing more to send.
    fn sent(&mut self, size: u16, waits: bool) {
        if self.service == Service::Strict {
            return;
        }
        self.counter -= i64::from(size);
        if !waits {
            self.turn = false;
            self.counter = self.counter.min(0);
        }
    }

    fn begin(&mut self) {
        self.turn = true;
        self.counter += self.quantum;
    }
}

impl MdrrQueue {
    /// A packet of the low-latency queue, if it may send and has one.
    fn urgent(&mut self, now: Time, soonest: &mut Soonest, fates: &mut Fates) -> Option<Held> {
        let urgent = self.urgent.as_mut()?;
        if !self.classes.waits(urgent.class) || !urgent.may_send(self.round.between_turns()) {
            return None;
        }
        match self.classes.dequeue(urgent.class, now, fates) {
            Next::Packet(held) => {
                urgent.sent(held.packet.size, self.classes.waits(urgent.class));
                return Some(held);
            }
            Next::Later(time) => soonest.later(time),
            Next::Empty => {}
        }
        urgent.sent(0, false);
        None
    }
}

impl QueueDiscipline for MdrrQueue {
    fn enqueue(&mut self, held: Held, at: &Arrival, fates: &mut Fates) {
        let class = self.classes.enqueue(held, at.now, fates);
        if self.urgent.as_ref().is_none_or(|urgent| urgent.class != class) {
            self.round.arrived(class, &self.classes);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let mut soonest = Soonest::default();
        if let Some(held) = self.urgent(now, &mut soonest, fates) {
            return Next::Packet(held);
        }
        match self.round.dequeue(&mut self.classes, now, fates) {
            Next::Packet(held) => {
                let turn = self.round.between_turns();
                if let Some(urgent) = self.urgent.as_mut().filter(|u| turn && self.classes.waits(u.class)) {
                    urgent.begin();
                }
                return Next::Packet(held);
            }
            Next::Later(time) => soonest.later(time),
            Next::Empty => {}
        }
        // The others have nothing: the low-latency queue need not wait for its turn.
        let alternates = |urgent: &&mut Urgent| urgent.service == Service::Alternate;
        if let Some(urgent) = self.urgent.as_mut().filter(alternates)
            && self.classes.waits(urgent.class)
        {
            while urgent.counter <= 0 {
                urgent.begin();
            }
            urgent.turn = true;
            if let Some(held) = self.urgent(now, &mut soonest, fates) {
                return Next::Packet(held);
            }
        }
        soonest.next()
    }

    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.classes.each(see);
    }
}
