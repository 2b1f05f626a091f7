//! Detection of spurious retransmissions by a sender without SACK: F-RTO (RFC 5682 §2.1) and Eifel.

use net::{Options, Seq};

use super::CumulativeSender;
use crate::config::Tcp;
use crate::recovery::frto::{self, Frto};
use crate::sender::changes::TIMEOUT_GENUINE;
use crate::sender::tcb::Tcb;

impl CumulativeSender {
    /// Test whether the last retransmission was spurious. Return true if the ACK needs no further
    /// processing. `acked` is the number of bytes that a new ACK acknowledges, and `None` for a
    /// duplicate ACK.
    #[inline(never)]
    pub(super) fn test_timeout(
        &mut self,
        tcb: &mut Tcb,
        ack: Seq,
        acked: Option<u32>,
        echo: bool,
        options: &Options,
        tcp: &Tcp,
    ) -> bool {
        let Some(measurements) = &mut self.measurements else { return false };
        let tracking = &mut measurements.tracking;
        let advances = acked.is_some();
        let can_send = tcb.unsent > 0 && tcb.usable_window() > 0;
        let reply = options.timestamps.map(|t| t.1);
        // RFC 3522 §3.2, step 5: the timestamp does not prove that the retransmission was spurious
        // if the ACK acknowledges all data.
        let proved = advances && !echo && ack.before(tcb.max) && tracking.undo.original_arrived(reply);
        let spurious = if tcp.recovery.eifel && proved {
            true
        } else {
            let state = tracking.frto;
            // the ACK acknowledges all retransmitted data
            let covers_retransmissions = state != Frto::Retransmitted || !ack.before(self.nxt);
            match tracking.frto.on_ack(advances && covers_retransmissions, ack, self.recover, can_send) {
                frto::Verdict::Nothing => false,
                frto::Verdict::Lost => {
                    if state == Frto::SentNew {
                        // RFC 5682 §2.1, step 3a: retransmit the unacknowledged data, at first three segments.
                        self.nxt = tcb.una;
                        self.inflation = 0;
                        let before = tcb.windows();
                        tcb.cwnd = tcb.cwnd.max(3.0 * f64::from(tcb.smss));
                        tcb.record(&TIMEOUT_GENUINE, before, None);
                    }
                    false
                }
                frto::Verdict::SendNew => {
                    self.nxt = tcb.max;
                    // RFC 5682 §2.1, step 2b: send at most two new segments.
                    self.inflation = (tcb.flight() + 2 * tcb.smss).saturating_sub(tcb.cwnd as u32);
                    return true;
                }
                frto::Verdict::Spurious => true,
            }
        };
        if spurious {
            let window = self.window(tcb);
            if let Some(tracking) = self.tracking_mut() {
                tcb.undo_reduction(tracking, &window, acked.unwrap_or(0), tcp);
            }
            self.last_reduction = None;
            self.recover = Seq(tcb.una.0.wrapping_sub(1));
            self.nxt = tcb.max;
            self.duplicates.end();
            self.inflation = 0;
        }
        spurious
    }
}
