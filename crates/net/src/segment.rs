//! TCP segments: sequence numbers, control bits, header.

use std::fmt;
use std::ops::{Add, BitOr, BitOrAssign, Sub};

/// TCP sequence number: 32 bits that wrap (RFC 9293 §3.4).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// Return the distance from the sequence number `other` to the sequence number `self`. The
    /// distance is negative if `self` is before `other`. The distance between the two sequence
    /// numbers must be less than 2^31.
    pub fn minus(self, other: Seq) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
    /// Return true if `self` is before `other` in sequence space.
    pub fn before(self, other: Seq) -> bool {
        self.minus(other) < 0
    }
    /// Return true if `self` is after `other` in sequence space.
    pub fn after(self, other: Seq) -> bool {
        self.minus(other) > 0
    }
    /// Return the later of two sequence numbers.
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
    /// Return the number of bytes from the sequence number `other` to the sequence number `self`.
    /// The sequence number `self` must not be before `other`.
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
    /// FIN: the sender sends no more data after this segment.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// ACK: the acknowledgement number of the segment is significant.
    pub const ACK: Flags = Flags(0x10);
    /// URG: the urgent pointer of the segment is significant.
    pub const URG: Flags = Flags(0x20);
    /// ECN-Echo.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN (RFC 9768), formerly the nonce sum (RFC 3540).
    pub const AE: Flags = Flags(0x100);

    /// Return true if all control bits of `f` are set in `self`.
    pub fn has(self, f: Flags) -> bool {
        self.0 & f.0 == f.0
    }

    /// Return the control bits of `self` without the control bits of `f`.
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

/// TCP segment: the header, and the length of the payload. The simulator does not store the bytes
/// of the payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the first byte of the segment, or of the SYN.
    pub seq: Seq,
    /// Sequence number of the next byte that the endpoint expects from its peer. The acknowledgment
    /// number is significant if the control bit ACK is set.
    pub ack: Seq,
    /// Advertised window in bytes, after scaling.
    pub window: u32,
    /// Payload in bytes.
    pub len: u16,
    /// Control bits.
    pub flags: Flags,
}

impl Segment {
    /// Return the length of the segment in sequence space: payload, SYN and FIN (RFC 9293,
    /// SEG.LEN).
    pub fn seq_len(&self) -> u32 {
        u32::from(self.len) + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
    /// Return the sequence number that follows the last one of the segment.
    pub fn end(&self) -> Seq {
        self.seq + self.seq_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap() {
        let a = Seq(u32::MAX - 1);
        let b = a + 10;
        assert!(b.after(a) && a.before(b));
        assert_eq!((b - a, b.minus(a), a.minus(b)), (10, 10, -10));
        assert_eq!(a.max(b), b);
    }

    #[test]
    fn syn_and_fin_use_a_sequence_number() {
        let s = Segment { len: 5, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!((s.seq_len(), s.end()), (6, Seq(6)));
    }
}
