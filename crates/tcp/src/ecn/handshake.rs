//! Negotiation of ECN by SYN and SYN-ACK (RFC 3168 §6.1.1, `rfc3168`; RFC 9768 §3.1, `rfc9768`),
//! and the response to marked SYNs and SYN-ACKs (RFC 5562 §3, `rfc5562`; RFC 9768 §3.2.2;
//! `draft-generalized-ecn`). Only the abstract of `draft-generalized-ecn` was available.

use net::{AccEcn, Ecn as Field, Flags, Options, Segment};

use super::EcnEndpoint;
use super::accurate::path::mangles;
use super::accurate::{Accurate, FirstData, field};
use super::codepoint::Ect;
use super::mode::{Mode, ModeState};
use super::nonce::Nonce;
use super::rfc3168::{self, EcnState};
use crate::config::{AccEcnTests, Ecn, EctOn, Misbehaviour, RepeatedSyn, Tcp};

/// All flags of ECN.
const ALL: Flags = Flags(Flags::ECE.0 | Flags::CWR.0 | Flags::AE.0);

/// Flags and ECN fields of the first and the last SYN, or SYN-ACK, that this endpoint sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Syns {
    /// Flags and ECN field of the first SYN or SYN-ACK.
    pub first: (Flags, Field),
    /// Flags and ECN field of the last SYN or SYN-ACK.
    pub last: (Flags, Field),
}

impl Syns {
    /// Return the ECN field of all SYNs or SYN-ACKs, if the first and the last have the same field.
    fn field(&self) -> Option<Field> {
        (self.first.1 == self.last.1).then_some(self.first.1)
    }
}

impl EcnEndpoint {
    /// Return the flags of a SYN in transmission number `attempt`, counted from 0. After an
    /// unanswered ECN-setup SYN the host offers no ECN (RFC 3168 §6.1.1.1). A host that offers
    /// Accurate ECN repeats the offer in one more SYN before it offers no ECN (RFC 9768 §3.1.4.1).
    pub fn syn_flags(tcp: &Tcp, attempt: u8) -> Flags {
        let (flags, attempts) = match tcp.ecn_in_force() {
            Ecn::Off | Ecn::Passive => return Flags::default(),
            Ecn::Accurate => (ALL, 2),
            _ => (rfc3168::SETUP_SYN, 1),
        };
        if attempt >= attempts && tcp.ecn.fallback { Flags::default() } else { flags }
    }

    /// Process a SYN. If both sides open the connection at the same time, `sent` describes the SYNs
    /// of this endpoint.
    pub fn on_syn(&mut self, flags: Flags, field: Field, sent: &Syns, tcp: &Tcp) {
        self.handshake = field;
        if tcp.ecn_in_force() == Ecn::Off {
            return;
        }
        if tcp.ecn_in_force() == Ecn::Accurate && field::is_offer(field::ace(flags)) {
            self.agree_on_accurate(sent);
        } else if rfc3168::is_setup(flags) {
            self.agree_on_classic(sent, tcp);
        }
    }

    /// Process a repeated SYN. Return true if the repeated SYN offers another kind of ECN feedback
    /// than the first SYN, because the endpoint must reset the connection in this case (RFC 9768
    /// §3.1.5). If the repeated SYN offers no ECN, all packets of the endpoint are Not-ECT, and the
    /// SYN-ACK has either no ECN flags or the flags of Accurate ECN (RFC 3168 §6.1.1; RFC 9768
    /// §3.1.5). Linux ignores a repeated SYN (`tcp_check_req`).
    pub fn on_syn_again(&mut self, flags: Flags, field: Field, tcp: &Tcp) -> bool {
        let ace = field::ace(flags);
        let accurate = self.mode == Mode::Accurate;
        let counts = accurate || tcp.ecn.repeated_syn == RepeatedSyn::DisablesEct;
        if counts && (ace == 0 || (!accurate && !rfc3168::is_setup(flags))) {
            self.ect = Ect::None;
        }
        match self.mode {
            Mode::Off => false,
            Mode::Accurate => {
                self.handshake = field; // the last one counts (RFC 9768 §3.1.5)
                if let Some(accurate) = self.accurate() {
                    accurate.syn_repeated |= field::is_offer(ace);
                }
                ace == 0b011
            }
            _ => tcp.ecn_in_force() == Ecn::Accurate && field::is_offer(ace),
        }
    }

    /// Process a SYN-ACK that acknowledges a SYN of this endpoint. Return true if a SYN was marked.
    /// If an ECN-capable SYN offered Accurate ECN and the SYN-ACK does not accept Accurate ECN,
    /// return true, because the SYN-ACK cannot report a mark. The initial window is one segment
    /// after a marked SYN (RFC 9768 §3.2.2.2; `draft-generalized-ecn`, SYN).
    pub fn on_syn_ack(
        &mut self,
        flags: Flags,
        field: Field,
        options: &Options,
        sent: &Syns,
        tcp: &Tcp,
    ) -> bool {
        let unheeded = tcp.ecn_in_force() == Ecn::EcnPlusUnheeded && field == Field::Ce;
        let field = if unheeded { Field::Ect0 } else { field };
        self.handshake = field;
        if sent.first.0 == Flags::default() {
            return false; // RFC 3168 §6.1.1: the endpoint never offered ECN
        }
        let ace = field::ace(flags);
        if sent.first.0 == ALL && field::is_consent(ace) {
            return self.on_consent(ace, field, options, sent, tcp);
        }
        if rfc3168::is_setup(flags) {
            self.agree_on_classic(sent, tcp);
            // The client echoes the mark of a SYN-ACK as it echoes a mark on data (RFC 5562 §3.2),
            // except with DCTCP (RFC 8257 §3.6).
            self.classic = EcnState::default();
            self.classic.on_data(false, field == Field::Ce, tcp.details.ecn_echo);
        }
        sent.first.1.is_capable() && sent.first.0 == ALL
    }

    fn on_consent(&mut self, ace: u32, field: Field, options: &Options, sent: &Syns, tcp: &Tcp) -> bool {
        self.agree_on_accurate(&Syns::default()); // the client may send ECT after any SYN (RFC 9768 §3.1.4.1)
        let tests = tcp.ecn.accurate_tests != AccEcnTests::Off;
        let arrived = field::handshake_field(ace);
        if tests && sent.field().zip(arrived).is_some_and(|(sent, arrived)| mangles(sent, arrived)) {
            self.ect = Ect::None; // RFC 9768 §3.2.2.3: the path mangles the ECN field
        }
        if let Some(accurate) = self.accurate() {
            accurate.received.on_syn_ack(field);
            accurate.echoed.on_first(options, tests);
            accurate.handshake_due = true;
            accurate.first_data = FirstData::Due;
        }
        arrived == Some(Field::Ce)
    }

    /// Process a repeated SYN-ACK. If the SYN-ACK accepts Accurate ECN, the ACK of the SYN-ACK
    /// reports the SYN-ACK's ECN field (RFC 9768 §3.2.2.1).
    pub fn on_syn_ack_again(&mut self, flags: Flags, field: Field) {
        if self.mode == Mode::Accurate && field::is_consent(field::ace(flags)) {
            self.handshake = field;
            if let Some(accurate) = self.accurate() {
                accurate.received.on_syn_ack(field);
                accurate.handshake_due = true;
            }
        }
    }

    fn agree_on_classic(&mut self, sent: &Syns, tcp: &Tcp) {
        self.mode = match tcp.ecn_in_force() {
            Ecn::Dctcp => Mode::Dctcp,
            Ecn::Nonce => Mode::Nonce,
            _ => Mode::Classic,
        };
        if self.mode == Mode::Nonce {
            self.mode_state = Some(Box::new(ModeState::Nonce(Nonce::default())));
        }
        let usual = self.mode == Mode::Classic
            && tcp.ecn.misbehaviour != Misbehaviour::Strips
            && tcp.ect_in_force() == EctOn::NewData
            && !tcp.ecn.ect1;
        let counts = tcp.ecn.repeated_syn == RepeatedSyn::DisablesEct;
        self.ect = if counts && sent.last.0 != sent.first.0 {
            Ect::None // RFC 3168 §6.1.1: a SYN without ECN was sent
        } else if usual {
            Ect::NewData
        } else {
            Ect::Configured
        };
    }

    fn agree_on_accurate(&mut self, sent: &Syns) {
        self.mode = Mode::Accurate;
        self.ect = if sent.last.0 != sent.first.0 { Ect::None } else { Ect::Configured };
        self.mode_state = Some(Box::new(ModeState::Accurate(Accurate::default())));
    }

    /// Return the flags of a SYN-ACK after `timeouts` timeouts (RFC 3168 §6.1.1; RFC 9768 §3.1.1,
    /// §3.2.3.2.2).
    pub fn syn_ack_flags(&mut self, timeouts: u8, tcp: &Tcp) -> Flags {
        match self.mode {
            Mode::Off => Flags::default(),
            Mode::Accurate if timeouts > 1 && tcp.ecn.fallback => {
                self.ect = Ect::None; // RFC 9768 §3.1.5: no ECT after a SYN-ACK without ECN
                Flags::default()
            }
            Mode::Accurate => field::handshake(self.handshake),
            _ if self.ect == Ect::None => Flags::default(),
            Mode::Nonce => Flags::ECE | Flags::AE, // RFC 3540 §5: the first sum is 1
            _ => Flags::ECE,
        }
    }

    /// Return the Accurate ECN option of a SYN-ACK after `timeouts` timeouts. The first SYN-ACK
    /// tests whether packets with the AccECN option arrive (RFC 9768 §3.2.3.2.1, §3.2.3.2.2).
    pub fn syn_ack_option(&mut self, timeouts: u8, room: u16) -> Option<AccEcn> {
        let accurate = self.accurate()?;
        if timeouts > 0 || accurate.syn_repeated { None } else { accurate.received.test_option(room) }
    }

    /// Return true if the SYN-ACK that arrived was marked, so that its ACK must carry ECE (RFC 5562
    /// §3.2).
    pub fn handshake_marked(&self) -> bool {
        self.handshake == Field::Ce && self.negotiated()
    }

    /// Process the segment that completes the handshake, which may report the ECN field of the
    /// SYN-ACK. Return true if the SYN-ACK was marked.
    pub fn on_handshake_ack(&mut self, segment: &Segment, options: &Options, sent: &Syns, tcp: &Tcp) -> bool {
        if self.mode == Mode::Classic || self.mode == Mode::Nonce {
            return segment.flags.has(Flags::ECE);
        }
        let tests = tcp.ecn.accurate_tests != AccEcnTests::Off;
        let Some(accurate) = self.accurate() else { return false };
        accurate.echoed.on_first(options, tests);
        let ace = field::ace(segment.flags);
        if segment.len > 0 || !options.sack().is_empty() {
            return accurate.echoed.on_data_for_handshake(ace);
        }
        let marked = accurate.echoed.on_handshake(ace);
        let arrived = field::handshake_field(ace).filter(|_| tests);
        let mangled = sent.field().zip(arrived).is_some_and(|(sent, arrived)| mangles(sent, arrived));
        if accurate.echoed.is_disabled() || mangled {
            self.ect = Ect::None; // RFC 9768, table 4, note 1; §3.2.2.3
        }
        marked
    }
}
