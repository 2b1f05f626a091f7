//! Random offsets of the key `phase_breaking`, which prevent events at exactly the same time.

use engine::Stream;
use units::Duration;

use super::plan::Plan;
use crate::scenario::Scenario;

/// Default maximum offset of the start of a flow, in round-trip times. In slow start the window
/// doubles per round trip, so a flow fills most paths within about ten round trips.
const ROUND_TRIPS: u64 = 10;

/// Return a random duration from zero up to, but not including, `limit`.
pub(super) fn offset(seed: u64, name: &str, limit: Duration) -> Duration {
    if limit == Duration::ZERO { Duration::ZERO } else { Duration(Stream::new(seed, name).below(limit.0)) }
}

/// Return the start time of the named flow: the key `start` of its table plus a random offset of at
/// most `spread`.
pub fn starts(seed: u64, spread: Duration, start: Duration, name: &str) -> Duration {
    start + offset(seed, &format!("flow/{name}/start"), spread)
}

/// Return the maximum offset that is added to the start of a flow: the key `phase_breaking.start`,
/// or its default.
pub(super) fn start_spread(scenario: &Scenario, plan: &Plan) -> Duration {
    let least = Duration::from_millis(1);
    if let Some(start) = scenario.phase_breaking.start {
        return start;
    }
    if plan.flows() < 2 {
        return least;
    }
    let delay = |route: &Vec<usize>| route.iter().fold(Duration::ZERO, |sum, &l| sum + plan.links[l].delay);
    let one_way: Vec<Duration> = plan.routes.iter().map(delay).collect();
    let round_trip = |f: usize| {
        let [forward, reverse] = plan.flows[f].map(|route| one_way[route as usize]);
        forward + if plan.traffic(f).is_datagrams() { forward } else { reverse }
    };
    let longest = (0..plan.flows()).map(round_trip).max().unwrap_or_default();
    let spread = Duration(longest.0.saturating_mul(ROUND_TRIPS)).max(least);
    scenario.duration.map_or(spread, |duration| spread.min(Duration(duration.0 / 2)))
}
