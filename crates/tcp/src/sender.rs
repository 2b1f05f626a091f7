//! The sending half: the window, what goes out, and what an ACK changes. It alone owns cwnd and
//! ssthresh. Without SACK it works by bytes and goes back to SND.UNA after a timeout; with SACK it asks
//! the scoreboard ([`Board`]).

use std::collections::VecDeque;

use net::{Options, Segment, Seq};
use units::{Duration, Time};

use crate::config::{
    CwndValidation, FastRetransmit, FastRetransmitTimer, FlightUnit, FrtoKind, IdleRestart, Nagle, PrrBound,
    RateReduction, RecoveryExit, SlowStartFrom, SpuriousResponse, SsthreshFrom, Tcp, WindowProbe,
};
use crate::congestion::{Ack, Congestion, CongestionControl, Controller, RateSample};
use crate::recovery::board::{Board, Clock, Delivery};
use crate::recovery::eifel::Undo;
use crate::recovery::frto::{self, Frto};
use crate::recovery::prr::Prr;
use crate::recovery::reno::Duplicates;
use crate::recovery::tlp::{self, Tlp};
use crate::recovery::{OnDuplicate, OnNewAck, RecoveryKind, fack, newreno, sack, tahoe};
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
    /// Retransmissions found to be spurious, and taken back.
    pub undone: u32,
}

/// The same, as it is kept: all bytes sent follow from those acknowledged, outstanding and sent again.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    retransmitted_segments: u32,
    timeouts: u32,
    fast_retransmits: u32,
    ecn_cuts: u32,
    undone: u32,
}

/// The last reason for cutting the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    None,
    FastRetransmit,
    Ecn,
    Timeout,
}

/// Where loss recovery stands, with SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is amiss.
    #[default]
    Open,
    /// The window comes down after ECN-Echo.
    Cwr,
    /// Losses are repaired.
    Recovery,
    /// After a timeout.
    Loss,
}

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Rto,
    Persist,
    Probe,
    Reorder,
}

/// What the other side said of marks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feedback {
    /// Respond to congestion, at most once a window.
    pub echo: bool,
    /// Share of what this ACK delivers that was marked, between 0 and 1.
    pub marked: f64,
}

/// What most senders do without: the scoreboard, measurements for controllers, push points.
#[derive(Clone, Debug)]
struct More {
    board: Option<Board>,
    phase: Phase,
    prr: Prr,
    tlp: Tlp,
    frto: Frto,
    undo: Undo,
    /// A timestamp's worth of milliseconds goes out with retransmissions.
    timestamps: bool,
    saw_dsack: bool,
    /// When what is out longest was first sent.
    since: Time,
    /// RescueRxt (RFC 6675 §2); `None`: the rescue was sent.
    rescue: Option<Seq>,
    probe_due: bool,
    min_rtt: Duration,
    round_end: Seq,
    clock: Clock,
    lost_bytes: u64,
    /// `delivered` when what was sent while the application had no more is delivered.
    app_limited_until: u64,
    pushes: VecDeque<Seq>,
    /// Without scoreboard, for controllers that measure: where each segment ends that was sent once, when it was
    /// sent, and the bytes delivered by then.
    sent: VecDeque<(Seq, Time, u64)>,
    /// When pacing lets the next segment go.
    pace_at: Time,
    last_sent: Time,
    cwnd_limited: bool,
    limited_until: Seq,
    most_out: f64,
    /// One past the last small segment (Minshall's SND.SML).
    small: Seq,
    held: bool,
}

/// The send sequence space (RFC 9293 §3.3.1), the window and the retransmission timer. What every ACK
/// touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT; goes back to SND.UNA when the timer expires, without SACK.
    pub nxt: Seq,
    /// One past the highest sequence number ever sent.
    pub max: Seq,
    /// SND.WND.
    pub rwnd: u32,
    /// Bytes the application has written that were never sent; `u64::MAX`: endless.
    pub unsent: u64,
    cwnd: f64,
    ssthresh: f64,
    /// When the timer expires; [`Time::NEVER`]: not running.
    pub timer: Time,
    /// Bytes of data acknowledged.
    pub acked: u64,
    inflation: u32,
    /// Largest payload sent (SMSS).
    pub smss: u32,
    /// The application has closed: a FIN follows the last byte.
    pub closing: bool,
    /// The FIN was sent; it holds the sequence number `max - 1`.
    pub fin_sent: bool,
    /// The first unacknowledged segment is to be sent again now.
    retransmit: bool,
    last_cut: Cut,
    pending: Pending,
    /// Nothing new goes before the timer expires.
    wait_for_timer: bool,
    /// Expirations since something was acknowledged.
    pub expirations: u8,
    nodelay: bool,
    more: Option<Box<More>>,
    /// The segment being timed and when it was sent; [`Time::NEVER`]: none.
    timed: (Seq, Time),
    /// `max` at the last cut of the window (recover of RFC 6582).
    recover: Seq,
    duplicates: Duplicates,
    /// Where the last write ended.
    push: Seq,
    /// SND.WL1.
    wl1: Seq,
    /// Max(SND.WND).
    most_window: u32,
    /// Segments with data sent.
    segments: u32,
    congestion: Controller,
    rto: Rto,
    retransmitted_bytes: u64,
    stats: Counts,
    cork: bool,
}

/// Least timeout of data after a SYN was lost (RFC 6298 §5.7).
const AFTER_SYN_LOSS: Duration = Duration::from_millis(3000);

/// The timestamp clock, in milliseconds (RFC 7323 §5.4: between 1 ms and 1 s).
pub fn timestamp(now: Time) -> u32 {
    (now.0 / 1_000_000_000) as u32
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
            cwnd: tcp.initial_window.bytes(tcp.mss.0 as f64),
            ssthresh: tcp.initial_ssthresh.map_or(f64::INFINITY, |n| n.0 * tcp.mss.0 as f64), // RFC 5681 §3.1: arbitrarily high
            inflation: 0,
            smss: tcp.mss.0 as u32,
            recover: iss,
            most_window: 0,
            push: iss,
            wl1: Seq(0),
            last_cut: Cut::None,
            pending: Pending::Rto,
            wait_for_timer: false,
            nodelay: false,
            cork: false,
            expirations: 0,
            duplicates: Duplicates::default(),
            congestion: Controller::new(tcp),
            more: None,
            retransmit: false,
            rto: Rto::new(tcp, phase),
            timer: Time::NEVER,
            timed: (iss, Time::NEVER),
            acked: 0,
            segments: 0,
            retransmitted_bytes: 0,
            stats: Counts::default(),
        }
    }

    /// The window as it is.
    pub fn window(&self) -> Window {
        Window {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            flight: f64::from(self.max - self.una),
            inflation: f64::from(self.inflation),
            rwnd: f64::from(self.rwnd),
            smss: f64::from(self.smss),
        }
    }

    /// What it counted.
    pub fn stats(&self) -> SenderStats {
        let c = &self.stats;
        let outstanding = self.data_end().minus(self.una).max(0) as u64;
        SenderStats {
            segments: u64::from(self.segments),
            bytes: if self.segments == 0 { 0 } else { self.acked + outstanding + self.retransmitted_bytes },
            retransmitted_segments: u64::from(c.retransmitted_segments),
            retransmitted_bytes: self.retransmitted_bytes,
            timeouts: c.timeouts,
            fast_retransmits: c.fast_retransmits,
            ecn_cuts: c.ecn_cuts,
            undone: c.undone,
        }
    }

    /// The timeout as it would be set now.
    pub fn timeout(&self, tcp: &Tcp) -> Duration {
        self.rto.timeout(tcp)
    }

    /// How many round trips were measured, and the last of them.
    pub fn round_trips(&self) -> (u32, Duration) {
        self.rto.round_trips()
    }

    /// SRTT and its deviation.
    pub fn smoothed(&self, tcp: &Tcp) -> (Duration, Duration) {
        self.rto.smoothed(tcp)
    }

    /// Doublings of the timeout in force.
    pub fn doublings(&self) -> u32 {
        self.rto.doublings()
    }

    /// Least round trip, if it is measured.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.more.as_ref().map(|m| m.min_rtt).filter(|d| d.0 != u64::MAX)
    }

    /// Bytes delivered, if they are counted.
    pub fn delivered(&self) -> Option<u64> {
        self.more.as_ref().map(|m| m.clock.delivered)
    }

    /// Where recovery stands.
    pub fn phase(&self) -> Phase {
        match &self.more {
            Some(m) if m.board.is_some() => m.phase,
            _ if self.duplicates.in_recovery() => Phase::Recovery,
            _ if self.last_cut == Cut::Timeout && self.una.before(self.recover) => Phase::Loss,
            _ if self.last_cut == Cut::Ecn && self.una.before(self.recover) => Phase::Cwr,
            _ => Phase::Open,
        }
    }

    /// Segments out, SACKed, lost and sent again, as the scoreboard or the sequence numbers tell.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        match self.board() {
            Some(b) => b.counts(),
            None => ((self.max - self.una).div_ceil(self.smss.max(1)), self.duplicates.count(), 0, 0),
        }
    }

    fn board(&self) -> Option<&Board> {
        self.more.as_ref().and_then(|m| m.board.as_ref())
    }

    /// Duplicate ACKs in a row.
    pub fn duplicates(&self) -> u32 {
        self.duplicates.count()
    }

    /// The rate at which segments are spaced.
    pub fn pacing_rate(&self, tcp: &Tcp) -> Option<units::Rate> {
        self.congestion.pacing_rate(&self.window(), self.rto.smoothed(tcp).0)
    }

    /// One past the last byte of data ever sent.
    pub fn data_end(&self) -> Seq {
        Seq(self.max.0.wrapping_sub(u32::from(self.fin_sent)))
    }

    /// `max`, or the right edge of the window if a probe has passed it.
    pub fn within_window(&self) -> Seq {
        let edge = self.una + self.rwnd;
        if self.max.after(edge) { edge } else { self.max }
    }

    /// Whether everything that was written is acknowledged and no more will come.
    pub fn all_acknowledged(&self) -> bool {
        self.closing && self.unsent == 0 && !self.una.before(self.data_end())
    }

    /// The application writes.
    pub fn write(&mut self, bytes: u64) {
        if bytes != u64::MAX && self.unsent != u64::MAX {
            let end = self.data_end() + self.unsent.saturating_add(bytes) as u32;
            if self.push.after(self.max)
                && let Some(more) = &mut self.more
            {
                more.pushes.push_back(self.push); // an earlier write waits still
            }
            self.push = end;
        }
        self.unsent = self.unsent.saturating_add(bytes);
    }

    /// The SYN (or SYN-ACK) goes out.
    pub fn on_syn_sent(&mut self, now: Time, tcp: &Tcp) {
        let first = self.max == self.una;
        (self.nxt, self.max) = (self.una + 1, self.una + 1);
        self.timed.1 = if first { now } else { Time::NEVER };
        self.timer = now + self.rto.timeout(tcp);
    }

    /// The SYN is acknowledged: the connection is established, with this segment size, SACK and timestamps.
    pub fn on_syn_acked(&mut self, now: Time, smss: u32, sack: bool, timestamps: bool, tcp: &Tcp) {
        if self.expirations > 0 && self.push == self.una {
            self.push = self.una + 1;
        }
        self.una = self.max;
        self.sample(now, tcp);
        self.timer = Time::NEVER;
        self.recover = Seq(self.una.0.wrapping_sub(1)); // RFC 6582 §3.2: nothing was sent before
        if !self.push.after(self.una) && self.unsent == 0 {
            self.push = self.una;
        }
        self.smss = smss;
        if let Some(n) = tcp.initial_ssthresh {
            self.ssthresh = n.0 * f64::from(smss);
        }
        let iw = tcp.initial_window.bytes(f64::from(smss));
        // RFC 5681 §3.1: one segment if the SYN or SYN-ACK was lost.
        self.cwnd = if u64::from(self.expirations) > tcp.syn_losses_forgiven { f64::from(smss) } else { iw };
        if self.expirations > 0 && self.rto.smoothed(tcp).0 == Duration::ZERO {
            self.rto.restart_at(AFTER_SYN_LOSS, tcp); // RFC 6298 §5.7
        }
        self.expirations = 0;
        let by_board = sack && matches!(tcp.recovery, RecoveryKind::Sack | RecoveryKind::Fack);
        let needed = by_board
            || timestamps
            || self.congestion.measures()
            || tcp.frto != FrtoKind::Off
            || tcp.eifel
            || tcp.nagle != Nagle::Off
            || tcp.idle_restart != IdleRestart::Off
            || tcp.user_timeout.is_some()
            || tcp.cwnd_validation != CwndValidation::None;
        if needed {
            let unit = if tcp.flight_unit == FlightUnit::Segments { smss } else { 0 };
            let clock = Clock { delivered: 0, delivered_at: now, first_sent: now };
            let syn_rtt = self.rto.smoothed(tcp).0;
            self.more = Some(Box::new(More {
                board: by_board.then(|| Board::new(unit)),
                phase: Phase::Open,
                prr: Prr::default(),
                tlp: Tlp::default(),
                frto: Frto::Off,
                undo: Undo::default(),
                timestamps,
                saw_dsack: false,
                since: now,
                rescue: None,
                probe_due: false,
                min_rtt: if syn_rtt == Duration::ZERO { Duration(u64::MAX) } else { syn_rtt },
                round_end: self.una,
                clock,
                lost_bytes: 0,
                app_limited_until: 0,
                pushes: VecDeque::new(),
                sent: VecDeque::new(),
                pace_at: Time::ZERO,
                last_sent: now,
                cwnd_limited: false,
                limited_until: self.una,
                most_out: 0.0,
                small: self.una,
                held: false,
            }));
        }
    }

    /// A sender that comes into being when the connection is established already. `window`: the last that was told,
    /// and a sequence number no later than that of any segment to come.
    pub fn resume(
        &mut self,
        tcp: &Tcp,
        rtt: Duration,
        window: (Seq, u32),
        smss: u32,
        sack: bool,
        timestamps: bool,
    ) {
        (self.nxt, self.max) = (self.una + 1, self.una + 1);
        (self.wl1, self.rwnd) = window;
        self.most_window = self.rwnd;
        if rtt > Duration::ZERO {
            self.rto.on_sample(tcp, Time::ZERO, Time::ZERO + rtt, (self.una, self.max));
        }
        self.on_syn_acked(Time::ZERO, smss, sack, timestamps, tcp);
    }

    /// Whether it holds nothing that would be missed.
    pub fn is_plain(&self) -> bool {
        self.more.is_none() && self.stats.timeouts == 0 && !self.nodelay && !self.cork
    }

    /// Small segments never wait, as the application wishes.
    pub fn nodelay(&mut self, on: bool) {
        self.nodelay = on;
    }

    /// Small segments wait for more, as the application wishes.
    pub fn cork(&mut self, on: bool) {
        self.cork = on;
    }

    /// The window field of a segment that is acceptable (RFC 9293 §3.10.7.4, SND.WL1 and SND.WL2).
    pub fn set_window(&mut self, segment: &Segment) {
        self.rwnd = segment.window;
        self.most_window = self.most_window.max(segment.window);
        self.wl1 = segment.seq;
    }

    /// The initial window is one segment: the SYN-ACK was marked (RFC 5562 §3.1).
    pub fn begin_with_one_segment(&mut self) {
        self.cwnd = f64::from(self.smss);
    }

    /// The SYN got no answer: it goes out again, after twice the time. Returns whether to give up.
    pub fn on_syn_timeout(&mut self, tcp: &Tcp) -> bool {
        self.stats.timeouts += 1;
        self.expirations = self.expirations.saturating_add(1);
        self.rto.back_off();
        u64::from(self.expirations) > tcp.syn_retries
    }

    #[inline]
    fn sample(&mut self, now: Time, tcp: &Tcp) -> Option<Duration> {
        let (seq, sent) = self.timed;
        if sent != Time::NEVER && self.una.after(seq) {
            self.rto.on_sample(tcp, sent, now, (self.una, self.max));
            self.timed.1 = Time::NEVER;
            return Some(now.since(sent));
        }
        None
    }

    /// A round trip by timestamps, where no segment is timed (RFC 7323 §4; RFC 6298 §3).
    fn sample_by_timestamp(&mut self, now: Time, options: &Options, tcp: &Tcp) -> Option<Duration> {
        let more = self.more.as_ref()?;
        let (_, reply) =
            options.timestamps.filter(|t| t.1 != 0 && more.timestamps && self.timed.1 == Time::NEVER)?;
        let ms = timestamp(now).wrapping_sub(reply);
        if ms >= 1 << 24 {
            return None; // an echo of nothing that we sent
        }
        let rtt = Duration::from_millis(u64::from(ms.max(1)));
        self.rto.on_sample(tcp, Time(now.0.saturating_sub(rtt.0)), now, (self.una, self.max));
        Some(rtt)
    }

    /// An acceptable ACK of an established connection. Returns whether the window was cut.
    #[inline]
    pub fn on_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        options: &Options,
        feedback: Feedback,
        tcp: &Tcp,
    ) -> bool {
        if self.board().is_some() {
            return self.on_ack_by_board(now, segment, options, feedback, tcp);
        }
        let ack = segment.ack;
        let same_window = segment.window == self.rwnd;
        // RFC 3168 §6.1.2: at most one response to congestion a window of data.
        let cut_by_echo = feedback.echo && ack.after(self.recover);
        if cut_by_echo {
            self.stats.ecn_cuts += 1;
            self.wait_for_timer = self.cwnd <= f64::from(self.smss);
            self.cut(now, Congestion::Ecn, tcp);
        }
        let was_una = self.una;
        let mut cut_by_loss = false;
        if ack.after(self.una) {
            self.on_new_ack(now, ack, options, feedback, tcp);
        } else if ack == was_una
            && segment.seq_len() == 0
            && same_window
            && self.max.after(self.una)
            && self.rwnd > 0
            && !self.is_persisting()
        {
            cut_by_loss = self.on_duplicate_ack(now, tcp);
        }
        self.update_window(now, segment, self.una != was_una, tcp);
        if self.wait_for_timer && (cut_by_echo || self.timer == Time::NEVER) {
            // RFC 3168 §6.1.2: with a window of one segment, the next goes when the timer expires.
            (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        }
        cut_by_echo || cut_by_loss
    }

    /// RFC 9293 §3.10.7.4, fifth check. A segment that `advances` SND.UNA sets the window even if data of the other
    /// side went out after it (Linux, tcp_may_update_window): the old window would reach too far from there.
    #[inline]
    fn update_window(&mut self, now: Time, segment: &Segment, advances: bool, tcp: &Tcp) {
        if segment.ack.before(self.una) || (segment.seq.before(self.wl1) && !advances) {
            return;
        }
        self.rwnd = segment.window;
        self.wl1 = self.wl1.max(segment.seq);
        if self.rwnd == 0 || self.is_persisting() {
            self.expirations = 0;
        }
        self.most_window = self.most_window.max(segment.window);
        if self.is_persisting() && (self.is_worth_it(self.rwnd) || self.all_out()) {
            self.rto.end_back_off();
            let out = self.una != self.max; // what probed is a segment like others now
            let at = if out { now + self.rto.timeout(tcp) } else { Time::NEVER };
            (self.timer, self.pending) = (at, Pending::Rto);
            if let Some(board) = self.more.as_mut().and_then(|m| m.board.as_mut()) {
                board.lose_all(false); // the octet of a probe, if it was refused
            }
        }
        if self.una == self.max {
            self.persist(now, tcp);
        }
    }

    /// Whether everything was sent that is to be sent.
    fn all_out(&self) -> bool {
        self.unsent == 0 && self.closing == self.fin_sent
    }

    /// Whether a closed window is probed.
    #[inline]
    fn is_persisting(&self) -> bool {
        self.pending == Pending::Persist && self.timer != Time::NEVER
    }

    /// Sets the persist timer: nothing is out, there is data, and the window is closed (RFC 9293 §3.8.6.1) or
    /// too small to be used yet (§3.8.6.2.1, the override timeout).
    #[inline(never)]
    fn persist(&mut self, now: Time, tcp: &Tcp) {
        let waits = self.una == self.max && !self.all_out();
        if waits && self.timer == Time::NEVER && !self.is_worth_it(self.rwnd) {
            self.pending = Pending::Persist;
            self.timer = now + self.rto.timeout(tcp);
        }
    }

    /// Whether a segment of this many bytes may go when nothing is out (RFC 9293 §3.8.6.2.1).
    fn is_worth_it(&self, room: u32) -> bool {
        let whole = u64::from(room) >= self.unsent.min(u64::from(self.smss));
        room > 0 && (whole || room >= self.most_window.div_ceil(2))
    }

    #[inline]
    fn on_new_ack(&mut self, now: Time, ack: Seq, options: &Options, feedback: Feedback, tcp: &Tcp) {
        let acked = ack - self.una;
        self.una = ack;
        self.retransmit = false; // pacing may hold what is acknowledged now
        self.expirations = 0;
        self.acked += u64::from(acked) - u64::from(self.fin_sent && ack == self.max);
        if self.nxt.before(ack) {
            self.nxt = ack;
        }
        let mut rtt = self.sample(now, tcp);
        if rtt.is_none() && self.more.is_some() {
            rtt = self.sample_by_timestamp(now, options, tcp);
        }
        (self.timer, self.pending) =
            (if self.una == self.max { Time::NEVER } else { now + self.rto.timeout(tcp) }, Pending::Rto);
        if self.more.is_some() && self.test_timeout(ack, Some(acked), feedback.echo, options, tcp) {
            return;
        }
        let mut recovered = false;
        if self.duplicates.in_recovery() {
            let newreno = !matches!(tcp.recovery, RecoveryKind::Reno | RecoveryKind::Tahoe);
            match if newreno { newreno::on_new_ack(ack, self.recover) } else { OnNewAck::Ends } {
                OnNewAck::Partial => {
                    self.inflation = newreno::inflation(self.inflation, acked, self.smss);
                    self.retransmit = true;
                    return;
                }
                _ => {
                    recovered = self.duplicates.end();
                    self.inflation = 0;
                    self.cwnd = if newreno {
                        newreno::cwnd_at_end(
                            self.ssthresh,
                            f64::from(self.max - self.una),
                            f64::from(self.smss),
                        )
                    } else {
                        self.ssthresh // RFC 5681 §3.2, step 6
                    };
                }
            }
        } else {
            self.duplicates.end();
            self.inflation = 0;
        }
        let opens = !recovered || tcp.recovery_exit == RecoveryExit::DeflateAndOpen;
        let first = self.acked == u64::from(acked);
        let too_early = first && tcp.slow_start_from == SlowStartFrom::SecondAck;
        let opens = opens && !feedback.echo && !too_early;
        match &mut self.congestion {
            // Reno that measures nothing: all else that an ACK tells is no matter.
            Controller::Reno(reno) if self.more.is_none() => {
                if opens {
                    let smss = f64::from(self.smss);
                    self.cwnd = reno.opened(self.cwnd, self.ssthresh, smss, acked).max(smss);
                }
            }
            _ => self.tell_controller(now, acked, acked, rtt, feedback, opens, None, tcp),
        }
    }

    /// Lets the controller see an ACK, and open the window if it `opens`.
    #[allow(clippy::too_many_arguments)]
    #[inline(never)]
    fn tell_controller(
        &mut self,
        now: Time,
        acked: u32,
        delivered: u32,
        rtt: Option<Duration>,
        feedback: Feedback,
        opens: bool,
        rate: Option<RateSample>,
        tcp: &Tcp,
    ) {
        let window = self.window();
        let mut ack = Ack {
            now,
            acked,
            delivered,
            marked: (f64::from(delivered) * feedback.marked) as u32,
            total_delivered: self.acked,
            rtt,
            srtt: Duration::ZERO,
            min_rtt: Duration(u64::MAX),
            round: false,
            cwnd_limited: true,
            in_recovery: false,
            rate,
        };
        if let Some(more) = &mut self.more {
            ack.srtt = self.rto.smoothed(tcp).0;
            if let Some(rtt) = rtt {
                more.min_rtt = more.min_rtt.min(rtt);
            }
            if more.board.is_none() && delivered > 0 {
                more.clock.delivered += u64::from(delivered);
                let mut newest = None;
                while more.sent.front().is_some_and(|s| !s.0.after(self.una)) {
                    newest = more.sent.pop_front();
                }
                if let Some((_, at, by_then)) = newest {
                    let interval = now.since(at);
                    ack.rtt = Some(interval);
                    more.min_rtt = more.min_rtt.min(interval);
                    ack.rate = Some(RateSample {
                        delivered: more.clock.delivered - by_then,
                        interval,
                        app_limited: by_then < more.app_limited_until,
                        prior_delivered: by_then,
                        lost: 0,
                    });
                }
                more.clock.delivered_at = now;
            }
            ack.total_delivered = more.clock.delivered;
            ack.min_rtt = more.min_rtt;
            if self.una.after(more.round_end) {
                ack.round = true;
                more.round_end = self.max;
            }
            ack.in_recovery =
                matches!(more.phase, Phase::Recovery | Phase::Loss) || self.duplicates.in_recovery();
            if tcp.cwnd_validation != CwndValidation::None {
                // Linux, tcp_is_cwnd_limited: in slow start, while at least half of cwnd is used.
                ack.cwnd_limited = if window.cwnd < window.ssthresh {
                    window.cwnd < 2.0 * more.most_out
                } else {
                    more.cwnd_limited
                };
            }
            self.congestion.observe(&window, &ack);
        }
        let rules = ack.in_recovery && self.congestion.rules_recovery();
        if (opens && ack.cwnd_limited) || rules {
            self.cwnd = self.congestion.cwnd_on_ack(&window, &ack).max(window.smss);
            if let Some(ssthresh) = self.congestion.ssthresh_on_ack(&self.window()) {
                self.ssthresh = ssthresh;
            }
        }
    }

    #[inline(never)]
    fn on_duplicate_ack(&mut self, now: Time, tcp: &Tcp) -> bool {
        if self.more.is_some() && self.test_timeout(self.una, None, false, &Options::NONE, tcp) {
            return false;
        }
        let new_window = self.una.after(self.recover);
        let cut_by_ecn = self.last_cut == Cut::Ecn && self.una.before(self.recover);
        let allowed =
            new_window || self.last_cut == Cut::Ecn || tcp.fast_retransmit == FastRetransmit::Unguarded;
        match self.duplicates.on_duplicate(tcp.duplicate_acks.0 as u32, allowed, tcp.limited_transmit) {
            OnDuplicate::Wait => false,
            OnDuplicate::Transmit | OnDuplicate::Inflate => {
                self.inflation += self.smss;
                false
            }
            OnDuplicate::Retransmit => {
                self.stats.fast_retransmits += 1;
                self.arm_undo(tcp);
                if cut_by_ecn {
                    self.last_cut = Cut::FastRetransmit; // the window was cut for this congestion
                } else {
                    self.cut(now, Congestion::FastRetransmit, tcp);
                }
                self.timed.1 = Time::NEVER; // Karn: the timed segment may be the lost one
                if tcp.fast_retransmit_timer == FastRetransmitTimer::Restarts {
                    (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
                }
                if tcp.recovery == RecoveryKind::Tahoe {
                    self.duplicates.no_recovery();
                    self.inflation = 0;
                    self.cwnd = tahoe::cwnd(f64::from(self.smss));
                    self.nxt = tahoe::send_next(self.una);
                } else {
                    self.inflation = tcp.duplicate_acks.0 as u32 * self.smss; // step 3
                    self.retransmit = true;
                }
                !cut_by_ecn
            }
        }
    }

    fn arm_undo(&mut self, tcp: &Tcp) {
        if (tcp.eifel || tcp.frto != FrtoKind::Off)
            && let Some(more) = &mut self.more
        {
            more.undo = Undo::begin(self.cwnd, self.ssthresh);
        }
    }

    /// Tests whether the last retransmission was spurious: F-RTO and Eifel, without scoreboard. Returns
    /// whether the ACK is dealt with.
    #[inline(never)]
    fn test_timeout(
        &mut self,
        ack: Seq,
        acked: Option<u32>,
        echo: bool,
        options: &Options,
        tcp: &Tcp,
    ) -> bool {
        let advances = acked.is_some();
        let Some(mut more) = self.more.take() else { return false };
        let can_send = self.unsent > 0 && self.room_in_window() > 0;
        let reply = options.timestamps.map(|t| t.1);
        let spurious = if tcp.eifel && advances && !echo && self.proves(&more, ack, reply) {
            true
        } else {
            let was = more.frto;
            match more.frto.on_ack(advances, ack, self.recover, can_send) {
                frto::Verdict::Nothing => false,
                frto::Verdict::Lost => {
                    if was == Frto::SentNew {
                        // Step 3a: what was not acknowledged goes out again, three segments at first.
                        self.nxt = self.una;
                        self.inflation = 0;
                        self.cwnd = self.cwnd.max(3.0 * f64::from(self.smss));
                    }
                    false
                }
                frto::Verdict::SendNew => {
                    self.nxt = self.max;
                    // Step 2b: up to two new segments.
                    self.inflation = ((self.max - self.una) + 2 * self.smss).saturating_sub(self.cwnd as u32);
                    self.more = Some(more);
                    return true;
                }
                frto::Verdict::Spurious => true,
            }
        };
        if spurious {
            self.take_back(&mut more, acked.unwrap_or(0), tcp);
            self.nxt = self.max;
            self.duplicates.end();
            self.inflation = 0;
            self.retransmit = false;
        }
        self.more = Some(more);
        spurious
    }

    /// Whether the echo proves that the original arrived (RFC 3522 §3.2, step 5): not if everything is
    /// acknowledged, unless the receiver is known to send D-SACK.
    fn proves(&self, more: &More, ack: Seq, reply: Option<u32>) -> bool {
        more.undo.original_arrived(reply) && (ack.before(self.max) || more.saw_dsack)
    }

    /// What the last recovery changed is taken back (RFC 4015 §3.2): the window as it was, but no burst.
    fn take_back(&mut self, more: &mut More, acked: u32, tcp: &Tcp) {
        self.stats.undone += 1;
        if tcp.spurious_response != SpuriousResponse::None {
            let window = self.window();
            self.congestion.undo(&window);
            self.ssthresh = self.ssthresh.max(more.undo.ssthresh);
            self.cwnd = match tcp.spurious_response {
                SpuriousResponse::Restore => self.cwnd.max(more.undo.cwnd),
                _ => {
                    let first = tcp.initial_window.bytes(window.smss);
                    (window.flight + f64::from(acked).min(first)).max(window.smss) // RFC 4015 §3.4
                }
            };
        }
        self.last_cut = Cut::None;
        self.recover = Seq(self.una.0.wrapping_sub(1));
        self.rto.end_back_off();
        more.undo = Undo::default();
        more.frto = Frto::Off;
        more.phase = Phase::Open;
    }

    /// Cuts the window.
    #[cold]
    fn cut(&mut self, now: Time, congestion: Congestion, tcp: &Tcp) {
        let mut window = self.window();
        if congestion == Congestion::FastRetransmit {
            // What limited transmit sent does not count (RFC 5681 §3.2, step 2).
            window.flight = (window.flight - window.inflation).max(0.0);
        }
        if tcp.ssthresh_from == SsthreshFrom::Cwnd {
            window.flight = self.cwnd;
        }
        self.ssthresh = self.congestion.ssthresh_on(&window, congestion, now);
        if tcp.flight_unit == FlightUnit::Segments {
            self.ssthresh = (self.ssthresh / window.smss).floor().max(2.0) * window.smss;
        }
        let chosen = self.congestion.cwnd_on(&window, congestion, now);
        (self.cwnd, self.last_cut) = match congestion {
            Congestion::FastRetransmit => (chosen.unwrap_or(self.ssthresh), Cut::FastRetransmit),
            Congestion::Ecn => (chosen.unwrap_or(self.ssthresh).min(self.cwnd), Cut::Ecn),
            Congestion::Timeout { .. } => (chosen.unwrap_or(window.smss), Cut::Timeout), // RFC 5681 §3.1: the loss window
        };
        self.recover = self.max;
    }

    /// Whether data is out for longer than the user timeout.
    fn is_over(&self, now: Time, tcp: &Tcp) -> bool {
        match (tcp.user_timeout, &self.more) {
            (Some(most), Some(more)) => now >= more.since + most,
            _ => false,
        }
    }

    /// The timeout, or what is left until the user timeout.
    fn set_rto(&mut self, now: Time, tcp: &Tcp) {
        let at = now + self.rto.timeout(tcp);
        self.timer = match (tcp.user_timeout, &self.more) {
            (Some(most), Some(more)) => at.min(more.since + most),
            _ => at,
        };
    }

    /// The timer expired. Returns `None` to give up; otherwise whether the window was cut.
    pub fn on_timer(&mut self, now: Time, tcp: &Tcp) -> Option<bool> {
        match self.pending {
            Pending::Rto => {}
            Pending::Persist => {
                self.expirations = self.expirations.saturating_add(1);
                if u64::from(self.expirations) > tcp.retries {
                    return None; // probes that are answered go on for ever (RFC 9293 §3.8.6.1), others do not
                }
                self.rto.back_off();
                self.timer = now + self.rto.timeout(tcp);
                self.retransmit = true;
                return Some(false);
            }
            Pending::Probe | Pending::Reorder => {
                let Some(mut more) = self.more.take() else { return Some(false) };
                let mut cut = false;
                if self.pending == Pending::Probe {
                    more.probe_due = true;
                    (self.timer, self.pending) = (self.rto_at(&more, now, tcp), Pending::Rto);
                } else {
                    self.timer = Time::NEVER;
                    let next = self.find_losses(&mut more, now, tcp);
                    cut = self.enter_recovery(&mut more, now, tcp);
                    self.set_timer(&mut more, now, next, false, tcp);
                }
                self.more = Some(more);
                return Some(cut);
            }
        }
        if std::mem::take(&mut self.wait_for_timer) && self.una == self.max {
            self.timer = Time::NEVER;
            return Some(false);
        }
        self.expirations = self.expirations.saturating_add(1);
        if u64::from(self.expirations) > tcp.retries || self.is_over(now, tcp) {
            return None;
        }
        self.stats.timeouts += 1;
        if self.board().is_some() {
            self.on_timeout_by_board(now, tcp);
            return Some(true);
        }
        let in_recovery = self.duplicates.end();
        self.inflation = 0;
        let in_same_window = !self.una.after(self.recover);
        let again = self.last_cut == Cut::Timeout && in_same_window;
        if !again {
            self.arm_undo(tcp);
        }
        if self.last_cut == Cut::Ecn && in_same_window {
            // ssthresh was halved for this window of data already.
            (self.cwnd, self.last_cut, self.recover) = (f64::from(self.smss), Cut::Timeout, self.max);
        } else {
            self.cut(now, Congestion::Timeout { again }, tcp);
        }
        self.nxt = self.una;
        self.retransmit = self.rwnd == 0; // a window taken back is probed with what is out (RFC 9293 §3.8.6)
        self.timed.1 = Time::NEVER;
        self.rto.back_off();
        self.set_rto(now, tcp);
        if let Some(more) = &mut self.more {
            let begins = more.frto != Frto::Off || (!again && !in_recovery); // RFC 5682 §2.1: again, from step 1
            more.frto = if tcp.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        }
        Some(true)
    }

    fn on_timeout_by_board(&mut self, now: Time, tcp: &Tcp) {
        let Some(mut more) = self.more.take() else { return };
        let again = more.phase == Phase::Loss && self.una.before(self.recover);
        let cut_before = more.phase == Phase::Cwr;
        if !again {
            more.undo = Undo::begin(self.cwnd, self.ssthresh);
        }
        let (cwnd, ssthresh) = (f64::from(self.smss), self.ssthresh);
        self.cut(now, Congestion::Timeout { again }, tcp);
        if cut_before {
            (self.cwnd, self.ssthresh) = (cwnd, ssthresh); // halved for this window of data already
        }
        let begins = more.frto != Frto::Off || (!again && more.phase != Phase::Recovery);
        more.frto = if tcp.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        more.phase = Phase::Loss;
        more.tlp = Tlp::default();
        more.probe_due = false;
        if let Some(board) = &mut more.board {
            board.lose_all(!tcp.rack);
        }
        self.timed.1 = Time::NEVER;
        self.retransmit = true;
        self.rto.back_off();
        (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        self.more = Some(more);
    }

    /// When the retransmission timer would expire, counted from when the first segment was sent.
    fn rto_at(&self, more: &More, now: Time, tcp: &Tcp) -> Time {
        let sent = more.board.as_ref().and_then(|b| b.first()).map_or(now, |s| s.at);
        (sent + self.rto.timeout(tcp)).max(now + Duration::from_millis(1))
    }

    /// An ACK, with scoreboard (RFC 6675 §5; RFC 8985 §6.2).
    #[inline(never)]
    fn on_ack_by_board(
        &mut self,
        now: Time,
        segment: &Segment,
        options: &Options,
        feedback: Feedback,
        tcp: &Tcp,
    ) -> bool {
        let Some(mut more) = self.more.take() else { return false };
        let was_una = self.una;
        let cut = self.on_ack_with(&mut more, now, segment, options, feedback, tcp);
        self.more = Some(more);
        self.update_window(now, segment, self.una != was_una, tcp);
        cut.0 | self.tell_of_board(now, cut.1, feedback, tcp)
    }

    /// The last part of the ACK: cwnd.
    fn tell_of_board(&mut self, now: Time, told: Told, feedback: Feedback, tcp: &Tcp) -> bool {
        let Told { delivery, advanced, rtt, rate, was_reducing, safe } = told;
        if delivery.delivered == 0 && !advanced {
            return false;
        }
        let phase = self.phase();
        let reducing = matches!(phase, Phase::Recovery | Phase::Cwr);
        let opens =
            advanced && !reducing && (!was_reducing || tcp.recovery_exit == RecoveryExit::DeflateAndOpen);
        self.tell_controller(now, delivery.delivered, delivery.delivered, rtt, feedback, opens, rate, tcp);
        let rules = self.congestion.rules_recovery();
        if reducing
            && tcp.rate_reduction == RateReduction::Prr
            && !rules
            && delivery.delivered > 0
            && let Some(more) = &mut self.more
            && let Some(board) = &more.board
        {
            let pipe = board.pipe() as f64;
            let safe = match tcp.prr_bound {
                PrrBound::Crb => false,
                PrrBound::Ssrb => true,
                PrrBound::Either => safe,
            };
            self.cwnd =
                more.prr.cwnd(delivery.weight as f64, pipe, self.ssthresh, f64::from(self.smss), safe);
        }
        false
    }

    fn on_ack_with(
        &mut self,
        more: &mut More,
        now: Time,
        segment: &Segment,
        options: &Options,
        feedback: Feedback,
        tcp: &Tcp,
    ) -> (bool, Told) {
        let ack = segment.ack;
        let advanced = ack.after(self.una);
        let plain_duplicate = !advanced && segment.len == 0 && segment.window == self.rwnd;
        let Some(board) = &mut more.board else { return (false, Told::default()) };
        let d = board.on_ack(now, self.una, ack, options.sack(), self.max, more.min_rtt);
        if advanced {
            self.acked += u64::from(ack - self.una) - u64::from(self.fin_sent && ack == self.max);
            self.una = ack;
            self.nxt = self.max;
            self.expirations = 0;
        }
        let rtt = self.measure(more, &d, now, options, advanced, tcp);
        let rate = d.newest.filter(|_| d.delivered > 0).map(|newest| {
            more.clock.first_sent = newest.at;
            let delivered = more.clock.delivered + u64::from(d.delivered);
            RateSample {
                delivered: delivered - newest.delivered,
                interval: newest.at.since(newest.first_sent).max(now.since(newest.delivered_at)),
                app_limited: newest.app_limited(),
                prior_delivered: newest.delivered,
                lost: std::mem::take(&mut more.lost_bytes),
            }
        });
        if d.delivered > 0 {
            more.clock.delivered += u64::from(d.delivered);
            more.clock.delivered_at = now;
        }
        let was = more.phase;
        let mut cut = false;
        if tcp.eifel && !feedback.echo && self.was_spurious(more, &d, advanced, options) {
            self.take_back_by_board(more, d.delivered, tcp);
        }
        let probe = more.tlp.on_ack(ack, d.dsack, plain_duplicate && !d.sacked);
        if more.phase == Phase::Loss && advanced {
            self.test_by_board(more, &d, ack, tcp);
        }
        let lost_before = more.lost_bytes;
        let next = self.find_losses(more, now, tcp);
        match more.phase {
            Phase::Loss | Phase::Recovery | Phase::Cwr if !self.una.before(self.recover) => {
                if more.phase != Phase::Loss {
                    self.cwnd = self.ssthresh;
                }
                more.phase = Phase::Open;
                more.frto = Frto::Off;
                if let Some(board) = &mut more.board {
                    board.rack.on_recovery_end();
                }
            }
            _ => {}
        }
        if feedback.echo && more.phase == Phase::Open && ack.after(self.recover) {
            self.stats.ecn_cuts += 1;
            self.reduce(more, Phase::Cwr, Congestion::Ecn, now, tcp);
            cut = true;
        }
        if probe == tlp::Verdict::Repaired && more.phase == Phase::Open {
            // RFC 8985 §7.4.2: the loss that the probe repaired is answered like any other.
            self.cut(now, Congestion::FastRetransmit, tcp);
            self.recover = self.una;
            cut = true;
        }
        cut |= self.enter_recovery(more, now, tcp);
        self.set_timer(more, now, next, advanced, tcp);
        let safe = advanced && more.lost_bytes == lost_before;
        let was_reducing = matches!(was, Phase::Recovery | Phase::Cwr);
        (cut, Told { delivery: d, advanced, rtt, rate, was_reducing, safe })
    }

    /// The round trip that an ACK measures: of data sent once (Karn), or by timestamps (RFC 7323 §4).
    fn measure(
        &mut self,
        more: &mut More,
        d: &Delivery,
        now: Time,
        options: &Options,
        advanced: bool,
        tcp: &Tcp,
    ) -> Option<Duration> {
        let by_timestamp = || {
            let (_, echo) = options.timestamps.filter(|t| t.1 != 0 && advanced && more.timestamps)?;
            let ms = timestamp(now).wrapping_sub(echo);
            (ms < 1 << 24).then(|| Time(now.0.saturating_sub(u64::from(ms.max(1)) * 1_000_000_000)))
        };
        let sent = d.first_sent.or(d.sacked_sent).or_else(by_timestamp)?;
        self.rto.on_sample(tcp, sent, now, (self.una, self.max));
        let rtt = now.since(sent);
        more.min_rtt = more.min_rtt.min(rtt);
        Some(rtt)
    }

    fn was_spurious(&self, more: &mut More, d: &Delivery, advanced: bool, options: &Options) -> bool {
        if d.dsack
            && let Some(board) = &mut more.board
        {
            board.rack.on_dsack(self.una, self.max);
        }
        let by_dsack = d.dsack && more.undo.on_duplicate();
        more.saw_dsack |= d.dsack;
        by_dsack || (advanced && self.proves(more, self.una, options.timestamps.map(|t| t.1)))
    }

    fn take_back_by_board(&mut self, more: &mut More, acked: u32, tcp: &Tcp) {
        self.take_back(more, acked, tcp);
        if let Some(board) = &mut more.board {
            board.find_again();
        }
        self.retransmit = false;
    }

    /// F-RTO with SACK (RFC 5682 §3): only the first segment was sent again, so anything else that is
    /// delivered is an original.
    fn test_by_board(&mut self, more: &mut More, d: &Delivery, ack: Seq, tcp: &Tcp) {
        if more.frto == Frto::Off {
            return;
        }
        if d.original {
            self.take_back_by_board(more, d.delivered, tcp);
        } else if ack.before(self.recover)
            && self.unsent > 0
            && self.room_in_window() > 0
            && more.frto == Frto::Retransmitted
        {
            more.frto = Frto::SentNew;
        } else {
            more.frto = Frto::Off;
        }
    }

    /// Finds what is lost. Returns when RACK would find more.
    fn find_losses(&mut self, more: &mut More, now: Time, tcp: &Tcp) -> Option<Time> {
        let srtt = self.rto.smoothed(tcp).0;
        let board = more.board.as_mut()?;
        let dup_thresh = tcp.duplicate_acks.0 as u32;
        if tcp.rack {
            let in_recovery = matches!(more.phase, Phase::Recovery | Phase::Loss);
            let window = board.rack.reordering_window(
                in_recovery,
                board.sacked_segments(),
                dup_thresh,
                more.min_rtt,
                srtt,
            );
            let (lost, next) = board.lose_by_time(now, window);
            more.lost_bytes += u64::from(lost);
            return next;
        }
        let limit = match tcp.recovery {
            RecoveryKind::Fack => fack::lost_before(board, dup_thresh, self.smss),
            _ => sack::lost_before(board, dup_thresh, self.smss),
        };
        if let Some(limit) = limit {
            more.lost_bytes += u64::from(board.lose_before(limit));
        }
        None
    }

    /// Losses were found: recovery begins. Returns whether the window was cut.
    fn enter_recovery(&mut self, more: &mut More, now: Time, tcp: &Tcp) -> bool {
        let lost = more.board.as_ref().is_some_and(|b| b.any_lost());
        if !lost || matches!(more.phase, Phase::Recovery | Phase::Loss) {
            return false;
        }
        self.stats.fast_retransmits += 1;
        let cut_before = more.phase == Phase::Cwr;
        more.undo = Undo::begin(self.cwnd, self.ssthresh);
        self.retransmit = true;
        if cut_before {
            more.phase = Phase::Recovery; // the window was cut for this congestion
            self.recover = self.max;
            return false;
        }
        self.reduce(more, Phase::Recovery, Congestion::FastRetransmit, now, tcp);
        true
    }

    /// The window comes down, at once or in proportion.
    fn reduce(&mut self, more: &mut More, phase: Phase, congestion: Congestion, now: Time, tcp: &Tcp) {
        let before = self.cwnd;
        self.cut(now, congestion, tcp);
        more.phase = phase;
        if tcp.rate_reduction == RateReduction::Prr {
            more.prr = Prr::begin(before);
            self.cwnd = before;
        }
    }

    /// Sets the timer after an ACK or when a segment went out.
    fn set_timer(&mut self, more: &mut More, now: Time, next: Option<Time>, advanced: bool, tcp: &Tcp) {
        let Some(board) = &more.board else { return };
        if board.is_empty() {
            if self.pending != Pending::Persist {
                self.timer = Time::NEVER;
            }
            return;
        }
        if self.is_persisting() && !advanced {
            return;
        }
        if let Some(next) = next {
            (self.timer, self.pending) = (next.max(now), Pending::Reorder);
            return;
        }
        let restart = advanced || self.timer == Time::NEVER || self.pending != Pending::Rto;
        if restart {
            let at = if advanced { now + self.rto.timeout(tcp) } else { self.rto_at(more, now, tcp) };
            (self.timer, self.pending) = (at, Pending::Rto);
        }
        let quiet = matches!(more.phase, Phase::Open | Phase::Cwr)
            && board.sacked_segments() == 0
            && !board.any_lost();
        if tcp.tail_loss_probe && quiet && more.tlp.end.is_none() && restart {
            let probe = now
                + tlp::timeout(
                    self.rto.smoothed(tcp).0,
                    if board.len() == 1 { tcp.tlp_max_ack_delay } else { tlp::SLACK },
                );
            // RFC 8985 §7.2: no later than the retransmission timer, whose place it takes then.
            (self.timer, self.pending) = (probe.min(self.timer), Pending::Probe);
        }
    }

    /// The connection is over: nothing is waited for.
    pub fn stop(&mut self) {
        self.timer = Time::NEVER;
        if let Some(more) = &mut self.more {
            more.held = false;
        }
    }

    /// Bytes of new data that the receiver's window lets go.
    fn room_in_window(&self) -> u32 {
        self.rwnd.saturating_sub(self.max - self.una)
    }

    /// When the timer expires, or pacing lets the next segment go.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.more {
            Some(more) if more.held && !self.wait_for_timer => self.timer.min(more.pace_at),
            _ => self.timer,
        }
    }

    /// The next segment to send, if there is one that may go now.
    #[inline]
    pub fn next_segment(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if self.more.is_some() || self.nxt != self.max || self.retransmit || self.wait_for_timer {
            return self.next_unusual(now, tcp);
        }
        // Most often: a whole segment of new data, or no room for it.
        if self.unsent < u64::from(self.smss) {
            let nothing = self.unsent == 0 && self.closing == self.fin_sent; // a receiver of data is always here
            return if nothing { None } else { self.next_by_bytes(now, tcp) };
        }
        let sent = self.max - self.una;
        let room = self.limit().saturating_sub(sent);
        if room < self.smss {
            return if sent > 0 { None } else { self.next_by_bytes(now, tcp) };
        }
        let outgoing = self.build_inline(now, self.max, self.smss, tcp);
        self.nxt = self.max;
        Some(outgoing)
    }

    #[inline(never)]
    fn next_unusual(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        match self.more {
            _ if self.wait_for_timer && self.timer != Time::NEVER => None,
            Some(_) => self.next_with_more(now, tcp),
            None => self.next_by_bytes(now, tcp),
        }
    }

    /// What may be in flight, without scoreboard.
    #[inline]
    fn limit(&self) -> u32 {
        (self.cwnd as u32).saturating_add(self.inflation).min(self.rwnd)
    }

    #[inline(never)] // so that what controllers compute stays out of the loop that asks
    fn next_with_more(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let mut more = self.more.take()?;
        if more.last_sent != Time::NEVER && self.una == self.max && self.unsent > 0 {
            self.restart_after_idle(&more, now, tcp);
        }
        more.held = false;
        let outgoing = if self.pending == Pending::Persist && self.retransmit {
            self.probe_by_board(&mut more, now, tcp)
        } else if more.pace_at > now {
            let waits = !self.all_out() || self.retransmit || self.nxt != self.max;
            more.held = waits || more.board.as_ref().is_some_and(|b| b.waits());
            None
        } else if more.board.is_some() {
            self.next_by_board(&mut more, now, tcp)
        } else {
            self.more = Some(more);
            let outgoing = self.next_by_bytes(now, tcp);
            let Some(taken) = self.more.take() else { return outgoing };
            more = taken;
            if outgoing.is_some_and(|o| !o.is_new) {
                more.undo.on_retransmit(more.timestamps.then(|| timestamp(now)));
            }
            outgoing
        };
        match &outgoing {
            Some(o) => {
                if o.len > 0 {
                    more.last_sent = now;
                }
                if o.is_new && o.len < self.smss {
                    more.small = self.max;
                }
                if let Some(rate) = self.congestion.pacing_rate(&self.window(), self.rto.smoothed(tcp).0) {
                    let size = units::Bytes(u64::from(o.len) + tcp.header_on_data.0);
                    more.pace_at = more.pace_at.max(now) + rate.transmission_time(size);
                }
            }
            None => self.note_limit(&mut more),
        }
        self.more = Some(more);
        outgoing
    }

    /// Whether cwnd is what stops the sender now (Linux, tcp_cwnd_validate).
    fn note_limit(&mut self, more: &mut More) {
        let (pipe, unit) = match &more.board {
            Some(b) => (b.pipe() as f64, b.weight_of(self.smss) as f64),
            None => (f64::from(self.max - self.una), f64::from(self.smss)),
        };
        let limited = pipe + unit > self.cwnd;
        let out = match &more.board {
            Some(b) => b.len() as f64 * f64::from(self.smss),
            None => f64::from(self.max - self.una),
        };
        if !self.una.before(more.limited_until) || limited || (!more.cwnd_limited && out > more.most_out) {
            (more.cwnd_limited, more.most_out, more.limited_until) = (limited, out, self.max);
        }
        if self.unsent == 0 && !limited {
            more.app_limited_until = more.clock.delivered + pipe as u64;
        }
    }

    fn restart_after_idle(&mut self, more: &More, now: Time, tcp: &Tcp) {
        let idle = now.since(more.last_sent);
        let rto = self.rto.timeout(tcp);
        if idle <= rto || tcp.idle_restart == IdleRestart::Off {
            return;
        }
        let restart = tcp.initial_window.bytes(f64::from(self.smss)).min(self.cwnd);
        let before = self.cwnd;
        self.cwnd = match tcp.idle_restart {
            IdleRestart::Rfc2861 => {
                let halvings = (idle.0 / rto.0.max(1)).min(64) as i32;
                (self.cwnd / 2f64.powi(halvings)).max(restart)
            }
            _ => restart,
        };
        if self.cwnd < before && tcp.idle_restart == IdleRestart::Rfc2861 {
            self.ssthresh = self.ssthresh.max(0.75 * before);
        }
        self.congestion.on_restart(now, idle);
    }

    /// A probe of the closed window (RFC 9293 §3.8.6.1), or what fits one that stays small.
    fn probe_window(&mut self, now: Time, tcp: &Tcp) -> Outgoing {
        self.retransmit = false;
        if self.rwnd == 0 && tcp.zero_window_probe == WindowProbe::OldSequence {
            let seq = Seq(self.una.0.wrapping_sub(1));
            return Outgoing { seq, len: 0, fin: false, push: false, is_new: false, probe: true };
        }
        let (timer, timed) = (self.timer, self.timed);
        let there = u64::from(self.data_end().minus(self.una).max(0) as u32).saturating_add(self.unsent);
        let len = there.min(u64::from(self.rwnd.max(1))).min(u64::from(self.smss)) as u32;
        let mut outgoing = self.build(now, self.una, len, tcp);
        outgoing.probe = self.rwnd == 0;
        outgoing.push &= !outgoing.probe;
        // A byte that the window had no room for is sent again with what follows.
        self.nxt = if outgoing.probe { self.una } else { self.max };
        (self.timer, self.timed) = (timer, timed); // its round trip is not timed
        outgoing
    }

    /// The same with scoreboard, which must know of the byte.
    fn probe_by_board(&mut self, more: &mut More, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let (clock, max) = (more.clock, self.max);
        let outgoing = self.probe_window(now, tcp);
        if let Some(board) = &mut more.board {
            self.nxt = self.max;
            if self.max != max {
                board.on_sent(max, self.max, now, &clock, false);
            }
        }
        Some(outgoing)
    }

    fn next_by_board(&mut self, more: &mut More, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if std::mem::take(&mut more.probe_due) {
            return self.probe_tail(more, now, tcp);
        }
        if self.is_persisting() {
            return None; // nothing goes but probes
        }
        let board = more.board.as_mut()?;
        let pipe = board.pipe() as f64;
        let clock = more.clock;
        if board.waits()
            && (more.frto == Frto::Off || self.retransmit)
            && let Some((i, start, end)) = board.next_lost()
        {
            let weight = board.weight_of(end - start) as f64;
            if self.retransmit || pipe + weight <= self.cwnd {
                if std::mem::take(&mut self.retransmit) {
                    more.rescue = Some(end);
                }
                board.on_resent(i, now, &clock);
                more.undo.on_retransmit(more.timestamps.then(|| timestamp(now)));
                more.prr.on_sent(weight);
                return Some(self.resend(now, start, end, tcp));
            }
            return None;
        }
        self.retransmit = false;
        let used = if tcp.limited_transmit || more.phase != Phase::Open {
            pipe
        } else {
            f64::from(self.max - self.una)
        };
        let Some(len) = self.new_length(more, tcp) else {
            self.persist(now, tcp);
            return self.send_what_may_be_lost(more, used, now, tcp);
        };
        let board = more.board.as_mut()?;
        let weight = board.weight_of(len.max(1)) as f64;
        if used + weight > self.cwnd {
            return None;
        }
        let app_limited = more.clock.delivered < more.app_limited_until;
        let start = self.max;
        if board.is_empty() {
            more.clock.first_sent = now;
            more.clock.delivered_at = now;
        }
        let clock = more.clock;
        let outgoing = self.build(now, start, len, tcp);
        self.nxt = self.max;
        if let Some(board) = &mut more.board {
            board.on_sent(start, self.max, now, &clock, app_limited);
        }
        more.prr.on_sent(weight);
        if self.pending == Pending::Probe || tcp.tail_loss_probe {
            self.timer = Time::NEVER;
            self.set_timer(more, now, None, false, tcp);
        }
        Some(outgoing)
    }

    /// NextSeg, rules 3 and 4 (RFC 6675 §4): with nothing new to send, a hole that is not deemed lost yet; then once
    /// in a recovery the last segment.
    fn send_what_may_be_lost(
        &mut self,
        more: &mut More,
        used: f64,
        now: Time,
        tcp: &Tcp,
    ) -> Option<Outgoing> {
        let (rescue, clock) = (more.rescue, more.clock);
        let board = more.board.as_mut()?;
        if more.phase != Phase::Recovery || tcp.rack || used + f64::from(self.smss) > self.cwnd {
            return None;
        }
        let (i, start, end) = match board.next_hole() {
            Some(hole) => hole,
            None if rescue.is_some_and(|r| self.una.after(r)) => {
                more.rescue = None;
                board.last_not_sacked()?
            }
            None => return None,
        };
        board.lose_at(i);
        board.on_resent(i, now, &clock);
        more.undo.on_retransmit(more.timestamps.then(|| timestamp(now)));
        Some(self.resend(now, start, end, tcp))
    }

    /// The length of the next new segment (0: a FIN alone), if the receiver, Nagle and the application let it go.
    fn new_length(&self, more: &More, tcp: &Tcp) -> Option<u32> {
        if self.unsent == 0 {
            let fin_due = self.closing && !self.fin_sent;
            return (fin_due && self.room_in_window() > 0).then_some(0);
        }
        let len = self.unsent.min(u64::from(self.smss)) as u32;
        let room = self.room_in_window();
        if room < len {
            // RFC 9293 §3.8.6.2.1: a part only if nothing is out and it is all that the window takes.
            return (self.una == self.max && self.is_worth_it(room)).then_some(room);
        }
        if len < self.smss && !self.closing && self.holds(more, tcp) {
            return None;
        }
        Some(len)
    }

    /// Whether Nagle's algorithm holds a small segment.
    fn holds(&self, more: &More, tcp: &Tcp) -> bool {
        if self.cork {
            return true;
        }
        match tcp.nagle {
            _ if self.nodelay => false,
            Nagle::Off => false,
            Nagle::Rfc896 => self.una != self.max,
            Nagle::Minshall => more.small.after(self.una),
        }
    }

    /// The tail loss probe: new data if there is some, else the last segment (RFC 8985 §7.3).
    fn probe_tail(&mut self, more: &mut More, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let clock = more.clock;
        let outgoing = if let Some(len) = self.new_length(more, tcp) {
            let start = self.max;
            let outgoing = self.build(now, start, len, tcp);
            self.nxt = self.max;
            more.board.as_mut()?.on_sent(start, self.max, now, &clock, false);
            more.tlp.retransmitted = false;
            outgoing
        } else {
            let board = more.board.as_mut()?;
            let last = *board.last()?;
            let i = board.last_index();
            board.on_resent(i, now, &clock);
            more.undo.on_retransmit(more.timestamps.then(|| timestamp(now)));
            more.tlp.retransmitted = true;
            self.resend(now, last.start, last.end, tcp)
        };
        more.tlp.end = Some(self.max);
        // The timer is for the retransmission now.
        (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        Some(outgoing)
    }

    /// Sends [start, end) again. A FIN that was not sent yet does not join it: the scoreboard would not know.
    fn resend(&mut self, now: Time, start: Seq, end: Seq, tcp: &Tcp) -> Outgoing {
        let fin = u32::from(self.fin_sent && end == self.max);
        let closing = std::mem::replace(&mut self.closing, self.fin_sent);
        let outgoing = self.build(now, start, end - start - fin, tcp);
        self.closing = closing;
        outgoing
    }

    #[inline(never)]
    fn next_by_bytes(&mut self, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let mss = self.smss;
        if self.pending == Pending::Persist && self.retransmit {
            return Some(self.probe_window(now, tcp));
        }
        if self.retransmit {
            self.retransmit = false;
            return Some(self.build(now, self.una, mss.min(self.data_end() - self.una), tcp));
        }
        let sent = self.nxt - self.una;
        let room = self.limit().saturating_sub(sent);
        let again = if self.nxt.before(self.data_end()) { self.data_end() - self.nxt } else { 0 };
        let available = u64::from(again).saturating_add(self.unsent);
        if available == 0 {
            let fin_due = self.closing && (!self.fin_sent || self.nxt.before(self.max));
            return (fin_due && room > 0).then(|| self.build(now, self.nxt, 0, tcp));
        }
        let len = available.min(u64::from(mss)) as u32;
        // A segment is sent whole (RFC 9293 §3.8.6.2.1), unless nothing is out, or it goes out again, and a part is worth
        // it.
        if room < len {
            let part = sent == 0 && room > 0 && self.rwnd < len && (again > 0 || self.is_worth_it(room));
            if !part {
                self.persist(now, tcp);
                return None;
            }
            let outgoing = self.build(now, self.nxt, room, tcp);
            self.nxt = self.nxt + outgoing.len;
            return Some(outgoing);
        }
        if len < mss
            && again == 0
            && !self.closing
            && let Some(more) = &self.more
            && self.holds(more, tcp)
        {
            return None;
        }
        let outgoing = self.build(now, self.nxt, len, tcp);
        self.nxt = self.nxt + outgoing.len + u32::from(outgoing.fin);
        Some(outgoing)
    }

    #[inline(never)]
    fn build(&mut self, now: Time, seq: Seq, len: u32, tcp: &Tcp) -> Outgoing {
        self.build_inline(now, seq, len, tcp)
    }

    #[inline(always)]
    fn build_inline(&mut self, now: Time, seq: Seq, len: u32, tcp: &Tcp) -> Outgoing {
        let end = seq + len;
        let resent = if seq.before(self.data_end()) { self.data_end() - seq } else { 0 };
        let new_bytes = len.saturating_sub(resent);
        if self.unsent != u64::MAX {
            self.unsent -= u64::from(new_bytes);
        }
        let is_new = seq == self.max;
        let data_end = self.data_end().max(end);
        let fin_fits = self.fin_sent || len == 0 || end - self.una < self.rwnd;
        let fin = self.closing && self.unsent == 0 && end == data_end && fin_fits;
        let push = len > 0 && self.pushes(seq, end);
        self.fin_sent |= fin;
        self.max = self.max.max(end + u32::from(fin));
        if len > 0 {
            self.segments += 1;
            if resent > 0 {
                self.stats.retransmitted_segments += 1;
                self.retransmitted_bytes += u64::from(len.min(resent));
            }
        }
        if self.more.is_some() {
            self.note_sent(now, seq, len, is_new);
        }
        if is_new && self.timed.1 == Time::NEVER {
            self.timed = (seq, now);
        }
        if self.timer == Time::NEVER {
            (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        }
        if seq == self.nxt && len == 0 {
            self.nxt = self.max;
        }
        Outgoing { seq, len, fin, push, is_new, probe: false }
    }

    /// Notes when a segment went out, for the user timeout and for controllers that measure.
    #[inline(never)]
    fn note_sent(&mut self, now: Time, seq: Seq, len: u32, is_new: bool) {
        let (una, max) = (self.una, self.max);
        let Some(more) = &mut self.more else { return };
        if una == seq && is_new {
            more.since = now;
        }
        if more.board.is_none() && self.congestion.measures() {
            if is_new && len > 0 {
                more.sent.push_back((max, now, more.clock.delivered));
            } else {
                more.sent.clear(); // Karn: an ACK may be of either
            }
        }
    }

    /// Whether a write ended within (`seq`, `end`].
    #[inline]
    fn pushes(&mut self, seq: Seq, end: Seq) -> bool {
        (self.push.after(seq) && !self.push.after(end)) || (self.more.is_some() && self.pushed(seq, end))
    }

    /// Whether one that is not the last did.
    #[inline(never)]
    fn pushed(&mut self, seq: Seq, end: Seq) -> bool {
        let una = self.una;
        let Some(more) = &mut self.more else { return false };
        while more.pushes.front().is_some_and(|p| !p.after(una)) {
            more.pushes.pop_front();
        }
        more.pushes.iter().any(|p| p.after(seq) && !p.after(end))
    }
}

/// What an ACK told, with scoreboard.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    delivery: Delivery,
    advanced: bool,
    rtt: Option<Duration>,
    rate: Option<RateSample>,
    was_reducing: bool,
    safe: bool,
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
    /// Whether a write ends in it.
    pub push: bool,
    /// Whether nothing of it was sent before.
    pub is_new: bool,
    /// Whether it is a probe of a closed window with an old sequence number.
    pub probe: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a flow costs in memory, and how many cache lines a packet touches.
    #[test]
    fn a_sender_stays_small() {
        assert!(size_of::<Sender>() <= 216, "{}", size_of::<Sender>());
    }
}
