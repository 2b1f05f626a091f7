//! Accurate ECN feedback, RFC 9768 §3 (`rfc9768`): three header bits count marked packets modulo 8, and an option counts bytes.
//!
//! Missing: the tests for mangling of the IP field on the path (§3.2.2.4 ff.), and the choice of when to
//! send the option beyond "when it changed".

use net::{Ecn, Flags};

/// Counters of a connection (§3.2.1).
#[derive(Clone, Copy, Debug)]
pub struct Accurate {
    /// r.cep, and bytes received by field: ECT(0), CE, ECT(1).
    received: u32,
    bytes: [u32; 3],
    /// s.cep, and s.ceb.
    sent: u32,
    sent_bytes: u32,
    /// The option has something to say.
    changed: bool,
}

impl Default for Accurate {
    fn default() -> Self {
        Accurate { received: 5, bytes: [1, 0, 1], sent: 5, sent_bytes: 0, changed: false }
    }
}

/// The ACE field (§3.2.2): AE, CWR, ECE.
pub fn flags(ace: u32) -> Flags {
    let bit = |b: u32, flag: Flags| if ace & b != 0 { flag } else { Flags::default() };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// The value of the ACE field.
pub fn ace(flags: Flags) -> u32 {
    4 * u32::from(flags.has(Flags::AE))
        + 2 * u32::from(flags.has(Flags::CWR))
        + u32::from(flags.has(Flags::ECE))
}

/// How a SYN-ACK, or the ACK that ends the handshake, says in which field the SYN or SYN-ACK came (§3.1.1,
/// table 2; §3.2.2.1, table 3).
pub fn handshake(field: Ecn) -> Flags {
    flags(match field {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

impl Accurate {
    /// A packet arrives with this much data (§3.2.1).
    pub fn on_packet(&mut self, field: Ecn, bytes: u32) {
        let i = match field {
            Ecn::NotEct => return,
            Ecn::Ect0 => 0,
            Ecn::Ce => 1,
            Ecn::Ect1 => 2,
        };
        self.received = self.received.wrapping_add(u32::from(field == Ecn::Ce));
        self.bytes[i] = (self.bytes[i] + bytes) & 0xFF_FFFF;
        self.changed |= field == Ecn::Ce && bytes > 0;
    }

    /// The flags of a segment.
    pub fn flags(&self) -> Flags {
        flags(self.received & 7)
    }

    /// The ACK that ends the handshake (§3.2.2.1): s.cep is 6 if the SYN-ACK was marked.
    pub fn on_handshake(&mut self, flags: Flags) {
        self.sent = if ace(flags) == 0b110 { 6 } else { 5 };
    }

    /// The counters for an option, if they changed.
    pub fn option(&mut self) -> Option<[u32; 3]> {
        std::mem::take(&mut self.changed).then_some(self.bytes)
    }

    /// An ACK arrives that delivers up to `segments` segments: packets newly marked, and bytes if the option says.
    pub fn on_ack(&mut self, flags: Flags, option: Option<[u32; 3]>) -> (u32, Option<u32>) {
        let marked = ace(flags).wrapping_sub(self.sent) & 7;
        self.sent = self.sent.wrapping_add(marked);
        let bytes = option.map(|counters| {
            let bytes = counters[1].wrapping_sub(self.sent_bytes) & 0xFF_FFFF;
            self.sent_bytes = counters[1];
            bytes
        });
        (marked, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_bits_carry_the_count_around() {
        let (mut receiver, mut sender) = (Accurate::default(), Accurate::default());
        let mut seen = 0;
        for n in [0, 1, 3, 0, 7, 2] {
            for _ in 0..n {
                receiver.on_packet(Ecn::Ce, 100);
            }
            let option = receiver.option();
            let (packets, bytes) = sender.on_ack(receiver.flags(), option);
            assert_eq!((packets, bytes), (n, (n > 0).then_some(100 * n)));
            seen += packets;
        }
        assert_eq!(seen, 13);
    }

    #[test]
    fn the_handshake_echoes_the_field() {
        let value = |field| ace(handshake(field));
        assert_eq!([Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(value), [2, 3, 4, 6]);
    }
}
