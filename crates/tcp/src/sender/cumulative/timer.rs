//! Retransmission timeout of a sender without SACK.

use units::Time;

use super::CumulativeSender;
use crate::config::{FrtoKind, Tcp};
use crate::congestion::Congestion;
use crate::recovery::frto::Frto;
use crate::sender::changes::TIMEOUT;
use crate::sender::tcb::Tcb;

impl CumulativeSender {
    /// Process the expiry of the retransmission timer: reduce cwnd and return to SND.UNA.
    pub fn on_timeout(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) {
        let in_recovery = self.duplicates.end();
        self.inflation = 0;
        let in_same_window = !tcb.una.after(self.recover);
        let repeated = matches!(self.last_reduction, Some(Congestion::Timeout { .. })) && in_same_window;
        if !repeated {
            self.arm_undo(tcb, tcp);
        }
        let congestion = Congestion::Timeout { repeated: tcb.expirations > 1 };
        if self.last_reduction == Some(Congestion::Ecn) && in_same_window {
            // The sender has already reduced ssthresh in this window of data.
            let before = tcb.windows();
            tcb.cwnd = f64::from(tcb.smss);
            tcb.record(&TIMEOUT, before, None);
            (self.last_reduction, self.recover) = (Some(congestion), tcb.max);
        } else {
            self.reduce_cwnd(tcb, congestion, 0, now, tcp);
        }
        self.nxt = tcb.una;
        // if the receiver has closed the window again, the sender probes the window with data that
        // was in flight (RFC 9293 §3.8.6)
        tcb.retransmit = tcb.rwnd == 0;
        self.timed_at = Time::NEVER;
        tcb.rto.back_off();
        tcb.set_rto(now, self.tracking(), tcp);
        if let Some(tracking) = self.tracking_mut() {
            // RFC 5682 §2.1: a repeated timeout restarts F-RTO from step 1
            let begins = tracking.frto != Frto::Off || (!repeated && !in_recovery);
            tracking.frto =
                if tcp.recovery.frto != FrtoKind::Off && begins { Frto::Retransmitted } else { Frto::Off };
        }
    }
}
