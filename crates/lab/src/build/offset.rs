//! Random offsets of the key `phase_breaking`, which prevent events at exactly the same time.

use engine::Stream;
use units::Duration;

use crate::scenario::Scenario;

/// Return a random duration from zero up to, but not including, `limit`.
pub(super) fn offset(seed: u64, name: &str, limit: Duration) -> Duration {
    if limit == Duration::ZERO { Duration::ZERO } else { Duration(Stream::new(seed, name).below(limit.0)) }
}

/// Return the start time of the named flow: the key `start` of its table plus a random offset.
pub fn starts(scenario: &Scenario, start: Duration, name: &str) -> Duration {
    start + offset(scenario.seed, &format!("flow/{name}/start"), scenario.phase_breaking.start)
}
