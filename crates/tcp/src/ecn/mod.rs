//! ECN in TCP: negotiation, echo and response. [`rfc3168`] is the classic; [`dctcp`], [`accurate`] and [`nonce`] are
//! what else a connection may agree on; ECN+ (RFC 5562) and ECN++ say which packets are ECN-capable.

pub mod accurate;
pub mod dctcp;
pub mod nonce;
pub mod rfc3168;

use net::{Ecn as Field, Flags, Options, Segment, Seq};

use crate::config::{Ecn, EctOn, Misbehaviour, Tcp};
use crate::sender::Feedback;
use accurate::Accurate;
use dctcp::CeState;
use nonce::Nonce;
use rfc3168::EcnState;

/// What a connection agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// No ECN.
    #[default]
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257's echo.
    Dctcp,
    /// RFC 3540.
    Nonce,
    /// RFC 9768.
    Accurate,
}

/// ECN at one end.
#[derive(Clone, Debug, Default)]
pub struct EcnEnd {
    mode: Mode,
    classic: EcnState,
    ce: CeState,
    /// In which field the other side's SYN or SYN-ACK came.
    handshake: Field,
    /// The ACK that ends the handshake is still to go out.
    first_ack: bool,
    /// RFC 3168 as it is usually done: new data is ECT(0), and nothing else.
    usual: bool,
    more: Option<Box<More>>,
}

/// What only some modes need.
#[derive(Clone, Debug)]
enum More {
    Accurate(Accurate),
    Nonce(Nonce),
}

/// Which ACKs a mark asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// One of what was received before, with the state as it was.
    pub before: bool,
    /// One of this segment.
    pub at_once: bool,
}

/// The flags of ECN in a segment.
const ALL: Flags = Flags(Flags::ECE.0 | Flags::CWR.0 | Flags::AE.0);

impl EcnEnd {
    fn accurate(&mut self) -> Option<&mut Accurate> {
        match self.more.as_deref_mut() {
            Some(More::Accurate(accurate)) => Some(accurate),
            _ => None,
        }
    }

    fn nonce(&mut self) -> Option<&mut Nonce> {
        match self.more.as_deref_mut() {
            Some(More::Nonce(nonce)) => Some(nonce),
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

    /// Flags of a SYN, sent for the `attempt`th time: a host whose ECN-setup SYN got no answer tries
    /// without (RFC 3168 §6.1.1.1).
    pub fn syn_flags(tcp: &Tcp, attempt: u8) -> Flags {
        match tcp.ecn_in_force() {
            _ if attempt > 0 && tcp.ecn_fallback => Flags::default(),
            Ecn::Off | Ecn::Passive => Flags::default(),
            Ecn::Accurate => ALL,
            _ => EcnState::setup_syn(),
        }
    }

    /// The field of a SYN or SYN-ACK.
    pub fn syn_field(&self, tcp: &Tcp, is_reply: bool, attempt: u8) -> Field {
        let capable = match tcp.ecn_in_force() {
            Ecn::EcnPlus | Ecn::EcnPlusWait | Ecn::EcnPlusTryOnce => {
                is_reply && self.negotiated() && attempt == 0
            }
            // RFC 8257 §3.6: a SYN of DCTCP too.
            Ecn::EcnPlusPlus | Ecn::Dctcp => attempt == 0 && (!is_reply || self.negotiated()),
            _ => false,
        };
        if capable { Field::Ect0 } else { Field::NotEct }
    }

    /// A SYN or SYN-ACK arrives.
    pub fn on_syn(&mut self, flags: Flags, field: Field, tcp: &Tcp) {
        let reply = flags.has(Flags::ACK);
        let bits = Flags(flags.0 & ALL.0);
        self.handshake = field;
        if tcp.ecn_in_force() == Ecn::Off {
            return;
        }
        let accurate =
            if reply { bits != Flags::ECE && bits != Flags::default() && bits != ALL } else { bits == ALL };
        if tcp.ecn_in_force() == Ecn::Accurate && accurate {
            self.mode = Mode::Accurate;
            let mut accurate = Accurate::default();
            if reply && field == Field::Ce {
                accurate.on_packet(Field::Ce, 0);
            }
            self.more = Some(Box::new(More::Accurate(accurate)));
        } else {
            self.classic.on_syn(flags);
            self.mode = match tcp.ecn_in_force() {
                _ if !self.classic.negotiated() => Mode::Off,
                Ecn::Dctcp => Mode::Dctcp,
                Ecn::Nonce => Mode::Nonce,
                _ => Mode::Classic,
            };
            if self.mode == Mode::Nonce {
                self.more = Some(Box::new(More::Nonce(Nonce::default())));
            }
        }
        self.first_ack = reply;
        self.usual = self.mode == Mode::Classic
            && tcp.misbehaviour != Misbehaviour::Strips
            && tcp.ecn_in_force() != Ecn::EcnPlusPlus
            && tcp.ect_on != EctOn::AllData
            && !tcp.ect1;
    }

    /// Flags of a SYN-ACK (RFC 3168 §6.1.1; RFC 9768 §3.1.1).
    pub fn syn_ack_flags(&self) -> Flags {
        match self.mode {
            Mode::Off => Flags::default(),
            Mode::Accurate => accurate::handshake(self.handshake),
            Mode::Nonce => Flags::ECE | Flags::AE, // RFC 3540 §5: the first sum is 1
            _ => Flags::ECE,
        }
    }

    /// Whether the SYN-ACK that arrived was marked: its ACK says so (RFC 5562 §3.1).
    pub fn handshake_marked(&self) -> bool {
        self.handshake == Field::Ce && self.negotiated()
    }

    /// A packet with data arrives. Whether what was received before must be acknowledged first.
    #[inline]
    pub fn on_data(&mut self, segment: &Segment, field: Field, owes_ack: bool, tcp: &Tcp) -> Prompt {
        if self.mode == Mode::Off {
            return Prompt::default();
        }
        let marked = field == Field::Ce && tcp.misbehaviour != Misbehaviour::HidesMarks;
        if self.mode == Mode::Classic {
            // Linux does not delay the first echo (tcp_ecn_check_ce).
            let at_once = marked && !self.classic.echoes() && tcp.quick_ack.0 > 0.0;
            self.classic.on_data(segment.flags.has(Flags::CWR), marked);
            return Prompt { before: false, at_once };
        }
        self.on_data_otherwise(segment, field, marked, owes_ack)
    }

    #[inline(never)]
    fn on_data_otherwise(&mut self, segment: &Segment, field: Field, marked: bool, owes_ack: bool) -> Prompt {
        match self.mode {
            Mode::Off | Mode::Classic => Prompt::default(),
            Mode::Dctcp => {
                let changed = self.ce.on_data(marked);
                Prompt { before: changed && owes_ack, at_once: changed }
            }
            Mode::Nonce => {
                self.classic.on_data(segment.flags.has(Flags::CWR), marked);
                if let Some(nonce) = self.nonce() {
                    nonce.on_data(field, segment.seq);
                }
                Prompt::default()
            }
            Mode::Accurate => {
                // RFC 9768 §3.2.2.5.1: the first mark after none is acknowledged at once.
                let at_once = self.ce.on_data(marked) && marked;
                if let Some(accurate) = self.accurate() {
                    let field = if marked || field != Field::Ce { field } else { Field::Ect0 };
                    accurate.on_packet(field, u32::from(segment.len));
                }
                Prompt { before: false, at_once }
            }
        }
    }

    /// The flags of a segment that is not a SYN; `before`: of an ACK for what came before the last change.
    #[inline]
    pub fn flags(&mut self, before: bool) -> Flags {
        match self.mode {
            Mode::Off => Flags::default(),
            Mode::Classic if self.echoes() => Flags::ECE,
            Mode::Classic => Flags::default(),
            _ => self.other_flags(before),
        }
    }

    #[inline]
    fn echoes(&self) -> bool {
        let marked_syn_ack = self.first_ack && self.handshake == Field::Ce;
        self.classic.echoes() || marked_syn_ack
    }

    #[inline(never)]
    fn other_flags(&mut self, before: bool) -> Flags {
        match self.mode {
            Mode::Off | Mode::Classic => Flags::default(),
            Mode::Nonce => {
                let echo = self.echoes();
                let sum = self.nonce().is_some_and(|n| n.echo_sum());
                let flag = |on, f| if on { f } else { Flags::default() };
                flag(echo, Flags::ECE) | flag(sum, Flags::AE)
            }
            Mode::Dctcp => {
                let echo = self.ce.marked != before;
                if echo { Flags::ECE } else { Flags::default() }
            }
            Mode::Accurate if self.first_ack => accurate::handshake(self.handshake),
            Mode::Accurate => self.accurate().map_or(Flags::default(), |a| a.flags()),
        }
    }

    /// RCV.NXT is `next` now.
    #[inline]
    pub fn on_advance(&mut self, next: Seq) {
        if let Some(nonce) = self.nonce() {
            nonce.on_advance(next);
        }
    }

    /// The ACK of a SYN-ACK arrives: with Accurate ECN it says in which field that came, and counts nothing else.
    pub fn on_handshake_ack(&mut self, flags: Flags) {
        if let Some(accurate) = self.accurate() {
            accurate.on_handshake(flags);
        }
    }

    /// A segment that is not a SYN went out.
    #[inline]
    pub fn on_sent(&mut self) {
        self.first_ack = false;
    }

    /// The counters to send, if they changed.
    pub fn option(&mut self) -> Option<[u32; 3]> {
        self.accurate().and_then(|a| a.option())
    }

    /// What an ACK says of marks.
    #[inline]
    pub fn feedback(&mut self, segment: &Segment, options: &Options, delivers: u32, tcp: &Tcp) -> Feedback {
        let silent = self.mode == Mode::Classic && !segment.flags.has(Flags::ECE);
        if self.mode == Mode::Off || silent || tcp.misbehaviour == Misbehaviour::IgnoresEcho {
            return Feedback::default();
        }
        self.feedback_of(segment, options, delivers, tcp)
    }

    #[inline(never)]
    fn feedback_of(&mut self, segment: &Segment, options: &Options, delivers: u32, tcp: &Tcp) -> Feedback {
        let echo = segment.flags.has(Flags::ECE);
        match self.mode {
            Mode::Accurate => {
                let Some(accurate) = self.accurate() else { return Feedback::default() };
                let (packets, bytes) = accurate.on_ack(segment.flags, options.accurate_ecn);
                let bytes = bytes.unwrap_or(packets * tcp.mss.0 as u32);
                let marked =
                    if delivers > 0 { (f64::from(bytes) / f64::from(delivers)).min(1.0) } else { 0.0 };
                Feedback { echo: packets > 0, marked }
            }
            Mode::Nonce => {
                let sum = segment.flags.has(Flags::AE);
                let wrong = self.nonce().is_some_and(|n| n.on_ack(segment.ack, sum, echo));
                Feedback { echo: echo || wrong, marked: f64::from(u8::from(echo)) }
            }
            _ => Feedback { echo, marked: f64::from(u8::from(echo)) },
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

    /// Whether the sender is scalable and has the feedback it needs (RFC 9331 §4.2).
    fn is_l4s(&self, tcp: &Tcp) -> bool {
        self.mode == Mode::Accurate && matches!(tcp.congestion, crate::congestion::Algorithm::Prague(_))
    }

    /// The field of a segment that ends at `end`.
    #[inline]
    pub fn field(&mut self, len: u32, is_new: bool, is_probe: bool, end: Seq, tcp: &Tcp) -> Field {
        if self.usual {
            // RFC 3168 §6.1.4 to §6.1.6: no pure ACK, no retransmission, no window probe.
            return if len > 0 && is_new && !is_probe { Field::Ect0 } else { Field::NotEct };
        }
        if self.mode == Mode::Off {
            return Field::NotEct;
        }
        self.field_of(len, is_new, is_probe, end, tcp)
    }

    #[inline(never)]
    fn field_of(&mut self, len: u32, is_new: bool, is_probe: bool, end: Seq, tcp: &Tcp) -> Field {
        if tcp.misbehaviour == Misbehaviour::Strips {
            return Field::NotEct;
        }
        let capable = match tcp.ecn_in_force() {
            Ecn::EcnPlusPlus => true,
            _ => len > 0 && !is_probe && (is_new || tcp.ect_on == EctOn::AllData),
        };
        let l4s = tcp.ect1 || self.is_l4s(tcp);
        match (self.nonce(), capable) {
            (_, false) => Field::NotEct,
            (Some(nonce), true) => nonce.field(end),
            (None, true) if l4s => Field::Ect1,
            (None, true) => Field::Ect0,
        }
    }
}
