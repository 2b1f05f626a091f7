//! What it tells of itself.

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
    /// Whether the connection is over at this end.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Its parameters.
    pub fn tcp(&self) -> &Tcp {
        &self.tcp
    }

    /// The shift of the windows it advertises, if that was agreed on.
    pub fn scale(&self) -> u8 {
        if self.negotiated.scaling && self.tcp.window.scaling == WindowScaling::On {
            self.negotiated.our_scale
        } else {
            0
        }
    }

    /// The window of its sender.
    pub fn window(&self) -> Window {
        match &self.sender {
            Some(sender) => sender.window(),
            None => self.new_sender().window(),
        }
    }

    /// Its retransmission timeout, back-off included.
    pub fn rto(&self) -> Duration {
        self.sender
            .as_ref()
            .map_or_else(|| self.new_sender().tcb.timeout(&self.tcp), |s| s.tcb.timeout(&self.tcp))
    }

    /// How many round trips it measured, and the last of them.
    pub fn round_trips(&self) -> (u32, Duration) {
        match &self.sender {
            Some(sender) => sender.tcb.round_trips(),
            None => (u32::from(self.first_rtt > Duration::ZERO), self.first_rtt),
        }
    }

    /// Its smoothed round-trip time (SRTT); zero before the first is measured.
    pub fn srtt(&self) -> Duration {
        self.sender.as_ref().map_or(self.first_rtt, |s| s.tcb.smoothed(&self.tcp).0)
    }

    /// Bytes of its data that the other side acknowledged.
    pub fn acked(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.tcb.acked)
    }

    /// What its sender counted.
    pub fn sender_stats(&self) -> SenderStats {
        let mut stats = self.sender.as_ref().map_or(SenderStats::default(), |s| s.tcb.stats());
        if stats.bytes > 0 {
            stats.bytes -= u64::from(self.syn_out());
        }
        stats
    }

    /// How often its retransmission timer expired.
    pub fn timeouts(&self) -> u32 {
        self.sender.as_ref().map_or(0, |s| s.tcb.timeouts())
    }

    /// Whether the number of its SYN is out and not acknowledged.
    pub(super) fn syn_out(&self) -> bool {
        let opens = matches!(self.state, State::SynSent | State::SynReceived);
        opens && self.sender.as_ref().is_some_and(|s| s.tcb.una == self.iss && s.tcb.max != s.tcb.una)
    }

    /// What its receiver counted.
    pub fn receiver_stats(&self) -> ReceiverStats {
        self.receiver.as_ref().map_or(ReceiverStats::default(), |r| r.stats())
    }

    /// Pure ACKs sent, and packets of all kinds sent.
    pub fn sent(&self) -> (u64, u64) {
        (u64::from(self.acks_sent), u64::from(self.packets_sent))
    }

    /// Whether both ends agreed on ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.negotiated()
    }

    /// On what ECN both ends agreed.
    pub fn ecn_mode(&self) -> Mode {
        self.ecn.mode()
    }

    /// With Accurate ECN: packets that arrived here marked, bytes that arrived here with ECT(0), CE and ECT(1), and
    /// bytes that arrived there so as the other side said.
    pub fn ecn_counts(&self) -> (u32, [u32; 3], [u32; 3]) {
        self.ecn.counts().unwrap_or_default()
    }

    /// When it was established; when all its data was acknowledged after its close; when it was
    /// closed. Each [`Time::NEVER`] until it happens.
    pub fn milestones(&self) -> (Time, Time, Time) {
        (self.established_at, self.completed_at, self.closed_at)
    }

    /// The largest payload of a segment that it sends.
    pub fn segment_size(&self) -> u32 {
        self.sender.as_ref().map_or_else(|| self.new_sender().window().smss as u32, |s| s.tcb.smss)
    }

    /// RCV.NXT.
    pub fn next_expected(&self) -> Seq {
        self.next()
    }

    /// The receive window that the parameters give it.
    pub fn receive_window(&self) -> u32 {
        self.buffer()
    }

    /// Numbers of the other side that were received in order, a FIN included.
    pub fn received_in_order(&self) -> u64 {
        u64::from(self.next().minus(self.irs + 1).max(0) as u32)
    }

    /// Whether its FIN is acknowledged.
    pub fn fin_acknowledged(&self) -> bool {
        self.sender.as_ref().is_some_and(|s| s.tcb.fin_sent && s.tcb.una == s.tcb.max)
    }

    /// Bytes that were delivered: acknowledged or SACKed.
    pub fn delivered(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.delivered().unwrap_or(s.tcb.acked))
    }

    /// Whether its segments are spaced.
    pub fn paces(&self) -> bool {
        self.sender.as_ref().is_some_and(|s| s.pacing_rate(&self.tcp).is_some())
    }

    /// Bytes a second that were delivered last, and whether the application had no more to send; if it is measured.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        self.sender.as_ref().and_then(|s| s.delivery_rate())
    }

    /// Segments out, and those of them that were SACKed.
    pub fn segments_out(&self) -> (u32, u32) {
        self.sender.as_ref().map_or((0, 0), |s| (s.counts().0, s.counts().1.min(s.counts().0)))
    }

    /// Segments that are deemed to be in the network.
    pub fn segments_in_flight(&self) -> f64 {
        self.sender.as_ref().map_or(0.0, |s| s.in_flight())
    }

    /// How often segments were seen to arrive in another order than they were sent in.
    pub fn reorderings(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.reorderings())
    }

    /// Probes of a closed window that were not answered.
    pub fn probes(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.tcb.probes())
    }

    /// Whether it recovers from a timeout, of a SYN too.
    pub fn recovers_from_timeout(&self) -> bool {
        self.sender.as_ref().is_some_and(|s| match self.state {
            State::SynSent | State::SynReceived => s.tcb.expirations > 0,
            _ => s.state() == CaState::Loss,
        })
    }

    /// Whether SACK, timestamps and window scaling were agreed on; the scales of the other side and ours.
    pub fn negotiated_options(&self) -> (bool, bool, bool, u8, u8) {
        let a = &self.negotiated;
        let scaling = a.scaling && self.tcp.window.scaling == WindowScaling::On;
        (a.sack, a.timestamps, scaling, a.their_scale, a.our_scale)
    }

    /// Why it ended, if it did so before its time.
    pub fn error(&self) -> Option<Error> {
        self.incidents.as_ref().and_then(|r| r.error)
    }
}
