//! Where a connection lives: what its packets touch beside its endpoints, in one cache line.

use net::{Direction, Label};
use units::Time;

use crate::app_states;
use crate::check::ConnectionCounters;
use crate::datagrams::Datagrams;

/// What has become of the connection in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is to be opened.
    Waiting,
    /// It was opened.
    Open,
    /// It is closed at both ends; packets of it may still be under way.
    Closed,
    /// It is over and counted: the slot is free for another.
    Free,
}

/// A place for a connection, with its two endpoints.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Slot {
    /// The account of its packets.
    pub counters: ConnectionCounters,
    /// Where the route of what its sender and its receiver send begins in the table of hops.
    pub first_hop: [u32; 2],
    /// When it was or will be opened.
    pub start: Time,
    /// The flow it belongs to.
    pub flow: u32,
    /// Its number among the connections of its flow.
    pub connection: u32,
    /// Its place in [`AppStates`](crate::app_states::AppStates).
    pub app_state: u32,
    /// Whether both its ends send data.
    pub is_bidirectional: bool,
    /// What has become of it.
    pub stage: Stage,
    /// The label of what its sender and its receiver send.
    pub labels: [Label; 2],
}

impl Slot {
    /// Number `connection` of a flow, to be opened at `start`; both its ends send with this DSCP.
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

    /// That of a flow of datagrams: open until its last packet is sent, closed until it has arrived.
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
    fn a_slot_is_a_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }
}
