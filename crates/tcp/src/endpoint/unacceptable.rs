//! Segments that a synchronized state answers or cuts: outside of the window, of nothing, resets (RFC 9293 §3.10.7.4).

use net::{Ecn as EcnField, Flags, Options, Segment, Seq};
use units::{Duration, Time};

use super::Endpoint;
use super::incidents::Reset;
use super::state::{Error, State};
use crate::config::{AckOfUnsent, OldAcks};
use crate::sender::{ArrivingAck, Feedback};

impl Endpoint {
    /// What lies beyond the window is cut off (RFC 9293 §3.10.7.4, first check).
    #[cold]
    pub(super) fn on_data_beyond(&mut self, now: Time, segment: &Segment, beyond: i64, field: EcnField) {
        let mut inside = *segment;
        let data = beyond - i64::from(segment.flags.has(Flags::FIN)); // the FIN is the last octet
        inside.len -= data.clamp(0, i64::from(segment.len)) as u16;
        inside.flags = inside.flags.without(Flags::FIN);
        self.on_data(now, &inside, &Options::NONE, field);
    }

    /// Answer an ACK from outside of SND.UNA to SND.MAX. Return whether the rest of the
    /// segment is ignored.
    #[cold]
    pub(super) fn on_ack_outside(&mut self, now: Time, segment: &Segment, options: &Options) -> bool {
        if segment.ack.after(self.max()) {
            self.on_ack_of_nothing(segment, options);
            return true;
        }
        let (una, oldest) = match &self.sender {
            // Linux, tcp_ack: nor from before the first byte.
            Some(sender) => (sender.tcb.una, u64::from(sender.tcb.max_window()).min(sender.tcb.acked)),
            None => (self.iss + 1, 0),
        };
        let old = i64::from(una.minus(segment.ack)) > oldest as i64;
        let discards =
            old && self.state > State::SynReceived && self.tcp.details.old_acks == OldAcks::Rfc5961;
        if discards {
            self.answer(now);
        }
        discards
    }

    /// RFC 9293 §3.10.7.4, fifth check: what was never sent is acknowledged.
    fn on_ack_of_nothing(&mut self, segment: &Segment, options: &Options) {
        if self.state == State::SynReceived {
            self.incidents().reset = Some(Reset::answers(segment, options));
        } else {
            self.ack_due |= self.tcp.details.ack_of_unsent == AckOfUnsent::Answered;
        }
    }

    /// RFC 9293 §3.10.7.4, first and fourth check: what is outside of the window, or a SYN, is answered.
    #[cold]
    pub(super) fn on_unacceptable(
        &mut self,
        now: Time,
        segment: &Segment,
        (next, window): (Seq, u32),
        field: EcnField,
    ) {
        let closed = window == 0 && segment.seq == next;
        if segment.flags.has(Flags::RST) {
            if closed {
                self.on_reset(now, segment, next);
            }
            return;
        }
        if segment.flags.has(Flags::FIN) && self.state == State::TimeWait {
            self.incidents().waits_from = Some(now); // eighth check: the 2 MSL begin again
        }
        if segment.len == 1 && segment.seq == next {
            // A window probe (RFC 3168 §6.1.6), whose octet is not taken.
            self.ecn.on_data(segment, field, false, &self.tcp);
            self.ecn.on_packet(&Segment { len: 0, ..*segment }, field, false, &self.tcp);
        }
        if segment.flags.has(Flags::SYN) && segment.seq == self.irs && self.state == State::SynReceived {
            let simultaneous = self.incidents.as_ref().is_some_and(|r| r.simultaneous);
            if simultaneous && segment.flags.has(Flags::ACK) {
                self.ecn.on_syn_ack_again(segment.flags, field);
                self.on_crossing_syn_ack(now, segment);
            } else if self.ecn.on_syn_again(segment.flags, field, &self.tcp) {
                let seq = self.max();
                self.incidents().reset = Some(Reset { seq, ack: Some(next), echo: None });
                self.end(now, Some(Error::Reset));
            } else {
                self.syn_due = true; // the SYN-ACK was lost
            }
            return;
        }
        if segment.flags.has(Flags::SYN | Flags::ACK) && segment.seq == self.irs {
            self.ecn.on_syn_ack_again(segment.flags, field);
        }
        // The segment begins before the data that was received last, or at the end of the window,
        // if its sender has filled the window. In a closed window it may have data, as a probe has.
        let late = segment.seq.before(next) || segment.seq == next + window;
        let empty = segment.seq_len() == 0 || (closed && !segment.flags.has(Flags::SYN));
        if empty && late && segment.flags.has(Flags::ACK) {
            self.take_late_ack(now, segment);
        }
        // A SYN is challenged, whatever it carries (RFC 5961 §4; Linux, tcp_validate_incoming).
        let data = segment.len > 0 && !segment.flags.has(Flags::SYN);
        if data && segment.seq.before(next) {
            let tcp = self.tcp.clone();
            self.receiver().on_unacceptable(segment, &tcp);
        }
        if data {
            self.ack_due = true;
        } else {
            self.answer(now);
        }
    }

    /// The SYN-ACK of an end that opened at the same time: it completes the handshake if it
    /// acknowledges our SYN (RFC 9293 §3.5, figure 8), and is answered, with a report of its SYN,
    /// which came before (Linux, tcp_validate_incoming, tcp_data_queue).
    fn on_crossing_syn_ack(&mut self, now: Time, segment: &Segment) {
        self.ack_due = true;
        if segment.ack != self.max() {
            return;
        }
        self.complete_handshake(now, segment, false);
        let irs = self.irs;
        if self.agreed.sack && self.tcp.recovery.dsack {
            self.receiver().report_duplicate(irs, irs + 1);
        }
        self.after_ack(now);
    }

    /// An ACK goes out, unless one like it did just before (RFC 5961 §7). Data is no part of a loop of ACKs.
    fn answer(&mut self, now: Time) {
        let spacing = self.tcp.details.invalid_ack_spacing;
        if spacing > Duration::ZERO {
            let answered = &mut self.incidents().answered;
            if answered.is_some_and(|at| now < at + spacing) {
                return;
            }
            *answered = Some(now);
        }
        self.ack_due = true;
    }

    /// An ACK from just outside of the window: what it acknowledges counts (as Linux has it), or two ends whose probes
    /// crossed would answer each other for ever, and one with a gap in its window would hear nothing of its own data.
    fn take_late_ack(&mut self, now: Time, segment: &Segment) {
        if self.state == State::SynReceived || segment.ack.after(self.max()) {
            return;
        }
        let Some(sender) = &mut self.sender else { return };
        if segment.ack.after(sender.tcb.una) {
            let (options, feedback) = (&Options::NONE, Feedback::default());
            sender.on_ack(&ArrivingAck { now, segment, options, feedback }, &self.tcp);
            self.after_ack(now);
        }
    }

    /// RFC 9293 §3.10.7.4, second check: exactly the next number resets, others are challenged.
    #[cold]
    pub(super) fn on_reset(&mut self, now: Time, segment: &Segment, next: Seq) {
        if segment.seq != next {
            return self.answer(now);
        }
        let refused =
            self.state == State::SynReceived && self.incidents.as_ref().is_some_and(|r| r.simultaneous);
        let quiet = matches!(self.state, State::Closing | State::LastAck | State::TimeWait);
        let error = if refused { Error::Refused } else { Error::Reset };
        self.end(now, (!quiet).then_some(error));
    }
}
