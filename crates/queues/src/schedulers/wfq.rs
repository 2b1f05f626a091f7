//! Weighted fair queueing (WFQ), also called packet-by-packet generalized processor sharing (PGPS).
//!
//! Sources: Demers, Keshav & Shenker 1990, "Analysis and simulation of a fair queueing algorithm"
//! (`demers1990fq`); Parekh & Gallager 1993 (`parekh1993gps`), §III. The scheduler simulates a
//! fluid system, which serves all classes at the same time in proportion to their weights. Virtual
//! time V advances at the rate of the link divided by the sum of the weights of the busy classes in
//! the fluid system (equation 10). The finish time of a packet is F = max(F of the previous packet,
//! V at its arrival) + L / weight (equation 11). The packet with the smallest finish time is sent
//! first.
//!
//! The fluid system serves only admitted packets. If a queue drops a packet because another packet
//! arrives, the packet is removed from the fluid system. If a queue drops a packet at dequeue, the
//! packet remains in the fluid system. If a queue selects or drops packets only at dequeue, the
//! scheduler computes the finish time from the expected packet size. The unit of V is one byte of a
//! class with weight 1. To choose the next packet, the scheduler compares the finish times of all
//! classes.

use std::collections::VecDeque;

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::Invalid;
use units::{Range, Time, params};

use super::scfq::{FairClass, children, dequeue_smallest};
use super::{Child, Classes, HasClasses, Schedules, check_children};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::Buffer;

params! {
    /// Weighted fair queueing approximates an ideal link that serves all classes at the same time,
    /// in proportion to their weights. Packets are sent in the order in which the ideal link would
    /// finish them. WFQ finishes each packet at most one transmission time of a packet of maximum
    /// size later than the ideal link. WFQ simulates the ideal link at each arrival. The cost is
    /// proportional to the number of classes.
    pub struct Wfq: "wfq", checked by check {
        /// List of classes, each a fair_class. The class without match gets the packets that no
        /// other class gets.
        classes: Vec<FairClass> = required, in Range::ANY, from "parekh1993gps §II";
    }
}

fn check(wfq: &Wfq, path: &str) -> Result<(), Invalid> {
    check_children(&wfq.children(), path)
}

impl DisciplineParams for Wfq {
    type Discipline = WfqQueue;

    fn discipline(&self, _: &Buffer, context: QueueContext) -> WfqQueue {
        let flow =
            |class: &FairClass| Flow { weight: class.weight, finish: 0.0, fluid: 0.0, came: VecDeque::new() };
        WfqQueue {
            classes: Classes::new(&self.children(), &context),
            flows: self.classes.iter().map(flow).collect(),
            rate: context.rate.0 as f64 / 8.0,
            v: 0.0,
            at: Time::ZERO,
            refused: vec![false; self.classes.len()],
        }
    }
}

impl Schedules for Wfq {
    fn children(&self) -> Vec<Child<'_>> {
        children(&self.classes)
    }
}

/// State of a class.
#[derive(Clone, Debug)]
struct Flow {
    weight: f64,
    /// Finish time F of the last packet of this class that was sent.
    finish: f64,
    /// Virtual time V at which the fluid system will have served all packets of the class.
    fluid: f64,
    /// Arrivals of the packets that have not been sent yet.
    came: VecDeque<Came>,
}

/// Number of packets that arrived at the same time.
#[derive(Clone, Copy, Debug)]
struct Came {
    at: Time,
    /// Virtual time V at which the packets arrived.
    v: f64,
    packets: u32,
}

impl Flow {
    /// Return the virtual start time of the packet at the head. The finish time F is the virtual
    /// start time plus L / weight.
    fn start(&self) -> f64 {
        self.came.front().map_or(self.finish, |came| came.v.max(self.finish))
    }

    /// Record an admitted packet.
    fn arrive(&mut self, at: Time, v: f64) {
        match self.came.back_mut().filter(|last| last.at == at) {
            Some(last) => last.packets += 1,
            None => self.came.push_back(Came { at, v, packets: 1 }),
        }
    }

    /// Record that a packet that arrived at the time `entered` was sent, and compute its finish
    /// time. All packets of the class that arrived before the time `entered` have already been sent
    /// or dropped.
    fn send(&mut self, entered: Time, bytes: f64) {
        while self.came.get(1).is_some_and(|came| came.at <= entered) {
            self.came.pop_front();
        }
        self.finish = self.start() + bytes / self.weight;
        if let Some(came) = self.came.front_mut().filter(|came| came.at == entered) {
            came.packets -= 1;
            if came.packets == 0 {
                self.came.pop_front();
            }
        }
    }
}

/// State of weighted fair queueing.
#[derive(Debug)]
pub struct WfqQueue {
    pub(crate) classes: Classes,
    flows: Vec<Flow>,
    /// Rate of the link in bytes per second.
    rate: f64,
    /// Virtual time V at the time `at`.
    v: f64,
    at: Time,
    refused: Vec<bool>,
}

impl WfqQueue {
    /// Advance the virtual time to the time `now`, in steps that end when the fluid system has
    /// served all packets of a class (equation 10).
    fn advance(&mut self, now: Time) {
        let mut left = now.since(self.at).seconds();
        self.at = now;
        while left > 0.0 {
            let busy = self.flows.iter().filter(|flow| flow.fluid > self.v);
            let (sum, first) = busy
                .fold((0.0, f64::INFINITY), |(sum, first), flow| (sum + flow.weight, flow.fluid.min(first)));
            if sum == 0.0 {
                return;
            }
            let takes = (first - self.v) * sum / self.rate;
            if takes > left {
                self.v += left * self.rate / sum;
                return;
            }
            self.v = first;
            left -= takes;
        }
    }

    /// Update the fluid system after a change of the backlog of a class. The previous backlog is
    /// `before`.
    fn changed(&mut self, class: usize, before: Backlog) {
        let bytes = self.classes.backlog_of(class).bytes as f64 - before.bytes as f64;
        let flow = &mut self.flows[class];
        if bytes > 0.0 {
            flow.fluid = flow.fluid.max(self.v);
        }
        flow.fluid += bytes / flow.weight;
    }
}

impl HasClasses for WfqQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for WfqQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        self.advance(at.now);
        let class = self.classes.class_of(&held);
        let before = self.classes.backlog_of(class);
        self.classes.enqueue(held, at.now, fates);
        self.changed(class, before);
        if self.classes.backlog_of(class).bytes > before.bytes {
            self.flows[class].arrive(at.now, self.v);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let flows = &self.flows;
        let finish = |classes: &Classes, class: usize| {
            flows[class].start() + classes.next_size(class) as f64 / flows[class].weight
        };
        let next = dequeue_smallest(&mut self.classes, &mut self.refused, finish, now, fates);
        match next {
            Ok((class, held)) => {
                let flow = &mut self.flows[class];
                flow.send(held.entered, f64::from(held.packet.size));
                if !self.classes.waits(class) {
                    flow.came.clear();
                }
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
