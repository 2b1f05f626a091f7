//! Segments that arrive in a synchronized state (RFC 9293 §3.10.7.4).

use net::{Ecn as EcnField, Flags, Options, Segment, Seq};
use units::Time;

use super::Endpoint;
use super::state::State;
use crate::config::{MissingTimestamp, WindowTuning};
use crate::ecn::RequestedAcks;
use crate::receiver::{Receiver, acceptable};
use crate::sender::{ArrivingAck, Feedback};

/// Control bits that determine the kind of a segment.
const CONTROL: Flags = Flags(Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0 | Flags::ACK.0);

impl Endpoint {
    /// Process a segment that arrived in a packet with the ECN field `field`.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) {
        if self.state > State::SynSent {
            return self.in_synchronized(now, segment, options, field);
        }
        match self.state {
            State::Listen => self.in_listen(now, segment, options, field),
            State::SynSent => self.in_syn_sent(now, segment, options, field),
            _ => {}
        }
    }

    #[inline]
    pub(super) fn in_synchronized(
        &mut self,
        now: Time,
        segment: &Segment,
        options: &Options,
        field: EcnField,
    ) {
        if self.negotiated.timestamps && self.drops_for_timestamp(now, segment, options) {
            return;
        }
        let window = if self.adjusts_window || self.incidents.is_some() {
            self.advertised_window()
        } else {
            self.plain_buffer()
        };
        let next = self.next();
        // Header prediction handles the usual case, in which a segment of an established connection
        // begins in the window and cannot fail a check.
        let predicted = segment.seq.0.wrapping_sub(next.0) < window
            && self.state == State::Established
            && segment.flags.0 & CONTROL.0 == Flags::ACK.0;
        if !predicted && self.fails_checks(now, segment, (next, window), field) {
            return;
        }
        let outside = match &self.sender {
            Some(s) => segment.ack.0.wrapping_sub(s.tcb.una.0) > s.tcb.max.0.wrapping_sub(s.tcb.una.0),
            None => segment.ack != self.iss + 1,
        };
        if outside && self.on_ack_outside(now, segment, options) {
            return;
        }
        if self.negotiated.timestamps
            && let Some((value, _)) = options.timestamps
        {
            self.receiver().on_timestamp(now, value, segment.seq); // RFC 7323 §5.3: R3 follows R2, the check of the window
        }
        let completes = !predicted && self.state == State::SynReceived;
        if completes && !self.on_handshake_ack(now, segment, options) {
            return;
        }
        if self.uses_options && self.ecn.counts_packets() {
            self.count_packet(segment, options, field);
        }
        if let Some(sender) = &mut self.sender {
            let feedback = if completes {
                Feedback::default() // the flags report the ECN field of the SYN-ACK
            } else {
                self.ecn.feedback(segment, options, sender, &self.tcp)
            };
            let cut = sender.on_ack(&ArrivingAck { now, segment, options, feedback }, &self.tcp);
            if cut {
                let max = sender.tcb.max;
                self.ecn.on_cwnd_reduction(max);
            }
            self.after_ack(now);
        } else {
            self.rwnd = segment.window;
        }
        let takes_space = segment.len > 0 || (!predicted && segment.seq_len() > 0);
        if takes_space {
            let beyond = i64::from(segment.end().minus(next)) - i64::from(window);
            if beyond > 0 {
                return self.on_data_beyond(now, segment, beyond, field);
            }
            self.on_data(now, segment, options, field);
        }
    }

    /// Apply the first to fifth check of RFC 9293 §3.10.7.4. Return true if the segment is not
    /// processed further, because it is unacceptable, resets the connection or has no ACK.
    #[inline(never)]
    fn fails_checks(
        &mut self,
        now: Time,
        segment: &Segment,
        (next, window): (Seq, u32),
        field: EcnField,
    ) -> bool {
        let in_window = (segment.seq == next && window > 0) || acceptable(next, segment, window);
        let data_after_close = segment.len > 0 && self.fin_received();
        if !in_window || segment.flags.has(Flags::SYN) || data_after_close {
            self.on_unacceptable(now, segment, (next, window), field);
            return true;
        }
        if segment.flags.has(Flags::RST) {
            self.on_reset(now, segment, next);
        }
        segment.flags.has(Flags::RST) || !segment.flags.has(Flags::ACK)
    }

    /// Count a packet for Accurate ECN, whether or not the packet has data.
    #[inline(never)]
    fn count_packet(&mut self, segment: &Segment, options: &Options, field: EcnField) {
        let ack_pending = self.receiver.as_ref().is_some_and(|r| r.has_delayed_ack());
        self.ack_due |= self.ecn.on_packet(segment, field, ack_pending, &self.tcp);
        if self.sender.is_none() {
            self.ecn.on_ack_of_acks(segment, options);
        }
    }

    /// Return the window that this endpoint advertised last.
    #[inline]
    fn advertised_window(&self) -> u32 {
        match &self.receiver {
            Some(receiver) if self.tracks_window() => receiver.advertised(),
            _ => self.representable_window(self.buffer()),
        }
    }

    /// Return true if the segment must be dropped because its timestamp is old (PAWS, RFC 7323
    /// §5.3, R1) or missing (RFC 7323 §3.2).
    #[inline]
    fn drops_for_timestamp(&mut self, now: Time, segment: &Segment, options: &Options) -> bool {
        let exempt = segment.flags.has(Flags::RST);
        let Some((value, _)) = options.timestamps else {
            let refused = self.tcp.details.missing_timestamp == MissingTimestamp::Refused;
            return refused && !exempt && !segment.flags.has(Flags::SYN);
        };
        let old = !exempt && self.receiver().is_stale(now, value);
        self.ack_due |= old;
        old
    }

    /// Before the endpoint processes the data of a segment, start quick ACKs if the segment ends a
    /// pause, and tune the receive window.
    #[inline(never)]
    fn before_data(&mut self, now: Time, segment: &Segment, options: &Options) {
        let (quick, tuned) = (self.tcp.ack.quick.0 > 0.0, self.tcp.window.tuning != WindowTuning::Off);
        let pause = self.receiver().pause(now);
        let paused = pause.is_some_and(|p| p > self.tcp.rto.min && p > self.rto());
        let Some(receiver) = &mut self.receiver else { return };
        if paused && quick {
            receiver.enter_quick_ack(u16::MAX, &self.tcp);
        }
        if tuned {
            receiver.tune(now, segment.len, options.timestamps.map(|t| t.1), &self.tcp);
        }
    }

    #[inline(always)]
    pub(super) fn on_data(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) {
        let next = self.irs + 1;
        if self.uses_options && segment.len > 0 && self.tcp.needs_arrival_times() {
            self.before_data(now, segment, options);
        }
        let receiver = self.receiver.get_or_insert_with(|| Box::new(Receiver::new(next, &self.tcp)));
        let next = receiver.next;
        let requested = match segment.len {
            0 => RequestedAcks::default(),
            _ => self.ecn.on_data(segment, field, receiver.has_delayed_ack(), &self.tcp),
        };
        if requested.before {
            self.incidents.get_or_insert_default().earlier = Some(next);
        }
        let finished = receiver.on_data(now, segment, &self.tcp);
        if self.ecn.negotiated() {
            self.ecn.on_advance(receiver.next);
            receiver.ack_now |= requested.at_once;
            if requested.more > 0 {
                receiver.enter_quick_ack(requested.more, &self.tcp);
            }
        }
        if self.incidents.as_ref().is_none_or(|r| !r.explicit_reads) {
            receiver.unread = 0;
            if self.uses_options && self.tcp.window.tuning != WindowTuning::Off {
                receiver.on_read(now);
                if segment.flags.has(Flags::PSH) && self.tcp.ack.push {
                    let silent = self.sender.as_ref().is_none_or(|s| !s.tcb.has_sent());
                    receiver.ack_now |= silent && receiver.has_delayed_ack_of(segment.len);
                }
            }
        }
        if finished {
            self.on_fin(now);
        }
    }

    #[cold]
    fn on_fin(&mut self, now: Time) {
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

    /// Update the state of the connection after an ACK: completion of the transfer, and the ACK of
    /// the FIN.
    #[inline]
    pub(super) fn after_ack(&mut self, now: Time) {
        if self.sender.as_ref().is_some_and(|s| s.tcb.closing && s.tcb.unsent == 0) {
            self.after_ack_at_end(now);
        }
    }

    #[inline(never)]
    fn after_ack_at_end(&mut self, now: Time) {
        let Some(sender) = &self.sender else { return };
        if self.completed_at == Time::NEVER && sender.tcb.all_acknowledged() {
            self.completed_at = now;
        }
        if sender.tcb.fin_sent && sender.tcb.una == sender.tcb.max {
            self.state = match self.state {
                State::FinWait1 => State::FinWait2,
                State::Closing => State::TimeWait,
                State::LastAck => State::Closed,
                state => state,
            };
            match self.state {
                State::Closed => self.end(now, None),
                State::TimeWait if self.closed_at == Time::NEVER => self.closed_at = now,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use units::Duration;

    use super::*;
    use crate::config::Tcp;

    /// Return true if the stack `linux` acknowledges the first full segment at once although quick
    /// ACKs are disabled.
    fn acknowledges(flags: Flags, changes: &serde_json::Value) -> bool {
        let mut changes = changes.clone();
        changes["ack"]["quick"] = "0 packets".into();
        let mut end = Endpoint::new(Arc::new(Tcp::of_stack("linux", &changes).unwrap()), Duration::ZERO);
        let (now, mut options) = (Time::ZERO, Options::NONE);
        end.listen();
        let of = |seq, len, flags| Segment { seq: Seq(seq), ack: Seq(1), window: 65_535, len, flags };
        end.on_segment(now, &of(0, 0, Flags::SYN), &Options::NONE, EcnField::NotEct);
        end.poll(now, &mut options).unwrap();
        end.on_segment(now, &of(1, 0, Flags::ACK), &Options::NONE, EcnField::NotEct);
        end.on_segment(now, &of(1, 1460, flags | Flags::ACK), &Options::NONE, EcnField::NotEct);
        end.poll(now, &mut options).is_some()
    }

    /// Linux acknowledges a full segment with PSH at once (tcp_measure_rcv_mss, tcp_cleanup_rbuf).
    #[test]
    fn a_full_segment_with_psh_is_acknowledged_when_it_is_read() {
        assert!(!acknowledges(Flags::ACK, &serde_json::json!({})));
        assert!(acknowledges(Flags::PSH, &serde_json::json!({})));
        assert!(!acknowledges(Flags::PSH, &serde_json::json!({"ack": {"push": false}})));
    }
}
