//! Fast Open (RFC 7413, `rfc7413`): data with the SYN, and data before the handshake ends.

use net::{Ecn as EcnField, FastOpen, Flags, Options, Segment};
use units::{Duration, Time};

use super::Endpoint;
use super::incidents::{Early, Fast};
use super::state::{Error, State};
use crate::config::Tcp;
use crate::fast_open::{Answer, Failure, Opening, Server};

/// The SYN-ACK of an end that is open already goes out once more than others (Linux, tcp_fastopen_synack_timer).
const MORE_SYN_ACKS: u64 = 1;
/// SYN-ACKs without answer before what followed them is deemed lost (Linux, tcp_fastopen_synack_timer).
const UNANSWERED: u8 = 2;

impl Endpoint {
    /// Opens actively, and what is written before the first SYN goes out may go with it (RFC 7413 §4.2.2).
    pub fn connect_fast(&mut self, opening: Opening) {
        self.connect();
        let failure = if opening.data { Failure::None } else { Failure::NoCookie };
        let fast = Fast { opening: Some(opening), failure, ..Fast::default() };
        self.optioned = true;
        self.incidents().fast_open = Some(Box::new(fast));
    }

    /// Opens passively, and takes data with a SYN that has the right cookie (RFC 7413 §4.2.2).
    pub fn listen_fast(&mut self, server: Server) {
        self.listen();
        self.optioned = true;
        self.incidents().fast_open = Some(Box::new(Fast { server: Some(server), ..Fast::default() }));
    }

    fn fast(&self) -> Option<&Fast> {
        self.incidents.as_ref()?.fast_open.as_deref()
    }

    fn fast_mut(&mut self) -> Option<&mut Fast> {
        self.incidents.as_mut()?.fast_open.as_deref_mut()
    }

    fn early(&self) -> Option<Early> {
        if self.state == State::SynReceived { self.fast()?.early } else { None }
    }

    /// Its state as its application has it: who closed while it was open already waits for the ACK of its FIN as much as
    /// for that of its SYN (RFC 9293 §3.10.4).
    pub fn state_told(&self) -> State {
        let closes = self.is_early() && self.sender.as_ref().is_some_and(|s| s.tcb.closing);
        if closes { State::FinWait1 } else { self.state }
    }

    /// Whether data flows though the handshake has not ended: the application may have the connection.
    pub fn is_early(&self) -> bool {
        self.early().is_some()
    }

    /// How the other side answered the SYN of [`Endpoint::connect_fast`], once it did.
    pub fn fast_open_answer(&self) -> Option<Answer> {
        self.fast()?.answer
    }

    /// Whether data with a SYN was taken, here or there; and why not.
    pub fn fast_open_result(&self) -> (bool, Failure) {
        self.fast().map_or((false, Failure::None), |f| (f.taken, f.failure))
    }

    /// The option and the data of a SYN that goes out: those of the first alone (RFC 7413 §4.2.2; Linux,
    /// tcp_send_syn_data).
    pub(super) fn begin_fast(&mut self, tcp: &Tcp, options: &mut Options) -> u16 {
        let Some(opening) = self.fast_mut().and_then(|f| f.opening.take()) else { return 0 };
        let fits = |o: &FastOpen| options.wire_len() + o.wire_len() <= Options::MOST;
        let option = opening.option.filter(fits);
        if let Some(option) = option {
            options.set_fast_open(option);
        }
        let mut len = 0;
        if opening.data && option.is_some() == opening.option.is_some() {
            len = self.sender().on_syn_data(opening.room(tcp));
        }
        if let Some(fast) = self.fast_mut() {
            (fast.asked, fast.data) = (option, len > 0);
        }
        len as u16
    }

    /// The SYN-ACK arrives that answers our SYN.
    pub(super) fn on_fast_answer(&mut self, segment: &Segment, options: &Options, field: EcnField) {
        let again = self.sender.as_ref().is_some_and(|s| s.tcb.expirations > 0);
        let all = segment.ack == self.max();
        let Some(fast) = self.fast_mut() else { return };
        let (asked, data) = (fast.asked, fast.data);
        if asked.is_none() && !data {
            return;
        }
        fast.answer = Some(Answer { asked, data, again, option: options.fast_open(), mss: options.mss });
        fast.taken = data && all;
        match (data && !all, again) {
            (true, true) => fast.failure = Failure::SynAgain,
            (true, false) => fast.failure = Failure::NotAcknowledged,
            _ => {}
        }
        self.take_syn_data(segment, field);
    }

    /// A SYN arrives for an end that listens: whether it opens at once.
    pub(super) fn on_fast_syn(&mut self, segment: &Segment, options: &Options, field: EcnField) {
        let Some(fast) = self.fast_mut() else { return };
        let Some(server) = fast.server else { return };
        let verdict = server.decide(options.fast_open(), segment.len > 0);
        fast.reply = verdict.option;
        if verdict.open {
            fast.early = Some(Early { sent: Time::NEVER, timer: Time::NEVER, again: 0 });
            fast.taken = segment.len > 0;
            self.take_syn_data(segment, field);
        }
    }

    /// Data that came with a SYN or SYN-ACK is the application's, as far as it fits into the window.
    fn take_syn_data(&mut self, segment: &Segment, field: EcnField) {
        let reads = self.incidents.as_ref().is_some_and(|r| r.reads);
        let receiver = self.receiver();
        let len = u32::from(segment.len).min(receiver.advertised());
        receiver.on_syn_data(len as u16, !segment.flags.has(Flags::ACK));
        if !reads {
            receiver.unread = 0;
        }
        self.ecn.on_syn_data(field, len as u16);
    }

    /// The option of the first SYN-ACK.
    pub(super) fn fast_reply(&mut self) -> Option<FastOpen> {
        self.fast_mut()?.reply.take()
    }

    /// Times that the SYN-ACK of an end that is open already went out again.
    pub(super) fn early_attempt(&self) -> Option<u8> {
        self.early().map(|early| early.again)
    }

    /// That SYN-ACK goes out: data may follow the first, and its timer is not the sender's.
    pub(super) fn on_early_syn_ack(&mut self, now: Time, tcp: &Tcp) -> u8 {
        let agreed = self.agreed;
        let smss = self.smss();
        let Some(early) = self.early() else { return 0 };
        let sender = self.sender();
        if early.sent == Time::NEVER {
            sender.on_syn_sent(now, tcp);
            sender.begin_early(now, smss, agreed.sack, agreed.timestamps, tcp);
        }
        let timeout = Duration(tcp.rto.initial.0.saturating_mul(1 << early.again.min(16))).min(tcp.rto.max);
        if let Some(kept) = self.fast_mut().and_then(|f| f.early.as_mut()) {
            (kept.sent, kept.timer) = (early.sent.min(now), now + timeout);
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.on_ack_sent();
        }
        early.again
    }

    /// Data of an end that is open already; none when SYN-ACKs remain without answer.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_early(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        self.early().filter(|early| early.again < UNANSWERED)?;
        self.poll_open(now, options)
    }

    /// When that SYN-ACK goes out again, or a delayed ACK.
    pub(super) fn early_deadline(&self) -> Option<Time> {
        let early = self.early()?;
        Some(early.timer.min(self.receiver.as_ref().map_or(Time::NEVER, |r| r.ack_at)))
    }

    /// The time of an end that is open already has come to `now`.
    #[cold]
    pub(super) fn on_early_timer(&mut self, now: Time) {
        let tcp = self.tcp.clone();
        let Some(early) = self.fast_mut().and_then(|f| f.early.as_mut()) else { return };
        if early.timer > now {
            return;
        }
        early.again = early.again.saturating_add(1);
        early.timer = Time::NEVER;
        let again = early.again;
        if u64::from(again) > tcp.connection.synack_retries + MORE_SYN_ACKS {
            return self.end(now, Some(Error::TimedOut));
        }
        self.sender().count_syn_timeout();
        if again == UNANSWERED {
            self.sender().mark_early_data_lost(now, &tcp);
            let max = self.max();
            self.ecn.on_cut(max);
        }
        self.syn_due = true;
    }

    /// The handshake ends of an end that is open already. Its SYN-ACK measures the round trip, if it went out once and
    /// the ACK is of nothing else (RFC 6298 §3). Whether it was open.
    pub(super) fn end_early(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(early) = self.early() else { return false };
        let tcp = self.tcp.clone();
        let sender = self.sender();
        let alone = early.again == 0 && segment.ack == sender.tcb.una;
        sender.end_early(now, alone.then(|| now.since(early.sent)), &tcp);
        self.first_rtt = sender.tcb.smoothed(&tcp).0;
        if let Some(fast) = self.fast_mut() {
            fast.early = None;
        }
        true
    }
}
