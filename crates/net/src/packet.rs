//! Packets: the properties that links and queues use, and the transport header.
//!
//! Packets are small `Copy` records, which queues and the store of packets in flight contain by
//! value. A packet can therefore neither leak nor be freed twice.

use crate::direction::Direction;
use crate::segment::Segment;

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable transport.
    #[default]
    NotEct = 0b00,
    /// ECN-capable transport, codepoint 1.
    Ect1 = 0b01,
    /// ECN-capable transport, codepoint 0.
    Ect0 = 0b10,
    /// Congestion experienced: the mark.
    Ce = 0b11,
}

impl Ecn {
    /// Return true if a queue may mark the packet instead of dropping it.
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// Return true if a mark with CE would change the ECN field.
    pub fn is_markable(self) -> bool {
        matches!(self, Ecn::Ect0 | Ecn::Ect1)
    }
}

/// Direction of a packet and its DiffServ codepoint (DSCP, RFC 2474), together in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label(u8);

impl Label {
    const REVERSE: u8 = 0x80;

    /// Create the label of a packet, with the given direction and the DSCP 0.
    pub fn new(direction: Direction) -> Self {
        Label((direction as u8) << 7)
    }

    /// Return the direction.
    #[inline]
    pub fn direction(self) -> Direction {
        if self.0 >> 7 == 0 { Direction::Forward } else { Direction::Reverse }
    }

    /// Return the DSCP.
    #[inline]
    pub fn dscp(self) -> u8 {
        self.0 & 0x3f
    }

    /// Return the same label with the DSCP in the six lower bits of `dscp`.
    #[must_use]
    pub fn with_dscp(self, dscp: u8) -> Self {
        Label(self.0 & Self::REVERSE | dscp & 0x3f)
    }
}

/// Packet in the network. A packet consists of two halves of 16 bytes, and the processor copies
/// each half with one instruction. A packet should not be changed just before it is copied, because
/// the copy would wait for the pending write to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Packet {
    /// Connection of the packet. All packets of a flow of datagrams have the same connection
    /// number.
    pub connection: u32,
    /// Size of the packet on the wire in bytes.
    pub size: u16,
    /// ECN field.
    pub ecn: Ecn,
    /// Direction and DSCP.
    pub label: Label,
    /// Position on the route: an index into the network's table of hops.
    pub hop: u32,
    /// Slot of the packet's TCP options in the [`OptionStore`](crate::OptionStore) of the network,
    /// or 0 without options.
    pub options: u32,
    /// Transport header.
    pub segment: Segment,
}

impl Packet {
    /// Bit of the field `options` that is set for a packet with bit errors. The other 31 bits of
    /// the field `options` are the slot number of the TCP options. Because the bit for bit errors
    /// is in the field `options`, a packet without options needs no additional test for bit errors.
    pub(crate) const DAMAGED: u32 = 1 << 31;

    /// Damage the packet. Only the receiver of a packet detects its bit errors.
    pub fn damage(&mut self) {
        self.options |= Self::DAMAGED;
    }

    /// Return true if the packet has bit errors.
    #[inline]
    pub fn is_damaged(&self) -> bool {
        self.options & Self::DAMAGED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_stays_small() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    #[test]
    fn a_label_stores_direction_and_codepoint() {
        for direction in Direction::BOTH {
            let label = Label::new(direction).with_dscp(46).with_dscp(10);
            assert_eq!((label.direction(), label.dscp()), (direction, 10));
        }
        assert_eq!(Label::default(), Label::new(Direction::Forward));
    }
}
