//! Interface of queues: AQMs decide on packets, and queue disciplines store, mark and drop packets.
//!
//! As in Linux's `red.h`, the AQM only returns a verdict. The queue discipline contains the AQM,
//! enforces the limit of the buffer, and marks and drops packets. A queue discipline reports each
//! drop and each mark to its link, and the link counts them.

use units::{Depth, Time};

use crate::explanation::Explanation;
use crate::packet::{Ecn, Packet};
use crate::why::Why;

/// Packets that wait in a queue, without the packet in service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of waiting packets.
    pub packets: u32,
    /// Size of all waiting packets on the wire, in bytes.
    pub bytes: u64,
}

/// Decision of an AQM on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Pass the packet.
    Pass,
    /// Signal congestion: the queue discipline marks the packet if it is ECN-capable and drops it
    /// otherwise (RFC 3168 §5).
    Signal(Why),
    /// Drop the packet, even if the packet is ECN-capable.
    Drop(Why),
}

/// State of a queue at the arrival of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Simulated time when the packet arrives.
    pub now: Time,
    /// Waiting packets.
    pub backlog: Backlog,
    /// Time at which the transmitter has sent, or will have sent, all packets admitted so far.
    pub free_at: Time,
}

impl Arrival {
    /// Return the time at which the transmitter became idle, or `None` while the transmitter is
    /// sending.
    #[inline]
    pub fn idle_since(&self) -> Option<Time> {
        (self.free_at <= self.now).then_some(self.free_at)
    }

    /// Return the time at which the transmission of the arriving packet would begin if the queue
    /// admitted the packet.
    #[inline]
    pub fn begins(&self) -> Time {
        self.free_at.max(self.now)
    }
}

/// Active queue management algorithm, which observes arriving packets and decides on them.
pub trait Aqm {
    /// Return the verdict on an arriving packet.
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict;
    /// Record that the queue discipline admitted the arriving packet, with or without a mark. The
    /// admitted packet leaves the queue at the time `at.begins()`.
    fn on_admitted(&mut self, _packet: &Packet, _at: &Arrival) {}
    /// Record that the queue discipline dropped the arriving packet because the buffer was full.
    fn on_overflow(&mut self, _now: Time) {}
    /// Record that the oldest admitted packet leaves the queue. The queue discipline calls this
    /// function only if the departure time was unknown at admission, because another queue decides
    /// when a packet is sent. If the departure time is unknown, `at.begins()` is [`Time::NEVER`].
    fn on_departure(&mut self, _now: Time) {}
    /// Return the average queue length that the AQM computes, in packets or bytes, or `None` if the
    /// AQM does not compute an average.
    fn average(&self) -> Option<Depth> {
        None
    }
    /// Explain the drop or the mark of the packet that arrived last: add the variables of the AQM,
    /// and set the rule unless `why` is [`Why::Full`]. The queue discipline calls this function
    /// right after [`Aqm::on_arrival`], and only while a series records explanations.
    fn explain(&self, _why: Why, _to: &mut Explanation) {}
}

/// Mark or drop of a packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// The packet was dropped.
    Dropped(Packet, Why),
    /// The packet was marked with CE, and remains in the queue.
    Marked(Packet, Why),
}

/// Explanations of drops and marks, in the same order.
#[derive(Debug, Default)]
struct Explanations(Vec<Explanation>);

/// Drops and marks that a queue discipline reported during one call.
#[derive(Debug, Default)]
pub struct Fates {
    list: Vec<Fate>,
    /// Explanation of each drop and mark in `list`. `None` unless a series records explanations.
    explanations: Option<Box<Explanations>>,
}

impl Fates {
    /// Request an explanation of each drop and mark from now on.
    pub(crate) fn explain(&mut self) {
        self.explanations.get_or_insert_default();
    }

    /// Return true if no drop or mark was reported.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Remove the drops and marks reported so far. Call the function `see` for each of them, with
    /// its explanation if explanations were requested.
    #[inline(always)]
    pub(crate) fn take(&mut self, mut see: impl FnMut(&Fate, Option<&Explanation>)) {
        if let Some(explanations) = &mut self.explanations {
            let explained = self.list.drain(..).zip(explanations.0.drain(..));
            return explained.for_each(|(fate, explanation)| see(&fate, Some(&explanation)));
        }
        self.list.drain(..).for_each(|fate| see(&fate, None));
    }

    /// Return the number of drops and marks reported so far.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Return the drops and marks that were reported after the first `count` ones.
    pub fn since(&self, count: usize) -> &[Fate] {
        &self.list[count..]
    }

    /// Drop `packet`. The function `explain` sets the rule and adds the variables of the drop. It
    /// is called only while a series records explanations.
    #[cold]
    pub fn drop(&mut self, packet: Packet, why: Why, explain: impl FnOnce(&mut Explanation)) {
        self.report(Fate::Dropped(packet, why), why, explain);
    }

    fn report(&mut self, fate: Fate, why: Why, explain: impl FnOnce(&mut Explanation)) {
        self.list.push(fate);
        if let Some(explanations) = &mut self.explanations {
            let mut explanation = Explanation::of(why);
            explain(&mut explanation);
            explanations.0.push(explanation);
        }
    }

    /// Mark `packet`. The function `explain` sets the rule and adds the variables of the mark, as
    /// in [`Fates::drop`].
    ///
    /// # Panics
    /// If the packet is not ECN-capable (RFC 3168 §5 forbids the mark).
    #[cold]
    pub fn mark(&mut self, packet: &mut Packet, why: Why, explain: impl FnOnce(&mut Explanation)) {
        assert!(
            packet.ecn.is_capable(),
            "queue: tried to mark a packet of connection {} that is not ECN-capable",
            packet.connection
        );
        self.report(Fate::Marked(*packet, why), why, explain);
        packet.ecn = Ecn::Ce;
    }
}

/// Packet in a queue that stores its packets until they are sent.
#[derive(Clone, Copy, Debug)]
pub struct QueuedPacket {
    /// Stored packet.
    pub packet: Packet,
    /// Number of the flow to which the packet belongs. All connections of a flow share this flow
    /// number.
    pub source: u32,
    /// Time of its arrival.
    pub entered: Time,
}

/// Response of a queue to the transmitter's request for the next packet.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// Next packet to send.
    Packet(QueuedPacket),
    /// Packets are waiting, but the queue must not send a packet before the given time. The
    /// transmitter repeats its request at the given time, or earlier if another packet arrives.
    Later(Time),
    /// No packet waits.
    Empty,
}

impl Next {
    /// Return the next packet, or `None` if the response of the queue is not a packet.
    pub fn packet(self) -> Option<QueuedPacket> {
        match self {
            Next::Packet(held) => Some(held),
            Next::Later(_) | Next::Empty => None,
        }
    }
}

impl From<Option<QueuedPacket>> for Next {
    fn from(held: Option<QueuedPacket>) -> Self {
        held.map_or(Next::Empty, Next::Packet)
    }
}

/// Queue discipline that stores its packets until they are sent. A queue discipline may drop or
/// mark the packet at its head, reorder its packets, or delay them.
pub trait QueueDiscipline {
    /// Store or drop an arriving packet. `at` is the state of the queue when the packet arrives.
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates);
    /// Return the next packet to transmit.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next;
    /// Return the waiting packets.
    fn backlog(&self) -> Backlog;
    /// Return the size of the packet that the next call of `dequeue` will return. If a queue
    /// selects or drops packets only at dequeue, the result is an estimate: the mean size of the
    /// waiting packets.
    fn next_size(&self) -> u64 {
        let Backlog { packets, bytes } = self.backlog();
        bytes.div_ceil(u64::from(packets.max(1)))
    }
    /// Call the function `see` for each waiting packet.
    fn each(&self, see: &mut dyn FnMut(&QueuedPacket));
    /// Return the average queue length of the queue's AQM, if the AQM computes an average.
    fn average(&self) -> Option<Depth> {
        None
    }
}

/// Response of a queue to an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The queue admitted the packet, with or without a mark, in first-in-first-out order. The link
    /// computes at once the time at which an admitted packet is sent, because no later event can
    /// change this time.
    Admitted,
    /// The queue stores its packets, so the caller passes the packet to the queue discipline
    /// ([`LinkQueue::discipline`]).
    Enqueue,
    /// The queue dropped the packet and reported the drop.
    Dropped,
}

/// Queue of a link, which either decides on each packet at its arrival or stores its packets.
pub trait LinkQueue {
    /// Decide on an arriving packet: admit it or drop it. The queue may mark an admitted packet.
    fn offer(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> Answer;
    /// Return the average queue length of the queue's AQM, if the AQM computes an average.
    fn average(&self) -> Option<Depth>;
    /// Return a number n such that the queue admits every packet, without a mark, while fewer than
    /// n packets are waiting. Return `None` if no such number is known. Two functions of a link
    /// admit packets without a call of `offer`, and therefore use the result of `passes_below`:
    /// [`Link::only_delays`](crate::Link::only_delays) and
    /// [`Link::leave_uncounted`](crate::Link::leave_uncounted).
    fn passes_below(&self) -> Option<u32>;
    /// Type of the queue discipline that stores the packets. A queue that decides on each packet
    /// when the packet arrives has no queue discipline that stores packets.
    type Discipline: QueueDiscipline + ?Sized;
    /// See [`LinkQueue::Discipline`].
    fn discipline(&self) -> Option<&Self::Discipline>;
    /// See [`LinkQueue::Discipline`].
    fn discipline_mut(&mut self) -> Option<&mut Self::Discipline>;
}
