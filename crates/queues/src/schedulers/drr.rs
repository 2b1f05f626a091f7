//! Deficit round robin.
//!
//! Source: Shreedhar & Varghese 1996, "Efficient fair queuing using deficit round-robin" (`shreedhar1996drr`), figure 2. A
//! class sends while its counter covers the packet at its head, and what is left it keeps for its next turn. Where a
//! queue chooses, or drops, only when it is asked, the packet may turn out larger than expected: what it is too large
//! by is missing in the next turn.

use units::param::Invalid;
use units::{Bytes, Range, params};

use super::round::{Round, RoundQueue, Turn};
use super::{Child, Classes, Schedules, check_children, listed};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;
use crate::law::{Keeps, Place};

params! {
    /// A class of a deficit round robin.
    pub struct DrrClass: "drr_class" {
        /// Which packets it takes; absent: those that no other class takes. Of several that would take one the first has it.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Bytes added to its counter in each turn; shares of the link are as quanta are.
        quantum: Bytes = (Bytes(1500)), in Range::between(1.0, 1e9), from "shreedhar1996drr §III: at least the largest packet, so that each turn sends one";
        /// Its queue, of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Deficit round robin: classes that have packets take turns. A turn adds the quantum to the class's counter; it
    /// sends while the counter covers its next packet, and keeps the rest for its next turn. So shares are as the
    /// quanta, whatever the sizes of packets, at a constant cost a packet.
    pub struct Drr: "drr", checked by check {
        /// The classes, each a drr_class; the one without match takes the rest.
        classes: Vec<DrrClass> = required, in Range::ANY, from "shreedhar1996drr §III";
    }
}

fn check(drr: &Drr, path: &str) -> Result<(), Invalid> {
    check_children(&drr.children(), path)
}

impl Keeps for Drr {
    type Discipline = RoundQueue;

    fn discipline(&self, _: &Buffer, place: Place) -> RoundQueue {
        let round = Round::new(Turn::Covered, self.classes.iter().map(|class| class.quantum.0));
        RoundQueue::new(Classes::new(&self.children(), &place), round)
    }
}

impl Schedules for Drr {
    fn children(&self) -> Vec<Child<'_>> {
        listed(self.classes.iter().map(|class| (&class.r#match, &class.queue)))
    }
}
