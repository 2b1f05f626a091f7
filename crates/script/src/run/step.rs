//! Due times and outcomes of the steps of a script.

use units::{Duration, Time};

use crate::report::{Failure, Missing, Verdict};

/// Additional time to wait for a segment that is late, so that the failure can report its time.
pub(super) const PATIENCE: Duration = Duration::from_millis(1_000_000);

/// Interval of times in which an event is due.
pub(super) struct Due {
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) any: bool,
}

/// Outcome of a step: done, or the verdict of the script.
pub(super) type Step = Result<(), Verdict>;

pub(super) fn fail(line: u32, problem: impl Into<String>) -> Verdict {
    Verdict::Failed(Failure { line, problem: problem.into(), ..Failure::default() })
}

pub(super) fn differs(
    line: u32,
    problem: impl Into<String>,
    expected: impl Into<String>,
    happened: impl Into<String>,
) -> Verdict {
    let (problem, expected, happened) = (problem.into(), Some(expected.into()), Some(happened.into()));
    Verdict::Failed(Failure { line, problem, expected, happened, column: None })
}

pub(super) fn unsupported(line: u32, what: impl Into<String>) -> Verdict {
    Verdict::Unsupported(vec![Missing { line, what: what.into() }])
}
