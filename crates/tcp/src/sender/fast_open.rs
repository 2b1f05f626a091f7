//! Data that goes out before the handshake ends (RFC 7413, `rfc7413`).

use units::{Duration, Time};

use super::{Pending, Phase, Sender};
use crate::config::Tcp;

impl Sender {
    /// The first SYN goes out with as much data as there is, up to `room` bytes: how many.
    pub fn on_syn_data(&mut self, room: u32) -> u32 {
        let len = self.unsent.min(u64::from(room)) as u32;
        if len > 0 {
            if self.unsent != u64::MAX {
                self.unsent -= u64::from(len);
                self.push = self.push + 1; // it was noted before the SYN had its number
            }
            self.max = self.max + len;
            self.nxt = self.max;
            self.segments += 1;
        }
        len
    }

    /// The other side acknowledged the SYN, but not all of its data, which goes out again at once (RFC 7413 §4.2.2).
    /// That is no sign of congestion (Linux, tcp_non_congestion_loss_retransmit).
    pub(super) fn lose_syn_data(&mut self, now: Time, tcp: &Tcp) {
        self.timed.1 = Time::NEVER;
        (self.timer, self.pending) = (now + self.rto.timeout(tcp), Pending::Rto);
        self.nxt = self.una;
        let Some(tracking) = &mut self.tracking else { return };
        tracking.rto_from = now;
        let Some(board) = &mut tracking.board else { return };
        let mut start = self.una;
        while start.before(self.max) {
            let end = start + self.smss.min(self.max - start);
            board.on_sent(start, end, now, &tracking.clock, false);
            start = end;
        }
        board.lose_all(true);
        tracking.phase = Phase::Loss;
        (self.recover, self.nxt) = (self.max, self.max);
    }

    /// The SYN-ACK has gone out, and data may follow it. Nothing is timed before the handshake ends.
    pub fn begin_early(&mut self, now: Time, smss: u32, sack: bool, timestamps: bool, tcp: &Tcp) {
        self.timed.1 = Time::NEVER;
        self.on_syn_acked(now, self.max, smss, sack, timestamps, tcp);
    }

    /// The SYN-ACK was not answered, twice: what followed it is lost, and one segment may be out (Linux,
    /// tcp_fastopen_synack_timer).
    pub fn lose_early_data(&mut self, now: Time, tcp: &Tcp) {
        if self.una == self.max {
            self.cwnd = f64::from(self.smss);
            return;
        }
        self.pending = Pending::Rto;
        self.on_timer(now, tcp);
        self.rto.end_back_off();
    }

    /// The SYN-ACK went out again.
    pub fn count_syn_timeout(&mut self) {
        self.stats.timeouts += 1;
    }

    /// The handshake ends, `rtt` after the SYN-ACK, if that is known: what is out is timed from now on (Linux,
    /// tcp_rcv_synrecv_state_fastopen).
    pub fn end_early(&mut self, now: Time, rtt: Option<Duration>, tcp: &Tcp) {
        if let Some(rtt) = rtt {
            self.rto.on_sample(tcp, Time(now.0.saturating_sub(rtt.0)), now, (self.una, self.max));
        }
        self.expirations = 0;
        let out = self.una != self.max;
        let at = if out { now + self.rto.timeout(tcp) } else { Time::NEVER };
        (self.timer, self.pending) = (at, Pending::Rto);
        if let Some(tracking) = &mut self.tracking {
            tracking.rto_from = now;
        }
    }
}
