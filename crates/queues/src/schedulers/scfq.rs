//! Self-clocked fair queueing (SCFQ).
//!
//! Source: Golestani 1994, "A self-clocked fair queueing scheme for broadband applications"
//! (`golestani1994scfq`), §III. The finish tag of a packet is F = L / r + max(F of the previous
//! packet, v), where v is the tag of the packet in service. The packet with the smallest tag is
//! sent first. While a class has packets, v is at most the last tag of the class. Therefore the tag
//! of a packet is computed when the packet reaches the head of its queue. A packet that is dropped
//! before it reaches the head of its queue has no tag. A queue may select or drop packets only at
//! dequeue. For the choice of a class, the scheduler computes a tag from the expected packet size.
//! After the dequeue, the scheduler computes and stores the tag for the size of the packet that the
//! queue returned.
//!
//! The paper on SCFQ was not available: the algorithm is from memory. To choose the next packet,
//! the scheduler compares the tags of all classes.

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
        /// Condition that selects the packets of this class. The class without match gets all
        /// packets that no other class gets. A packet that matches several classes belongs to the
        /// first of these classes.
        r#match: Option<Match> = (None), in Range::ANY, from "rfc2475 §2.3.1";
        /// Weight of the class. The classes with waiting packets share the link in proportion to
        /// their weights.
        weight: f64 = (1.0), in Range::between(1e-6, 1e6), from "parekh1993gps §II";
        /// Queue of the class, which may be of any kind.
        queue: Queue = (Queue::default()), in Range::ANY, from "";
    }
}

params! {
    /// Self-clocked fair queueing approximates an ideal link that serves all classes at the same
    /// time, in proportion to their weights. Packets are sent in the order in which the ideal link
    /// would finish them. SCFQ estimates the progress of the ideal link from the packet in service.
    /// SCFQ is simpler than WFQ, but a packet may have to wait for one more packet of each other
    /// class than with WFQ.
    pub struct Scfq: "scfq", checked by check {
        /// List of classes, each a fair_class. The class without match gets the packets that no
        /// other class gets.
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

/// Dequeue from the classes with waiting packets, in the order of the values that `finish` returns,
/// until one class returns a packet.
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

/// Weight and tag of a class.
#[derive(Clone, Copy, Debug)]
struct Flow {
    weight: f64,
    /// Start tag of the packet at the head of the class's queue.
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
