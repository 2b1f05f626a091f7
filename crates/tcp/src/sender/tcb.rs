//! What both kinds of sender have.

use net::Seq;
use units::{Duration, Time};

use super::socket_flags::SocketFlags;
use super::stats::{Counts, SenderStats};
use crate::config::Tcp;
use crate::congestion::Controller;
use crate::rto::Rto;
use crate::window::Window;

/// What the one timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerPurpose {
    Rto,
    Persist,
    Probe,
    Reorder,
}

/// The sender's part of the transmission control block: the send sequence space (RFC 9293 §3.3.1), the window, the timer and what the
/// application socket_flags. What every ACK touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Tcb {
    /// SND.UNA.
    pub una: Seq,
    /// One past the highest sequence number ever sent.
    pub max: Seq,
    /// SND.WND.
    pub rwnd: u32,
    /// Largest payload sent (SMSS).
    pub smss: u32,
    /// Bytes the application has written that were never sent; `u64::MAX`: endless.
    pub unsent: u64,
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    /// When the timer expires; [`Time::NEVER`]: not running.
    pub timer: Time,
    /// Bytes of data acknowledged.
    pub acked: u64,
    /// The application has closed: a FIN follows the last byte.
    pub closing: bool,
    /// The FIN was sent; it holds_small_segment the sequence number `max - 1`.
    pub fin_sent: bool,
    /// The first unacknowledged segment is to be sent again now.
    pub(super) retransmit: bool,
    pub(super) timer_purpose: TimerPurpose,
    /// Nothing new goes before the timer expires.
    pub(super) wait_for_timer: bool,
    /// The pace holds_small_segment something back.
    pub(super) pacing_holds: bool,
    /// Expirations since something was acknowledged.
    pub expirations: u8,
    pub(super) socket_flags: SocketFlags,
    /// Where the last write ended.
    pub(super) push: Seq,
    /// SND.WL1.
    pub(super) wl1: Seq,
    /// Max(SND.WND).
    pub(super) max_window: u32,
    /// Segments with data sent.
    pub(super) segments: u32,
    pub(super) congestion: Controller,
    pub(super) rto: Rto,
    pub(super) retransmitted_bytes: u64,
    pub(super) stats: Counts,
}

impl Tcb {
    /// Of a sender whose SYN takes the sequence number `iss`. `phase`: of its host's clock.
    pub(super) fn new(tcp: &Tcp, iss: Seq, phase: Duration) -> Self {
        let window = first_window(tcp);
        Tcb {
            una: iss,
            max: iss,
            rwnd: 0,
            smss: tcp.mss.0 as u32,
            unsent: 0,
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            timer: Time::NEVER,
            acked: 0,
            closing: false,
            fin_sent: false,
            retransmit: false,
            timer_purpose: TimerPurpose::Rto,
            wait_for_timer: false,
            pacing_holds: false,
            expirations: 0,
            socket_flags: SocketFlags::default(),
            push: iss,
            wl1: Seq(0),
            max_window: 0,
            segments: 0,
            congestion: Controller::new(&tcp.congestion, &window),
            rto: Rto::new(tcp, phase),
            retransmitted_bytes: 0,
            stats: Counts::default(),
        }
    }

    /// FlightSize, in bytes.
    #[inline]
    pub(super) fn flight(&self) -> u32 {
        self.max - self.una
    }

    /// The window, of which so many bytes are in the network.
    pub(super) fn window(&self, pipe: f64) -> Window {
        Window {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            flight: f64::from(self.flight()),
            pipe,
            inflation: 0.0,
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
            ecn_reductions: c.ecn_reductions,
            undone: c.undone,
            delivered_ce: c.delivered_ce,
        }
    }

    /// How often its timer expired.
    pub fn timeouts(&self) -> u32 {
        self.stats.timeouts
    }

    /// Max(SND.WND) (RFC 5961 §5.2).
    pub fn max_window(&self) -> u32 {
        self.max_window
    }

    /// The timeout as it would be set now.
    pub fn timeout(&self, tcp: &Tcp) -> Duration {
        self.rto.timeout(tcp)
    }

    /// How many round trips were measurements, and the last of them.
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

    /// Probes of a closed window that were not answered.
    pub fn probes(&self) -> u64 {
        if self.is_persisting() { u64::from(self.expirations) } else { 0 }
    }

    /// One past the last byte of data ever sent.
    pub fn data_end(&self) -> Seq {
        Seq(self.max.0.wrapping_sub(u32::from(self.fin_sent)))
    }

    /// Whether everything that was written is acknowledged and no more will come.
    pub fn all_acknowledged(&self) -> bool {
        self.closing && self.unsent == 0 && !self.una.before(self.data_end())
    }

    /// Whether it has sent data.
    pub fn has_sent(&self) -> bool {
        self.segments > 0
    }

    /// Whether it is as the handshake left it, at once: nothing was written, sent or wished.
    pub fn is_untouched(&self) -> bool {
        self.unsent == 0
            && !self.closing
            && self.segments == 0
            && self.stats.timeouts == 0
            && self.has_no_socket_flags()
    }

    /// Another congestion control from now on, that of these parameters.
    pub fn replace_controller(&mut self, tcp: &Tcp) {
        self.congestion = Controller::new(&tcp.congestion, &first_window(tcp));
    }

    /// So many segments were marked, by what the other side says.
    pub fn count_marks(&mut self, segments: u32) {
        self.stats.delivered_ce = self.stats.delivered_ce.wrapping_add(segments);
    }

    /// The connection is over: nothing is waited for.
    pub fn stop(&mut self) {
        self.timer = Time::NEVER;
        self.pacing_holds = false;
    }
}

/// The window before the handshake.
fn first_window(tcp: &Tcp) -> Window {
    let smss = tcp.mss.0 as f64;
    Window {
        cwnd: tcp.initial_window.bytes(smss),
        ssthresh: tcp.cwnd.initial_ssthresh.map_or(f64::INFINITY, |n| n.0 * smss), // RFC 5681 §3.1: arbitrarily high
        flight: 0.0,
        pipe: 0.0,
        inflation: 0.0,
        rwnd: 0.0,
        smss,
    }
}
