//! Errors of a run.

use lab::Failure;

/// Reason for which a run over the kernel has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario or the network fails, as in a simulated run.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The kernel refuses an operation.
    #[error("{what}: {error}")]
    System {
        /// Operation that failed.
        what: String,
        /// Error of the kernel.
        error: std::io::Error,
    },
}

impl Error {
    /// Return a function that adds the failed operation to an error of the kernel.
    pub(crate) fn of<E: Into<std::io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Error {
        |error| Error::System { what: what.into(), error: error.into() }
    }
}
