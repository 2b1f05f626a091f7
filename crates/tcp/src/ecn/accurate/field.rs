//! The ACE field: three header bits, and their meaning during the handshake.

use net::{Ecn, Flags};

/// Number of values of the ACE field (DIVACE of RFC 9768, appendix A.2.1).
pub const DIVACE: u32 = 8;

/// Return the flags AE, CWR and ECE for a value of the ACE field (RFC 9768 §3.2.2).
pub fn flags(ace: u32) -> Flags {
    let bit = |b: u32, flag: Flags| if ace & b != 0 { flag } else { Flags::default() };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// Return the value of the ACE field.
pub fn ace(flags: Flags) -> u32 {
    4 * u32::from(flags.has(Flags::AE))
        + 2 * u32::from(flags.has(Flags::CWR))
        + u32::from(flags.has(Flags::ECE))
}

/// Return the flags that report the ECN field of a SYN or SYN-ACK (RFC 9768 §3.1.1, table 2;
/// §3.2.2.1, table 3). A SYN-ACK reports the field of the SYN, and the pure ACK that ends the
/// handshake reports the field of the SYN-ACK.
pub fn handshake(field: Ecn) -> Flags {
    flags(match field {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// Return the ECN field that a value of the ACE field reports, or `None` if the value does not
/// report an ECN field (RFC 9768 §3.1.3, §3.2.2.1, table 4).
pub fn handshake_field(ace: u32) -> Option<Ecn> {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().find(|&field| flags(ace) == handshake(field))
}

/// Return true if the flags of a SYN offer Accurate ECN (RFC 9768 §3.1.2). Flag values reserved for
/// future use offer Accurate ECN too (RFC 9768 §3.1.3).
pub fn is_offer(ace: u32) -> bool {
    !matches!(ace, 0b000 | 0b011)
}

/// Return true if the flags of a SYN-ACK accept Accurate ECN. The result is false for a SYN-ACK
/// without ECN, with classic ECN (RFC 3168), or with the reflected flags of the SYN (RFC 9768
/// §3.1.2, table 2).
pub fn is_consent(ace: u32) -> bool {
    !matches!(ace, 0b000 | 0b001 | 0b111)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_reports_the_ecn_field() {
        let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(fields.map(|field| ace(handshake(field))), [2, 3, 4, 6]);
        assert_eq!(fields.map(|field| handshake_field(ace(handshake(field)))), fields.map(Some));
        assert_eq!([0, 1, 5, 7].map(handshake_field), [None; 4]);
    }

    /// RFC 9768 §3.1.2, table 2, and §3.1.3 assign a meaning to each value of the ACE field.
    #[test]
    fn values_reserved_for_the_future_are_accurate_ecn() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7].map(is_offer),
            [false, true, true, false, true, true, true, true]
        );
        let consents = [false, false, true, true, true, true, true, false];
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(is_consent), consents);
    }

    #[test]
    fn the_flags_represent_all_values_of_the_ace_field() {
        assert!((0..8).all(|n| ace(flags(n)) == n));
    }
}
