//! What a run may take of the machine. It is no part of a scenario: a run that keeps within its limits is the same without.

use units::{Bytes, Duration, Range, params};

use crate::failure::Failure;

params! {
    /// What a run may take before it is ended, as one that failed.
    pub struct Limits: "limits" {
        /// Events.
        events: Option<u64> = (None), in Range::at_least(1.0), from "";
        /// Time by the wall; whether a run keeps within it depends on the machine, and on what else it does.
        wall: Option<Duration> = (None), in Range::above(0.0), from "";
        /// Memory for the network, its packets and connections, and tables.
        memory: Option<Bytes> = (None), in Range::at_least(1.0), from "";
    }
}

impl Limits {
    /// All that is there.
    pub const NONE: Limits = Limits { events: None, wall: None, memory: None };

    /// Fails if so many events were too many, or so many seconds.
    pub fn check(&self, events: u64, wall_s: f64) -> Result<(), Failure> {
        if let Some(max) = self.events.filter(|&max| events > max) {
            return Err(exceeded("events", &format!("more than {max} events")));
        }
        if let Some(max) = self.wall.filter(|max| wall_s > max.seconds()) {
            return Err(exceeded("wall", &format!("more than {max} by the wall")));
        }
        Ok(())
    }

    /// Fails if so many bytes are too many.
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

fn exceeded(name: &str, took: &str) -> Failure {
    Failure::Limit(format!(
        "limits.{name}: the run took {took}; raise the limit, or let the scenario do less"
    ))
}
