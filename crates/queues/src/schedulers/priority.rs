//! Strict priority scheduling.
//!
//! Source: Kleinrock 1976, "Queueing Systems II" §3.4 (`kleinrock1976queueing`), head of the line
//! without preemption: when the link becomes free, the first class with waiting packets sends one
//! packet.

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::Invalid;
use units::{Range, Time, params};

use super::{Child, Classes, HasClasses, Schedules, Soonest, check_children, listed};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;

params! {
    /// Class of a priority scheduler.
    pub struct PriorityClass: "priority_class" {
        /// Condition that selects the packets of this class. The class without match gets all
        /// packets that no other class gets. A packet that matches several classes belongs to the
        /// first of these classes.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Queue of the class, which may be of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Strict priority: when the link becomes free, the scheduler sends one packet from the first
    /// class of the list that has waiting packets. A packet at the head of the first class waits at
    /// most until the packet in service has been sent. The last class may starve if other classes
    /// always have packets.
    pub struct Priority: "priority", checked by check {
        /// List of classes, each a priority_class. The first class has the highest priority. The
        /// class without match gets the packets that no other class gets.
        classes: Vec<PriorityClass> = required, in Range::ANY, from "kleinrock1976queueing §3.4";
    }
}

fn check(priority: &Priority, path: &str) -> Result<(), Invalid> {
    check_children(&priority.children(), path)
}

impl DisciplineParams for Priority {
    type Discipline = PriorityQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> PriorityQueue {
        PriorityQueue { classes: Classes::new(&self.children(), &context) }
    }
}

impl Schedules for Priority {
    fn children(&self) -> Vec<Child<'_>> {
        listed(self.classes.iter().map(|class| (&class.r#match, &class.queue)))
    }
}

/// State of a priority scheduler.
#[derive(Debug)]
pub struct PriorityQueue {
    pub(crate) classes: Classes,
}

impl HasClasses for PriorityQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for PriorityQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        self.classes.enqueue(held, at.now, fates);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let mut soonest = Soonest::default();
        for class in 0..self.classes.count() {
            // The scheduler also calls dequeue for a class without packets, because the call
            // updates the lists of FQ-CoDel. A link without a scheduler calls dequeue in the same
            // way.
            match self.classes.dequeue(class, now, fates) {
                Next::Packet(held) => return Next::Packet(held),
                Next::Later(time) => soonest.later(time),
                Next::Empty => {}
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
