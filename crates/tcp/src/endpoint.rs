//! One end of a connection: the states of RFC 9293 §3.3.2 around a sender and a receiver.

use std::sync::Arc;

use net::{Ecn as EcnField, Flags, Segment, Seq};
use units::{Duration, Time};

use crate::config::{Ecn, EctOn, Tcp};
use crate::ecn::rfc3168::EcnState;
use crate::receiver::{Receiver, ReceiverStats};
use crate::sender::{Outgoing, Sender, SenderStats, Window};

/// States of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Open.
    Established,
    /// Closed here, FIN not acknowledged.
    FinWait1,
    /// Closed here, FIN acknowledged.
    FinWait2,
    /// Closed there.
    CloseWait,
    /// Closed on both sides, own FIN not acknowledged.
    Closing,
    /// Closed there, then here, FIN not acknowledged.
    LastAck,
    /// Closed on both sides.
    TimeWait,
}

/// One end of a TCP connection. Feed it with [`on_segment`](Endpoint::on_segment) and
/// [`on_timer`](Endpoint::on_timer), then send what [`poll`](Endpoint::poll) returns until it returns
/// nothing, and call it again no later than its [`deadline`](Endpoint::deadline).
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    tcp: Arc<Tcp>,
    state: State,
    ecn: EcnState,
    /// A SYN or SYN-ACK is to go out.
    syn_due: bool,
    receiver: Receiver,
    packets_sent: u64,
    sender: Sender,
    acks_sent: u64,
    established_at: Time,
    completed_at: Time,
    closed_at: Time,
}

impl Endpoint {
    /// A closed endpoint. `phase`: where in a tick its host's clock stands at time zero.
    pub fn new(tcp: Arc<Tcp>, phase: Duration) -> Self {
        Endpoint {
            sender: Sender::new(&tcp, Seq(0), phase),
            receiver: Receiver::new(),
            ecn: EcnState::default(),
            state: State::Closed,
            syn_due: false,
            acks_sent: 0,
            packets_sent: 0,
            established_at: Time::NEVER,
            completed_at: Time::NEVER,
            closed_at: Time::NEVER,
            tcp,
        }
    }

    /// Opens actively.
    pub fn connect(&mut self) {
        self.state = State::SynSent;
        self.syn_due = true;
    }

    /// Opens passively.
    pub fn listen(&mut self) {
        self.state = State::Listen;
    }

    /// The application writes `bytes`; `u64::MAX`: without end.
    pub fn write(&mut self, bytes: u64) {
        self.sender.unsent = self.sender.unsent.saturating_add(bytes);
    }

    /// The application has no more to write.
    pub fn close(&mut self) {
        if !self.sender.closing {
            self.sender.closing = true;
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                state => state,
            };
        }
    }

    /// When it must be called again, whatever arrives; [`Time::NEVER`]: only if something arrives.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.sender.timer.min(self.receiver.ack_at)
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        if self.receiver.ack_at <= now {
            self.receiver.ack_now = true;
        }
        if self.sender.timer <= now {
            match self.state {
                State::SynSent | State::SynReceived => {
                    self.sender.on_syn_timeout();
                    self.sender.timer = Time::NEVER;
                    self.syn_due = true;
                }
                _ => {
                    self.sender.on_timeout(now, &self.tcp);
                    self.ecn.on_cut();
                }
            }
        }
    }

    /// A segment arrives, in a packet with this ECN field.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment, field: EcnField) {
        match self.state {
            State::Closed => {}
            State::Listen => self.in_listen(segment),
            State::SynSent => self.in_syn_sent(now, segment),
            _ => self.in_synchronized(now, segment, field),
        }
    }

    fn in_listen(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) {
            self.receiver.next = segment.seq + 1;
            self.sender.rwnd = segment.window;
            if self.tcp.ecn == Ecn::Rfc3168 {
                self.ecn.on_syn(segment.flags);
            }
            self.state = State::SynReceived;
            self.syn_due = true;
        }
    }

    fn in_syn_sent(&mut self, now: Time, segment: &Segment) {
        if segment.flags.has(Flags::SYN | Flags::ACK) && segment.ack == self.sender.max {
            self.receiver.next = segment.seq + 1;
            self.sender.rwnd = segment.window;
            if self.tcp.ecn == Ecn::Rfc3168 {
                self.ecn.on_syn(segment.flags);
            }
            self.sender.on_syn_acked(now, &self.tcp);
            self.receiver.ack_now = true;
            self.establish(now);
        }
    }

    fn establish(&mut self, now: Time) {
        self.established_at = now;
        self.state = if self.sender.closing { State::FinWait1 } else { State::Established };
    }

    #[inline]
    fn in_synchronized(&mut self, now: Time, segment: &Segment, field: EcnField) {
        if segment.flags.has(Flags::SYN) {
            if self.state == State::SynReceived {
                self.syn_due = true; // the SYN-ACK was lost
            } else {
                self.receiver.ack_now = true;
            }
            return;
        }
        if !self.receiver.accepts(segment, self.tcp.receive_window.0 as u32) {
            if segment.seq_len() > 0 {
                self.receiver.on_unacceptable(segment); // RFC 9293 §3.10.7.4, first check
            }
            return;
        }
        if !segment.flags.has(Flags::ACK) || segment.ack.after(self.sender.max) {
            return;
        }
        if self.state == State::SynReceived && segment.ack.after(self.sender.una) {
            self.sender.on_syn_acked(now, &self.tcp);
            self.establish(now);
            self.sender.rwnd = segment.window;
        }
        let cut = self.sender.on_ack(now, segment, self.ecn.negotiated(), &self.tcp);
        if cut {
            self.ecn.on_cut();
        }
        self.after_ack(now);
        if segment.len > 0 {
            self.ecn.on_data(segment.flags.has(Flags::CWR), field == EcnField::Ce);
        }
        if segment.seq_len() > 0 && self.receiver.on_data(now, segment, &self.tcp) {
            self.state = match self.state {
                State::Established => State::CloseWait,
                State::FinWait1 => State::Closing,
                State::FinWait2 => State::TimeWait,
                state => state,
            };
            if self.state == State::TimeWait {
                self.closed_at = now;
            }
        }
    }

    /// What an ACK means for the connection: completion, and the ACK of the FIN.
    #[inline]
    fn after_ack(&mut self, now: Time) {
        if !self.sender.closing {
            return;
        }
        if self.completed_at == Time::NEVER && self.sender.all_acknowledged() {
            self.completed_at = now;
        }
        if self.sender.fin_sent && self.sender.una == self.sender.max {
            self.state = match self.state {
                State::FinWait1 => State::FinWait2,
                State::Closing => State::TimeWait,
                State::LastAck => State::Closed,
                state => state,
            };
            if matches!(self.state, State::TimeWait | State::Closed) && self.closed_at == Time::NEVER {
                self.closed_at = now;
            }
        }
    }

    /// The next segment to send now, with its ECN field; call until it returns `None`.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<(Segment, EcnField)> {
        let (segment, field) = match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived => (self.poll_syn(now)?, EcnField::NotEct),
            _ => match self.sender.next_segment(now, &self.tcp) {
                Some(outgoing) => self.data(outgoing),
                None if self.receiver.ack_now => (self.pure_ack(), EcnField::NotEct),
                None => return None,
            },
        };
        self.packets_sent += 1;
        self.receiver.on_ack_sent();
        Some((segment, field))
    }

    fn poll_syn(&mut self, now: Time) -> Option<Segment> {
        if !std::mem::take(&mut self.syn_due) {
            return None;
        }
        self.sender.on_syn_sent(now, &self.tcp);
        let mut segment = self.header(self.sender.una);
        segment.flags = if self.state == State::SynSent {
            let setup = if self.tcp.ecn == Ecn::Rfc3168 { EcnState::setup_syn() } else { Flags::default() };
            Flags::SYN | setup
        } else {
            let setup = if self.ecn.negotiated() { Flags::ECE } else { Flags::default() };
            Flags::SYN | Flags::ACK | setup
        };
        Some(segment)
    }

    fn header(&self, seq: Seq) -> Segment {
        Segment {
            seq,
            ack: self.receiver.next,
            window: self.tcp.receive_window.0 as u32,
            len: 0,
            flags: if self.ecn.echoes() { Flags::ACK | Flags::ECE } else { Flags::ACK },
        }
    }

    #[inline]
    fn data(&mut self, outgoing: Outgoing) -> (Segment, EcnField) {
        let mut segment = self.header(outgoing.seq);
        segment.len = outgoing.len as u16;
        if outgoing.fin {
            segment.flags |= Flags::FIN;
        }
        if outgoing.is_new && outgoing.len > 0 && self.ecn.take_cwr() {
            segment.flags |= Flags::CWR;
        }
        let capable = self.ecn.negotiated()
            && outgoing.len > 0
            && (outgoing.is_new || self.tcp.ect_on == EctOn::AllData);
        (segment, if capable { EcnField::Ect0 } else { EcnField::NotEct })
    }

    fn pure_ack(&mut self) -> Segment {
        self.acks_sent += 1;
        self.header(self.sender.max)
    }

    /// Bytes that `segment` counts for on the wire.
    #[inline]
    pub fn wire_size(&self, segment: &Segment) -> u16 {
        if segment.len > 0 {
            segment.len + self.tcp.header_on_data.0 as u16
        } else {
            self.tcp.header_on_control.0 as u16
        }
    }

    /// The other side has closed and this side has not.
    pub fn peer_closed(&self) -> bool {
        self.state == State::CloseWait
    }

    /// Whether the connection is over at this end.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Its parameters.
    pub fn tcp(&self) -> &Tcp {
        &self.tcp
    }

    /// The window of its sender.
    pub fn window(&self) -> Window {
        self.sender.window(&self.tcp)
    }

    /// Its retransmission timeout, back-off included.
    pub fn rto(&self) -> Duration {
        self.sender.timeout(&self.tcp)
    }

    /// Bytes of its data that the other side acknowledged.
    pub fn acked(&self) -> u64 {
        self.sender.acked
    }

    /// What its sender counted.
    pub fn sender_stats(&self) -> &SenderStats {
        &self.sender.stats
    }

    /// What its receiver counted.
    pub fn receiver_stats(&self) -> &ReceiverStats {
        &self.receiver.stats
    }

    /// Pure ACKs sent, and packets of all kinds sent.
    pub fn sent(&self) -> (u64, u64) {
        (self.acks_sent, self.packets_sent)
    }

    /// Whether both ends agreed on ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.negotiated()
    }

    /// When it was established; when all its data was acknowledged after its close; when it was
    /// closed. Each [`Time::NEVER`] until it happens.
    pub fn milestones(&self) -> (Time, Time, Time) {
        (self.established_at, self.completed_at, self.closed_at)
    }
}
