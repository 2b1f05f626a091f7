//! Stretches in which everything is lost.

use traffic::Spacing;
use units::param::Invalid;
use units::{Duration, Range, params};

use crate::delay_spikes::some_begins;
use crate::episodes::LEAST_INTERVAL;

params! {
    /// An outage, or several: packets that would arrive during one are lost. (For a transmitter that stops, and a queue
    /// that grows, give the link a rate of 0 bit/s for a while with `rate_changes`.)
    pub struct Outage: "outage", checked by check {
        /// When the first begins; absent: an interval after the start of the run.
        start: Option<Duration> = (None), in Range::at_least(0.0), from "";
        /// How long one lasts.
        length: Duration = required, in Range::above(0.0), from "";
        /// Mean time from the end of one to the beginning of the next; absent: there is one.
        interval: Option<Duration> = (None), in Range::at_least(LEAST_INTERVAL), from "";
        /// How they are spaced.
        spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
    }
}

fn check(p: &Outage, path: &str) -> Result<(), Invalid> {
    some_begins(p.start, p.interval, path)
}
