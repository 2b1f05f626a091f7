//! Delay spikes: periods in which the wire delivers no packet. At the end of a delay spike the wire
//! delivers all delayed packets.
//!
//! Source: Gurtov & Ludwig 2003, "Responding to spurious timeouts in TCP" (`gurtov2003responding`).
//! A delay spike delays all packets in flight, as during a handover or during link-layer
//! retransmissions.

use engine::Stream;
use traffic::Spacing;
use units::param::Invalid;
use units::{Duration, Range, params};

use crate::effect::{Effect, Impair, Kind, Passage};
use crate::episodes::{Episodes, MIN_INTERVAL, needs_a_beginning};

params! {
    /// Delay spikes: packets that would arrive during a spike arrive at the end of the spike, in
    /// order.
    pub struct DelaySpikes: "delay_spikes", checked by check {
        /// Start of the first delay spike. If `start` is absent, the first spike starts after one
        /// interval.
        start: Option<Duration> = (None), in Range::at_least(0.0), from "";
        /// Length of a spike.
        length: Duration = required, in Range::above(0.0), from "gurtov2003responding";
        /// Mean time from the end of a delay spike to the start of the next delay spike. If the
        /// interval is absent, only one delay spike occurs.
        interval: Option<Duration> = (None), in Range::at_least(MIN_INTERVAL), from "";
        /// Distribution of the intervals between delay spikes.
        spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
    }
}

fn check(p: &DelaySpikes, path: &str) -> Result<(), Invalid> {
    needs_a_beginning(p.start, p.interval, path)
}

/// State of delay spikes.
#[derive(Clone, Debug)]
pub struct Spikes(Episodes);

impl Kind for DelaySpikes {
    type State = Spikes;

    fn start(&self, random: Stream) -> Spikes {
        Spikes(Episodes::new(self.start, self.length, self.interval, self.spacing, random))
    }
}

impl Impair for Spikes {
    /// A delay spike applies to packets by their arrival times at the far end of the link, because
    /// arrival times never decrease.
    fn act(&mut self, packet: &Passage) -> Effect {
        let end = self.0.end_at(packet.arrives);
        end.map_or(Effect::Pass, |end| Effect::Delay(end.since(packet.leaves)))
    }
}
