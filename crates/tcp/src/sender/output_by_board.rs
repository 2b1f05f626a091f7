//! What goes out with scoreboard: NextSeg (RFC 6675 §4), and the tail loss probe.

use net::Seq;
use units::{Time, words};

use super::{Outgoing, Phase, Sender, Tracking};
use crate::config::{FastRetransmitTimer, Tcp};
use crate::recovery::frto::Frto;
use crate::timestamp::timestamp;

words! {
    /// Whether a FIN without data waits for room in cwnd.
    pub enum FinWaits {
        /// It does, as any segment does.
        ForCwnd = "for-cwnd",
        /// It does not (Linux, tcp_cwnd_test).
        No = "no",
    }
}

impl Sender {
    pub(super) fn next_by_board(
        &mut self,
        tracking: &mut Tracking,
        now: Time,
        tcp: &Tcp,
    ) -> Option<Outgoing> {
        if std::mem::take(&mut tracking.probe_due) {
            return self.probe_tail(tracking, now, tcp);
        }
        if self.is_persisting() {
            return None; // nothing goes but probes
        }
        let board = tracking.board.as_mut()?;
        let pipe = board.pipe() as f64;
        let clock = tracking.clock;
        if board.waits()
            && (tracking.frto == Frto::Off || self.retransmit)
            && let Some((i, start, end)) = board.next_lost()
        {
            let weight = board.weight_of(end - start) as f64;
            if self.retransmit || pipe + weight <= self.cwnd {
                let pushed = board.is_pushed(i);
                board.on_resent(i, now, &clock);
                tracking.undo.on_retransmit(tracking.timestamps.then(|| timestamp(now)));
                tracking.prr.on_sent(weight);
                let fast = std::mem::take(&mut self.retransmit);
                if fast {
                    tracking.rescue = Some(end);
                }
                if match tcp.fast_retransmit_timer {
                    FastRetransmitTimer::RunsOn => false,
                    FastRetransmitTimer::Restarts => fast && tracking.phase == Phase::Recovery,
                    FastRetransmitTimer::Each => tracking.phase == Phase::Recovery,
                    FastRetransmitTimer::First => start == self.una,
                } {
                    self.restart_rto(tracking, now, tcp);
                }
                return Some(self.resend(now, (start, end, pushed), tcp));
            }
            return None;
        }
        self.retransmit = false;
        let used = if tcp.limited_transmit || tracking.phase != Phase::Open {
            pipe
        } else {
            f64::from(self.max - self.una)
        };
        let Some(len) = self.new_length(tracking, tcp) else {
            self.persist(now, tcp);
            return self.send_what_may_be_lost(tracking, used, now, tcp);
        };
        let board = tracking.board.as_mut()?;
        let weight = board.weight_of(len.max(1)) as f64;
        let waits = len > 0 || tcp.fin_waits == FinWaits::ForCwnd;
        if used + weight > self.cwnd && tracking.frto_may_send == 0 && waits {
            return None;
        }
        tracking.frto_may_send = tracking.frto_may_send.saturating_sub(1);
        if tracking.phase == Phase::Open && f64::from(self.max - self.una + len) > self.cwnd {
            tracking.limited += len;
        }
        let app_limited =
            tracking.app_limited_until > 0 && tracking.clock.delivered <= tracking.app_limited_until;
        let start = self.max;
        if board.is_empty() {
            tracking.clock.first_sent = now;
            tracking.clock.delivered_at = now;
        }
        let (clock, runs) = (tracking.clock, self.timer != Time::NEVER);
        let outgoing = self.build(now, start, len, tcp);
        self.nxt = self.max;
        if let Some(board) = &mut tracking.board {
            board.on_sent(start, self.max, now, &clock, app_limited);
            if outgoing.push {
                board.on_pushed();
            }
        }
        tracking.prr.on_sent(weight);
        self.time_new_data(tracking, runs, now, tcp);
        Some(outgoing)
    }

    /// NextSeg, rules 3 and 4 (RFC 6675 §4): with nothing new to send, a hole that is not deemed lost yet; then once
    /// in a recovery the last segment.
    fn send_what_may_be_lost(
        &mut self,
        tracking: &mut Tracking,
        used: f64,
        now: Time,
        tcp: &Tcp,
    ) -> Option<Outgoing> {
        let (rescue, clock) = (tracking.rescue, tracking.clock);
        let board = tracking.board.as_mut()?;
        if tracking.phase != Phase::Recovery || tcp.rack || used + f64::from(self.smss) > self.cwnd {
            return None;
        }
        let (i, start, end) = match board.next_hole() {
            Some(hole) => {
                board.on_resent_early(hole.0, now, &clock);
                hole
            }
            None if rescue.is_some_and(|r| self.una.after(r)) => {
                tracking.rescue = None;
                let last = board.last_not_sacked()?;
                board.lose_at(last.0);
                board.on_resent(last.0, now, &clock);
                last
            }
            None => return None,
        };
        tracking.prr.on_sent(board.weight_of(end - start) as f64);
        tracking.undo.on_retransmit(tracking.timestamps.then(|| timestamp(now)));
        let pushed = board.is_pushed(i);
        Some(self.resend(now, (start, end, pushed), tcp))
    }

    /// The length of the next new segment (0: a FIN alone), if the receiver, Nagle and the application let it go.
    #[inline(always)]
    fn new_length(&self, tracking: &Tracking, tcp: &Tcp) -> Option<u32> {
        if self.unsent == 0 {
            let fin_due = self.closing && !self.fin_sent;
            return (fin_due && self.room_in_window() > 0).then_some(0);
        }
        let len = self.unsent.min(u64::from(self.smss)) as u32;
        let room = self.room_in_window();
        if room < len {
            // RFC 9293 §3.8.6.2.1: a part only if nothing is out and it is all that the window takes.
            return (self.una == self.max && self.is_worth_it(room)).then_some(room);
        }
        let len = if tracking.records.is_empty() { len } else { self.within_record(tracking, len) };
        // What has more behind it does not wait (RFC 9293 §3.7.4; Linux, tcp_nagle_test).
        if len < self.smss && u64::from(len) == self.unsent && !self.closing && self.holds(tracking, tcp) {
            return None;
        }
        Some(len)
    }

    /// The tail loss probe: new data if there is some, else the last segment (RFC 8985 §7.3).
    fn probe_tail(&mut self, tracking: &mut Tracking, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let clock = tracking.clock;
        let (outgoing, retransmitted) = if let Some(len) = self.new_length(tracking, tcp) {
            let start = self.max;
            let outgoing = self.build(now, start, len, tcp);
            self.nxt = self.max;
            let board = tracking.board.as_mut()?;
            board.on_sent(start, self.max, now, &clock, false);
            if outgoing.push {
                board.on_pushed();
            }
            (outgoing, false)
        } else {
            let board = tracking.board.as_mut()?;
            let last = *board.last()?;
            let i = board.last_index();
            let pushed = board.is_pushed(i);
            board.on_resent(i, now, &clock);
            tracking.undo.on_retransmit(tracking.timestamps.then(|| timestamp(now)));
            (self.resend(now, (last.start, last.end, pushed), tcp), true)
        };
        tracking.tlp.on_probe(self.max, retransmitted);
        Some(outgoing)
    }

    /// Sends [start, end) again. A FIN that was not sent yet does not join it: the scoreboard would not know.
    fn resend(&mut self, now: Time, (start, end, pushed): (Seq, Seq, bool), tcp: &Tcp) -> Outgoing {
        let fin = u32::from(self.fin_sent && end == self.max);
        let closing = std::mem::replace(&mut self.closing, self.fin_sent);
        let mut outgoing = self.build(now, start, end - start - fin, tcp);
        outgoing.push |= pushed;
        self.closing = closing;
        outgoing
    }
}
