//! What a queue is made of: a law that decides, a discipline that admits.
//!
//! As in Linux's `red.h`, the law (AQM) only returns a verdict; the shell around it limits, marks and
//! drops. Disciplines report fates; the link stores and counts.

use units::{Depth, Time};

use crate::packet::{Ecn, Packet};

/// How much waits in a queue, the packet in service not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u32,
    /// Their size on the wire.
    pub bytes: u64,
}

/// Why a packet was marked or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The buffer was full.
    Full,
    /// The law chose it at random, or by its state, to signal congestion early.
    Early,
    /// The law's upper threshold was exceeded.
    Threshold,
    /// The wire lost it.
    Loss,
    /// It had errors.
    Corruption,
    /// The wire was down.
    Outage,
    /// It was out of profile, before it came to the queue.
    Policed,
}

impl Why {
    /// Every reason, in the order of [`Why::index`].
    pub const ALL: [Why; 7] =
        [Why::Full, Why::Early, Why::Threshold, Why::Loss, Why::Corruption, Why::Outage, Why::Policed];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Why::Full => "full",
            Why::Early => "early",
            Why::Threshold => "threshold",
            Why::Loss => "loss",
            Why::Corruption => "corruption",
            Why::Outage => "outage",
            Why::Policed => "policed",
        }
    }

    /// Its place in [`Why::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What a law says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it pass.
    Pass,
    /// Signal congestion by it: the shell marks an ECN-capable packet and drops another (RFC 3168 §5).
    Signal(Why),
    /// Drop it, ECN-capable or not.
    Drop(Why),
}

/// The queue as an arriving packet finds it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The simulated time.
    pub now: Time,
    /// What waits.
    pub backlog: Backlog,
    /// When the transmitter has sent everything admitted so far, or had.
    pub free_at: Time,
}

impl Arrival {
    /// When the transmitter fell idle; `None`: it is sending.
    #[inline]
    pub fn idle_since(&self) -> Option<Time> {
        (self.free_at <= self.now).then_some(self.free_at)
    }

    /// When the packet's transmission begins if it is admitted: its delay in the queue is known.
    #[inline]
    pub fn begins(&self) -> Time {
        self.free_at.max(self.now)
    }
}

/// An active queue management law: it sees packets come and decides.
pub trait Aqm {
    /// A packet arrives.
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict;
    /// The arriving packet was let in, marked or not; it leaves the queue at `at.begins()`.
    fn on_admitted(&mut self, _packet: &Packet, _at: &Arrival) {}
    /// The shell dropped the arriving packet because the buffer was full.
    fn on_overflow(&mut self, _now: Time) {}
    /// The packet that was let in first and has not left leaves the queue. Told only where that was not known
    /// when it was let in, `at.begins()` being [`Time::NEVER`] then: where another queue says who is next.
    fn on_departure(&mut self, _now: Time) {}
    /// Average queue that the law works with, in packets or bytes as the law counts; None if it
    /// keeps none.
    fn average(&self) -> Option<Depth> {
        None
    }
}

/// What became of a packet in a queue, other than passing through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// Dropped; it no longer exists.
    Dropped(Packet, Why),
    /// Marked with CE; it goes on.
    Marked(Packet, Why),
}

/// The fates reported during one call.
#[derive(Debug, Default)]
pub struct Fates(pub(crate) Vec<Fate>);

impl Fates {
    /// How many there are so far.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Those that came after so many.
    pub fn since(&self, count: usize) -> &[Fate] {
        &self.0[count..]
    }

    /// Drops `packet`.
    #[cold]
    pub fn drop(&mut self, packet: Packet, why: Why) {
        self.0.push(Fate::Dropped(packet, why));
    }

    /// Marks `packet`.
    ///
    /// # Panics
    /// If it is not ECN-capable (RFC 3168 §5 forbids the mark).
    #[cold]
    pub fn mark(&mut self, packet: &mut Packet, why: Why) {
        assert!(packet.ecn.is_capable(), "a mark on a Not-ECT packet of connection {}", packet.connection);
        self.0.push(Fate::Marked(*packet, why));
        packet.ecn = Ecn::Ce;
    }
}

/// A packet that a queue keeps until it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The packet.
    pub packet: Packet,
    /// The number of its flow in the scenario, whatever connection of that flow it belongs to.
    pub source: u32,
    /// When it arrived.
    pub entered: Time,
}

/// What a queue answers the transmitter that asks for the next packet.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// This one.
    Packet(Held),
    /// None yet, though some wait: ask again then, or when another has come.
    Later(Time),
    /// None waits.
    Empty,
}

impl Next {
    /// The packet, if there is one.
    pub fn packet(self) -> Option<Held> {
        match self {
            Next::Packet(held) => Some(held),
            Next::Later(_) | Next::Empty => None,
        }
    }
}

impl From<Option<Held>> for Next {
    fn from(held: Option<Held>) -> Self {
        held.map_or(Next::Empty, Next::Packet)
    }
}

/// A queue that keeps its packets and may act on them until they are sent: it drops or marks at the
/// head, or sends in another order, or later.
pub trait QueueDiscipline {
    /// A packet arrives, when `at` says.
    fn enqueue(&mut self, held: Held, at: &Arrival, fates: &mut Fates);
    /// The transmitter asks for the next packet.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next;
    /// What waits.
    fn backlog(&self) -> Backlog;
    /// Size of the packet that it would give next. Of a queue that chooses, or drops, only when it is asked this
    /// is what is to be expected: the mean of what waits.
    fn next_size(&self) -> u64 {
        let Backlog { packets, bytes } = self.backlog();
        bytes.div_ceil(u64::from(packets.max(1)))
    }
    /// Shows every packet that waits.
    fn each(&self, see: &mut dyn FnMut(&Held));
    /// The average queue of its law, if it keeps one.
    fn average(&self) -> Option<Depth> {
        None
    }
}

/// What a queue answers when a packet is offered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The packet is admitted, marked or not, and served first in, first out: since nothing happens to it later,
    /// the link knows at once when it will be sent.
    Admitted,
    /// The queue keeps its packets, and takes this one next ([`LinkQueue::keeper`]).
    Kept,
    /// The queue dropped it, and said so.
    Dropped,
}

/// The queue of a link, which decides on arrival or keeps its packets.
pub trait LinkQueue {
    /// A packet arrives, which may be marked.
    fn offer(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> Answer;
    /// The average queue of its law, if it keeps one.
    fn average(&self) -> Option<Depth>;
    /// Most waiting packets it ever admits one more to, if it never drops or marks below that: what a link needs to know that does not ask
    /// it ([`Link::only_delays`](crate::Link::only_delays), [`Link::leave_uncounted`](crate::Link::leave_uncounted)).
    fn passes_below(&self) -> Option<u32>;
    /// What keeps the packets, if this queue does not decide on arrival.
    type Keeper: QueueDiscipline;
    /// See [`LinkQueue::Keeper`].
    fn keeper(&self) -> Option<&Self::Keeper>;
    /// See [`LinkQueue::Keeper`].
    fn keeper_mut(&mut self) -> Option<&mut Self::Keeper>;
}
