//! The connections of a run: slots and ends, the flows that open connections, and the flows of datagrams.
//!
//! First come the slots of flows that are one connection, then those of flows of datagrams, which have no endpoints, then those of
//! connections that come and go.

use net::{Direction, End};

use traffic::DrawStreams;

use crate::app_states::AppStates;
use crate::arriving_flows::{ArrivingFlow, FlowTotals};
use crate::datagrams::Datagrams;
use crate::endpoints::Endpoints;
use crate::exchanges::Exchanges;
use crate::flow_index::index_of_flow;
use crate::packet_records::PacketRecords;
use crate::totals::ConnectionTotals;

/// What sends and receives.
pub struct Connections {
    /// The ends, two a slot.
    pub endpoints: Endpoints,
    /// The slots, and what is told of fates.
    pub records: PacketRecords,
    /// What is kept of those whose application acts after the opening.
    pub app_states: AppStates,
    /// The requests of those whose two hosts send data.
    pub exchanges: Exchanges,
    /// How many slots are those of flows that are one connection.
    pub single: usize,
    /// Slots whose connection is over.
    pub free: Vec<u32>,
    /// The flows with arrivals.
    pub arriving_flows: Vec<ArrivingFlow>,
    /// Where their connections are added up.
    pub flow_totals: Vec<FlowTotals>,
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
    pub fn first_arriving_slot(&self) -> usize {
        self.single + self.datagrams.len()
    }

    /// Whether an end may be told ahead of what reaches it: it is open. (The run may be over before something reaches a closed
    /// one.)
    #[inline(always)]
    pub fn can_receive_early(&self, end: End) -> bool {
        !self.endpoints[end].is_closed()
    }

    /// Which of the sources that of a flow is.
    pub fn arriving_flow_of(&self, flow: u32) -> usize {
        index_of_flow(flow, &self.arriving_flows, |source| source.flow)
    }

    /// What the connection in a slot counted of the data that goes one way.
    pub fn totals_of(&self, s: usize, direction: Direction) -> ConnectionTotals {
        let [client, server] = self.endpoints.of(s as u32);
        let ends = if direction == Direction::Forward { [client, server] } else { [server, client] };
        ConnectionTotals::of(&self.records.slots[s], direction, ends)
    }
}
