//! How a script ended.

use serde_json::{Map, Value, json};
use units::Time;

use crate::parse::SyntaxError;

/// How a script ended, and what happened on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Passed, failed or not supported.
    pub verdict: Verdict,
    /// What happened, in order.
    pub timeline: Vec<Moment>,
    /// `%{ … }%` blocks, with the fields of TCP_INFO at their time, for who can read Python.
    pub blocks: Vec<Block>,
}

/// The end.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Everything came as the script says.
    Passed,
    /// Something came otherwise.
    Failed(Failure),
    /// The script needs what is not there.
    Unsupported {
        /// Line of the script.
        line: u32,
        /// What it needs.
        what: String,
    },
}

/// What came otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// Line of the script.
    pub line: u32,
    /// Column, if the script cannot be read.
    pub column: Option<u32>,
    /// What is wrong.
    pub problem: String,
    /// What the script expects.
    pub expected: Option<String>,
    /// What happened.
    pub happened: Option<String>,
}

impl From<SyntaxError> for Failure {
    fn from(e: SyntaxError) -> Self {
        Failure { line: e.line, column: Some(e.column), problem: e.problem, ..Failure::default() }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// When, on the script's clock.
    pub at: Time,
    /// The script's line that it belongs to, if it does to one.
    pub line: Option<u32>,
    /// What.
    pub what: String,
}

/// A block of Python and what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// When, on the script's clock.
    pub at: Time,
    /// Line on which its text begins.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// Fields of TCP_INFO without their prefix `tcpi_`; `None`: there was no connection.
    pub info: Option<Vec<(&'static str, u64)>>,
}

impl Report {
    /// A script that cannot be read.
    pub fn unreadable(e: SyntaxError) -> Report {
        Report { verdict: Verdict::Failed(e.into()), timeline: Vec::new(), blocks: Vec::new() }
    }

    /// For other languages: `verdict` is "passed", "failed" or "unsupported".
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
            Verdict::Unsupported { line, what } => {
                map.insert("verdict".into(), json!("unsupported"));
                map.insert("line".into(), json!(line));
                map.insert("problem".into(), json!(what));
            }
        }
        let moment = |m: &Moment| json!({"time_s": m.at.seconds(), "line": m.line, "what": m.what});
        map.insert("timeline".into(), self.timeline.iter().map(moment).collect());
        map.insert("blocks".into(), self.blocks.iter().map(Block::json).collect());
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
