//! Parameters of the congestion window that apply to every congestion control.

use units::{Packets, Range, params};

use super::choices::*;

params! {
    /// Congestion window (cwnd) and slow start threshold (ssthresh), for every congestion control.
    pub struct CwndParameters: "tcp.cwnd" {
        /// ACK from which slow start increases cwnd: the first or the second ACK of data.
        slow_start_from: SlowStartFrom = (SlowStartFrom::FirstAck), in Range::ANY, from "rfc5681 §3.1";
        /// Initial slow start threshold. If the key is absent, the initial ssthresh is infinite.
        initial_ssthresh: Option<Packets> = (None), in Range::at_least(1.0), from "rfc5681 §3.1: arbitrarily high";
        /// Quantity from which ssthresh is computed.
        ssthresh_from: SsthreshFrom = (SsthreshFrom::FlightSize), in Range::ANY, from "rfc5681 §3.1";
        /// Condition for growth of cwnd.
        validation: CwndValidation = (CwndValidation::None), in Range::ANY, from "rfc5681 §3.1 does not specify a condition";
        /// Effect on cwnd of an idle time longer than the RTO.
        idle_restart: IdleRestart = (IdleRestart::Off), in Range::ANY, from "rfc5681 §4.1";
        /// cwnd after a timeout, if SACK is negotiated.
        loss_window: LossWindow = (LossWindow::Segment), in Range::ANY, from "rfc5681 §3.1: LW";
    }
}
