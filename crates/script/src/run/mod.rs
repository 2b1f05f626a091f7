//! Execution of a script: the clock, the order of events, and the comparisons.
//!
//! A script is executed by the rules of packetdrill. A segment is injected, and a call begins, when
//! the clock has reached the time of the event. A segment that the script expects is compared with
//! the next segment that the endpoint sent, first the fields and then the time. A relative time in
//! the script counts from the end of the previous event. While a blocking call waits, the other
//! events of the script are executed.

mod calling;
mod clock;
pub(crate) mod preparation;
mod segments;
mod step;

use units::{Duration, Time};

use crate::host::Host;
use crate::kernel::Kernel;
use crate::matching::to_script;
use crate::report::{Block, Moment, Report, Verdict};
use crate::setup::Setup;
use crate::support;
use crate::syntax::{Action, Code, Direction, Event, Script, When};
use calling::Waiting;
use step::{Due, Step, fail, unsupported};

/// Default tolerance of packetdrill.
const TOLERANCE: Duration = Duration::from_millis(4);

/// Run a script.
pub fn run(script: &Script, setup: &Setup) -> Report {
    let mut runner = Runner::new(setup);
    let verdict = match runner.all(script) {
        Ok(()) => Verdict::Passed,
        Err(verdict) => verdict,
    };
    let passed = verdict == Verdict::Passed;
    runner.record_unexpected(if passed {
        "the script has ended"
    } else {
        "the script ended before this segment was compared"
    });
    runner.timeline.sort_by_key(|moment| moment.at); // a segment is recorded when it is expected
    let code = script.events.iter().filter_map(|e| match &e.action {
        Action::Code(code) => Some(code.clone()),
        _ => None,
    });
    Report { verdict, timeline: runner.timeline, blocks: runner.blocks, code: code.collect() }
}

struct Runner {
    host: Host,
    now: Time,
    tolerance: Duration,
    /// Duration of one tick of the timestamps in the script. If the script does not give the
    /// duration of a tick, timestamps are not compared.
    tick: Option<Duration>,
    waiting: Option<Waiting>,
    timeline: Vec<Moment>,
    blocks: Vec<Block>,
    preparation: Vec<(String, String)>,
    /// Settings that the host had before the script changed them.
    before: Kernel,
}

const NO_EVENT: &str = "the script has no event: write at least one call or segment with its time, \
                        such as `0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3`";
const NO_PACING: &str = "pacing by fq of more than the first 10 segments, together with a congestion \
    control that does not pace (bbr does)";
const BEYOND: &str = "is more than 213 days after the start, the maximum of the clock";

impl Runner {
    fn new(setup: &Setup) -> Self {
        Runner {
            host: Host::new(setup.tcp.clone()),
            now: Time::ZERO,
            tolerance: setup.tolerance.unwrap_or(TOLERANCE),
            tick: None,
            preparation: setup.preparation.clone(),
            before: Kernel::new(setup.tcp.clone()),
            waiting: None,
            timeline: Vec::new(),
            blocks: Vec::new(),
        }
    }

    fn all(&mut self, script: &Script) -> Step {
        let missing = support::missing(script, &self.before, &self.preparation);
        if !missing.is_empty() {
            return Err(Verdict::Unsupported(missing));
        }
        if script.events.is_empty() {
            return Err(fail(1, NO_EVENT));
        }
        self.settings(script)?;
        self.guess_shift(script);
        if let Some(init) = &script.init {
            self.command(init)?;
        }
        // The clock starts with the first event.
        self.now = script.events.first().map_or(Time::ZERO, |e| match e.when {
            When::At(t) | When::After(t) | When::Between(t, _) | When::AfterBetween(t, _) => Time::ZERO + t,
            When::Any => Time::ZERO,
        });
        for (i, event) in script.events.iter().enumerate() {
            let base = if i == 0 { Time::ZERO } else { self.now };
            let done = self.event(event, base);
            if self.host.lacks_pacing() {
                return Err(unsupported(event.line, NO_PACING));
            }
            done?;
        }
        self.finish()
    }

    fn record(&mut self, at: Time, line: Option<u32>, what: String) {
        self.timeline.push(Moment { at, line, what });
    }

    fn due(&self, when: When, base: Time) -> Due {
        let (from, to, any) = match when {
            When::At(t) => (Time::ZERO + t, Time::ZERO + t, false),
            When::Between(a, b) => (Time::ZERO + a, Time::ZERO + b, false),
            When::After(t) => (base + t, base + t, false),
            When::AfterBetween(a, b) => (base + a, base + b, false),
            When::Any => (base, base, true),
        };
        Due { from, to, any }
    }

    fn event(&mut self, event: &Event, base: Time) -> Step {
        let due = self.due(event.when, base);
        if due.to == Time::NEVER {
            return Err(fail(event.line, BEYOND));
        }
        if let Action::Packet(packet) = &event.action
            && packet.way == Direction::Out
        {
            return self.expect(event.line, packet, &due);
        }
        self.advance(due.from)?;
        if !self.on_time(self.now, &due) {
            let problem = format!("comes too late: due at {}, but it is {}", due.from, self.now);
            return Err(fail(event.line, problem));
        }
        match &event.action {
            Action::Packet(packet) => self.inject(event.line, packet),
            Action::Call(call) => self.call(event.line, call, event.when, base),
            Action::Command(command) => self.command(command),
            Action::Code(code) => {
                self.code(code);
                Ok(())
            }
            Action::Foreign(_, kind) => Err(unsupported(event.line, format!("{kind} packet"))),
        }
    }

    fn on_time(&self, at: Time, due: &Due) -> bool {
        due.any || (at + self.tolerance >= due.from && at <= due.to + self.tolerance)
    }

    fn code(&mut self, code: &Code) {
        let first = code.text.trim().lines().next().unwrap_or("").trim_end();
        let rest = if code.text.trim().contains('\n') { " …" } else { "" };
        self.record(self.now, Some(code.line), format!("%{{ {first}{rest} }}%"));
        let info = self.host.current.map(|i| self.host.connections[i].stack.info(self.now));
        self.blocks.push(Block { at: self.now, line: code.line, text: code.text.clone(), info });
    }

    /// If a call still blocks after the last event of the script, wait for this call.
    fn finish(&mut self) -> Step {
        while let Some(end) = self.waiting.as_ref().map(|w| w.end) {
            let last = end + self.tolerance + Duration(1);
            if last == Time::NEVER {
                return Err(fail(self.waiting.as_ref().map_or(1, |w| w.line), BEYOND));
            }
            self.pass(last, |_| false)?;
        }
        Ok(())
    }

    /// Record in the timeline each sent segment that the script did not expect.
    fn record_unexpected(&mut self, why: &str) {
        let missed =
            std::mem::take(&mut self.host.missed).into_iter().map(|s| (s, "another connection began"));
        let rest = std::mem::take(&mut self.host.sent).into_iter().map(|s| (s, why));
        for (sent, why) in missed.chain(rest).collect::<Vec<_>>() {
            let written = to_script(&sent.header, &self.host.connections[sent.connection]);
            self.record(sent.at, None, format!("{written} ({why})"));
        }
    }
}
