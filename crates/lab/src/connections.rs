//! The connections of a run: slots and ends, the flows that open connections, and the flows of datagrams.
//!
//! First come the slots of flows that are one connection, then those of flows of datagrams, which have no endpoints, then those of
//! connections that come and go.

use net::{Direction, End};

use traffic::DrawStreams;

use crate::acting::Acting;
use crate::datagrams::Datagrams;
use crate::endpoints::Endpoints;
use crate::exchanges::Exchanges;
use crate::fates::FateRecorder;
use crate::place::place_of;
use crate::source::{Account, Source};
use crate::sum::Sum;

/// What sends and receives.
pub struct Connections {
    /// The ends, two a slot.
    pub endpoints: Endpoints,
    /// The slots, and what is told of fates.
    pub fates: FateRecorder,
    /// What is kept of those whose application acts after the opening.
    pub acting: Acting,
    /// The requests of those whose two hosts send data.
    pub exchanges: Exchanges,
    /// How many slots are those of flows that are one connection.
    pub lasting: usize,
    /// Slots whose connection is over.
    pub free: Vec<u32>,
    /// The flows with arrivals.
    pub sources: Vec<Source>,
    /// Where their connections are added up.
    pub accounts: Vec<Account>,
    /// The flows of datagrams.
    pub datagrams: Vec<Datagrams>,
    /// The random numbers of each table of flows.
    pub draws: Vec<DrawStreams>,
    /// Connections and sources so far.
    pub begun: u64,
    /// Those of them that are not over.
    pub open: u64,
}

impl Connections {
    /// The first slot of connections that come and go.
    pub fn first_passing(&self) -> usize {
        self.lasting + self.datagrams.len()
    }

    /// Whether an end may be told ahead of what reaches it: it is open. (The run may be over before something reaches a closed
    /// one.)
    #[inline(always)]
    pub fn hears(&self, end: End) -> bool {
        !self.endpoints[end].is_closed()
    }

    /// Which of the sources that of a flow is.
    pub fn source_of(&self, flow: u32) -> usize {
        place_of(flow, &self.sources, |source| source.flow)
    }

    /// What the connection in a slot counted of the data that goes one way.
    pub fn sum(&self, s: usize, way: Direction) -> Sum {
        let [client, server] = self.endpoints.of(s as u32);
        let ends = if way == Direction::Forward { [client, server] } else { [server, client] };
        Sum::of(&self.fates.slots[s], way, ends)
    }
}
