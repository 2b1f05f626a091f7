//! The clock of a script, which processes the timers of the host and checks that blocking calls
//! return in time.

use units::Time;

use super::Runner;
use super::step::{Step, differs, fail};
use crate::host::Host;

/// Maximum number of timers that may expire at one instant. If more than 10,000 timers expire at
/// one instant, the implementation of the endpoint is faulty.
const TIMERS_AT_ONCE: u32 = 10_000;

impl Runner {
    /// Advance the clock of the script to the time `to`. Timers that expire exactly at the time
    /// `to` are processed after the event of the script at this time.
    pub(super) fn advance(&mut self, to: Time) -> Step {
        self.pass(to, |_| false)
    }

    /// Advance the clock of the script to the time `to`, or until `done` returns true.
    pub(super) fn pass(&mut self, to: Time, done: impl Fn(&Host) -> bool) -> Step {
        let mut at_once = 0;
        while !done(&self.host) {
            let wake = self.waiting.as_ref().map_or(Time::NEVER, |w| w.wake);
            let next = self.host.deadline().min(wake);
            if next >= to {
                self.now = self.now.max(to);
                return self.overdue();
            }
            at_once = if next > self.now { 0 } else { at_once + 1 };
            if at_once > TIMERS_AT_ONCE {
                let line = self.waiting.as_ref().map_or(1, |w| w.line);
                return Err(fail(line, format!("the endpoint's timer does not advance at {}", self.now)));
            }
            self.now = self.now.max(next);
            self.overdue()?;
            self.host.on_timer(self.now);
            self.retry_call()?;
        }
        Ok(())
    }

    /// Return a failure if a blocking call should have returned by now but has not.
    fn overdue(&self) -> Step {
        match &self.waiting {
            Some(w) if self.now > w.end + self.tolerance => Err(differs(
                w.line,
                format!("{} still blocks", w.call.name),
                format!("{} returns at {}", w.call, w.end),
                format!("the call has not returned by {}", self.now),
            )),
            _ => Ok(()),
        }
    }
}
