//! Turns a scenario into a network ready to run: [`plan`] names and checks, [`build`] makes what was planned.

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
pub use network::build;
pub use offset::starts;
pub use plan::Plan;
pub use refusals::refuse_unknown_custom_aqms;

use units::param::Invalid;

use crate::scenario::Scenario;

/// Names every link and flow and finds the routes, and refuses what cannot be.
pub fn plan(scenario: &Scenario) -> Result<Plan, Invalid> {
    let plan = plan::lay_out_plan(scenario)?;
    refusals::refuse(scenario, &plan)?;
    Ok(plan)
}
