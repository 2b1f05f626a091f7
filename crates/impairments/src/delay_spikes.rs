//! Stretches in which nothing gets through, and after which all of it does.
//!
//! Source: Gurtov & Ludwig 2003, "Responding to spurious timeouts in TCP" (`gurtov2003responding`): a delay
//! spike holds the packets in flight, as a handover or the link's own retransmissions do.

use traffic::Spacing;
use units::param::{Invalid, join};
use units::{Duration, Range, params};

use crate::episodes::LEAST_INTERVAL;

params! {
    /// Delay spikes: packets that would arrive during one are held until it is over, then arrive in order.
    pub struct DelaySpikes: "delay_spikes", checked by check {
        /// When the first begins; absent: an interval after the start of the run.
        start: Option<Duration> = (None), in Range::at_least(0.0), from "";
        /// How long one lasts.
        length: Duration = required, in Range::above(0.0), from "gurtov2003responding";
        /// Mean time from the end of one to the beginning of the next; absent: there is one.
        interval: Option<Duration> = (None), in Range::at_least(LEAST_INTERVAL), from "";
        /// How they are spaced.
        spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
    }
}

fn check(p: &DelaySpikes, path: &str) -> Result<(), Invalid> {
    some_begins(p.start, p.interval, path)
}

/// Refuses stretches of which none ever begins.
pub(crate) fn some_begins(
    start: Option<Duration>,
    interval: Option<Duration>,
    path: &str,
) -> Result<(), Invalid> {
    if start.is_none() && interval.is_none() {
        return Err(Invalid::at(&join(path, "start"), "is absent, and so is interval: none ever begins")
            .remedy("give one of them"));
    }
    Ok(())
}
