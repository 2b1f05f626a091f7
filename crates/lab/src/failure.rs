//! Errors of a run.

use net::Violation;
use thiserror::Error;
use units::param::Invalid;

/// Error that ends a run without a result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// The scenario is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// An invariant of the simulator is violated, which means that the simulator has a defect.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A flow did not end within `time_limit`.
    #[error("{0}")]
    Stalled(String),
    /// The run exceeded one of its limits.
    #[error("{0}")]
    Limit(String),
    /// The simulator could not write a capture.
    #[error("the packet capture cannot be written: {0}")]
    Capture(String),
    /// The available memory does not suffice for the run.
    #[error("{0}")]
    Memory(String),
    /// The simulator panicked, which means that the simulator has a defect.
    #[error("the simulator panicked at {0}")]
    Panic(String),
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}
