//! Transmission with SACK: NextSeg (RFC 6675 §4) and the tail loss probe.

use net::Seq;
use units::Time;

use super::SackSender;
use crate::config::{FastRetransmitTimer, FinWaits, Offload, Tcp};
use crate::congestion::CongestionControl;
use crate::recovery::frto::Frto;
use crate::sender::SLOW_PATHS;
use crate::sender::ca_state::CaState;
use crate::sender::offload::SendAllowance;
use crate::sender::outgoing::Outgoing;
use crate::sender::tcb::{Tcb, TimerPurpose};

impl SackSender {
    /// Return the next segment, if the sender may send a segment now.
    #[inline(never)] // keeps the code of the congestion controls out of the caller's loop
    pub fn next_segment(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if SLOW_PATHS || !self.is_bulk(tcb, now) {
            return self.next_general(tcb, now, tcp);
        }
        let len = tcb.smss;
        tcb.pacing_holds = false;
        let (usable, weight) = (tcb.usable_window(), self.board.weight_of(len) as f64);
        let unused_cwnd = tcb.cwnd - self.used_cwnd(tcb, tcp);
        if usable < len || unused_cwnd < weight || self.waits_for_queue(tcb, unused_cwnd, now, tcp) {
            self.record_limit(tcb, tcp);
            return None;
        }
        let (was_max, timer_ran) = (tcb.max, tcb.timer != Time::NEVER);
        self.prepare_new_data(tcb, len, now);
        let outgoing = tcb.build_next(now, len, tcp);
        self.add_to_scoreboard(tcb, (was_max, timer_ran), now, tcp);
        let mut outgoing = self.record_sent(tcb, outgoing, now, tcp);
        let full = usable - len < len || unused_cwnd - weight < weight;
        if full && tcb.unsent > u64::from(len) && self.tracking.pace_at <= now {
            self.record_limit(tcb, tcp);
            outgoing.last = true;
        }
        Some(outgoing)
    }

    /// Return true in the usual state of bulk data: no retransmission, probe or wait is due, and
    /// the unsent data is more than one segment.
    #[inline(always)]
    fn is_bulk(&self, tcb: &Tcb, now: Time) -> bool {
        self.state == CaState::Open
            && self.board.is_plain()
            && !(tcb.retransmit | tcb.wait_for_timer | self.probe_due)
            && tcb.unsent > u64::from(tcb.smss)
            && tcb.max != tcb.una
            && tcb.timer_purpose != TimerPurpose::Persist
            && self.frto_may_send == 0
            && self.tracking.records.is_empty()
            && self.tracking.pace_at <= now
    }

    /// Return the next segment in every case that the fast path excludes.
    #[inline(never)]
    fn next_general(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if tcb.wait_for_timer && tcb.timer != Time::NEVER {
            return None;
        }
        // As in Linux, the retransmission of an expired timer does not wait for pacing
        // (tcp_retransmit_timer).
        let timed_out = tcb.retransmit && self.state == CaState::Loss;
        let may_send = tcb.prepare_to_send(&self.tracking, now, tcp) || timed_out;
        let outgoing = if tcb.window_probe_due() {
            Some(self.probe_window(tcb, now, tcp))
        } else if may_send {
            self.next_from_scoreboard(tcb, now, tcp)
        } else {
            tcb.pacing_holds = !tcb.all_sent() || tcb.retransmit || self.board.has_unsent_lost();
            None
        };
        let Some(outgoing) = outgoing else {
            self.record_limit(tcb, tcp);
            return None;
        };
        Some(self.record_sent(tcb, outgoing, now, tcp))
    }

    /// Record that a segment is sent, and compute the time at which pacing permits the next
    /// segment.
    #[inline(always)]
    fn record_sent(&mut self, tcb: &mut Tcb, mut outgoing: Outgoing, now: Time, tcp: &Tcp) -> Outgoing {
        tcb.record_sent(&mut self.tracking, &mut outgoing, now);
        if outgoing.is_new && outgoing.push {
            self.board.on_pushed();
        }
        if tcb.congestion.paces() {
            let window = self.window(tcb);
            tcb.pace(&mut self.tracking, outgoing.len, &window, now, tcp);
        }
        outgoing
    }

    /// Return true if cwnd permits `len` bytes of new data.
    #[inline(always)]
    fn fits(&self, tcb: &Tcb, len: u32, tcp: &Tcp) -> bool {
        self.used_cwnd(tcb, tcp) + self.board.weight_of(len) as f64 <= tcb.cwnd
    }

    /// Return true if the send buffer does not contain the whole next segment, or if this segment
    /// waits for the segments after it. The caller has checked that cwnd and the send window permit
    /// the segment. `unused_cwnd` is the unused part of cwnd.
    #[inline(always)]
    fn waits_for_queue(&mut self, tcb: &Tcb, unused_cwnd: f64, now: Time, tcp: &Tcp) -> bool {
        match &self.tracking.queue {
            Some(queue) if queue.is_leaving(tcb.max) => false,
            Some(queue) if tcp.offload == Offload::None && queue.is_settled(tcb) => false,
            Some(_) => self.queue_holds(tcb, unused_cwnd, now, tcp),
            None => false,
        }
    }

    /// Update the send buffer, and return true if the next whole segment waits.
    #[inline(never)]
    fn queue_holds(&mut self, tcb: &Tcb, unused_cwnd: f64, now: Time, tcp: &Tcp) -> bool {
        let Some(queue) = &mut self.tracking.queue else { return false };
        let cwnd = (unused_cwnd / self.board.weight_of(tcb.smss) as f64) as u32;
        let new = if queue.is_settled(tcb) {
            queue.new_bytes(tcb)
        } else {
            if cwnd > 1 || queue.is_drained(tcb.max) {
                queue.expand(tcb, tcp); // cwnd is not full (tcp_should_expand_sndbuf)
            }
            queue.fill(tcb, self.board.merged_segments(), tcp)
        };
        if new < tcb.smss || tcp.offload == Offload::None {
            return new < tcb.smss;
        }
        let usable = SendAllowance {
            cwnd,
            window: tcb.usable_window(),
            buffered: new,
            board: &self.board,
            last_sent: self.tracking.last_sent,
            min_rtt: self.tracking.min_rtt,
            in_recovery: matches!(self.state, CaState::Recovery | CaState::Loss),
        };
        tcb.waits_for_super_packet(queue, usable, now, tcp)
    }

    /// Return true if the send buffer contains `len` bytes of new data.
    fn is_buffered(&mut self, tcb: &Tcb, len: u32, tcp: &Tcp) -> bool {
        let Some(queue) = &mut self.tracking.queue else { return true };
        queue.fill(tcb, self.board.merged_segments(), tcp) >= len
    }

    /// Return the used part of cwnd, which limits new data.
    #[inline(always)]
    fn used_cwnd(&self, tcb: &Tcb, tcp: &Tcp) -> f64 {
        let by_pipe = tcp.recovery.limited_transmit || self.state != CaState::Open;
        if by_pipe { self.pipe() } else { f64::from(tcb.flight()) }
    }

    /// Count `len` bytes of new data as limited transmit if cwnd does not permit them, and start a
    /// new delivery rate interval if no data is in flight.
    #[inline(always)]
    fn prepare_new_data(&mut self, tcb: &Tcb, len: u32, now: Time) {
        if self.state == CaState::Open && f64::from(tcb.flight() + len) > tcb.cwnd {
            self.limited_transmit += len;
        }
        if self.board.is_empty() {
            self.clock.first_sent = now;
            self.clock.delivered_at = now;
        }
    }

    /// Add to the scoreboard the new data from `was_max` on. `timer_ran` is true if the timer ran
    /// before the data was sent.
    #[inline(always)]
    fn add_to_scoreboard(&mut self, tcb: &mut Tcb, (was_max, timer_ran): (Seq, bool), now: Time, tcp: &Tcp) {
        let app_limited = self.tracking.is_app_limited_at(self.clock.delivered);
        self.board.on_sent(was_max, tcb.max, now, &self.clock, app_limited);
        self.time_new_data(tcb, timer_ran, now, tcp);
    }

    /// Return the segment that NextSeg selects (RFC 6675 §4). A tail loss probe that is due
    /// precedes every other segment.
    fn next_from_scoreboard(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if std::mem::take(&mut self.probe_due) {
            return self.probe_tail(tcb, now, tcp);
        }
        if tcb.is_persisting() {
            return None; // only window probes are sent
        }
        let board = &mut self.board;
        let clock = &self.clock;
        if board.has_unsent_lost()
            && (self.tracking.frto == Frto::Off || tcb.retransmit)
            && let Some((i, start, end)) = board.next_lost()
        {
            let weight = board.weight_of(end - start) as f64;
            if tcb.retransmit || board.pipe() as f64 + weight <= tcb.cwnd {
                let pushed = board.is_pushed(i);
                board.on_retransmitted(i, now, clock);
                self.tracking.on_retransmit(now);
                self.prr.on_sent(weight);
                let fast = std::mem::take(&mut tcb.retransmit);
                if fast {
                    self.rescue = Some(end);
                }
                if match tcp.rto.fast_retransmit {
                    FastRetransmitTimer::RunsOn => false,
                    FastRetransmitTimer::Restarts => fast && self.state == CaState::Recovery,
                    FastRetransmitTimer::Each => self.state == CaState::Recovery,
                    FastRetransmitTimer::First => start == tcb.una,
                } {
                    self.restart_rto(tcb, now, tcp);
                }
                return Some(self.retransmit(tcb, now, (start, end, pushed), tcp));
            }
            return None;
        }
        tcb.retransmit = false;
        // The checks have the same order as for bulk data: cwnd must permit a whole segment, and
        // then the send buffer must contain a whole segment.
        let whole = |len| len == tcb.smss && self.frto_may_send == 0;
        let length = self.new_length(tcb, tcp).map(|len| (len, whole(len)));
        let Some((len, whole)) = length.filter(|&(len, whole)| whole || self.is_buffered(tcb, len, tcp))
        else {
            tcb.persist(now, tcp);
            return self.retransmit_unproven_loss(tcb, now, tcp);
        };
        let waits = len > 0 || tcp.details.fin_waits == FinWaits::ForCwnd;
        if waits && self.frto_may_send == 0 && !self.fits(tcb, len.max(1), tcp) {
            return None;
        }
        if whole {
            let unused_cwnd = tcb.cwnd - self.used_cwnd(tcb, tcp);
            if self.waits_for_queue(tcb, unused_cwnd, now, tcp) {
                let lacks_data = self.tracking.queue.as_ref().is_some_and(|q| q.new_bytes(tcb) < len);
                return if lacks_data { self.retransmit_unproven_loss(tcb, now, tcp) } else { None };
            }
        }
        self.frto_may_send = self.frto_may_send.saturating_sub(1);
        let (was_max, timer_ran) = (tcb.max, tcb.timer != Time::NEVER);
        self.prepare_new_data(tcb, len, now);
        self.prr.on_sent(self.board.weight_of(len.max(1)) as f64);
        let outgoing = self.build_new(tcb, len, now, tcp);
        self.add_to_scoreboard(tcb, (was_max, timer_ran), now, tcp);
        Some(outgoing)
    }

    /// Retransmit a hole that is not marked as lost, if new data is not available (RFC 6675 §4,
    /// NextSeg, rule 3). If every hole is marked as lost, retransmit the last segment, once per
    /// recovery (RFC 6675 §4, NextSeg, rule 4).
    fn retransmit_unproven_loss(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if self.state != CaState::Recovery
            || tcp.recovery.rack
            || self.used_cwnd(tcb, tcp) + f64::from(tcb.smss) > tcb.cwnd
        {
            return None;
        }
        let (rescue, clock) = (self.rescue, self.clock);
        let board = &mut self.board;
        let (i, start, end) = match board.next_hole() {
            Some(hole) => {
                board.on_retransmitted_early(hole.0, now, &clock);
                hole
            }
            None if rescue.is_some_and(|r| tcb.una.after(r)) => {
                self.rescue = None;
                let last = board.last_not_sacked()?;
                board.lose_at(last.0);
                board.on_retransmitted(last.0, now, &clock);
                last
            }
            None => return None,
        };
        self.prr.on_sent(board.weight_of(end - start) as f64);
        self.tracking.on_retransmit(now);
        let pushed = board.is_pushed(i);
        Some(self.retransmit(tcb, now, (start, end, pushed), tcp))
    }

    /// Return the length of the next new segment, if the receive window, Nagle's algorithm and the
    /// application permit one. The length 0 stands for a FIN without data.
    #[inline(always)]
    fn new_length(&self, tcb: &Tcb, tcp: &Tcp) -> Option<u32> {
        if tcb.unsent == 0 {
            let fin_due = tcb.closing && !tcb.fin_sent;
            return (fin_due && tcb.usable_window() > 0).then_some(0);
        }
        let len = tcb.unsent.min(u64::from(tcb.smss)) as u32;
        let usable = tcb.usable_window();
        if usable < len {
            // RFC 9293 §3.8.6.2.1: a segment that fills the window may be sent although it is
            // smaller than the SMSS, if no data is in flight.
            return (tcb.una == tcb.max && tcb.avoids_silly_window(usable)).then_some(usable);
        }
        let len =
            if self.tracking.records.is_empty() { len } else { self.tracking.within_record(tcb.max, len) };
        // Nagle's algorithm delays a segment only if the segment contains the last byte of the
        // written data (RFC 9293 §3.7.4; Linux, tcp_nagle_test).
        if len < tcb.smss
            && u64::from(len) == tcb.unsent
            && !tcb.closing
            && tcb.holds_small_segment(&self.tracking, tcp)
        {
            return None;
        }
        Some(len)
    }

    /// Send a tail loss probe, which is a segment of new data or, if new data is not available, the
    /// last segment (RFC 8985 §7.3).
    fn probe_tail(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let clock = self.clock;
        let (outgoing, retransmitted) = if let Some(len) = self.new_length(tcb, tcp)
            && self.is_buffered(tcb, len, tcp)
        {
            let start = tcb.max;
            let outgoing = self.build_new(tcb, len, now, tcp);
            self.board.on_sent(start, tcb.max, now, &clock, false);
            (outgoing, false)
        } else {
            let board = &mut self.board;
            let last = *board.last()?;
            let i = board.last_index();
            let pushed = board.is_pushed(i);
            board.on_retransmitted(i, now, &clock);
            self.tracking.on_retransmit(now);
            (self.retransmit(tcb, now, (last.start, last.end, pushed), tcp), true)
        };
        self.tlp.on_probe(tcb.max, retransmitted);
        Some(outgoing)
    }

    /// Send a probe of the closed window, and add the byte of the probe to the scoreboard.
    fn probe_window(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Outgoing {
        let max = tcb.max;
        let outgoing = tcb.probe_window(now, tcp);
        if tcb.max != max {
            self.board.on_sent(max, tcb.max, now, &self.clock, false);
        }
        outgoing
    }

    /// Build a segment of `len` bytes of new data.
    #[inline(never)]
    fn build_new(&self, tcb: &mut Tcb, len: u32, now: Time, tcp: &Tcp) -> Outgoing {
        tcb.build(now, tcb.max, len, Some(&self.tracking), tcp)
    }

    /// Retransmit the bytes in [start, end). The retransmission does not include a FIN that was not
    /// sent before, because the scoreboard does not contain this FIN.
    fn retransmit(
        &self,
        tcb: &mut Tcb,
        now: Time,
        (start, end, pushed): (Seq, Seq, bool),
        tcp: &Tcp,
    ) -> Outgoing {
        let fin = u32::from(tcb.fin_sent && end == tcb.max);
        let closing = std::mem::replace(&mut tcb.closing, tcb.fin_sent);
        let mut outgoing = tcb.build(now, start, end - start - fin, None, tcp);
        outgoing.push |= pushed;
        tcb.closing = closing;
        outgoing
    }
}
