//! Errors of a run.

use net::Violation;
use thiserror::Error;
use units::param::Invalid;

/// Error of a run that has no result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// The scenario is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// An invariant of the simulator is violated, which is a defect of the simulator.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A flow did not finish.
    #[error("{0}")]
    Stalled(String),
    /// The run exceeded one of its limits.
    #[error("{0}")]
    Limit(String),
    /// The simulator could not write a capture.
    #[error("the capture cannot be written: {0}")]
    Capture(String),
    /// The memory does not suffice.
    #[error("{0}")]
    Memory(String),
    /// The simulator panicked, which is a defect of the simulator.
    #[error("the simulator panicked at {0}")]
    Panic(String),
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}
