//! Small random spans that break phases (`phase_breaking`).

use engine::Stream;
use units::Duration;

/// A random span below `most`.
pub(super) fn offset(seed: u64, name: &str, most: Duration) -> Duration {
    if most == Duration::ZERO { Duration::ZERO } else { Duration(Stream::new(seed, name).below(most.0)) }
}
