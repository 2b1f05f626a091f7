//! The sending half: the window, what goes out, and what an ACK changes. It alone owns cwnd and
//! ssthresh.

use net::{Flags, Segment, Seq};
use units::{Duration, Time};

use crate::config::{FastRetransmit, RecoveryExit, SlowStartFrom, Tcp};
use crate::congestion::{Ack, Congestion, CongestionControl, Controller};
use crate::recovery::OnDuplicate;
use crate::recovery::reno::Recovery;
use crate::rto::Rto;

/// Everything that bounds what may be in flight, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window (cwnd).
    pub cwnd: f64,
    /// Slow start threshold (ssthresh).
    pub ssthresh: f64,
    /// Sent and not acknowledged (FlightSize).
    pub flight: f64,
    /// What fast recovery adds to cwnd for segments that have left the network.
    pub inflation: f64,
    /// Receiver's window (rwnd).
    pub rwnd: f64,
    /// Segment size (SMSS).
    pub smss: f64,
}

impl Window {
    /// The smaller of the inflated cwnd and rwnd.
    pub fn usable(&self) -> f64 {
        (self.cwnd + self.inflation).min(self.rwnd)
    }
}

/// What a sender counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderStats {
    /// Segments with data, retransmissions included.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Segments sent again, in part or whole.
    pub retransmitted_segments: u64,
    /// Their bytes.
    pub retransmitted_bytes: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u32,
    /// Fast retransmits.
    pub fast_retransmits: u32,
    /// Cuts of the window on ECN-Echo.
    pub ecn_cuts: u32,
}

/// The last reason for cutting the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    None,
    FastRetransmit,
    Ecn,
    Timeout,
}

/// The send sequence space (RFC 9293 §3.3.1), the window and the retransmission timer. What every ACK
/// touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT; goes back to SND.UNA when the timer expires.
    pub nxt: Seq,
    /// One past the highest sequence number ever sent.
    pub max: Seq,
    /// SND.WND.
    pub rwnd: u32,
    /// Bytes the application has written that were never sent; `u64::MAX`: endless.
    pub unsent: u64,
    cwnd: f64,
    ssthresh: f64,
    /// When the retransmission timer expires; [`Time::NEVER`]: not running.
    pub timer: Time,
    /// Bytes of data acknowledged.
    pub acked: u64,
    inflation: u32,
    /// The application has closed: a FIN follows the last byte.
    pub closing: bool,
    /// The FIN was sent; it holds the sequence number `max - 1`.
    pub fin_sent: bool,
    /// The first unacknowledged segment is to be sent again now.
    retransmit: bool,
    last_cut: Cut,
    /// The segment being timed and when it was sent; [`Time::NEVER`]: none.
    timed: (Seq, Time),
    recovery: Recovery,
    /// `max` at the last cut of the window (recover of RFC 6582).
    recover: Seq,
    congestion: Controller,
    pub(crate) stats: SenderStats,
    rto: Rto,
}

impl Sender {
    /// A sender whose SYN takes the sequence number `iss`. `phase`: of its host's clock.
    pub fn new(tcp: &Tcp, iss: Seq, phase: Duration) -> Self {
        Sender {
            una: iss,
            nxt: iss,
            max: iss,
            rwnd: 0,
            unsent: 0,
            closing: false,
            fin_sent: false,
            cwnd: tcp.initial_window.0 * tcp.mss.0 as f64,
            ssthresh: f64::INFINITY, // RFC 5681 §3.1: arbitrarily high
            inflation: 0,
            recover: iss,
            last_cut: Cut::None,
            recovery: Recovery::default(),
            congestion: Controller::new(tcp),
            retransmit: false,
            rto: Rto::new(tcp, phase),
            timer: Time::NEVER,
            timed: (iss, Time::NEVER),
            acked: 0,
            stats: SenderStats::default(),
        }
    }

    /// The window as it is.
    pub fn window(&self, tcp: &Tcp) -> Window {
        Window {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            flight: f64::from(self.max - self.una),
            inflation: f64::from(self.inflation),
            rwnd: f64::from(self.rwnd),
            smss: tcp.mss.0 as f64,
        }
    }

    /// The timeout as it would be set now.
    pub fn timeout(&self, tcp: &Tcp) -> Duration {
        self.rto.timeout(tcp)
    }

    /// One past the last byte of data ever sent.
    fn data_end(&self) -> Seq {
        Seq(self.max.0.wrapping_sub(u32::from(self.fin_sent)))
    }

    /// Whether everything that was written is acknowledged and no more will come.
    pub fn all_acknowledged(&self) -> bool {
        self.closing && self.unsent == 0 && !self.una.before(self.data_end())
    }

    /// The SYN (or SYN-ACK) goes out.
    pub fn on_syn_sent(&mut self, now: Time, tcp: &Tcp) {
        let first = self.max == self.una;
        (self.nxt, self.max) = (self.una + 1, self.una + 1);
        self.timed.1 = if first { now } else { Time::NEVER };
        self.timer = now + self.rto.timeout(tcp);
    }

    /// The SYN is acknowledged.
    pub fn on_syn_acked(&mut self, now: Time, tcp: &Tcp) {
        self.una = self.max;
        self.sample(now, tcp);
        self.timer = Time::NEVER;
        self.recover = self.una;
    }

    /// The SYN got no answer: it goes out again, after twice the time.
    pub fn on_syn_timeout(&mut self) {
        self.stats.timeouts += 1;
        self.rto.back_off();
    }

    fn sample(&mut self, now: Time, tcp: &Tcp) {
        let (seq, sent) = self.timed;
        if sent != Time::NEVER && self.una.after(seq) {
            self.rto.on_sample(tcp, sent, now);
            self.timed.1 = Time::NEVER;
        }
    }

    /// An acceptable ACK of an established connection. Returns whether the window was cut.
    #[inline]
    pub fn on_ack(&mut self, now: Time, segment: &Segment, ecn: bool, tcp: &Tcp) -> bool {
        let ack = segment.ack;
        let echo = ecn && segment.flags.has(Flags::ECE);
        let same_window = segment.window == self.rwnd;
        // RFC 3168 §6.1.2: at most one response to congestion a window of data.
        let cut_by_echo = echo && ack.after(self.recover);
        if cut_by_echo {
            self.stats.ecn_cuts += 1;
            self.cut(now, Congestion::Ecn, tcp);
        }
        let was_una = self.una;
        let mut cut_by_loss = false;
        if ack.after(self.una) {
            self.on_new_ack(now, ack, echo, tcp);
        } else if ack == was_una && segment.seq_len() == 0 && same_window && self.max.after(self.una) {
            cut_by_loss = self.on_duplicate_ack(now, tcp);
        }
        self.rwnd = segment.window;
        cut_by_echo || cut_by_loss
    }

    #[inline]
    fn on_new_ack(&mut self, now: Time, ack: Seq, echo: bool, tcp: &Tcp) {
        let acked = ack - self.una;
        self.una = ack;
        self.acked += u64::from(acked) - u64::from(self.fin_sent && ack == self.max);
        if self.nxt.before(ack) {
            self.nxt = ack;
        }
        self.sample(now, tcp);
        self.timer = if self.una == self.max { Time::NEVER } else { now + self.rto.timeout(tcp) };
        let recovered = self.recovery.on_new_ack();
        self.inflation = 0;
        if recovered {
            self.cwnd = self.ssthresh; // RFC 5681 §3.2, step 6
        }
        let opens = !recovered || tcp.recovery_exit == RecoveryExit::DeflateAndOpen;
        let first = self.acked == u64::from(acked);
        let too_early = first && tcp.slow_start_from == SlowStartFrom::SecondAck;
        if opens && !echo && !too_early {
            let window = self.window(tcp);
            let ack = Ack {
                now,
                acked,
                delivered: acked,
                marked: 0,
                total_delivered: self.acked,
                rtt: None,
                srtt: Duration::ZERO,
                min_rtt: Duration(u64::MAX),
                round: false,
                cwnd_limited: true,
                in_recovery: false,
                rate: None,
            };
            self.cwnd = self.congestion.cwnd_on_ack(&window, &ack);
            if let Some(ssthresh) = self.congestion.ssthresh_on_ack(&Window { cwnd: self.cwnd, ..window }) {
                self.ssthresh = ssthresh;
            }
        }
    }

    fn on_duplicate_ack(&mut self, now: Time, tcp: &Tcp) -> bool {
        let new_window = self.una.after(self.recover);
        let cut_by_ecn = self.last_cut == Cut::Ecn && !new_window;
        let allowed = new_window || cut_by_ecn || tcp.fast_retransmit == FastRetransmit::Unguarded;
        match self.recovery.on_duplicate(tcp.duplicate_acks.0 as u32, allowed) {
            OnDuplicate::Wait => false,
            OnDuplicate::Inflate => {
                self.inflation += tcp.mss.0 as u32;
                false
            }
            OnDuplicate::Retransmit => {
                self.stats.fast_retransmits += 1;
                if cut_by_ecn {
                    self.last_cut = Cut::FastRetransmit; // the window was cut for this congestion
                } else {
                    self.cut(now, Congestion::FastRetransmit, tcp);
                }
                self.inflation = tcp.duplicate_acks.0 as u32 * tcp.mss.0 as u32; // step 3
                self.retransmit = true;
                self.timed.1 = Time::NEVER; // Karn: the timed segment may be the lost one
                self.timer = now + self.rto.timeout(tcp);
                !cut_by_ecn
            }
        }
    }

    /// Cuts the window.
    fn cut(&mut self, now: Time, congestion: Congestion, tcp: &Tcp) {
        let window = self.window(tcp);
        self.ssthresh = self.congestion.ssthresh_on(&window, congestion, now);
        (self.cwnd, self.last_cut) = match congestion {
            Congestion::FastRetransmit => (self.ssthresh, Cut::FastRetransmit),
            Congestion::Ecn => (self.ssthresh, Cut::Ecn),
            Congestion::Timeout { .. } => (window.smss, Cut::Timeout), // RFC 5681 §3.1: the loss window
        };
        self.recover = self.max;
    }

    /// The retransmission timer expired: go back to the first unacknowledged byte.
    pub fn on_timeout(&mut self, now: Time, tcp: &Tcp) {
        self.stats.timeouts += 1;
        self.recovery.on_timeout();
        self.inflation = 0;
        let in_same_window = !self.una.after(self.recover);
        if self.last_cut == Cut::Ecn && in_same_window {
            // ssthresh was halved for this window of data already.
            (self.cwnd, self.last_cut, self.recover) = (tcp.mss.0 as f64, Cut::Timeout, self.max);
        } else {
            let again = self.last_cut == Cut::Timeout && in_same_window;
            self.cut(now, Congestion::Timeout { again }, tcp);
        }
        self.nxt = self.una;
        self.retransmit = false;
        self.timed.1 = Time::NEVER;
        self.rto.back_off();
        self.timer = now + self.rto.timeout(tcp);
    }

    /// The next segment to send, if there is one that may go now: sequence number, payload, FIN and
    /// whether it is new.
    #[inline]
    pub fn next_segment(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if self.unsent == 0 && self.nxt == self.max && !self.retransmit && self.closing == self.fin_sent {
            return None; // nothing written, nothing to send again: a receiver of data is always here
        }
        let mss = tcp.mss.0 as u32;
        if self.retransmit {
            self.retransmit = false;
            return Some(self.build(now, self.una, mss.min(self.data_end() - self.una), tcp));
        }
        let sent = self.nxt - self.una;
        let limit = (self.cwnd as u64 + u64::from(self.inflation)).min(u64::from(self.rwnd)) as u32;
        let room = limit.saturating_sub(sent);
        let again = if self.nxt.before(self.data_end()) { self.data_end() - self.nxt } else { 0 };
        let available = u64::from(again).saturating_add(self.unsent);
        if available == 0 {
            let fin_due = self.closing && (!self.fin_sent || self.nxt.before(self.max));
            return (fin_due && room > 0).then(|| self.build(now, self.nxt, 0, tcp));
        }
        let len = available.min(u64::from(mss)) as u32;
        // A segment is sent whole (RFC 9293 §3.8.6.2.1): no less than what is there or one SMSS.
        if room < len {
            return None;
        }
        let outgoing = self.build(now, self.nxt, len, tcp);
        self.nxt = self.nxt + outgoing.len + u32::from(outgoing.fin);
        Some(outgoing)
    }

    fn build(&mut self, now: Time, seq: Seq, len: u32, tcp: &Tcp) -> Outgoing {
        let end = seq + len;
        let resent = if seq.before(self.data_end()) { self.data_end() - seq } else { 0 };
        let new_bytes = len.saturating_sub(resent);
        if self.unsent != u64::MAX {
            self.unsent -= u64::from(new_bytes);
        }
        let is_new = seq == self.max;
        let data_end = self.data_end().max(end);
        let fin = self.closing && self.unsent == 0 && end == data_end;
        self.fin_sent |= fin;
        self.max = self.max.max(end + u32::from(fin));
        if len > 0 {
            self.stats.segments += 1;
            self.stats.bytes += u64::from(len);
            if resent > 0 {
                self.stats.retransmitted_segments += 1;
                self.stats.retransmitted_bytes += u64::from(len.min(resent));
            }
        }
        if is_new && self.timed.1 == Time::NEVER {
            self.timed = (seq, now);
        }
        if self.timer == Time::NEVER {
            self.timer = now + self.rto.timeout(tcp);
        }
        if seq == self.nxt && len == 0 {
            self.nxt = self.max;
        }
        Outgoing { seq, len, fin, is_new }
    }
}

/// A segment about to go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its first sequence number.
    pub seq: Seq,
    /// Its payload in bytes.
    pub len: u32,
    /// Whether it carries the FIN.
    pub fin: bool,
    /// Whether nothing of it was sent before.
    pub is_new: bool,
}
