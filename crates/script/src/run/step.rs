//! When a step of a script is due, and how it ends.

use units::{Duration, Time};

use crate::report::{Failure, Missing, Verdict};

/// How long is waited for a segment that does not come at its time, only to say when it comes.
pub(super) const PATIENCE: Duration = Duration::from_millis(1_000_000);

/// When an event is due.
pub(super) struct Due {
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) any: bool,
}

/// It is done, or the script has its verdict.
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
