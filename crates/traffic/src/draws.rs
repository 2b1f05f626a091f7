//! Random numbers of applications. Each random number is a function of the flow, the connection and
//! an index. A connection therefore stores no generator state, and neither the order of events nor
//! another connection changes a number.

use engine::Indexed;
use units::Duration;

use crate::distribution::{Count, Size, Times};
use crate::side::Side;
use crate::spacing::Spacing;

/// Random streams of the flows of one `[[flows]]` table.
#[derive(Clone, Copy, Debug)]
pub struct DrawStreams {
    arrivals: Indexed,
    sizes: [Indexed; 2],
    times: [Indexed; 2],
    waits: [Indexed; 2],
    counts: [Indexed; 2],
}

impl DrawStreams {
    /// Create the streams of a table. The name of the table's first flow identifies the random
    /// streams, so that another table does not change these streams.
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

    /// Return the random numbers of a connection, given the number of its flow in the table and its
    /// own number.
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
    /// Return the number of the flow in its table and the number of the connection.
    pub fn numbers(&self) -> (u32, u32) {
        (self.flow, self.connection)
    }

    /// Return the random numbers of another connection of the same flow.
    #[must_use]
    pub fn of_connection(self, connection: u32) -> Self {
        RandomDraws { connection, ..self }
    }

    /// Return the size of message `number` that an endpoint writes, in bytes.
    pub fn size(&self, side: Side, size: &Size, number: u32) -> u64 {
        let drawn = || size.draw(self.uniform(&self.streams.sizes[side as usize], number));
        size.constant().unwrap_or_else(drawn).0
    }

    /// Return waiting time `number` of an endpoint, sampled from a distribution.
    pub fn times(&self, side: Side, times: &Times, number: u32) -> Duration {
        let drawn = || times.draw(self.uniform(&self.streams.waits[side as usize], number));
        times.constant().unwrap_or_else(drawn)
    }

    /// Return count `number` of an endpoint, such as the number of objects of a page.
    pub fn count(&self, side: Side, count: &Count, number: u32) -> u64 {
        let drawn = || count.draw(self.uniform(&self.streams.counts[side as usize], number));
        count.constant().unwrap_or_else(drawn)
    }

    /// Return waiting time `number` of an endpoint, given its mean and spacing.
    pub fn time(&self, side: Side, spacing: Spacing, mean: Duration, number: u32) -> Duration {
        let [u, _] = self.uniform(&self.streams.times[side as usize], number);
        spacing.draw(mean, u)
    }

    /// Return the interval from this connection to the next, or from the start of the flow to the
    /// first connection.
    pub fn gap(&self, spacing: Spacing, mean: Duration) -> Duration {
        let [u, _] = self.uniform(&self.streams.arrivals, 0);
        spacing.draw(mean, u)
    }

    fn uniform(&self, of: &Indexed, number: u32) -> [f64; 2] {
        of.uniform([self.flow, self.connection, number])
    }
}
