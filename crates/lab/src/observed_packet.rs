//! Packet with the data that captures and series need about the packet.

use net::{Options, Packet};
use wire::Protocol;

/// Packet with the data that captures and series need about the packet.
#[derive(Clone, Copy, Debug)]
pub struct ObservedPacket<'a> {
    /// Packet.
    pub packet: &'a Packet,
    /// Transport protocol.
    pub protocol: Protocol,
    /// TCP options.
    pub options: Options,
    /// Index of the flow.
    pub flow: u32,
    /// Shift of the window scale option of the endpoint that sent the packet (RFC 7323).
    pub shift: u8,
}
