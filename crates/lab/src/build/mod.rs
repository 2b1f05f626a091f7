//! Turns a scenario into a network ready to run: [`plan`] names and checks, [`build`] makes what was planned.

mod ahead;
mod flows;
mod hops;
mod links;
mod network;
mod passing;
mod plan;
mod refusals;
mod routes;

pub use hops::Hop;
pub use links::LinkPlan;
pub use network::{Built, build};
pub use plan::{Plan, plan};
pub use refusals::refuse_unknown_laws;
