//! An ACK, with scoreboard: what is lost, and where recovery stands (RFC 6675 §5; RFC 8985 §6.2).

use net::Seq;
use units::{Duration, Time};

use super::{Arriving, More, Pending, Phase, Progress, Sender, timestamp};
use crate::config::{FastRetransmitTimer, RecoveryExit, RtoOrder, Tcp};
use crate::congestion::{Congestion, CongestionControl, RateSample};
use crate::recovery::board::{Delivery, Doubt};
use crate::recovery::frto::Frto;
use crate::recovery::tlp;
use crate::recovery::{RecoveryKind, fack, sack};

impl More {
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

/// What an ACK told, with scoreboard.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
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
        let Some(mut more) = self.more.take() else { return false };
        let was_una = self.una;
        let (cut, told) = self.on_ack_with(&mut more, arriving, tcp);
        self.more = Some(more);
        self.update_window(arriving.now, arriving.segment, self.una != was_una, tcp);
        if self.wait_for_timer {
            self.wait(arriving.now, told.cut_by_echo, tcp);
        }
        self.tell_of_board(arriving, told, tcp);
        cut
    }

    /// What an ACK changes but for cwnd, and whether the window was cut.
    fn on_ack_with(&mut self, more: &mut More, arriving: &Arriving, tcp: &Tcp) -> (bool, Told) {
        let &Arriving { now, segment, options, feedback } = arriving;
        let ack = segment.ack;
        let was_una = self.una;
        let advanced = ack.after(was_una);
        let plain_duplicate = !advanced && segment.len == 0 && segment.window == self.rwnd;
        let Some(board) = &mut more.board else { return (false, Told::default()) };
        let echo = options.timestamps.filter(|t| t.1 != 0 && more.timestamps).map(|t| t.1);
        let doubt = Doubt { min_rtt: more.min_rtt, echo };
        let d = board.on_ack(now, self.una, ack, options.sack(), self.max, &doubt);
        let widened = d.dsack && self.on_dsack(more, &d, options.sack()[0], ack, tcp);
        if d.late > 0 {
            self.on_late(more, d.late, tcp);
        }
        if advanced {
            self.acked += u64::from(ack - self.una) - u64::from(self.fin_sent && ack == self.max);
            self.una = ack;
            self.nxt = self.max;
            self.expirations = 0;
            more.limited = 0;
        }
        let rto = self.rto.timeout(tcp);
        let rtt = self.measure(more, &d, arriving, advanced, tcp);
        let rate = d.newest.filter(|_| d.delivered > 0).map(|newest| {
            more.clock.first_sent = newest.at;
            let delivered = more.clock.delivered + u64::from(d.delivered);
            RateSample {
                delivered: delivered - newest.delivered,
                interval: newest.at.since(newest.first_sent).max(now.since(newest.delivered_at)),
                app_limited: newest.app_limited(),
                prior_delivered: newest.delivered,
                lost: std::mem::take(&mut more.lost_bytes),
            }
        });
        more.keep_rate(rate);
        if d.delivered > 0 {
            more.clock.delivered += u64::from(d.delivered);
            more.clock.delivered_at = now;
            if let (Some(board), Some(newest)) = (&mut more.board, &d.newest) {
                board.rack.on_rate(newest.delivered, more.clock.delivered);
            }
        }
        let was = more.phase;
        let mut cut = false;
        if tcp.eifel && !feedback.echo && self.was_spurious(more, &d, advanced, options) {
            self.on_spurious(more, was_una, tcp);
            self.take_back_by_board(more, d.delivered, tcp);
        }
        let probe = more.tlp.on_ack(ack, d.dsack, plain_duplicate && !d.sacked);
        if more.phase == Phase::Loss {
            self.test_by_board(more, &d, arriving, advanced, tcp);
        }
        let lost_before = more.lost_bytes;
        let next = self.find_losses(more, now, tcp);
        match more.phase {
            Phase::Loss | Phase::Recovery | Phase::Cwr if !self.una.before(self.recover) => {
                // A cut for marks is done; only one in proportion ends here.
                let reduces = more.phase == Phase::Recovery || self.reduces_in_proportion(tcp);
                if more.phase != Phase::Loss && reduces && !self.congestion.rules_recovery() {
                    self.cwnd = self.ssthresh;
                }
                if let Some(board) = more.board.as_mut().filter(|_| more.phase != Phase::Cwr && !widened) {
                    board.rack.on_recovery_end();
                }
                more.phase = Phase::Open;
                more.frto = Frto::Off;
            }
            _ => {}
        }
        let cut_by_echo = feedback.echo
            && more.phase == Phase::Open
            && self.congestion.answers_mark(now, ack.after(self.recover));
        if cut_by_echo {
            self.stats.ecn_cuts += 1;
            self.wait_for_timer = self.cwnd <= f64::from(self.smss);
            self.before_cut(more, ack, d.delivered, feedback);
            if self.congestion.is_scalable() {
                self.cut(now, Congestion::Ecn, self.at_cut(more.board.as_ref(), was_una, 0), tcp);
            } else {
                self.reduce(more, Phase::Cwr, (Congestion::Ecn, was_una), now, tcp);
            }
            cut = true;
        }
        if probe == tlp::Verdict::Repaired && more.phase == Phase::Open {
            // RFC 8985 §7.4.2: the loss that the probe repaired is answered like any other.
            self.cut(now, Congestion::FastRetransmit, self.at_cut(more.board.as_ref(), was_una, 0), tcp);
            self.recover = self.una;
            cut = true;
        }
        cut |= self.enter_recovery(more, was_una, now, tcp);
        let restarts =
            advanced || (tcp.fast_retransmit_timer == FastRetransmitTimer::First && is_of_before(more, &d));
        self.set_timer(more, now, next, restarts, tcp);
        let runs = self.timer != Time::NEVER && self.pending == Pending::Rto;
        if advanced && runs && tcp.rto_order == RtoOrder::RestartFirst {
            self.timer = now + rto;
        }
        let safe = advanced && more.lost_bytes == lost_before;
        let was_reducing = was == Phase::Recovery || (was == Phase::Cwr && self.reduces_in_proportion(tcp));
        let acked = if advanced { ack - was_una } else { 0 };
        (cut, Told { delivery: d, acked, rtt, rate, was_reducing, safe, cut_by_echo })
    }

    /// The round trip that an ACK measures, of data sent once (Karn) or by timestamps (RFC 7323 §4): that of what it covers
    /// first goes to the timer, that of what was sent last is returned.
    fn measure(
        &mut self,
        more: &mut More,
        d: &Delivery,
        arriving: &Arriving,
        advanced: bool,
        tcp: &Tcp,
    ) -> Option<Duration> {
        let &Arriving { now, options, .. } = arriving;
        let by_timestamp = || {
            let (_, echo) = options.timestamps.filter(|t| t.1 != 0 && advanced && more.timestamps)?;
            let ms = timestamp(now).wrapping_sub(echo);
            (ms < 1 << 24).then(|| Time(now.0.saturating_sub(u64::from(ms.max(1)) * 1_000_000_000)))
        };
        let first = d.first_sent.or(d.sacked_sent).or_else(by_timestamp)?;
        self.rto.on_sample(tcp, first, now, (self.una, self.max));
        let rtt = now.since(d.last_sent.unwrap_or(first));
        more.min_rtt = more.min_rtt.min(rtt);
        more.tlp.on_sample();
        Some(rtt)
    }

    /// Finds what is lost. Returns when RACK would find more, if nothing arrives.
    pub(super) fn find_losses(&mut self, more: &mut More, now: Time, tcp: &Tcp) -> Option<Time> {
        if tcp.rack {
            let window = self.reordering_window(more, tcp);
            let board = more.board.as_mut()?;
            let (lost, next) = board.lose_by_time(now, window);
            more.lost_bytes += u64::from(lost);
            return next;
        }
        let dup_thresh = more.reordering.segments();
        let board = more.board.as_mut()?;
        let limit = match tcp.recovery {
            RecoveryKind::Fack => fack::lost_before(board, dup_thresh, self.smss),
            _ => sack::lost_before(board, dup_thresh, self.smss),
        };
        if let Some(limit) = limit {
            more.lost_bytes += u64::from(board.lose_before(limit));
        }
        None
    }

    /// RACK.reo_wnd (RFC 8985 §6.2, step 4).
    pub(super) fn reordering_window(&self, more: &More, tcp: &Tcp) -> Duration {
        let Some(board) = &more.board else { return Duration::ZERO };
        board.rack.reordering_window(
            matches!(more.phase, Phase::Recovery | Phase::Loss),
            board.sacked_segments(),
            more.reordering.segments(),
            more.min_rtt,
            self.rto.srtt(tcp),
        )
    }

    /// Losses were found: recovery begins. `una`: SND.UNA before the ACK at hand. Returns whether the window was cut.
    pub(super) fn enter_recovery(&mut self, more: &mut More, una: Seq, now: Time, tcp: &Tcp) -> bool {
        let lost = more.board.as_ref().is_some_and(|b| b.any_lost());
        if !lost || matches!(more.phase, Phase::Recovery | Phase::Loss) {
            return false;
        }
        self.stats.fast_retransmits += 1;
        let cut_before = more.phase == Phase::Cwr;
        let in_flight = more.board.as_ref().map_or(0, |b| b.counts().3);
        more.undo = more.undo.begin_again(&self.window(), in_flight);
        self.retransmit = true;
        if cut_before {
            more.phase = Phase::Recovery; // the window was cut for this congestion
            self.recover = self.max;
            return false;
        }
        self.reduce(more, Phase::Recovery, (Congestion::FastRetransmit, una), now, tcp);
        true
    }

    /// The last part of the ACK: cwnd.
    fn tell_of_board(&mut self, arriving: &Arriving, told: Told, tcp: &Tcp) {
        let Told { delivery, acked, rtt, rate, was_reducing, safe, .. } = told;
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
            && let Some(mut more) = self.more.take()
        {
            self.reduce_further(&mut more, delivery.weight as f64, safe, tcp);
            self.more = Some(more);
        }
    }
}

/// Whether something was SACKed that was sent before the first segment was last sent, so that this is worth more waiting.
fn is_of_before(more: &More, d: &Delivery) -> bool {
    let first = more.board.as_ref().and_then(|b| b.first());
    first.is_some_and(|first| d.sacked_sent.is_some_and(|sent| sent < first.at))
}
