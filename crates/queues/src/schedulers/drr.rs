//! Deficit round robin (DRR).
//!
//! Source: Shreedhar & Varghese 1996, "Efficient fair queuing using deficit round-robin"
//! (`shreedhar1996drr`), figure 2. A class sends packets while its deficit counter is at least the
//! size of its next packet, and the remaining bytes of the counter are available in the next turn.
//! A queue that selects or drops packets only at dequeue may return a larger packet than expected.
//! The bytes beyond the counter are then subtracted from the next turn.

use units::param::Invalid;
use units::{Bytes, Range, params};

use super::round::{Round, RoundQueue, Turn};
use super::{Child, Classes, Schedules, check_children, listed};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;

params! {
    /// Class of a deficit round robin.
    pub struct DrrClass: "drr_class" {
        /// Packets of this class. A class without this key takes all packets that no other class
        /// takes. A packet that matches several classes belongs to the first of them.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Number of bytes that each turn adds to the deficit counter of the class. The shares of
        /// the link are proportional to the quanta.
        quantum: Bytes = (Bytes(1500)), in Range::between(1.0, 1e9), from "shreedhar1996drr §III: at least the largest packet, so that each turn sends one";
        /// Queue of the class, of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Deficit round robin: classes with waiting packets take turns. A turn adds the quantum to the
    /// counter of the class. The class sends packets while its counter is at least the size of its
    /// next packet, and the remaining bytes of the counter are available in its next turn. The
    /// shares of the link are therefore proportional to the quanta for all packet sizes, at a
    /// constant cost per packet.
    pub struct Drr: "drr", checked by check {
        /// List of classes, each a drr_class. The class without the key match takes the packets
        /// that no other class takes.
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
