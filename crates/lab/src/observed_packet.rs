//! What captures and series are told of a packet.

use net::{Options, Packet};
use wire::Protocol;

/// What is known of a packet where it is seen.
#[derive(Clone, Copy, Debug)]
pub struct ObservedPacket<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Its transport.
    pub protocol: Protocol,
    /// Its options.
    pub options: Options,
    /// The flow it belongs to.
    pub flow: u32,
    /// The shift of its window.
    pub shift: u8,
}
