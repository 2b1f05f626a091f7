//! Rules by which the sender changes cwnd and ssthresh, and the functions that record the changes.
//!
//! The controller records the growth of cwnd by an ACK (`congestion/recorded.rs`).

use net::{Rule, rules};
use units::Time;

use super::tcb::Tcb;
use crate::congestion::{Congestion, CongestionControl};
use crate::window::{CwndChange, Windows};

rules! {
    /// The handshake is complete, and cwnd is the initial window.
    INITIAL_WINDOW = "initial-window", from "rfc5681 §3.1; rfc6928 §2";
    /// A SYN or SYN-ACK was lost, so cwnd is one segment.
    SYN_LOST = "syn-lost", from "rfc5681 §3.1";
    /// The SYN-ACK was marked, so cwnd is one segment.
    SYN_ACK_MARKED = "syn-ack-marked", from "rfc5562 §3.1";
    /// The SYN-ACK of TCP Fast Open was repeated, so cwnd is one segment.
    SYN_ACK_REPEATED = "syn-ack-repeated", from "Linux: tcp_fastopen_synack_timer";
    /// The sender enters recovery: ssthresh is half of the FlightSize, and cwnd is ssthresh or
    /// falls to ssthresh by Proportional Rate Reduction.
    LOSS = "loss", from "rfc5681 §3.2, steps 2 and 3, equation 4; rfc6675 §5, step 4.2";
    /// A tail loss probe repaired a loss, which reduces cwnd as any other loss.
    PROBE_REPAIRED = "probe-repaired-loss", from "rfc8985 §7.4.2";
    /// An ACK with ECN-Echo reduces cwnd as a loss would, at most once per window of data.
    MARK = "mark", from "rfc3168 §6.1.2";
    /// The retransmission timer expired: cwnd is the loss window of one segment. ssthresh is half
    /// of the FlightSize, or the value of the congestion control, unless the timer expired for the
    /// same segment before.
    TIMEOUT = "timeout", from "rfc5681 §3.1, equation 4";
    /// Fast retransmit of TCP Tahoe: cwnd is one segment.
    TAHOE = "tahoe", from "jacobson1988";
    /// An ACK during recovery continues Proportional Rate Reduction.
    PROPORTIONAL = "proportional-rate-reduction", from "rfc6937 §3";
    /// Recovery, or the reduction for a mark, is complete: cwnd is ssthresh or less.
    RECOVERED = "recovery-ends", from "rfc5681 §3.2, step 6; rfc6582 §3.2, step 3; rfc6675 §5";
    /// The retransmission was spurious, so the reduction of cwnd and ssthresh is undone.
    UNDO = "undo", from "rfc4015 §3.2; rfc5682 §2.1; Linux: tcp_undo_cwnd_reduction";
    /// F-RTO found the timeout genuine, so the sender continues slow start after the timeout.
    TIMEOUT_GENUINE = "timeout-genuine", from "rfc5682 §2.1 and §3.1, steps 2a and 3a";
    /// The connection was idle for longer than an RTO, so cwnd restarts at the restart window.
    IDLE_RESTART = "idle-restart", from "rfc5681 §4.1";
    /// The connection was idle for longer than an RTO, so cwnd is halved once per RTO of idle time,
    /// and ssthresh is at least three quarters of the former cwnd.
    IDLE_DECAY = "idle-decay", from "rfc2861 §3";
}

impl Tcb {
    /// Record the changes of cwnd and ssthresh from now on.
    pub fn record_changes(&mut self) {
        self.congestion = self.congestion.clone().with_record();
    }

    /// Call the function `see` with each change since the last call, in order.
    pub fn take_changes(&mut self, see: impl FnMut(CwndChange)) {
        if let Some(record) = self.congestion.record() {
            record.take(see);
        }
    }

    /// Return cwnd and ssthresh.
    #[inline]
    pub(super) fn windows(&self) -> Windows {
        [self.cwnd, self.ssthresh]
    }

    /// Record the first window of the connection.
    pub(super) fn record_first(&mut self, rule: &'static Rule) {
        let after = self.windows();
        if let Some(record) = self.congestion.record() {
            record.begin(rule, after);
        }
    }

    /// Record the change of the windows since `before` by a rule. `at` is the time of the change,
    /// or `None` if it is the time of the event that the endpoint processes.
    #[inline]
    pub(super) fn record(&mut self, rule: &'static Rule, before: Windows, at: Option<Time>) {
        let after = self.windows();
        if let Some(record) = self.congestion.record() {
            record.push(CwndChange { rule, before, after, at });
        }
    }

    /// Record the response to congestion, which changed the windows since `before`.
    #[inline]
    pub(super) fn record_response(&mut self, congestion: Congestion, before: Windows) {
        if let Some(record) = self.congestion.record() {
            let default = match congestion {
                Congestion::FastRetransmit => &LOSS,
                Congestion::Ecn => &MARK,
                Congestion::Timeout { .. } => &TIMEOUT,
            };
            let rule = record.rule_of_congestion(congestion).unwrap_or(default);
            self.record(rule, before, None);
        }
    }
}
