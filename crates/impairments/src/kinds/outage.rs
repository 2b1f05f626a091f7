//! Outages: periods in which the wire loses every packet.

use engine::Stream;
use net::Why;
use traffic::Spacing;
use units::param::Invalid;
use units::{Duration, Range, params};

use crate::effect::{Effect, Impair, Kind, Passage};
use crate::episodes::{Episodes, MIN_INTERVAL, needs_a_beginning};

params! {
    /// Outages: packets that would arrive during an outage are lost. An outage does not stop the
    /// transmitter. To stop the transmitter so that the queue grows, set the rate of the link to 0
    /// bit/s with `rate_changes`.
    pub struct Outage: "outage", checked by check {
        /// Start of the first outage. If `start` is absent, the first outage starts one interval
        /// after the start of the run.
        start: Option<Duration> = (None), in Range::at_least(0.0), from "";
        /// Length of an outage.
        length: Duration = required, in Range::above(0.0), from "";
        /// Mean time from the end of an outage to the start of the next outage. If the interval is
        /// absent, only one outage occurs.
        interval: Option<Duration> = (None), in Range::at_least(MIN_INTERVAL), from "";
        /// Distribution of the intervals between outages.
        spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
    }
}

fn check(p: &Outage, path: &str) -> Result<(), Invalid> {
    needs_a_beginning(p.start, p.interval, path)
}

/// State of outages.
#[derive(Clone, Debug)]
pub struct Outages(Episodes);

impl Kind for Outage {
    type State = Outages;

    fn start(&self, random: Stream) -> Outages {
        Outages(Episodes::new(self.start, self.length, self.interval, self.spacing, random))
    }
}

impl Impair for Outages {
    fn act(&mut self, packet: &Passage) -> Effect {
        self.0.end_at(packet.arrives).map_or(Effect::Pass, |_| Effect::Lose(Why::Outage))
    }
}
