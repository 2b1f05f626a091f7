//! Connections that come and go.

use units::{Duration, Range, params};

use crate::spacing::Spacing;

params! {
    /// Connections that are opened one after the other between the same hosts, each with the flow's
    /// traffic; the first comes an interval after the flow's start.
    pub struct Arrivals: "arrivals" {
        /// Mean time between one and the next.
        interval: Duration = required, in Range::above(0.0), from "";
        /// How they are spaced.
        spacing: Spacing = (Spacing::Exponential), in Range::ANY, from "paxson1995poisson §3: sessions of users arrive as a Poisson process within an hour";
        /// How many there are in all; absent: they come to the end of the run, which needs a duration.
        connections: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
    }
}
