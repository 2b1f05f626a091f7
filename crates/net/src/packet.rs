//! A packet: what links and queues see of it, and the transport header it carries.
//!
//! Packets are small `Copy` records kept by value in queues and in the store of what is in flight. (An
//! arena with indices was the first plan; by value nothing can leak or be freed twice.)

use std::fmt;
use std::ops::{Add, BitOr, BitOrAssign, Sub};

use crate::accurate_ecn::AccEcn;
use crate::fast_open::{Cookie, FastOpen};
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
pub struct Flags(pub u16);

impl Flags {
    /// No more data from sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent field is significant.
    pub const URG: Flags = Flags(0x20);
    /// ECN-Echo.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN (RFC 9768), once the nonce sum (RFC 3540).
    pub const AE: Flags = Flags(0x100);

    /// Whether every bit of `f` is set.
    pub fn has(self, f: Flags) -> bool {
        self.0 & f.0 == f.0
    }

    /// Those that are not in `f`.
    pub fn without(self, f: Flags) -> Flags {
        Flags(self.0 & !f.0)
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
        const NAMES: [(Flags, &str); 9] = [
            (Flags::SYN, "SYN"),
            (Flags::FIN, "FIN"),
            (Flags::RST, "RST"),
            (Flags::PSH, "PSH"),
            (Flags::ACK, "ACK"),
            (Flags::URG, "URG"),
            (Flags::ECE, "ECE"),
            (Flags::CWR, "CWR"),
            (Flags::AE, "AE"),
        ];
        let names: Vec<&str> = NAMES.iter().filter(|n| self.has(n.0)).map(|n| n.1).collect();
        f.write_str(&names.join("|"))
    }
}

/// TCP options (RFC 9293 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, in a SYN.
    pub mss: Option<u16>,
    /// Window scale (RFC 7323 §2), in a SYN.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2), in a SYN.
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3): value and echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// Counters of Accurate ECN (RFC 9768 §3.2.3).
    pub accurate_ecn: Option<AccEcn>,
    /// SACK blocks, or the cookie of Fast Open: a SYN has none of the former, and nothing else has the latter.
    blocks: [(Seq, Seq); 4],
    count: u8,
    fast_open: u8,
}

impl Options {
    /// Bytes that a header has for them (RFC 9293 §3.1).
    pub const MOST: u16 = 40;

    /// No options.
    pub const NONE: Options = Options {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        accurate_ecn: None,
        blocks: [(Seq(0), Seq(0)); 4],
        count: 0,
        fast_open: 0,
    };

    /// Bits of `fast_open`: the option is there, under the kind of experiments; below is the length of its cookie.
    const THERE: u8 = 0x80;
    const EXPERIMENTAL: u8 = 0x40;

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
            && self.fast_open == 0
            && self.timestamps.is_none()
            && self.mss.is_none()
            && self.window_scale.is_none()
            && !self.sack_permitted
            && self.accurate_ecn.is_none()
    }
    /// SACK blocks (RFC 2018 §3), each [left edge, right edge).
    pub fn sack(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.count)]
    }
    /// Adds a SACK block, unless there are as many as fit into the 40 bytes of a header: four, three beside timestamps.
    pub fn push_sack(&mut self, block: (Seq, Seq)) {
        if self.count < 4
            && self.fast_open == 0
            && self.wire_len() + if self.count == 0 { 12 } else { 8 } <= Self::MOST
        {
            self.blocks[usize::from(self.count)] = block;
            self.count += 1;
        }
    }
    /// The option of Fast Open (RFC 7413 §4.1.1), in a SYN.
    pub fn fast_open(&self) -> Option<FastOpen> {
        if self.fast_open == 0 {
            return None;
        }
        let mut bytes = [0; 16];
        for (at, (a, b)) in bytes.chunks_exact_mut(8).zip(self.blocks) {
            at[..4].copy_from_slice(&a.0.to_be_bytes());
            at[4..].copy_from_slice(&b.0.to_be_bytes());
        }
        let len = usize::from(self.fast_open & !(Self::THERE | Self::EXPERIMENTAL));
        let cookie = Cookie::of(&bytes[..len])?;
        Some(FastOpen { cookie, experimental: self.fast_open & Self::EXPERIMENTAL != 0 })
    }
    #[cold]
    fn cookie_len(&self) -> u16 {
        self.fast_open().map_or(0, |option| option.wire_len())
    }
    /// Adds the option of Fast Open, in place of SACK blocks.
    pub fn set_fast_open(&mut self, option: FastOpen) {
        let cookie = option.cookie.bytes();
        let word = |i: usize| {
            let byte = |i: usize| cookie.get(i).copied().unwrap_or(0);
            Seq(u32::from_be_bytes([byte(i), byte(i + 1), byte(i + 2), byte(i + 3)]))
        };
        (self.blocks, self.count) = ([(Seq(0), Seq(0)); 4], 0);
        (self.blocks[0], self.blocks[1]) = ((word(0), word(4)), (word(8), word(12)));
        let experimental = if option.experimental { Self::EXPERIMENTAL } else { 0 };
        self.fast_open = Self::THERE | experimental | cookie.len() as u8;
    }
    /// Bytes they take in a header, each padded to four; SACK permitted fills the padding of the
    /// timestamps (RFC 7323, appendix A).
    pub fn wire_len(&self) -> u16 {
        let sack = if self.count > 0 { 4 + 8 * u16::from(self.count) } else { 0 };
        let times = if self.timestamps.is_some() { 12 } else { 4 * u16::from(self.sack_permitted) };
        let counters = self.accurate_ecn.map_or(0, |option| option.wire_len());
        u16::from(self.mss.is_some()) * 4
            + u16::from(self.window_scale.is_some()) * 4
            + times
            + sack
            + counters
            + if self.fast_open == 0 { 0 } else { self.cookie_len() }
    }
}

/// A TCP segment: its header and the length of its payload, whose bytes the simulator need not carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
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
    /// Its options: a slot of the network's [`OptionStore`]; 0: it has none.
    pub options: u32,
    /// The transport header.
    pub segment: Segment,
}

impl Packet {
    /// Of `options`: the packet has errors. A slot has 31 bits, and the test costs nothing where there are no options.
    const DAMAGED: u32 = 1 << 31;

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

/// The options of the packets in a network, so that those without carry none. A slot is taken when a
/// packet is sent, and given back when it arrives or is dropped; slots are used again.
#[derive(Clone, Debug, Default)]
pub struct OptionStore {
    slots: Vec<Options>,
    free: Vec<u32>,
}

impl OptionStore {
    /// Keeps `options`: their slot, 0 if there are none.
    #[inline]
    pub fn keep(&mut self, options: &Options) -> u32 {
        if options.is_empty() {
            return 0;
        }
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize - 1] = *options;
                slot
            }
            None => {
                self.slots.push(*options);
                self.slots.len() as u32
            }
        }
    }

    /// The options in a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Options {
        let slot = slot & !Packet::DAMAGED;
        if slot == 0 { Options::default() } else { self.slots[slot as usize - 1] }
    }

    /// The options in a slot, which is given back.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Options {
        let options = self.get(slot);
        self.release(slot);
        options
    }

    /// Gives a slot back.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        let slot = slot & !Packet::DAMAGED;
        if slot != 0 {
            self.free.push(slot);
        }
    }

    /// The `options` of a copy of a packet with these.
    pub fn copy(&mut self, slot: u32) -> u32 {
        let options = self.get(slot);
        self.keep(&options) | slot & Packet::DAMAGED
    }

    /// Slots in use.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
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
    fn slots_are_used_again() {
        let mut store = OptionStore::default();
        let some = Options { timestamps: Some((1, 2)), ..Options::default() };
        assert_eq!((store.keep(&Options::default()), store.keep(&some), store.keep(&some)), (0, 1, 2));
        store.release(1);
        assert_eq!((store.keep(&some), store.in_use(), store.get(1)), (1, 2, some));
        assert_eq!(store.get(0), Options::default());
    }

    #[test]
    fn damage_is_kept_beside_the_slot() {
        let mut store = OptionStore::default();
        let some = Options { mss: Some(1460), ..Options::default() };
        for options in [some, Options::default()] {
            let mut packet = Packet { options: store.keep(&options), ..Packet::default() };
            assert!(!packet.is_damaged());
            packet.damage();
            let copy = Packet { options: store.copy(packet.options), ..packet };
            assert!(packet.is_damaged() && copy.is_damaged());
            assert_eq!((store.take(packet.options), store.take(copy.options)), (options, options));
            assert_eq!(store.in_use(), 0);
        }
    }

    /// A cookie costs no packet anything.
    #[test]
    fn options_stay_small() {
        assert_eq!(size_of::<Options>(), 72);
    }

    #[test]
    fn a_cookie_stands_where_sack_blocks_do() {
        for len in [0, 4, 8, 16] {
            for experimental in [false, true] {
                let bytes: Vec<u8> = (1..=len).collect();
                let option = FastOpen { cookie: Cookie::of(&bytes).unwrap(), experimental };
                let mut options = Options { mss: Some(1460), ..Options::default() };
                options.push_sack((Seq(1), Seq(2)));
                options.set_fast_open(option);
                options.push_sack((Seq(1), Seq(2)));
                assert_eq!((options.fast_open(), options.sack()), (Some(option), &[][..]));
                assert_eq!(options.wire_len(), 4 + option.wire_len());
                let mut alone = Options::NONE;
                alone.set_fast_open(option);
                assert!(!alone.is_empty());
            }
        }
        assert_eq!(Options::NONE.fast_open(), None);
    }

    #[test]
    fn a_label_keeps_both_its_parts() {
        for way in Way::BOTH {
            let label = Label::new(way).with_dscp(46).with_dscp(10);
            assert_eq!((label.way(), label.dscp()), (way, 10));
        }
        assert_eq!(Label::default(), Label::new(Way::There));
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
