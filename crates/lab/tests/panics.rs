//! Tests of runs that end with an error, because of a panic, insufficient memory or an exceeded
//! limit.

mod common;

use common::{TWO_DOWNLOADS, digest, scenario, try_outcome};
use lab::{Failure, Watch, describe, run, run_catching_panics};
use net::Aqm;
use queues::{CustomAqms, QueueContext};

/// Set of custom AQMs. The construction of each AQM panics.
struct PanickingAqms;

impl CustomAqms for PanickingAqms {
    fn has(&self, _: &str) -> bool {
        true
    }
    fn aqm(&self, name: &str, link: &str, _: QueueContext) -> Box<dyn Aqm + Send> {
        panic!("no {name} on {link}")
    }
}

#[test]
fn a_panic_is_an_error_with_its_source_line_and_scenario() {
    let queue = r#"{ kind = "custom", aqm = "Mine" }"#;
    let changes = [("network.queue", queue), ("title", "\"Two\""), ("seed", "9")];
    let scenario = scenario(TWO_DOWNLOADS, &changes).unwrap();
    let failure = run_catching_panics(&scenario, &Watch::default(), None, &PanickingAqms).unwrap_err();
    assert!(matches!(failure, Failure::Panic(_)));
    let message = failure.to_string();
    assert!(message.contains("panics.rs:") && message.contains("no Mine on left>right"), "{message}");
    assert_eq!(describe(&scenario), "scenario \"Two\", seed 9");
}

#[test]
fn samples_that_exceed_the_memory_limit_are_refused_before_the_run() {
    let changes =
        [("duration", "\"1000000 s\""), ("record", r#"{ interval = "1 us", series = ["queue", "window"] }"#)];
    let message = scenario(TWO_DOWNLOADS, &changes).unwrap_err();
    assert!(message.starts_with("record.interval: \"1 us\" makes 1000000000001 samples of"), "{message}");
    assert!(message.contains("more than the maximum of 4 GB; sample every"), "{message}");
    let suggested = message.split("every ").nth(1).unwrap().split(" or").next().unwrap();
    let record = format!("{{ interval = \"{suggested}\", series = [\"queue\", \"window\"] }}");
    let changes = [("duration", "\"1000000 s\""), ("record", record.as_str())];
    assert!(scenario(TWO_DOWNLOADS, &changes).is_ok());
}

#[test]
fn times_beyond_213_days_are_an_error() {
    let slow = [
        ("duration", "\"10000000 s\""),
        ("network.rate", "\"1 bit/s\""),
        ("network.queue", "{ kind = \"drop_tail\", limit = \"1000000 packets\" }"),
        ("flows.0.traffic", "{ kind = \"cbr\", rate = \"10 bit/s\" }"),
    ];
    let message = try_outcome(TWO_DOWNLOADS, &slow).unwrap_err().to_string();
    assert!(
        message.contains("the queue of left>right would deliver packets more than 213 days after"),
        "{message}"
    );
    for long in ["\"214 days\"", "\"1e8 s\"", "\"5112 h\"", "\"1e300 h\""] {
        assert!(scenario(TWO_DOWNLOADS, &[("duration", long)]).is_err(), "{long}");
    }
}

/// A run that exceeds a limit ends with an error that names the limit. A run within its limits has
/// the same tables as a run without limits.
#[test]
fn a_run_that_exceeds_a_limit_ends_with_an_error() {
    let scenario = scenario(TWO_DOWNLOADS, &[]).unwrap();
    let whole = run(&scenario, &Watch::default()).unwrap();
    let limited = |text: &str| run(&scenario, &Watch::with_limits(lab::limits(text).unwrap()));
    let enough = format!(r#"{{"events": {}, "wall": "1000 s", "memory": "1 GB"}}"#, whole.events);
    assert_eq!(digest(&limited(&enough).unwrap()), digest(&whole));
    let fewer = format!(r#"{{"events": {}}}"#, whole.events - 1);
    for (text, name) in
        [(&*fewer, "events"), (r#"{"wall": "1 ns"}"#, "wall"), (r#"{"memory": "1 kB"}"#, "memory")]
    {
        let failure = limited(text).unwrap_err();
        assert!(
            matches!(&failure, Failure::Limit(message) if message.starts_with(&format!("limits.{name}: "))),
            "{failure}"
        );
    }
    let endless = common::scenario(
        TWO_DOWNLOADS,
        &[("flows.0.traffic", r#"{ kind = "bulk" }"#), ("duration", "\"10000000 s\"")],
    );
    let limits = lab::limits(r#"{"events": 100000}"#).unwrap();
    let failure = run(&endless.unwrap(), &Watch::with_limits(limits)).unwrap_err();
    assert!(failure.to_string().contains("more than 100000 events"), "{failure}");
    for (text, expected) in
        [(r#"{"event": 1}"#, "events"), (r#"{"wall": 3}"#, "limits.wall"), (r#"{"events": 0}"#, "1")]
    {
        let message = lab::limits(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
