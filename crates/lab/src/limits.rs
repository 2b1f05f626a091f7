//! Limits on the number of events, the time and the memory of a run. The limits are not part of a
//! scenario: a run within its limits has the same result as without limits.

use units::{Bytes, Duration, Range, params};

use crate::failure::Failure;

params! {
    /// Limits of a run. A run that exceeds one of its limits fails.
    pub struct Limits: "limits" {
        /// Maximum number of events in the run.
        events: Option<u64> = (None), in Range::at_least(1.0), from "";
        /// Maximum wall-clock time of the run. The speed and the load of the machine determine the
        /// time that a run takes.
        wall: Option<Duration> = (None), in Range::above(0.0), from "";
        /// Maximum memory for the network, the packets, the connections and the tables of the run.
        memory: Option<Bytes> = (None), in Range::at_least(1.0), from "";
    }
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits { events: None, wall: None, memory: None };

    /// Fail if `events` events, or `wall_s` seconds of wall-clock time, exceed a limit.
    pub fn check(&self, events: u64, wall_s: f64) -> Result<(), Failure> {
        if let Some(max) = self.events.filter(|&max| events > max) {
            return Err(exceeded("events", &format!("more than {max} events")));
        }
        if let Some(max) = self.wall.filter(|max| wall_s > max.seconds()) {
            return Err(exceeded("wall", &format!("more than {max} of wall-clock time")));
        }
        Ok(())
    }

    /// Fail if `bytes` bytes exceed the limit on memory.
    pub fn check_memory(&self, bytes: u64) -> Result<(), Failure> {
        match self.memory.filter(|max| bytes > max.0) {
            Some(max) => Err(exceeded(
                "memory",
                &format!("{:.3} MB of at most {:.3} MB", bytes as f64 / 1e6, max.0 as f64 / 1e6),
            )),
            None => Ok(()),
        }
    }
}

/// Return the error of a run that exceeded a limit.
fn exceeded(name: &str, took: &str) -> Failure {
    Failure::Limit(format!("limits.{name}: the run took {took}; raise the limit, or reduce the scenario"))
}
