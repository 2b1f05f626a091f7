//! Processing of new and duplicate ACKs by a sender without SACK.

use net::Options;
use units::{Duration, Time};

use super::CumulativeSender;
use crate::config::{
    CwndCounts, CwndValidation, FastRetransmit, FastRetransmitTimer, RecoveryExit, RtoOrder, SlowStartFrom,
    Tcp,
};
use crate::congestion::growth::Growth;
use crate::congestion::{Congestion, CongestionControl};
use crate::recovery::frto::Frto;
use crate::recovery::newreno::{self, OnNewAck};
use crate::recovery::reno::OnDuplicate;
use crate::recovery::reordering::{ReorderingRules, WithoutSack};
use crate::recovery::{RecoveryKind, tahoe};
use crate::sender::arriving::{ArrivingAck, Feedback};
use crate::sender::changes::{RECOVERED, TAHOE};
use crate::sender::cwnd::Progress;
use crate::sender::tcb::Tcb;
use crate::timestamp::timestamp;

/// Return true if the growth of cwnd depends only on the number of newly acknowledged bytes.
#[inline]
fn counts_bytes(growth: &Growth, tcp: &Tcp) -> bool {
    !growth.needs_measurements()
        && tcp.cwnd.validation == CwndValidation::None
        && tcp.details.cwnd_counts == CwndCounts::Acknowledged
}

impl CumulativeSender {
    /// Process an acceptable ACK of an established connection. Return true if cwnd was reduced.
    #[inline]
    pub fn on_ack(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) -> bool {
        let &ArrivingAck { now, segment, feedback, .. } = arriving;
        let ack = segment.ack;
        let same_window = segment.window == tcb.rwnd;
        // RFC 3168 §6.1.2: the sender responds to congestion at most once per window of data.
        let reduced_by_echo = feedback.echo && tcb.congestion.responds_to_mark(now, ack.after(self.recover));
        if reduced_by_echo {
            tcb.on_ecn_echo(self.tracking(), ack, ack.max(tcb.una) - tcb.una, feedback, tcp);
            self.reduce_cwnd(tcb, Congestion::Ecn, 0, now, tcp);
        }
        let was_una = tcb.una;
        let mut reduced_by_loss = false;
        if ack.after(tcb.una) {
            self.on_new_ack(tcb, arriving, tcp);
        } else if ack == was_una
            && segment.seq_len() == 0
            && same_window
            && tcb.max.after(tcb.una)
            && tcb.rwnd > 0
            && !tcb.is_persisting()
        {
            reduced_by_loss = self.on_duplicate_ack(tcb, now, tcp);
        }
        tcb.update_window(now, segment, tcb.una != was_una, tcp);
        if tcb.wait_for_timer {
            tcb.wait_one_timeout(now, reduced_by_echo, tcp);
        }
        reduced_by_echo || reduced_by_loss
    }

    /// Measure a round-trip time from a timestamp, if no segment is being timed (RFC 7323 §4; RFC
    /// 6298 §3).
    fn sample_by_timestamp(
        &self,
        tcb: &mut Tcb,
        now: Time,
        options: &Options,
        tcp: &Tcp,
    ) -> Option<Duration> {
        let tracking = self.tracking()?;
        let (_, reply) =
            options.timestamps.filter(|t| t.1 != 0 && tracking.timestamps && self.timed_at == Time::NEVER)?;
        let ms = timestamp(now).wrapping_sub(reply);
        if ms >= 1 << 24 {
            return None; // the echoed timestamp is not one that this sender sent
        }
        let rtt = Duration::from_millis(u64::from(ms.max(1)));
        tcb.rto.on_sample(tcp, Time(now.0.saturating_sub(rtt.0)), now, (tcb.una, tcb.max));
        Some(rtt)
    }

    /// Process an ACK that advances SND.UNA.
    #[inline]
    fn on_new_ack(&mut self, tcb: &mut Tcb, arriving: &ArrivingAck, tcp: &Tcp) {
        let &ArrivingAck { now, segment, options, feedback } = arriving;
        let ack = segment.ack;
        let acked = ack - tcb.una;
        tcb.una = ack;
        tcb.retransmit = false; // the ACK may cover a retransmission that pacing still delays
        tcb.acked += u64::from(acked) - u64::from(tcb.fin_sent && ack == tcb.max);
        if self.nxt.before(ack) {
            self.nxt = ack;
        }
        let before = (tcp.rto.order == RtoOrder::RestartFirst).then(|| tcb.rto.timeout(tcp));
        if tcb.expirations > 0 {
            tcb.expirations = 0;
            tcb.end_back_off_by_ack(tcp);
        }
        let mut rtt = self.sample_rtt(tcb, now, tcp);
        if rtt.is_none() && self.measurements.is_some() {
            rtt = self.sample_by_timestamp(tcb, now, options, tcp);
        }
        let timer = tcb.timer;
        let rto = before.unwrap_or_else(|| tcb.rto.timeout(tcp));
        tcb.restart_timer_if_in_flight(now, rto);
        if self.tests_retransmission(tcp)
            && self.test_timeout(tcb, ack, Some(acked), feedback.echo, options, tcp)
        {
            return;
        }
        let delivered = self.newly_delivered(tcb, acked, tcp);
        let mut recovered = false;
        if self.duplicates.in_recovery() {
            let newreno = !matches!(tcp.recovery.method, RecoveryKind::Reno | RecoveryKind::Tahoe);
            match if newreno { newreno::on_new_ack(ack, self.recover) } else { OnNewAck::Ends } {
                OnNewAck::Partial => {
                    self.inflation = newreno::inflation(self.inflation, acked, tcb.smss);
                    tcb.retransmit = true;
                    if let Some(measurements) = &mut self.measurements {
                        measurements.delivered += u64::from(delivered);
                    }
                    let each = matches!(
                        tcp.rto.fast_retransmit,
                        FastRetransmitTimer::Each | FastRetransmitTimer::First
                    );
                    if !self.duplicates.on_partial() && !each {
                        // RFC 6582 §3.2, step 3: only the first partial ACK restarts the timer
                        tcb.timer = timer;
                    }
                    return;
                }
                OnNewAck::Ends => {
                    recovered = self.duplicates.end();
                    self.inflation = 0;
                    let before = tcb.windows();
                    tcb.cwnd = if tcb.congestion.governs_recovery() {
                        tcb.cwnd
                    } else if newreno {
                        newreno::cwnd_at_end(tcb.ssthresh, f64::from(tcb.max - tcb.una), f64::from(tcb.smss))
                    } else {
                        tcb.ssthresh // RFC 5681 §3.2, step 6: the window is deflated
                    };
                    tcb.record(&RECOVERED, before, None);
                }
            }
        } else {
            self.duplicates.end();
            self.inflation = 0;
        }
        let opens = !recovered || tcp.recovery.exit == RecoveryExit::DeflateAndOpen;
        let first = tcb.acked == u64::from(acked);
        let too_early = first && tcp.cwnd.slow_start_from == SlowStartFrom::SecondAck;
        let opens = opens && (feedback.may_open(tcp) || tcb.congestion.is_scalable()) && !too_early;
        match tcb.congestion.byte_growth() {
            Some(growth) if self.measurements.is_none() || counts_bytes(growth, tcp) => {
                if let Some(measurements) = &mut self.measurements {
                    measurements.record_delivered(delivered, rtt);
                }
                if opens {
                    let smss = f64::from(tcb.smss);
                    tcb.cwnd = growth.cwnd_on_counted_bytes(tcb.cwnd, tcb.ssthresh, smss, acked).max(smss);
                }
            }
            _ => {
                let (total_delivered, in_recovery) = (tcb.acked, false);
                let rate = None;
                self.update_cwnd(
                    tcb,
                    (now, feedback),
                    Progress { acked, delivered, total_delivered, rtt, rate, opens, in_recovery },
                    tcp,
                );
            }
        }
    }

    /// Process a duplicate ACK. Return true if cwnd was reduced.
    #[inline(never)]
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> bool {
        if self.tests_retransmission(tcp) && self.test_timeout(tcb, tcb.una, None, false, &Options::NONE, tcp)
        {
            return false;
        }
        let new_window = tcb.una.after(self.recover);
        let reduced_by_ecn = self.last_reduction == Some(Congestion::Ecn) && tcb.una.before(self.recover);
        let allowed = new_window
            || self.last_reduction == Some(Congestion::Ecn)
            || tcp.recovery.fast_retransmit == FastRetransmit::Unguarded;
        let threshold = self.reordering_degree(tcp);
        let answer = self.duplicates.on_duplicate(threshold, allowed, tcp.recovery.limited_transmit);
        self.count_duplicate(tcb, tcp);
        match answer {
            OnDuplicate::Wait => false,
            OnDuplicate::Transmit | OnDuplicate::Inflate => {
                self.inflation += tcb.smss;
                false
            }
            OnDuplicate::Retransmit => {
                tcb.stats.fast_retransmits += 1;
                self.arm_undo(tcb, tcp);
                if reduced_by_ecn {
                    // the sender has already reduced cwnd for the congestion of this window of data
                    self.last_reduction = Some(Congestion::FastRetransmit);
                } else {
                    self.reduce_cwnd(tcb, Congestion::FastRetransmit, self.inflation, now, tcp);
                }
                // Karn's algorithm: the segment whose round trip is being measured may be the lost
                // segment
                self.timed_at = Time::NEVER;
                if tcp.rto.fast_retransmit != FastRetransmitTimer::RunsOn {
                    tcb.restart_timer(now, tcp);
                }
                if tcp.recovery.method == RecoveryKind::Tahoe {
                    self.duplicates.suppress_recovery();
                    self.inflation = 0;
                    let before = tcb.windows();
                    tcb.cwnd = tahoe::cwnd(f64::from(tcb.smss));
                    tcb.record(&TAHOE, before, None);
                    self.nxt = tahoe::send_next(tcb.una);
                } else {
                    self.inflation = tcp.recovery.duplicate_acks.0 as u32 * tcb.smss; // RFC 5681 §3.2, step 3: the window is inflated
                    tcb.retransmit = true;
                }
                !reduced_by_ecn
            }
        }
    }

    /// Return true if an ACK may reveal a spurious retransmission.
    #[inline]
    fn tests_retransmission(&self, tcp: &Tcp) -> bool {
        self.measurements.as_ref().is_some_and(|m| tcp.recovery.eifel || m.tracking.frto != Frto::Off)
    }

    /// Record the measurements of an ACK and pass it to the congestion controller.
    #[inline(never)]
    fn update_cwnd(&mut self, tcb: &mut Tcb, by: (Time, Feedback), mut progress: Progress, tcp: &Tcp) {
        let window = self.window(tcb);
        if let Some(measurements) = &mut self.measurements {
            measurements.on_ack(tcb.una, by.0, &mut progress);
        }
        tcb.update_cwnd(by, &progress, &window, self.tracking_mut(), tcp);
    }

    /// Count one segment as delivered for a duplicate ACK (Linux). The missing segment does not
    /// count, so at most all other segments in flight count as delivered.
    fn count_duplicate(&mut self, tcb: &Tcb, tcp: &Tcp) {
        if tcp.details.without_sack == WithoutSack::Left {
            return;
        }
        let segments = self.counts(tcb).0;
        let over = self.duplicates.limit(segments.saturating_sub(1));
        let Some(measurements) = &mut self.measurements else { return };
        if !over {
            measurements.delivered += u64::from(tcb.smss);
        } else if tcp.recovery.reordering == ReorderingRules::Linux {
            measurements
                .tracking
                .reordering
                .on_excess_duplicates(segments, tcp.recovery.reordering_max.0 as u32);
        }
    }

    /// Return the number of bytes that a new ACK delivers, without the bytes that the sender has
    /// already counted as delivered for duplicate ACKs. `acked` is the number of bytes that the new
    /// ACK acknowledges.
    fn newly_delivered(&mut self, tcb: &Tcb, acked: u32, tcp: &Tcp) -> u32 {
        if tcp.details.without_sack == WithoutSack::Left || self.duplicates.count() == 0 {
            return acked;
        }
        (self.duplicates.acknowledged(acked.div_ceil(tcb.smss.max(1))) * tcb.smss).min(acked)
    }
}
