//! Weighted round robin.
//!
//! Source: Katevenis, Sidiropoulos & Courcoubetis 1991, "Weighted round-robin cell multiplexing in a general-purpose ATM switch
//! chip" (`katevenis1991wrr`): turns in packets, as cells are all of one size. A class's packets are sent one after
//! the other in its turn.

use units::param::Invalid;
use units::{Range, params};

use super::round::{Round, RoundQueue, Turn};
use super::{Child, Classes, Schedules, check_children, listed};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;
use crate::law::{Keeps, Place};

params! {
    /// A class of a weighted round robin.
    pub struct WrrClass: "wrr_class" {
        /// Which packets it takes; absent: those that no other class takes. Of several that would take one the first has it.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Packets that it sends in each turn.
        packets: u64 = (1), in Range::between(1.0, 1e6), from "katevenis1991wrr";
        /// Its queue, of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Weighted round robin: classes that have packets take turns, in each of which a class sends as many packets as it
    /// is given. Shares in packets are as these numbers; shares in bytes are so only if packets are of one size.
    pub struct Wrr: "wrr", checked by check {
        /// The classes, each a wrr_class; the one without match takes the rest.
        classes: Vec<WrrClass> = required, in Range::ANY, from "katevenis1991wrr";
    }
}

fn check(wrr: &Wrr, path: &str) -> Result<(), Invalid> {
    check_children(&wrr.children(), path)
}

impl Keeps for Wrr {
    type Discipline = RoundQueue;

    fn discipline(&self, _: &Buffer, place: Place) -> RoundQueue {
        let round = Round::new(Turn::Packets, self.classes.iter().map(|class| class.packets));
        RoundQueue::new(Classes::new(&self.children(), &place), round)
    }
}

impl Schedules for Wrr {
    fn children(&self) -> Vec<Child<'_>> {
        listed(self.classes.iter().map(|class| (&class.r#match, &class.queue)))
    }
}
