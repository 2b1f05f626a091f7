//! Deficit round robin (DRR).
//!
//! Source: Shreedhar & Varghese 1996, "Efficient fair queuing using deficit round-robin"
//! (`shreedhar1996drr`), figure 2. A class sends packets while its deficit counter is at least the
//! size of its next packet. Unused bytes of the counter remain available for the next turn. A queue
//! that selects or drops packets only at dequeue may return a larger packet than the scheduler
//! expected. If the packet exceeds the counter, the scheduler subtracts the excess bytes from the
//! next turn of the class.

use units::param::Invalid;
use units::{Bytes, Range, params};

use super::round::{Round, RoundQueue, Turn};
use super::{Child, Classes, Schedules, check_children, listed};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;

params! {
    /// Class of a deficit round robin scheduler.
    pub struct DrrClass: "drr_class" {
        /// Condition that selects the packets of this class. The class without match gets all
        /// packets that no other class gets. A packet that matches several classes belongs to the
        /// first of these classes.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Number of bytes that each turn adds to the deficit counter of the class. Each class gets
        /// a share of the link in proportion to its quantum.
        quantum: Bytes = (Bytes(1500)), in Range::between(1.0, 1e9), from "shreedhar1996drr §III: the quantum should be at least the size of the largest packet, so that each turn sends a packet";
        /// Queue of the class, which may be of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Deficit round robin: classes with waiting packets take turns. At the beginning of its turn,
    /// the quantum of a class is added to its counter. The class sends packets while its counter is
    /// at least the size of its next packet. Bytes that remain in the counter are available in the
    /// next turn of the class. Each class therefore gets a share of the link in proportion to its
    /// quantum, for all packet sizes. The cost per packet is constant.
    pub struct Drr: "drr", checked by check {
        /// List of classes, each a drr_class. The class without match gets the packets that no
        /// other class gets.
        classes: Vec<DrrClass> = required, in Range::ANY, from "shreedhar1996drr §III";
    }
}

fn check(drr: &Drr, path: &str) -> Result<(), Invalid> {
    check_children(&drr.children(), path)
}

impl DisciplineParams for Drr {
    type Discipline = RoundQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> RoundQueue {
        let round = Round::new(Turn::Covered, self.classes.iter().map(|class| class.quantum.0));
        RoundQueue::new(Classes::new(&self.children(), &context), round)
    }
}

impl Schedules for Drr {
    fn children(&self) -> Vec<Child<'_>> {
        listed(self.classes.iter().map(|class| (&class.r#match, &class.queue)))
    }
}
