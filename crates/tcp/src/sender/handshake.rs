//! State of the sender during the handshake, and the initialization of the sender when the
//! connection is established.

use net::Seq;
use units::{Duration, Time};

use super::changes::{INITIAL_WINDOW, SYN_ACK_MARKED, SYN_LOST};
use super::sack::SackSender;
use super::send_queue::SendQueue;
use super::tracking::Tracking;
use super::{Kind, Sender};
use crate::config::{CwndValidation, FrtoKind, IdleRestart, Nagle, Push, SendBuffer, Tcp};
use crate::congestion::CongestionControl;
use crate::recovery::RecoveryKind;

/// RTO of the first data after a lost SYN (RFC 6298 §5.7).
const AFTER_SYN_LOSS: Duration = Duration::from_millis(3000);

impl Sender {
    /// Record that a SYN or SYN-ACK is sent, and start its timer.
    pub fn on_syn_sent(&mut self, now: Time, tcp: &Tcp) {
        let first = self.tcb.max == self.tcb.una;
        // a retransmitted SYN may follow a SYN that carried data
        self.tcb.max = self.tcb.max.max(self.tcb.una + 1);
        if let Kind::Cumulative(sender) = &mut self.kind {
            sender.skip_to_max(&self.tcb);
            sender.time_syn(if first { now } else { Time::NEVER });
        }
        self.tcb.timer = now + self.tcb.rto.timeout(tcp);
    }

    /// Establish the connection when an ACK acknowledges the SYN. `ack` is the acknowledgement
    /// number of the ACK. `smss`, `sack` and `timestamps` are the results of the negotiation.
    pub fn on_syn_acked(&mut self, now: Time, ack: Seq, smss: u32, sack: bool, timestamps: bool, tcp: &Tcp) {
        if self.tcb.expirations > 0 && self.tcb.write_end == self.tcb.una {
            self.tcb.write_end = self.tcb.una + 1;
        }
        self.tcb.acked += u64::from(ack - (self.tcb.una + 1));
        self.tcb.una = ack;
        if let Kind::Cumulative(sender) = &mut self.kind {
            sender.sample_rtt(&mut self.tcb, now, tcp);
        }
        self.tcb.timer = Time::NEVER;
        if !self.tcb.write_end.after(self.tcb.una) && self.tcb.unsent == 0 {
            self.tcb.write_end = self.tcb.una;
        }
        self.tcb.smss = smss;
        if let Some(n) = tcp.cwnd.initial_ssthresh {
            self.tcb.ssthresh = n.0 * f64::from(smss);
        }
        let iw = tcp.initial_window.bytes(f64::from(smss));
        // RFC 5681 §3.1: cwnd is one segment after the loss of a SYN or SYN-ACK.
        let syn_lost = u64::from(self.tcb.expirations) > tcp.connection.syn_losses_forgiven;
        self.tcb.cwnd = if syn_lost { f64::from(smss) } else { iw };
        self.tcb.record_first(if syn_lost { &SYN_LOST } else { &INITIAL_WINDOW });
        if self.tcb.expirations > 0 && self.tcb.rto.srtt(tcp) == Duration::ZERO {
            // RFC 6298 §5.7: the loss of a SYN increases the RTO of the data to 3 s.
            self.tcb.rto.restart_at(AFTER_SYN_LOSS, tcp);
        }
        self.tcb.expirations = 0;
        let sack = sack && matches!(tcp.recovery.method, RecoveryKind::Sack | RecoveryKind::Fack);
        let needed = sack
            || timestamps
            || self.tcb.congestion.needs_measurements()
            || tcp.recovery.frto != FrtoKind::Off
            || tcp.recovery.eifel
            || tcp.connection.nagle != Nagle::Off
            || tcp.cwnd.idle_restart != IdleRestart::Off
            || tcp.connection.user_timeout.is_some()
            || tcp.connection.push != Push::LastWrite
            || tcp.cwnd.validation != CwndValidation::None
            || tcp.send_buffer != SendBuffer::Unlimited;
        if needed {
            self.start_tracking(now, sack, timestamps, tcp);
        } else if let Kind::Cumulative(sender) = &mut self.kind {
            sender.on_syn_acked(&self.tcb, None);
        }
        if self.tcb.una != self.tcb.max {
            self.retransmit_syn_data(now, tcp);
        }
    }

    /// Create the optional state of an established connection. If `sack` is true, replace the
    /// sender without SACK by a sender with SACK.
    #[inline(never)]
    fn start_tracking(&mut self, now: Time, sack: bool, timestamps: bool, tcp: &Tcp) {
        let mut tracking = Tracking::new(now, self.tcb.una, self.tcb.rto.srtt(tcp), timestamps, tcp);
        tracking.queue = SendQueue::new(self.tcb.max, &self.tcb, tcp);
        match &mut self.kind {
            kind if sack => {
                *kind = Kind::Sack(Box::new(SackSender::new(&self.tcb, tracking, now, tcp)));
            }
            Kind::Cumulative(sender) => sender.on_syn_acked(&self.tcb, Some(tracking)),
            Kind::Sack(_) => {}
        }
    }

    /// Set up the sender of a connection that was established at `then` without a simulated
    /// handshake. `rtt` is the round-trip time of the handshake, or zero if the round-trip time is
    /// unknown. `window` contains a sequence number and the last window that the other side
    /// advertised. Every later segment from the other side starts at or after this sequence number.
    pub fn resume(
        &mut self,
        tcp: &Tcp,
        (then, rtt): (Time, Duration),
        window: (Seq, u32),
        smss: u32,
        sack: bool,
        timestamps: bool,
    ) {
        let tcb = &mut self.tcb;
        tcb.max = tcb.una + 1;
        (tcb.wl1, tcb.rwnd) = window;
        tcb.max_window = tcb.rwnd;
        if rtt > Duration::ZERO {
            tcb.rto.on_sample(tcp, Time::ZERO, Time::ZERO + rtt, (tcb.una, tcb.max));
        }
        if let Kind::Cumulative(sender) = &mut self.kind {
            sender.skip_to_max(tcb);
        }
        self.on_syn_acked(then, self.tcb.max, smss, sack, timestamps, tcp);
        // The application has not written any data before this call.
        match &mut self.kind {
            Kind::Cumulative(sender) => sender.record_limit(&mut self.tcb),
            Kind::Sack(sender) => sender.record_limit(&mut self.tcb, tcp),
        }
    }

    /// Set cwnd to one segment because the SYN-ACK was marked (RFC 5562 §3.1).
    pub fn begin_with_one_segment(&mut self) {
        let before = self.tcb.windows();
        self.tcb.cwnd = f64::from(self.tcb.smss);
        self.tcb.record(&SYN_ACK_MARKED, before, None);
    }

    /// Restart the timer that retransmits the SYN-ACK (RFC 5562 §3.2).
    pub fn restart_syn_timer(&mut self, now: Time, tcp: &Tcp) {
        self.tcb.timer = now + self.tcb.rto.timeout(tcp);
    }

    /// Process an expiry of the SYN timer. The first `linear` timeouts have equal length, and each
    /// later timeout is twice as long as the previous one. Return true if the handshake fails
    /// because `linear + retries` retransmissions were unanswered.
    pub fn on_syn_timeout(&mut self, retries: u64, linear: u64) -> bool {
        self.tcb.stats.timeouts += 1;
        self.tcb.expirations = self.tcb.expirations.saturating_add(1);
        if u64::from(self.tcb.expirations) > linear {
            self.tcb.rto.back_off();
        }
        u64::from(self.tcb.expirations) > retries + linear
    }
}
