//! Codepoints of the ECN field. The packets that are ECN-capable follow RFC 3168 §6.1 (`rfc3168`),
//! RFC 5562 §3 (`rfc5562`), RFC 8257 §3.6 and §4.1 (`rfc8257`), and ECN++, table 1
//! (`draft-generalized-ecn`). The choice between ECT(0) and ECT(1) follows RFC 9331 §4 (`rfc9331`).
//!
//! Only the abstract of the draft on ECN++ was available. The ECN++ table and the responses to
//! marks are implemented from general knowledge of the draft.

use net::{Ecn as Field, Flags, Seq};

use super::EcnEndpoint;
use super::mode::Mode;
use crate::config::{Ecn, EctOn, Misbehaviour, Tcp};
use crate::congestion::Marks;

/// Packets that may be ECN-capable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ect {
    /// All packets are Not-ECT.
    #[default]
    None,
    /// New data carries ECT(0), and all other packets are Not-ECT: the common case of RFC 3168.
    NewData,
    /// The parameters decide.
    Configured,
}

/// Return the codepoint of a sender. `accurate` is true if the ECN feedback is accurate enough for
/// a scalable congestion control (RFC 9331 §4.2).
fn codepoint(tcp: &Tcp, accurate: bool) -> Field {
    let is_l4s = accurate && tcp.congestion.marks() == Marks::L4s;
    if tcp.ecn.ect1 || is_l4s { Field::Ect1 } else { Field::Ect0 }
}

impl EcnEndpoint {
    /// Return the ECN field of a SYN with the flags `flags`, in transmission number `attempt`,
    /// counted from 0. With ECN++ a SYN is ECN-capable only if it offers Accurate ECN, whose
    /// feedback covers marks on the SYN.
    pub fn syn_field(tcp: &Tcp, flags: Flags, attempt: u8) -> Field {
        let capable = match tcp.ecn_in_force() {
            _ if flags == Flags::default() => false,
            Ecn::Dctcp => true, // RFC 8257 §3.6
            Ecn::Accurate => tcp.ect_in_force() == EctOn::AllPackets && attempt == 0,
            _ => false,
        };
        let capable = capable && tcp.ecn.misbehaviour != Misbehaviour::Strips;
        if capable { codepoint(tcp, true) } else { Field::NotEct }
    }

    /// Return the ECN field of a SYN-ACK in transmission number `attempt`, counted from 0.
    pub fn syn_ack_field(&self, tcp: &Tcp, attempt: u8) -> Field {
        let capable = match tcp.ecn_in_force() {
            Ecn::Dctcp => true,
            // RFC 5562 §3.1: only the first SYN-ACK is ECN-capable.
            Ecn::EcnPlus | Ecn::EcnPlusUnheeded | Ecn::EcnPlusWait | Ecn::EcnPlusTryOnce => attempt == 0,
            _ => tcp.ect_in_force() == EctOn::AllPackets && attempt == 0,
        };
        if capable && self.ect != Ect::None && tcp.ecn.misbehaviour != Misbehaviour::Strips {
            codepoint(tcp, self.mode == Mode::Accurate)
        } else {
            Field::NotEct
        }
    }

    /// Return the ECN field of a segment with data, a FIN or a window probe. `end` is the sequence
    /// number after the segment.
    #[inline]
    pub fn field(&mut self, len: u32, is_new: bool, is_probe: bool, end: Seq, tcp: &Tcp) -> Field {
        match self.ect {
            Ect::None => Field::NotEct,
            // RFC 3168 §6.1.5, §6.1.6: retransmissions and window probes are Not-ECT.
            Ect::NewData if len > 0 && is_new && !is_probe => Field::Ect0,
            Ect::NewData => Field::NotEct,
            Ect::Configured => self.configured_field(len, is_new, is_probe, end, tcp),
        }
    }

    #[inline(never)]
    fn configured_field(&mut self, len: u32, is_new: bool, is_probe: bool, end: Seq, tcp: &Tcp) -> Field {
        let is_new_data = len > 0 && is_new && !is_probe;
        let capable = match tcp.ect_in_force() {
            EctOn::NewData => is_new_data,
            EctOn::AllData => len > 0 && !is_probe,
            EctOn::AllPackets => true,
        };
        match self.nonce() {
            _ if !capable || tcp.ecn.misbehaviour == Misbehaviour::Strips => Field::NotEct,
            Some(nonce) if is_new_data => nonce.field(end),
            Some(_) => Field::Ect0,
            None => codepoint(tcp, self.mode == Mode::Accurate),
        }
    }

    /// Return the ECN field of a pure ACK (RFC 3168 §6.1.4). ECN++ makes pure ACKs ECN-capable if
    /// the endpoint counts marks on pure ACKs, and if ACKs of ACKs do not count as duplicates (RFC
    /// 9768 §3.2.2.5.1). If the sender detects losses only by SACK (`by_sack`), an ACK that
    /// acknowledges pure ACKs does not count as a duplicate ACK.
    #[inline]
    pub fn ack_field(&self, by_sack: bool, tcp: &Tcp) -> Field {
        match (self.ect, self.mode) {
            (Ect::Configured, Mode::Accurate) if by_sack => self.control_field(tcp),
            (Ect::Configured, Mode::Dctcp) => self.control_field(tcp), // RFC 8257 §4.1
            _ => Field::NotEct,
        }
    }

    /// Return the ECN field of a reset.
    pub fn reset_field(&self, tcp: &Tcp) -> Field {
        match (self.ect, self.mode) {
            (Ect::None, _) => Field::NotEct,
            (_, Mode::Dctcp) if tcp.ecn.misbehaviour != Misbehaviour::Strips => codepoint(tcp, false), // RFC 8257 §3.6
            _ => self.control_field(tcp),
        }
    }

    fn control_field(&self, tcp: &Tcp) -> Field {
        if tcp.ect_in_force() == EctOn::AllPackets && tcp.ecn.misbehaviour != Misbehaviour::Strips {
            codepoint(tcp, self.mode == Mode::Accurate)
        } else {
            Field::NotEct
        }
    }
}
