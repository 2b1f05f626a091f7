//! Weighted round robin (WRR).
//!
//! Source: Katevenis, Sidiropoulos & Courcoubetis 1991, "Weighted round-robin cell multiplexing in
//! a general-purpose ATM switch chip" (`katevenis1991wrr`). The length of a turn is a number of
//! packets, because ATM cells all have the same size. In its turn a class sends its packets back to
//! back.

use units::param::Invalid;
use units::{Range, params};

use super::round::{Round, RoundQueue, Turn};
use super::{Child, Classes, Schedules, check_children, listed};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;

params! {
    /// Class of a weighted round robin scheduler.
    pub struct WrrClass: "wrr_class" {
        /// Condition that selects the packets of this class. The class without match gets all
        /// packets that no other class gets. A packet that matches several classes belongs to the
        /// first of these classes.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Number of packets that the class may send per turn.
        packets: u64 = (1), in Range::between(1.0, 1e6), from "katevenis1991wrr";
        /// Queue of the class, which may be of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Weighted round robin: classes with waiting packets take turns. In each turn a class sends at
    /// most as many packets as its parameter `packets` allows. The classes share the link in
    /// proportion to their values of `packets`. The shares are in packets, and also in bytes if all
    /// packets have the same size.
    pub struct Wrr: "wrr", checked by check {
        /// List of classes, each a wrr_class. The class without match gets the packets that no
        /// other class gets.
        classes: Vec<WrrClass> = required, in Range::ANY, from "katevenis1991wrr";
    }
}

fn check(wrr: &Wrr, path: &str) -> Result<(), Invalid> {
    check_children(&wrr.children(), path)
}

impl DisciplineParams for Wrr {
    type Discipline = RoundQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> RoundQueue {
        let round = Round::new(Turn::Packets, self.classes.iter().map(|class| class.packets));
        RoundQueue::new(Classes::new(&self.children(), &context), round)
    }
}

impl Schedules for Wrr {
    fn children(&self) -> Vec<Child<'_>> {
        listed(self.classes.iter().map(|class| (&class.r#match, &class.queue)))
    }
}
