//! A link whose rate changes: by a schedule, or as a trace has it.

use std::sync::Arc;

use net::{Opportunities, Pace, Steps};
use units::file::{lines, read_text};
use units::param::{Invalid, Json, join, page};
use units::{Duration, Range, Rate, RateOrNone, Read, choice, params};

params! {
    /// A change of a link's rate.
    pub struct Change: "change" {
        /// When.
        at: Duration = required, in Range::at_least(0.0), from "";
        /// The rate from then on; 0 bit/s: the transmitter stops, and the queue grows.
        rate: RateOrNone = required, in Range::ANY, from "";
    }
}

params! {
    /// A rate that changes by a schedule: the link's own rate until the first change, then that of each. A packet in
    /// transmission goes on at the new rate.
    pub struct Schedule: "schedule", checked by check_schedule {
        /// The changes, their times rising.
        changes: Vec<Change> = required, in Range::ANY, from "";
        /// After this time everything begins anew, with the link's own rate; absent: the last rate stays.
        repeat: Option<Duration> = (None), in Range::above(0.0), from "";
    }
}

params! {
    /// A link that sends when a trace in mahimahi's format says so: each line is a time in whole milliseconds at which it
    /// carries 1500 bytes, of one or more packets or of a part of one. What is not used at once is lost. After the
    /// last time the trace begins anew. A packet whose opportunity has not come counts as in service; laws that
    /// reckon with the rate of their link are told the link's own.
    pub struct Trace: "trace" {
        /// The name of a text file with a time on each line, times never falling; or a list of times, [0, 12, 24]. What follows #
        /// is not read; names are from the folder in which aqmlab runs.
        opportunities: Times = required, in Range::ANY, from "netravali2015mahimahi";
    }
}

choice! {
    /// How a link's rate changes.
    pub enum Kind {
        Schedule(Schedule),
        Trace(Trace),
    }
}

/// How a link's rate changes; a bare list is the changes of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct RateChanges(Kind);

impl RateChanges {
    /// The manual pages.
    pub fn pages() -> Vec<Json> {
        let mut pages = Kind::pages();
        pages.push(page::<Change>());
        pages
    }

    /// The transmitter of a link whose own rate is `rate`.
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
            let remedy = "make it longer, or the changes earlier";
            Err(Invalid::new(&join(path, "repeat"), &repeat.write(), problem).remedy(remedy))
        }
        _ => Ok(()),
    }
}

/// Refuses changes out of order, and a link that is silent for ever.
fn check_changes(s: &Schedule, path: &str) -> Result<(), Invalid> {
    if let Some(i) = (1..s.changes.len()).find(|&i| s.changes[i].at <= s.changes[i - 1].at) {
        let at = join(&join(path, i), "at");
        let problem = format!("must be after the change before it ({})", s.changes[i - 1].at);
        return Err(Invalid::new(&at, &s.changes[i].at.write(), problem).remedy("write them in order"));
    }
    let silent = match (s.repeat, s.changes.first()) {
        // The link's own rate comes before the first change.
        (Some(_), Some(first)) => {
            first.at == Duration::ZERO && s.changes.iter().all(|change| change.rate.0.0 == 0)
        }
        _ => s.changes.last().is_some_and(|last| last.rate.0.0 == 0),
    };
    if silent {
        return Err(Invalid::at(path, "leaves the link at 0 bit/s for ever")
            .remedy("end with a rate above 0, or give the flows another way"));
    }
    Ok(())
}

/// Times in whole milliseconds, never falling, at least one and the last above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Times(Arc<[Duration]>);

/// The latest, in milliseconds.
const LATEST: u64 = 10_000_000_000;

impl Times {
    fn of(times: impl Iterator<Item = Result<u64, String>>) -> Result<Self, String> {
        let mut all: Vec<u64> = Vec::new();
        for time in times {
            let time = time?;
            if time > LATEST {
                return Err(format!("the time {time} is above {LATEST} ms"));
            }
            if let Some(last) = all.last().filter(|last| time < **last) {
                return Err(format!("the time {time} falls behind {last}"));
            }
            all.push(time);
        }
        match all.last() {
            None => Err("it holds no time".into()),
            Some(0) => Err("the last time must be above 0: it is the length of the trace".into()),
            Some(_) => Ok(Times(all.into_iter().map(Duration::from_millis).collect())),
        }
    }
}

fn line((number, line): (usize, &str)) -> Result<u64, String> {
    line.parse().map_err(|_| format!("line {number} is not a whole number of milliseconds"))
}

impl Read for Times {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if let Some(name) = value.as_str() {
            let text = read_text(name, path)?;
            return Times::of(lines(&text).map(line))
                .map_err(|e| Invalid::new(path, value, format!("is no trace: {e}")));
        }
        let list =
            value.as_array().ok_or_else(|| Invalid::new(path, value, "must be a file's name or a list"))?;
        let time = |(i, time): (usize, &Json)| {
            time.as_u64().ok_or_else(|| format!("element {i} is not a whole number of milliseconds"))
        };
        Times::of(list.iter().enumerate().map(time))
            .map_err(|e| Invalid::at(path, format!("is no trace: {e}")))
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
    fn both_kinds_are_read() {
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
    fn schedules_that_cannot_be_are_refused() {
        let change = |at: &str, rate: &str| json!({"at": at, "rate": rate});
        let (one, none) = (change("1 s", "1 Mbit/s"), change("1 s", "0 bit/s"));
        assert!(error(&json!([one, one])).contains("must be after the change before it"));
        assert!(error(&json!([none])).contains("for ever"));
        let repeated = |changes: Json| json!({"kind": "schedule", "changes": changes, "repeat": "1 s"});
        assert!(error(&repeated(json!([one]))).contains("must be after the last change ("));
        assert!(error(&repeated(json!([change("0 s", "0 bit/s")]))).contains("for ever"));
        assert!(RateChanges::read(&repeated(json!([change("500 ms", "0 bit/s")])), "").is_ok());
        assert!(error(&json!([change("1 s", "-1 bit/s")])).contains("x.0.rate"));
        assert!(error(&json!([change("1 s", "0.5 bit/s")])).contains("between 1 bit/s"));
    }

    #[test]
    fn hostile_traces_are_refused() {
        let of = |text: &str| Times::of(lines(text).map(line)).unwrap_err();
        assert!(of("1\n2.5\n").contains("line 2 is not a whole number"));
        assert!(of("1\n-2").contains("line 2"));
        assert!(of("1 2").contains("line 1"));
        assert!(of("99999999999999999999999").contains("line 1"));
        assert!(of("10000000001").contains("is above 10000000000 ms"));
        assert!(of("5\n4").contains("4 falls behind 5"));
        assert!(of("# nothing").contains("no time") && of("0\n0").contains("above 0"));
        let e = |v: Json| error(&json!({"kind": "trace", "opportunities": v}));
        assert!(e(json!("/nowhere/at/all")).contains("cannot be read"));
        assert!(e(json!("/")).contains("is no file"));
        assert!(e(json!([1, "2"])).contains("element 1") && e(json!(3)).contains("a file's name or a list"));
    }
}
