//! The order in which a sender with SACK processes an ACK (RFC 6675 §5; Linux, tcp_ack).

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

/// Result of processing an ACK, from which the sender computes cwnd.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Bytes newly acknowledged by the acknowledgement number.
    acked: u32,
    /// Bytes newly delivered.
    delivered: u32,
    /// Newly delivered data in the unit of pipe, which is bytes or segments.
    weight: u64,
    /// Round-trip time of the newly delivered segment that was sent last.
    rtt: Option<Duration>,
    /// Delivery rate, if the sender sampled the delivery rate.
    rate: Option<RateSample>,
    /// True if a reduction of cwnd was in progress before the ACK.
    was_reducing: bool,
    /// True if the ACK advanced SND.UNA and revealed no further loss (PRR's SafeACK).
    safe: bool,
    /// True if cwnd was reduced.
    reduced: bool,
    /// True if cwnd was reduced for ECN-Echo.
    reduced_by_echo: bool,
}

impl SackSender {
    /// Process an acceptable ACK of an established connection. Return true if cwnd was reduced.
    #[inline(never)]
    pub fn on_ack(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> bool {
        let was_una = tcb.una;
        if let Some(outcome) = self.process_in_order(tcb, arriving, tcp) {
            return self.finish_ack(tcb, was_una, arriving, &outcome, tcp);
        }
        let outcome = self.process_ack(tcb, arriving, tcp);
        self.finish_ack(tcb, was_una, arriving, &outcome, tcp)
    }

    /// Finish an ACK: update SND.WND, then cwnd. Return true if cwnd was reduced.
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
            // the byte of a window probe is lost if the receiver did not accept this byte
            self.board.lose_all(false);
        }
        if tcb.wait_for_timer {
            tcb.wait_one_timeout(arriving.now, outcome.reduced_by_echo, tcp);
        }
        self.open_window(tcb, arriving, outcome, tcp);
        outcome.reduced
    }

    /// Process a cumulative ACK of segments sent once, outside recovery: the fast path of
    /// [`process_ack`](Self::process_ack). Return `None` if the ACK needs all steps of
    /// `process_ack`.
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
            reduced: false,
            reduced_by_echo: false,
        })
    }

    /// Advance SND.UNA to `ack`.
    fn advance(&mut self, tcb: &mut Tcb, ack: Seq) {
        tcb.acked += u64::from(ack - tcb.una) - u64::from(tcb.fin_sent && ack == tcb.max);
        tcb.una = ack;
        tcb.expirations = 0;
        self.limited_transmit = 0;
    }

    /// Count `delivered` newly delivered bytes. `newest` is the segment that was sent last among
    /// the newly delivered segments. Return a delivery rate sample, if the sender stored its state
    /// when it sent the newest segment.
    fn on_delivered(
        &mut self,
        now: Time,
        delivered: u32,
        newest: Option<(&Sent, Option<Departure>)>,
    ) -> Option<RateSample> {
        self.clock.delivered += u64::from(delivered);
        let mut rate = None;
        if let Some((newest, departure)) = newest {
            // Bytes delivered since the segment was sent.
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

    /// Process a round-trip time. `first` and `last` are the transmission times of the first and
    /// the last segment that the ACK delivers. The RTO estimator uses the round-trip time since
    /// `first`. Return the round-trip time since `last`.
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

    /// If the parameter `rto.order` is `restart-first`, restart the retransmission timer with the
    /// RTO `rto`. The round-trip time of the ACK updates the RTO after the restart.
    fn restart_first(&self, tcb: &mut Tcb, now: Time, rto: Duration, tcp: &Tcp) {
        if tcp.rto.order == RtoOrder::RestartFirst
            && tcb.timer != Time::NEVER
            && tcb.timer_purpose == TimerPurpose::Rto
        {
            tcb.timer = now + rto;
        }
    }

    /// Process an ACK, except for its effect on the growth of cwnd. Update the scoreboard and the
    /// RTT, undo a spurious reduction, leave a completed recovery, detect losses, and reduce cwnd.
    #[inline(never)]
    fn process_ack(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> Outcome {
        let &ArrivingAck { now, segment, feedback, .. } = arriving;
        let (was_una, was_state) = (tcb.una, self.state);
        let advanced = segment.ack.after(was_una);
        let plain_duplicate = !advanced && segment.len == 0 && segment.window == tcb.rwnd;
        let (delivery, widened) = self.update_scoreboard(tcb, arriving, tcp);
        let rto = tcb.rto.timeout(tcp);
        if advanced {
            tcb.end_back_off_by_ack(tcp);
        }
        let rtt = self.measure_rtt(tcb, &delivery, arriving, advanced, tcp);
        let rate = self.sample_rate(now, &delivery);
        self.undo_spurious(tcb, &delivery, arriving, was_una, tcp);
        let probe = self.tlp.on_ack(segment.ack, delivery.dsack, plain_duplicate && !delivery.sacked);
        if self.state == CaState::Loss {
            self.test_timeout(tcb, &delivery, arriving, advanced, tcp);
        }
        self.leave_recovery(tcb, widened, tcp);
        let lost_before = self.lost_bytes;
        let next = self.find_losses(tcb, now, tcp);
        let reduced_by_echo = self.respond_to_mark(tcb, &delivery, arriving, was_una, tcp);
        let reduced = reduced_by_echo
            | self.respond_to_repair(tcb, probe, was_una, now, tcp)
            | self.enter_recovery(tcb, was_una, now, tcp);
        if keeps_reduction(feedback.echo, tcp) {
            self.tracking.undo.keep_reduction();
        }
        self.rearm_timer(tcb, &delivery, (now, next), advanced.then_some(rto), tcp);
        Outcome {
            acked: if advanced { segment.ack - was_una } else { 0 },
            delivered: delivery.delivered,
            weight: delivery.weight,
            rtt,
            rate,
            was_reducing: was_state == CaState::Recovery
                || (was_state == CaState::Cwr && reduces_in_proportion(tcb, tcp)),
            safe: advanced && self.lost_bytes == lost_before,
            reduced,
            reduced_by_echo,
        }
    }

    /// Update the scoreboard and SND.UNA by an ACK (RFC 6675 §4, Update). Return the data that the
    /// ACK delivers, and true if a D-SACK widened the reordering window.
    #[inline(always)]
    fn update_scoreboard(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> (Delivery, bool) {
        let &ArrivingAck { now, segment, options, .. } = arriving;
        let echo = options.timestamps.filter(|t| t.1 != 0 && self.tracking.timestamps).map(|t| t.1);
        let ambiguity = RttAmbiguity { min_rtt: self.tracking.min_rtt, echo };
        let delivery = self.board.on_ack(now, tcb.una, segment.ack, options.sack(), tcb.max, &ambiguity);
        let widened = delivery.dsack && self.on_dsack(tcb, &delivery, options.sack()[0], segment.ack, tcp);
        if delivery.late > 0 {
            self.on_late(tcb, delivery.late, tcp);
        }
        if segment.ack.after(tcb.una) {
            self.advance(tcb, segment.ack);
        }
        (delivery, widened)
    }

    /// Sample the delivery rate of the data that an ACK delivers
    /// (draft-cheng-iccrg-delivery-rate-estimation).
    #[inline(always)]
    fn sample_rate(&mut self, now: Time, delivery: &Delivery) -> Option<RateSample> {
        let newest = delivery.newest.as_ref().map(|newest| (newest, delivery.departure));
        let rate =
            if delivery.delivered > 0 { self.on_delivered(now, delivery.delivered, newest) } else { None };
        self.store_rate(rate);
        rate
    }

    /// Set the timer after an ACK. `due` contains the current time, and the time at which RACK
    /// would detect more losses. If the ACK advanced SND.UNA, `rto` is the RTO before the
    /// round-trip time of the ACK updated it.
    #[inline(always)]
    fn rearm_timer(
        &mut self,
        tcb: &mut Tcb,
        delivery: &Delivery,
        due: (Time, Option<Time>),
        rto: Option<Duration>,
        tcp: &Tcp,
    ) {
        let (now, next) = due;
        let first_only = tcp.rto.fast_retransmit == FastRetransmitTimer::First;
        let restarts = rto.is_some() || (first_only && self.sacks_older_segment(delivery));
        self.set_timer(tcb, now, next, restarts, tcp);
        if let Some(rto) = rto {
            self.restart_first(tcb, now, rto, tcp);
        }
    }

    /// Measure a round-trip time from an ACK of data that was sent only once (Karn's algorithm), or
    /// from the timestamp of the ACK (RFC 7323 §4).
    fn measure_rtt(
        &mut self,
        tcb: &mut Tcb,
        delivery: &Delivery,
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
        let first = delivery.first_sent.or(delivery.sacked_sent).or_else(by_timestamp)?;
        Some(self.on_round_trip(tcb, now, (first, delivery.last_sent.unwrap_or(first)), tcp))
    }

    /// Increase cwnd, or continue the proportional reduction of cwnd.
    #[inline(always)]
    fn open_window(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, outcome: &Outcome, tcp: &Tcp) {
        let &Outcome { acked, delivered, weight, rtt, rate, was_reducing, safe, .. } = outcome;
        let advanced = acked > 0;
        if delivered == 0 && !advanced {
            return;
        }
        let state = self.state;
        // After an immediate reduction for a mark, ACKs without ECE may increase cwnd, and ACKs
        // with ECE may not (RFC 3168 §6.1.2).
        let reducing =
            state == CaState::Recovery || (state == CaState::Cwr && reduces_in_proportion(tcb, tcp));
        let limited = reducing || (was_reducing && tcp.recovery.exit != RecoveryExit::DeflateAndOpen);
        let may_open = arriving.feedback.may_open(tcp) || tcb.congestion.is_scalable();
        let opens = (advanced || self.grows_by_sacks(tcp)) && !limited && may_open;
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

    /// Store a delivery rate sample for TCP_INFO. An application-limited sample is stored only if
    /// its rate is at least the stored rate.
    #[inline]
    fn store_rate(&mut self, sample: Option<RateSample>) {
        let Some(sample) = sample.filter(|s| s.interval >= self.tracking.min_rtt) else { return };
        let rate = |s: &RateSample| s.delivered as f64 / s.interval.0 as f64;
        if !sample.app_limited || self.rate.is_none_or(|stored| rate(&sample) >= rate(&stored)) {
            self.rate = Some(sample);
        }
    }

    /// Return true if the ACK SACKs a segment that was sent before the last transmission of the
    /// first unacknowledged segment. If the result is true, Linux restarts the retransmission
    /// timer.
    fn sacks_older_segment(&self, delivery: &Delivery) -> bool {
        let first = self.board.first();
        first.is_some_and(|first| delivery.sacked_sent.is_some_and(|sent| sent < first.at))
    }
}
