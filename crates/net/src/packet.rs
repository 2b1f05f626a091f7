//! A packet: what links and queues see of it, and the transport header it carries.
//!
//! Packets are small `Copy` records kept by value in the rings of queues and links. (An arena with
//! indices was the first plan; by value nothing can leak or be freed twice, and a ring is read in
//! order.)

use std::fmt;
use std::ops::{Add, BitOr, BitOrAssign, Sub};

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

/// A TCP sequence number: 32 bits that wrap (RFC 9293 §3.4).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// How far `self` is ahead of `other`, negative when behind: valid within 2^31 of each other.
    pub fn minus(self, other: Seq) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
    /// `self < other` in sequence space.
    pub fn before(self, other: Seq) -> bool {
        self.minus(other) < 0
    }
    /// `self > other` in sequence space.
    pub fn after(self, other: Seq) -> bool {
        self.minus(other) > 0
    }
    /// The later of the two.
    pub fn max(self, other: Seq) -> Seq {
        if self.before(other) { other } else { self }
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    fn add(self, n: u32) -> Seq {
        Seq(self.0.wrapping_add(n))
    }
}

impl Sub for Seq {
    type Output = u32;
    /// Bytes from `other` to `self`, which must not be before it.
    fn sub(self, other: Seq) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// TCP control bits (RFC 9293 §3.1, RFC 3168 §6.1).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// The acknowledgement field is significant.
    pub const ACK: Flags = Flags(0x10);
    /// ECN-Echo.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);

    /// Whether every bit of `f` is set.
    pub fn has(self, f: Flags) -> bool {
        self.0 & f.0 == f.0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, o: Flags) -> Flags {
        Flags(self.0 | o.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, o: Flags) {
        self.0 |= o.0;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const NAMES: [(Flags, &str); 6] = [
            (Flags::SYN, "SYN"),
            (Flags::FIN, "FIN"),
            (Flags::RST, "RST"),
            (Flags::ACK, "ACK"),
            (Flags::ECE, "ECE"),
            (Flags::CWR, "CWR"),
        ];
        let names: Vec<&str> = NAMES.iter().filter(|n| self.has(n.0)).map(|n| n.1).collect();
        f.write_str(&names.join("|"))
    }
}

/// A TCP segment: its header and the length of its payload, whose bytes the simulator need not carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte (or of SYN).
    pub seq: Seq,
    /// Next byte expected from the other side, significant with ACK.
    pub ack: Seq,
    /// Advertised window in bytes, after scaling.
    pub window: u32,
    /// Payload in bytes.
    pub len: u16,
    /// Control bits.
    pub flags: Flags,
}

impl Segment {
    /// Length in sequence space: payload, SYN and FIN (RFC 9293, SEG.LEN).
    pub fn seq_len(&self) -> u32 {
        u32::from(self.len) + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
    /// The sequence number after the segment.
    pub fn end(&self) -> Seq {
        self.seq + self.seq_len()
    }
}

/// Which end of its flow sent a packet, and the packet's DiffServ codepoint (RFC 2474), in a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label(u8);

impl Label {
    const WAY: u8 = 0x80;

    /// The label of a packet from the flow's sender (`way` 0) or its receiver (1), with DSCP 0.
    pub fn new(way: usize) -> Self {
        Label((way as u8) << 7)
    }

    /// 0: from the flow's sender; 1: from its receiver.
    #[inline]
    pub fn way(self) -> usize {
        usize::from(self.0 >> 7)
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

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The flow it belongs to.
    pub flow: u32,
    /// Bytes counted on the wire.
    pub size: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// Which end sent it, and its DSCP.
    pub label: Label,
    /// The transport header.
    pub segment: Segment,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_stays_small() {
        assert!(size_of::<Packet>() <= 24, "{}", size_of::<Packet>());
    }

    #[test]
    fn a_label_keeps_both_its_parts() {
        for way in [0, 1] {
            let label = Label::new(way).with_dscp(46).with_dscp(10);
            assert_eq!((label.way(), label.dscp()), (way, 10));
        }
        assert_eq!(Label::default(), Label::new(0));
    }

    #[test]
    fn sequence_numbers_wrap() {
        let a = Seq(u32::MAX - 1);
        let b = a + 10;
        assert!(b.after(a) && a.before(b));
        assert_eq!((b - a, b.minus(a), a.minus(b)), (10, 10, -10));
        assert_eq!(a.max(b), b);
    }

    #[test]
    fn syn_and_fin_take_a_sequence_number() {
        let s = Segment { len: 5, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!((s.seq_len(), s.end()), (6, Seq(6)));
    }
}
