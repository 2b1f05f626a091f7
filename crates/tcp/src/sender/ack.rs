//! An ACK, without scoreboard: duplicate or new, and the window it brings.

use net::{Options, Segment};
use units::{Duration, Time, words};

use super::{Arriving, Cut, Pending, Progress, Sender};
use crate::config::{FastRetransmitTimer, RecoveryExit, RtoOrder, Tcp};
use crate::congestion::{Congestion, CongestionControl, Controller};
use crate::recovery::{OnDuplicate, OnNewAck, RecoveryKind, newreno, tahoe};
use crate::timestamp::timestamp;

words! {
    /// When three duplicate ACKs start a fast retransmit.
    pub enum FastRetransmit {
        /// Only when the cumulative ACK has passed everything sent before the last cut (RFC 6582 §3.2).
        OncePerWindow = "once-per-window",
        /// Whenever the third duplicate arrives, so that one window may be cut several times (4.3BSD-Reno; ns-2 without `bugFix_`).
        Unguarded = "unguarded",
    }
}

words! {
    /// Which ACK of data begins slow start.
    pub enum SlowStartFrom {
        /// The first (RFC 5681 §3.1).
        FirstAck = "first-ack",
        /// The second: the first segment stands for a SYN, whose ACK opens nothing (ns-2's `delay_growth_`, for its TCP without handshake).
        SecondAck = "second-ack",
    }
}

impl Sender {
    /// An acceptable ACK of an established connection. Returns whether the window was cut.
    #[inline]
    pub fn on_ack(&mut self, arriving: &Arriving, tcp: &Tcp) -> bool {
        if self.board().is_some() {
            return self.on_ack_by_board(arriving, tcp);
        }
        let &Arriving { now, segment, feedback, .. } = arriving;
        let ack = segment.ack;
        let same_window = segment.window == self.rwnd;
        // RFC 3168 §6.1.2: at most one response to congestion a window of data.
        let cut_by_echo = feedback.echo && self.congestion.answers_mark(now, ack.after(self.recover));
        if cut_by_echo {
            self.stats.ecn_cuts += 1;
            self.wait_for_timer = self.cwnd <= f64::from(self.smss);
            if let Some(tracking) = self.tracking.take() {
                self.before_cut(&tracking, ack, ack.max(self.una) - self.una, feedback);
                self.tracking = Some(tracking);
            }
            self.cut(now, Congestion::Ecn, self.at_cut(None, self.una, 0), tcp);
        }
        let was_una = self.una;
        let mut cut_by_loss = false;
        if ack.after(self.una) {
            self.on_new_ack(arriving, tcp);
        } else if ack == was_una
            && segment.seq_len() == 0
            && same_window
            && self.max.after(self.una)
            && self.rwnd > 0
            && !self.is_persisting()
        {
            cut_by_loss = self.on_duplicate_ack(now, tcp);
        }
        self.update_window(now, segment, self.una != was_una, tcp);
        if self.wait_for_timer {
            self.wait(now, cut_by_echo, tcp);
        }
        cut_by_echo || cut_by_loss
    }

    /// RFC 3168 §6.1.2: with a window of one segment, the next goes when the timer expires; a mark restarts it.
    #[cold]
    pub(super) fn wait(&mut self, now: Time, marked: bool, tcp: &Tcp) {
        if marked || self.timer == Time::NEVER {
            (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        }
    }

    /// The window field of a segment that is acceptable (RFC 9293 §3.10.7.4, SND.WL1 and SND.WL2).
    pub fn set_window(&mut self, segment: &Segment) {
        self.rwnd = segment.window;
        self.most_window = self.most_window.max(segment.window);
        self.wl1 = segment.seq;
    }

    /// RFC 9293 §3.10.7.4, fifth check. A segment that `advances` SND.UNA sets the window even if data of the other
    /// side went out after it (Linux, tcp_may_update_window): the old window would reach too far from there.
    #[inline]
    pub(super) fn update_window(&mut self, now: Time, segment: &Segment, advances: bool, tcp: &Tcp) {
        if segment.ack.before(self.una) || (segment.seq.before(self.wl1) && !advances) {
            return;
        }
        self.rwnd = segment.window;
        self.wl1 = self.wl1.max(segment.seq);
        if self.rwnd == 0 || self.is_persisting() {
            self.expirations = 0;
        }
        self.most_window = self.most_window.max(segment.window);
        if self.is_persisting() && (self.is_worth_it(self.rwnd) || self.all_out()) {
            self.rto.end_back_off();
            let out = self.una != self.max; // what probed is a segment like others now
            let at = if out { now + self.rto.timeout(tcp) } else { Time::NEVER };
            (self.timer, self.pending) = (at, Pending::Rto);
            if let Some(board) = self.tracking.as_mut().and_then(|m| m.board.as_mut()) {
                board.lose_all(false); // the octet of a probe, if it was refused
            }
        }
        if self.una == self.max {
            self.persist(now, tcp);
        }
    }

    #[inline]
    pub(super) fn sample(&mut self, now: Time, tcp: &Tcp) -> Option<Duration> {
        let (seq, sent) = self.timed;
        if sent != Time::NEVER && self.una.after(seq) {
            self.rto.on_sample(tcp, sent, now, (self.una, self.max));
            self.timed.1 = Time::NEVER;
            return Some(now.since(sent));
        }
        None
    }

    /// A round trip by timestamps, where no segment is timed (RFC 7323 §4; RFC 6298 §3).
    fn sample_by_timestamp(&mut self, now: Time, options: &Options, tcp: &Tcp) -> Option<Duration> {
        let tracking = self.tracking.as_ref()?;
        let (_, reply) =
            options.timestamps.filter(|t| t.1 != 0 && tracking.timestamps && self.timed.1 == Time::NEVER)?;
        let ms = timestamp(now).wrapping_sub(reply);
        if ms >= 1 << 24 {
            return None; // an echo of nothing that we sent
        }
        let rtt = Duration::from_millis(u64::from(ms.max(1)));
        self.rto.on_sample(tcp, Time(now.0.saturating_sub(rtt.0)), now, (self.una, self.max));
        Some(rtt)
    }

    #[inline]
    fn on_new_ack(&mut self, arriving: &Arriving, tcp: &Tcp) {
        let &Arriving { now, segment, options, feedback } = arriving;
        let ack = segment.ack;
        let acked = ack - self.una;
        self.una = ack;
        self.retransmit = false; // pacing may hold what is acknowledged now
        self.expirations = 0;
        self.acked += u64::from(acked) - u64::from(self.fin_sent && ack == self.max);
        if self.nxt.before(ack) {
            self.nxt = ack;
        }
        let before = (tcp.rto_order == RtoOrder::RestartFirst).then(|| self.rto.timeout(tcp));
        let mut rtt = self.sample(now, tcp);
        if rtt.is_none() && self.tracking.is_some() {
            rtt = self.sample_by_timestamp(now, options, tcp);
        }
        let timer = self.timer;
        let rto = before.unwrap_or_else(|| self.rto.timeout(tcp));
        (self.timer, self.pending) =
            (if self.una == self.max { Time::NEVER } else { now + rto }, Pending::Rto);
        if self.tracking.is_some() && self.test_timeout(ack, Some(acked), feedback.echo, options, tcp) {
            return;
        }
        let delivered = self.untold(acked, tcp);
        let mut recovered = false;
        if self.duplicates.in_recovery() {
            let newreno = !matches!(tcp.recovery, RecoveryKind::Reno | RecoveryKind::Tahoe);
            match if newreno { newreno::on_new_ack(ack, self.recover) } else { OnNewAck::Ends } {
                OnNewAck::Partial => {
                    self.inflation = newreno::inflation(self.inflation, acked, self.smss);
                    self.retransmit = true;
                    if let Some(tracking) = &mut self.tracking {
                        tracking.clock.delivered += u64::from(delivered);
                    }
                    let each = matches!(
                        tcp.fast_retransmit_timer,
                        FastRetransmitTimer::Each | FastRetransmitTimer::First
                    );
                    if !self.duplicates.on_partial() && !each {
                        self.timer = timer; // RFC 6582 §3.2, step 3: for the first partial ACK only
                    }
                    return;
                }
                _ => {
                    recovered = self.duplicates.end();
                    self.inflation = 0;
                    self.cwnd = if self.congestion.rules_recovery() {
                        self.cwnd
                    } else if newreno {
                        newreno::cwnd_at_end(
                            self.ssthresh,
                            f64::from(self.max - self.una),
                            f64::from(self.smss),
                        )
                    } else {
                        self.ssthresh // RFC 5681 §3.2, step 6
                    };
                }
            }
        } else {
            self.duplicates.end();
            self.inflation = 0;
        }
        let opens = !recovered || tcp.recovery_exit == RecoveryExit::DeflateAndOpen;
        let first = self.acked == u64::from(acked);
        let too_early = first && tcp.slow_start_from == SlowStartFrom::SecondAck;
        let opens = opens && (feedback.may_open(tcp) || self.congestion.is_scalable()) && !too_early;
        match &mut self.congestion {
            // Reno that measures nothing: all else that an ACK tells is no matter.
            Controller::Reno(reno) if self.tracking.is_none() => {
                if opens {
                    let smss = f64::from(self.smss);
                    self.cwnd = reno.opened(self.cwnd, self.ssthresh, smss, acked).max(smss);
                }
            }
            _ => {
                let progress = Progress { acked, delivered, rtt, rate: None, opens };
                self.tell_controller(now, feedback, progress, tcp);
            }
        }
    }

    #[inline(never)]
    fn on_duplicate_ack(&mut self, now: Time, tcp: &Tcp) -> bool {
        if self.tracking.is_some() && self.test_timeout(self.una, None, false, &Options::NONE, tcp) {
            return false;
        }
        let new_window = self.una.after(self.recover);
        let cut_by_ecn = self.last_cut == Cut::Ecn && self.una.before(self.recover);
        let allowed =
            new_window || self.last_cut == Cut::Ecn || tcp.fast_retransmit == FastRetransmit::Unguarded;
        let threshold = self.reordering_degree(tcp) as u32;
        let answer = self.duplicates.on_duplicate(threshold, allowed, tcp.limited_transmit);
        self.count_duplicate(tcp);
        match answer {
            OnDuplicate::Wait => false,
            OnDuplicate::Transmit | OnDuplicate::Inflate => {
                self.inflation += self.smss;
                false
            }
            OnDuplicate::Retransmit => {
                self.stats.fast_retransmits += 1;
                self.arm_undo(tcp);
                if cut_by_ecn {
                    self.last_cut = Cut::FastRetransmit; // the window was cut for this congestion
                } else {
                    let window = self.at_cut(None, self.una, self.inflation);
                    self.cut(now, Congestion::FastRetransmit, window, tcp);
                }
                self.timed.1 = Time::NEVER; // Karn: the timed segment may be the lost one
                if tcp.fast_retransmit_timer != FastRetransmitTimer::RunsOn {
                    (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
                }
                if tcp.recovery == RecoveryKind::Tahoe {
                    self.duplicates.no_recovery();
                    self.inflation = 0;
                    self.cwnd = tahoe::cwnd(f64::from(self.smss));
                    self.nxt = tahoe::send_next(self.una);
                } else {
                    self.inflation = tcp.duplicate_acks.0 as u32 * self.smss; // step 3
                    self.retransmit = true;
                }
                !cut_by_ecn
            }
        }
    }
}
