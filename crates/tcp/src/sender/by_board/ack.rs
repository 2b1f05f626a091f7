//! An ACK, with scoreboard: what is lost, and where recovery stands (RFC 6675 §5; RFC 8985 §6.2).

use net::Seq;
use units::{Duration, Time};

use super::ByBoard;
use super::reduction::reduces_in_proportion;
use crate::config::{
    CwndCounts, CwndValidation, FastRetransmitTimer, MarkReductionEnds, RecoveryExit, RtoOrder, Tcp,
};
use crate::congestion::{Congestion, CongestionControl, Controller, RateSample};
use crate::recovery::board::{Delivery, Departure, Doubt, Sent};
use crate::recovery::frto::Frto;
use crate::recovery::tlp;
use crate::recovery::{RecoveryKind, fack, sack};
use crate::sender::arriving::Arriving;
use crate::sender::ca_state::CaState;
use crate::sender::cwnd::Progress;
use crate::sender::tcb::{Pending, Tcb};
use crate::timestamp::timestamp;

/// What came of an ACK.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Bytes newly acknowledged, newly delivered, and the latter in units of flight.
    acked: u32,
    delivered: u32,
    weight: u64,
    rtt: Option<Duration>,
    rate: Option<RateSample>,
    was_reducing: bool,
    safe: bool,
    cut: bool,
    cut_by_echo: bool,
}

impl ByBoard {
    /// An acceptable ACK of an established connection. Returns whether the window was cut.
    #[inline(never)]
    pub fn on_ack(&mut self, tcb: &mut Tcb, arriving: &Arriving, tcp: &Tcp) -> bool {
        let was_una = tcb.una;
        if let Some(outcome) = self.take_in_run(tcb, arriving, tcp) {
            return self.go_on(tcb, was_una, arriving, &outcome, tcp);
        }
        let outcome = self.take_in(tcb, arriving, tcp);
        self.go_on(tcb, was_una, arriving, &outcome, tcp)
    }

    /// What is left to do of an ACK: both windows. Returns whether cwnd was cut.
    #[inline(always)]
    fn go_on(
        &mut self,
        tcb: &mut Tcb,
        was_una: Seq,
        arriving: &Arriving,
        outcome: &Outcome,
        tcp: &Tcp,
    ) -> bool {
        if tcb.update_window(arriving.now, arriving.segment, tcb.una != was_una, tcp) {
            self.board.lose_all(false); // the octet of a probe, if it was refused
        }
        if tcb.wait_for_timer {
            tcb.wait(arriving.now, outcome.cut_by_echo, tcp);
        }
        self.open_window(tcb, arriving, outcome, tcp);
        outcome.cut
    }

    /// As [`take_in`](Self::take_in), of an ACK that tells nothing but that segments arrived which were sent once, while no
    /// window comes down and nothing is tested: most ACKs are such, and all else that could follow from one does not.
    #[inline(always)]
    fn take_in_run(&mut self, tcb: &mut Tcb, arriving: &Arriving, tcp: &Tcp) -> Option<Outcome> {
        let &Arriving { now, segment, options, feedback } = arriving;
        let ack = segment.ack;
        if self.state != CaState::Open
            || feedback.echo
            || !ack.after(tcb.una)
            || !options.sack().is_empty()
            || self.tlp.end.is_some()
            || self.tracking.undo.original_arrived(options.timestamps.map(|t| t.1))
        {
            return None;
        }
        let run = self.board.acknowledge(now, ack)?;
        let acked = ack - tcb.una;
        self.advance(tcb, ack);
        let rto = tcb.rto.timeout(tcp);
        let rtt = self.on_round_trip(tcb, now, (run.first_sent, run.last.at), tcp);
        let rate = self.on_delivered(now, run.delivered, Some((&run.last, run.departure)));
        self.keep_rate(rate);
        self.set_timer(tcb, now, None, true, tcp);
        self.restart_first(tcb, now, rto, tcp);
        Some(Outcome {
            acked,
            delivered: run.delivered,
            weight: run.weight,
            rtt: Some(rtt),
            rate,
            was_reducing: false,
            safe: true,
            cut: false,
            cut_by_echo: false,
        })
    }

    /// SND.UNA comes to `ack`.
    fn advance(&mut self, tcb: &mut Tcb, ack: Seq) {
        tcb.acked += u64::from(ack - tcb.una) - u64::from(tcb.fin_sent && ack == tcb.max);
        tcb.una = ack;
        tcb.expirations = 0;
        self.limited = 0;
    }

    /// So much was delivered, of which `newest` was sent last: a sample of the delivery rate, if its departure is kept.
    fn on_delivered(
        &mut self,
        now: Time,
        delivered: u32,
        newest: Option<(&Sent, Option<Departure>)>,
    ) -> Option<RateSample> {
        self.clock.delivered += u64::from(delivered);
        let mut rate = None;
        if let Some((newest, departure)) = newest {
            // What was delivered since it was sent.
            let since = (self.clock.delivered as u32).wrapping_sub(newest.delivered);
            let prior_delivered = self.clock.delivered - u64::from(since);
            self.board.rack.on_rate(prior_delivered, self.clock.delivered);
            rate = departure.map(|departure| {
                self.clock.first_sent = newest.at;
                RateSample {
                    delivered: u64::from(since),
                    interval: newest.at.since(departure.first_sent).max(now.since(departure.delivered_at)),
                    app_limited: newest.app_limited(),
                    prior_delivered,
                    lost: std::mem::take(&mut self.lost_bytes),
                }
            });
        }
        self.clock.delivered_at = now;
        rate
    }

    /// A round trip was measured: that of what was sent first of all that an ACK covers goes to the timer, that of what was sent
    /// last is returned.
    fn on_round_trip(
        &mut self,
        tcb: &mut Tcb,
        now: Time,
        (first, last): (Time, Time),
        tcp: &Tcp,
    ) -> Duration {
        tcb.rto.on_sample(tcp, first, now, (tcb.una, tcb.max));
        let rtt = now.since(last);
        self.tracking.min_rtt = self.tracking.min_rtt.min(rtt);
        self.tlp.on_sample();
        rtt
    }

    /// The timer begins again with the timeout as it was before the round trip of an ACK that advances, where it does.
    fn restart_first(&self, tcb: &mut Tcb, now: Time, rto: Duration, tcp: &Tcp) {
        if tcp.rto_order == RtoOrder::RestartFirst && tcb.timer != Time::NEVER && tcb.pending == Pending::Rto
        {
            tcb.timer = now + rto;
        }
    }

    /// What an ACK changes but for the growth of cwnd.
    #[inline(never)]
    fn take_in(&mut self, tcb: &mut Tcb, arriving: &Arriving, tcp: &Tcp) -> Outcome {
        let &Arriving { now, segment, options, feedback } = arriving;
        let ack = segment.ack;
        let was_una = tcb.una;
        let advanced = ack.after(was_una);
        let plain_duplicate = !advanced && segment.len == 0 && segment.window == tcb.rwnd;
        let echo = options.timestamps.filter(|t| t.1 != 0 && self.tracking.timestamps).map(|t| t.1);
        let doubt = Doubt { min_rtt: self.tracking.min_rtt, echo };
        let d = self.board.on_ack(now, tcb.una, ack, options.sack(), tcb.max, &doubt);
        let widened = d.dsack && self.on_dsack(tcb, &d, options.sack()[0], ack, tcp);
        if d.late > 0 {
            self.on_late(tcb, d.late, tcp);
        }
        if advanced {
            self.advance(tcb, ack);
        }
        let rto = tcb.rto.timeout(tcp);
        if advanced {
            tcb.end_back_off_by_ack(tcp);
        }
        let rtt = self.measure(tcb, &d, arriving, advanced, tcp);
        let mut rate = None;
        if d.delivered > 0 {
            rate = self.on_delivered(now, d.delivered, d.newest.as_ref().map(|newest| (newest, d.departure)));
        }
        self.keep_rate(rate);
        let was = self.state;
        let mut cut = false;
        if tcp.eifel && !feedback.echo && self.was_spurious(tcb, &d, advanced, options) {
            self.on_spurious(tcb, was_una, tcp);
            self.take_back(tcb, d.delivered, tcp);
        }
        let probe = self.tlp.on_ack(ack, d.dsack, plain_duplicate && !d.sacked);
        if self.state == CaState::Loss {
            self.test_timeout(tcb, &d, arriving, advanced, tcp);
        }
        let above = self.state == CaState::Cwr && tcp.ecn_reduction_ends == MarkReductionEnds::Above;
        let reached = tcb.una.after(self.recovery_point) || (!above && tcb.una == self.recovery_point);
        match self.state {
            CaState::Loss | CaState::Recovery | CaState::Cwr if reached => {
                // A cut for marks is done; only one in proportion ends here.
                let reduces = self.state == CaState::Recovery || reduces_in_proportion(tcb, tcp);
                if self.state != CaState::Loss && reduces && !tcb.congestion.rules_recovery() {
                    tcb.cwnd = tcb.ssthresh;
                }
                if self.state != CaState::Cwr && !widened {
                    self.board.rack.on_recovery_end();
                }
                self.state = CaState::Open;
                self.tracking.frto = Frto::Off;
            }
            _ => {}
        }
        let lost_before = self.lost_bytes;
        let next = self.find_losses(tcb, now, tcp);
        let cut_by_echo = feedback.echo
            && self.state == CaState::Open
            && tcb.congestion.answers_mark(now, ack.after(self.recovery_point));
        if cut_by_echo {
            tcb.on_echo(Some(&self.tracking), ack, d.delivered, feedback, tcp);
            if tcb.congestion.is_scalable() {
                self.cut(tcb, Congestion::Ecn, (was_una, 0), now, tcp);
            } else {
                self.reduce(tcb, CaState::Cwr, (Congestion::Ecn, was_una), now, tcp);
            }
            cut = true;
        }
        if probe == tlp::Verdict::Repaired && self.state == CaState::Open {
            // RFC 8985 §7.4.2: the loss that the probe repaired is answered like any other.
            self.cut(tcb, Congestion::FastRetransmit, (was_una, 0), now, tcp);
            self.recovery_point = tcb.una;
            cut = true;
        }
        cut |= self.enter_recovery(tcb, was_una, now, tcp);
        let restarts =
            advanced || (tcp.fast_retransmit_timer == FastRetransmitTimer::First && self.is_of_before(&d));
        self.set_timer(tcb, now, next, restarts, tcp);
        if advanced {
            self.restart_first(tcb, now, rto, tcp);
        }
        let safe = advanced && self.lost_bytes == lost_before;
        let was_reducing =
            was == CaState::Recovery || (was == CaState::Cwr && reduces_in_proportion(tcb, tcp));
        let acked = if advanced { ack - was_una } else { 0 };
        let (delivered, weight) = (d.delivered, d.weight);
        Outcome { acked, delivered, weight, rtt, rate, was_reducing, safe, cut, cut_by_echo }
    }

    /// The round trip that an ACK measures, of data sent once (Karn) or by timestamps (RFC 7323 §4).
    fn measure(
        &mut self,
        tcb: &mut Tcb,
        d: &Delivery,
        arriving: &Arriving,
        advanced: bool,
        tcp: &Tcp,
    ) -> Option<Duration> {
        let &Arriving { now, options, .. } = arriving;
        let by_timestamp = || {
            let (_, echo) =
                options.timestamps.filter(|t| t.1 != 0 && advanced && self.tracking.timestamps)?;
            let ms = timestamp(now).wrapping_sub(echo);
            (ms < 1 << 24).then(|| Time(now.0.saturating_sub(u64::from(ms.max(1)) * 1_000_000_000)))
        };
        let first = d.first_sent.or(d.sacked_sent).or_else(by_timestamp)?;
        Some(self.on_round_trip(tcb, now, (first, d.last_sent.unwrap_or(first)), tcp))
    }

    /// Finds what is lost. Returns when RACK would find more, if nothing arrives.
    pub(super) fn find_losses(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Time> {
        if tcp.rack {
            if !self.board.is_overtaken() {
                return None;
            }
            let window = self.reordering_window(tcb, tcp);
            let (lost, next) = self.board.lose_by_time(now, window);
            self.lost_bytes += u64::from(lost);
            return next;
        }
        if self.board.sacked_segments() == 0 {
            return None;
        }
        let dup_thresh = self.tracking.reordering.segments();
        let board = &mut self.board;
        let limit = match tcp.recovery {
            RecoveryKind::Fack => fack::lost_before(board, dup_thresh, tcb.smss),
            _ => sack::lost_before(board, dup_thresh, tcb.smss),
        };
        if let Some(limit) = limit {
            self.lost_bytes += u64::from(board.lose_before(limit));
        }
        None
    }

    /// RACK.reo_wnd (RFC 8985 §6.2, step 4).
    pub(super) fn reordering_window(&self, tcb: &Tcb, tcp: &Tcp) -> Duration {
        self.board.rack.reordering_window(
            matches!(self.state, CaState::Recovery | CaState::Loss),
            self.board.sacked_segments(),
            self.tracking.reordering.segments(),
            self.tracking.min_rtt,
            tcb.rto.srtt(tcp),
        )
    }

    /// Losses were found: recovery begins. `una`: SND.UNA before the ACK at hand. Returns whether the window was cut.
    pub(super) fn enter_recovery(&mut self, tcb: &mut Tcb, una: Seq, now: Time, tcp: &Tcp) -> bool {
        if !self.board.any_lost() || matches!(self.state, CaState::Recovery | CaState::Loss) {
            return false;
        }
        tcb.stats.fast_retransmits += 1;
        let cut_before = self.state == CaState::Cwr;
        self.arm_undo(tcb);
        tcb.retransmit = true;
        if cut_before {
            self.state = CaState::Recovery; // the window was cut for this congestion
            self.recovery_point = tcb.max;
            return false;
        }
        self.reduce(tcb, CaState::Recovery, (Congestion::FastRetransmit, una), now, tcp);
        true
    }

    /// The last part of the ACK: cwnd grows, or comes down further.
    #[inline(always)]
    fn open_window(&mut self, tcb: &mut Tcb, arriving: &Arriving, outcome: &Outcome, tcp: &Tcp) {
        let &Outcome { acked, delivered, weight, rtt, rate, was_reducing, safe, .. } = outcome;
        let advanced = acked > 0;
        if delivered == 0 && !advanced {
            return;
        }
        let state = self.state;
        // A window that came down for a mark at once may grow again, but not by an ACK with ECE (RFC 3168 §6.1.2).
        let reducing =
            state == CaState::Recovery || (state == CaState::Cwr && reduces_in_proportion(tcb, tcp));
        let reduced = reducing || (was_reducing && tcp.recovery_exit != RecoveryExit::DeflateAndOpen);
        let may_open = arriving.feedback.may_open(tcp) || tcb.congestion.is_scalable();
        let opens = (advanced || self.grows_by_sacks(tcp)) && !reduced && may_open;
        if let Controller::Reno(reno) = &mut tcb.congestion
            && !reno.measures()
            && tcp.cwnd_validation == CwndValidation::None
        {
            // All else that an ACK tells is no matter.
            if opens {
                let counted = if tcp.cwnd_counts == CwndCounts::Delivered { delivered } else { acked };
                let smss = f64::from(tcb.smss);
                tcb.cwnd = reno.opened(tcb.cwnd, tcb.ssthresh, smss, counted).max(smss);
            }
            if reducing && delivered > 0 {
                self.reduce_further(tcb, weight as f64, safe, tcp);
            }
            return;
        }
        let progress = Progress {
            acked,
            delivered,
            total_delivered: self.clock.delivered,
            rtt,
            rate,
            opens,
            in_recovery: matches!(state, CaState::Recovery | CaState::Loss),
        };
        let (by, window) = ((arriving.now, arriving.feedback), self.window(tcb));
        tcb.tell_controller(by, &progress, &window, Some(&mut self.tracking), tcp);
        if reducing && delivered > 0 {
            self.reduce_further(tcb, weight as f64, safe, tcp);
        }
    }

    /// Keeps a sample of the delivery rate for who asks; one that the application limited only if it is no lower.
    #[inline]
    fn keep_rate(&mut self, sample: Option<RateSample>) {
        let Some(sample) = sample.filter(|s| s.interval >= self.tracking.min_rtt) else { return };
        let rate = |s: &RateSample| s.delivered as f64 / s.interval.0 as f64;
        if !sample.app_limited || self.rate.is_none_or(|kept| rate(&sample) >= rate(&kept)) {
            self.rate = Some(sample);
        }
    }

    /// Whether something was SACKed that was sent before the first segment was last sent, so that this is worth more waiting.
    fn is_of_before(&self, d: &Delivery) -> bool {
        let first = self.board.first();
        first.is_some_and(|first| d.sacked_sent.is_some_and(|sent| sent < first.at))
    }
}
