//! Values that an endpoint reports.

use net::Seq;
use units::{Duration, Time};

use super::Endpoint;
use super::state::{Error, State};
use crate::config::{Tcp, WindowScaling};
use crate::ecn::Mode;
use crate::receiver::ReceiverStats;
use crate::sender::{CaState, SenderStats};
use crate::window::Window;

impl Endpoint {
    /// Return true if this side of the connection is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Return the state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Return the parameters.
    pub fn tcp(&self) -> &Tcp {
        &self.tcp
    }

    /// Return the scale factor of the advertised windows; 0 if scaling was not negotiated.
    pub fn scale(&self) -> u8 {
        if self.negotiated.scaling && self.tcp.window.scaling == WindowScaling::On {
            self.negotiated.our_scale
        } else {
            0
        }
    }

    /// Return the windows and the data in flight of the sender.
    pub fn window(&self) -> Window {
        match &self.sender {
            Some(sender) => sender.window(),
            None => self.new_sender().window(),
        }
    }

    /// Return the retransmission timeout, including its exponential backoff.
    pub fn rto(&self) -> Duration {
        self.sender
            .as_ref()
            .map_or_else(|| self.new_sender().tcb.timeout(&self.tcp), |s| s.tcb.timeout(&self.tcp))
    }

    /// Return the number of measured round-trip times, and the last measured round-trip time.
    pub fn round_trips(&self) -> (u32, Duration) {
        match &self.sender {
            Some(sender) => sender.tcb.round_trips(),
            None => (u32::from(self.first_rtt > Duration::ZERO), self.first_rtt),
        }
    }

    /// Return the smoothed round-trip time (SRTT); zero before the first measurement.
    pub fn srtt(&self) -> Duration {
        self.sender.as_ref().map_or(self.first_rtt, |s| s.tcb.smoothed(&self.tcp).0)
    }

    /// Return the number of bytes that the other side acknowledged.
    pub fn acked(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.tcb.acked)
    }

    /// Return the counts of sent segments.
    pub fn sender_stats(&self) -> SenderStats {
        let mut stats = self.sender.as_ref().map_or(SenderStats::default(), |s| s.tcb.stats());
        if stats.bytes > 0 {
            stats.bytes -= u64::from(self.syn_out());
        }
        stats
    }

    /// Return the number of expirations of the retransmission timer.
    pub fn timeouts(&self) -> u32 {
        self.sender.as_ref().map_or(0, |s| s.tcb.timeouts())
    }

    /// Return true if a SYN or SYN-ACK was sent and is not acknowledged.
    pub(super) fn syn_out(&self) -> bool {
        let opens = matches!(self.state, State::SynSent | State::SynReceived);
        opens && self.sender.as_ref().is_some_and(|s| s.tcb.una == self.iss && s.tcb.max != s.tcb.una)
    }

    /// Return the counts of received segments.
    pub fn receiver_stats(&self) -> ReceiverStats {
        self.receiver.as_ref().map_or(ReceiverStats::default(), |r| r.stats())
    }

    /// Return the number of pure ACKs sent, and of all packets sent.
    pub fn sent(&self) -> (u64, u64) {
        (u64::from(self.acks_sent), u64::from(self.packets_sent))
    }

    /// Return true if both sides negotiated ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.negotiated()
    }

    /// Return the negotiated mode of ECN.
    pub fn ecn_mode(&self) -> Mode {
        self.ecn.mode()
    }

    /// Return the counters of Accurate ECN: the number of marked packets that arrived, the bytes
    /// that arrived, and the bytes that the other side received according to its feedback. The
    /// bytes are counted separately for ECT(0), CE and ECT(1).
    pub fn ecn_counts(&self) -> (u32, [u32; 3], [u32; 3]) {
        self.ecn.counts().unwrap_or_default()
    }

    /// Return the times of three events: the establishment of the connection, the acknowledgement
    /// of all data after the application's close, and the end of the connection. The time of an
    /// event is [`Time::NEVER`] until the event occurs.
    pub fn milestones(&self) -> (Time, Time, Time) {
        (self.established_at, self.completed_at, self.closed_at)
    }

    /// Return the size of the largest payload of a segment.
    pub fn segment_size(&self) -> u32 {
        self.sender.as_ref().map_or_else(|| self.new_sender().window().smss as u32, |s| s.tcb.smss)
    }

    /// Return RCV.NXT.
    pub fn next_expected(&self) -> Seq {
        self.next()
    }

    /// Return the size of the receive buffer, in bytes.
    pub fn receive_window(&self) -> u32 {
        self.buffer()
    }

    /// Return the number of sequence numbers that this endpoint received in order, including the
    /// sequence number of a FIN.
    pub fn received_in_order(&self) -> u64 {
        u64::from(self.next().minus(self.irs + 1).max(0) as u32)
    }

    /// Return true if this side's FIN is acknowledged.
    pub fn fin_acknowledged(&self) -> bool {
        self.sender.as_ref().is_some_and(|s| s.tcb.fin_sent && s.tcb.una == s.tcb.max)
    }

    /// Return the number of delivered bytes, which are the bytes that the other side has
    /// acknowledged or SACKed.
    pub fn delivered(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.delivered().unwrap_or(s.tcb.acked))
    }

    /// Return true if segments are paced.
    pub fn paces(&self) -> bool {
        self.sender.as_ref().is_some_and(|s| s.pacing_rate(&self.tcp).is_some())
    }

    /// Return the last delivery rate in bytes per second, and true if the application limited this
    /// rate, or `None` if the endpoint does not measure the delivery rate.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        self.sender.as_ref().and_then(|s| s.delivery_rate())
    }

    /// Return the number of unacknowledged segments, and the number of SACKed segments.
    pub fn segments_out(&self) -> (u32, u32) {
        self.sender.as_ref().map_or((0, 0), |s| (s.counts().0, s.counts().1.min(s.counts().0)))
    }

    /// Return the number of segments in flight (pipe).
    pub fn segments_in_flight(&self) -> f64 {
        self.sender.as_ref().map_or(0.0, |s| s.in_flight())
    }

    /// Return the number of detected reorderings.
    pub fn reorderings(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.reorderings())
    }

    /// Return the number of unanswered probes of a closed window.
    pub fn probes(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.tcb.probes())
    }

    /// Return true during the recovery from a timeout, including a timeout of a SYN.
    pub fn recovers_from_timeout(&self) -> bool {
        self.sender.as_ref().is_some_and(|s| match self.state {
            State::SynSent | State::SynReceived => s.tcb.expirations > 0,
            _ => s.state() == CaState::Loss,
        })
    }

    /// Return three flags and two window scales. The flags are true if SACK, timestamps and window
    /// scaling were negotiated. The last two returned values are the window scale of the other side
    /// and the window scale of this side.
    pub fn negotiated_options(&self) -> (bool, bool, bool, u8, u8) {
        let a = &self.negotiated;
        let scaling = a.scaling && self.tcp.window.scaling == WindowScaling::On;
        (a.sack, a.timestamps, scaling, a.their_scale, a.our_scale)
    }

    /// Return the reason for a premature end of the connection.
    pub fn error(&self) -> Option<Error> {
        self.incidents.as_ref().and_then(|r| r.error)
    }
}
