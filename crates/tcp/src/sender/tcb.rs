//! Variables of the sender that are the same with and without SACK.

use net::Seq;
use units::{Duration, Time};

use super::socket_flags::SocketFlags;
use super::stats::{Counts, SenderStats};
use crate::config::Tcp;
use crate::congestion::Controller;
use crate::rto::Rto;
use crate::window::Window;

/// Purpose of the sender's only timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerPurpose {
    /// Retransmission timeout.
    Rto,
    /// Probe of a closed window, or release of a corked segment.
    Persist,
    /// Tail loss probe.
    Probe,
    /// Expiry of RACK's reordering window.
    Reorder,
}

/// Sender's part of the transmission control block: the send sequence space (RFC 9293 §3.3.1), the
/// windows, the timer, the socket flags and the counters. The fields that every ACK reads or writes
/// come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Tcb {
    /// Oldest unacknowledged sequence number (SND.UNA).
    pub una: Seq,
    /// One past the highest sequence number ever sent.
    pub max: Seq,
    /// Send window that the receiver advertises (SND.WND).
    pub rwnd: u32,
    /// Sender maximum segment size (SMSS): the maximum payload in bytes.
    pub smss: u32,
    /// Bytes that the application has written and the sender has never sent. `u64::MAX` stands for
    /// endless data.
    pub unsent: u64,
    /// Congestion window in bytes.
    pub(super) cwnd: f64,
    /// Slow start threshold in bytes.
    pub(super) ssthresh: f64,
    /// Time at which the timer expires; [`Time::NEVER`] while the timer is stopped.
    pub timer: Time,
    /// Bytes of data acknowledged.
    pub acked: u64,
    /// True once the application has closed the connection, so that a FIN follows the last byte.
    pub closing: bool,
    /// True once the FIN was sent. After the sender has sent the FIN, the FIN has the sequence
    /// number `max - 1`.
    pub fin_sent: bool,
    /// True if the first unacknowledged segment is due for retransmission now.
    pub(super) retransmit: bool,
    /// Purpose for which the sender last set its timer.
    pub(super) timer_purpose: TimerPurpose,
    /// True if the sender must not send new data before the retransmission timer expires.
    pub(super) wait_for_timer: bool,
    /// True if pacing delays a segment that the windows allow.
    pub(super) pacing_holds: bool,
    /// Consecutive expirations of the timer since the last new acknowledgement.
    pub expirations: u8,
    /// Socket flags that the application has set.
    pub(super) socket_flags: SocketFlags,
    /// One past the last byte of the last write.
    pub(super) write_end: Seq,
    /// Sequence number of the segment that last updated the send window (SND.WL1).
    pub(super) wl1: Seq,
    /// Maximum send window that the receiver has advertised (Max(SND.WND)).
    pub(super) max_window: u32,
    /// Segments with data sent.
    pub(super) segments: u32,
    /// Congestion controller of the connection.
    pub(super) congestion: Controller,
    /// RTO estimator.
    pub(super) rto: Rto,
    /// Bytes of data retransmitted.
    pub(super) retransmitted_bytes: u64,
    /// Counters of events.
    pub(super) stats: Counts,
}

impl Tcb {
    /// Create the state of a sender whose SYN has the sequence number `iss`. `phase` is the part of
    /// a tick of the host's clock that has passed at time zero.
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
            write_end: iss,
            wl1: Seq(0),
            max_window: 0,
            segments: 0,
            congestion: Controller::new(&tcp.congestion, &window),
            rto: Rto::new(tcp, phase),
            retransmitted_bytes: 0,
            stats: Counts::default(),
        }
    }

    /// Return the FlightSize in bytes.
    #[inline]
    pub(super) fn flight(&self) -> u32 {
        self.max - self.una
    }

    /// Return the windows as a congestion control reads them. `pipe` is the number of bytes in the
    /// network.
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

    /// Return the statistics of the sender.
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

    /// Return the number of expirations of the retransmission timer.
    pub fn timeouts(&self) -> u32 {
        self.stats.timeouts
    }

    /// Return Max(SND.WND) (RFC 5961 §5.2).
    pub fn max_window(&self) -> u32 {
        self.max_window
    }

    /// Return the retransmission timeout (RTO) that the sender would use to set a timer now.
    pub fn timeout(&self, tcp: &Tcp) -> Duration {
        self.rto.timeout(tcp)
    }

    /// Return the number of measured round-trip times, and the last measured round-trip time.
    pub fn round_trips(&self) -> (u32, Duration) {
        self.rto.round_trips()
    }

    /// Return the smoothed round-trip time (SRTT) and its variation (RTTVAR).
    pub fn smoothed(&self, tcp: &Tcp) -> (Duration, Duration) {
        self.rto.smoothed(tcp)
    }

    /// Return the number of timeouts that have doubled the current RTO.
    pub fn doublings(&self) -> u32 {
        self.rto.doublings()
    }

    /// Return the number of consecutive unanswered probes of a closed window.
    pub fn probes(&self) -> u64 {
        if self.is_persisting() { u64::from(self.expirations) } else { 0 }
    }

    /// Return one past the last byte of data ever sent.
    pub fn data_end(&self) -> Seq {
        Seq(self.max.0.wrapping_sub(u32::from(self.fin_sent)))
    }

    /// Return true if the application has closed the connection and all data is acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.closing && self.unsent == 0 && !self.una.before(self.data_end())
    }

    /// Return true if the sender has sent data.
    pub fn has_sent(&self) -> bool {
        self.segments > 0
    }

    /// Return true if the sender is in its state after the handshake: the application has not
    /// written data or set a socket flag, and the sender has not sent data.
    pub fn is_untouched(&self) -> bool {
        self.unsent == 0
            && !self.closing
            && self.segments == 0
            && self.stats.timeouts == 0
            && self.has_no_socket_flags()
    }

    /// Replace the congestion controller by a new one with these parameters.
    pub fn replace_controller(&mut self, tcp: &Tcp) {
        self.congestion = Controller::new(&tcp.congestion, &first_window(tcp));
    }

    /// Count segments that the other endpoint reports as marked.
    pub fn count_marks(&mut self, segments: u32) {
        self.stats.delivered_ce = self.stats.delivered_ce.wrapping_add(segments);
    }

    /// Stop the timer because the connection is closed.
    pub fn stop(&mut self) {
        self.timer = Time::NEVER;
        self.pacing_holds = false;
    }
}

/// Return the initial values of cwnd, ssthresh and the data in flight.
fn first_window(tcp: &Tcp) -> Window {
    let smss = tcp.mss.0 as f64;
    Window {
        cwnd: tcp.initial_window.bytes(smss),
        // RFC 5681 §3.1: arbitrarily high
        ssthresh: tcp.cwnd.initial_ssthresh.map_or(f64::INFINITY, |n| n.0 * smss),
        flight: 0.0,
        pipe: 0.0,
        inflation: 0.0,
        rwnd: 0.0,
        smss,
    }
}
