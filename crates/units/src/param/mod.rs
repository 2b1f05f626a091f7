//! Single definition of a parameter: name, unit, default, range, meaning, source.
//!
//! [`params!`](crate::params) turns one description of a struct into the struct, its reader for a
//! scenario (with errors that contain the path, the value and the bound), its JSON Schema and its
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

/// JSON value, under the name that the macros use.
pub type Json = Value;
/// JSON object, under the name that the macros use.
pub type JsonMap = Map<String, Value>;

/// Type whose values a scenario can contain.
pub trait Read: Sized {
    /// Base unit of [`Read::number`], or an empty string.
    const UNIT: &'static str = "";
    /// Example as a user would write it.
    const EXAMPLE: &'static str = "";
    /// Key of the table that a text in place of the table sets, if the table has such a shorthand.
    const SHORTHAND: Option<&'static str> = None;
    /// Read the value at `path`.
    fn read(value: &Value, path: &str) -> Result<Self, Invalid>;
    /// Return the JSON value from which reading returns `self`.
    fn write(&self) -> Value;
    /// Return the JSON Schema of this type.
    fn schema() -> Value;
    /// Return the number in the base unit of its quantity, for the check of its range.
    fn number(&self) -> Option<f64> {
        None
    }
}

/// Parameter in the manual.
#[derive(Clone, Debug)]
pub struct Param {
    /// Key in a scenario.
    pub name: &'static str,
    /// Base unit, or an empty string.
    pub unit: &'static str,
    /// Default as a scenario would write it, or `None` if the key is required or comes from a
    /// preset.
    pub default: Option<Value>,
    /// True if the key is required with every preset.
    pub required: bool,
    /// Range in words, or an empty string if every value of the type is allowed.
    pub range: String,
    /// Meaning of the parameter.
    pub meaning: String,
    /// Source of the meaning and the default.
    pub source: &'static str,
    /// JSON Schema of the values.
    pub schema: Value,
}

/// Struct of parameters defined by [`params!`](crate::params).
pub trait Params: Read {
    /// Name in a scenario (`kind = "red"`) and in `explain`.
    const KEY: &'static str;
    /// Names of the parameters in order.
    const KEYS: &'static [&'static str];
    /// Former keys, each with its present path.
    const RENAMED: &'static [Renamed] = &[];
    /// Return the description.
    fn about() -> String;
    /// Return the key that a text in place of a parameter's table sets.
    fn shorthand_of(key: &str) -> Option<&'static str>;
    /// Replace each text that is the shorthand of a table by the table.
    fn expand_shorthands(map: &mut JsonMap) {
        for (key, value) in map.iter_mut() {
            if let Cow::Owned(table) = longhand(value, Self::shorthand_of(key)) {
                *value = table;
            }
        }
    }
    /// Return the struct with every parameter at its default.
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
    /// Return the parameters in order.
    fn params() -> Vec<Param>;
}

/// Return a struct with every parameter at its default, of the type that the caller expects.
pub fn defaults<T: Params>() -> T {
    T::defaults()
}
