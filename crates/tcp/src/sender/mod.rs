//! The sending half: the window, what goes out, and what an ACK changes. It alone owns cwnd and
//! ssthresh. Without SACK it works by bytes ([`CumulativeSender`]); with SACK it asks the scoreboard ([`SackSender`]); what both have is in the [`Tcb`].

mod arriving;
mod ca_state;
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
pub use newly_acked::NewlyAcked;
pub use outgoing::Outgoing;
pub use stats::SenderStats;
pub use tcb::Tcb;

/// True if every ACK and segment takes the general path of its sender. The feature `slow-paths` is for
/// tests, which hold the fast paths to the same results (`tools/slow-paths`).
pub(crate) const SLOW_PATHS: bool = cfg!(feature = "slow-paths");

/// A sender: what both kinds have, and what its kind has.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// What both kinds have.
    pub tcb: Tcb,
    kind: Kind,
}

/// How a sender finds what is lost.
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
    /// A sender whose SYN takes the sequence number `iss`. `phase`: of its host's clock.
    pub fn new(tcp: &Tcp, iss: Seq, phase: Duration) -> Self {
        Sender { tcb: Tcb::new(tcp, iss, phase), kind: Kind::Cumulative(CumulativeSender::new(iss)) }
    }

    /// An acceptable ACK of an established connection. Returns whether the window was cut.
    #[inline]
    pub fn on_ack(&mut self, arriving: &ArrivingAck, tcp: &Tcp) -> bool {
        match &mut self.kind {
            Kind::Cumulative(sender) => sender.on_ack(&mut self.tcb, arriving, tcp),
            Kind::Sack(sender) => sender.on_ack(&mut self.tcb, arriving, tcp),
        }
    }

    /// The next segment to send, if there is one that may go now.
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

    /// What a flow costs in memory, and how many cache lines a packet touches.
    #[test]
    fn a_sender_stays_small() {
        assert!(size_of::<Sender>() <= 216, "{}", size_of::<Sender>());
    }
}
