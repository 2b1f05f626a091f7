//! What a queue is made of: a law that decides, a discipline that stores.
//!
//! As in Linux's `red.h`, the law (AQM) only returns a verdict; the shell around it stores, limits,
//! marks and drops. Disciplines report fates; the link counts them.

use units::Time;

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
}

impl Why {
    /// Every reason, in the order of [`Why::index`].
    pub const ALL: [Why; 3] = [Why::Full, Why::Early, Why::Threshold];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Why::Full => "full",
            Why::Early => "early",
            Why::Threshold => "threshold",
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

/// An active queue management law: it sees packets come and go and decides.
pub trait Aqm {
    /// A packet arrives and `backlog` waits before it.
    fn on_arrival(&mut self, _now: Time, _packet: &Packet, _backlog: Backlog) -> Verdict {
        Verdict::Pass
    }
    /// A packet leaves for the transmitter and `backlog` remains.
    fn on_departure(&mut self, _now: Time, _packet: &Packet, _backlog: Backlog) -> Verdict {
        Verdict::Pass
    }
    /// The shell dropped the arriving packet because the buffer was full.
    fn on_overflow(&mut self, _now: Time) {}
    /// The transmitter asked for a packet and there was none.
    fn on_idle(&mut self, _now: Time) {}
    /// The average queue the law works with, in its own unit, if it has one.
    fn average(&self) -> Option<f64> {
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
    /// Drops `packet`.
    pub fn drop(&mut self, packet: Packet, why: Why) {
        self.0.push(Fate::Dropped(packet, why));
    }

    /// Marks `packet`.
    ///
    /// # Panics
    /// If it is not ECN-capable (RFC 3168 §5 forbids the mark).
    pub fn mark(&mut self, packet: &mut Packet, why: Why) {
        assert!(packet.ecn.is_capable(), "a mark on a Not-ECT packet of flow {}", packet.flow);
        packet.ecn = Ecn::Ce;
        self.0.push(Fate::Marked(*packet, why));
    }
}

/// The circumstances of a call to a discipline.
#[derive(Debug)]
pub struct QueueCx<'a> {
    /// The simulated time.
    pub now: Time,
    /// Whether the transmitter is sending a packet.
    pub transmitting: bool,
    /// Where drops and marks are reported.
    pub fates: &'a mut Fates,
}

/// A queue: FIFO shells, schedulers and flow queues implement it.
pub trait QueueDiscipline {
    /// Takes in a packet, or drops it (or another) and says so.
    fn enqueue(&mut self, packet: Packet, cx: &mut QueueCx);
    /// Hands over the next packet to send.
    fn dequeue(&mut self, cx: &mut QueueCx) -> Option<Packet>;
    /// What waits.
    fn backlog(&self) -> Backlog;
    /// The average queue of its law, if it keeps one.
    fn average(&self) -> Option<f64> {
        None
    }
    /// Calls `see` for every waiting packet: for the ledger of each flow.
    fn waiting(&self, see: &mut dyn FnMut(&Packet));
}
