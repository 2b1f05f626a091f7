//! Data sent before the handshake is complete (RFC 7413, `rfc7413`).

use units::{Duration, Time};

use super::changes::SYN_ACK_REPEATED;
use super::tcb::TimerPurpose;
use super::{Kind, Sender};
use crate::config::Tcp;

impl Sender {
    /// Send the waiting data, at most `max_len` bytes, with the first SYN. Return the number of
    /// bytes of data in the SYN.
    pub fn on_syn_data(&mut self, max_len: u32) -> u32 {
        let tcb = &mut self.tcb;
        let len = tcb.unsent.min(u64::from(max_len)) as u32;
        if len > 0 {
            if tcb.unsent != u64::MAX {
                tcb.unsent -= u64::from(len);
                // the application wrote the data before the SYN had a sequence number
                tcb.write_end = tcb.write_end + 1;
            }
            tcb.max = tcb.max + len;
            tcb.segments += 1;
            if let Kind::Cumulative(sender) = &mut self.kind {
                sender.skip_to_max(tcb);
            }
        }
        len
    }

    /// Retransmit data of the SYN that the SYN-ACK did not acknowledge (RFC 7413 §4.2.2). The loss
    /// of data in a SYN is not a sign of congestion (Linux, tcp_non_congestion_loss_retransmit).
    pub(super) fn retransmit_syn_data(&mut self, now: Time, tcp: &Tcp) {
        self.tcb.restart_timer(now, tcp);
        match &mut self.kind {
            Kind::Cumulative(sender) => sender.rewind_to_una(&self.tcb),
            Kind::Sack(sender) => sender.mark_all_lost(&self.tcb, now),
        }
    }

    /// Permit data after the SYN-ACK, before the handshake is complete. Round-trip times are
    /// measured only after the handshake.
    pub fn begin_early(&mut self, now: Time, smss: u32, sack: bool, timestamps: bool, tcp: &Tcp) {
        if let Kind::Cumulative(sender) = &mut self.kind {
            sender.time_syn(Time::NEVER);
        }
        self.on_syn_acked(now, self.tcb.max, smss, sack, timestamps, tcp);
    }

    /// Mark all data after the SYN-ACK as lost, because the SYN-ACK was retransmitted twice, and
    /// reduce cwnd to one segment (Linux, tcp_fastopen_synack_timer).
    pub fn mark_early_data_lost(&mut self, now: Time, tcp: &Tcp) {
        if self.tcb.una == self.tcb.max {
            let before = self.tcb.windows();
            self.tcb.cwnd = f64::from(self.tcb.smss);
            self.tcb.record(&SYN_ACK_REPEATED, before, None);
            return;
        }
        self.tcb.timer_purpose = TimerPurpose::Rto;
        self.on_timer(now, tcp);
        self.tcb.rto.end_back_off();
    }

    /// Count a timeout for which the endpoint retransmits the SYN-ACK.
    pub fn count_syn_timeout(&mut self) {
        self.tcb.stats.timeouts += 1;
    }

    /// Complete the handshake and restart the timer for the data in flight (Linux,
    /// tcp_rcv_synrecv_state_fastopen). `rtt` is the round-trip time of the SYN-ACK, if this
    /// round-trip time is known.
    pub fn end_early(&mut self, now: Time, rtt: Option<Duration>, tcp: &Tcp) {
        let tcb = &mut self.tcb;
        if let Some(rtt) = rtt {
            tcb.rto.on_sample(tcp, Time(now.0.saturating_sub(rtt.0)), now, (tcb.una, tcb.max));
        }
        tcb.expirations = 0;
        tcb.restart_timer_if_in_flight(now, tcb.rto.timeout(tcp));
        if let Kind::Sack(sender) = &mut self.kind {
            sender.on_timer_started(now);
        }
    }
}
