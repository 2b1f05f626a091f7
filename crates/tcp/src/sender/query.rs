//! What a sender tells of itself, whatever its kind.

use net::{Options, Segment};
use units::{Duration, Rate};

use super::ca_state::CaState;
use super::newly_acked::NewlyAcked;
use super::{Kind, Sender};
use crate::config::Tcp;
use crate::congestion::CongestionControl;
use crate::window::Window;

impl Sender {
    /// The window as it is.
    pub fn window(&self) -> Window {
        match &self.kind {
            Kind::Cumulative(sender) => sender.window(&self.tcb),
            Kind::Sack(sender) => sender.window(&self.tcb),
        }
    }

    /// Least round trip, if it is measurements.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.kind.tracking().map(|m| m.min_rtt).filter(|d| d.0 != u64::MAX)
    }

    /// Bytes delivered, if they are counted.
    pub fn delivered(&self) -> Option<u64> {
        match &self.kind {
            Kind::Cumulative(sender) => sender.delivered(),
            Kind::Sack(sender) => Some(sender.delivered()),
        }
    }

    /// Bytes a second in the last sample of the delivery rate, and whether the application limited it.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        match &self.kind {
            Kind::Cumulative(_) => None,
            Kind::Sack(sender) => sender.delivery_rate(),
        }
    }

    /// Segments that are deemed to be in the network.
    pub fn in_flight(&self) -> f64 {
        let bytes = match &self.kind {
            Kind::Cumulative(_) => f64::from(self.tcb.flight()),
            Kind::Sack(sender) => sender.pipe(),
        };
        bytes / f64::from(self.tcb.smss.max(1))
    }

    /// How often segments were seen to be delivered in another order than they were sent in.
    pub fn reorderings(&self) -> u64 {
        match &self.kind {
            Kind::Cumulative(_) => 0,
            Kind::Sack(sender) => sender.reorderings(),
        }
    }

    /// The degree of reordering, in segments.
    pub fn reordering_degree(&self, tcp: &Tcp) -> u64 {
        self.kind
            .tracking()
            .map_or(tcp.recovery.duplicate_acks.0 as u64, |m| u64::from(m.reordering.segments()))
    }

    /// Where it stands.
    pub fn state(&self) -> CaState {
        match &self.kind {
            Kind::Cumulative(sender) => sender.state(&self.tcb),
            Kind::Sack(sender) => sender.state(),
        }
    }

    /// Segments out, SACKed, lost and sent again, as the scoreboard or the sequence numbers tell.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        match &self.kind {
            Kind::Cumulative(sender) => {
                let (out, duplicates) = sender.counts(&self.tcb);
                (out, duplicates, 0, 0)
            }
            Kind::Sack(sender) => sender.counts(),
        }
    }

    /// The rate at which segments are spaced.
    pub fn pacing_rate(&self, tcp: &Tcp) -> Option<Rate> {
        self.tcb.congestion.pacing_rate(&self.window(), self.tcb.rto.srtt(tcp))
    }

    /// What an acceptable ACK will acknowledge that no other did.
    pub fn newly_acked(&self, segment: &Segment, options: &Options) -> NewlyAcked {
        let tcb = &self.tcb;
        let (ack, max, size) = (segment.ack, tcb.max, tcb.smss.max(1));
        let further = ack.after(tcb.una);
        let (bytes, segments) = match &self.kind {
            Kind::Sack(sender) => sender.newly_acked(tcb, ack, options),
            Kind::Cumulative(_) if further => {
                let bytes = (ack - tcb.una).saturating_sub(u32::from(tcb.fin_sent && ack == max));
                (bytes, bytes.div_ceil(size))
            }
            Kind::Cumulative(_) => (0, 0),
        };
        NewlyAcked { bytes, segments, advances: further || bytes > 0, ack, max, size }
    }
}
