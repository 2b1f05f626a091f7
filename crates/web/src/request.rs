//! Requests of the page: a scenario with changes, and the limits of its run.

use lab::{CaptureTarget, Failure, Format, Outcome, Scenario, Watch};
use serde_json::{Value, json};
use units::param::Invalid;

use crate::{answer, packets, pages};

/// A request: a scenario text, its format, and changes of keys.
struct Request<'a> {
    text: &'a str,
    format: Format,
    changes: Vec<(String, String)>,
    limits: &'a Value,
}

impl<'a> Request<'a> {
    /// Read a request with the keys `text`, `format` ("toml" or "json"), `changes` (pairs of a
    /// dotted path and a value in the syntax of TOML) and `limits`.
    fn read(request: &'a Value) -> Request<'a> {
        let change = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        Request {
            text: request["text"].as_str().unwrap_or_default(),
            format: if request["format"] == "toml" { Format::Toml } else { Format::Json },
            changes: request["changes"].as_array().into_iter().flatten().filter_map(change).collect(),
            limits: &request["limits"],
        }
    }

    fn scenario(&self) -> Result<Scenario, Invalid> {
        lab::read(self.text, self.format, &self.changes)
    }

    fn watch(&self) -> Result<Watch, Invalid> {
        let limits = if self.limits.is_null() { "{}".into() } else { self.limits.to_string() };
        Ok(Watch::with_limits(lab::limits(&limits)?).reporting(crate::progress::progress))
    }

    fn check(&self) -> Result<Value, Invalid> {
        let written = lab::document(self.text, self.format, &self.changes)?;
        let scenario = self.scenario()?;
        Ok(json!({ "written": written, "normalized": lab::write(&scenario) }))
    }

    fn run(&self) -> Result<(Scenario, Outcome), Failure> {
        let (scenario, watch) = (self.scenario()?, self.watch()?);
        let captures = (!scenario.record.pcap.on.is_empty()).then_some(CaptureTarget::Memory);
        let mut outcome = lab::run_with(&scenario, &watch, captures, &queues::NoCustomAqms)?;
        outcome.tables.extend(packets::table(&outcome.captures));
        outcome.tables.extend(pages::table(&scenario, &outcome));
        Ok((scenario, outcome))
    }
}

/// Parse a text as JSON, or return the answer about a text that is not JSON.
fn parse(text: &str) -> Result<Value, Value> {
    serde_json::from_str(text).map_err(|e| answer::error("", &format!("the request is not JSON: {e}")))
}

/// Check a scenario. The answer has the scenario as its author wrote it, with the changes, and the
/// normalized scenario.
pub fn check(text: &str) -> Value {
    parse(text)
        .and_then(|request| Request::read(&request).check().map_err(answer::invalid))
        .unwrap_or_else(|e| e)
}

/// Run a scenario. The result contains the columns to whose addresses the answer refers.
pub fn run(text: &str) -> (Value, Option<Outcome>) {
    let request = match parse(text) {
        Ok(request) => request,
        Err(error) => return (error, None),
    };
    match Request::read(&request).run() {
        Ok((scenario, outcome)) => (answer::result(&scenario, &outcome), Some(outcome)),
        Err(failure) => (answer::failure(&failure), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        network = { kind = "dumbbell", rate = "1 Mbit/s", delay = "5 ms", left_rate = "10 Mbit/s", left_delay = "1 ms",
            right_rate = "10 Mbit/s", right_delay = "1 ms", queue = "drop_tail" }
        flows = [{ from = "left-0", to = "right-0", traffic = { kind = "bulk", size = "50 kB" } }]
    "#;

    fn request(changes: &[[&str; 2]]) -> String {
        json!({ "text": SCENARIO, "format": "toml", "changes": changes }).to_string()
    }

    #[test]
    fn a_run_has_the_columns_of_the_same_run_in_lab() {
        let (answer, outcome) = run(&request(&[["record.series", r#"["queue"]"#]]));
        let tables = outcome.unwrap().tables;
        let changes = [("record.series".into(), r#"["queue"]"#.into())];
        let direct = lab::run(&lab::read(SCENARIO, Format::Toml, &changes).unwrap(), &Watch::default());
        let direct = direct.unwrap().tables;
        // NaN differs from itself, so the texts of the tables are compared.
        assert_eq!(format!("{tables:?}"), format!("{direct:?}"));
        assert_eq!(answer["tables"]["queue"]["rows"], direct.last().unwrap().rows());
        assert_eq!(answer["manifest"]["seed"], 1);
    }

    #[test]
    fn a_captured_link_has_a_table_of_packets() {
        let (answer, outcome) = run(&request(&[["record.pcap.on", r#"["left>right"]"#]]));
        let outcome = outcome.unwrap();
        let links = outcome.tables.iter().find(|table| table.name == "links").unwrap();
        let (_, lab::Column::Count(departed)) = &links.columns[9] else { panic!("{:?}", links.columns[9]) };
        assert_eq!(links.columns[9].0, "departed_packets");
        assert_eq!(answer["tables"]["packets"]["rows"], departed[0]);
        assert_eq!(answer["captures"][1]["name"], "left_to_right.pcapng");
        assert_eq!(answer["captures"][1]["bytes"], outcome.captures[1].1.len());
    }

    #[test]
    fn a_check_has_the_changes_and_the_defaults() {
        let answer = check(&request(&[["network.delay", "7 ms"]]));
        assert_eq!(answer["written"]["network"]["delay"], "7 ms");
        assert_eq!(answer["written"]["network"]["queue"], "drop_tail");
        assert_eq!(answer["normalized"]["network"]["delay"], "7 ms");
        assert_eq!(answer["normalized"]["network"]["queue"]["kind"], "drop_tail");
    }

    #[test]
    fn an_error_has_the_path_and_the_text_of_the_command() {
        let wrong = [["flows.0.count", "1000000000"]];
        for answer in [check(&request(&wrong)), run(&request(&wrong)).0] {
            assert_eq!(answer["error"]["path"], "flows.0.count");
            let text = answer["error"]["text"].as_str().unwrap();
            assert!(
                text.starts_with("flows.0.count: 1000000000 must be at least 1, at most 10000000"),
                "{text}"
            );
        }
        let broken = check(&json!({ "text": "x = ", "format": "toml" }).to_string());
        assert!(broken["error"]["text"].as_str().unwrap().starts_with("not valid TOML, line 1"));
        assert_eq!(check("{")["error"]["path"], "");
    }

    #[test]
    fn a_run_beyond_its_limits_is_an_error() {
        let text = json!({ "text": SCENARIO, "format": "toml", "limits": { "events": 10 } }).to_string();
        let error = run(&text).0["error"]["text"].to_string();
        assert!(error.contains("limits.events: the run took more than 10 events"), "{error}");
    }
}
