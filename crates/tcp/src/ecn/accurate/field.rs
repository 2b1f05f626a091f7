//! The ACE field: three bits of the header, and what they say in the handshake.

use net::{Ecn, Flags};

/// Values of the ACE field (DIVACE, appendix A.2.1).
pub const DIVACE: u32 = 8;

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

/// How a SYN-ACK, or the pure ACK that ends the handshake, says in which field the SYN or SYN-ACK came (§3.1.1,
/// table 2; §3.2.2.1, table 3).
pub fn handshake(field: Ecn) -> Flags {
    flags(match field {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// The field that such a value means; `None`: it means none (§3.1.3, §3.2.2.1, table 4).
pub fn handshake_field(ace: u32) -> Option<Ecn> {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().find(|&field| flags(ace) == handshake(field))
}

/// Whether the flags of a SYN ask for Accurate ECN (§3.1.2), those kept for the future too (§3.1.3).
pub fn is_offer(ace: u32) -> bool {
    !matches!(ace, 0b000 | 0b011)
}

/// Whether those of a SYN-ACK confirm it: not if they are of no ECN, of RFC 3168, or reflected (§3.1.2, table 2).
pub fn is_consent(ace: u32) -> bool {
    !matches!(ace, 0b000 | 0b001 | 0b111)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_echoes_the_field() {
        let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(fields.map(|field| ace(handshake(field))), [2, 3, 4, 6]);
        assert_eq!(fields.map(|field| handshake_field(ace(handshake(field)))), fields.map(Some));
        assert_eq!([0, 1, 5, 7].map(handshake_field), [None; 4]);
    }

    /// §3.1.2, table 2; §3.1.3.
    #[test]
    fn what_is_kept_for_the_future_is_accurate_ecn() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7].map(is_offer),
            [false, true, true, false, true, true, true, true]
        );
        let consents = [false, false, true, true, true, true, true, false];
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(is_consent), consents);
    }

    #[test]
    fn three_bits_carry_the_count_around() {
        assert!((0..8).all(|n| ace(flags(n)) == n));
    }
}
