//! Changes of cwnd and ssthresh: growth by ACKs, reductions, and restart after idle times.

use net::Seq;
use units::{Duration, Time};

use super::arriving::Feedback;
use super::changes::{IDLE_DECAY, IDLE_RESTART};
use super::tcb::Tcb;
use super::tracking::Tracking;
use crate::config::{
    CwndCounts, CwndValidation, EcnAtOneSegment, FlightUnit, IdleRestart, SsthreshFrom, Tcp,
};
use crate::congestion::{Ack, Congestion, CongestionControl, RateSample};
use crate::window::Window;

/// Properties of an ACK from which the congestion controller computes cwnd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Bytes newly acknowledged by the acknowledgement number.
    pub acked: u32,
    /// Bytes newly delivered, including newly SACKed bytes.
    pub delivered: u32,
    /// Total bytes delivered, including the bytes that this ACK delivers.
    pub total_delivered: u64,
    /// Round-trip time of the newest of the newly delivered segments.
    pub rtt: Option<Duration>,
    /// Delivery rate, if the sender sampled the delivery rate.
    pub rate: Option<RateSample>,
    /// True if the ACK may increase cwnd.
    pub opens: bool,
    /// True during loss recovery.
    pub in_recovery: bool,
}

/// Data in flight when the sender cannot send another segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// Bytes in the network (pipe).
    pub pipe: f64,
    /// Size of the next segment, in the unit of `pipe`.
    pub segment: f64,
    /// Bytes sent and not acknowledged.
    pub flight: f64,
    /// Total bytes delivered.
    pub delivered: u64,
}

impl Tcb {
    /// Pass an ACK to the congestion controller, and set cwnd and ssthresh to its results.
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
            pacing_delay: Duration::ZERO,
        };
        if let Some(tracking) = tracking {
            ack.srtt = self.rto.srtt(tcp);
            ack.min_rtt = tracking.min_rtt;
            ack.pacing_delay = tracking.pace_at.since(now);
            if self.una.after(tracking.round_end) {
                ack.round = true;
                tracking.round_end = self.max;
            }
            if tcp.cwnd.validation != CwndValidation::None {
                // Linux, tcp_is_cwnd_limited: in slow start an ACK increases cwnd if at least half
                // of cwnd was in flight.
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

    /// Prepare a reduction of cwnd for ECN-Echo in an ACK with the acknowledgement number `ack`,
    /// which delivers `delivered` bytes. Before the reduction of cwnd, the controller counts the
    /// marked bytes that the ACK reports.
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
            self.congestion.before_reduction(delivered, marked, ack.after(tracking.round_end));
        }
    }

    /// Return the windows before the ACK or the timeout, from which a reduction computes ssthresh.
    /// The FlightSize excludes the `limited_transmit` bytes that limited transmit sent (RFC 5681
    /// §3.2, step 2; RFC 6675 §5, step 4.2), and is at most cwnd.
    ///
    /// If a retransmission is lost in a recovery, SND.MAX - SND.UNA continues to grow until the
    /// timer expires, although cwnd was reduced. At most cwnd bytes between SND.UNA and SND.MAX are
    /// still in the network. The loss of the retransmission must reduce ssthresh again (RFC 5681
    /// §4.3).
    pub(super) fn window_at_reduction(&self, window: Window, una: Seq, limited_transmit: u32) -> Window {
        let flight = f64::from((self.max - una).saturating_sub(limited_transmit)).min(self.cwnd);
        Window { flight, ..window }
    }

    /// Reduce cwnd and ssthresh. `window` is the result of
    /// [`window_at_reduction`](Self::window_at_reduction).
    #[cold]
    pub(super) fn reduce_cwnd(&mut self, now: Time, congestion: Congestion, mut window: Window, tcp: &Tcp) {
        let flight = window.flight;
        let whole = |bytes: f64| (bytes / window.smss).floor() * window.smss;
        let (base, kind) = match tcp.cwnd.ssthresh_from {
            SsthreshFrom::FlightSize => (flight, congestion),
            SsthreshFrom::Cwnd => (self.cwnd, congestion),
            SsthreshFrom::Window => (whole(window.usable()), congestion.without_repetition()),
        };
        window.flight = base;
        let mut ssthresh = self.congestion.ssthresh_on_congestion(&window, kind, now);
        let scalable = congestion == Congestion::Ecn && self.congestion.is_scalable();
        if !scalable
            && (tcp.details.flight_unit == FlightUnit::Segments
                || tcp.cwnd.ssthresh_from == SsthreshFrom::Window)
        {
            ssthresh = whole(ssthresh);
        }
        self.ssthresh = ssthresh.max(2.0 * window.smss); // RFC 5681, equation 4: at least two segments
        let cwnd = self.congestion.cwnd_on_congestion(&window, congestion, now);
        self.cwnd = match congestion {
            Congestion::FastRetransmit => cwnd.unwrap_or(self.ssthresh),
            Congestion::Ecn => {
                let min_cwnd = tcp.ecn.min_window.0 * window.smss; // RFC 3168 §6.1.2: at least one segment
                cwnd.unwrap_or(ssthresh).max(min_cwnd).min(self.cwnd)
            }
            Congestion::Timeout { .. } => cwnd.unwrap_or(window.smss), // RFC 5681 §3.1: the loss window
        };
    }

    /// When the sender cannot send another segment, record whether cwnd is the reason (Linux,
    /// tcp_cwnd_validate).
    pub(super) fn record_limit(&mut self, tracking: &mut Tracking, outstanding: Outstanding) {
        let Outstanding { pipe, segment, flight, delivered } = outstanding;
        // A pacing rate that is computed from cwnd counts as a limit by cwnd.
        let paced = self.pacing_holds && !self.congestion.governs_recovery();
        let queue = tracking.queue.as_mut();
        let (waited, drained) = queue
            .map_or((false, false), |q| (std::mem::take(&mut q.waited_for_cwnd), q.is_drained(self.max)));
        let cwnd_limited = paced || waited || pipe + segment > self.cwnd;
        if !self.una.before(tracking.cwnd_usage_end)
            || cwnd_limited
            || (!tracking.cwnd_limited && flight > tracking.max_flight)
        {
            (tracking.cwnd_limited, tracking.max_flight, tracking.cwnd_usage_end) =
                (cwnd_limited, flight, self.max);
        }
        tracking.app_limited = (self.unsent == 0 || drained) && !cwnd_limited;
        if tracking.app_limited {
            // draft-ietf-ccwg-bbr §4.1.2.4: the minimum of 1 makes the next segment
            // application-limited even if no data is in flight.
            tracking.app_limited_until = (delivered + pipe as u64).max(1);
        }
    }

    /// Reduce cwnd if the connection was idle, and notify the controller of the restart.
    pub(super) fn restart_after_idle(&mut self, tracking: &Tracking, now: Time, tcp: &Tcp) {
        let idle = now.since(tracking.last_sent);
        if self.congestion.governs_recovery() {
            // An idle time does not change cwnd if the controller sets cwnd in every state. A
            // sender that waited for pacing was not idle (draft-cardwell-iccrg-bbr-00 §4.3.4.4:
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
        let (before, cwnd_before) = (self.windows(), self.cwnd);
        self.cwnd = match tcp.cwnd.idle_restart {
            IdleRestart::Rfc2861 => {
                let halvings = (idle.0 / rto.0.max(1)).min(64) as i32;
                (self.cwnd / 2f64.powi(halvings)).max(restart)
            }
            _ => restart,
        };
        if self.cwnd < cwnd_before && tcp.cwnd.idle_restart == IdleRestart::Rfc2861 {
            self.ssthresh = self.ssthresh.max(0.75 * cwnd_before);
        }
        let decays = tcp.cwnd.idle_restart == IdleRestart::Rfc2861;
        self.record(if decays { &IDLE_DECAY } else { &IDLE_RESTART }, before, Some(now));
        self.congestion.on_restart(now, idle);
    }
}
