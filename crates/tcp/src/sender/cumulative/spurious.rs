//! Retransmissions that were not needed, without scoreboard: F-RTO (RFC 5682 §2.1) and Eifel.

use net::{Options, Seq};

use super::CumulativeSender;
use crate::config::Tcp;
use crate::recovery::frto::{self, Frto};
use crate::sender::tcb::Tcb;

impl CumulativeSender {
    /// Tests whether the last retransmission was spurious. Returns whether the ACK is dealt with. `acked`: bytes that it acknowledges, if
    /// it is no duplicate.
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
        // RFC 3522 §3.2, step 5: not if everything is acknowledged.
        let proved = advances && !echo && ack.before(tcb.max) && tracking.undo.original_arrived(reply);
        let spurious = if tcp.recovery.eifel && proved {
            true
        } else {
            let was = tracking.frto;
            let whole = was != Frto::Retransmitted || !ack.before(self.nxt); // all that was sent again
            match tracking.frto.on_ack(advances && whole, ack, self.recover, can_send) {
                frto::Verdict::Nothing => false,
                frto::Verdict::Lost => {
                    if was == Frto::SentNew {
                        // Step 3a: what was not acknowledged goes out again, three segments at first.
                        self.nxt = tcb.una;
                        self.inflation = 0;
                        tcb.cwnd = tcb.cwnd.max(3.0 * f64::from(tcb.smss));
                    }
                    false
                }
                frto::Verdict::SendNew => {
                    self.nxt = tcb.max;
                    // Step 2b: up to two new segments.
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
