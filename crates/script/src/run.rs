//! A script against the endpoint: the clock, the order of things, and what is compared.
//!
//! As packetdrill does it: a segment or call of the script waits for its time; a segment that is
//! expected is the next one that the endpoint sent, whenever that was, and then its time is compared; a
//! relative time counts from when the event before was over; a call that blocks runs beside the rest.

use units::{Duration, Time};

use crate::calls::{self, Progress, Reply, number};
use crate::command::{self, Effect};
use crate::host::{Host, Sent};
use crate::matching::{differences, to_live, to_script};
use crate::report::{Block, Failure, Moment, Report, Verdict};
use crate::settings;
use crate::setup::Setup;
use crate::stack::Header;
use crate::support;
use crate::syntax::{
    Action, Call, Code, Command, Event, Flags, Outcome, Packet, Script, TcpOption, Way, When,
};
use tcp::Tcp;

/// packetdrill's default.
const TOLERANCE: Duration = Duration::from_millis(4);
/// How long is waited for a segment that does not come at its time, only to say when it comes.
const PATIENCE: Duration = Duration::from_millis(1_000_000);
/// Timers at one instant, before something is wrong.
const TIMERS_AT_ONCE: u32 = 10_000;
/// The header of IPv4 and TCP without options.
const HEADERS: u64 = 40;

/// Runs a script.
pub fn run(script: &Script, setup: &Setup) -> Report {
    let mut runner = Runner::new(setup);
    let verdict = match runner.all(script) {
        Ok(()) => Verdict::Passed,
        Err(verdict) => verdict,
    };
    Report { verdict, timeline: runner.timeline, blocks: runner.blocks }
}

/// A call that has not returned.
struct Waiting {
    line: u32,
    call: Call,
    /// When it should return.
    end: Time,
    progress: Progress,
    wake: Time,
}

/// When an event is due.
struct Due {
    from: Time,
    to: Time,
    any: bool,
}

struct Runner {
    host: Host,
    now: Time,
    tolerance: Duration,
    waiting: Option<Waiting>,
    timeline: Vec<Moment>,
    blocks: Vec<Block>,
    preparation: Vec<String>,
}

type Step = Result<(), Verdict>;

fn fail(line: u32, problem: impl Into<String>) -> Verdict {
    Verdict::Failed(Failure { line, problem: problem.into(), ..Failure::default() })
}

fn unsupported(line: u32, what: impl Into<String>) -> Verdict {
    Verdict::Unsupported { line, what: what.into() }
}

impl Runner {
    fn new(setup: &Setup) -> Self {
        Runner {
            host: Host::new(setup.tcp.clone()),
            now: Time::ZERO,
            tolerance: setup.tolerance.unwrap_or(TOLERANCE),
            preparation: setup.preparation.clone(),
            waiting: None,
            timeline: Vec::new(),
            blocks: Vec::new(),
        }
    }

    fn all(&mut self, script: &Script) -> Step {
        if let Some((line, what)) = support::missing(script) {
            return Err(unsupported(line, what));
        }
        self.prepare(script);
        self.settings(script)?;
        if let Some(init) = &script.init {
            self.command(init)?;
        }
        // The clock starts with the first event, and there may be nothing before it.
        self.now = script.events.first().map_or(Time::ZERO, |e| match e.when {
            When::At(t) | When::After(t) | When::Between(t, _) | When::AfterBetween(t, _) => Time::ZERO + t,
            When::Any => Time::ZERO,
        });
        for (i, event) in script.events.iter().enumerate() {
            let base = if i == 0 { Time::ZERO } else { self.now };
            self.event(event, base)?;
        }
        self.finish()
    }

    /// What prepares the host before the script. Where it names a shell script that is not at hand the sizes
    /// of its buffers are not known, and the window shift is as its first SYN has it.
    fn prepare(&mut self, script: &Script) {
        for effect in self.preparation.iter().flat_map(|text| command::read_known(text)) {
            if let Effect::Sysctl(name, value) = &effect
                && let Ok(tcp) = settings::sysctl(&self.host.tcp, name, value)
            {
                self.host.tcp = tcp;
            }
        }
        let names_one = script.init.as_ref().is_some_and(|c| c.text.contains(".sh"))
            || script
                .events
                .iter()
                .any(|e| matches!(&e.action, Action::Command(c) if c.text.contains(".sh")));
        if !names_one || !self.preparation.is_empty() {
            return;
        }
        let syn = script.events.iter().find_map(|e| match &e.action {
            Action::Packet(p) if p.way == Way::Out && p.flags.has(Flags::SYN) => p.options.as_ref(),
            _ => None,
        });
        let shift = syn.into_iter().flatten().find_map(|o| match o {
            TcpOption::WindowScale(shift) => Some(*shift),
            _ => None,
        });
        if let Some(shift) = shift
            && let Ok(tcp) = settings::change(&self.host.tcp, &[("window_shift", serde_json::json!(shift))])
        {
            self.host.tcp = tcp;
        }
    }

    fn settings(&mut self, script: &Script) -> Step {
        for setting in &script.settings {
            let number = setting.value.as_deref().and_then(|v| v.parse::<u64>().ok());
            match (setting.name.as_str(), number) {
                ("tolerance_usecs", Some(us)) => self.tolerance = Duration(us.saturating_mul(1_000_000)),
                ("mtu", Some(mtu)) => {
                    let mss = serde_json::json!(format!("{} B", mtu.saturating_sub(HEADERS)));
                    let changed = settings::change(&self.host.tcp, &[("mss", mss)]);
                    self.host.tcp = changed.map_err(|e| unsupported(setting.line, e))?;
                }
                ("preset", _) => {
                    let preset = Tcp::preset(setting.value.as_deref().unwrap_or(""), &serde_json::json!({}));
                    self.host.tcp = preset.map_err(|e| fail(setting.line, e.to_string()))?;
                }
                ("set", _) => {
                    let changed = settings::set(&self.host.tcp, setting.value.as_deref().unwrap_or(""));
                    self.host.tcp = changed.map_err(|e| fail(setting.line, e))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn tell(&mut self, at: Time, line: Option<u32>, what: String) {
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
        if let Action::Packet(packet) = &event.action
            && packet.way == Way::Out
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

    /// Lets time pass to `to`. What falls on `to` itself comes after the script's own event.
    fn advance(&mut self, to: Time) -> Step {
        self.pass(to, |_| false)
    }

    /// Lets time pass up to `to`, or until `done`.
    fn pass(&mut self, to: Time, done: impl Fn(&Host) -> bool) -> Step {
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
            self.look_again()?;
        }
        Ok(())
    }

    /// A call that should have returned by now.
    fn overdue(&self) -> Step {
        match &self.waiting {
            Some(w) if self.now > w.end + self.tolerance => Err(Verdict::Failed(Failure {
                line: w.line,
                problem: format!("{} still blocks", w.call.name),
                expected: Some(format!("{} returns at {}", w.call, w.end)),
                happened: Some(format!("it has not returned by {}", self.now)),
                column: None,
            })),
            _ => Ok(()),
        }
    }

    /// Lets a waiting call go on.
    fn look_again(&mut self) -> Step {
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
                Err(Verdict::Failed(Failure {
                    line: waiting.line,
                    problem: format!("{} returns at another time", waiting.call.name),
                    expected: Some(format!("at {}", waiting.end)),
                    happened: Some(format!("at {}", self.now)),
                    column: None,
                }))
            }
        }
    }

    fn call(&mut self, line: u32, call: &Call, when: When, base: Time) -> Step {
        if let (Some(w), true) = (&self.waiting, call.end.is_some()) {
            return Err(fail(line, format!("the blocking call of line {} has not returned", w.line)));
        }
        self.tell(self.now, Some(line), call.to_string());
        let mut progress = Progress { since: self.now, again: false, bytes: 0 };
        let reply = calls::make(&mut self.host, call, self.now, &mut progress);
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
                Err(Verdict::Failed(Failure {
                    line,
                    problem: format!("{} does not block", call.name),
                    expected: Some(format!("it returns at {end}")),
                    happened: Some(format!("it returns at once, at {}", self.now)),
                    column: None,
                }))
            }
            (reply, _) => {
                self.returned(line, call, &reply)?;
                self.look_again() // what one call does can be what another waits for
            }
        }
    }

    /// A call that blocks though the script does not say until when: nothing of the script can happen
    /// before it returns.
    fn stuck(&mut self, line: u32, call: &Call, wake: Time, progress: Progress) -> Step {
        let end = self.now + PATIENCE;
        self.waiting = Some(Waiting { line, call: call.clone(), end, progress, wake });
        while self.waiting.is_some() {
            let next = self.host.deadline().min(self.waiting.as_ref().map_or(Time::NEVER, |w| w.wake));
            if next > end {
                let problem = format!("{} blocks, and nothing can end that", call.name);
                let expected =
                    Some(format!("{call}; a call that blocks is written with both times: 0...0.1"));
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

    /// Compares what a call returned.
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
            self.tell(self.now, Some(line), format!("{} returns {happened}", call.name));
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
            (None, Some(_)) => !matches!(call.result, Outcome::Is(_)),
            (Some(_), None) => false,
            (None, None) => true,
        };
        if as_expected && same_error {
            return Ok(());
        }
        Err(Verdict::Failed(Failure {
            line,
            column: None,
            problem: format!("{} returns something else", call.name),
            expected: Some(call.to_string()),
            happened: Some(format!("{} returned {happened}", call.name)),
        }))
    }

    fn inject(&mut self, line: u32, packet: &Packet) -> Step {
        self.tell(self.now, Some(line), packet.to_string());
        let to = self.host.addressee(packet.flags);
        let header = match to {
            Some(index) => to_live(packet, &self.host.connections[index]),
            None => to_live(packet, &crate::host::Connection::new(self.host.tcp.clone())),
        };
        let header = header.map_err(|what| unsupported(line, what))?;
        self.host.receive(self.now, to, &header);
        self.look_again()
    }

    /// The next segment that the endpoint sent must be `packet`, in time.
    fn expect(&mut self, line: u32, packet: &Packet, due: &Due) -> Step {
        let latest = if due.any { self.now } else { due.to };
        self.pass(latest + PATIENCE, |host| !host.sent.is_empty())?;
        let Some(sent) = self.host.sent.pop_front() else {
            return Err(Verdict::Failed(Failure {
                line,
                problem: "the segment is not sent".into(),
                expected: Some(packet.to_string()),
                happened: Some("the endpoint sends nothing more".into()),
                column: None,
            }));
        };
        let sent = self.gather(sent, packet.len);
        let connection = &mut self.host.connections[sent.connection];
        if packet.flags.has(Flags::SYN) && sent.header.flags.has(Flags::SYN) {
            connection.script_iss = packet.seq;
        }
        let problems = differences(packet, &sent.header, connection);
        if let (Some(Some(stamp)), Some((live, _))) =
            (packet.options.as_ref().map(|list| stamp(list)), sent.header.options.timestamps)
        {
            connection.timestamps.insert(stamp, live);
        }
        let written = to_script(&sent.header, connection).to_string();
        self.tell(sent.at, Some(line), written.clone());
        let failure = |problem: String, expected: String, happened: String| {
            Err(Verdict::Failed(Failure {
                line,
                problem,
                expected: Some(expected),
                happened: Some(happened),
                column: None,
            }))
        };
        if !problems.is_empty() {
            return failure(problems.join("; "), packet.to_string(), format!("{written} at {}", sent.at));
        }
        if !self.on_time(sent.at, due) {
            let when = if due.from == due.to {
                format!("at {}", due.from)
            } else {
                format!("between {} and {}", due.from, due.to)
            };
            let early = if sent.at < due.from { "early" } else { "late" };
            let off = if sent.at < due.from { due.from.since(sent.at) } else { sent.at.since(due.to) };
            let problem = format!("the segment is sent {off} too {early}");
            return failure(problem, format!("{packet} {when}"), format!("it is sent at {}", sent.at));
        }
        Ok(())
    }

    /// Segments that were sent together, as one: a kernel hands what a window allows to the interface in
    /// one piece (TSO), and scripts for it expect that piece.
    fn gather(&mut self, mut sent: Sent, len: u32) -> Sent {
        while sent.header.len > 0 && sent.header.len < len {
            let Some(next) = self.host.sent.front() else { break };
            if next.at != sent.at
                || next.connection != sent.connection
                || !follows(&sent.header, &next.header)
            {
                break;
            }
            sent.header.len += next.header.len;
            sent.header.flags |= next.header.flags;
            self.host.sent.pop_front();
        }
        sent
    }

    fn command(&mut self, command: &Command) -> Step {
        let effects = command::read(&command.text).map_err(|what| unsupported(command.line, what))?;
        for effect in effects {
            let changed = match &effect {
                Effect::Sysctl(name, value) => settings::sysctl(&self.host.tcp, name, value),
                Effect::InitialWindow(value) => {
                    let packets = serde_json::json!(format!("{value} packets"));
                    settings::change(&self.host.tcp, &[("initial_window", packets)])
                }
                Effect::Sleep(time) => {
                    self.advance(self.now + *time)?;
                    continue;
                }
            };
            self.host.tcp = changed.map_err(|what| unsupported(command.line, what))?;
        }
        Ok(())
    }

    fn code(&mut self, code: &Code) {
        let info = self.host.current.map(|i| self.host.connections[i].stack.info());
        self.blocks.push(Block { at: self.now, line: code.line, text: code.text.clone(), info });
    }

    /// After the last event: a call that still waits gets its time.
    fn finish(&mut self) -> Step {
        while let Some(end) = self.waiting.as_ref().map(|w| w.end) {
            let last = end + self.tolerance + Duration(1);
            self.pass(last, |_| false)?;
        }
        for sent in std::mem::take(&mut self.host.sent) {
            let written = to_script(&sent.header, &self.host.connections[sent.connection]);
            self.tell(sent.at, None, format!("{written} (the script has ended)"));
        }
        Ok(())
    }
}

/// Whether `next` continues `first` and could have been one piece with it.
fn follows(first: &Header, next: &Header) -> bool {
    let same = |h: &Header| (h.ack, h.window, h.ecn, h.flags.without(Flags::PSH | Flags::FIN | Flags::CWR));
    next.seq == first.seq.wrapping_add(first.len)
        && next.len > 0
        && same(first) == same(next)
        && first.options == next.options
}

fn stamp(list: &[TcpOption]) -> Option<u32> {
    list.iter().find_map(|o| if let TcpOption::Timestamps(value, _) = o { Some(*value) } else { None })
}
