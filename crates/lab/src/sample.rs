//! What the users of a scenario's web traffic ask for where the network takes no time.

pub use traffic::distribution::{Described, describe};
pub use traffic::sample::Sampled;

use traffic::sample::sample;
use traffic::{DrawStreams, Traffic};
use units::param::Invalid;
use units::{Duration, Time};

use crate::build;
use crate::scenario::Scenario;
use crate::template::expand;

/// Most requests of a sample.
const MOST: usize = 20_000_000;

/// For each table of flows with traffic of the web its name, and the requests of its users until then; `users`: how many there are
/// of each, instead of the flows of the table.
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
        let mut found = Vec::new();
        for user in 0..users.unwrap_or(table.count as u32) {
            // The name that a run gives this user decides when it starts.
            let number = u64::from(user);
            let name = expand(&table.name, &[("i", number), ("n", before + number)]);
            let start = Time::ZERO + build::starts(scenario, table.start, &name);
            sample(web, start, Time::ZERO + until, draws.of(user, 0), MOST, &mut found);
        }
        if found.len() >= MOST {
            let problem = format!("has more than {MOST} requests in that time");
            return Err(Invalid::at(&table.name, problem).remedy("sample fewer users or a shorter time"));
        }
        tables.push((table.name.clone(), found));
    }
    Ok(tables)
}
