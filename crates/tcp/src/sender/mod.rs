//! The sending half: the window, what goes out, and what an ACK changes. It alone owns cwnd and
//! ssthresh. Without SACK it works by bytes ([`ByBytes`]); with SACK it asks the scoreboard ([`ByBoard`]); what both have is in the [`Tcb`].

mod arriving;
mod by_board;
mod by_bytes;
mod ca_state;
mod cwnd;
mod fast_open;
mod gathering;
mod handshake;
mod hold;
mod newly;
mod outgoing;
mod output;
pub mod parameters;
mod persist;
mod push;
mod query;
mod rwnd;
mod send_queue;
mod spurious;
mod stats;
mod tcb;
mod timer;
mod tracking;
mod wishes;
pub mod words;

use net::Seq;
use units::{Duration, Time};

use crate::config::Tcp;
use by_board::ByBoard;
use by_bytes::ByBytes;
use tracking::Tracking;

pub use arriving::{Arriving, Feedback};
pub use ca_state::CaState;
pub use newly::Newly;
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
    ByBytes(ByBytes),
    ByBoard(Box<ByBoard>),
}

impl Kind {
    fn tracking(&self) -> Option<&Tracking> {
        match self {
            Kind::ByBytes(by_bytes) => by_bytes.tracking(),
            Kind::ByBoard(by_board) => Some(by_board.tracking()),
        }
    }

    fn tracking_mut(&mut self) -> Option<&mut Tracking> {
        match self {
            Kind::ByBytes(by_bytes) => by_bytes.tracking_mut(),
            Kind::ByBoard(by_board) => Some(by_board.tracking_mut()),
        }
    }
}

impl Sender {
    /// A sender whose SYN takes the sequence number `iss`. `phase`: of its host's clock.
    pub fn new(tcp: &Tcp, iss: Seq, phase: Duration) -> Self {
        Sender { tcb: Tcb::new(tcp, iss, phase), kind: Kind::ByBytes(ByBytes::new(iss)) }
    }

    /// An acceptable ACK of an established connection. Returns whether the window was cut.
    #[inline]
    pub fn on_ack(&mut self, arriving: &Arriving, tcp: &Tcp) -> bool {
        match &mut self.kind {
            Kind::ByBytes(by_bytes) => by_bytes.on_ack(&mut self.tcb, arriving, tcp),
            Kind::ByBoard(by_board) => by_board.on_ack(&mut self.tcb, arriving, tcp),
        }
    }

    /// The next segment to send, if there is one that may go now.
    #[inline]
    pub fn next_segment(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        match &mut self.kind {
            Kind::ByBytes(by_bytes) => by_bytes.next_segment(&mut self.tcb, now, tcp),
            Kind::ByBoard(by_board) => by_board.next_segment(&mut self.tcb, now, tcp),
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
