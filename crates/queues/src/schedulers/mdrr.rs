//! Modified deficit round robin (MDRR) with a low-latency queue.
//!
//! Source: Cisco, "Understanding and configuring MDRR/WRED on the Cisco 12000 series Internet
//! router" (`cisco2006mdrr`) and "Configuring modular QoS congestion management"
//! (`cisco2008congestion`). In its turn a queue sends packets while its counter is above zero. Each
//! packet reduces the counter by its length. At the beginning of each turn the quantum is added to
//! the counter, so a queue that sends too much in one turn may send less in the next turn. The
//! quantum of a queue is MTU + (weight - 1) 512 B. The strict low-latency queue is served before
//! all other queues. The alternate low-latency queue has its own counter and has a turn between any
//! two turns of other queues.
//!
//! The documents of Cisco were not available: the alternate mode and the formula of the quantum are
//! from memory.

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
    /// Service that a class of MDRR gets.
    pub enum Service {
        /// The class takes turns with other classes, and its weight determines the length of its
        /// turns.
        Round = "round",
        /// Low latency: the class is served before all other classes while it has packets. The
        /// other classes may starve.
        Strict = "strict",
        /// Low latency: the class has a turn after each turn of another class.
        Alternate = "alternate",
    }
}

params! {
    /// Class of a modified deficit round robin scheduler.
    pub struct MdrrClass: "mdrr_class" {
        /// Condition that selects the packets of this class. The class without match gets all
        /// packets that no other class gets. A packet that matches several classes belongs to the
        /// first of these classes.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Service that the class gets. At most one class may have the service strict or alternate.
        service: Service = (Service::Round), in Range::ANY, from "cisco2006mdrr has strict priority and alternate priority";
        /// Weight of the class. In each turn the class may send mtu + (weight - 1) 512 bytes.
        weight: u64 = (1), in Range::between(1.0, 1e6), from "cisco2006mdrr";
        /// Queue of the class, which may be of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Modified deficit round robin: classes take turns. In its turn a class sends while its
    /// counter is above zero. If the last packet of the turn is larger than the counter, the excess
    /// bytes are subtracted from the next turn of the class. One class may have low latency: it is
    /// served before all other classes (strict), or between any two turns of other classes
    /// (alternate).
    pub struct Mdrr: "mdrr", checked by check {
        /// List of classes, each an mdrr_class. The class without match gets the packets that no
        /// other class gets.
        classes: Vec<MdrrClass> = required, in Range::ANY, from "cisco2006mdrr";
        /// Maximum packet size of the link. A class with weight 1 may send mtu bytes per turn.
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
            "would make a second low-latency class, and at most one is allowed",
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
    /// True while the low-latency queue has its turn.
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
    /// Return true if the low-latency queue may send now. In alternate mode, the turn of the
    /// low-latency queue begins when the turn of another class ends.
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

    /// Record that the low-latency queue sent a packet of this size. `waits` is true if the
    /// low-latency queue has more packets to send.
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
    /// Return the next packet of the low-latency queue, or `None` if the queue has no packet or may
    /// not send now.
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
        // Only the low-latency queue has packets, so it sends without waiting for a turn of another
        // class.
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
