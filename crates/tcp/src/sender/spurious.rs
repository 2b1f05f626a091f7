//! Response to spurious retransmissions, which F-RTO, Eifel or D-SACK detects.

use super::changes::UNDO;
use super::tcb::Tcb;
use super::tracking::Tracking;
use crate::config::{SpuriousResponse, Tcp};
use crate::congestion::CongestionControl;
use crate::recovery::frto::Frto;
use crate::window::Window;

impl Tcb {
    /// Undo the last reduction of cwnd and ssthresh (RFC 4015 §3.2) without permitting a burst.
    /// `acked` is the number of bytes that the ACK delivers.
    pub(super) fn undo_reduction(&mut self, tracking: &mut Tracking, window: &Window, acked: u32, tcp: &Tcp) {
        let before = self.windows();
        self.stats.undone += 1;
        if tcp.recovery.spurious_response != SpuriousResponse::None && tracking.undo.restores_window() {
            self.congestion.undo(window);
            let restores = tcp.recovery.spurious_response == SpuriousResponse::Restore;
            let ssthresh = if restores { tracking.undo.ssthresh } else { tracking.undo.pipe_prev() };
            self.ssthresh = self.ssthresh.max(ssthresh);
            self.cwnd = match tcp.recovery.spurious_response {
                SpuriousResponse::Restore => self.cwnd.max(tracking.undo.cwnd),
                _ => {
                    let burst = tcp.initial_window.bytes(window.smss);
                    // RFC 4015 §3.4: after the sender undoes a reduction, it sends at most an
                    // initial window in one burst.
                    (window.flight + f64::from(acked).min(burst)).max(window.smss)
                }
            };
        }
        self.record(&UNDO, before, None);
        self.rto.end_back_off();
        tracking.undo.armed = false;
        tracking.frto = Frto::Off;
        self.retransmit = false;
    }
}
