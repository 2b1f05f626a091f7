//! The order in which the sender with SACK processes an ACK (RFC 6675 §5; Linux, tcp_ack).

use net::Seq;
use units::{Duration, Time};

use super::SackSender;
use super::losses::keeps_reduction;
use super::reduction::reduces_in_proportion;
use crate::config::{CwndCounts, CwndValidation, FastRetransmitTimer, RecoveryExit, RtoOrder, Tcp};
use crate::congestion::{CongestionControl, RateSample};
use crate::recovery::scoreboard::{Delivery, Departure, RttAmbiguity, Sent};
use crate::sender::SLOW_PATHS;
use crate::sender::arriving::ArrivingAck;
use crate::sender::ca_state::CaState;
use crate::sender::cwnd::Progress;
use crate::sender::tcb::{Tcb, TimerPurpose};
use crate::timestamp::timestamp;

/// Result of processing an ACK, from which cwnd follows.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Bytes newly_acked acknowledged, newly_acked delivered, and the latter in units of flight.
    acked: u32,
    delivered: u32,
    weight: u64,
    rtt: Option<Duration>,
    rate: Option<RateSample>,
    was_reducing: bool,
    safe: bool,
    cut: bool,
    reduced_by_echo: bool,
}

impl SackSender {
    /// Process an acceptable ACK of an established connection. Return whether cwnd was reduced.
    #[inline(never)]
    pub fn on_ack(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> bool {
        let was_una = tcb.una;
        if let Some(outcome) = self.process_in_order(tcb, arriving, tcp) {
            return self.finish_ack(tcb, was_una, arriving, &outcome, tcp);
        }
        let outcome = self.process_ack(tcb, arriving, tcp);
        self.finish_ack(tcb, was_una, arriving, &outcome, tcp)
    }

    /// Finish an ACK: update SND.WND, then cwnd. Return whether cwnd was reduced.
    #[inline(always)]
    fn finish_ack(
        &mut self,
        tcb: &mut Tcb,
        was_una: Seq,
        arriving: &ArrivingAck,
        outcome: &Outcome,
        tcp: &Tcp,
    ) -> bool {
        if tcb.update_window(arriving.now, arriving.segment, tcb.una != was_una, tcp) {
            self.board.lose_all(false); // the octet of a probe, if it was refused
        }
        if tcb.wait_for_timer {
            tcb.wait_one_timeout(arriving.now, outcome.reduced_by_echo, tcp);
        }
        self.open_window(tcb, arriving, outcome, tcp);
        outcome.cut
    }

    /// Fast path of [`process_ack`](Self::process_ack) for a cumulative ACK of segments sent once, outside
    /// recovery. Return `None` for every other ACK.
    #[inline(always)]
    fn process_in_order(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> Option<Outcome> {
        let &ArrivingAck { now, segment, options, feedback } = arriving;
        let ack = segment.ack;
        if SLOW_PATHS
            || self.state != CaState::Open
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
        self.store_rate(rate);
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
            reduced_by_echo: false,
        })
    }

    /// SND.UNA comes to `ack`.
    fn advance(&mut self, tcb: &mut Tcb, ack: Seq) {
        tcb.acked += u64::from(ack - tcb.una) - u64::from(tcb.fin_sent && ack == tcb.max);
        tcb.una = ack;
        tcb.expirations = 0;
        self.limited_transmit = 0;
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

    /// A round trip was measurements: that of what was sent first of all that an ACK covers goes to the timer, that of what was sent
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
        if tcp.rto.order == RtoOrder::RestartFirst
            && tcb.timer != Time::NEVER
            && tcb.timer_purpose == TimerPurpose::Rto
        {
            tcb.timer = now + rto;
        }
    }

    /// Process an ACK, all but the growth of cwnd: update the scoreboard and the RTT, undo what was
    /// spurious, leave a recovery that is complete, detect losses, and reduce cwnd.
    #[inline(never)]
    fn process_ack(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> Outcome {
        let &ArrivingAck { now, segment, feedback, .. } = arriving;
        let (was_una, was_state) = (tcb.una, self.state);
        let advanced = segment.ack.after(was_una);
        let plain_duplicate = !advanced && segment.len == 0 && segment.window == tcb.rwnd;
        let (d, widened) = self.update_scoreboard(tcb, arriving, tcp);
        let rto = tcb.rto.timeout(tcp);
        if advanced {
            tcb.end_back_off_by_ack(tcp);
        }
        let rtt = self.measure(tcb, &d, arriving, advanced, tcp);
        let rate = self.sample_rate(now, &d);
        self.undo_spurious(tcb, &d, arriving, was_una, tcp);
        let probe = self.tlp.on_ack(segment.ack, d.dsack, plain_duplicate && !d.sacked);
        if self.state == CaState::Loss {
            self.test_timeout(tcb, &d, arriving, advanced, tcp);
        }
        self.leave_recovery(tcb, widened, tcp);
        let lost_before = self.lost_bytes;
        let next = self.find_losses(tcb, now, tcp);
        let reduced_by_echo = self.respond_to_mark(tcb, &d, arriving, was_una, tcp);
        let cut = reduced_by_echo
            | self.respond_to_repair(tcb, probe, was_una, now, tcp)
            | self.enter_recovery(tcb, was_una, now, tcp);
        if keeps_reduction(feedback.echo, tcp) {
            self.tracking.undo.keep_reduction();
        }
        self.rearm_timer(tcb, &d, (now, next), advanced.then_some(rto), tcp);
        Outcome {
            acked: if advanced { segment.ack - was_una } else { 0 },
            delivered: d.delivered,
            weight: d.weight,
            rtt,
            rate,
            was_reducing: was_state == CaState::Recovery
                || (was_state == CaState::Cwr && reduces_in_proportion(tcb, tcp)),
            safe: advanced && self.lost_bytes == lost_before,
            cut,
            reduced_by_echo,
        }
    }

    /// Update the scoreboard and SND.UNA (RFC 6675 §4, Update). Return what the ACK delivers, and whether
    /// a D-SACK widened the reordering window.
    #[inline(always)]
    fn update_scoreboard(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> (Delivery, bool) {
        let &ArrivingAck { now, segment, options, .. } = arriving;
        let echo = options.timestamps.filter(|t| t.1 != 0 && self.tracking.timestamps).map(|t| t.1);
        let ambiguity = RttAmbiguity { min_rtt: self.tracking.min_rtt, echo };
        let d = self.board.on_ack(now, tcb.una, segment.ack, options.sack(), tcb.max, &ambiguity);
        let widened = d.dsack && self.on_dsack(tcb, &d, options.sack()[0], segment.ack, tcp);
        if d.late > 0 {
            self.on_late(tcb, d.late, tcp);
        }
        if segment.ack.after(tcb.una) {
            self.advance(tcb, segment.ack);
        }
        (d, widened)
    }

    /// Sample the delivery rate of what an ACK delivers (draft-cheng-iccrg-delivery-rate-estimation).
    #[inline(always)]
    fn sample_rate(&mut self, now: Time, d: &Delivery) -> Option<RateSample> {
        let newest = d.newest.as_ref().map(|newest| (newest, d.departure));
        let rate = if d.delivered > 0 { self.on_delivered(now, d.delivered, newest) } else { None };
        self.store_rate(rate);
        rate
    }

    /// Set the timer after an ACK. `due`: now, and the time at which RACK would detect more losses; `rto`:
    /// the RTO before the ACK was measurements, if the ACK advanced SND.UNA.
    #[inline(always)]
    fn rearm_timer(
        &mut self,
        tcb: &mut Tcb,
        d: &Delivery,
        due: (Time, Option<Time>),
        rto: Option<Duration>,
        tcp: &Tcp,
    ) {
        let (now, next) = due;
        let first_only = tcp.rto.fast_retransmit == FastRetransmitTimer::First;
        let restarts = rto.is_some() || (first_only && self.sacks_older_segment(d));
        self.set_timer(tcb, now, next, restarts, tcp);
        if let Some(rto) = rto {
            self.restart_first(tcb, now, rto, tcp);
        }
    }

    /// The round trip that an ACK measures, of data sent once (Karn) or by timestamps (RFC 7323 §4).
    fn measure(
        &mut self,
        tcb: &mut Tcb,
        d: &Delivery,
        arriving: &ArrivingAck,
        advanced: bool,
        tcp: &Tcp,
    ) -> Option<Duration> {
        let &ArrivingAck { now, options, .. } = arriving;
        let by_timestamp = || {
            let (_, echo) =
                options.timestamps.filter(|t| t.1 != 0 && advanced && self.tracking.timestamps)?;
            let ms = timestamp(now).wrapping_sub(echo);
            (ms < 1 << 24).then(|| Time(now.0.saturating_sub(u64::from(ms.max(1)) * 1_000_000_000)))
        };
        let first = d.first_sent.or(d.sacked_sent).or_else(by_timestamp)?;
        Some(self.on_round_trip(tcb, now, (first, d.last_sent.unwrap_or(first)), tcp))
    }

    /// Grow cwnd, or continue its reduction.
    #[inline(always)]
    fn open_window(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, outcome: &Outcome, tcp: &Tcp) {
        let &Outcome { acked, delivered, weight, rtt, rate, was_reducing, safe, .. } = outcome;
        let advanced = acked > 0;
        if delivered == 0 && !advanced {
            return;
        }
        let state = self.state;
        // A window that came down for a mark at once may grow again, but not by an ACK with ECE (RFC 3168 §6.1.2).
        let reducing =
            state == CaState::Recovery || (state == CaState::Cwr && reduces_in_proportion(tcb, tcp));
        let reduced = reducing || (was_reducing && tcp.recovery.exit != RecoveryExit::DeflateAndOpen);
        let may_open = arriving.feedback.may_open(tcp) || tcb.congestion.is_scalable();
        let opens = (advanced || self.grows_by_sacks(tcp)) && !reduced && may_open;
        if let Some(growth) = tcb.congestion.byte_growth()
            && !growth.needs_measurements()
            && tcp.cwnd.validation == CwndValidation::None
        {
            if opens {
                let counted =
                    if tcp.details.cwnd_counts == CwndCounts::Delivered { delivered } else { acked };
                let smss = f64::from(tcb.smss);
                tcb.cwnd = growth.cwnd_on_counted_bytes(tcb.cwnd, tcb.ssthresh, smss, counted).max(smss);
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
        tcb.update_cwnd(by, &progress, &window, Some(&mut self.tracking), tcp);
        if reducing && delivered > 0 {
            self.reduce_further(tcb, weight as f64, safe, tcp);
        }
    }

    /// Keeps a sample of the delivery rate for who asks; one that the application limited only if it is no lower.
    #[inline]
    fn store_rate(&mut self, sample: Option<RateSample>) {
        let Some(sample) = sample.filter(|s| s.interval >= self.tracking.min_rtt) else { return };
        let rate = |s: &RateSample| s.delivered as f64 / s.interval.0 as f64;
        if !sample.app_limited || self.rate.is_none_or(|kept| rate(&sample) >= rate(&kept)) {
            self.rate = Some(sample);
        }
    }

    /// Whether something was SACKed that was sent before the first segment was last sent, so that this is worth more waiting.
    fn sacks_older_segment(&self, d: &Delivery) -> bool {
        let first = self.board.first();
        first.is_some_and(|first| d.sacked_sent.is_some_and(|sent| sent < first.at))
    }
}
