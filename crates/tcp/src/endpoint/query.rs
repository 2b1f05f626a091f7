//! What it tells of itself.

use units::{Duration, Time};

use super::{Endpoint, Error, State};
use crate::config::{Tcp, WindowScaling};
use crate::ecn::Mode;
use crate::info::Info;
use crate::receiver::ReceiverStats;
use crate::sender::{SenderStats, Window};

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
        if self.agreed.scaling && self.tcp.window_scaling == WindowScaling::On {
            self.agreed.our_scale
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
        self.sender.as_ref().map_or_else(|| self.new_sender().timeout(&self.tcp), |s| s.timeout(&self.tcp))
    }

    /// How many round trips it measured, and the last of them.
    pub fn round_trips(&self) -> (u32, Duration) {
        match &self.sender {
            Some(sender) => sender.round_trips(),
            None => (u32::from(self.first_rtt > Duration::ZERO), self.first_rtt),
        }
    }

    /// Its smoothed round-trip time (SRTT); zero before the first is measured.
    pub fn srtt(&self) -> Duration {
        self.sender.as_ref().map_or(Duration::ZERO, |s| s.smoothed(&self.tcp).0)
    }

    /// Bytes of its data that the other side acknowledged.
    pub fn acked(&self) -> u64 {
        self.sender.as_ref().map_or(0, |s| s.acked)
    }

    /// What its sender counted.
    pub fn sender_stats(&self) -> SenderStats {
        self.sender.as_ref().map_or(SenderStats::default(), |s| s.stats())
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

    /// When it was established; when all its data was acknowledged after its close; when it was
    /// closed. Each [`Time::NEVER`] until it happens.
    pub fn milestones(&self) -> (Time, Time, Time) {
        (self.established_at, self.completed_at, self.closed_at)
    }

    /// Everything an application may ask (Linux, TCP_INFO).
    pub fn info(&self) -> Info {
        Info::of(self, self.sender.as_deref(), self.receiver.as_deref())
    }

    /// Whether SACK, timestamps and window scaling were agreed on; the scales of the other side and ours.
    pub fn agreed(&self) -> (bool, bool, bool, u8, u8) {
        let a = &self.agreed;
        let scaling = a.scaling && self.tcp.window_scaling == WindowScaling::On;
        (a.sack, a.timestamps, scaling, a.their_scale, a.our_scale)
    }

    /// Why it ended, if it did so before its time.
    pub fn error(&self) -> Option<Error> {
        self.rare.as_ref().and_then(|r| r.error)
    }
}
