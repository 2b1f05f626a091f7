//! Self-clocked fair queueing (SCFQ).
//!
//! Source: Golestani 1994, "A self-clocked fair queueing scheme for broadband applications"
//! (`golestani1994scfq`), §III. The tag of a packet is F = max(F of the previous packet, v) + L /
//! r, where v is the tag of the packet in service, and the smallest tag is served first. While a
//! class has packets, v does not exceed its last tag, so the tag of a packet can be computed when
//! the packet reaches the head. A packet that is dropped before it reaches the head has no tag. A
//! queue that selects or drops packets only at dequeue is chosen by its expected packet size, and
//! the tag is that of the returned packet.
//!
//! The paper on SCFQ was not available: the algorithm is from memory. To select a packet the
//! scheduler compares the tags of all classes.

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::Invalid;
use units::{Range, Time, params};

use super::{Child, Classes, HasClasses, Schedules, Soonest, check_children, listed};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::diffserv::Match;
use crate::discipline::Queue;
use crate::fifo::Buffer;

params! {
    /// Class of a fair queueing scheduler.
    pub struct FairClass: "fair_class" {
        /// Packets of this class. A class without this key takes all packets that no other class
        /// takes. A packet that matches several classes belongs to the first of them.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Weight of the class. The shares of the link are proportional to the weights of the
        /// classes with waiting packets.
        weight: f64 = (1.0), in Range::between(1e-6, 1e6), from "parekh1993gps §II";
        /// Queue of the class, of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Self-clocked fair queueing: packets are sent in the order in which an ideal link that serves
    /// all classes at once by their weights would finish them. The clock of that link is estimated
    /// from the packet in service. SCFQ is simpler than WFQ, but under SCFQ a packet may wait for
    /// one additional packet of each other class.
    pub struct Scfq: "scfq", checked by check {
        /// List of classes, each a fair_class. The class without the key match takes the packets
        /// that no other class takes.
        classes: Vec<FairClass> = required, in Range::ANY, from "golestani1994scfq §III";
    }
}

fn check(scfq: &Scfq, path: &str) -> Result<(), Invalid> {
    check_children(&scfq.children(), path)
}

/// Return the classes of a fair queueing scheduler.
pub(super) fn children(classes: &[FairClass]) -> Vec<Child<'_>> {
    listed(classes.iter().map(|class| (&class.r#match, &class.queue)))
}

/// Request packets from the classes with waiting packets, in the order of `finish`, until one
/// returns a packet.
pub(super) fn dequeue_smallest(
    classes: &mut Classes,
    refused: &mut [bool],
    finish: impl Fn(&Classes, usize) -> f64,
    now: Time,
    fates: &mut Fates,
) -> Result<(usize, QueuedPacket), Soonest> {
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

impl DisciplineParams for Scfq {
    type Discipline = ScfqQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> ScfqQueue {
        let flow = |class: &FairClass| Flow { weight: class.weight, start: 0.0 };
        ScfqQueue {
            classes: Classes::new(&self.children(), &context),
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

/// Tags of a class.
#[derive(Clone, Copy, Debug)]
struct Flow {
    weight: f64,
    /// Start tag of the packet at the head of the class.
    start: f64,
}

/// State of self-clocked fair queueing.
#[derive(Debug)]
pub struct ScfqQueue {
    pub(crate) classes: Classes,
    flows: Vec<Flow>,
    /// Tag of the packet in service.
    v: f64,
    refused: Vec<bool>,
}

impl HasClasses for ScfqQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for ScfqQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
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

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.classes.each(see);
    }
}
