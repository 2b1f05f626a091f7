//! What changes cwnd and ssthresh: the controller on ACKs, cuts, idleness.

use net::Seq;
use units::{Duration, Time, words};

use super::{Cut, Feedback, Phase, Progress, Sender, Tracking};
use crate::config::{RateReduction, Tcp};
use crate::congestion::{Ack, Congestion, CongestionControl, Controller, RateSample};
use crate::recovery::board::Board;
use crate::recovery::prr::Prr;
use crate::window::Window;

words! {
    /// From what ssthresh is computed when the window is cut.
    pub enum SsthreshFrom {
        /// Half the FlightSize, at least two segments; kept when a segment times out again (RFC 5681, equation 4).
        FlightSize = "flight-size",
        /// A share of cwnd, whatever is in flight (Linux).
        Cwnd = "cwnd",
        /// Half the smaller of cwnd and the receiver's window, in whole segments, at least two, and again when a segment times
        /// out again (4.3BSD-Reno: Stevens & Wright 1995, figure 29.16; ns-2).
        Window = "window",
    }
}

words! {
    /// What counts where cwnd grows.
    pub enum CwndCounts {
        /// Bytes newly acknowledged by the acknowledgement number (RFC 5681 §3.1, RFC 3465 §2.1).
        Acknowledged = "acknowledged",
        /// Bytes newly delivered, SACKed ones at once (Linux).
        Delivered = "delivered",
    }
}

words! {
    /// When cwnd may grow.
    pub enum CwndValidation {
        /// With every ACK of new data.
        None = "none",
        /// While it is used up: in slow start, by half (Linux, tcp_is_cwnd_limited).
        Limited = "limited",
    }
}

words! {
    /// What an idle time longer than the timeout does to cwnd.
    pub enum IdleRestart {
        /// Nothing.
        Off = "off",
        /// It returns to the initial window (RFC 5681 §4.1).
        Rfc5681 = "rfc5681",
        /// It is halved for each timeout that went by, down to the initial window (RFC 2861, Linux).
        Rfc2861 = "rfc2861",
    }
}

words! {
    /// In what the data in flight is counted under SACK.
    pub enum FlightUnit {
        /// Bytes (RFC 6675).
        Bytes = "bytes",
        /// Segments, each as one SMSS, as Linux counts them.
        Segments = "segments",
    }
}

impl Sender {
    /// Another controller from now on, for the window as it is.
    pub fn control_by(&mut self, controller: Controller) {
        self.congestion = controller;
    }

    /// Lets the controller see an ACK, and open the window if it `opens`.
    #[inline(never)]
    pub(super) fn tell_controller(&mut self, now: Time, feedback: Feedback, progress: Progress, tcp: &Tcp) {
        let Progress { acked, delivered, rtt, rate, opens } = progress;
        let window = self.window();
        let mut ack = Ack {
            now,
            acked,
            delivered,
            counted: if tcp.cwnd_counts == CwndCounts::Delivered { delivered } else { acked },
            marked: if feedback.marked > 0.0 {
                (f64::from(delivered) * feedback.marked).round() as u32
            } else {
                0
            },
            total_delivered: self.acked,
            rtt,
            srtt: Duration::ZERO,
            min_rtt: Duration(u64::MAX),
            round: false,
            cwnd_limited: true,
            in_recovery: false,
            rate,
            held_for: Duration::ZERO,
        };
        if let Some(tracking) = &mut self.tracking {
            ack.srtt = self.rto.srtt(tcp);
            if let Some(rtt) = rtt {
                tracking.min_rtt = tracking.min_rtt.min(rtt);
            }
            if tracking.board.is_none() && delivered > 0 {
                tracking.clock.delivered += u64::from(delivered);
                let mut newest = None;
                while tracking.sent.front().is_some_and(|s| !s.0.after(self.una)) {
                    newest = tracking.sent.pop_front();
                }
                if let Some((_, at, by_then)) = newest {
                    let interval = now.since(at);
                    ack.rtt = Some(interval);
                    tracking.min_rtt = tracking.min_rtt.min(interval);
                    ack.rate = Some(RateSample {
                        delivered: tracking.clock.delivered - by_then,
                        interval,
                        app_limited: tracking.app_limited_until > 0 && by_then <= tracking.app_limited_until,
                        prior_delivered: by_then,
                        lost: 0,
                    });
                }
                tracking.clock.delivered_at = now;
            }
            ack.total_delivered = tracking.clock.delivered;
            ack.min_rtt = tracking.min_rtt;
            ack.held_for = tracking.pace_at.since(now);
            if self.una.after(tracking.round_end) {
                ack.round = true;
                tracking.round_end = self.max;
            }
            ack.in_recovery =
                matches!(tracking.phase, Phase::Recovery | Phase::Loss) || self.duplicates.in_recovery();
            if tcp.cwnd_validation != CwndValidation::None {
                // Linux, tcp_is_cwnd_limited: in slow start, while at least half of cwnd is used.
                ack.cwnd_limited = if window.cwnd < window.ssthresh {
                    window.cwnd < 2.0 * tracking.most_out
                } else {
                    tracking.cwnd_limited
                };
            }
            if self.congestion.measures() {
                self.congestion.observe(&window, &ack);
            }
        }
        let rules = self.congestion.rules_recovery();
        if (opens && ack.cwnd_limited) || rules {
            self.cwnd = self.congestion.cwnd_on_ack(&window, &ack).max(window.smss);
        }
        if self.congestion.measures()
            && let Some(ssthresh) = self.congestion.ssthresh_on_ack(&self.window())
        {
            self.ssthresh = ssthresh;
        }
    }

    /// An ACK up to `ack` that delivers so much asks for a cut: the controller counts its marks first.
    #[cold]
    pub(super) fn before_cut(&mut self, tracking: &Tracking, ack: Seq, delivered: u32, feedback: Feedback) {
        let marked = (f64::from(delivered) * feedback.marked).round() as u32;
        self.congestion.before_cut(delivered, marked, ack.after(tracking.round_end));
    }

    /// What was in flight when the ACK at hand arrived, or the timer expired, for a cut: FlightSize without what
    /// limited transmit sent (RFC 5681 §3.2, step 2; RFC 6675 §5, step 4.2), and no more than cwnd. In a recovery
    /// SND.MAX - SND.UNA goes on growing while a lost retransmission waits for the timer, though cwnd was cut: what is
    /// above cwnd has left the network, and the second loss must lower ssthresh again (RFC 5681 §4.3).
    pub(super) fn at_cut(&self, board: Option<&Board>, una: Seq, limited: u32) -> Window {
        let flight = f64::from((self.max - una).saturating_sub(limited)).min(self.cwnd);
        Window { flight, ..self.window_by(board) }
    }

    /// Cuts the window; `window`: [`at_cut`](Self::at_cut).
    #[cold]
    pub(super) fn cut(&mut self, now: Time, congestion: Congestion, mut window: Window, tcp: &Tcp) {
        let flight = window.flight;
        let whole = |bytes: f64| (bytes / window.smss).floor() * window.smss;
        let (from, held) = match tcp.ssthresh_from {
            SsthreshFrom::FlightSize => (flight, congestion),
            SsthreshFrom::Cwnd => (self.cwnd, congestion),
            SsthreshFrom::Window => (whole(window.usable()), congestion.first()),
        };
        window.flight = from;
        let mut left = self.congestion.ssthresh_on(&window, held, now);
        let by_share = congestion == Congestion::Ecn && self.congestion.is_scalable();
        if !by_share && (tcp.flight_unit == FlightUnit::Segments || tcp.ssthresh_from == SsthreshFrom::Window)
        {
            left = whole(left);
        }
        self.ssthresh = left.max(2.0 * window.smss); // RFC 5681, equation 4
        let chosen = self.congestion.cwnd_on(&window, congestion, now);
        (self.cwnd, self.last_cut) = match congestion {
            Congestion::FastRetransmit => (chosen.unwrap_or(self.ssthresh), Cut::FastRetransmit),
            Congestion::Ecn => {
                let least = tcp.ecn_least_window.0 * window.smss; // RFC 3168 §6.1.2: one segment
                (chosen.unwrap_or(left).max(least).min(self.cwnd), Cut::Ecn)
            }
            Congestion::Timeout { .. } => (chosen.unwrap_or(window.smss), Cut::Timeout), // RFC 5681 §3.1: the loss window
        };
        self.recover = self.max;
    }

    /// The window comes down, at once or in proportion. `una`: SND.UNA before the ACK at hand.
    pub(super) fn reduce(
        &mut self,
        tracking: &mut Tracking,
        phase: Phase,
        (congestion, una): (Congestion, Seq),
        now: Time,
        tcp: &Tcp,
    ) {
        let before = self.cwnd;
        let limited = std::mem::take(&mut tracking.limited);
        let window = self.at_cut(tracking.board.as_ref(), una, limited);
        self.cut(now, congestion, window, tcp);
        tracking.phase = phase;
        if self.reduces_in_proportion(tcp) {
            let flight = f64::from(self.max - una);
            tracking.prr = Prr::begin(if tcp.ssthresh_from == SsthreshFrom::Cwnd { before } else { flight });
            self.cwnd = before;
        }
    }

    /// Whether a reduction lasts, by proportional rate reduction.
    pub(super) fn reduces_in_proportion(&self, tcp: &Tcp) -> bool {
        tcp.rate_reduction == RateReduction::Prr && !self.congestion.rules_recovery()
    }

    /// So much was delivered in a reduction.
    pub(super) fn reduce_further(&mut self, tracking: &mut Tracking, delivered: f64, safe: bool, tcp: &Tcp) {
        if self.reduces_in_proportion(tcp)
            && let Some(board) = &tracking.board
        {
            let (pipe, smss) = (board.pipe() as f64, f64::from(self.smss));
            self.cwnd = tracking.prr.cwnd(delivered, pipe, self.ssthresh, smss, tcp.prr_bound, safe);
        }
    }

    /// Whether cwnd is what stops the sender now (Linux, tcp_cwnd_validate).
    pub(super) fn note_limit(&mut self, tracking: &mut Tracking) {
        let (pipe, unit) = match &tracking.board {
            Some(b) => (b.pipe() as f64, b.weight_of(self.smss) as f64),
            None => (f64::from(self.max - self.una), f64::from(self.smss)),
        };
        // What is held back by a pace that follows from cwnd is limited by cwnd.
        let paced = tracking.held && !self.congestion.rules_recovery();
        let limited = paced || pipe + unit > self.cwnd;
        let out = match &tracking.board {
            Some(b) => b.len() as f64 * f64::from(self.smss),
            None => f64::from(self.max - self.una),
        };
        if !self.una.before(tracking.limited_until)
            || limited
            || (!tracking.cwnd_limited && out > tracking.most_out)
        {
            (tracking.cwnd_limited, tracking.most_out, tracking.limited_until) = (limited, out, self.max);
        }
        tracking.app_limited = self.unsent == 0 && !limited;
        if tracking.app_limited {
            // draft-ietf-ccwg-bbr §4.1.2.4: what is sent next, too, if nothing is out.
            tracking.app_limited_until = (tracking.clock.delivered + pipe as u64).max(1);
        }
    }

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
}
