//! Times at which the steps of a script are due, and outcomes of steps.

use units::{Duration, Time};

use crate::report::{Failure, Missing, Verdict};

/// Additional time for which a run waits for a late segment, so that the failure can give the
/// segment's time.
pub(super) const PATIENCE: Duration = Duration::from_millis(1_000_000);

/// Interval of times in which an event of a script is due.
pub(super) struct Due {
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) any: bool,
}

/// Outcome of a step of a script: either the step is done, or the verdict of the script is known.
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
