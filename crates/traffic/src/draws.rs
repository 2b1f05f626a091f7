//! Random numbers of applications. Each random number is a function of the flow, the connection and
//! an index. A connection therefore stores no state of a generator. A random number does not depend
//! on the order of events or on other connections.

use engine::Indexed;
use units::Duration;

use crate::distribution::{Count, Size, Times};
use crate::side::Side;
use crate::spacing::Spacing;

/// Streams of random numbers for the flows of one `[[flows]]` table.
#[derive(Clone, Copy, Debug)]
pub struct DrawStreams {
    arrivals: Indexed,
    sizes: [Indexed; 2],
    times: [Indexed; 2],
    waits: [Indexed; 2],
    counts: [Indexed; 2],
}

impl DrawStreams {
    /// Create the streams of random numbers for a `[[flows]]` table. The name of the first flow in
    /// the table identifies the streams, so that other `[[flows]]` tables do not change the random
    /// numbers of this table.
    pub fn new(seed: u64, first: &str) -> Self {
        let of = |what: &str| Indexed::new(seed, &format!("flow/{first}/{what}"));
        DrawStreams {
            arrivals: of("arrivals"),
            sizes: [of("sizes"), of("server-sizes")],
            times: [of("messages"), of("server-times")],
            waits: [of("waits"), of("server-waits")],
            counts: [of("counts"), of("server-counts")],
        }
    }

    /// Return the random numbers of a connection, given the number of the connection and the number
    /// of its flow in the table.
    pub fn of(&self, flow: u32, connection: u32) -> RandomDraws<'_> {
        RandomDraws { streams: self, flow, connection }
    }
}

/// Random numbers of one connection.
#[derive(Clone, Copy, Debug)]
pub struct RandomDraws<'a> {
    streams: &'a DrawStreams,
    flow: u32,
    connection: u32,
}

impl RandomDraws<'_> {
    /// Return the number of the flow in its table, and the number of the connection.
    pub fn numbers(&self) -> (u32, u32) {
        (self.flow, self.connection)
    }

    /// Return the random numbers of another connection in the same flow.
    #[must_use]
    pub fn of_connection(self, connection: u32) -> Self {
        RandomDraws { connection, ..self }
    }

    /// Return the size in bytes of the message with the given number that an endpoint writes.
    pub fn size(&self, side: Side, size: &Size, number: u32) -> u64 {
        let drawn = || size.draw(self.uniform(&self.streams.sizes[side as usize], number));
        size.constant().unwrap_or_else(drawn).0
    }

    /// Return the waiting time with the index `number` at an endpoint, sampled from the
    /// distribution `times`.
    pub fn times(&self, side: Side, times: &Times, number: u32) -> Duration {
        let drawn = || times.draw(self.uniform(&self.streams.waits[side as usize], number));
        times.constant().unwrap_or_else(drawn)
    }

    /// Return the random count with the index `number` at an endpoint. An example of a count is the
    /// number of objects of a page.
    pub fn count(&self, side: Side, count: &Count, number: u32) -> u64 {
        let drawn = || count.draw(self.uniform(&self.streams.counts[side as usize], number));
        count.constant().unwrap_or_else(drawn)
    }

    /// Return the waiting time with the given number at an endpoint, given its mean and its
    /// distribution.
    pub fn time(&self, side: Side, spacing: Spacing, mean: Duration, number: u32) -> Duration {
        let [u, _] = self.uniform(&self.streams.times[side as usize], number);
        spacing.draw(mean, u)
    }

    /// Return the interval before the next connection opens. The interval counts from the opening
    /// of this connection or, for the first connection, from the start of the flow.
    pub fn gap(&self, spacing: Spacing, mean: Duration) -> Duration {
        let [u, _] = self.uniform(&self.streams.arrivals, 0);
        spacing.draw(mean, u)
    }

    fn uniform(&self, of: &Indexed, number: u32) -> [f64; 2] {
        of.uniform([self.flow, self.connection, number])
    }
}
