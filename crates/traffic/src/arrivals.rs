//! Connections that come and go.

use units::param::{Invalid, join};
use units::{Duration, Range, Read, Time, params, words};

use crate::draws::Lots;
use crate::opener::{Next, Opener, Progress, Told};
use crate::spacing::Spacing;

words! {
    /// What the interval to the next connection counts from.
    pub enum After {
        /// The opening of the one before: they come whatever becomes of the others (an open loop).
        Opening = "opening",
        /// The time when the one before is closed at both ends: one at a time (a closed loop).
        Closing = "closing",
        /// The time when the client of the one before closes: it has the last response, and the
        /// server's FIN if the server closes. The rest of the closing goes on beside the next
        /// connection, as with netperf's transactions (a closed loop). It needs traffic with
        /// responses.
        Response = "response",
    }
}

params! {
    /// Connections that are opened one after the other between the same hosts, each with the flow's
    /// traffic and ports of its own; the first comes an interval after the flow's start.
    pub struct Arrivals: "arrivals", checked by check {
        /// Mean time between one and the next; 0 s only if the interval counts from the closing of the one before.
        interval: Duration = required, in Range::at_least(0.0), from "";
        /// What the interval to the next counts from.
        after: After = (After::Opening), in Range::ANY, from "";
        /// How they are spaced.
        spacing: Spacing = (Spacing::Exponential), in Range::ANY, from "paxson1995poisson §3: sessions of users arrive as a Poisson process within an hour";
        /// How many there are in all; absent: they come to the end of the run, which needs a duration.
        connections: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
    }
}

/// Refuse an open loop without time between connections, which would all come at one instant.
fn check(arrivals: &Arrivals, path: &str) -> Result<(), Invalid> {
    if arrivals.interval == Duration::ZERO && arrivals.after == After::Opening {
        let problem = "must be above 0 s where it counts from the opening of the connection before";
        return Err(Invalid::new(&join(path, "interval"), &arrivals.interval.write(), problem)
            .remedy("give a longer time, or after = \"response\" or \"closing\""));
    }
    Ok(())
}

impl Opener for Arrivals {
    fn next(&self, progress: &mut Progress, told: Told, now: Time, lots: Lots) -> Next {
        let counts = match (self.after, told) {
            (After::Opening, Told::Opened) | (After::Closing, Told::Closed { .. }) => true,
            // Once for each connection: it is closed later, or was given up before.
            (After::Response, Told::Finished(connection) | Told::Closed { connection, .. }) => {
                let first = progress.done <= connection;
                progress.done = progress.done.max(connection + 1);
                first
            }
            _ => false,
        };
        if !counts && told != Told::Begins {
            return Next::Waits;
        }
        if self.connections.is_some_and(|most| u64::from(progress.opened) >= most) {
            return Next::Over;
        }
        Next::At(now + lots.of(progress.opened).gap(self.spacing, self.interval))
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.connections.map(drop).ok_or(("connections", "a number of connections"))
    }

    fn share_done(&self, progress: &Progress, _: Lots) -> f64 {
        self.connections.map_or(0.0, |most| f64::from(progress.opened) / most as f64)
    }
}
