//! Segments that fail a check in a synchronized state: data or ACKs outside the window, ACKs of
//! unsent data, SYNs and resets (RFC 9293 §3.10.7.4).

use net::{Ecn as EcnField, Flags, Options, Segment, Seq};
use units::{Duration, Time};

use super::Endpoint;
use super::incidents::Reset;
use super::state::{Error, State};
use crate::config::{AckOfUnsent, OldAcks};
use crate::sender::{ArrivingAck, Feedback};

impl Endpoint {
    /// Process the part of a segment that lies inside the window, and ignore the last `beyond`
    /// octets, which lie beyond the window (RFC 9293 §3.10.7.4, first check).
    #[cold]
    pub(super) fn on_data_beyond(&mut self, now: Time, segment: &Segment, beyond: i64, field: EcnField) {
        let mut inside = *segment;
        let data = beyond - i64::from(segment.flags.has(Flags::FIN)); // the FIN is the last octet
        inside.len -= data.clamp(0, i64::from(segment.len)) as u16;
        inside.flags = inside.flags.without(Flags::FIN);
        self.on_data(now, &inside, &Options::NONE, field);
    }

    /// Answer an ACK whose acknowledgement number is below SND.UNA or above SND.MAX. Return true if
    /// the endpoint ignores the rest of the segment.
    #[cold]
    pub(super) fn on_ack_outside(&mut self, now: Time, segment: &Segment, options: &Options) -> bool {
        if segment.ack.after(self.max()) {
            self.on_ack_of_unsent(segment, options);
            return true;
        }
        let (una, oldest) = match &self.sender {
            // Linux, tcp_ack, also treats an ACK below the first byte of data as too old.
            Some(sender) => (sender.tcb.una, u64::from(sender.tcb.max_window()).min(sender.tcb.acked)),
            None => (self.iss + 1, 0),
        };
        let old = i64::from(una.minus(segment.ack)) > oldest as i64;
        let discards =
            old && self.state > State::SynReceived && self.tcp.details.old_acks == OldAcks::Rfc5961;
        if discards {
            self.answer_with_ack(now);
        }
        discards
    }

    /// Answer an ACK of data that was never sent (RFC 9293 §3.10.7.4, fifth check).
    fn on_ack_of_unsent(&mut self, segment: &Segment, options: &Options) {
        if self.state == State::SynReceived {
            self.incidents().reset = Some(Reset::answers(segment, options));
        } else {
            self.ack_due |= self.tcp.details.ack_of_unsent == AckOfUnsent::Answered;
        }
    }

    /// Answer a segment outside the window, or a SYN (RFC 9293 §3.10.7.4, first and fourth check).
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
            self.incidents().time_wait_from = Some(now); // RFC 9293 §3.10.7.4, eighth check: the 2 MSL begin again
        }
        if segment.len == 1 && segment.seq == next {
            // A segment with one octet at RCV.NXT is a window probe (RFC 3168 §6.1.6). The endpoint
            // does not accept the octet of the window probe.
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
                self.syn_due = true; // the other side repeats its SYN, because the SYN-ACK was lost
            }
            return;
        }
        if segment.flags.has(Flags::SYN | Flags::ACK) && segment.seq == self.irs {
            self.ecn.on_syn_ack_again(segment.flags, field);
        }
        // A segment is late if its sequence number is below RCV.NXT, or if it begins at the end of
        // the window because the other side has filled the window. If the window is closed, the
        // segment may have data, because a window probe may have data.
        let late = segment.seq.before(next) || segment.seq == next + window;
        let empty = segment.seq_len() == 0 || (closed && !segment.flags.has(Flags::SYN));
        if empty && late && segment.flags.has(Flags::ACK) {
            self.process_late_ack(now, segment);
        }
        // A SYN causes a challenge ACK, with or without data (RFC 5961 §4; Linux,
        // tcp_validate_incoming).
        let data = segment.len > 0 && !segment.flags.has(Flags::SYN);
        if data && segment.seq.before(next) {
            let tcp = self.tcp.clone();
            self.receiver().on_unacceptable(segment, &tcp);
        }
        if data {
            self.ack_due = true;
        } else {
            self.answer_with_ack(now);
        }
    }

    /// Process the SYN-ACK of the other side after both sides sent a SYN at the same time. If both
    /// endpoints open at the same time, a SYN-ACK that acknowledges this endpoint's SYN completes
    /// the handshake (RFC 9293 §3.5, figure 8). The ACK of the SYN-ACK reports the SYN as a
    /// duplicate, because the other side's SYN arrived before (Linux, tcp_validate_incoming,
    /// tcp_data_queue).
    fn on_crossing_syn_ack(&mut self, now: Time, segment: &Segment) {
        self.ack_due = true;
        if segment.ack != self.max() {
            return;
        }
        self.complete_handshake(now, segment, false);
        let irs = self.irs;
        if self.negotiated.sack && self.tcp.recovery.dsack {
            self.receiver().report_duplicate(irs, irs + 1);
        }
        self.after_ack(now);
    }

    /// Send an ACK, unless a similar ACK was sent within `invalid_ack_spacing` (RFC 5961 §7).
    /// Segments with data cannot cause a loop of ACKs, so the endpoint answers each of them without
    /// regard to `invalid_ack_spacing`.
    fn answer_with_ack(&mut self, now: Time) {
        let spacing = self.tcp.details.invalid_ack_spacing;
        if spacing > Duration::ZERO {
            let last_answered = &mut self.incidents().last_answered;
            if last_answered.is_some_and(|at| now < at + spacing) {
                return;
            }
            *last_answered = Some(now);
        }
        self.ack_due = true;
    }

    /// Process the acknowledgement of a segment just outside the window, as Linux does. If the
    /// endpoint ignored acknowledgements in segments just outside the window, two endpoints whose
    /// window probes crossed would answer each other forever. While its received data has a gap, an
    /// endpoint that ignored segments outside the window would ignore the acknowledgements of all
    /// data that it sent.
    fn process_late_ack(&mut self, now: Time, segment: &Segment) {
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

    /// Process a reset: a reset whose sequence number is RCV.NXT closes the connection, and any
    /// other reset causes a challenge ACK (RFC 9293 §3.10.7.4, second check).
    #[cold]
    pub(super) fn on_reset(&mut self, now: Time, segment: &Segment, next: Seq) {
        if segment.seq != next {
            return self.answer_with_ack(now);
        }
        let refused =
            self.state == State::SynReceived && self.incidents.as_ref().is_some_and(|r| r.simultaneous);
        let quiet = matches!(self.state, State::Closing | State::LastAck | State::TimeWait);
        let error = if refused { Error::Refused } else { Error::Reset };
        self.end(now, (!quiet).then_some(error));
    }
}
