//! Random offsets of the key `phase_breaking`, which separate events that would otherwise have the
//! same time.

use engine::Stream;
use units::Duration;

use crate::scenario::Scenario;

/// Return a random duration below `limit`.
pub(super) fn offset(seed: u64, name: &str, limit: Duration) -> Duration {
    if limit == Duration::ZERO { Duration::ZERO } else { Duration(Stream::new(seed, name).below(limit.0)) }
}

/// Return the start of the named flow: the `start` of its table plus a random offset.
pub fn starts(scenario: &Scenario, start: Duration, name: &str) -> Duration {
    start + offset(scenario.seed, &format!("flow/{name}/start"), scenario.phase_breaking.start)
}
