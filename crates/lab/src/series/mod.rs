//! The series that a scenario may ask for, a file each.

mod delays;
mod incidents;
mod queue;
mod requests;
mod round_trips;
mod samples;
mod segments;
mod traces;
mod transfers;
mod window;

pub use delays::Delays;
pub use incidents::{Incident, Incidents};
pub use queue::QueueSample;
pub use requests::Requests;
pub use samples::Samples;
pub use traces::{Traces, check};
pub use transfers::Transfers;
pub use window::WindowSample;
