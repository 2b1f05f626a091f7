//! Random numbers of applications: functions of the flow, its connection and an index, so that a million connections need no
//! state each, and neither the order of events nor another connection changes what is drawn.

use engine::Indexed;
use units::Duration;

use crate::distribution::{Count, Size, Times};
use crate::side::Side;
use crate::spacing::Spacing;

/// What the flows of a table draw.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    arrivals: Indexed,
    sizes: [Indexed; 2],
    times: [Indexed; 2],
    waits: [Indexed; 2],
    counts: [Indexed; 2],
}

impl Draws {
    /// Named by the table's first flow, so that another table shifts nothing.
    pub fn new(seed: u64, first: &str) -> Self {
        let of = |what: &str| Indexed::new(seed, &format!("flow/{first}/{what}"));
        Draws {
            arrivals: of("arrivals"),
            sizes: [of("sizes"), of("server-sizes")],
            times: [of("messages"), of("server-times")],
            waits: [of("waits"), of("server-waits")],
            counts: [of("counts"), of("server-counts")],
        }
    }

    /// Those of a connection of a flow, by their numbers.
    pub fn of(&self, flow: u32, connection: u32) -> Lots<'_> {
        Lots { draws: self, flow, connection }
    }
}

/// What a connection draws.
#[derive(Clone, Copy, Debug)]
pub struct Lots<'a> {
    draws: &'a Draws,
    flow: u32,
    connection: u32,
}

impl Lots<'_> {
    /// The number of the flow in its table, and that of the connection.
    pub fn whose(&self) -> (u32, u32) {
        (self.flow, self.connection)
    }

    /// Those of another connection of the flow.
    #[must_use]
    pub fn of(self, connection: u32) -> Self {
        Lots { connection, ..self }
    }

    /// The size of what an end writes, in bytes, by its number.
    pub fn size(&self, side: Side, size: &Size, number: u32) -> u64 {
        let drawn = || size.draw(self.uniform(&self.draws.sizes[side as usize], number));
        size.constant().unwrap_or_else(drawn).0
    }

    /// A time that an end waits, drawn from its own distribution, by its number.
    pub fn times(&self, side: Side, times: &Times, number: u32) -> Duration {
        let drawn = || times.draw(self.uniform(&self.draws.waits[side as usize], number));
        times.constant().unwrap_or_else(drawn)
    }

    /// How many of something an end has, by its number.
    pub fn count(&self, side: Side, count: &Count, number: u32) -> u64 {
        let drawn = || count.draw(self.uniform(&self.draws.counts[side as usize], number));
        count.constant().unwrap_or_else(drawn)
    }

    /// A time that an end waits, by its number.
    pub fn time(&self, side: Side, spacing: Spacing, mean: Duration, number: u32) -> Duration {
        let [u, _] = self.uniform(&self.draws.times[side as usize], number);
        spacing.draw(mean, u)
    }

    /// The time from the connection to the one after it, or from the flow's start to the first.
    pub fn gap(&self, spacing: Spacing, mean: Duration) -> Duration {
        let [u, _] = self.uniform(&self.draws.arrivals, 0);
        spacing.draw(mean, u)
    }

    fn uniform(&self, of: &Indexed, number: u32) -> [f64; 2] {
        of.uniform([self.flow, self.connection, number])
    }
}
