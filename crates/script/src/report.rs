//! The result of running a script.

use serde_json::{Map, Value, json};
use units::Time;

use crate::parse::SyntaxError;
use crate::stack::info_names;
use crate::syntax::Code;

/// Result of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Passed, failed or unsupported.
    pub verdict: Verdict,
    /// Timeline of what happened in the run, in order of time.
    pub timeline: Vec<Moment>,
    /// Python blocks that the run reached, with the values of the TCP_INFO fields at the time of
    /// each block. A caller that can run Python can evaluate the Python blocks of the report.
    pub blocks: Vec<Block>,
    /// All Python blocks of the script, including those that the run did not reach.
    pub code: Vec<Code>,
}

/// Verdict of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The endpoint behaved as the script expects.
    Passed,
    /// The endpoint behaved differently.
    Failed(Failure),
    /// The script needs features that are not supported. The features that the script needs are
    /// listed in the order of their lines.
    Unsupported(Vec<Missing>),
}

/// A feature that a script needs and that the crate does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Line of the script.
    pub line: u32,
    /// Name of the feature.
    pub what: String,
}

/// First difference between the behaviour that the script expects and the behaviour of the
/// endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// Line of the script.
    pub line: u32,
    /// Column in the line, if the failure is a syntax error.
    pub column: Option<u32>,
    /// Description of the difference.
    pub problem: String,
    /// Behaviour that the script expects.
    pub expected: Option<String>,
    /// Behaviour of the endpoint.
    pub happened: Option<String>,
}

impl From<SyntaxError> for Failure {
    fn from(e: SyntaxError) -> Self {
        Failure { line: e.line, column: Some(e.column), problem: e.problem, ..Failure::default() }
    }
}

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Time on the script's clock.
    pub at: Time,
    /// Line of the script to which the entry belongs, if the entry belongs to a line.
    pub line: Option<u32>,
    /// Description of the event.
    pub what: String,
}

/// A Python block that the run reached, with the values of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Time on the script's clock.
    pub at: Time,
    /// Line on which the text of the Python block begins.
    pub line: u32,
    /// Text of the block.
    pub text: String,
    /// Values of the fields of TCP_INFO, named without the prefix `tcpi_`, or `None` without a
    /// connection.
    pub info: Option<Vec<(&'static str, u64)>>,
}

impl Report {
    /// Return the report of a script that has a syntax error.
    pub fn unreadable(e: SyntaxError) -> Report {
        Report {
            verdict: Verdict::Failed(e.into()),
            timeline: Vec::new(),
            blocks: Vec::new(),
            code: Vec::new(),
        }
    }

    /// Return the report in JSON format. `verdict` is "passed", "failed" or "unsupported".
    pub fn json(&self) -> Value {
        let mut map = Map::new();
        match &self.verdict {
            Verdict::Passed => drop(map.insert("verdict".into(), json!("passed"))),
            Verdict::Failed(f) => {
                map.insert("verdict".into(), json!("failed"));
                map.insert("line".into(), json!(f.line));
                map.insert("column".into(), json!(f.column));
                map.insert("problem".into(), json!(f.problem));
                map.insert("expected".into(), json!(f.expected));
                map.insert("happened".into(), json!(f.happened));
            }
            Verdict::Unsupported(all) => {
                map.insert("verdict".into(), json!("unsupported"));
                let missing = |m: &Missing| json!({"line": m.line, "what": m.what});
                map.insert("missing".into(), all.iter().map(missing).collect());
            }
        }
        let moment = |m: &Moment| json!({"time_s": m.at.seconds(), "line": m.line, "what": m.what});
        map.insert("timeline".into(), self.timeline.iter().map(moment).collect());
        map.insert("blocks".into(), self.blocks.iter().map(Block::json).collect());
        let code = |c: &Code| json!({"line": c.line, "text": c.text});
        map.insert("code".into(), self.code.iter().map(code).collect());
        map.insert("fields".into(), info_names().map(|name| json!(format!("tcpi_{name}"))).collect());
        Value::Object(map)
    }
}

impl Block {
    fn json(&self) -> Value {
        let info = self.info.as_ref().map(|fields| {
            fields.iter().map(|(name, value)| (format!("tcpi_{name}"), json!(value))).collect::<Map<_, _>>()
        });
        json!({"time_s": self.at.seconds(), "line": self.line, "text": self.text, "info": info})
    }
}
