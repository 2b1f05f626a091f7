//! ECN in TCP: negotiation, echo and response. [`rfc3168`] is the classic; [`dctcp`], [`accurate`] and [`nonce`] are
//! what else a connection may agree on ([`handshake`]); which packets are ECN-capable is a matter of its own
//! ([`capable`]).

pub mod accurate;
pub mod capable;
pub mod choices;
pub mod dctcp;
pub mod handshake;
mod mode;
pub mod nonce;
pub mod parameters;
pub mod rfc3168;

use net::{AccEcn, Ecn as Field, Flags, Options, Segment, Seq};

use crate::config::{AccEcnTests, EcnEcho, Misbehaviour, Tcp};
use crate::sender::{Feedback, Sender};
use accurate::{Accurate, FirstData, field};
use capable::Ect;
use dctcp::CeState;
pub use handshake::Syns;
pub use mode::Mode;
use mode::OfMode;
use nonce::Nonce;
use rfc3168::EcnState;

/// ECN at one end.
#[derive(Clone, Debug, Default)]
pub struct EcnEnd {
    mode: Mode,
    classic: EcnState,
    ce: CeState,
    /// In which field the other side's last SYN or SYN-ACK came.
    handshake: Field,
    ect: Ect,
    of_mode: Option<Box<OfMode>>,
}

/// Which ACKs a mark asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// One of what was received before, with the state as it was.
    pub before: bool,
    /// One of this segment.
    pub at_once: bool,
    /// So many from now on, where there are quick ACKs.
    pub more: u16,
}

/// What feedback goes out on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A pure ACK.
    Ack,
    /// A pure ACK of what came before the last change of marks.
    EarlierAck,
    /// Data, a FIN, or a probe.
    Data,
    /// The first data.
    FirstData,
    /// The first data, sent again.
    FirstDataAgain,
}

impl EcnEnd {
    fn accurate(&mut self) -> Option<&mut Accurate> {
        match self.of_mode.as_deref_mut() {
            Some(OfMode::Accurate(accurate)) => Some(accurate),
            _ => None,
        }
    }

    fn nonce(&mut self) -> Option<&mut Nonce> {
        match self.of_mode.as_deref_mut() {
            Some(OfMode::Nonce(nonce)) => Some(nonce),
            _ => None,
        }
    }

    /// What was agreed on.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the connection uses ECN.
    pub fn negotiated(&self) -> bool {
        self.mode != Mode::Off
    }

    /// Whether packets of all kinds are counted: with Accurate ECN alone.
    #[inline]
    pub fn counts_packets(&self) -> bool {
        self.mode == Mode::Accurate
    }

    /// An acceptable packet that is no SYN arrives; `owes_ack`: data waits to be acknowledged. Whether an ACK must go
    /// out now. Only Accurate ECN counts what is not data.
    pub fn on_packet(&mut self, segment: &Segment, field: Field, owes_ack: bool, tcp: &Tcp) -> bool {
        let hides = tcp.ecn.misbehaviour == Misbehaviour::HidesMarks && field == Field::Ce;
        let Some(accurate) = self.accurate() else { return false };
        let field = if hides { Field::Ect0 } else { field };
        let at_once = accurate.received.on_packet(field, segment.len, owes_ack);
        accurate.of_acks = at_once && segment.len == 0 && !owes_ack;
        at_once
    }

    /// A packet with data arrives. Whether what was received before must be acknowledged first.
    #[inline]
    pub fn on_data(&mut self, segment: &Segment, field: Field, owes_ack: bool, tcp: &Tcp) -> Prompt {
        if self.mode == Mode::Off {
            return Prompt::default();
        }
        let marked = field == Field::Ce && tcp.ecn.misbehaviour != Misbehaviour::HidesMarks;
        if self.mode == Mode::Classic {
            let (cwr, echoed) = (segment.flags.has(Flags::CWR), self.classic.echoes());
            self.classic.on_data(cwr, marked, tcp.details.ecn_echo);
            if tcp.details.ecn_echo == EcnEcho::Rfc3168 {
                return Prompt::default();
            }
            // Linux, __tcp_ecn_check_ce: a first mark, and what is not ECN-capable and so sent again.
            let repeated = self.classic.is_repeated(field != Field::NotEct);
            let more = if (marked && !echoed) || repeated { 2 } else { 0 };
            return Prompt { before: false, at_once: cwr || more > 0, more };
        }
        self.on_data_otherwise(segment, field, (marked, owes_ack), tcp)
    }

    #[inline(never)]
    fn on_data_otherwise(
        &mut self,
        segment: &Segment,
        field: Field,
        (marked, owes_ack): (bool, bool),
        tcp: &Tcp,
    ) -> Prompt {
        match self.mode {
            Mode::Off | Mode::Classic | Mode::Accurate => Prompt::default(),
            Mode::Dctcp => {
                let changed = self.ce.on_data(marked);
                Prompt { before: changed && owes_ack, at_once: changed, more: 0 }
            }
            Mode::Nonce => {
                self.classic.on_data(segment.flags.has(Flags::CWR), marked, tcp.details.ecn_echo);
                if let Some(nonce) = self.nonce() {
                    nonce.on_data(field, segment.seq);
                }
                Prompt::default()
            }
        }
    }

    /// The flags of a segment that is not a SYN.
    #[inline]
    pub fn flags(&mut self, carrier: Carrier) -> Flags {
        match self.mode {
            Mode::Off => Flags::default(),
            Mode::Classic if self.classic.echoes() => Flags::ECE,
            Mode::Classic => Flags::default(),
            _ => self.other_flags(carrier),
        }
    }

    #[inline(never)]
    fn other_flags(&mut self, carrier: Carrier) -> Flags {
        let handshake = self.handshake;
        match self.mode {
            Mode::Off | Mode::Classic => Flags::default(),
            Mode::Nonce => {
                let echo = self.classic.echoes();
                let sum = self.nonce().is_some_and(|n| n.echo_sum());
                let flag = |on, f| if on { f } else { Flags::default() };
                flag(echo, Flags::ECE) | flag(sum, Flags::AE)
            }
            Mode::Dctcp => {
                let echo = self.ce.marked != (carrier == Carrier::EarlierAck);
                if echo { Flags::ECE } else { Flags::default() }
            }
            Mode::Accurate => {
                let Some(accurate) = self.accurate() else { return Flags::default() };
                accurate.received.on_ack_sent();
                accurate.of_acks = false;
                // RFC 9768 §3.2.2.1: on a pure ACK, and nowhere else.
                if carrier == Carrier::Ack && std::mem::take(&mut accurate.handshake_due) {
                    return field::handshake(handshake);
                }
                accurate.received.flags()
            }
        }
    }

    /// Data came with a SYN or SYN-ACK. Its bytes count, the packet does not (RFC 9768 §3.2.2.2, §3.2.3).
    pub fn on_syn_data(&mut self, field: Field, bytes: u16) {
        if let Some(accurate) = self.accurate() {
            accurate.received.on_syn_data(field, bytes);
        }
    }

    /// RCV.NXT is `next` now.
    #[inline]
    pub fn on_advance(&mut self, next: Seq) {
        if let Some(nonce) = self.nonce() {
            nonce.on_advance(next);
        }
    }

    /// An ACK of everything that arrived went out.
    #[inline]
    pub fn on_sent(&mut self) {
        self.classic.on_ack_sent();
    }

    /// The option of Accurate ECN for a segment that has `room` for it (RFC 9768 §3.2.3.2.1, §3.2.3.3).
    pub fn option(&mut self, room: u16, carrier: Carrier) -> Option<AccEcn> {
        let accurate = self.accurate()?;
        match (carrier, accurate.first_data) {
            (Carrier::Ack, _) if accurate.handshake_due => accurate.received.test_option(room),
            (Carrier::FirstData, FirstData::Due) => {
                accurate.first_data = FirstData::Tests;
                accurate.received.test_option(room)
            }
            // The option may be why it was lost (§3.2.3.2.2).
            (Carrier::FirstDataAgain, FirstData::Tests) => None,
            _ => accurate.received.option(room),
        }
    }

    /// Whether a pure ACK that goes out now must not carry SACK blocks (RFC 9768 §3.2.2.1, §3.2.2.5.1).
    pub fn forbids_sack(&mut self) -> bool {
        self.accurate().is_some_and(|a| a.handshake_due || a.of_acks)
    }

    /// Whether a pure ACK must go out before any data, to say in which field the SYN-ACK came (RFC 9768 §3.2.2.1).
    pub fn owes_handshake(&mut self) -> bool {
        self.accurate().is_some_and(|a| a.handshake_due)
    }

    /// What an ACK says of marks.
    #[inline]
    pub fn feedback(
        &mut self,
        segment: &Segment,
        options: &Options,
        sender: &mut Sender,
        tcp: &Tcp,
    ) -> Feedback {
        let silent = self.mode == Mode::Classic && !segment.flags.has(Flags::ECE);
        if self.mode == Mode::Off || silent || tcp.ecn.misbehaviour == Misbehaviour::IgnoresEcho {
            return Feedback::default();
        }
        self.feedback_of(segment, options, sender, tcp)
    }

    #[inline(never)]
    fn feedback_of(
        &mut self,
        segment: &Segment,
        options: &Options,
        sender: &mut Sender,
        tcp: &Tcp,
    ) -> Feedback {
        let echo = segment.flags.has(Flags::ECE);
        let marked = f64::from(u8::from(echo));
        match self.mode {
            Mode::Accurate => return self.feedback_by_counters(segment, options, sender, tcp),
            Mode::Nonce => {
                let sum = segment.flags.has(Flags::AE);
                let wrong = self.nonce().is_some_and(|n| n.on_ack(segment.ack, sum, echo));
                if wrong {
                    return Feedback { echo: true, marked };
                }
            }
            _ => {}
        }
        if echo {
            sender.tcb.count_marks(sender.newly_acked(segment, options).segments);
        }
        Feedback { echo, marked }
    }

    fn feedback_by_counters(
        &mut self,
        segment: &Segment,
        options: &Options,
        sender: &mut Sender,
        tcp: &Tcp,
    ) -> Feedback {
        let newly = sender.newly_acked(segment, options);
        let tests = tcp.ecn.accurate_tests == AccEcnTests::Feedback;
        let Some(accurate) = self.accurate() else { return Feedback::default() };
        let said = accurate.echoed.on_ack(segment.flags, options, &newly, tests);
        if said.mangled {
            self.ect = Ect::None;
        }
        sender.tcb.count_marks(said.packets);
        let marked = if newly.bytes > 0 { f64::from(said.bytes) / f64::from(newly.bytes) } else { 0.0 };
        Feedback { echo: said.packets > 0, marked }
    }

    /// The same where nothing was ever sent but ACKs: it is counted all the same, by timestamps.
    pub fn on_ack_of_acks(&mut self, segment: &Segment, options: &Options) {
        if let Some(accurate) = self.accurate() {
            accurate.echoed.on_ack(segment.flags, options, &Default::default(), false);
        }
    }

    /// The window was cut, for whatever reason (RFC 3168 §6.1.2).
    pub fn on_cut(&mut self, max: Seq) {
        match self.mode {
            Mode::Off | Mode::Accurate => {}
            _ => self.classic.on_cut(),
        }
        if let Some(nonce) = self.nonce() {
            nonce.on_congestion(max);
        }
    }

    /// Whether the next new data segment carries CWR.
    #[inline]
    pub fn owes_cwr(&self) -> bool {
        self.classic.owes_cwr()
    }

    /// CWR is said, once.
    #[inline]
    pub fn say_cwr(&mut self) {
        self.classic.say_cwr();
    }

    /// With Accurate ECN: packets that arrived marked, bytes that arrived with ECT(0), CE and ECT(1), and what the
    /// other side said of bytes of ours.
    pub fn counts(&self) -> Option<(u32, [u32; 3], [u32; 3])> {
        match self.of_mode.as_deref() {
            Some(OfMode::Accurate(accurate)) => {
                let (packets, bytes) = accurate.received.counts();
                Some((packets, bytes, accurate.echoed.counts()))
            }
            _ => None,
        }
    }
}
