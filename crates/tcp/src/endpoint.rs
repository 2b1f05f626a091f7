//! One end of a connection: the states of RFC 9293 §3.3.2 around a sender and a receiver.

use std::sync::Arc;

use net::{Ecn as EcnField, Flags, Options, Segment, Seq};
use units::{Duration, Time};

use crate::config::{Ecn, RtoEstimator, Tcp, WindowScaling};
use crate::ecn::{EcnEnd, Mode, Prompt};
use crate::info::Info;
use crate::receiver::{Receiver, ReceiverStats, acceptable};
use crate::sender::{Feedback, Outgoing, Sender, SenderStats, Window, timestamp};

/// States of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The other side reset it.
    Reset,
    /// The other side refused it.
    Refused,
    /// No answer for too long.
    TimedOut,
}

/// What both sides agreed on with options.
#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    /// The other side's MSS, and its window scale and ours.
    mss: u16,
    their_scale: u8,
    our_scale: u8,
    /// Windows are scaled (or carried in full).
    scaling: bool,
    sack: bool,
    timestamps: bool,
}

/// What few connections need.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// A reset to send: its sequence number, and what it acknowledges.
    reset: Option<(Seq, Option<Seq>)>,
    error: Option<Error>,
    /// The application reads when it likes.
    reads: bool,
    /// An ACK that must go out before all others, for what was received before a change of marks.
    earlier: Option<Seq>,
    /// Data waits until then (RFC 5562 §4).
    hold_until: Option<Time>,
    /// It was opened by both sides at once.
    simultaneous: bool,
    /// The last FIN in TIME-WAIT.
    waits_from: Option<Time>,
    /// The SYN offers no ECN.
    plain_syn: bool,
    /// The SYN-ACK was marked and went out once more.
    tried: bool,
}

/// One end of a TCP connection. Feed it with [`on_segment`](Endpoint::on_segment) and
/// [`on_timer`](Endpoint::on_timer), then send what [`poll`](Endpoint::poll) returns until it returns
/// nothing, and call it again no later than its [`deadline`](Endpoint::deadline).
///
/// Each half exists when it is first used: an end that only receives has no [`Sender`], one that only sends has no [`Receiver`].
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    tcp: Arc<Tcp>,
    sender: Option<Box<Sender>>,
    receiver: Option<Box<Receiver>>,
    state: State,
    /// A SYN or SYN-ACK is to go out.
    syn_due: bool,
    /// Whether its segments may carry options, or windows that are scaled or cut.
    optioned: bool,
    /// An ACK is to go out, of nothing that was received.
    ack_due: bool,
    /// First sequence numbers, ours and theirs.
    iss: Seq,
    irs: Seq,
    /// The other side's window before anything was sent.
    rwnd: u32,
    acks_sent: u32,
    packets_sent: u32,
    ecn: EcnEnd,
    agreed: Agreed,
    /// The round trip of a SYN-ACK, for a sender yet to be.
    first_rtt: Duration,
    phase: Duration,
    established_at: Time,
    completed_at: Time,
    closed_at: Time,
    rare: Option<Box<Rare>>,
}

impl Endpoint {
    /// A closed endpoint. `phase`: where in a tick its host's clock stands at time zero.
    pub fn new(tcp: Arc<Tcp>, phase: Duration) -> Self {
        Endpoint {
            sender: None,
            receiver: None,
            ecn: EcnEnd::default(),
            state: State::Closed,
            syn_due: false,
            optioned: tcp.window_scaling != WindowScaling::Full
                || tcp.sack
                || tcp.timestamps
                || tcp.ecn_in_force() == Ecn::Accurate,
            ack_due: false,
            iss: Seq(0),
            irs: Seq(0),
            rwnd: 0,
            acks_sent: 0,
            packets_sent: 0,
            agreed: Agreed::default(),
            first_rtt: Duration::ZERO,
            phase,
            established_at: Time::NEVER,
            completed_at: Time::NEVER,
            closed_at: Time::NEVER,
            rare: None,
            tcp,
        }
    }

    /// Sets the first sequence number; 0 unless said.
    pub fn set_iss(&mut self, iss: Seq) {
        self.iss = iss;
    }

    fn sender(&mut self) -> &mut Sender {
        let sender = self.sender.take().unwrap_or_else(|| Box::new(self.new_sender()));
        self.sender.insert(sender)
    }

    /// The sender as it is before its first byte.
    fn new_sender(&self) -> Sender {
        let (tcp, agreed) = (&self.tcp, &self.agreed);
        let mut sender = Sender::new(tcp, self.iss, self.phase);
        if self.state > State::SynReceived {
            let window = (self.irs, self.rwnd);
            sender.resume(tcp, self.first_rtt, window, smss(tcp, agreed), agreed.sack, agreed.timestamps);
        }
        sender
    }

    fn receiver(&mut self) -> &mut Receiver {
        let (next, tcp) = (self.irs + 1, &self.tcp);
        self.receiver.get_or_insert_with(|| Box::new(Receiver::new(next, tcp)))
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// RCV.NXT.
    #[inline]
    fn next(&self) -> Seq {
        self.receiver.as_ref().map_or(self.irs + 1, |r| r.next)
    }

    /// One past the highest sequence number sent.
    #[inline]
    fn max(&self) -> Seq {
        self.sender.as_ref().map_or(self.iss + 1, |s| s.max)
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

    /// The application writes `bytes`; `u64::MAX`: without end. After its close there is nothing to write (RFC 9293
    /// §3.10.2).
    pub fn write(&mut self, bytes: u64) {
        let sender = self.sender();
        if !sender.closing {
            sender.write(bytes);
        }
    }

    /// The application has no more to write.
    pub fn close(&mut self) {
        if matches!(self.state, State::Closed | State::Listen) {
            self.state = State::Closed;
            return;
        }
        let sender = self.sender();
        if !sender.closing {
            sender.closing = true;
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                state => state,
            };
        }
    }

    /// The application drops the connection (RFC 9293 §3.10.5): a reset goes out.
    pub fn abort(&mut self) {
        let synchronized =
            !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait);
        if synchronized {
            let (seq, ack) = (self.max(), self.next());
            self.rare().reset = Some((seq, Some(ack)));
        }
        self.end(Time::ZERO, None);
    }

    /// Ends without a word.
    pub fn forget(&mut self, now: Time) {
        self.end(now, None);
    }

    fn end(&mut self, now: Time, error: Option<Error>) {
        self.state = State::Closed;
        self.syn_due = false;
        self.ack_due = false;
        if self.closed_at == Time::NEVER {
            self.closed_at = now;
        }
        if let Some(sender) = &mut self.sender {
            sender.stop();
        }
        if let Some(receiver) = &mut self.receiver {
            (receiver.ack_at, receiver.ack_now) = (Time::NEVER, false);
        }
        if let Some(rare) = &mut self.rare {
            (rare.hold_until, rare.earlier) = (None, None);
        }
        if error.is_some() {
            self.rare().error = error;
        }
    }

    /// From now on the application reads when it likes ([`Endpoint::read`]), not at once.
    pub fn hold_data(&mut self) {
        self.rare().reads = true;
    }

    /// The application reads up to `bytes`: how many there were.
    pub fn read(&mut self, bytes: u32) -> u32 {
        let (buffer, smss) = (self.buffer(), self.smss());
        let Some(receiver) = &mut self.receiver else { return 0 };
        let (n, update) = receiver.read(bytes, buffer, smss);
        self.ack_due |= update && !matches!(self.state, State::Closed | State::TimeWait);
        n
    }

    /// Bytes in order that the application has not read.
    pub fn readable(&self) -> u32 {
        self.receiver.as_ref().map_or(0, |r| r.unread)
    }

    /// Whether the other side has closed and everything was read.
    pub fn at_eof(&self) -> bool {
        self.fin_received() && self.readable() == 0
    }

    /// Whether the other side's FIN has been reached.
    pub fn fin_received(&self) -> bool {
        matches!(self.state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
    }

    /// Bytes written and not acknowledged, and of those never sent.
    pub fn outstanding(&self) -> (u64, u64) {
        self.sender.as_ref().map_or((0, 0), |s| {
            let sent = u64::from(s.data_end().minus(s.una).max(0) as u32);
            (sent.saturating_add(s.unsent), s.unsent)
        })
    }

    /// Why it ended, if it did so before its time.
    pub fn error(&self) -> Option<Error> {
        self.rare.as_ref().and_then(|r| r.error)
    }

    /// Small segments never wait (TCP_NODELAY).
    pub fn set_nodelay(&mut self, on: bool) {
        self.sender().nodelay(on);
    }

    /// Small segments wait for more (TCP_CORK).
    pub fn set_cork(&mut self, on: bool) {
        self.sender().cork(on);
    }

    /// ACKs go out at once, or not (TCP_QUICKACK).
    pub fn set_quickack(&mut self, on: bool) {
        self.receiver().set_quick(on);
    }

    /// When it must be called again, whatever arrives; [`Time::NEVER`]: only if something arrives.
    #[inline]
    pub fn deadline(&self) -> Time {
        let sender = self.sender.as_ref().map_or(Time::NEVER, |s| s.deadline());
        let receiver = self.receiver.as_ref().map_or(Time::NEVER, |r| r.ack_at);
        let at = sender.min(receiver);
        if self.state == State::TimeWait || self.rare.is_some() { at.min(self.rare_deadline()) } else { at }
    }

    #[inline(never)]
    fn rare_deadline(&self) -> Time {
        match (&self.rare, self.state) {
            (_, State::TimeWait) => self.time_wait_ends(),
            (Some(rare), _) => rare.hold_until.unwrap_or(Time::NEVER),
            _ => Time::NEVER,
        }
    }

    fn time_wait_ends(&self) -> Time {
        let from = self.rare.as_ref().and_then(|r| r.waits_from).unwrap_or(self.closed_at);
        if self.tcp.msl == Duration::ZERO { Time::NEVER } else { from + self.tcp.msl + self.tcp.msl }
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        if self.state == State::TimeWait && self.time_wait_ends() <= now {
            return self.end(now, None);
        }
        if let Some(receiver) = &mut self.receiver
            && receiver.ack_at <= now
        {
            receiver.ack_now = true;
        }
        if let Some(rare) = &mut self.rare
            && rare.hold_until.is_some_and(|t| t <= now)
        {
            rare.hold_until = None;
        }
        let Some(sender) = &mut self.sender else { return };
        if sender.timer > now {
            return;
        }
        if matches!(self.state, State::SynSent | State::SynReceived) {
            let over = sender.on_syn_timeout(&self.tcp);
            sender.timer = Time::NEVER;
            if over {
                return self.end(now, Some(Error::TimedOut));
            }
            self.syn_due = true;
            return;
        }
        match sender.on_timer(now, &self.tcp) {
            None => self.end(now, Some(Error::TimedOut)),
            Some(true) => self.ecn.on_cut(self.max()),
            Some(false) => {}
        }
    }

    /// A segment arrives, in a packet with this ECN field.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) {
        if self.state > State::SynSent {
            return self.in_synchronized(now, segment, options, field);
        }
        match self.state {
            State::Listen => self.in_listen(segment, options, field),
            State::SynSent => self.in_syn_sent(now, segment, options, field),
            _ => {}
        }
    }

    /// The other side's SYN is taken in.
    fn take_syn(&mut self, segment: &Segment, options: &Options, field: EcnField) {
        let tcp = &self.tcp;
        self.irs = segment.seq;
        self.rwnd = segment.window;
        self.agreed = Agreed {
            mss: options.mss.unwrap_or(0),
            their_scale: options.window_scale.unwrap_or(0).min(14), // RFC 7323 §2.3
            our_scale: window_scale(tcp),
            scaling: match tcp.window_scaling {
                WindowScaling::Full => true,
                WindowScaling::On => options.window_scale.is_some(),
                WindowScaling::Off => false,
            },
            sack: tcp.sack && options.sack_permitted,
            timestamps: tcp.timestamps && options.timestamps.is_some(),
        };
        if let Some((value, _)) = options.timestamps.filter(|_| self.agreed.timestamps) {
            self.receiver().ts_recent = value;
        }
        let (tcp, ecn) = (&self.tcp, &mut self.ecn);
        ecn.on_syn(segment.flags, field, tcp);
        if let Some(sender) = &mut self.sender {
            sender.set_window(segment);
        }
    }

    #[cold]
    fn in_listen(&mut self, segment: &Segment, options: &Options, field: EcnField) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.rare().reset = Some((segment.ack, None));
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.take_syn(segment, options, field);
            self.state = State::SynReceived;
            self.sender().set_window(segment);
            self.syn_due = true;
        }
    }

    /// RFC 9293 §3.10.7.3.
    #[cold]
    fn in_syn_sent(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) {
        let acked = segment.flags.has(Flags::ACK);
        if acked && segment.ack != self.max() {
            if !segment.flags.has(Flags::RST) {
                self.rare().reset = Some((segment.ack, None));
            }
            return;
        }
        if segment.flags.has(Flags::RST) {
            if acked && self.offered_ecn() {
                self.rare().plain_syn = true; // RFC 3168 §6.1.1.1
                self.syn_due = true;
            } else if acked {
                self.end(now, Some(Error::Refused));
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            if acked && self.rare.as_ref().is_some_and(|r| r.tried) {
                // A responder that sends no second SYN-ACK (RFC 5562 §5) is established already.
                self.syn_acked(now);
                self.establish(now);
                self.in_synchronized(now, segment, options, field);
            }
            return;
        }
        self.take_syn(segment, options, field);
        if acked && self.tcp.ecn_in_force() == Ecn::EcnPlusTryOnce && self.ecn.handshake_marked() {
            self.ack_due = true; // RFC 5562 §3.2: SYN-SENT until one arrives without mark
            self.rare().tried = true;
            return;
        }
        if acked {
            self.syn_acked(now);
            self.ack_due = true;
            self.establish(now);
        } else {
            // Both opened at once.
            self.rare().simultaneous = true;
            self.state = State::SynReceived;
            self.syn_due = true;
        }
    }

    /// Whether the SYN that is out offered ECN, and another may go without.
    fn offered_ecn(&self) -> bool {
        let attempt = self.sender.as_ref().map_or(0, |s| s.expirations);
        let plain = self.rare.as_ref().is_some_and(|r| r.plain_syn);
        self.tcp.ecn_fallback && !plain && EcnEnd::syn_flags(&self.tcp, attempt) != Flags::default()
    }

    fn syn_acked(&mut self, now: Time) {
        let (tcp, agreed) = (self.tcp.clone(), self.agreed);
        let sender = self.sender();
        sender.on_syn_acked(now, smss(&tcp, &agreed), agreed.sack, agreed.timestamps, &tcp);
        self.first_rtt = sender.smoothed(&tcp).0;
    }

    fn establish(&mut self, now: Time) {
        self.established_at = now;
        let idle = self.sender.as_ref().is_none_or(|s| s.unsent == 0 && !s.closing && s.is_plain());
        let closing = self.sender.as_ref().is_some_and(|s| s.closing);
        // Another clock or mode would remember more of the handshake than its round trip.
        let forgettable = self.state == State::SynReceived
            || (self.tcp.rto_estimator == RtoEstimator::Rfc6298 && !self.ecn.negotiated());
        if idle && forgettable {
            self.sender = None; // it comes back when the application writes
        }
        self.state = if closing { State::FinWait1 } else { State::Established };
    }

    #[inline]
    fn in_synchronized(&mut self, now: Time, segment: &Segment, options: &Options, field: EcnField) {
        let window = if self.optioned || self.rare.is_some() {
            if self.agreed.timestamps && !self.timestamp_passes(segment, options) {
                return;
            }
            self.told_window()
        } else {
            self.buffer()
        };
        let next = self.next();
        let in_window = (segment.seq == next && window > 0) || acceptable(next, segment, window);
        let data_after_close = segment.len > 0 && self.fin_received();
        if !in_window || segment.flags.has(Flags::SYN) || data_after_close {
            return self.on_unacceptable(now, segment, next, field);
        }
        if segment.flags.0 & (Flags::RST.0 | Flags::ACK.0) != Flags::ACK.0 {
            if segment.flags.has(Flags::RST) {
                self.on_reset(now, segment, next);
            }
            return;
        }
        if segment.ack.after(self.max()) {
            return self.on_ack_of_nothing(segment);
        }
        let completes = self.state == State::SynReceived;
        if completes && !self.on_handshake_ack(now, segment) {
            return;
        }
        if let Some(sender) = &mut self.sender {
            let delivers = segment.ack.minus(sender.una).max(0) as u32;
            let feedback = if completes {
                Feedback::default() // its flags speak of the SYN-ACK
            } else {
                self.ecn.feedback(segment, options, delivers, &self.tcp)
            };
            let cut = sender.on_ack(now, segment, options, feedback, &self.tcp);
            if cut {
                let max = sender.max;
                self.ecn.on_cut(max);
            }
            self.after_ack(now);
        } else {
            self.rwnd = segment.window;
        }
        if segment.seq_len() > 0 {
            let beyond = i64::from(segment.end().minus(next)) - i64::from(window);
            if beyond > 0 {
                return self.on_data_beyond(now, segment, beyond, field);
            }
            self.on_data(now, segment, field);
        }
    }

    /// The window that the other side knows of.
    #[inline(never)]
    fn told_window(&self) -> u32 {
        match (&self.receiver, &self.rare) {
            (Some(receiver), Some(rare)) if rare.reads => receiver.advertised(),
            _ => self.buffer(),
        }
    }

    /// What lies beyond the window is cut off (RFC 9293 §3.10.7.4, first check).
    #[cold]
    fn on_data_beyond(&mut self, now: Time, segment: &Segment, beyond: i64, field: EcnField) {
        let mut inside = *segment;
        inside.len -= beyond.min(i64::from(segment.len)) as u16;
        inside.flags = inside.flags.without(Flags::FIN);
        self.on_data(now, &inside, field);
    }

    /// RFC 9293 §3.10.7.4, fifth check: what was never sent is acknowledged.
    #[cold]
    fn on_ack_of_nothing(&mut self, segment: &Segment) {
        if self.state == State::SynReceived {
            self.rare().reset = Some((segment.ack, None));
        } else {
            self.ack_due = true;
        }
    }

    /// An ACK in SYN-RECEIVED: whether it ends the handshake.
    #[cold]
    fn on_handshake_ack(&mut self, now: Time, segment: &Segment) -> bool {
        let una = self.sender.as_ref().map_or(self.iss + 1, |s| s.una);
        if !segment.ack.after(una) || self.tries_once(segment) {
            return false;
        }
        self.complete_handshake(now, segment);
        self.ecn.on_handshake_ack(segment.flags);
        true
    }

    /// Whether the SYN-ACK was marked, and goes out again, not ECN-capable (RFC 5562 §3.2).
    fn tries_once(&mut self, segment: &Segment) -> bool {
        let echo = segment.flags.has(Flags::ECE) && self.ecn.negotiated();
        if self.tcp.ecn != Ecn::EcnPlusTryOnce || !echo || self.rare.as_ref().is_some_and(|r| r.tried) {
            return false;
        }
        self.rare().tried = true;
        self.syn_due = true;
        true
    }

    /// The ACK of the SYN-ACK.
    #[cold]
    fn complete_handshake(&mut self, now: Time, segment: &Segment) {
        let marked =
            self.ecn.negotiated() && segment.flags.has(Flags::ECE) && self.ecn.mode() != Mode::Accurate;
        self.syn_acked(now);
        self.establish(now);
        self.rwnd = segment.window;
        if let Some(sender) = &mut self.sender {
            sender.set_window(segment);
        }
        if self.rare.as_ref().is_some_and(|r| r.tried) {
            self.sender().begin_with_one_segment();
        }
        if marked && matches!(self.tcp.ecn, Ecn::EcnPlus | Ecn::EcnPlusWait) {
            // RFC 5562 §3.1: the initial window is one segment; §4 (Wait): after a round trip.
            self.sender().begin_with_one_segment();
            self.ecn.on_cut(self.max());
            if self.tcp.ecn_in_force() == Ecn::EcnPlusWait {
                let rtt = self.first_rtt;
                self.rare().hold_until = Some(now + rtt);
            }
        }
    }

    /// PAWS, and TS.Recent (RFC 7323 §5.3, §4.3). Whether the segment may go on.
    #[inline(never)]
    fn timestamp_passes(&mut self, segment: &Segment, options: &Options) -> bool {
        let Some((value, _)) = options.timestamps else {
            return segment.flags.has(Flags::RST) || segment.flags.has(Flags::SYN); // §3.2: dropped
        };
        let receiver = self.receiver();
        if receiver.is_stale(value) && !segment.flags.has(Flags::RST) {
            receiver.ack_now |= segment.seq_len() > 0;
            return false;
        }
        receiver.on_timestamp(value, segment.seq);
        true
    }

    /// RFC 9293 §3.10.7.4, first and fourth check: what is outside of the window, or a SYN, is answered.
    #[cold]
    fn on_unacceptable(&mut self, now: Time, segment: &Segment, next: Seq, field: EcnField) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::FIN) && self.state == State::TimeWait {
            self.rare().waits_from = Some(now); // eighth check: the 2 MSL begin again
        }
        if segment.len == 1 && segment.seq == next {
            self.ecn.on_data(segment, field, false, &self.tcp); // a window probe (RFC 3168 §6.1.6)
        }
        if segment.flags.has(Flags::SYN) && segment.seq == self.irs && self.state == State::SynReceived {
            let simultaneous = self.rare.as_ref().is_some_and(|r| r.simultaneous);
            if simultaneous && segment.flags.has(Flags::ACK) {
                self.ack_due = true;
            } else {
                self.syn_due = true; // the SYN-ACK was lost
            }
            return;
        }
        if segment.seq_len() == 0 && segment.seq.before(next) && segment.flags.has(Flags::ACK) {
            self.take_late_ack(now, segment);
        }
        if segment.len > 0 && segment.seq.before(next) {
            let tcp = self.tcp.clone();
            self.receiver().on_unacceptable(segment, &tcp);
        }
        self.ack_due = true;
    }

    /// An ACK from before what was received last: what it acknowledges counts (as Linux has it, up to the last
    /// window update), or two ends whose probes crossed would answer each other for ever.
    fn take_late_ack(&mut self, now: Time, segment: &Segment) {
        if self.state == State::SynReceived || segment.ack.after(self.max()) {
            return;
        }
        let Some(sender) = &mut self.sender else { return };
        if segment.ack.after(sender.una) {
            sender.on_ack(now, segment, &Options::NONE, Feedback::default(), &self.tcp);
            self.after_ack(now);
        }
    }

    /// RFC 9293 §3.10.7.4, second check: exactly the next number resets, others are challenged.
    #[cold]
    fn on_reset(&mut self, now: Time, segment: &Segment, next: Seq) {
        if segment.seq != next {
            self.ack_due = true;
            return;
        }
        let refused = self.state == State::SynReceived && self.rare.as_ref().is_some_and(|r| r.simultaneous);
        let quiet = matches!(self.state, State::Closing | State::LastAck | State::TimeWait);
        let error = if refused { Error::Refused } else { Error::Reset };
        self.end(now, (!quiet).then_some(error));
    }

    #[inline]
    fn on_data(&mut self, now: Time, segment: &Segment, field: EcnField) {
        let next = self.irs + 1;
        let receiver = self.receiver.get_or_insert_with(|| Box::new(Receiver::new(next, &self.tcp)));
        let next = receiver.next;
        let prompt = match segment.len {
            0 => Prompt::default(),
            _ => self.ecn.on_data(segment, field, receiver.owes_ack(), &self.tcp),
        };
        if prompt.before {
            self.rare.get_or_insert_default().earlier = Some(next);
        }
        let finished = receiver.on_data(now, segment, &self.tcp);
        if self.ecn.negotiated() {
            self.ecn.on_advance(receiver.next);
            receiver.ack_now |= prompt.at_once;
        }
        if self.rare.as_ref().is_none_or(|r| !r.reads) {
            receiver.unread = 0;
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

    /// What an ACK means for the connection: completion, and the ACK of the FIN.
    #[inline]
    fn after_ack(&mut self, now: Time) {
        if self.sender.as_ref().is_some_and(|s| s.closing && s.unsent == 0) {
            self.after_ack_at_end(now);
        }
    }

    #[inline(never)]
    fn after_ack_at_end(&mut self, now: Time) {
        let Some(sender) = &self.sender else { return };
        if self.completed_at == Time::NEVER && sender.all_acknowledged() {
            self.completed_at = now;
        }
        if sender.fin_sent && sender.una == sender.max {
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

    #[cold]
    fn poll_syn(&mut self, now: Time, options: &mut Options) -> Option<(Segment, EcnField)> {
        if std::mem::take(&mut self.ack_due) {
            return Some(self.pure_ack(now, options)); // of an unacceptable segment
        }
        if !std::mem::take(&mut self.syn_due) {
            return None;
        }
        let tcp = self.tcp.clone();
        let sender = self.sender();
        sender.on_syn_sent(now, &tcp);
        let attempt = sender.expirations;
        let reply = self.state == State::SynReceived;
        let offers = |mine: bool, agreed: bool| mine && (!reply || agreed);
        *options = Options::default();
        if tcp.window_scaling != WindowScaling::Full || tcp.sack || tcp.timestamps {
            options.mss = Some(tcp.mss.0 as u16);
        }
        options.sack_permitted = offers(tcp.sack, self.agreed.sack);
        options.timestamps = offers(tcp.timestamps, self.agreed.timestamps)
            .then(|| (timestamp(now), self.receiver.as_ref().map_or(0, |r| r.ts_recent)));
        let scale = offers(tcp.window_scaling == WindowScaling::On, self.agreed.scaling);
        options.window_scale = scale.then(|| window_scale(&tcp));
        let window = Receiver::first_window(&tcp);
        let mut segment = Segment { seq: self.iss, ack: Seq(0), window, len: 0, flags: Flags::SYN };
        if reply {
            segment.ack = self.irs + 1;
            segment.flags |= Flags::ACK
                | if attempt > 0 && self.ecn.mode() == Mode::Accurate {
                    Flags::default()
                } else {
                    self.ecn.syn_ack_flags()
                };
        } else {
            let plain = self.rare.as_ref().is_some_and(|r| r.plain_syn);
            segment.flags |= EcnEnd::syn_flags(&tcp, attempt.max(u8::from(plain)));
        }
        let again = attempt.max(u8::from(self.rare.as_ref().is_some_and(|r| r.tried)));
        Some((segment, self.ecn.syn_field(&tcp, reply, again)))
    }

    fn buffer(&self) -> u32 {
        self.tcp.receive_window.0 as u32
    }

    fn smss(&self) -> u32 {
        smss(&self.tcp, &self.agreed)
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
    fn pure_ack(&mut self, now: Time, options: &mut Options) -> (Segment, EcnField) {
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

    /// The shift of the windows it advertises, if that was agreed on.
    pub fn scale(&self) -> u8 {
        if self.agreed.scaling && self.tcp.window_scaling == WindowScaling::On {
            self.agreed.our_scale
        } else {
            0
        }
    }

    /// The window of its sender.
    pub fn window(&self) -> Window {
        match &self.sender {
            Some(sender) => sender.window(),
            None => self.new_sender().window(),
        }
    }

    /// Its retransmission timeout, back-off included.
    pub fn rto(&self) -> Duration {
        self.sender.as_ref().map_or_else(|| self.new_sender().timeout(&self.tcp), |s| s.timeout(&self.tcp))
    }

    /// How many round trips it measured, and the last of them.
    pub fn round_trips(&self) -> (u32, Duration) {
        match &self.sender {
            Some(sender) => sender.round_trips(),
            None => (u32::from(self.first_rtt > Duration::ZERO), self.first_rtt),
        }
    }

    /// Its smoothed round-trip time (SRTT); zero before the first is measured.
    pub fn srtt(&self) -> Duration {
        self.sender.as_ref().map_or(Duration::ZERO, |s| s.smoothed(&self.tcp).0)
    }

    /// Bytes of its data that the other side acknowledged.
    pub fn acked(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.acked)
    }

    /// What its sender counted.
    pub fn sender_stats(&self) -> SenderStats {
        self.sender.as_ref().map_or(SenderStats::default(), |s| s.stats())
    }

    /// What its receiver counted.
    pub fn receiver_stats(&self) -> ReceiverStats {
        self.receiver.as_ref().map_or(ReceiverStats::default(), |r| r.stats())
    }

    /// Pure ACKs sent, and packets of all kinds sent.
    pub fn sent(&self) -> (u64, u64) {
        (u64::from(self.acks_sent), u64::from(self.packets_sent))
    }

    /// Whether both ends agreed on ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.negotiated()
    }

    /// On what ECN both ends agreed.
    pub fn ecn_mode(&self) -> Mode {
        self.ecn.mode()
    }

    /// When it was established; when all its data was acknowledged after its close; when it was
    /// closed. Each [`Time::NEVER`] until it happens.
    pub fn milestones(&self) -> (Time, Time, Time) {
        (self.established_at, self.completed_at, self.closed_at)
    }

    /// Everything an application may ask (Linux, TCP_INFO).
    pub fn info(&self) -> Info {
        Info::of(self, self.sender.as_deref(), self.receiver.as_deref())
    }

    /// Whether SACK, timestamps and window scaling were agreed on; the scales of the other side and ours.
    pub fn agreed(&self) -> (bool, bool, bool, u8, u8) {
        let a = &self.agreed;
        let scaling = a.scaling && self.tcp.window_scaling == WindowScaling::On;
        (a.sack, a.timestamps, scaling, a.their_scale, a.our_scale)
    }
}

/// The largest payload: the smaller MSS, less the room that timestamps take (RFC 6691).
fn smss(tcp: &Tcp, agreed: &Agreed) -> u32 {
    let mine = tcp.mss.0 as u32;
    let theirs = match agreed.mss {
        0 if tcp.window_scaling == WindowScaling::Full && !tcp.sack && !tcp.timestamps => mine, // no option is sent
        0 => 536, // RFC 9293 §3.7.1
        mss => u32::from(mss),
    };
    let options = if agreed.timestamps { 12 } else { 0 };
    mine.min(theirs).saturating_sub(options).max(1)
}

/// The shift to offer: as the parameters say, or the least that lets the window be told (RFC 7323 §2.3).
fn window_scale(tcp: &Tcp) -> u8 {
    let least = || (0..14).find(|&s| tcp.receive_window.0 >> s <= 65_535).unwrap_or(14);
    tcp.window_shift.map_or_else(least, |s| s as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_stays_small() {
        assert!(size_of::<Endpoint>() <= 120, "{}", size_of::<Endpoint>());
    }
}
