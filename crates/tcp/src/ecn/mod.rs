//! ECN in TCP: negotiation, echo and response. [`handshake`] negotiates one of the modes
//! [`rfc3168`] (classic ECN), [`dctcp`], [`accurate`] and [`nonce`]. [`codepoint`] decides which
//! packets are ECN-capable.

pub mod accurate;
pub mod choices;
pub mod codepoint;
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
use codepoint::Ect;
use dctcp::CeState;
pub use handshake::Syns;
pub use mode::Mode;
use mode::ModeState;
use nonce::Nonce;
use rfc3168::EcnState;

/// ECN state of an endpoint.
#[derive(Clone, Debug, Default)]
pub struct EcnEndpoint {
    mode: Mode,
    classic: EcnState,
    ce: CeState,
    /// ECN field of the other side's last SYN or SYN-ACK.
    handshake: Field,
    ect: Ect,
    mode_state: Option<Box<ModeState>>,
}

/// ACKs that a data packet requires because of its mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedAcks {
    /// True if the receiver must first acknowledge the earlier data, with the ECE flag of the
    /// earlier data.
    pub before: bool,
    /// True if the receiver must acknowledge the data packet at once.
    pub at_once: bool,
    /// Number of the following segments to acknowledge at once, if quick ACKs are enabled.
    pub more: u16,
}

/// Kind of segment that carries feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A pure ACK.
    Ack,
    /// A pure ACK of the data that arrived before the last change of marks.
    EarlierAck,
    /// Data, a FIN, or a window probe.
    Data,
    /// The first data.
    FirstData,
    /// A retransmission of the first data.
    FirstDataAgain,
}

impl EcnEndpoint {
    fn accurate(&mut self) -> Option<&mut Accurate> {
        match self.mode_state.as_deref_mut() {
            Some(ModeState::Accurate(accurate)) => Some(accurate),
            _ => None,
        }
    }

    fn nonce(&mut self) -> Option<&mut Nonce> {
        match self.mode_state.as_deref_mut() {
            Some(ModeState::Nonce(nonce)) => Some(nonce),
            _ => None,
        }
    }

    /// Return the negotiated mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Return true if the connection uses ECN.
    pub fn negotiated(&self) -> bool {
        self.mode != Mode::Off
    }

    /// Return true if the endpoint counts the marks of packets of all kinds, which only Accurate
    /// ECN requires.
    #[inline]
    pub fn counts_packets(&self) -> bool {
        self.mode == Mode::Accurate
    }

    /// Process an acceptable packet other than a SYN. `ack_pending` is true if received data is not
    /// acknowledged yet. Return true if an ACK must be sent now. Only Accurate ECN counts packets
    /// without data.
    pub fn on_packet(&mut self, segment: &Segment, field: Field, ack_pending: bool, tcp: &Tcp) -> bool {
        let hides = tcp.ecn.misbehaviour == Misbehaviour::HidesMarks && field == Field::Ce;
        let Some(accurate) = self.accurate() else { return false };
        let field = if hides { Field::Ect0 } else { field };
        let at_once = accurate.received.on_packet(field, segment.len, ack_pending);
        accurate.ack_of_acks = at_once && segment.len == 0 && !ack_pending;
        at_once
    }

    /// Process a data packet. Return the ACKs that the mark of the data packet requires.
    #[inline]
    pub fn on_data(
        &mut self,
        segment: &Segment,
        field: Field,
        ack_pending: bool,
        tcp: &Tcp,
    ) -> RequestedAcks {
        if self.mode == Mode::Off {
            return RequestedAcks::default();
        }
        let marked = field == Field::Ce && tcp.ecn.misbehaviour != Misbehaviour::HidesMarks;
        if self.mode == Mode::Classic {
            let (cwr, echoed) = (segment.flags.has(Flags::CWR), self.classic.echoes());
            self.classic.on_data(cwr, marked, tcp.details.ecn_echo);
            if tcp.details.ecn_echo == EcnEcho::Rfc3168 {
                return RequestedAcks::default();
            }
            // Linux, __tcp_ecn_check_ce, sends quick ACKs after a first mark, and after a packet
            // that is Not-ECT and hence a retransmission.
            let repeated = self.classic.is_repeated(field != Field::NotEct);
            let more = if (marked && !echoed) || repeated { 2 } else { 0 };
            return RequestedAcks { before: false, at_once: cwr || more > 0, more };
        }
        self.on_data_otherwise(segment, field, (marked, ack_pending), tcp)
    }

    #[inline(never)]
    fn on_data_otherwise(
        &mut self,
        segment: &Segment,
        field: Field,
        (marked, ack_pending): (bool, bool),
        tcp: &Tcp,
    ) -> RequestedAcks {
        match self.mode {
            Mode::Off | Mode::Classic | Mode::Accurate => RequestedAcks::default(),
            Mode::Dctcp => {
                let changed = self.ce.on_data(marked);
                RequestedAcks { before: changed && ack_pending, at_once: changed, more: 0 }
            }
            Mode::Nonce => {
                self.classic.on_data(segment.flags.has(Flags::CWR), marked, tcp.details.ecn_echo);
                if let Some(nonce) = self.nonce() {
                    nonce.on_data(field, segment.seq);
                }
                RequestedAcks::default()
            }
        }
    }

    /// Return the ECN flags of a segment that is not a SYN.
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
                accurate.ack_of_acks = false;
                // RFC 9768 §3.2.2.1: only a pure ACK reports the ECN field of the SYN-ACK.
                if carrier == Carrier::Ack && std::mem::take(&mut accurate.handshake_due) {
                    return field::handshake(handshake);
                }
                accurate.received.flags()
            }
        }
    }

    /// Record data of a SYN or SYN-ACK. Accurate ECN counts the bytes of data in a SYN or SYN-ACK,
    /// but not the packet (RFC 9768 §3.2.2.2, §3.2.3).
    pub fn on_syn_data(&mut self, field: Field, bytes: u16) {
        if let Some(accurate) = self.accurate() {
            accurate.received.on_syn_data(field, bytes);
        }
    }

    /// Record that RCV.NXT has advanced to `next`.
    #[inline]
    pub fn on_advance(&mut self, next: Seq) {
        if let Some(nonce) = self.nonce() {
            nonce.on_advance(next);
        }
    }

    /// Record an ACK of all received data.
    #[inline]
    pub fn on_sent(&mut self) {
        self.classic.on_ack_sent();
    }

    /// Return the AccECN option for a segment with `room` bytes left for TCP options (RFC 9768
    /// §3.2.3.2.1, §3.2.3.3).
    pub fn option(&mut self, room: u16, carrier: Carrier) -> Option<AccEcn> {
        let accurate = self.accurate()?;
        match (carrier, accurate.first_data) {
            (Carrier::Ack, _) if accurate.handshake_due => accurate.received.test_option(room),
            (Carrier::FirstData, FirstData::Due) => {
                accurate.first_data = FirstData::Tests;
                accurate.received.test_option(room)
            }
            // The retransmission of the first data has no AccECN option, because the option may
            // have caused the loss of the segment (RFC 9768 §3.2.3.2.2).
            (Carrier::FirstDataAgain, FirstData::Tests) => None,
            _ => accurate.received.option(room),
        }
    }

    /// Return true if a pure ACK sent now must not carry SACK blocks (RFC 9768 §3.2.2.1,
    /// §3.2.2.5.1).
    pub fn forbids_sack(&mut self) -> bool {
        self.accurate().is_some_and(|a| a.handshake_due || a.ack_of_acks)
    }

    /// Return true if the endpoint must send a pure ACK before any data, to report the ECN field of
    /// the SYN-ACK (RFC 9768 §3.2.2.1).
    pub fn must_send_handshake_ack(&mut self) -> bool {
        self.accurate().is_some_and(|a| a.handshake_due)
    }

    /// Return the feedback about marks in an ACK.
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
        let ace_feedback = accurate.echoed.on_ack(segment.flags, options, &newly, tests);
        if ace_feedback.mangled {
            self.ect = Ect::None;
        }
        sender.tcb.count_marks(ace_feedback.packets);
        let marked =
            if newly.bytes > 0 { f64::from(ace_feedback.bytes) / f64::from(newly.bytes) } else { 0.0 };
        Feedback { echo: ace_feedback.packets > 0, marked }
    }

    /// Count the feedback of an ACK to an endpoint that has sent only ACKs. The timestamps of
    /// arriving ACKs give the order in which the other side sent them.
    pub fn on_ack_of_acks(&mut self, segment: &Segment, options: &Options) {
        if let Some(accurate) = self.accurate() {
            accurate.echoed.on_ack(segment.flags, options, &Default::default(), false);
        }
    }

    /// Record a reduction of cwnd for any reason (RFC 3168 §6.1.2).
    pub fn on_cwnd_reduction(&mut self, max: Seq) {
        match self.mode {
            Mode::Off | Mode::Accurate => {}
            _ => self.classic.on_cwnd_reduction(),
        }
        if let Some(nonce) = self.nonce() {
            nonce.on_congestion(max);
        }
    }

    /// Return true if the next new data segment must carry CWR.
    #[inline]
    pub fn must_send_cwr(&self) -> bool {
        self.classic.must_send_cwr()
    }

    /// Record that a segment carries CWR.
    #[inline]
    pub fn on_cwr_sent(&mut self) {
        self.classic.on_cwr_sent();
    }

    /// Return the counters of Accurate ECN: the number of marked packets that arrived, the bytes
    /// that arrived, and the bytes that the other side received according to its feedback. The
    /// bytes are counted separately for ECT(0), CE and ECT(1).
    pub fn counts(&self) -> Option<(u32, [u32; 3], [u32; 3])> {
        match self.mode_state.as_deref() {
            Some(ModeState::Accurate(accurate)) => {
                let (packets, bytes) = accurate.received.counts();
                Some((packets, bytes, accurate.echoed.counts()))
            }
            _ => None,
        }
    }
}
