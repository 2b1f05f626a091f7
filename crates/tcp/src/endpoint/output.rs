//! Segments that go out: header, options, data, ACKs.

use net::{Ecn as EcnField, Flags, Options, Segment, Seq};
use units::Time;

use super::{Endpoint, State};
use crate::config::WindowScaling;
use crate::sender::{Outgoing, timestamp};

impl Endpoint {
    /// The next segment to send now, with its ECN field; its options go into `options`. Call until it
    /// returns `None`.
    #[inline]
    pub fn poll(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        let sent = self.next_packet(now, options);
        self.packets_sent += u32::from(sent.is_some());
        sent
    }

    #[inline]
    fn next_packet(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        if self.rare.is_some()
            && let Some(rare) = self.poll_rare(now, options)
        {
            return Some(rare);
        }
        if self.state <= State::SynReceived {
            return if self.state <= State::Listen { None } else { self.poll_syn(now, options) };
        }
        let outgoing = match &mut self.sender {
            Some(sender) if self.rare.as_ref().is_none_or(|r| r.hold_until.is_none()) => {
                sender.next_segment(now, &self.tcp)
            }
            _ => None,
        };
        let (segment, field) = match outgoing {
            Some(outgoing) => self.data(now, outgoing, options),
            None if self.ack_due || self.receiver.as_ref().is_some_and(|r| r.ack_now) => {
                self.pure_ack(now, options)
            }
            None => return None,
        };
        self.ack_due = false;
        if let Some(receiver) = &mut self.receiver {
            receiver.on_ack_sent();
        }
        self.ecn.on_sent();
        Some((segment, field))
    }

    /// Resets, and an ACK of what came before a change of marks.
    #[cold]
    fn poll_rare(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        let rare = self.rare.as_mut()?;
        if let Some((seq, ack)) = rare.reset.take() {
            let (flags, ack) = match ack {
                Some(ack) => (Flags::RST | Flags::ACK, ack),
                None => (Flags::RST, Seq(0)),
            };
            *options = Options::default();
            return Some((Segment { seq, ack, window: 0, len: 0, flags }, EcnField::NotEct));
        }
        let earlier = rare.earlier.take()?;
        let reads = rare.reads;
        self.acks_sent += 1;
        let mut segment = self.header(now, self.max(), options, true);
        if reads {
            segment.window += segment.ack - earlier; // the same right edge
        }
        segment.ack = earlier;
        Some((segment, EcnField::NotEct))
    }

    /// The window to advertise.
    fn window_field(&mut self) -> u32 {
        let buffer = self.buffer();
        let smss = self.smss();
        let reads = self.rare.as_ref().is_some_and(|r| r.reads);
        let window = if reads { self.receiver().window(buffer, smss) } else { buffer };
        match (self.agreed.scaling, self.tcp.window_scaling) {
            (_, WindowScaling::Full) => window,
            (true, _) => {
                let most = 65_535u32 << self.agreed.our_scale;
                (window.min(most) >> self.agreed.our_scale) << self.agreed.our_scale
            }
            (false, _) => window.min(65_535),
        }
    }

    /// Header and options of a segment that is not a SYN; `before`: an ACK of what came before the last change of marks.
    #[inline]
    fn header(&mut self, now: Time, seq: Seq, options: &mut Options, before: bool) -> Segment {
        let window = if self.optioned || self.rare.is_some() {
            self.write_options(now, options);
            self.window_field()
        } else {
            self.buffer()
        };
        Segment { seq, ack: self.next(), window, len: 0, flags: Flags::ACK | self.ecn.flags(before) }
    }

    #[inline(never)]
    fn write_options(&mut self, now: Time, options: &mut Options) {
        if !self.optioned {
            return;
        }
        *options = Options::default();
        if self.agreed.timestamps {
            options.timestamps = Some((timestamp(now), self.receiver.as_ref().map_or(0, |r| r.ts_recent)));
        }
        options.accurate_ecn = self.ecn.option().filter(|_| self.tcp.accecn_option);
        if self.agreed.sack
            && let Some(receiver) = &mut self.receiver
            && receiver.has_report()
        {
            receiver.report(options, self.tcp.dsack);
        }
    }

    #[inline]
    fn data(&mut self, now: Time, outgoing: Outgoing, options: &mut Options) -> (Segment, EcnField) {
        let mut segment = self.header(now, outgoing.seq, options, false);
        segment.len = outgoing.len as u16;
        if outgoing.fin {
            segment.flags |= Flags::FIN;
        }
        if outgoing.push {
            segment.flags |= Flags::PSH;
        }
        if self.ecn.owes_cwr() && outgoing.is_new && outgoing.len > 0 && !outgoing.probe {
            self.ecn.say_cwr();
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
        // What a window took back does not reach must not make the ACK unacceptable (Linux, tcp_acceptable_seq).
        let seq = self.sender.as_ref().map_or(self.iss + 1, |s| s.within_window());
        let segment = self.header(now, seq, options, false);
        let field = self.ecn.field(0, false, false, segment.seq, &self.tcp);
        (segment, field)
    }

    /// Whether its segments may carry options; if not, [`Endpoint::poll`] leaves them alone.
    #[inline]
    pub fn has_options(&self) -> bool {
        self.optioned
    }

    /// Bytes that `segment` counts for on the wire.
    #[inline]
    pub fn wire_size(&self, segment: &Segment, options: &Options) -> u16 {
        let header = if segment.len > 0 { self.tcp.header_on_data.0 } else { self.tcp.header_on_control.0 };
        let options = if self.optioned { options.wire_len() } else { 0 };
        segment.len + header as u16 + options
    }
}
