//! Connections of a flow that open during the run, one after the other, and close again.

use units::param::{Invalid, join};
use units::{Duration, Range, Read, Time, params, words};

use crate::draws::RandomDraws;
use crate::opener::{NextOpening, Opener, OpenerEvent, Progress};
use crate::spacing::Spacing;

words! {
    /// Event from which the interval to the next connection counts.
    pub enum After {
        /// The opening of the previous connection. Connections open whether or not earlier
        /// connections have finished (an open loop).
        Opening = "opening",
        /// The close of the previous connection at both endpoints. One connection exists at a time
        /// (a closed loop).
        Closing = "closing",
        /// The close of the previous connection by its client. At that time the client has the last
        /// response, and the server's FIN if the server closes. The next connection does not wait
        /// for the rest of the close, as with netperf's transactions (a closed loop). The choice
        /// `response` needs traffic with responses.
        Response = "response",
    }
}

params! {
    /// Connections that open one after the other between the same two hosts. Each connection has
    /// its own ports and carries the flow's traffic. The first connection opens one interval after
    /// the start of the flow.
    pub struct Arrivals: "arrivals", checked by check {
        /// Mean interval between connections. 0 s is valid only if the interval counts from the end
        /// of the previous connection.
        interval: Duration = required, in Range::at_least(0.0), from "";
        /// Event from which the interval to the next connection counts.
        after: After = (After::Opening), in Range::ANY, from "";
        /// Distribution of the intervals.
        spacing: Spacing = (Spacing::Exponential), in Range::ANY, from "paxson1995poisson §3: sessions of users arrive as a Poisson process within an hour";
        /// Number of connections. If the number of connections is absent, connections open until
        /// the end of the run, and the run needs a duration.
        connections: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
    }
}

/// Refuse an open loop with an interval of 0 s, because all its connections would open at one
/// instant.
fn check(arrivals: &Arrivals, path: &str) -> Result<(), Invalid> {
    if arrivals.interval == Duration::ZERO && arrivals.after == After::Opening {
        let problem = "must be above 0 s if it counts from the opening of the previous connection";
        return Err(Invalid::new(&join(path, "interval"), &arrivals.interval.write(), problem)
            .remedy("write a longer interval, or after = \"response\" or after = \"closing\""));
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
            // A connection counts as finished once: at its last response, or at its close if the
            // close comes first.
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
