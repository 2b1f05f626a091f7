//! The handshake (RFC 9293 §3.10.7.2 to §3.10.7.4): SYN, SYN-ACK, and the options that they
//! negotiate.

use net::{Ecn as EcnField, Flags, Options, Segment, Seq};
use units::Time;

use super::Endpoint;
use super::incidents::Reset;
use super::negotiated::NegotiatedOptions;
use super::state::{Error, State};
use crate::config::{Ecn, EctOn, RtoEstimator, Tcp, UserTimeoutFrom, WindowScaling};
use crate::ecn::{EcnEndpoint, Mode, Syns};
use crate::receiver::Receiver;
use crate::timestamp::timestamp;

impl Endpoint {
    /// Process the other side's SYN or SYN-ACK. Return true if this endpoint's SYN was marked.
    fn process_syn(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) -> bool {
        let tcp = &self.tcp;
        self.irs = segment.seq;
        self.rwnd = segment.window;
        self.negotiated = NegotiatedOptions {
            mss: options.mss.unwrap_or(0),
            their_scale: options.window_scale.unwrap_or(0).min(14), // RFC 7323 §2.3
            our_scale: window_scale(tcp),
            scaling: match tcp.window.scaling {
                WindowScaling::Full => true,
                WindowScaling::On => options.window_scale.is_some(),
                WindowScaling::Off => false,
            },
            sack: tcp.sack && options.sack_permitted,
            timestamps: tcp.timestamps && options.timestamps.is_some(),
        };
        if let Some((value, _)) = options.timestamps.filter(|_| self.negotiated.timestamps) {
            self.receiver().set_ts_recent(now, value);
        }
        let sent = if self.state == State::SynSent { self.syns() } else { Syns::default() };
        let (tcp, ecn) = (&self.tcp, &mut self.ecn);
        let marked = if segment.flags.has(Flags::ACK) {
            ecn.on_syn_ack(segment.flags, field, options, &sent, tcp)
        } else {
            ecn.on_syn(segment.flags, field, &sent, tcp);
            false
        };
        if let Some(sender) = &mut self.sender {
            sender.tcb.set_window(segment);
        }
        marked
    }

    #[cold]
    pub(super) fn in_listen(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.incidents().reset = Some(Reset::answers(segment, options));
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.process_syn(now, segment, options, field);
            self.state = State::SynReceived;
            self.sender().tcb.set_window(segment);
            self.syn_due = true;
            self.on_fast_syn(segment, options, field);
        }
    }

    /// Process a segment in SYN-SENT (RFC 9293 §3.10.7.3).
    #[cold]
    pub(super) fn in_syn_sent(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) {
        let acked = segment.flags.has(Flags::ACK);
        if acked && (!segment.ack.after(self.iss) || segment.ack.after(self.max())) {
            if !segment.flags.has(Flags::RST) {
                self.incidents().reset = Some(Reset::answers(segment, options));
            }
            return;
        }
        if segment.flags.has(Flags::RST) {
            if acked && self.tcp.ecn.fallback && self.syns().last.0 != Flags::default() {
                self.incidents().plain_syn = true; // RFC 3168 §6.1.1.1
                self.syn_due = true;
            } else if acked {
                self.end(now, Some(Error::Refused));
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            if acked && self.incidents.as_ref().is_some_and(|r| r.syn_ack_repeated) {
                // An ACK without SYN shows that the responder is in ESTABLISHED and does not repeat
                // its SYN-ACK (RFC 5562 §5).
                self.syn_acked(now, segment.ack);
                self.establish(now);
                self.in_synchronized(now, segment, options, field);
            }
            return;
        }
        let marked = self.process_syn(now, segment, options, field);
        if acked && self.tcp.ecn_in_force() == Ecn::EcnPlusTryOnce && self.ecn.handshake_marked() {
            self.ack_due = true; // RFC 5562 §3.2: stay in SYN-SENT until a SYN-ACK arrives without mark
            self.incidents().syn_ack_repeated = true;
            let tcp = self.tcp.clone();
            self.sender().restart_syn_timer(now, &tcp);
            return;
        }
        if acked {
            self.on_fast_answer(segment, options, field);
            self.syn_acked(now, segment.ack);
            self.ack_due = true;
            self.establish(now);
            if self.incidents.as_ref().is_some_and(|r| r.write_waits) {
                // The ACK of the SYN-ACK carries the data that the application has already written
                // (RFC 9293 §3.10.7.3; Linux, tcp_rcv_synsent_state_process).
                self.ack_due = false;
                let tcp = self.tcp.clone();
                self.receiver().postpone_handshake_ack(now, &tcp);
            }
            if marked {
                self.sender().begin_with_one_segment();
            }
        } else {
            // Simultaneous open.
            self.incidents().simultaneous = true;
            self.state = State::SynReceived;
            self.syn_due = true;
        }
    }

    /// Return the number of earlier transmissions of the SYN or SYN-ACK that were not answered.
    fn attempt(&self) -> u8 {
        let attempt = || self.sender.as_ref().map_or(0, |s| s.tcb.expirations);
        self.early_attempt().unwrap_or_else(attempt)
    }

    /// Return the ECN flags and fields of this endpoint's SYNs.
    fn syns(&self) -> Syns {
        let tcp = &self.tcp;
        let (plain, syn_ack_repeated) =
            self.incidents.as_ref().map_or((false, false), |r| (r.plain_syn, r.syn_ack_repeated));
        let syn = |attempt: u8| {
            let flags = EcnEndpoint::syn_flags(tcp, if syn_ack_repeated { 0 } else { attempt });
            (flags, EcnEndpoint::syn_field(tcp, flags, attempt))
        };
        let last = if plain { Default::default() } else { syn(self.attempt()) };
        Syns { first: syn(0), last }
    }

    /// Return the ECN fields of this endpoint's SYN-ACKs.
    fn syn_acks(&self) -> Syns {
        let repeated = self.incidents.as_ref().is_some_and(|r| r.syn_ack_repeated);
        let field = |attempt| (Flags::default(), self.ecn.syn_ack_field(&self.tcp, attempt));
        Syns { first: field(0), last: field(self.attempt().max(u8::from(repeated))) }
    }

    fn syn_acked(&mut self, now: Time, ack: Seq) {
        let (tcp, negotiated) = (self.tcp.clone(), self.negotiated);
        let sender = self.sender();
        sender.on_syn_acked(now, ack, negotiated.smss(&tcp), negotiated.sack, negotiated.timestamps, &tcp);
        self.first_rtt = sender.tcb.smoothed(&tcp).0;
    }

    fn establish(&mut self, now: Time) {
        self.established_at = now;
        let untouched = self.sender.as_ref().is_none_or(|s| s.tcb.is_untouched());
        let closing = self.sender.as_ref().is_some_and(|s| s.tcb.closing);
        // An RTO estimator that counts clock ticks needs more information about the handshake than
        // its round-trip time.
        if untouched
            && (self.state == State::SynReceived || self.tcp.rto.estimator != RtoEstimator::Jacobson1988)
        {
            self.sender = None; // a write of the application creates the sender again
        }
        self.state = if closing { State::FinWait1 } else { State::Established };
    }

    /// Process an ACK in SYN-RECEIVED. Return true if the ACK ends the handshake.
    #[cold]
    pub(super) fn on_handshake_ack(&mut self, now: Time, segment: &Segment, options: &Options) -> bool {
        let una = self.sender.as_ref().map_or(self.iss + 1, |s| s.tcb.una);
        let of_syn = if self.is_early() { !segment.ack.before(una) } else { segment.ack.after(una) };
        if !of_syn || self.repeats_marked_syn_ack(segment) {
            return false;
        }
        let sent = self.syn_acks();
        let marked = self.ecn.on_handshake_ack(segment, options, &sent, &self.tcp);
        self.complete_handshake(now, segment, marked);
        true
    }

    /// Retransmit a marked SYN-ACK once as Not-ECT (RFC 5562 §3.2). Return true if the SYN-ACK is
    /// retransmitted.
    fn repeats_marked_syn_ack(&mut self, segment: &Segment) -> bool {
        let echo = segment.flags.has(Flags::ECE) && self.ecn.negotiated();
        if self.tcp.ecn.mode != Ecn::EcnPlusTryOnce
            || !echo
            || self.incidents.as_ref().is_some_and(|r| r.syn_ack_repeated)
        {
            return false;
        }
        self.incidents().syn_ack_repeated = true;
        self.syn_due = true;
        true
    }

    /// Complete the handshake with the ACK of the SYN-ACK. `marked` is true if the SYN-ACK was
    /// marked.
    #[cold]
    pub(super) fn complete_handshake(&mut self, now: Time, segment: &Segment, marked: bool) {
        if !self.end_early(now, segment) {
            self.syn_acked(now, segment.ack);
        }
        self.establish(now);
        self.rwnd = segment.window;
        if let Some(sender) = &mut self.sender {
            sender.tcb.set_window(segment);
        }
        if self.incidents.as_ref().is_some_and(|r| r.syn_ack_repeated) {
            self.sender().begin_with_one_segment();
        }
        let heeds = matches!(self.tcp.ecn.mode, Ecn::EcnPlus | Ecn::EcnPlusWait)
            || self.ecn.mode() == Mode::Accurate
            || self.tcp.ect_in_force() == EctOn::AllPackets;
        if marked && heeds {
            // After a marked SYN-ACK the initial window is one segment (RFC 5562 §3.2). With the
            // ECN mode `ecn+wait` (RFC 5562 §4.4), data also waits for a round trip.
            self.sender().begin_with_one_segment();
            self.ecn.on_cwnd_reduction(self.max());
            if self.tcp.ecn_in_force() == Ecn::EcnPlusWait {
                let rtt = self.first_rtt;
                self.incidents().hold_until = Some(now + rtt);
            }
        }
    }

    #[cold]
    pub(super) fn poll_syn(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        if std::mem::take(&mut self.ack_due) {
            return Some(self.pure_ack(now, options)); // the answer to an unacceptable segment
        }
        if !std::mem::take(&mut self.syn_due) {
            return self.poll_early(now, options);
        }
        let tcp = self.tcp.clone();
        let attempt = if self.is_early() {
            self.on_early_syn_ack(now, &tcp)
        } else {
            let sender = self.sender();
            sender.on_syn_sent(now, &tcp);
            sender.tcb.expirations
        };
        if let Some(max) = tcp.connection.user_timeout {
            let over = *self.incidents().syn_at.get_or_insert(now) + max;
            if attempt > 0 || tcp.connection.user_timeout_from == UserTimeoutFrom::Progress {
                let sender = self.sender();
                sender.tcb.timer = sender.tcb.timer.min(over.max(now));
            }
        }
        let reply = self.state == State::SynReceived;
        let offers = |mine: bool, negotiated: bool| mine && (!reply || negotiated);
        (*options, self.last_has_options) = (Options::default(), self.uses_options);
        if tcp.window.scaling != WindowScaling::Full || tcp.sack || tcp.timestamps {
            options.mss = Some(tcp.mss.0 as u16);
        }
        options.sack_permitted = offers(tcp.sack, self.negotiated.sack);
        options.timestamps =
            offers(tcp.timestamps, self.negotiated.timestamps).then(|| (timestamp(now), self.ts_recent()));
        let scale = offers(tcp.window.scaling == WindowScaling::On, self.negotiated.scaling);
        options.window_scale = scale.then(|| window_scale(&tcp));
        let window = Receiver::syn_window(&tcp);
        let mut segment = Segment { seq: self.iss, ack: Seq(0), window, len: 0, flags: Flags::SYN };
        if !reply {
            let (flags, field) = self.syns().last;
            segment.flags |= flags;
            segment.len = self.begin_fast(&tcp, options);
            return Some((segment, field));
        }
        segment.ack = self.next();
        if let Some(option) = self.fast_reply().filter(|o| options.wire_len() + o.wire_len() <= Options::MOST)
        {
            options.set_fast_open(option);
        }
        segment.flags |= Flags::ACK | self.ecn.syn_ack_flags(attempt, &tcp);
        if tcp.ecn.accurate_option {
            options.accurate_ecn = self.ecn.syn_ack_option(attempt, Options::MOST - options.wire_len());
        }
        Some((segment, self.syn_acks().last.1))
    }

    pub(super) fn smss(&self) -> u32 {
        self.negotiated.smss(&self.tcp)
    }
}

/// Return the window scale that the endpoint offers, which is the parameter `window.shift`. If the
/// parameter `window.shift` is absent, return the smallest scale with which the window field can
/// represent the receive window (RFC 7323 §2.3).
fn window_scale(tcp: &Tcp) -> u8 {
    let smallest = || (0..14).find(|&s| tcp.receive_window.0 >> s <= 65_535).unwrap_or(14);
    tcp.window.shift.map_or_else(smallest, |s| s as u8)
}
