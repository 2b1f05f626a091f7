//! The one definition of a parameter: name, unit, default, range, meaning, source.
//!
//! [`params!`](crate::params) turns one description of a struct into the struct, its reader from a
//! scenario (with errors that name the path, the value and the bound), its JSON Schema and its
//! manual page. [`words!`](crate::words) does the same for a choice among names, and
//! [`choice!`](crate::choice) for a choice among such structs.

mod choice;
mod describe;
mod invalid;
mod params;
mod range;
mod renamed;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod words;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use describe::{choice_schema, doc_text, page, reference, struct_schema, unit_schema, words_schema};
pub use invalid::{Invalid, did_you_mean, join};
pub use range::Range;
pub use renamed::Renamed;
pub use table::{key, longhand, merge, missing, object, refuse_unknown, split_kind, table, with_kind};
pub use values::Several;

/// JSON value, as the macros name it.
pub type Json = Value;
/// JSON object, as the macros name it.
pub type JsonMap = Map<String, Value>;

/// A type that a scenario can hold.
pub trait Read: Sized {
    /// The base unit of [`Read::number`], empty if it has none.
    const UNIT: &'static str = "";
    /// An example as a user would write it.
    const EXAMPLE: &'static str = "";
    /// Key of a table that a text stands for; `None`: a text is no table.
    const SHORTHAND: Option<&'static str> = None;
    /// Reads the value found at `path`.
    fn read(value: &Value, path: &str) -> Result<Self, Invalid>;
    /// The value that reads back as `self`.
    fn write(&self) -> Value;
    /// The JSON Schema of this type.
    fn schema() -> Value;
    /// The value in its base unit, for checking its range.
    fn number(&self) -> Option<f64> {
        None
    }
}

/// One parameter as the manual shows it.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its key in a scenario.
    pub name: &'static str,
    /// Its base unit, empty if it has none.
    pub unit: &'static str,
    /// Its default as a scenario would write it; `None`: it must be given, if not by a preset.
    pub default: Option<Value>,
    /// Whether it must be given, whatever the preset.
    pub required: bool,
    /// Its range in words, empty if every value of the type is allowed.
    pub range: String,
    /// What it means.
    pub meaning: String,
    /// Where meaning and default come from.
    pub source: &'static str,
    /// JSON Schema of its values.
    pub schema: Value,
}

/// A struct of parameters made by [`params!`](crate::params).
pub trait Params: Read {
    /// Its name in a scenario (`kind = "red"`) and in `explain`.
    const KEY: &'static str;
    /// The names of its parameters in order.
    const KEYS: &'static [&'static str];
    /// The keys that it had before, each with its present path.
    const RENAMED: &'static [Renamed] = &[];
    /// What it is.
    fn about() -> String;
    /// The key that a text stands for as the value of one of its parameters.
    fn shorthand_of(key: &str) -> Option<&'static str>;
    /// Replace each text that stands for a table by this table.
    fn expand_shorthands(map: &mut JsonMap) {
        for (key, value) in map.iter_mut() {
            if let Cow::Owned(table) = longhand(value, Self::shorthand_of(key)) {
                *value = table;
            }
        }
    }
    /// Every parameter at its default.
    ///
    /// # Panics
    ///
    /// If a parameter is required.
    fn defaults() -> Self {
        match Self::read(&Json::Object(JsonMap::new()), Self::KEY) {
            Ok(defaults) => defaults,
            Err(e) => unreachable!("the defaults are valid: {e}"),
        }
    }
    /// Its parameters in order.
    fn params() -> Vec<Param>;
}
