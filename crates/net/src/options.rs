//! TCP options of packets, and the store that contains them.

use crate::accurate_ecn::AccEcn;
use crate::fast_open::{Cookie, FastOpen};
use crate::packet::Packet;
use crate::segment::Seq;

/// TCP options (RFC 9293 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, in a SYN.
    pub mss: Option<u16>,
    /// Window scale (RFC 7323 §2), in a SYN.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2), in a SYN.
    pub sack_permitted: bool,
    /// Timestamps option (RFC 7323 §3): the timestamp value and the timestamp echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// Accurate ECN option (RFC 9768 §3.2.3).
    pub accurate_ecn: Option<AccEcn>,
    /// SACK blocks, or the cookie of TCP Fast Open. SACK blocks and a cookie can use the same
    /// memory because only a SYN has a cookie, and a SYN has no SACK blocks.
    blocks: [(Seq, Seq); 4],
    count: u8,
    fast_open: u8,
}

impl Options {
    /// Maximum length of all options in a TCP header, in bytes (RFC 9293 §3.1).
    pub const MOST: u16 = 40;

    /// Empty set of options.
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

    /// Create a set of TCP options with only the timestamps option.
    #[inline]
    pub fn of_timestamps(value: u32, reply: u32) -> Options {
        Options { timestamps: Some((value, reply)), ..Options::NONE }
    }

    /// Bit of `fast_open` that is set if the Fast Open option is present. The bit `EXPERIMENTAL` is
    /// set if the Fast Open option has the option kind 254, which experiments share. The six lower
    /// bits of `fast_open` are the length of the cookie.
    const THERE: u8 = 0x80;
    const EXPERIMENTAL: u8 = 0x40;

    /// Return true if the set contains no TCP option.
    pub fn is_empty(&self) -> bool {
        self.count == 0
            && self.fast_open == 0
            && self.timestamps.is_none()
            && self.mss.is_none()
            && self.window_scale.is_none()
            && !self.sack_permitted
            && self.accurate_ecn.is_none()
    }
    /// Return the SACK blocks (RFC 2018 §3), each as [left edge, right edge).
    pub fn sack(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.count)]
    }
    /// Add a SACK block, if the 40 bytes of TCP options have space for it. The 40 bytes of TCP
    /// options have space for four SACK blocks, or for three SACK blocks and timestamps.
    pub fn push_sack(&mut self, block: (Seq, Seq)) {
        self.push_sacks(&[block]);
    }
    /// Add SACK blocks in the given order, until the 40 bytes of TCP options are full.
    #[inline]
    pub fn push_sacks(&mut self, blocks: &[(Seq, Seq)]) {
        if self.fast_open != 0 {
            return;
        }
        let kind = if self.count == 0 { 4 } else { 0 };
        let room = usize::from(Self::MOST.saturating_sub(self.wire_len() + kind) / 8);
        let there = usize::from(self.count);
        let n = blocks.len().min(room).min(4 - there);
        for (to, block) in self.blocks[there..].iter_mut().zip(&blocks[..n]) {
            *to = *block;
        }
        self.count += n as u8;
    }
    /// Return the Fast Open option (RFC 7413 §4.1.1) of a SYN.
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
    /// Set the Fast Open option, which overwrites the SACK blocks.
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
    /// Return the length of the TCP options in a TCP header in bytes, where each option is padded
    /// to a multiple of four bytes. The option SACK permitted fits into the padding of the
    /// timestamps option (RFC 7323, appendix A).
    #[inline]
    pub fn wire_len(&self) -> u16 {
        let sack = if self.count > 0 { 4 + 8 * u16::from(self.count) } else { 0 };
        let times = if self.timestamps.is_some() { 12 } else { 4 * u16::from(self.sack_permitted) };
        let others = self.mss.is_some() | self.window_scale.is_some() | self.accurate_ecn.is_some();
        times + sack + if others | (self.fast_open != 0) { self.len_of_others() } else { 0 }
    }

    fn len_of_others(&self) -> u16 {
        let counters = self.accurate_ecn.map_or(0, |option| option.wire_len());
        u16::from(self.mss.is_some()) * 4
            + u16::from(self.window_scale.is_some()) * 4
            + counters
            + if self.fast_open == 0 { 0 } else { self.cookie_len() }
    }
}

/// Store of the TCP options of all packets in a network. Options are stored apart from packets, so
/// that packets without options stay small. The sender writes the options of its next packet into a
/// template. When the packet is sent, the store copies the template to a slot. When the packet
/// arrives or is dropped, its slot becomes free for the options of another packet.
#[derive(Clone, Debug)]
pub struct OptionStore {
    blank: Options,
    /// Slots, each with the TCP options of one packet. The first slot always contains the empty set
    /// of options.
    slots: Vec<Options>,
    free: Vec<u32>,
}

impl Default for OptionStore {
    fn default() -> Self {
        OptionStore { blank: Options::NONE, slots: vec![Options::NONE], free: Vec::new() }
    }
}

impl OptionStore {
    /// Return the template into which the sender writes the options of its next packet.
    #[inline]
    pub fn blank(&mut self) -> &mut Options {
        &mut self.blank
    }

    /// Copy the TCP options of the next packet from the template to a slot of the store. Return the
    /// number of the slot (0 without options), and the length of the options in a TCP header in
    /// bytes.
    #[inline]
    pub fn store(&mut self) -> (u32, u16) {
        let len = self.blank.wire_len();
        if len == 0 {
            return (0, 0);
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = self.blank;
                slot
            }
            None => {
                self.slots.push(self.blank);
                self.slots.len() as u32 - 1
            }
        };
        (slot, len)
    }

    /// Return the TCP options in the slot with the given number.
    #[inline]
    pub fn at(&self, slot: u32) -> &Options {
        &self.slots[(slot & !Packet::DAMAGED) as usize]
    }

    /// Return a copy of the TCP options in the slot with the given number.
    pub fn get(&self, slot: u32) -> Options {
        *self.at(slot)
    }

    /// Release a slot.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        let slot = slot & !Packet::DAMAGED;
        if slot != 0 {
            self.free.push(slot);
        }
    }

    /// Copy the TCP options of a packet to a new slot, and return the field `options` for the copy
    /// of the packet.
    pub fn copy(&mut self, slot: u32) -> u32 {
        *self.blank() = self.get(slot);
        self.store().0 | slot & Packet::DAMAGED
    }

    /// Return the number of slots in use.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len() - 1 // the first slot is never free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(store: &mut OptionStore, options: Options) -> u32 {
        *store.blank() = options;
        let (slot, len) = store.store();
        assert_eq!((slot == 0, len), (options.is_empty(), options.wire_len()));
        slot
    }

    #[test]
    fn slots_are_reused() {
        let mut store = OptionStore::default();
        let some = Options { timestamps: Some((1, 2)), ..Options::default() };
        assert_eq!([Options::NONE, some, some].map(|options| keep(&mut store, options)), [0, 1, 2]);
        store.release(1);
        assert_eq!((keep(&mut store, some), keep(&mut store, some), store.in_use()), (1, 3, 3));
        assert_eq!([0, 1, 2, 3].map(|slot| store.get(slot)), [Options::NONE, some, some, some]);
    }

    #[test]
    fn damage_is_stored_beside_the_slot() {
        let mut store = OptionStore::default();
        let some = Options { mss: Some(1460), ..Options::default() };
        for options in [some, Options::default()] {
            let mut packet = Packet { options: keep(&mut store, options), ..Packet::default() };
            assert!(!packet.is_damaged());
            packet.damage();
            let copy = Packet { options: store.copy(packet.options), ..packet };
            assert!(packet.is_damaged() && copy.is_damaged());
            assert_eq!([packet, copy].map(|packet| store.get(packet.options)), [options; 2]);
            [packet, copy].iter().for_each(|packet| store.release(packet.options));
            assert_eq!(store.in_use(), 0);
        }
    }

    /// The space for a cookie does not increase the size of the struct `Options`.
    #[test]
    fn options_stay_small() {
        assert_eq!(size_of::<Options>(), 72);
    }

    #[test]
    fn a_cookie_shares_its_space_with_sack_blocks() {
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
}
