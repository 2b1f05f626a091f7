//! Modified deficit round robin (MDRR) with a low-latency queue.
//!
//! Source: Cisco, "Understanding and configuring MDRR/WRED on the Cisco 12000 series Internet
//! router" (`cisco2006mdrr`) and "Configuring modular QoS congestion management"
//! (`cisco2008congestion`). A queue is served while its counter is above zero. Each packet reduces
//! the counter by its length, and each round adds the quantum, so that an excess of one turn
//! reduces the next turn. The quantum is MTU + (weight - 1) 512 B. The low-latency queue is served
//! before all other queues (strict), or between any two turns of other queues with its own counter
//! (alternate).
//!
//! The documents of Cisco were not available: the alternate mode and the quantum are from memory.

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::{Invalid, join};
use units::{Bytes, Range, Read, Time, params, words};

use super::round::{Round, Turn};
use super::{Child, Classes, HasClasses, Schedules, Soonest, check_children, listed};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;

words! {
    /// Service of a class of MDRR.
    pub enum Service {
        /// The class takes turns in the round, according to its weight.
        Round = "round",
        /// Low latency: the class is served before all other classes while it has packets. The
        /// others may starve.
        Strict = "strict",
        /// Low latency: the class has a turn after each turn of another class.
        Alternate = "alternate",
    }
}

params! {
    /// Class of a modified deficit round robin.
    pub struct MdrrClass: "mdrr_class" {
        /// Packets of this class. A class without this key takes all packets that no other class
        /// takes. A packet that matches several classes belongs to the first of them.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Service of the class. At most one class may be strict or alternate.
        service: Service = (Service::Round), in Range::ANY, from "cisco2006mdrr: strict priority and alternate priority";
        /// Weight of the class. In one turn the class may send mtu + (weight - 1) 512 B.
        weight: u64 = (1), in Range::between(1.0, 1e6), from "cisco2006mdrr";
        /// Queue of the class, of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Modified deficit round robin: classes take turns. A class sends while its counter is above
    /// zero, and the excess of its last packet is subtracted from its next turn. One class may have
    /// a low-latency queue, which is served before all others (strict) or between any two turns of
    /// other classes (alternate).
    pub struct Mdrr: "mdrr", checked by check {
        /// List of classes, each an mdrr_class. The class without the key match takes the packets
        /// that no other class takes.
        classes: Vec<MdrrClass> = required, in Range::ANY, from "cisco2006mdrr";
        /// Maximum packet size of the link, which is also the number of bytes in a turn of a class
        /// with weight 1.
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
            "makes a second low-latency class, and at most one is allowed",
        )
        .remedy("set service = \"round\" in all classes but one"));
    }
    Ok(())
}

impl DisciplineParams for Mdrr {
    type Discipline = MdrrQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> MdrrQueue {
        let quantum = |class: &MdrrClass| self.mtu.0 + (class.weight - 1) * 512;
        let urgent = self.classes.iter().position(|class| class.service != Service::Round);
        MdrrQueue {
            classes: Classes::new(&self.children(), &context),
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

/// State of the low-latency queue.
#[derive(Debug)]
struct Urgent {
    class: usize,
    service: Service,
    quantum: i64,
    counter: i64,
    /// True during its turn.
    turn: bool,
}

/// State of a modified deficit round robin.
#[derive(Debug)]
pub struct MdrrQueue {
    pub(crate) classes: Classes,
    round: Round,
    urgent: Option<Urgent>,
}

impl Urgent {
    /// Return true if the low-latency queue may send now. The turn of the low-latency queue begins
    /// when the turn of another class has ended.
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

    /// Record a sent packet of this size. `waits` is true if the queue has more packets to send.
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
    /// Return the next packet of the low-latency queue if it may send and has one.
    fn urgent(&mut self, now: Time, soonest: &mut Soonest, fates: &mut Fates) -> Option<QueuedPacket> {
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

impl HasClasses for MdrrQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for MdrrQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
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
        // Only the low-latency queue has a packet, so the low-latency queue sends without waiting
        // for its turn.
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

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.classes.each(see);
    }
}
