//! Connection slots. A connection slot stores the data that the simulator needs for each packet of
//! a connection, in one cache line. The endpoints of the connection are stored elsewhere.

use net::{Direction, Label};
use units::Time;

use crate::app_states;
use crate::check::ConnectionCounters;
use crate::datagrams::Datagrams;

/// State of the connection in a connection slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The connection is not yet opened.
    Waiting,
    /// The connection is open.
    Open,
    /// Both endpoints are closed. Packets of the connection may still be in the network.
    Closed,
    /// The connection was added to the totals, and a new connection can use the slot.
    Free,
}

/// Data of a connection, without its two endpoints.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Slot {
    /// Counters of the connection's packets.
    pub counters: ConnectionCounters,
    /// First hop of the packets of the sender, and first hop of the packets of the receiver. A
    /// first hop is an index into the list of hops.
    pub first_hop: [u32; 2],
    /// Time at which the connection is opened.
    pub start: Time,
    /// Index of the connection's flow.
    pub flow: u32,
    /// Number of the connection within its flow.
    pub connection: u32,
    /// Index of the connection's application states in [`AppStates`](crate::app_states::AppStates).
    pub app_state: u32,
    /// True if both hosts send data.
    pub is_bidirectional: bool,
    /// State of the connection.
    pub stage: Stage,
    /// Label that is written into the packets of the sender, and label that is written into the
    /// packets of the receiver.
    pub labels: [Label; 2],
}

impl Slot {
    /// Return the slot of a connection that opens at `start`. All packets of the connection have
    /// the DSCP `dscp`.
    pub fn new(flow: u32, connection: u32, first_hop: [u32; 2], start: Time, dscp: u8) -> Self {
        Slot {
            counters: ConnectionCounters::default(),
            first_hop,
            start,
            flow,
            connection,
            app_state: app_states::NONE,
            is_bidirectional: false,
            stage: Stage::Waiting,
            labels: Direction::BOTH.map(|direction| Label::new(direction).with_dscp(dscp)),
        }
    }

    /// Return the slot of a flow of datagrams. The field `stage` is `Stage::Open` until the flow
    /// sends its last datagram, and `Stage::Closed` afterwards.
    pub fn of_datagrams(datagrams: &Datagrams, dscp: u8) -> Self {
        let mut slot = Slot::new(datagrams.flow, 0, [datagrams.first_hop; 2], datagrams.start, dscp);
        slot.stage = Stage::Open;
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_the_size_of_a_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }
}
