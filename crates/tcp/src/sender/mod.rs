//! The sending half of a connection: it sends segments, processes ACKs, and owns cwnd and ssthresh.
//!
//! A sender without SACK counts acknowledged bytes ([`CumulativeSender`]). A sender with SACK uses
//! a scoreboard of segments ([`SackSender`]). State that senders with and without SACK need is in
//! the [`Tcb`].

mod arriving;
mod ca_state;
mod changes;
pub mod choices;
mod cumulative;
mod cwnd;
mod fast_open;
mod handshake;
mod nagle;
mod newly_acked;
mod offload;
mod outgoing;
mod output;
pub mod parameters;
mod persist;
mod push;
mod query;
mod rwnd;
mod sack;
mod send_queue;
mod socket_flags;
mod spurious;
mod stats;
mod tcb;
mod timer;
mod tracking;

use net::Seq;
use units::{Duration, Time};

use crate::config::Tcp;
use cumulative::CumulativeSender;
use sack::SackSender;
use tracking::Tracking;

pub use arriving::{ArrivingAck, Feedback};
pub use ca_state::CaState;
pub(crate) use changes::RULES;
pub use newly_acked::NewlyAcked;
pub use outgoing::Outgoing;
pub use stats::SenderStats;
pub use tcb::Tcb;

/// True if the sender processes every ACK and segment by the general code, without its fast paths.
/// The feature `slow-paths` is for tests, which check that the fast paths give the same results
/// (`tools/slow-paths`).
pub(crate) const SLOW_PATHS: bool = cfg!(feature = "slow-paths");

/// Sender of a connection. The struct contains the state that every sender has, and in addition
/// either the state of a sender with SACK or the state of a sender without SACK.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// Variables of the sender that are the same with and without SACK.
    pub tcb: Tcb,
    /// State of a sender that is specific to senders with SACK, or to senders without SACK.
    kind: Kind,
}

/// Kind of sender (with or without SACK), which determines how the sender detects losses.
#[derive(Clone, Debug)]
enum Kind {
    Cumulative(CumulativeSender),
    Sack(Box<SackSender>),
}

impl Kind {
    fn tracking(&self) -> Option<&Tracking> {
        match self {
            Kind::Cumulative(sender) => sender.tracking(),
            Kind::Sack(sender) => Some(sender.tracking()),
        }
    }

    fn tracking_mut(&mut self) -> Option<&mut Tracking> {
        match self {
            Kind::Cumulative(sender) => sender.tracking_mut(),
            Kind::Sack(sender) => Some(sender.tracking_mut()),
        }
    }
}

impl Sender {
    /// Create the sender of a connection whose SYN has the sequence number `iss`. `phase` is the
    /// part of a tick of the host's clock that has passed at time zero.
    pub fn new(tcp: &Tcp, iss: Seq, phase: Duration) -> Self {
        Sender { tcb: Tcb::new(tcp, iss, phase), kind: Kind::Cumulative(CumulativeSender::new(iss)) }
    }

    /// Process an acceptable ACK of an established connection. Return true if cwnd was reduced.
    #[inline]
    pub fn on_ack(&mut self, arriving: &ArrivingAck, tcp: &Tcp) -> bool {
        match &mut self.kind {
            Kind::Cumulative(sender) => sender.on_ack(&mut self.tcb, arriving, tcp),
            Kind::Sack(sender) => sender.on_ack(&mut self.tcb, arriving, tcp),
        }
    }

    /// Return the next segment, if the sender may send a segment now.
    #[inline]
    pub fn next_segment(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        match &mut self.kind {
            Kind::Cumulative(sender) => sender.next_segment(&mut self.tcb, now, tcp),
            Kind::Sack(sender) => sender.next_segment(&mut self.tcb, now, tcp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a sender determines the memory per connection and the cache lines per packet.
    #[test]
    fn sender_is_at_most_216_bytes() {
        assert!(size_of::<Sender>() <= 216, "{}", size_of::<Sender>());
    }
}
