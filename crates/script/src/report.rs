//! How a script ended.

use serde_json::{Map, Value, json};
use units::Time;

use crate::parse::SyntaxError;
use crate::stack::info_names;
use crate::syntax::Code;

/// How a script ended, and what happened on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Passed, failed or not supported.
    pub verdict: Verdict,
    /// What happened, in the order of its times.
    pub timeline: Vec<Moment>,
    /// `%{ … }%` blocks that the script came to, with the fields of TCP_INFO at their time, for who can read Python.
    pub blocks: Vec<Block>,
    /// All such blocks of the script.
    pub code: Vec<Code>,
}

/// The end.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Everything came as the script says.
    Passed,
    /// Something came otherwise.
    Failed(Failure),
    /// The script needs what is not there: all of it, as far as it can be seen, in the order of its lines.
    Unsupported(Vec<Missing>),
}

/// Something that a script needs and is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Line of the script.
    pub line: u32,
    /// What.
    pub what: String,
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
        Report {
            verdict: Verdict::Failed(e.into()),
            timeline: Vec::new(),
            blocks: Vec::new(),
            code: Vec::new(),
        }
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
