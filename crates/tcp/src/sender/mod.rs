//! The sending half: the window, what goes out, and what an ACK changes. It alone owns cwnd and
//! ssthresh. Without SACK it works by bytes and goes back to SND.UNA after a timeout; with SACK it asks
//! the scoreboard ([`Board`]).

pub mod ack;
pub mod arriving;
mod by_board;
pub mod cwnd;
mod fast_open;
mod handshake;
pub mod hold;
mod newly;
mod outgoing;
mod output;
pub mod output_by_board;
pub mod persist;
pub mod push;
mod reordering;
pub mod spurious;
mod stats;
pub mod timer;

use std::collections::VecDeque;

use net::Seq;
use units::{Duration, Time};

use crate::config::Tcp;
use crate::congestion::{CongestionControl, Controller, RateSample};
use crate::recovery::board::{Board, Clock};
use crate::recovery::eifel::Undo;
use crate::recovery::frto::Frto;
use crate::recovery::prr::Prr;
use crate::recovery::reno::Duplicates;
use crate::recovery::reordering::Degree;
use crate::recovery::tlp::Tlp;
use crate::rto::Rto;
use crate::window::Window;

pub use arriving::{Arriving, Feedback};
pub use newly::Newly;
pub use outgoing::Outgoing;
use stats::Counts;
pub use stats::SenderStats;

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

/// What an ACK brought, as far as the controller is concerned.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Bytes acknowledged, and those delivered.
    acked: u32,
    delivered: u32,
    /// The round trip of what was sent last of them.
    rtt: Option<Duration>,
    rate: Option<RateSample>,
    /// Whether the window may open.
    opens: bool,
}

/// What is kept track of beyond bytes, where something needs it: the scoreboard, measurements for controllers, records.
#[derive(Clone, Debug)]
struct Tracking {
    board: Option<Board>,
    phase: Phase,
    prr: Prr,
    tlp: Tlp,
    reordering: Degree,
    frto: Frto,
    /// New segments that F-RTO sends whatever cwnd says (RFC 5682 §3.1, step 2b).
    frto_may_send: u8,
    undo: Undo,
    /// A timestamp's worth of milliseconds goes out with retransmissions.
    timestamps: bool,
    saw_dsack: bool,
    /// From when the user timeout counts, once the timer has expired.
    since: Time,
    /// RescueRxt (RFC 6675 §2); `None`: the rescue was sent.
    rescue: Option<Seq>,
    /// Bytes that limited transmit let go since an ACK last advanced.
    limited: u32,
    probe_due: bool,
    min_rtt: Duration,
    round_end: Seq,
    clock: Clock,
    lost_bytes: u64,
    /// The delivery rate: the last sample, or the highest if the application limited it (Linux, tcp_rate_gen).
    rate: Option<RateSample>,
    /// The application had no more when something was last asked for.
    app_limited: bool,
    /// `delivered` when what was sent while the application had no more is delivered.
    app_limited_until: u64,
    /// When the retransmission timer was last started, with scoreboard.
    rto_from: Time,
    /// Ends of records that no segment crosses.
    records: VecDeque<Seq>,
    /// What Linux remembers of PSH.
    pushes: Option<push::Pushes>,
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
    wishes: hold::Wishes,
    tracking: Option<Box<Tracking>>,
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
            wishes: hold::Wishes::default(),
            expirations: 0,
            duplicates: Duplicates::default(),
            congestion: Controller::new(tcp),
            tracking: None,
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
        self.window_by(self.board())
    }

    /// The window as it is, with this scoreboard.
    fn window_by(&self, board: Option<&Board>) -> Window {
        let flight = f64::from(self.max - self.una);
        Window {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            flight,
            pipe: board.map_or(flight, |b| b.pipe() as f64),
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
            delivered_ce: c.delivered_ce,
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
        self.tracking.as_ref().map(|m| m.min_rtt).filter(|d| d.0 != u64::MAX)
    }

    /// Bytes delivered, if they are counted.
    pub fn delivered(&self) -> Option<u64> {
        self.tracking.as_ref().map(|m| m.clock.delivered)
    }

    /// Bytes a second in the last sample of the delivery rate, and whether the application limited it.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        let rate = self.tracking.as_ref()?.rate?;
        let seconds = rate.interval.seconds();
        (seconds > 0.0).then(|| ((rate.delivered as f64 / seconds) as u64, rate.app_limited))
    }

    /// Segments that are deemed to be in the network.
    pub fn in_flight(&self) -> f64 {
        let smss = f64::from(self.smss.max(1));
        self.board().map_or_else(|| f64::from(self.max - self.una) / smss, |b| b.pipe() as f64 / smss)
    }

    /// How often segments were seen to be delivered in another order than they were sent in.
    pub fn reorderings(&self) -> u64 {
        self.board().map_or(0, |b| u64::from(b.rack.reorderings))
    }

    /// The degree of reordering, in segments.
    pub fn reordering_degree(&self, tcp: &Tcp) -> u64 {
        self.tracking.as_ref().map_or(tcp.duplicate_acks.0 as u64, |m| u64::from(m.reordering.segments()))
    }

    /// Probes of a closed window that were not answered.
    pub fn probes(&self) -> u64 {
        if self.is_persisting() { u64::from(self.expirations) } else { 0 }
    }

    /// Where recovery stands.
    pub fn phase(&self) -> Phase {
        match &self.tracking {
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
        self.tracking.as_ref().and_then(|m| m.board.as_ref())
    }

    /// Duplicate ACKs in a row.
    pub fn duplicates(&self) -> u32 {
        self.duplicates.count()
    }

    /// The rate at which segments are spaced.
    pub fn pacing_rate(&self, tcp: &Tcp) -> Option<units::Rate> {
        self.congestion.pacing_rate(&self.window(), self.rto.srtt(tcp))
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
            self.on_written(bytes);
        }
        self.unsent = self.unsent.saturating_add(bytes);
        self.on_write();
    }

    /// Whether it is as the handshake left it, at once: nothing was written, sent or wished.
    pub fn is_untouched(&self) -> bool {
        self.unsent == 0
            && !self.closing
            && self.segments == 0
            && self.stats.timeouts == 0
            && self.has_no_wishes()
    }

    /// The connection is over: nothing is waited for.
    pub fn stop(&mut self) {
        self.timer = Time::NEVER;
        if let Some(tracking) = &mut self.tracking {
            tracking.held = false;
        }
    }
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
