//! Connections of a flow that open one after the other during the run, and close again.

use units::param::{Invalid, join};
use units::{Duration, Range, Read, Time, params, words};

use crate::draws::RandomDraws;
use crate::opener::{NextOpening, Opener, OpenerEvent, Progress};
use crate::spacing::Spacing;

words! {
    /// Event from which the interval until the next connection counts.
    pub enum After {
        /// The interval counts from the opening of the previous connection. New connections open
        /// even if earlier connections have not finished (an open loop).
        Opening = "opening",
        /// The interval counts from the close of the previous connection at both endpoints. At most
        /// one connection exists at a time (a closed loop).
        Closing = "closing",
        /// The interval counts from the close of the previous connection by its client. When the
        /// client closes, it has received the last response, and also the FIN of the server if the
        /// server closes first. The next connection does not wait until both endpoints have closed,
        /// as with the transactions of netperf (a closed loop). The choice `response` can be used
        /// only with traffic that has responses.
        Response = "response",
    }
}

params! {
    /// Connections that open one after the other between the same two hosts. Each connection has
    /// its own ports and carries the traffic of the flow. The first connection opens after one
    /// interval, counted from the start of the flow.
    pub struct Arrivals: "arrivals", checked by check {
        /// Mean interval between connections. The interval may be 0 s only if it counts from the
        /// close of the previous connection.
        interval: Duration = required, in Range::at_least(0.0), from "";
        /// Event from which the interval until the next connection counts.
        after: After = (After::Opening), in Range::ANY, from "";
        /// Distribution of the intervals between connections.
        spacing: Spacing = (Spacing::Exponential), in Range::ANY, from "paxson1995poisson §3: within an hour, sessions of users arrive as a Poisson process";
        /// Number of connections. If the number of connections is absent, connections open until
        /// the end of the run, so the run needs a duration.
        connections: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
    }
}

/// Refuse an interval of 0 s in an open loop, because all connections would open at the same
/// instant.
fn check(arrivals: &Arrivals, path: &str) -> Result<(), Invalid> {
    if arrivals.interval == Duration::ZERO && arrivals.after == After::Opening {
        let problem = "must be above 0 s if it counts from the opening of the previous connection";
        return Err(Invalid::new(&join(path, "interval"), &arrivals.interval.write(), problem)
            .remedy("use a longer interval, after = \"response\" or after = \"closing\""));
    }
    Ok(())
}

impl Opener for Arrivals {
    fn next(
        &self,
        progress: &mut Progress,
        event: OpenerEvent,
        now: Time,
        draws: RandomDraws,
    ) -> NextOpening {
        let counts = match (self.after, event) {
            (After::Opening, OpenerEvent::Opened) | (After::Closing, OpenerEvent::Closed { .. }) => true,
            // A connection counts as finished at its last response, or at its close if it closes
            // before its last response.
            (After::Response, OpenerEvent::Finished(connection) | OpenerEvent::Closed { connection, .. }) => {
                let first = progress.done <= connection;
                progress.done = progress.done.max(connection + 1);
                first
            }
            _ => false,
        };
        if !counts && event != OpenerEvent::Begins {
            return NextOpening::Wait;
        }
        if self.connections.is_some_and(|most| u64::from(progress.opened) >= most) {
            return NextOpening::End;
        }
        NextOpening::At(now + draws.of_connection(progress.opened).gap(self.spacing, self.interval))
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.connections.map(drop).ok_or(("connections", "a number of connections"))
    }

    fn share_done(&self, progress: &Progress, _: RandomDraws) -> f64 {
        self.connections.map_or(0.0, |most| f64::from(progress.opened) / most as f64)
    }
}
