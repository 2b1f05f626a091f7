//! System calls of a script: their execution, calls that block, and the comparison of results.

use units::Time;

use super::Runner;
use super::step::{PATIENCE, Step, differs, fail, unsupported};
use crate::calls::{self, Progress, Reply, number};
use crate::report::{Failure, Verdict};
use crate::syntax::{Call, Outcome, When};

/// A blocking call that has not yet returned.
pub(super) struct Waiting {
    pub(super) line: u32,
    pub(super) call: Call,
    /// Time at which the blocking call returns according to the script.
    pub(super) end: Time,
    progress: Progress,
    pub(super) wake: Time,
}

impl Runner {
    pub(super) fn call(&mut self, line: u32, call: &Call, when: When, base: Time) -> Step {
        if let (Some(w), true) = (&self.waiting, call.end.is_some()) {
            return Err(fail(line, format!("the blocking call of line {} has not returned", w.line)));
        }
        self.record(self.now, Some(line), call.to_string());
        let mut progress = Progress { since: self.now, again: false, bytes: 0 };
        let hidden = self.host.hidden.len();
        let reply = calls::make(&mut self.host, call, self.now, &mut progress);
        if self.waiting.is_some() && self.host.hidden.len() > hidden {
            return Err(unsupported(line, "a descriptor number that is assigned twice while a call blocks"));
        }
        let relative = matches!(when, When::After(_) | When::AfterBetween(..) | When::Any);
        let end = call.end.map(|end| if relative { base + end } else { Time::ZERO + end });
        match (reply, end) {
            (Reply::Blocks(wake), Some(end)) => {
                self.waiting = Some(Waiting { line, call: call.clone(), end, progress, wake });
                Ok(())
            }
            (Reply::Blocks(wake), None) => self.stuck(line, call, wake, progress),
            (reply, Some(end)) if self.now + self.tolerance < end => {
                self.returned(line, call, &reply)?;
                Err(differs(
                    line,
                    format!("{} does not block", call.name),
                    format!("the call returns at {end}"),
                    format!("the call returns at once, at {}", self.now),
                ))
            }
            (reply, _) => {
                self.returned(line, call, &reply)?;
                self.retry_call() // one call may complete another that blocks
            }
        }
    }

    /// Try to complete the call that is blocking.
    pub(super) fn retry_call(&mut self) -> Step {
        let Some(mut waiting) = self.waiting.take() else { return Ok(()) };
        match calls::make(&mut self.host, &waiting.call, self.now, &mut waiting.progress) {
            Reply::Blocks(wake) => {
                waiting.wake = wake;
                self.waiting = Some(waiting);
                Ok(())
            }
            reply => {
                let on_time =
                    self.now + self.tolerance >= waiting.end && self.now <= waiting.end + self.tolerance;
                self.returned(waiting.line, &waiting.call, &reply)?;
                if on_time {
                    return Ok(());
                }
                Err(differs(
                    waiting.line,
                    format!("{} returns at another time", waiting.call.name),
                    format!("at {}", waiting.end),
                    format!("at {}", self.now),
                ))
            }
        }
    }

    /// Execute a call that blocks although the script does not give a time at which the call
    /// returns. The next event of the script begins only after the blocking call has returned.
    fn stuck(&mut self, line: u32, call: &Call, wake: Time, progress: Progress) -> Step {
        let end = self.now + PATIENCE;
        self.waiting = Some(Waiting { line, call: call.clone(), end, progress, wake });
        while self.waiting.is_some() {
            let next = self.host.deadline().min(self.waiting.as_ref().map_or(Time::NEVER, |w| w.wake));
            if next > end {
                let problem = format!("{} blocks, and no event of the script can end the call", call.name);
                let expected = Some(format!(
                    "{call}; a call that blocks needs the times of its start and of its end, such as \
                     0...0.1"
                ));
                return Err(Verdict::Failed(Failure { line, problem, expected, ..Failure::default() }));
            }
            self.now = self.now.max(next);
            self.host.on_timer(self.now);
            let Some(mut waiting) = self.waiting.take() else { break };
            match calls::make(&mut self.host, call, self.now, &mut waiting.progress) {
                Reply::Blocks(wake) => self.waiting = Some(Waiting { wake, ..waiting }),
                reply => self.returned(line, call, &reply)?,
            }
        }
        Ok(())
    }

    /// Compare the result of a call with the result that the script expects.
    fn returned(&mut self, line: u32, call: &Call, reply: &Reply) -> Step {
        let (value, errno) = match reply {
            Reply::Done(value) => (*value, None),
            Reply::Fails(errno) => (-1, Some(*errno)),
            Reply::Unsupported(what) => return Err(unsupported(line, what)),
            Reply::Wrong(problem) => return Err(fail(line, problem)),
            Reply::Differs(problem) => {
                let expected = Some(call.to_string());
                let problem = format!("{}: {problem}", call.name);
                return Err(Verdict::Failed(Failure { line, problem, expected, ..Failure::default() }));
            }
            Reply::Blocks(_) => return Ok(()),
        };
        let happened = match errno {
            Some(errno) => format!("-1 {errno}"),
            None => value.to_string(),
        };
        if call.end.is_some() {
            self.record(self.now, Some(line), format!("{} returns {happened}", call.name));
        }
        let as_expected = match &call.result {
            Outcome::Any => true,
            Outcome::Between(low, high) => (*low..=*high).contains(&value),
            Outcome::Is(e) => match number(e) {
                Ok(expected) => expected == value,
                Err(Reply::Unsupported(what)) => return Err(unsupported(line, what)),
                Err(_) => return Err(fail(line, format!("{e} is not a result"))),
            },
        };
        let same_error = match (&call.errno, errno) {
            (Some(expected), Some(errno)) => {
                expected == errno || (expected == "EWOULDBLOCK" && errno == "EAGAIN")
            }
            (Some(_), None) => false,
            (None, _) => true, // `= -1` alone matches any error
        };
        if as_expected && same_error {
            return Ok(());
        }
        Err(differs(
            line,
            format!("{} returns something else", call.name),
            call.to_string(),
            format!("{} returned {happened}", call.name),
        ))
    }
}
