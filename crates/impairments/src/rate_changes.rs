//! Links whose rate changes over time, by a schedule or by a trace.

use std::sync::Arc;

use net::{Opportunities, Pace, Steps};
use units::file::{lines, read_text};
use units::param::{Invalid, Json, join, page};
use units::{Duration, Range, Rate, RateOrNone, Read, choice, params};

params! {
    /// A change of a link's rate.
    pub struct Change: "change" {
        /// Time of the change.
        at: Duration = required, in Range::at_least(0.0), from "";
        /// New rate. If the new rate is 0 bit/s, the transmitter stops and the queue grows.
        rate: RateOrNone = required, in Range::ANY, from "";
    }
}

params! {
    /// A schedule of rates. Before the first change, the link has the rate of its key `rate`. If
    /// the rate changes during the transmission of a packet, the rest of the packet is sent at the
    /// new rate.
    pub struct Schedule: "schedule", checked by check_schedule {
        /// Changes of the link's rate, in order of time.
        changes: Vec<Change> = required, in Range::ANY, from "";
        /// Period after which the schedule starts again with the rate of the link's key `rate`. If
        /// the period is absent, the last rate of the schedule stays in effect.
        repeat: Option<Duration> = (None), in Range::above(0.0), from "";
    }
}

params! {
    /// Trace of transmission opportunities, in the file format of the emulator mahimahi. Each line
    /// is a time in whole milliseconds at which the link carries up to 1500 bytes: one packet,
    /// several packets, or a part of a packet. Bytes that a transmission opportunity does not use
    /// are lost. After the last line of its file, the trace starts again. A packet that waits for a
    /// transmission opportunity counts as in service, and not as queued. AQMs that depend on the
    /// rate of the link use the value of the link's key `rate`.
    pub struct Trace: "trace" {
        /// Times of the transmission opportunities, in order: the name of a text file with one time
        /// per line, or a list of times such as [0, 12, 24]. In a trace file, the text after # is a
        /// comment. File names are relative to the folder in which aqmlab runs.
        opportunities: Times = required, in Range::ANY, from "netravali2015mahimahi";
    }
}

choice! {
    /// A change of a link's rate over time.
    pub enum Kind {
        Schedule(Schedule),
        Trace(Trace),
    }
}

/// A change of a link's rate over time. In a scenario, a list of changes is short for the table of
/// a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct RateChanges(Kind);

impl RateChanges {
    /// Return the manual pages.
    pub fn pages() -> Vec<Json> {
        let mut pages = Kind::pages();
        pages.push(page::<Change>());
        pages
    }

    /// Return the model of transmissions on a link whose key `rate` is `rate`.
    pub fn pace(&self, rate: Rate) -> Option<Pace> {
        match &self.0 {
            Kind::Schedule(s) => {
                let changes: Vec<_> = s.changes.iter().map(|c| (c.at, c.rate.0)).collect();
                Steps::new(rate, &changes, s.repeat).map(Pace::Steps)
            }
            Kind::Trace(trace) => Opportunities::new(trace.opportunities.0.clone()).map(Pace::Opportunities),
        }
    }
}

impl Read for RateChanges {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if !value.is_array() {
            return Kind::read(value, path).map(RateChanges);
        }
        let schedule = Schedule { changes: Read::read(value, path)?, repeat: None };
        check_changes(&schedule, path)?;
        Ok(RateChanges(Kind::Schedule(schedule)))
    }
    fn write(&self) -> Json {
        self.0.write()
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [Vec::<Change>::schema(), Kind::schema()]})
    }
}

fn check_schedule(s: &Schedule, path: &str) -> Result<(), Invalid> {
    check_changes(s, &join(path, "changes"))?;
    match (s.repeat, s.changes.last()) {
        (Some(repeat), Some(last)) if repeat <= last.at => {
            let problem = format!("must be after the last change ({})", last.at);
            let remedy = "use a longer period, or earlier changes";
            Err(Invalid::new(&join(path, "repeat"), &repeat.write(), problem).remedy(remedy))
        }
        _ => Ok(()),
    }
}

/// Refuse changes that are not in order of time, and changes after which the link stops for ever.
fn check_changes(s: &Schedule, path: &str) -> Result<(), Invalid> {
    if let Some(i) = (1..s.changes.len()).find(|&i| s.changes[i].at <= s.changes[i - 1].at) {
        let at = join(&join(path, i), "at");
        let problem = format!("must be after the previous change ({})", s.changes[i - 1].at);
        return Err(Invalid::new(&at, &s.changes[i].at.write(), problem).remedy("sort the changes by time"));
    }
    let silent = match (s.repeat, s.changes.first()) {
        // A repeated schedule begins with the rate of the link's key `rate`, unless its first
        // change is at 0 s.
        (Some(_), Some(first)) => {
            first.at == Duration::ZERO && s.changes.iter().all(|change| change.rate.0.0 == 0)
        }
        _ => s.changes.last().is_some_and(|last| last.rate.0.0 == 0),
    };
    if silent {
        return Err(
            Invalid::at(path, "leaves the link at 0 bit/s for ever").remedy("end with a rate above 0")
        );
    }
    Ok(())
}

/// A trace of transmission opportunities: at least one time in whole milliseconds. Times never
/// decrease, and the last time is above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Times(Arc<[Duration]>);

/// Maximum time, in milliseconds.
const MAX_TIME: u64 = 10_000_000_000;

impl Times {
    fn of(times: impl Iterator<Item = Result<u64, String>>) -> Result<Self, String> {
        let mut all: Vec<u64> = Vec::new();
        for time in times {
            let time = time?;
            if time > MAX_TIME {
                return Err(format!("the time {time} must be at most {MAX_TIME} ms"));
            }
            if let Some(last) = all.last().filter(|last| time < **last) {
                return Err(format!("the time {time} is before the previous time, {last}"));
            }
            all.push(time);
        }
        match all.last() {
            None => Err("it is empty".into()),
            Some(0) => Err("the last time is the length of the trace, so it must be above 0".into()),
            Some(_) => Ok(Times(all.into_iter().map(Duration::from_millis).collect())),
        }
    }
}

fn line((number, line): (usize, &str)) -> Result<u64, String> {
    line.parse().map_err(|_| format!("line {number} must be a whole number of milliseconds"))
}

impl Read for Times {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if let Some(name) = value.as_str() {
            let text = read_text(name, path)?;
            return Times::of(lines(&text).map(line))
                .map_err(|e| Invalid::new(path, value, format!("is not a trace: {e}")));
        }
        let list = value
            .as_array()
            .ok_or_else(|| Invalid::new(path, value, "must be the name of a file or a list of times"))?;
        let time = |(i, time): (usize, &Json)| {
            time.as_u64()
                .ok_or_else(|| format!("element {i} of the list must be a whole number of milliseconds"))
        };
        Times::of(list.iter().enumerate().map(time))
            .map_err(|e| Invalid::at(path, format!("is not a trace: {e}")))
    }
    fn write(&self) -> Json {
        self.0.iter().map(|time| time.0 / Duration::from_millis(1).0).collect()
    }
    fn schema() -> Json {
        let times = serde_json::json!({"type": "array", "items": {"type": "integer", "minimum": 0}});
        serde_json::json!({"anyOf": [{"type": "string"}, times]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(v: &Json) -> String {
        RateChanges::read(v, "x").unwrap_err().to_string()
    }

    #[test]
    fn schedules_and_traces_are_read() {
        let list = json!([{"at": "1 s", "rate": "0 bit/s"}, {"at": "2 s", "rate": "3 Mbit/s"}]);
        let short = RateChanges::read(&list, "").unwrap();
        assert_eq!(short, RateChanges::read(&json!({"kind": "schedule", "changes": list}), "").unwrap());
        assert_eq!(RateChanges::read(&short.write(), "").unwrap(), short);
        assert!(matches!(short.pace(Rate(1)), Some(Pace::Steps(_))));
        let trace = RateChanges::read(&json!({"kind": "trace", "opportunities": [0, 0, 5]}), "").unwrap();
        assert_eq!(RateChanges::read(&trace.write(), "").unwrap(), trace);
        assert!(matches!(trace.pace(Rate(1)), Some(Pace::Opportunities(_))));
        let read = Times::of(lines("# made by hand\n0\n 0 \n5 # last\n").map(line)).unwrap();
        assert_eq!(read.write(), json!([0, 0, 5]));
    }

    #[test]
    fn invalid_schedules_are_refused() {
        let change = |at: &str, rate: &str| json!({"at": at, "rate": rate});
        let (one, none) = (change("1 s", "1 Mbit/s"), change("1 s", "0 bit/s"));
        assert!(error(&json!([one, one])).contains("must be after the previous change"));
        assert!(error(&json!([none])).contains("for ever"));
        let repeated = |changes: Json| json!({"kind": "schedule", "changes": changes, "repeat": "1 s"});
        assert!(error(&repeated(json!([one]))).contains("must be after the last change ("));
        assert!(error(&repeated(json!([change("0 s", "0 bit/s")]))).contains("for ever"));
        assert!(RateChanges::read(&repeated(json!([change("500 ms", "0 bit/s")])), "").is_ok());
        assert!(error(&json!([change("1 s", "-1 bit/s")])).contains("x.0.rate"));
        assert!(error(&json!([change("1 s", "0.5 bit/s")])).contains("between 1 bit/s"));
    }

    #[test]
    fn an_error_in_a_trace_names_its_line() {
        let of = |text: &str| Times::of(lines(text).map(line)).unwrap_err();
        assert!(of("1\n2.5\n").contains("line 2 must be a whole number"));
        assert!(of("1\n-2").contains("line 2"));
        assert!(of("1 2").contains("line 1"));
        assert!(of("99999999999999999999999").contains("line 1"));
        assert!(of("10000000001").contains("must be at most 10000000000 ms"));
        assert!(of("5\n4").contains("4 is before the previous time, 5"));
        assert!(of("# nothing").contains("is empty") && of("0\n0").contains("above 0"));
        let e = |v: Json| error(&json!({"kind": "trace", "opportunities": v}));
        assert!(e(json!("/nowhere/at/all")).contains("cannot be read"));
        assert!(e(json!("/")).contains("instead of a file"));
        assert!(
            e(json!([1, "2"])).contains("element 1") && e(json!(3)).contains("the name of a file or a list")
        );
    }
}
