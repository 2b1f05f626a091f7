//! TCP Fast Open (RFC 7413, `rfc7413`): data in the SYN, and data before the handshake ends.

use net::{Ecn as EcnField, FastOpen, Flags, Options, Segment};
use units::{Duration, Time};

use super::Endpoint;
use super::incidents::{EarlyConnection, FastOpenState};
use super::state::{Error, State};
use crate::config::Tcp;
use crate::fast_open::{Answer, Failure, Opening, Server};

/// Number of retransmissions of the SYN-ACK of an early connection in addition to `synack_retries`
/// (Linux, tcp_fastopen_synack_timer).
const EXTRA_SYN_ACKS: u64 = 1;
/// Number of retransmissions of a SYN-ACK after which the data that followed it is deemed lost
/// (Linux, tcp_fastopen_synack_timer).
const MAX_UNANSWERED: u8 = 2;

impl Endpoint {
    /// Open actively. Data that the application writes before the first SYN is sent may be part of
    /// the SYN (RFC 7413 §4.2.2).
    pub fn connect_fast(&mut self, opening: Opening) {
        self.connect();
        let failure = if opening.data { Failure::None } else { Failure::NoCookie };
        let fast = FastOpenState { opening: Some(opening), failure, ..FastOpenState::default() };
        self.uses_options = true;
        self.incidents().fast_open = Some(Box::new(fast));
    }

    /// Open passively, and accept the data of a SYN with the right cookie (RFC 7413 §4.2.2).
    pub fn listen_fast(&mut self, server: Server) {
        self.listen();
        self.uses_options = true;
        self.incidents().fast_open =
            Some(Box::new(FastOpenState { server: Some(server), ..FastOpenState::default() }));
    }

    fn fast(&self) -> Option<&FastOpenState> {
        self.incidents.as_ref()?.fast_open.as_deref()
    }

    fn fast_mut(&mut self) -> Option<&mut FastOpenState> {
        self.incidents.as_mut()?.fast_open.as_deref_mut()
    }

    fn early(&self) -> Option<EarlyConnection> {
        if self.state == State::SynReceived { self.fast()?.early } else { None }
    }

    /// Return the state that the application sees. After the application closes an early
    /// connection, the endpoint waits for the ACKs of its SYN and its FIN (RFC 9293 §3.10.4).
    pub fn application_state(&self) -> State {
        let closes = self.is_early() && self.sender.as_ref().is_some_and(|s| s.tcb.closing);
        if closes { State::FinWait1 } else { self.state }
    }

    /// Return true if the connection is early: the application may use it although the handshake
    /// has not ended.
    pub fn is_early(&self) -> bool {
        self.early().is_some()
    }

    /// Return the answer to the SYN of [`Endpoint::connect_fast`]; `None` before the answer.
    pub fn fast_open_answer(&self) -> Option<Answer> {
        self.fast()?.answer
    }

    /// Return true if the server accepted the data of the SYN, and otherwise the reason why it did
    /// not.
    pub fn fast_open_result(&self) -> (bool, Failure) {
        self.fast().map_or((false, Failure::None), |f| (f.data_accepted, f.failure))
    }

    /// Write the Fast Open option of a SYN, and return the number of data bytes in the SYN. Only
    /// the first SYN has a Fast Open option or data (RFC 7413 §4.2.2; Linux, tcp_send_syn_data).
    pub(super) fn begin_fast(&mut self, tcp: &Tcp, options: &mut Options) -> u16 {
        let Some(opening) = self.fast_mut().and_then(|f| f.opening.take()) else { return 0 };
        let fits = |o: &FastOpen| options.wire_len() + o.wire_len() <= Options::MOST;
        let option = opening.option.filter(fits);
        if let Some(option) = option {
            options.set_fast_open(option);
        }
        let mut len = 0;
        if opening.data && option.is_some() == opening.option.is_some() {
            len = self.sender().on_syn_data(opening.max_data(tcp));
        }
        if let Some(fast) = self.fast_mut() {
            (fast.requested, fast.data) = (option, len > 0);
        }
        len as u16
    }

    /// Process the SYN-ACK that answers this endpoint's SYN.
    pub(super) fn on_fast_answer(&mut self, segment: &Segment, options: &Options, field: EcnField) {
        let syn_retransmitted = self.sender.as_ref().is_some_and(|s| s.tcb.expirations > 0);
        let all = segment.ack == self.max();
        let Some(fast) = self.fast_mut() else { return };
        let (requested, data) = (fast.requested, fast.data);
        if requested.is_none() && !data {
            return;
        }
        fast.answer = Some(Answer {
            requested,
            data,
            syn_retransmitted,
            option: options.fast_open(),
            mss: options.mss,
        });
        fast.data_accepted = data && all;
        match (data && !all, syn_retransmitted) {
            (true, true) => fast.failure = Failure::SynRetransmitted,
            (true, false) => fast.failure = Failure::NotAcknowledged,
            _ => {}
        }
        self.accept_syn_data(segment, field);
    }

    /// Process a SYN in LISTEN. If the SYN has the right cookie, the application may use the
    /// connection before the handshake ends.
    pub(super) fn on_fast_syn(&mut self, segment: &Segment, options: &Options, field: EcnField) {
        let Some(fast) = self.fast_mut() else { return };
        let Some(server) = fast.server else { return };
        let verdict = server.decide(options.fast_open(), segment.len > 0);
        fast.reply = verdict.option;
        if verdict.open {
            fast.early = Some(EarlyConnection { sent: Time::NEVER, timer: Time::NEVER, retransmissions: 0 });
            fast.data_accepted = segment.len > 0;
            self.accept_syn_data(segment, field);
        }
    }

    /// Accept the data of a SYN or SYN-ACK for the application, up to the window.
    fn accept_syn_data(&mut self, segment: &Segment, field: EcnField) {
        let explicit_reads = self.incidents.as_ref().is_some_and(|r| r.explicit_reads);
        let receiver = self.receiver();
        let len = u32::from(segment.len).min(receiver.advertised());
        receiver.on_syn_data(len as u16, !segment.flags.has(Flags::ACK));
        if !explicit_reads {
            receiver.unread = 0;
        }
        self.ecn.on_syn_data(field, len as u16);
    }

    /// Return the Fast Open option of the first SYN-ACK.
    pub(super) fn fast_reply(&mut self) -> Option<FastOpen> {
        self.fast_mut()?.reply.take()
    }

    /// Return the number of retransmissions of the SYN-ACK of an early connection.
    pub(super) fn early_attempt(&self) -> Option<u8> {
        self.early().map(|early| early.retransmissions)
    }

    /// Record the transmission of the SYN-ACK of an early connection. The server may send data
    /// after its first SYN-ACK, so the SYN-ACK and the data have separate retransmission timers.
    /// Return the number of retransmissions of the SYN-ACK.
    pub(super) fn on_early_syn_ack(&mut self, now: Time, tcp: &Tcp) -> u8 {
        let negotiated = self.negotiated;
        let smss = self.smss();
        let Some(early) = self.early() else { return 0 };
        let sender = self.sender();
        if early.sent == Time::NEVER {
            sender.on_syn_sent(now, tcp);
            sender.begin_early(now, smss, negotiated.sack, negotiated.timestamps, tcp);
        }
        let timeout =
            Duration(tcp.rto.initial.0.saturating_mul(1 << early.retransmissions.min(16))).min(tcp.rto.max);
        if let Some(state) = self.fast_mut().and_then(|f| f.early.as_mut()) {
            (state.sent, state.timer) = (early.sent.min(now), now + timeout);
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.on_ack_sent();
        }
        early.retransmissions
    }

    /// Return the next data segment of an early connection, unless several SYN-ACKs were not
    /// answered.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_early(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        self.early().filter(|early| early.retransmissions < MAX_UNANSWERED)?;
        self.poll_open(now, options)
    }

    /// Return the deadline of an early connection, at which its SYN-ACK is retransmitted or a
    /// delayed ACK is sent.
    pub(super) fn early_deadline(&self) -> Option<Time> {
        let early = self.early()?;
        Some(early.timer.min(self.receiver.as_ref().map_or(Time::NEVER, |r| r.ack_at)))
    }

    /// Process the timers of an early connection at time `now`.
    #[cold]
    pub(super) fn on_early_timer(&mut self, now: Time) {
        let tcp = self.tcp.clone();
        let Some(early) = self.fast_mut().and_then(|f| f.early.as_mut()) else { return };
        if early.timer > now {
            return;
        }
        early.retransmissions = early.retransmissions.saturating_add(1);
        early.timer = Time::NEVER;
        let retransmissions = early.retransmissions;
        if u64::from(retransmissions) > tcp.connection.synack_retries + EXTRA_SYN_ACKS {
            return self.end(now, Some(Error::TimedOut));
        }
        self.sender().count_syn_timeout();
        if retransmissions == MAX_UNANSWERED {
            self.sender().mark_early_data_lost(now, &tcp);
            let max = self.max();
            self.ecn.on_cwnd_reduction(max);
        }
        self.syn_due = true;
    }

    /// Complete the handshake of a connection with TCP Fast Open. The SYN-ACK and its ACK give a
    /// round-trip time if the SYN-ACK was sent once and the ACK acknowledges only the SYN-ACK (RFC
    /// 6298 §3). Return true if the application could use the connection before the handshake ended
    /// (`is_early`).
    pub(super) fn end_early(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(early) = self.early() else { return false };
        let tcp = self.tcp.clone();
        let sender = self.sender();
        let alone = early.retransmissions == 0 && segment.ack == sender.tcb.una;
        sender.end_early(now, alone.then(|| now.since(early.sent)), &tcp);
        self.first_rtt = sender.tcb.smoothed(&tcp).0;
        if let Some(fast) = self.fast_mut() {
            fast.early = None;
        }
        true
    }
}
