//! Description of a packet for captures and series.

use net::{Options, Packet};
use wire::Protocol;

/// Packet with the context that captures and series need.
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
    /// Window scale shift of the endpoint that sent the packet.
    pub shift: u8,
}
