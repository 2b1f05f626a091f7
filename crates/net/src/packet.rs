//! A packet: what links and queues see of it, and the transport header it carries.
//!
//! Packets are small `Copy` records kept by value in queues and in the store of what is in flight. (An
//! arena with indices was the first plan; by value nothing can leak or be freed twice.)

use crate::segment::Segment;
use crate::way::Way;

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
    /// Whether a queue may mark instead of drop.
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// Whether a mark would change it.
    pub fn is_markable(self) -> bool {
        matches!(self, Ecn::Ect0 | Ecn::Ect1)
    }
}

/// The way of a packet, and its DiffServ codepoint (RFC 2474), in a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label(u8);

impl Label {
    const WAY: u8 = 0x80;

    /// The label of a packet on this way, with DSCP 0.
    pub fn new(way: Way) -> Self {
        Label((way as u8) << 7)
    }

    /// The way.
    #[inline]
    pub fn way(self) -> Way {
        if self.0 >> 7 == 0 { Way::There } else { Way::Back }
    }

    /// The DSCP.
    #[inline]
    pub fn dscp(self) -> u8 {
        self.0 & 0x3f
    }

    /// The same label with this DSCP, of which the six lower bits count.
    #[must_use]
    pub fn with_dscp(self, dscp: u8) -> Self {
        Label(self.0 & Self::WAY | dscp & 0x3f)
    }
}

/// A packet on its way: two halves of 16 bytes, each copied in one move. (A copy in moves that are wider than the
/// stores before it waits for these: so a packet is not changed just before it is copied, where that can be helped.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Packet {
    /// The connection it belongs to; a flow of datagrams counts as one.
    pub connection: u32,
    /// Bytes counted on the wire.
    pub size: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// Its way, and its DSCP.
    pub label: Label,
    /// Where it is on its route: an index into the network's table of hops.
    pub hop: u32,
    /// Its options: a slot of the network's [`OptionStore`](crate::OptionStore); 0: it has none.
    pub options: u32,
    /// The transport header.
    pub segment: Segment,
}

impl Packet {
    /// Of `options`: the packet has errors. A slot has 31 bits, and the test costs nothing where there are no options.
    pub(crate) const DAMAGED: u32 = 1 << 31;

    /// Gives it errors that only its receiver notices.
    pub fn damage(&mut self) {
        self.options |= Self::DAMAGED;
    }

    /// Whether it has errors.
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
    fn a_label_keeps_both_its_parts() {
        for way in Way::BOTH {
            let label = Label::new(way).with_dscp(46).with_dscp(10);
            assert_eq!((label.way(), label.dscp()), (way, 10));
        }
        assert_eq!(Label::default(), Label::new(Way::There));
    }
}
