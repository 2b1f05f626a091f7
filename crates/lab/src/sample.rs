//! Samples of the web traffic in a scenario: the requests of its users on a network without delay.

pub use traffic::distribution::{Described, describe};
pub use traffic::sample::Sampled;

use traffic::sample::sample;
use traffic::{DrawStreams, Traffic};
use units::param::Invalid;
use units::{Duration, Time};

use crate::build;
use crate::scenario::Scenario;
use crate::template::expand;

/// Maximum number of requests in a sample.
const MAX_REQUESTS: usize = 20_000_000;

/// For each `[[flows]]` table with web traffic, return the name of the table and the requests up to
/// the time `until`. The number of users of a table is the key `count` of the table, unless `users`
/// overrides this number.
pub fn requests(
    scenario: &Scenario,
    until: Duration,
    users: Option<u32>,
) -> Result<Vec<(String, Vec<Sampled>)>, Invalid> {
    let plan = build::plan(scenario)?;
    let mut tables = Vec::new();
    let mut first = 0;
    for table in &scenario.flows {
        let (name, before) = (plan.name(first), first as u64);
        first += table.count as usize;
        let Traffic::Web(web) = &table.traffic else { continue };
        let draws = DrawStreams::new(scenario.seed, &name);
        let mut requests = Vec::new();
        for user in 0..users.unwrap_or(table.count as u32) {
            // The random start time of a user is computed from the name of the user's flow in the
            // run.
            let number = u64::from(user);
            let name = expand(&table.name, &[("i", number), ("n", before + number)]);
            let start = Time::ZERO + build::starts(scenario.seed, plan.start_spread, table.start, &name);
            sample(web, start, Time::ZERO + until, draws.of(user, 0), MAX_REQUESTS, &mut requests);
        }
        if requests.len() >= MAX_REQUESTS {
            let problem = format!("has more than {MAX_REQUESTS} requests in the sampled time");
            return Err(
                Invalid::at(&table.name, problem).remedy("sample fewer users, or sample a shorter time")
            );
        }
        tables.push((table.name.clone(), requests));
    }
    Ok(tables)
}
