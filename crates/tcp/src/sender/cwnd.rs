//! What changes cwnd and ssthresh: the controller on ACKs, cuts, idleness.

use net::Seq;
use units::{Duration, Time};

use super::{Cut, Feedback, More, Phase, Progress, Sender};
use crate::config::{CwndValidation, FlightUnit, IdleRestart, RateReduction, SsthreshFrom, Tcp};
use crate::congestion::{Ack, Congestion, CongestionControl, RateSample};
use crate::recovery::prr::Prr;

impl Sender {
    /// Lets the controller see an ACK, and open the window if it `opens`.
    #[inline(never)]
    pub(super) fn tell_controller(&mut self, now: Time, feedback: Feedback, progress: Progress, tcp: &Tcp) {
        let Progress { acked, rtt, rate, opens } = progress;
        let window = self.window();
        let mut ack = Ack {
            now,
            acked,
            delivered: acked,
            marked: (f64::from(acked) * feedback.marked) as u32,
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
            ack.srtt = self.rto.srtt(tcp);
            if let Some(rtt) = rtt {
                more.min_rtt = more.min_rtt.min(rtt);
            }
            if more.board.is_none() && acked > 0 {
                more.clock.delivered += u64::from(acked);
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
        let rules = self.congestion.rules_recovery();
        if (opens && ack.cwnd_limited) || rules {
            self.cwnd = self.congestion.cwnd_on_ack(&window, &ack).max(window.smss);
            if let Some(ssthresh) = self.congestion.ssthresh_on_ack(&self.window()) {
                self.ssthresh = ssthresh;
            }
        }
    }

    /// An ACK up to `ack` that delivers so much asks for a cut: the controller counts its marks first.
    #[cold]
    pub(super) fn before_cut(&mut self, more: &More, ack: Seq, delivered: u32, feedback: Feedback) {
        let marked = (f64::from(delivered) * feedback.marked) as u32;
        self.congestion.before_cut(delivered, marked, ack.after(more.round_end));
    }

    /// Cuts the window.
    #[cold]
    pub(super) fn cut(&mut self, now: Time, congestion: Congestion, tcp: &Tcp) {
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

    /// The window comes down, at once or in proportion.
    pub(super) fn reduce(
        &mut self,
        more: &mut More,
        phase: Phase,
        congestion: Congestion,
        now: Time,
        tcp: &Tcp,
    ) {
        let before = self.cwnd;
        self.inflation = std::mem::take(&mut more.limited);
        self.cut(now, congestion, tcp);
        self.inflation = 0;
        more.phase = phase;
        if self.reduces_in_proportion(tcp) {
            let flight = f64::from(self.max - self.una);
            more.prr = Prr::begin(if tcp.ssthresh_from == SsthreshFrom::Cwnd { before } else { flight });
            self.cwnd = before;
        }
    }

    /// Whether a reduction lasts, by proportional rate reduction.
    pub(super) fn reduces_in_proportion(&self, tcp: &Tcp) -> bool {
        tcp.rate_reduction == RateReduction::Prr && !self.congestion.rules_recovery()
    }

    /// So much was delivered in a reduction.
    pub(super) fn reduce_further(&mut self, more: &mut More, delivered: f64, safe: bool, tcp: &Tcp) {
        if self.reduces_in_proportion(tcp)
            && let Some(board) = &more.board
        {
            let (pipe, smss) = (board.pipe() as f64, f64::from(self.smss));
            self.cwnd = more.prr.cwnd(delivered, pipe, self.ssthresh, smss, tcp.prr_bound, safe);
        }
    }

    /// Whether cwnd is what stops the sender now (Linux, tcp_cwnd_validate).
    pub(super) fn note_limit(&mut self, more: &mut More) {
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

    pub(super) fn restart_after_idle(&mut self, more: &More, now: Time, tcp: &Tcp) {
        let idle = now.since(more.last_sent);
        if self.congestion.rules_recovery() {
            // However long it was, cwnd stays (draft-cardwell-iccrg-bbr-00 §4.3.4.4).
            self.congestion.on_restart(now, idle);
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
