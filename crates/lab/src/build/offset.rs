//! Small random spans that break phases (`phase_breaking`).

use engine::Stream;
use units::Duration;

use crate::scenario::Scenario;

/// A random span below `most`.
pub(super) fn offset(seed: u64, name: &str, most: Duration) -> Duration {
    if most == Duration::ZERO { Duration::ZERO } else { Duration(Stream::new(seed, name).below(most.0)) }
}

/// Return the start of the named flow: the `start` of its table plus a random offset.
pub fn starts(scenario: &Scenario, start: Duration, name: &str) -> Duration {
    start + offset(scenario.seed, &format!("flow/{name}/start"), scenario.phase_breaking.start)
}
