//! Read access to the state of a sender with or without SACK.

use net::{Options, Segment};
use units::{Duration, Rate};

use super::ca_state::CaState;
use super::newly_acked::NewlyAcked;
use super::{Kind, Sender};
use crate::config::Tcp;
use crate::congestion::CongestionControl;
use crate::window::Window;

impl Sender {
    /// Return the windows as a congestion control reads them.
    pub fn window(&self) -> Window {
        match &self.kind {
            Kind::Cumulative(sender) => sender.window(&self.tcb),
            Kind::Sack(sender) => sender.window(&self.tcb),
        }
    }

    /// Return the minimum round-trip time, if the sender measures the minimum.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.kind.tracking().map(|m| m.min_rtt).filter(|d| d.0 != u64::MAX)
    }

    /// Return the number of bytes delivered, if the sender counts delivered bytes.
    pub fn delivered(&self) -> Option<u64> {
        match &self.kind {
            Kind::Cumulative(sender) => sender.delivered(),
            Kind::Sack(sender) => Some(sender.delivered()),
        }
    }

    /// Return the last sample of the delivery rate in bytes per second, and true if the sample was
    /// application-limited.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        match &self.kind {
            Kind::Cumulative(_) => None,
            Kind::Sack(sender) => sender.delivery_rate(),
        }
    }

    /// Return the number of segments in flight, which a sender with SACK estimates from its
    /// scoreboard.
    pub fn in_flight(&self) -> f64 {
        let bytes = match &self.kind {
            Kind::Cumulative(_) => f64::from(self.tcb.flight()),
            Kind::Sack(sender) => sender.pipe(),
        };
        bytes / f64::from(self.tcb.smss.max(1))
    }

    /// Return the number of detected reorderings, in which segments arrived in a different order
    /// from their transmission.
    pub fn reorderings(&self) -> u64 {
        match &self.kind {
            Kind::Cumulative(_) => 0,
            Kind::Sack(sender) => sender.reorderings(),
        }
    }

    /// Return the degree of reordering in segments.
    pub fn reordering_degree(&self, tcp: &Tcp) -> u64 {
        self.kind
            .tracking()
            .map_or(tcp.recovery.duplicate_acks.0 as u64, |m| u64::from(m.reordering.segments()))
    }

    /// Return the state of congestion avoidance.
    pub fn state(&self) -> CaState {
        match &self.kind {
            Kind::Cumulative(sender) => sender.state(&self.tcb),
            Kind::Sack(sender) => sender.state(),
        }
    }

    /// Return the numbers of unacknowledged, SACKed, lost and retransmitted segments. A sender
    /// without SACK counts duplicate ACKs as SACKed segments.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        match &self.kind {
            Kind::Cumulative(sender) => {
                let (segments, duplicates) = sender.counts(&self.tcb);
                (segments, duplicates, 0, 0)
            }
            Kind::Sack(sender) => sender.counts(),
        }
    }

    /// Return the pacing rate, if the congestion control paces segments.
    pub fn pacing_rate(&self, tcp: &Tcp) -> Option<Rate> {
        self.tcb.congestion.pacing_rate(&self.window(), self.tcb.rto.srtt(tcp))
    }

    /// Return the amount of data that an acceptable ACK will acknowledge for the first time.
    pub fn newly_acked(&self, segment: &Segment, options: &Options) -> NewlyAcked {
        let tcb = &self.tcb;
        let (ack, max, size) = (segment.ack, tcb.max, tcb.smss.max(1));
        let advances = ack.after(tcb.una);
        let (bytes, segments) = match &self.kind {
            Kind::Sack(sender) => sender.newly_acked(tcb, ack, options),
            Kind::Cumulative(_) if advances => {
                let bytes = (ack - tcb.una).saturating_sub(u32::from(tcb.fin_sent && ack == max));
                (bytes, bytes.div_ceil(size))
            }
            Kind::Cumulative(_) => (0, 0),
        };
        NewlyAcked { bytes, segments, advances: advances || bytes > 0, ack, max, size }
    }
}
