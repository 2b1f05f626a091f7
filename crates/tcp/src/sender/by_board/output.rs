//! What goes out with scoreboard: NextSeg (RFC 6675 §4), and the tail loss probe.

use net::Seq;
use units::Time;

use super::ByBoard;
use crate::config::{FastRetransmitTimer, FinWaits, Tcp};
use crate::congestion::CongestionControl;
use crate::recovery::frto::Frto;
use crate::sender::ca_state::CaState;
use crate::sender::outgoing::Outgoing;
use crate::sender::tcb::Tcb;

impl ByBoard {
    /// The next segment to send, if there is one that may go now.
    #[inline(never)] // so that what controllers compute stays out of the loop that asks
    pub fn next_segment(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if tcb.wait_for_timer && tcb.timer != Time::NEVER {
            return None;
        }
        let may_go = tcb.may_go(&self.tracking, now, tcp);
        let outgoing = if tcb.owes_probe() {
            Some(self.probe_window(tcb, now, tcp))
        } else if may_go {
            self.next_by_board(tcb, now, tcp)
        } else {
            tcb.held = !tcb.all_out() || tcb.retransmit || self.board.waits();
            None
        };
        let Some(mut outgoing) = outgoing else {
            self.note_limit(tcb, tcp);
            return None;
        };
        tcb.note_sent(&mut self.tracking, &mut outgoing, now);
        if outgoing.is_new && outgoing.push {
            self.board.on_pushed();
        }
        if tcb.congestion.paces() {
            let window = self.window(tcb);
            tcb.pace(&mut self.tracking, outgoing.len, &window, now, tcp);
        }
        Some(outgoing)
    }

    /// NextSeg (RFC 6675 §4), after a probe of the tail that is due.
    fn next_by_board(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if std::mem::take(&mut self.probe_due) {
            return self.probe_tail(tcb, now, tcp);
        }
        if tcb.is_persisting() {
            return None; // nothing goes but probes
        }
        let board = &mut self.board;
        let pipe = board.pipe() as f64;
        let clock = &self.clock;
        if board.waits()
            && (self.tracking.frto == Frto::Off || tcb.retransmit)
            && let Some((i, start, end)) = board.next_lost()
        {
            let weight = board.weight_of(end - start) as f64;
            if tcb.retransmit || pipe + weight <= tcb.cwnd {
                let pushed = board.is_pushed(i);
                board.on_resent(i, now, clock);
                self.tracking.on_retransmit(now);
                self.prr.on_sent(weight);
                let fast = std::mem::take(&mut tcb.retransmit);
                if fast {
                    self.rescue = Some(end);
                }
                if match tcp.fast_retransmit_timer {
                    FastRetransmitTimer::RunsOn => false,
                    FastRetransmitTimer::Restarts => fast && self.state == CaState::Recovery,
                    FastRetransmitTimer::Each => self.state == CaState::Recovery,
                    FastRetransmitTimer::First => start == tcb.una,
                } {
                    self.restart_rto(tcb, now, tcp);
                }
                return Some(self.resend(tcb, now, (start, end, pushed), tcp));
            }
            return None;
        }
        tcb.retransmit = false;
        let used =
            if tcp.limited_transmit || self.state != CaState::Open { pipe } else { f64::from(tcb.flight()) };
        let Some(len) = self.new_length(tcb, tcp) else {
            tcb.persist(now, tcp);
            return self.send_what_may_be_lost(tcb, used, now, tcp);
        };
        let board = &mut self.board;
        let weight = board.weight_of(len.max(1)) as f64;
        let waits = len > 0 || tcp.fin_waits == FinWaits::ForCwnd;
        if used + weight > tcb.cwnd && self.frto_may_send == 0 && waits {
            return None;
        }
        self.frto_may_send = self.frto_may_send.saturating_sub(1);
        if self.state == CaState::Open && f64::from(tcb.flight() + len) > tcb.cwnd {
            self.limited += len;
        }
        let app_limited = self.tracking.was_app_limited(self.clock.delivered);
        let start = tcb.max;
        if board.is_empty() {
            self.clock.first_sent = now;
            self.clock.delivered_at = now;
        }
        let runs = tcb.timer != Time::NEVER;
        let outgoing = self.build_new(tcb, len, now, tcp);
        self.board.on_sent(start, tcb.max, now, &self.clock, app_limited);
        self.prr.on_sent(weight);
        self.time_new_data(tcb, runs, now, tcp);
        Some(outgoing)
    }

    /// NextSeg, rules 3 and 4 (RFC 6675 §4): with nothing new to send, a hole that is not deemed lost yet; then once
    /// in a recovery the last segment.
    fn send_what_may_be_lost(&mut self, tcb: &mut Tcb, used: f64, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let (rescue, clock) = (self.rescue, self.clock);
        let board = &mut self.board;
        if self.state != CaState::Recovery || tcp.rack || used + f64::from(tcb.smss) > tcb.cwnd {
            return None;
        }
        let (i, start, end) = match board.next_hole() {
            Some(hole) => {
                board.on_resent_early(hole.0, now, &clock);
                hole
            }
            None if rescue.is_some_and(|r| tcb.una.after(r)) => {
                self.rescue = None;
                let last = board.last_not_sacked()?;
                board.lose_at(last.0);
                board.on_resent(last.0, now, &clock);
                last
            }
            None => return None,
        };
        self.prr.on_sent(board.weight_of(end - start) as f64);
        self.tracking.on_retransmit(now);
        let pushed = board.is_pushed(i);
        Some(self.resend(tcb, now, (start, end, pushed), tcp))
    }

    /// The length of the next new segment (0: a FIN alone), if the receiver, Nagle and the application let it go.
    #[inline(always)]
    fn new_length(&self, tcb: &Tcb, tcp: &Tcp) -> Option<u32> {
        if tcb.unsent == 0 {
            let fin_due = tcb.closing && !tcb.fin_sent;
            return (fin_due && tcb.room_in_window() > 0).then_some(0);
        }
        let len = tcb.unsent.min(u64::from(tcb.smss)) as u32;
        let room = tcb.room_in_window();
        if room < len {
            // RFC 9293 §3.8.6.2.1: a part only if nothing is out and it is all that the window takes.
            return (tcb.una == tcb.max && tcb.is_worth_it(room)).then_some(room);
        }
        let len =
            if self.tracking.records.is_empty() { len } else { self.tracking.within_record(tcb.max, len) };
        // What has more behind it does not wait (RFC 9293 §3.7.4; Linux, tcp_nagle_test).
        if len < tcb.smss && u64::from(len) == tcb.unsent && !tcb.closing && tcb.holds(&self.tracking, tcp) {
            return None;
        }
        Some(len)
    }

    /// The tail loss probe: new data if there is some, else the last segment (RFC 8985 §7.3).
    fn probe_tail(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let clock = self.clock;
        let (outgoing, retransmitted) = if let Some(len) = self.new_length(tcb, tcp) {
            let start = tcb.max;
            let outgoing = self.build_new(tcb, len, now, tcp);
            self.board.on_sent(start, tcb.max, now, &clock, false);
            (outgoing, false)
        } else {
            let board = &mut self.board;
            let last = *board.last()?;
            let i = board.last_index();
            let pushed = board.is_pushed(i);
            board.on_resent(i, now, &clock);
            self.tracking.on_retransmit(now);
            (self.resend(tcb, now, (last.start, last.end, pushed), tcp), true)
        };
        self.tlp.on_probe(tcb.max, retransmitted);
        Some(outgoing)
    }

    /// A probe of the closed window, of whose octet the scoreboard must know.
    fn probe_window(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Outgoing {
        let max = tcb.max;
        let outgoing = tcb.probe_window(now, tcp);
        if tcb.max != max {
            self.board.on_sent(max, tcb.max, now, &self.clock, false);
        }
        outgoing
    }

    #[inline(never)]
    fn build_new(&self, tcb: &mut Tcb, len: u32, now: Time, tcp: &Tcp) -> Outgoing {
        tcb.build(now, tcb.max, len, Some(&self.tracking), tcp)
    }

    /// Sends [start, end) again. A FIN that was not sent yet does not join it: the scoreboard would not know.
    fn resend(
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
