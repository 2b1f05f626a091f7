//! Segments that the endpoint sends: header, options, data and ACKs.

use net::{Ecn as EcnField, Flags, Options, Segment, Seq};
use units::Time;

use super::Endpoint;
use super::incidents::Reset;
use super::state::State;
use crate::config::WindowScaling;
use crate::ecn::Carrier;
use crate::receiver::Receiver;
use crate::recovery::RecoveryKind;
use crate::sender::Outgoing;
use crate::timestamp::timestamp;

impl Endpoint {
    /// Return the next segment to send now, with its ECN field. The options of the segment are
    /// written to `options`, if it [has any](Endpoint::has_options). The caller repeats the call
    /// until the result is `None`.
    #[inline]
    pub fn poll(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        self.output_done = false; // poll_open sets it if no segment can follow
        let sent = self.next_packet(now, options);
        self.packets_sent += u32::from(sent.is_some());
        sent
    }

    #[inline]
    fn next_packet(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        if self.incidents.is_some()
            && let Some(first) = self.poll_incident(now, options)
        {
            return Some(first);
        }
        if self.state <= State::SynReceived {
            return if self.state <= State::Listen { None } else { self.poll_syn(now, options) };
        }
        self.poll_open(now, options)
    }

    /// Return the next segment with data, or an ACK.
    #[inline(always)]
    pub(super) fn poll_open(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        self.output_done = self.incidents.is_none();
        let outgoing = match &mut self.sender {
            Some(_) if self.ack_due && self.ecn.must_send_handshake_ack() => {
                self.output_done = false; // a pure ACK precedes the data
                None
            }
            Some(sender) if self.incidents.as_ref().is_none_or(|r| r.hold_until.is_none()) => {
                sender.next_segment(now, &self.tcp)
            }
            _ => None,
        };
        let (segment, field) = match outgoing {
            Some(outgoing) => {
                self.output_done &= outgoing.last;
                self.data(now, outgoing, options)
            }
            None if self.ack_due || self.receiver.as_ref().is_some_and(|r| r.ack_now) => {
                self.pure_ack(now, options)
            }
            None => return None,
        };
        self.ack_due = false;
        if let Some(receiver) = &mut self.receiver {
            self.output_done &= !receiver.on_ack_sent();
        }
        self.ecn.on_sent();
        Some((segment, field))
    }

    /// Return a reset, or an ACK of the data that arrived before a change of marks.
    #[cold]
    fn poll_incident(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        let incidents = self.incidents.as_mut()?;
        if let Some(Reset { seq, ack, echo }) = incidents.reset.take() {
            let (flags, ack, timestamps) = match ack {
                Some(ack) => {
                    let stamp = self.negotiated.timestamps.then(|| (timestamp(now), self.ts_recent()));
                    (Flags::RST | Flags::ACK, ack, stamp)
                }
                None => (Flags::RST, Seq(0), echo.map(|value| (0, value))), // RFC 7323 §5.2
            };
            (*options, self.last_has_options) = (Options::default(), true);
            options.timestamps = timestamps;
            let field = self.ecn.reset_field(&self.tcp);
            return Some((Segment { seq, ack, window: 0, len: 0, flags }, field));
        }
        let earlier = incidents.earlier.take()?;
        let explicit_reads = incidents.explicit_reads;
        self.acks_sent += 1;
        let mut segment = self.header(now, self.max(), options, Carrier::EarlierAck);
        if explicit_reads {
            segment.window += segment.ack - earlier; // the right edge stays the same
        }
        segment.ack = earlier;
        Some((segment, self.ecn.ack_field(self.loses_by_sack(), &self.tcp)))
    }

    /// Return TS.Recent, which each segment echoes.
    pub(super) fn ts_recent(&self) -> u32 {
        self.receiver.as_ref().map_or(0, |r| r.ts_recent)
    }

    /// Return the window to advertise.
    fn window_field(&mut self) -> u32 {
        let window = if self.tracks_window() {
            let (buffer, next, max) = (self.buffer(), self.irs + 1, self.max_window());
            let receiver = self.receiver.get_or_insert_with(|| Box::new(Receiver::new(next, &self.tcp)));
            receiver.window(buffer, max, || self.negotiated.smss(&self.tcp))
        } else {
            self.buffer()
        };
        let field = self.representable_window(window);
        if let Some(receiver) = &mut self.receiver {
            receiver.window_field = field;
        }
        field
    }

    /// Return the part of a window that the window field can represent.
    pub(super) fn representable_window(&self, window: u32) -> u32 {
        match (self.negotiated.scaling, self.tcp.window.scaling) {
            (_, WindowScaling::Full) => window,
            (true, _) => {
                let shift = self.negotiated.our_scale;
                (window >> shift).min(65_535) << shift
            }
            (false, _) => window.min(65_535),
        }
    }

    /// Return the largest window that the window field can represent (RFC 7323 §2.2).
    pub(super) fn max_window(&self) -> u32 {
        match (self.negotiated.scaling, self.tcp.window.scaling) {
            (_, WindowScaling::Full) => u32::MAX,
            (true, _) => 65_535 << self.negotiated.our_scale,
            (false, _) => 65_535,
        }
    }

    /// Write the header and options of a segment that is not a SYN.
    #[inline(always)]
    fn header(&mut self, now: Time, seq: Seq, options: &mut Options, carrier: Carrier) -> Segment {
        let reports = self.uses_options && self.reports();
        self.last_has_options = reports || self.negotiated.timestamps;
        if reports {
            self.write_options(now, options, carrier);
        } else if self.last_has_options {
            *options = Options::of_timestamps(timestamp(now), self.ts_recent());
        }
        let window = match &self.receiver {
            _ if !self.adjusts_window && self.incidents.is_none() => self.plain_buffer(),
            Some(receiver) if receiver.window_current => receiver.window_field,
            _ => self.window_field(),
        };
        debug_assert!(
            !self.adjusts_window || window == self.window_field(),
            "the window changed although it was current"
        );
        Segment { seq, ack: self.next(), window, len: 0, flags: Flags::ACK | self.ecn.flags(carrier) }
    }

    /// Return true if a segment that is not a SYN has options in addition to timestamps: counters
    /// of Accurate ECN, or SACK blocks.
    #[inline]
    fn reports(&self) -> bool {
        self.ecn.counts_packets()
            || (self.negotiated.sack && self.receiver.as_ref().is_some_and(|r| r.has_report()))
    }

    #[inline(never)]
    fn write_options(&mut self, now: Time, options: &mut Options, carrier: Carrier) {
        *options = Options::NONE;
        options.timestamps = self.negotiated.timestamps.then(|| (timestamp(now), self.ts_recent()));
        if self.ecn.counts_packets() && !self.write_counters(options, carrier) {
            return;
        }
        if self.negotiated.sack
            && let Some(receiver) = &mut self.receiver
            && receiver.has_report()
        {
            receiver.report(options, self.tcp.recovery.dsack);
        }
    }

    /// Write the option of Accurate ECN. Return true if SACK blocks may follow the AccECN option.
    fn write_counters(&mut self, options: &mut Options, carrier: Carrier) -> bool {
        let sacks = self.negotiated.sack && !(carrier == Carrier::Ack && self.ecn.forbids_sack());
        if self.tcp.ecn.accurate_option {
            // Up to two SACK blocks have priority over the AccECN option (RFC 9768 §3.2.3.3).
            let sack = match &self.receiver {
                Some(receiver) if sacks => receiver.report_len(2, self.tcp.recovery.dsack),
                _ => 0,
            };
            options.accurate_ecn = self.ecn.option(Options::MOST - options.wire_len() - sack, carrier);
        }
        sacks
    }

    #[inline]
    fn data(&mut self, now: Time, outgoing: Outgoing, options: &mut Options) -> (Segment, EcnField) {
        let counts = self.uses_options && self.ecn.counts_packets();
        let carrier = if counts { self.carrier(&outgoing) } else { Carrier::Data };
        let mut segment = self.header(now, outgoing.seq, options, carrier);
        segment.len = outgoing.len as u16;
        if outgoing.fin {
            segment.flags |= Flags::FIN;
        }
        if outgoing.push {
            segment.flags |= Flags::PSH;
        }
        if self.ecn.must_send_cwr() && outgoing.is_new && outgoing.len > 0 && !outgoing.probe {
            self.ecn.on_cwr_sent();
            segment.flags |= Flags::CWR;
        }
        let end = outgoing.seq + outgoing.len;
        let field = self.ecn.field(outgoing.len, outgoing.is_new, outgoing.probe, end, &self.tcp);
        if outgoing.len > 0
            && let Some(receiver) = &mut self.receiver
        {
            receiver.on_conversation(now, &self.tcp);
        }
        (segment, field)
    }

    #[inline]
    pub(super) fn pure_ack(&mut self, now: Time, options: &mut Options) -> (Segment, EcnField) {
        self.acks_sent += 1;
        // The other side accepts an ACK only if the sequence number of the ACK lies in the window.
        // The window may have shrunk below SND.NXT (Linux, tcp_acceptable_seq).
        let seq = self.sender.as_ref().map_or(self.iss + 1, |s| s.tcb.within_window());
        let segment = self.header(now, seq, options, Carrier::Ack);
        let by_sack = self.uses_options && self.loses_by_sack();
        (segment, self.ecn.ack_field(by_sack, &self.tcp))
    }

    /// Return true if the sender detects losses by SACK alone, so that an ACK without SACK blocks
    /// does not count as a duplicate.
    #[inline]
    fn loses_by_sack(&self) -> bool {
        self.negotiated.sack && matches!(self.tcp.recovery.method, RecoveryKind::Sack | RecoveryKind::Fack)
    }

    fn carrier(&self, outgoing: &Outgoing) -> Carrier {
        match outgoing.len > 0 && outgoing.seq == self.iss + 1 {
            false => Carrier::Data,
            true if outgoing.is_new => Carrier::FirstData,
            true => Carrier::FirstDataAgain,
        }
    }

    /// Return true if the segment that the last call of [`Endpoint::poll`] returned may have TCP
    /// options. `poll` does not change `options` if the segment has no TCP options.
    #[inline]
    pub fn has_options(&self) -> bool {
        self.last_has_options
    }

    /// Return the size in bytes of `segment` on the wire, without TCP options. `segment` is the
    /// last segment that [`Endpoint::poll`] returned.
    #[inline]
    pub fn wire_size(&self, segment: &Segment) -> u16 {
        let header =
            if segment.len > 0 { self.tcp.wire.data_header.0 } else { self.tcp.wire.control_header.0 };
        segment.len + header as u16
    }

    /// Return true if another call of [`Endpoint::poll`] before the next event would return no
    /// segment.
    #[inline]
    pub fn is_output_done(&self) -> bool {
        self.output_done
    }
}
