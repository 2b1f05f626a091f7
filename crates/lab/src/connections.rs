//! Connections of a run, the flows that open connections during the run, and the flows of
//! datagrams.
//!
//! A connection slot stores the data of one connection at a time. The first connection slots belong
//! to the flows with a single connection. The next connection slots belong to flows of datagrams,
//! which have no endpoints. The last connection slots belong to connections that are opened during
//! the run.

use net::{Direction, End};
use tcp::Endpoint;

use traffic::DrawStreams;

use crate::app_states::AppStates;
use crate::arriving_flows::{ArrivingFlow, FlowTotals};
use crate::datagrams::Datagrams;
use crate::endpoints::Endpoints;
use crate::exchanges::{Ends, Exchanges};
use crate::flow_index::index_of_flow;
use crate::packet_records::PacketRecords;
use crate::real_ends::{self, RealEnd};
use crate::totals::ConnectionTotals;

/// Flows and connections of a run, and the endpoints that send and receive packets.
pub struct Connections {
    /// Endpoints, two per connection slot.
    pub endpoints: Endpoints,
    /// Endpoints of real hosts, the client of each connection slot first, if real hosts send the
    /// packets. In this case, the endpoints in `endpoints` do nothing.
    pub real: Option<Vec<[RealEnd; 2]>>,
    /// Connection slots, and the records of drops, marks and copies of packets at links.
    pub records: PacketRecords,
    /// States of the applications that act again after the opening of their connections.
    pub app_states: AppStates,
    /// Requests of the flows whose two hosts send data.
    pub exchanges: Exchanges,
    /// Number of flows with a single connection, and number of the connection slots of these flows.
    pub single: usize,
    /// Connection slots that are free for new connections. Each free connection slot belonged to a
    /// connection that is closed and whose counts are in the totals.
    pub free: Vec<u32>,
    /// Flows that open connections during the run.
    pub arriving_flows: Vec<ArrivingFlow>,
    /// Totals of closed connections.
    pub flow_totals: Vec<FlowTotals>,
    /// Flows of datagrams.
    pub datagrams: Vec<Datagrams>,
    /// Random numbers of each `[[flows]]` table.
    pub draws: Vec<DrawStreams>,
    /// Number of flows and connections that have begun so far.
    pub begun: u64,
    /// Number of flows and connections that have begun and have not ended.
    pub open: u64,
}

impl Connections {
    /// Return the first connection slot for connections that are opened during the run.
    pub fn first_arriving_slot(&self) -> usize {
        self.single + self.datagrams.len()
    }

    /// Return true if the endpoint `end` can receive packets early. A closed endpoint cannot
    /// receive a packet before the simulation reaches the arrival time of the packet, because the
    /// run may end earlier.
    #[inline(always)]
    pub fn can_receive_early(&self, end: End) -> bool {
        !self.endpoints[end].is_closed()
    }

    /// Return the position of a flow in the list of the flows that open connections during the run.
    pub fn arriving_flow_of(&self, flow: u32) -> usize {
        index_of_flow(flow, &self.arriving_flows, |source| source.flow)
    }

    /// Return the counts of the connection in slot `s`, for the data of the direction `direction`.
    pub fn totals_of(&self, s: usize, direction: Direction) -> ConnectionTotals {
        let slot = &self.records.slots[s];
        let (sender, receiver) = (direction.index(), direction.opposite().index());
        if let Some(real) = &self.real {
            let ends = &real[s];
            return real_ends::totals(slot, direction.index(), [&ends[sender], &ends[receiver]]);
        }
        let ends = self.endpoints.of(s as u32);
        ConnectionTotals::of(slot, direction, [ends[sender], ends[receiver]])
    }

    /// Return what the record of a request contains about the two endpoints of the connection in
    /// slot `s`.
    #[inline]
    pub fn ends_of(&self, s: u32) -> Ends {
        match &self.real {
            Some(real) => {
                let [client, server] = &real[s as usize];
                Ends { opened: client.established(), timeouts: [client.timeouts(), server.timeouts()] }
            }
            None => {
                let ends = self.endpoints.of(s);
                Ends { opened: ends[0].milestones().0, timeouts: ends.map(Endpoint::timeouts) }
            }
        }
    }
}
