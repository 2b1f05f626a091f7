//! What changes cwnd and ssthresh: the controller on ACKs, cuts, idleness.

use net::Seq;
use units::{Duration, Time};

use super::arriving::Feedback;
use super::tcb::Tcb;
use super::tracking::Tracking;
use crate::config::{
    CwndCounts, CwndValidation, EcnAtOneSegment, FlightUnit, IdleRestart, SsthreshFrom, Tcp,
};
use crate::congestion::{Ack, Congestion, CongestionControl, RateSample};
use crate::window::Window;

/// What an ACK brought, as far as the controller is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Bytes acknowledged, those delivered, and all delivered so far.
    pub acked: u32,
    pub delivered: u32,
    pub total_delivered: u64,
    /// The round trip of what was sent last of them.
    pub rtt: Option<Duration>,
    pub rate: Option<RateSample>,
    /// Whether the window may open.
    pub opens: bool,
    /// Whether loss recovery is under way.
    pub in_recovery: bool,
}

/// What is out when nothing more goes, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// In the network, and what a segment more would be.
    pub pipe: f64,
    pub unit: f64,
    /// Sent and not acknowledged.
    pub sent: f64,
    /// Delivered so far.
    pub delivered: u64,
}

impl Tcb {
    /// Lets the controller see an ACK, and open the window if it opens.
    #[inline]
    pub(super) fn update_cwnd(
        &mut self,
        (now, feedback): (Time, Feedback),
        progress: &Progress,
        window: &Window,
        tracking: Option<&mut Tracking>,
        tcp: &Tcp,
    ) {
        let &Progress { acked, delivered, total_delivered, rtt, rate, opens, in_recovery } = progress;
        let mut ack = Ack {
            now,
            acked,
            delivered,
            counted: if tcp.details.cwnd_counts == CwndCounts::Delivered { delivered } else { acked },
            marked: if feedback.marked > 0.0 {
                (f64::from(delivered) * feedback.marked).round() as u32
            } else {
                0
            },
            total_delivered,
            rtt,
            srtt: Duration::ZERO,
            min_rtt: Duration(u64::MAX),
            round: false,
            cwnd_limited: true,
            in_recovery,
            rate,
            held_for: Duration::ZERO,
        };
        if let Some(tracking) = tracking {
            ack.srtt = self.rto.srtt(tcp);
            ack.min_rtt = tracking.min_rtt;
            ack.held_for = tracking.pace_at.since(now);
            if self.una.after(tracking.round_end) {
                ack.round = true;
                tracking.round_end = self.max;
            }
            if tcp.cwnd.validation != CwndValidation::None {
                // Linux, tcp_is_cwnd_limited: in slow start, while at least half of cwnd is used.
                ack.cwnd_limited = if window.cwnd < window.ssthresh {
                    window.cwnd < 2.0 * tracking.max_flight
                } else {
                    tracking.cwnd_limited
                };
            }
        }
        let (cwnd, ssthresh) = self.congestion.on_ack(window, &ack, opens && ack.cwnd_limited);
        self.cwnd = cwnd;
        if let Some(ssthresh) = ssthresh {
            self.ssthresh = ssthresh;
        }
    }

    /// A mark asks for a cut, in an ACK up to `ack` that delivers so much: the controller counts its marks first.
    #[cold]
    pub(super) fn on_ecn_echo(
        &mut self,
        tracking: Option<&Tracking>,
        ack: Seq,
        delivered: u32,
        feedback: Feedback,
        tcp: &Tcp,
    ) {
        self.stats.ecn_reductions += 1;
        self.wait_for_timer =
            self.cwnd <= f64::from(self.smss) && tcp.ecn.at_one_segment == EcnAtOneSegment::WaitForTimer;
        if let Some(tracking) = tracking {
            let marked = (f64::from(delivered) * feedback.marked).round() as u32;
            self.congestion.before_cut(delivered, marked, ack.after(tracking.round_end));
        }
    }

    /// The window as it was when the ACK at hand arrived, or the timer expired, for a cut: FlightSize without what
    /// limited transmit sent (RFC 5681 §3.2, step 2; RFC 6675 §5, step 4.2), and no more than cwnd. In a recovery
    /// SND.MAX - SND.UNA goes on growing while a lost retransmission waits for the timer, though cwnd was cut: what is
    /// above cwnd has left the network, and the second loss must lower ssthresh again (RFC 5681 §4.3).
    pub(super) fn window_at_reduction(&self, window: Window, una: Seq, limited: u32) -> Window {
        let flight = f64::from((self.max - una).saturating_sub(limited)).min(self.cwnd);
        Window { flight, ..window }
    }

    /// Cuts the window; `window`: [`window_at_reduction`](Self::window_at_reduction).
    #[cold]
    pub(super) fn reduce_cwnd(&mut self, now: Time, congestion: Congestion, mut window: Window, tcp: &Tcp) {
        let flight = window.flight;
        let whole = |bytes: f64| (bytes / window.smss).floor() * window.smss;
        let (from, held) = match tcp.cwnd.ssthresh_from {
            SsthreshFrom::FlightSize => (flight, congestion),
            SsthreshFrom::Cwnd => (self.cwnd, congestion),
            SsthreshFrom::Window => (whole(window.usable()), congestion.first()),
        };
        window.flight = from;
        let mut left = self.congestion.ssthresh_on(&window, held, now);
        let by_share = congestion == Congestion::Ecn && self.congestion.is_scalable();
        if !by_share
            && (tcp.details.flight_unit == FlightUnit::Segments
                || tcp.cwnd.ssthresh_from == SsthreshFrom::Window)
        {
            left = whole(left);
        }
        self.ssthresh = left.max(2.0 * window.smss); // RFC 5681, equation 4
        let chosen = self.congestion.cwnd_on(&window, congestion, now);
        self.cwnd = match congestion {
            Congestion::FastRetransmit => chosen.unwrap_or(self.ssthresh),
            Congestion::Ecn => {
                let least = tcp.ecn.min_window.0 * window.smss; // RFC 3168 §6.1.2: one segment
                chosen.unwrap_or(left).max(least).min(self.cwnd)
            }
            Congestion::Timeout { .. } => chosen.unwrap_or(window.smss), // RFC 5681 §3.1: the loss window
        };
    }

    /// Nothing more goes: whether cwnd is what stops the sender (Linux, tcp_cwnd_validate).
    pub(super) fn record_limit(&mut self, tracking: &mut Tracking, out: Outstanding) {
        let Outstanding { pipe, unit, sent, delivered } = out;
        // What is held back by a pace that follows from cwnd is limited by cwnd.
        let paced = self.pacing_holds && !self.congestion.rules_recovery();
        let queue = tracking.queue.as_mut();
        let (waited, drained) = queue
            .map_or((false, false), |q| (std::mem::take(&mut q.waited_for_cwnd), q.is_drained(self.max)));
        let limited = paced || waited || pipe + unit > self.cwnd;
        if !self.una.before(tracking.limit_recorded_until)
            || limited
            || (!tracking.cwnd_limited && sent > tracking.max_flight)
        {
            (tracking.cwnd_limited, tracking.max_flight, tracking.limit_recorded_until) =
                (limited, sent, self.max);
        }
        tracking.app_limited = (self.unsent == 0 || drained) && !limited;
        if tracking.app_limited {
            // draft-ietf-ccwg-bbr §4.1.2.4: what is sent next, too, if nothing is out.
            tracking.app_limited_until = (delivered + pipe as u64).max(1);
        }
    }

    /// Something is sent after an idle time.
    pub(super) fn restart_after_idle(&mut self, tracking: &Tracking, now: Time, tcp: &Tcp) {
        let idle = now.since(tracking.last_sent);
        if self.congestion.rules_recovery() {
            // However long it was, cwnd stays; what waited for the pace was not idle (draft-cardwell-iccrg-bbr-00 §4.3.4.4:
            // "packets_in_flight == 0 and C.app_limited").
            if tracking.app_limited {
                self.congestion.on_restart(now, idle);
            }
            return;
        }
        let rto = self.rto.timeout(tcp);
        if idle <= rto || tcp.cwnd.idle_restart == IdleRestart::Off {
            return;
        }
        let restart = tcp.initial_window.bytes(f64::from(self.smss)).min(self.cwnd);
        let before = self.cwnd;
        self.cwnd = match tcp.cwnd.idle_restart {
            IdleRestart::Rfc2861 => {
                let halvings = (idle.0 / rto.0.max(1)).min(64) as i32;
                (self.cwnd / 2f64.powi(halvings)).max(restart)
            }
            _ => restart,
        };
        if self.cwnd < before && tcp.cwnd.idle_restart == IdleRestart::Rfc2861 {
            self.ssthresh = self.ssthresh.max(0.75 * before);
        }
        self.congestion.on_restart(now, idle);
    }
}
