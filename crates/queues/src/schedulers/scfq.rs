//! Self-clocked fair queueing.
//!
//! Source: Golestani 1994, "A self-clocked fair queueing scheme for broadband applications" (`golestani1994scfq`), §III: a packet's
//! tag is F = max(F of the one before it, v) + L / r; v is the tag of the packet in service; the smallest tag is served
//! first. While a class has packets v does not pass its last tag, so the tag of the packet at its head can be computed
//! when it gets there; a packet that its queue drops before has none. Where a queue chooses, or drops, only when it is
//! asked, the class is chosen by the size to be expected and its tag is that of the packet that came.
//!
//! The paper was not at hand: set down from memory. A packet costs a look at every class.

use net::{Arrival, Backlog, Fates, Held, Next, QueueDiscipline};
use units::param::Invalid;
use units::{Range, Time, params};

use super::{Child, Classes, Schedules, Soonest, check_children, listed};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;
use crate::law::{Keeps, Place};

params! {
    /// A class of fair queueing.
    pub struct FairClass: "fair_class" {
        /// Which packets it takes; absent: those that no other class takes. Of several that would take one the first has it.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Its weight: shares of the link are as the weights of the classes that have packets.
        weight: f64 = (1.0), in Range::between(1e-6, 1e6), from "parekh1993gps §II";
        /// Its queue, of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Self-clocked fair queueing: packets are sent in the order in which they would be finished if the link served
    /// all classes at once by their weights, as told by the packet in service. Simpler than WFQ; a packet may
    /// wait for one packet of each other class more.
    pub struct Scfq: "scfq", checked by check {
        /// The classes, each a fair_class; the one without match takes the rest.
        classes: Vec<FairClass> = required, in Range::ANY, from "golestani1994scfq §III";
    }
}

fn check(scfq: &Scfq, path: &str) -> Result<(), Invalid> {
    check_children(&scfq.children(), path)
}

/// The children of a fair queueing scheduler.
pub(super) fn children(classes: &[FairClass]) -> Vec<Child<'_>> {
    listed(classes.iter().map(|class| (&class.r#match, &class.queue)))
}

/// The classes in the order of what `finish` says of those that have packets: asks one after the other.
pub(super) fn dequeue_smallest(
    classes: &mut Classes,
    refused: &mut [bool],
    finish: impl Fn(&Classes, usize) -> f64,
    now: Time,
    fates: &mut Fates,
) -> Result<(usize, Held), Soonest> {
    let mut soonest = Soonest::default();
    refused.fill(false);
    loop {
        let waiting = (0..classes.count()).filter(|&class| classes.waits(class) && !refused[class]);
        let first = waiting.map(|class| (class, finish(classes, class))).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((class, _)) = first else { return Err(soonest) };
        match classes.dequeue(class, now, fates) {
            Next::Packet(held) => return Ok((class, held)),
            Next::Later(time) => {
                soonest.later(time);
                refused[class] = true;
            }
            Next::Empty => {}
        }
    }
}

impl Keeps for Scfq {
    type Discipline = ScfqQueue;

    fn discipline(&self, _: &Buffer, place: Place) -> ScfqQueue {
        let flow = |class: &FairClass| Flow { weight: class.weight, start: 0.0 };
        ScfqQueue {
            classes: Classes::new(&self.children(), &place),
            flows: self.classes.iter().map(flow).collect(),
            v: 0.0,
            refused: vec![false; self.classes.len()],
        }
    }
}

impl Schedules for Scfq {
    fn children(&self) -> Vec<Child<'_>> {
        children(&self.classes)
    }
}

/// The tags of a class.
#[derive(Clone, Copy, Debug)]
struct Flow {
    weight: f64,
    /// From where the tag of the packet at its head counts.
    start: f64,
}

/// The state of self-clocked fair queueing.
#[derive(Debug)]
pub struct ScfqQueue {
    pub(crate) classes: Classes,
    flows: Vec<Flow>,
    /// The tag of the packet in service.
    v: f64,
    refused: Vec<bool>,
}

impl QueueDiscipline for ScfqQueue {
    fn enqueue(&mut self, held: Held, at: &Arrival, fates: &mut Fates) {
        let class = self.classes.class_of(&held);
        if !self.classes.waits(class) {
            let flow = &mut self.flows[class];
            flow.start = flow.start.max(self.v);
        }
        self.classes.enqueue(held, at.now, fates);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let flows = &self.flows;
        let finish = |classes: &Classes, class: usize| {
            flows[class].start + classes.next_size(class) as f64 / flows[class].weight
        };
        match dequeue_smallest(&mut self.classes, &mut self.refused, finish, now, fates) {
            Ok((class, held)) => {
                let flow = &mut self.flows[class];
                flow.start += f64::from(held.packet.size) / flow.weight;
                self.v = flow.start;
                Next::Packet(held)
            }
            Err(soonest) => soonest.next(),
        }
    }

    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.classes.each(see);
    }
}
