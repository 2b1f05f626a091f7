//! Queue of a link. The queue decides on each packet at the packet's arrival, or stores its packets
//! until they are sent.

mod kind;
mod queue;

use std::any::Any;
use std::fmt;

use net::{Answer, Aqm, Arrival, Backlog, Fates, LinkQueue, Next, Packet, QueueDiscipline, QueuedPacket};
use units::{Depth, Time};

use crate::drop_tail::NoAqm;
use crate::fifo::Fifo;
use crate::schedulers::Classes;

pub use kind::Kind;
pub use queue::Queue;

/// Queue of a link.
#[derive(Debug)]
pub enum Discipline {
    /// Drop Tail. This variant is not boxed, because most links have a Drop Tail queue, and its
    /// memory should be small.
    DropTail(Fifo<NoAqm>),
    /// First-in-first-out queue with an AQM that decides on each packet at the packet's arrival.
    Aqm(Box<dyn ArrivalQueue>),
    /// Queue discipline that stores its packets until they are sent.
    Storing(Box<dyn StoringQueue>),
}

/// First-in-first-out queue that decides on each packet at the packet's arrival.
pub trait ArrivalQueue: fmt::Debug + Send {
    /// Admit a packet, admit and mark the packet, or drop the packet. Return true if the queue
    /// admitted the packet.
    fn admit(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> bool;
    /// Return the average queue length, or `None` if the AQM does not compute one.
    fn average(&self) -> Option<Depth>;
}

impl<A: Aqm + fmt::Debug + Send> ArrivalQueue for Fifo<A> {
    fn admit(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> bool {
        Fifo::admit(self, packet, at, fates)
    }

    fn average(&self) -> Option<Depth> {
        self.aqm().average()
    }
}

/// Queue discipline that stores its packets until they are sent.
pub trait StoringQueue: QueueDiscipline + Any + fmt::Debug + Send {
    /// Return the classes of the queue if it is a scheduler or is composed of schedulers.
    fn classes(&self) -> Option<&Classes>;
}

/// Queue discipline with a function that returns the classes of the discipline.
#[derive(Debug)]
pub(crate) struct Storing<D> {
    pub discipline: D,
    pub classes: fn(&D) -> Option<&Classes>,
}

impl<D: QueueDiscipline + fmt::Debug + Send + 'static> StoringQueue for Storing<D> {
    fn classes(&self) -> Option<&Classes> {
        (self.classes)(&self.discipline)
    }
}

impl<D: QueueDiscipline> QueueDiscipline for Storing<D> {
    fn enqueue(&mut self, packet: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        self.discipline.enqueue(packet, at, fates);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.discipline.dequeue(now, fates)
    }

    fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }

    fn next_size(&self) -> u64 {
        self.discipline.next_size()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.discipline.each(see);
    }

    fn average(&self) -> Option<Depth> {
        match (self.classes)(&self.discipline) {
            Some(classes) => classes.average(),
            None => self.discipline.average(),
        }
    }
}

impl Discipline {
    /// Return the queue discipline, if it stores its packets and has the type `T`.
    pub fn storing_mut<T: StoringQueue>(&mut self) -> Option<&mut T> {
        match self {
            Discipline::Storing(queue) => (queue.as_mut() as &mut dyn Any).downcast_mut(),
            _ => None,
        }
    }

    /// Return the classes of the queue if it is a scheduler or consists of schedulers.
    pub fn classes(&self) -> Option<&Classes> {
        match self {
            Discipline::Storing(queue) => queue.classes(),
            _ => None,
        }
    }
}

impl LinkQueue for Discipline {
    #[inline]
    fn offer(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> Answer {
        let admitted = match self {
            Discipline::DropTail(fifo) => fifo.admit(packet, at, fates),
            // Queues with an AQM get a reference to a copy of the arrival. The original arrival
            // needs no memory address, so the compiler can store the arrival of a Drop Tail queue
            // in registers.
            Discipline::Aqm(queue) => queue.admit(packet, &{ *at }, fates),
            Discipline::Storing(_) => return Answer::Enqueue,
        };
        if admitted { Answer::Admitted } else { Answer::Dropped }
    }

    fn average(&self) -> Option<Depth> {
        match self {
            Discipline::DropTail(fifo) => fifo.aqm().average(),
            Discipline::Aqm(queue) => queue.average(),
            Discipline::Storing(queue) => queue.average(),
        }
    }

    fn passes_below(&self) -> Option<u32> {
        match self {
            Discipline::DropTail(fifo) => fifo.limit().map(|n| n.saturating_sub(1)),
            _ => None,
        }
    }

    type Discipline = dyn StoringQueue;

    #[inline]
    fn discipline(&self) -> Option<&Self::Discipline> {
        match self {
            Discipline::Storing(queue) => Some(&**queue),
            _ => None,
        }
    }

    fn discipline_mut(&mut self) -> Option<&mut Self::Discipline> {
        match self {
            Discipline::Storing(queue) => Some(&mut **queue),
            _ => None,
        }
    }
}
