//! Steps from a scenario to a network that is ready to run. [`plan`] names and checks the links and
//! flows, and [`build`] constructs the links and flows.

mod built;
mod delay_links;
mod early_delivery;
mod expanded;
mod flows;
mod hops;
mod links;
mod network;
mod offset;
mod plan;
mod refusals;
mod routes;

pub use built::BuiltNetwork;
pub use expanded::expanded;
pub use hops::Hop;
pub use links::LinkPlan;
pub use network::{Hosts, build};
pub use offset::starts;
pub use plan::Plan;
pub use refusals::refuse_unknown_custom_aqms;

use units::param::Invalid;

use crate::scenario::Scenario;

/// Plan a scenario: name every link and flow, and compute the routes. Parts of the scenario that
/// contradict each other cause an error.
pub fn plan(scenario: &Scenario) -> Result<Plan, Invalid> {
    let mut plan = plan::lay_out_plan(scenario)?;
    plan.start_spread = offset::start_spread(scenario, &plan);
    refusals::refuse(scenario, &plan)?;
    Ok(plan)
}
