//! Why a run gave no result.

use net::Violation;
use thiserror::Error;
use units::param::Invalid;

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// The scenario is wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Something that must hold does not: a bug.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// Flows that do not end.
    #[error("{0}")]
    Stalled(String),
    /// It took more than it may.
    #[error("{0}")]
    Limit(String),
    /// A capture could not be written.
    #[error("the capture cannot be written: {0}")]
    Capture(String),
    /// There is no room for it.
    #[error("{0}")]
    Memory(String),
    /// It panicked: a bug.
    #[error("it panicked at {0}")]
    Panic(String),
    /// It was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}
