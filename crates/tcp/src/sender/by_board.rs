//! An ACK, with scoreboard: what is lost, and where recovery stands (RFC 6675 §5; RFC 8985 §6.2).

use net::Seq;
use units::{Duration, Time};

use super::{Arriving, Pending, Phase, Progress, Sender, Tracking};
use crate::config::{FastRetransmitTimer, RecoveryExit, RtoOrder, Tcp};
use crate::congestion::{Congestion, CongestionControl, RateSample};
use crate::recovery::board::{Delivery, Doubt};
use crate::recovery::frto::Frto;
use crate::recovery::tlp;
use crate::recovery::{RecoveryKind, fack, sack};
use crate::timestamp::timestamp;

impl Tracking {
    /// Keeps a sample of the delivery rate for who asks; one that the application limited only if it is no lower.
    #[inline]
    fn keep_rate(&mut self, sample: Option<RateSample>) {
        let Some(sample) = sample.filter(|s| s.interval >= self.min_rtt) else { return };
        let rate = |s: &RateSample| s.delivered as f64 / s.interval.0 as f64;
        if !sample.app_limited || self.rate.is_none_or(|kept| rate(&sample) >= rate(&kept)) {
            self.rate = Some(sample);
        }
    }
}

/// What came of an ACK, with scoreboard.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    delivery: Delivery,
    /// Bytes newly acknowledged.
    acked: u32,
    rtt: Option<Duration>,
    rate: Option<RateSample>,
    was_reducing: bool,
    safe: bool,
    cut_by_echo: bool,
}

impl Sender {
    /// An ACK, with scoreboard (RFC 6675 §5; RFC 8985 §6.2).
    #[inline(never)]
    pub(super) fn on_ack_by_board(&mut self, arriving: &Arriving, tcp: &Tcp) -> bool {
        let Some(mut tracking) = self.tracking.take() else { return false };
        let was_una = self.una;
        let (cut, outcome) = self.on_ack_with(&mut tracking, arriving, tcp);
        self.tracking = Some(tracking);
        self.update_window(arriving.now, arriving.segment, self.una != was_una, tcp);
        if self.wait_for_timer {
            self.wait(arriving.now, outcome.cut_by_echo, tcp);
        }
        self.tell_of_board(arriving, outcome, tcp);
        cut
    }

    /// What an ACK changes but for cwnd, and whether the window was cut.
    fn on_ack_with(&mut self, tracking: &mut Tracking, arriving: &Arriving, tcp: &Tcp) -> (bool, Outcome) {
        let &Arriving { now, segment, options, feedback } = arriving;
        let ack = segment.ack;
        let was_una = self.una;
        let advanced = ack.after(was_una);
        let plain_duplicate = !advanced && segment.len == 0 && segment.window == self.rwnd;
        let Some(board) = &mut tracking.board else { return (false, Outcome::default()) };
        let echo = options.timestamps.filter(|t| t.1 != 0 && tracking.timestamps).map(|t| t.1);
        let doubt = Doubt { min_rtt: tracking.min_rtt, echo };
        let d = board.on_ack(now, self.una, ack, options.sack(), self.max, &doubt);
        let widened = d.dsack && self.on_dsack(tracking, &d, options.sack()[0], ack, tcp);
        if d.late > 0 {
            self.on_late(tracking, d.late, tcp);
        }
        if advanced {
            self.acked += u64::from(ack - self.una) - u64::from(self.fin_sent && ack == self.max);
            self.una = ack;
            self.nxt = self.max;
            self.expirations = 0;
            tracking.limited = 0;
        }
        let rto = self.rto.timeout(tcp);
        let rtt = self.measure(tracking, &d, arriving, advanced, tcp);
        let rate = d.newest.filter(|_| d.delivered > 0).map(|newest| {
            tracking.clock.first_sent = newest.at;
            let delivered = tracking.clock.delivered + u64::from(d.delivered);
            RateSample {
                delivered: delivered - newest.delivered,
                interval: newest.at.since(newest.first_sent).max(now.since(newest.delivered_at)),
                app_limited: newest.app_limited(),
                prior_delivered: newest.delivered,
                lost: std::mem::take(&mut tracking.lost_bytes),
            }
        });
        tracking.keep_rate(rate);
        if d.delivered > 0 {
            tracking.clock.delivered += u64::from(d.delivered);
            tracking.clock.delivered_at = now;
            if let (Some(board), Some(newest)) = (&mut tracking.board, &d.newest) {
                board.rack.on_rate(newest.delivered, tracking.clock.delivered);
            }
        }
        let was = tracking.phase;
        let mut cut = false;
        if tcp.eifel && !feedback.echo && self.was_spurious(tracking, &d, advanced, options) {
            self.on_spurious(tracking, was_una, tcp);
            self.take_back_by_board(tracking, d.delivered, tcp);
        }
        let probe = tracking.tlp.on_ack(ack, d.dsack, plain_duplicate && !d.sacked);
        if tracking.phase == Phase::Loss {
            self.test_by_board(tracking, &d, arriving, advanced, tcp);
        }
        match tracking.phase {
            Phase::Loss | Phase::Recovery | Phase::Cwr if !self.una.before(self.recover) => {
                // A cut for marks is done; only one in proportion ends here.
                let reduces = tracking.phase == Phase::Recovery || self.reduces_in_proportion(tcp);
                if tracking.phase != Phase::Loss && reduces && !self.congestion.rules_recovery() {
                    self.cwnd = self.ssthresh;
                }
                if let Some(board) =
                    tracking.board.as_mut().filter(|_| tracking.phase != Phase::Cwr && !widened)
                {
                    board.rack.on_recovery_end();
                }
                tracking.phase = Phase::Open;
                tracking.frto = Frto::Off;
            }
            _ => {}
        }
        let lost_before = tracking.lost_bytes;
        let next = self.find_losses(tracking, now, tcp);
        let cut_by_echo = feedback.echo
            && tracking.phase == Phase::Open
            && self.congestion.answers_mark(now, ack.after(self.recover));
        if cut_by_echo {
            self.stats.ecn_cuts += 1;
            self.wait_for_timer = self.cwnd <= f64::from(self.smss);
            self.before_cut(tracking, ack, d.delivered, feedback);
            if self.congestion.is_scalable() {
                self.cut(now, Congestion::Ecn, self.at_cut(tracking.board.as_ref(), was_una, 0), tcp);
            } else {
                self.reduce(tracking, Phase::Cwr, (Congestion::Ecn, was_una), now, tcp);
            }
            cut = true;
        }
        if probe == tlp::Verdict::Repaired && tracking.phase == Phase::Open {
            // RFC 8985 §7.4.2: the loss that the probe repaired is answered like any other.
            self.cut(now, Congestion::FastRetransmit, self.at_cut(tracking.board.as_ref(), was_una, 0), tcp);
            self.recover = self.una;
            cut = true;
        }
        cut |= self.enter_recovery(tracking, was_una, now, tcp);
        let restarts = advanced
            || (tcp.fast_retransmit_timer == FastRetransmitTimer::First && is_of_before(tracking, &d));
        self.set_timer(tracking, now, next, restarts, tcp);
        let runs = self.timer != Time::NEVER && self.pending == Pending::Rto;
        if advanced && runs && tcp.rto_order == RtoOrder::RestartFirst {
            self.timer = now + rto;
        }
        let safe = advanced && tracking.lost_bytes == lost_before;
        let was_reducing = was == Phase::Recovery || (was == Phase::Cwr && self.reduces_in_proportion(tcp));
        let acked = if advanced { ack - was_una } else { 0 };
        (cut, Outcome { delivery: d, acked, rtt, rate, was_reducing, safe, cut_by_echo })
    }

    /// The round trip that an ACK measures, of data sent once (Karn) or by timestamps (RFC 7323 §4): that of what it covers
    /// first goes to the timer, that of what was sent last is returned.
    fn measure(
        &mut self,
        tracking: &mut Tracking,
        d: &Delivery,
        arriving: &Arriving,
        advanced: bool,
        tcp: &Tcp,
    ) -> Option<Duration> {
        let &Arriving { now, options, .. } = arriving;
        let by_timestamp = || {
            let (_, echo) = options.timestamps.filter(|t| t.1 != 0 && advanced && tracking.timestamps)?;
            let ms = timestamp(now).wrapping_sub(echo);
            (ms < 1 << 24).then(|| Time(now.0.saturating_sub(u64::from(ms.max(1)) * 1_000_000_000)))
        };
        let first = d.first_sent.or(d.sacked_sent).or_else(by_timestamp)?;
        self.rto.on_sample(tcp, first, now, (self.una, self.max));
        let rtt = now.since(d.last_sent.unwrap_or(first));
        tracking.min_rtt = tracking.min_rtt.min(rtt);
        tracking.tlp.on_sample();
        Some(rtt)
    }

    /// Finds what is lost. Returns when RACK would find more, if nothing arrives.
    pub(super) fn find_losses(&mut self, tracking: &mut Tracking, now: Time, tcp: &Tcp) -> Option<Time> {
        if tcp.rack {
            let window = self.reordering_window(tracking, tcp);
            let board = tracking.board.as_mut()?;
            let (lost, next) = board.lose_by_time(now, window);
            tracking.lost_bytes += u64::from(lost);
            return next;
        }
        let dup_thresh = tracking.reordering.segments();
        let board = tracking.board.as_mut()?;
        let limit = match tcp.recovery {
            RecoveryKind::Fack => fack::lost_before(board, dup_thresh, self.smss),
            _ => sack::lost_before(board, dup_thresh, self.smss),
        };
        if let Some(limit) = limit {
            tracking.lost_bytes += u64::from(board.lose_before(limit));
        }
        None
    }

    /// RACK.reo_wnd (RFC 8985 §6.2, step 4).
    pub(super) fn reordering_window(&self, tracking: &Tracking, tcp: &Tcp) -> Duration {
        let Some(board) = &tracking.board else { return Duration::ZERO };
        board.rack.reordering_window(
            matches!(tracking.phase, Phase::Recovery | Phase::Loss),
            board.sacked_segments(),
            tracking.reordering.segments(),
            tracking.min_rtt,
            self.rto.srtt(tcp),
        )
    }

    /// Losses were found: recovery begins. `una`: SND.UNA before the ACK at hand. Returns whether the window was cut.
    pub(super) fn enter_recovery(&mut self, tracking: &mut Tracking, una: Seq, now: Time, tcp: &Tcp) -> bool {
        let lost = tracking.board.as_ref().is_some_and(|b| b.any_lost());
        if !lost || matches!(tracking.phase, Phase::Recovery | Phase::Loss) {
            return false;
        }
        self.stats.fast_retransmits += 1;
        let cut_before = tracking.phase == Phase::Cwr;
        let in_flight = tracking.board.as_ref().map_or(0, |b| b.counts().3);
        tracking.undo = tracking.undo.begin_again(&self.window(), in_flight);
        self.retransmit = true;
        if cut_before {
            tracking.phase = Phase::Recovery; // the window was cut for this congestion
            self.recover = self.max;
            return false;
        }
        self.reduce(tracking, Phase::Recovery, (Congestion::FastRetransmit, una), now, tcp);
        true
    }

    /// The last part of the ACK: cwnd.
    fn tell_of_board(&mut self, arriving: &Arriving, outcome: Outcome, tcp: &Tcp) {
        let Outcome { delivery, acked, rtt, rate, was_reducing, safe, .. } = outcome;
        let advanced = acked > 0;
        if delivery.delivered == 0 && !advanced {
            return;
        }
        let phase = self.phase();
        // A window that came down for a mark at once may grow again, but not by an ACK with ECE (RFC 3168 §6.1.2).
        let reducing = phase == Phase::Recovery || (phase == Phase::Cwr && self.reduces_in_proportion(tcp));
        let reduced = reducing || (was_reducing && tcp.recovery_exit != RecoveryExit::DeflateAndOpen);
        let may_open = arriving.feedback.may_open(tcp) || self.congestion.is_scalable();
        let opens = (advanced || self.grows_by_sacks(tcp)) && !reduced && may_open;
        let progress = Progress { acked, delivered: delivery.delivered, rtt, rate, opens };
        self.tell_controller(arriving.now, arriving.feedback, progress, tcp);
        if reducing
            && delivery.delivered > 0
            && let Some(mut tracking) = self.tracking.take()
        {
            self.reduce_further(&mut tracking, delivery.weight as f64, safe, tcp);
            self.tracking = Some(tracking);
        }
    }
}

/// Whether something was SACKed that was sent before the first segment was last sent, so that this is worth more waiting.
fn is_of_before(tracking: &Tracking, d: &Delivery) -> bool {
    let first = tracking.board.as_ref().and_then(|b| b.first());
    first.is_some_and(|first| d.sacked_sent.is_some_and(|sent| sent < first.at))
}
